"""The library: tasks read, packed by leaf, and laid out as items of one length. Driver, in the platform's place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.assign.packing import Packing, meeting, pack_every, pack_once
from jobs.assign.spec import AssignSpec
from jobs.assign.tasks import Tasks
from jobs.population import Data
from udfs.items import pack_item, pad


@dataclass(frozen=True, eq=False)
class Library:
    """Tasks, packed for the leaves of a tree.

    Attributes
    ----------
    tasks : Tasks
    meets : scipy.sparse.csr_array of bool, shape (tasks, leaves)
        Which tasks are for which leaves.
    packing : Packing
    """

    tasks: Tasks
    meets: Any
    packing: Packing

    @classmethod
    def read(cls, spec: AssignSpec, data: Data) -> Library:
        """Read tasks and pack them.

        Parameters
        ----------
        spec : AssignSpec
        data : Data
            The tasks' files.

        Raises
        ------
        SchemaError
            Where tasks are not in order.
        """
        tasks = spec.columns.read(data.read(list(spec.columns.names)))
        meets = meeting(tasks.low, tasks.high, spec.grown.boxes, spec.grown.domain[1])
        pack = pack_every if spec.tasks.packing == "every" else pack_once
        packing = pack(meets, tasks.item_bytes, tasks.payload_bytes, spec.retrieval.gets)
        return cls(tasks, meets, packing)

    def __len__(self) -> int:
        """Return the number of items: one a leaf."""
        return len(self.packing.leaf_tasks)

    @property
    def item_bytes(self) -> int:
        """How long every item is: as the largest."""
        return self.packing.largest

    @cached_property
    def items(self) -> list[bytes]:
        """The items, padded: one a leaf."""
        return pad([pack_item(self.tasks.at(own)) for own in self.packing.leaf_tasks])[1]

    @property
    def tasks_by_leaf(self) -> npt.NDArray[np.int64]:
        """How many tasks are for each leaf: int64, shape (leaves,)."""
        counts: npt.NDArray[np.int64] = np.bincount(self.meets.indices, minlength=len(self))
        return counts

    @property
    def payload_by_leaf(self) -> npt.NDArray[np.int64]:
        """The payload bytes of tasks for each leaf: int64, shape (leaves,)."""
        useful: npt.NDArray[np.int64] = self.meets.T @ self.tasks.payload_bytes
        return useful

    @property
    def nowhere(self) -> int:
        """How many tasks are for no leaf."""
        return int(np.count_nonzero(np.diff(self.meets.indptr) == 0))
