"""Whether data and keys fit a spec of skills, by footers and key files."""

from __future__ import annotations

from jobs.population import Data
from jobs.skills.keys import check_keys
from jobs.skills.levels import Crowd, level_request, level_slots
from jobs.skills.requests import FEWEST
from jobs.skills.spec import SkillsSpec
from udfs.ciphertexts import CiphertextSum
from udfs.errors import SpecError


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
    crowd = Crowd.of(spec, data.rows, data.blocks)
    if crowd.participants - spec.privacy.dropout < FEWEST:
        raise SpecError(
            "population",
            f"must have {FEWEST} participants or more when some are missing: a sum of one is its answer",
            f"{crowd.participants} of whom {spec.privacy.dropout} may be missing",
        )
    bits, key_id = (spec.keys.modulus_bits, "") if spec.key is None else (spec.key.bits, spec.key.key_id)
    level_slots(spec, crowd, spec.skills.depth, 1, bits)
    level_request(spec, crowd, 0, "checked", CiphertextSum(key_id, 1, (1,), crowd.participants))
    if spec.key is not None:
        check_keys(spec.keys, spec.key)
