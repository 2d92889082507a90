"""The ballots of a booth as they are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.jobs.election.booths import Booth
from udfs.profile import Profile


def profile_of(booth: Booth) -> Profile:
    """Return all ballots of a booth."""
    spec: Any = booth.spec()
    table = pa.concat_tables([pq.read_table(one) for one in sorted(booth.people.iterdir())])
    (block,) = table.combine_chunks().to_batches()
    return Profile.of(spec.question.read(block).codes)
