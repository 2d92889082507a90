"""The kinds of jobs: one line each."""

from __future__ import annotations

import difflib
from typing import Any

from jobs.assign.job import Assign
from jobs.election.job import Election
from jobs.graph.job import Graph
from jobs.lifecycle import Job
from jobs.skills.job import Skills
from jobs.spec import Spec, check
from jobs.survey.job import Survey
from udfs.errors import SpecError

JOBS: dict[str, type[Job[Any]]] = {
    "survey": Survey,
    "election": Election,
    "skills": Skills,
    "assign": Assign,
    "graph": Graph,
}


def load(given: dict[str, Any]) -> tuple[Job[Any], Spec]:
    """Return the job of a spec, and the spec checked.

    Raises
    ------
    SpecError
    """
    kind = given.get("job")
    if not isinstance(kind, str) or kind not in JOBS:
        near = difflib.get_close_matches(str(kind), JOBS, 1)
        remedy = f'did you mean "{near[0]}"?' if near else "known are " + ", ".join(JOBS)
        raise SpecError(
            "job", "must name a kind of job", repr(kind) if kind is not None else "nothing", remedy
        )
    job = JOBS[kind]()
    return job, check(job.spec_type, given)
