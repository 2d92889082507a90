"""Whether workers, tasks and tree fit a spec of assignments."""

from __future__ import annotations

import os

from jobs.assign.library import Library
from jobs.assign.protocols import choose
from jobs.assign.spec import AssignSpec
from jobs.population import Data
from udfs.errors import SpecError


def check_data(spec: AssignSpec, data: Data) -> None:
    """Refuse a tree of other workers, tasks that are not in order, and a library that no protocol serves.

    Tasks are the platform's own, and read whole; of workers no row is.

    Raises
    ------
    SchemaError
    SpecError
    """
    dimensions = spec.grown.dimensions
    if spec.population.id in dimensions:
        raise SpecError("population.id", "the column of ids must hold no skill", str(spec.population.id))
    for part in spec.grown.question.parts:
        for file, arrow_type in data.columns(part.column):
            part.check_type(arrow_type, file)
    tasks = data.beside(spec.tasks.path, "tasks.path")
    if _absolute(spec.tree.path) == f"{_absolute(spec.output.path).rstrip('/')}/result.json":
        raise SpecError(
            "output.path",
            "must be another folder than the tree's: its result would be replaced",
            spec.output.path,
        )
    if tasks.would_read(spec.output.path):
        raise SpecError("output.path", "must lie apart from the tasks' files", spec.output.path)
    spec.columns.check_types(tasks)
    choose(spec.retrieval, Library.read(spec, tasks), data.rows)


def _absolute(path: str) -> str:
    """Return a local path as data sets' roots are; a URL as it is."""
    return path if "://" in path else os.path.realpath(path)
