"""The spec of assignments by private retrieval."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from jobs.assign.tasks import TaskColumns
from jobs.assign.tree import Tree, read_tree
from jobs.population import Data
from jobs.spec import OutputTable, Spec, Table, Text
from udfs.errors import SpecError

WORKERS_A_TASK = 128
"""A worker's query and its answer take some milliseconds each, and up to some megabytes."""


class AssignOutputTable(OutputTable):
    """Where results go."""

    assignments: bool = Field(
        False,
        description="Also write which tasks each worker received, for the owner's eyes alone, as Parquet.",
    )
    beside: ClassVar[str] = "assignments"


class TasksTable(Table):
    """What is to be done."""

    path: Text = Field(description="A Parquet file, directory or glob; any fsspec URL.")
    id: Text = Field(description="The column that tells tasks apart, text or integer.")
    payload: Text = Field(description="The column of bytes or text that workers download.")
    packing: Literal["every", "once"] = Field(
        "every",
        description='"every": each task in the items of all leaves that it meets, so that one get brings all; "once": in'
        " one of them, so that items are small, and several gets may be needed.",
    )


class TreeTable(Table):
    """Whose leaves tasks are packed for."""

    path: Text = Field(description="The result.json of a skills job; any fsspec URL.")


class RetrievalTable(Table):
    """How workers fetch, and how often."""

    protocol: Literal["auto", "lattice", "paillier", "download"] = Field(
        "auto",
        description='"lattice": SimplePIR; "paillier": over additively homomorphic encryption; "download": everything, to'
        ' everybody; "auto": the one with the fewest bytes a worker that costs the platform no more than server_seconds.',
    )
    gets: int = Field(
        1, ge=1, le=1000, description="Of every worker, whatever it fetches: the number is public."
    )
    server_seconds: float = Field(
        0.01, gt=0, allow_inf_nan=False, description="auto: what a get may cost the platform, on one core."
    )
    bits: int = Field(
        2048, ge=512, le=8192, multiple_of=16, description="paillier: of each worker's modulus."
    )


class AssignSpec(Spec):
    """Tasks fetched by workers from the leaf that they are in, without saying which."""

    job: Literal["assign"]
    output: AssignOutputTable
    tasks: TasksTable
    tree: TreeTable
    retrieval: RetrievalTable = RetrievalTable()

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        if self.tasks.id == self.tasks.payload:
            raise SpecError("tasks.payload", "must be another column than the ids'", self.tasks.payload)
        if self.output.assignments and self.population.id is None:
            raise SpecError(
                "population.id", "must tell workers apart whose assignments are written", "nothing"
            )
        return self

    def canonical(self) -> dict[str, Any]:
        """Return the spec as JSON values: of the tree, which one it is and not where it lies."""
        return super().canonical() | {"tree": {"sha256": self.grown.sha256}}

    def snapshot(self, data: Data) -> str:
        """Return a digest of workers and tasks."""
        both = [data.snapshot, data.beside(self.tasks.path, "tasks.path").snapshot]
        return hashlib.sha256(json.dumps(both).encode()).hexdigest()

    @cached_property
    def grown(self) -> Tree:
        """The tree, read once.

        Raises
        ------
        SpecError
            Where it cannot be read, or is none.
        """
        return read_tree(self.tree.path)

    @property
    def columns(self) -> TaskColumns:
        """Where the table of tasks has what."""
        return TaskColumns(self.tasks.id, self.tasks.payload, self.grown.dimensions, self.grown.domain)

    @property
    def task_rows(self) -> int:
        """Rows of a task, at least: queries take far longer than reading."""
        return WORKERS_A_TASK

    @property
    def unit_rows(self) -> int:
        """Rows of a task's smallest part, at most."""
        return WORKERS_A_TASK
