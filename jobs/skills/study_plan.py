"""What a study of a tree's error would do, before a row is read."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from jobs.population import Data
from jobs.skills.levels import Crowd
from jobs.skills.predicted import leaf_errors
from jobs.skills.replicate import replications_a_task
from jobs.skills.spec import SkillsSpec
from jobs.skills.study import own_points, points
from jobs.skills.study_spec import SkillsStudyTable


def plan_study(spec: SkillsSpec, study: SkillsStudyTable, data: Data) -> dict[str, Any]:
    """Return the plan of a study: the levels that the population is read for, and what is spread over the cluster.

    Returns
    -------
    dict
        `stages`, `bytes`, `epsilon`, `predicted` and `reasons`, as `canvass plan --json` prints them. Predicted are the
        leaf errors of every tree, by mechanism and size.

    Raises
    ------
    SpecError
        Where so many may collude or be missing that hardly anybody is left.
    """
    beta = Crowd.of(spec, data.rows, data.blocks).beta
    grid, own = points(spec, study, beta), own_points(spec, study, data.rows, beta)
    columns = list(spec.skills.dimensions)
    levels = [
        {"name": f"level {level}", "tasks": data.tasks(), "reads": columns, "writes": None}
        for level in range(spec.skills.depth, -1, -1)
    ]
    tasks = sum(math.ceil(study.replications / replications_a_task(point)) for point in grid)
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    return {
        "job": spec.job,
        "rows": data.rows,
        "stages": [*levels, {"name": "replicate", "tasks": tasks, "reads": [], "writes": None}],
        "bytes": {"read": sum(read.values()) * (len(levels) + 1), "read_by_column": read, "written": 0},
        "epsilon": {"total": Decimal(0), "charged": Decimal(0)},
        "predicted": {
            "leaf_errors": [
                {
                    "mechanism": point.mechanism,
                    "workers": point.workers,
                    "depth": point.shape.depth,
                    "bins": point.shape.bins,
                    "epsilon": point.epsilon,
                }
                | leaf_errors(point)
                for point in (*grid, *own)
            ]
        },
        "reasons": [
            f"a study of {len(grid)} trees on uniform populations and {len(own)} on the population itself:"
            f" {study.replications} replications of each"
        ],
    }
