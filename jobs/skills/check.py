"""Whether data and keys fit a spec of skills, by footers and key files."""

from __future__ import annotations

from jobs.population import Data
from jobs.skills.keys import read_keys
from jobs.skills.levels import Crowd, level_slots
from jobs.skills.spec import SkillsSpec
from udfs.errors import SpecError

_FEWEST = 2
"""Contributions without which nothing is opened: the sum of one is its answer."""


def check_data(spec: SkillsSpec, data: Data) -> None:
    """Refuse columns that hold no skills, keys that are none, and a crowd whose noise or sums would not do.

    No row is read.

    Raises
    ------
    SchemaError
    SpecError
    ProtocolError
    """
    for part in spec.question.parts:
        for file, arrow_type in data.columns(part.column):
            part.check_type(arrow_type, file)
    if spec.study is not None or spec.keys is None:
        return
    found = read_keys(spec.keys)
    crowd = Crowd.of(spec, data.rows, data.blocks)
    if crowd.participants - spec.privacy.dropout < _FEWEST:
        raise SpecError(
            "population",
            f"must have {_FEWEST} participants or more when some are missing: a sum of one is its answer",
            f"{crowd.participants} of whom {spec.privacy.dropout} may be missing",
        )
    bits = spec.keys.bits if found is None else found[0].bits
    level_slots(spec, crowd, spec.skills.depth, 1, bits)
