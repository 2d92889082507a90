"""What a study of decisive margins would do, before a row is read."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from jobs.election.plan import plan_election
from jobs.election.replicate import replications_a_task
from jobs.election.spec import ElectionSpec
from jobs.election.study import election_at, points
from jobs.election.study_claims import CLAIMS
from jobs.election.study_elections import families
from jobs.election.study_spec import ElectionStudyTable
from jobs.population import Data


def plan_study(spec: ElectionSpec, study: ElectionStudyTable, data: Data) -> dict[str, Any]:
    """Return the plan of a study: that of the population's own election, and what is spread over the cluster.

    How many margins are tried depends on what comes of them: `replicate` is one stage for each, of so many tasks
    at most.
    """
    planned = plan_election(election_at(spec, spec.privacy.model, spec.privacy.epsilon), data)
    grid = points(spec, study)
    tasks = sum(
        math.ceil(study.replications / replications_a_task(point))
        * len(families(point.spec.rule, point.model))
        for point in grid
    )
    counted = {
        "name": "count ballots",
        "tasks": data.tasks(),
        "reads": list(spec.question.columns),
        "writes": None,
    }
    spread: list[dict[str, Any]] = [
        {"name": name, "tasks": number, "reads": [], "writes": None}
        for name, number in (("check profiles", len(CLAIMS)), ("replicate", tasks))
    ]
    what = f"a study of {len(grid)} points: {study.replications} replications of each margin that is tried"
    return planned | {
        "stages": [counted, *spread],
        "bytes": planned["bytes"] | {"written": 0},
        "epsilon": {"total": Decimal(0), "charged": Decimal(0)},
        "reasons": [what, *planned["reasons"]],
    }
