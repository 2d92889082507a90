"""The assign job.

Question: none is asked of workers: they ask, for the tasks of their leaf. Privacy unit: one worker's leaf. Guarantee: what
the platform sees of a worker cannot be told from what it would see were the worker in any other leaf; perfectly where
everything is downloaded, and else as hard as the protocol is to break (`result.retrieval.security`). Nothing is
charged. Who sees what: a Dask process stands in for its workers' devices and sees their skills, queries' secrets and what
they receive; the driver stands in for the platform, and sees tasks, the tree and letters. Method: private retrieval,
the same public number of gets of every worker, in batches of workers; the platform answers each batch by a map over
row blocks of the library. Cost: see `plan`.

References
----------
papers/private-skills: PIR-get. Henzinger et al.: One server for the price of two (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from jobs.assign.check import check_data
from jobs.assign.document import assignment_document
from jobs.assign.library import Library
from jobs.assign.plan import plan_assignments
from jobs.assign.platform import Platform
from jobs.assign.protocols import choose
from jobs.assign.spec import AssignSpec
from jobs.population import Data, Digests, Population
from jobs.results import encode
from udfs.fetching import Fetching, Letters, Receiving
from udfs.loads import Load
from udfs.retrieval import Retrieval

_ROUND = "fetch"
_BATCH_BYTES = 1 << 28
_MOST_IN_BATCH = 1 << 20


class Assign:
    """Workers fetch their leaf's tasks without saying which."""

    @property
    def spec_type(self) -> type[AssignSpec]:
        """The type of its specs."""
        return AssignSpec

    def check(self, spec: AssignSpec, data: Data) -> None:
        """Refuse workers, tasks and a tree that do not fit together; of workers no row is read.

        Raises
        ------
        SchemaError
        SpecError
        """
        check_data(spec, data)

    def plan(self, spec: AssignSpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and what each protocol would cost; of workers no row is read."""
        return plan_assignments(spec, data)

    def look_through(self, spec: AssignSpec, data: Data, population: Population) -> Digests:
        """Have all rows looked through for what will be asked; return their keyed digests."""
        return population.check([spec.grown.question])

    def roles(self, spec: AssignSpec) -> str:
        """Return who stands in for whom: the cluster for workers' devices, and for the platform."""
        return "embedded"

    def writes_reports(self, spec: AssignSpec) -> bool:
        """Tell whether what workers received is written, for its owner alone."""
        return spec.output.assignments

    def charges(self, spec: AssignSpec) -> list[tuple[str, Decimal]]:
        """Return nothing: nothing of workers is published."""
        return []

    def privacy(self, spec: AssignSpec) -> dict[str, Any]:
        """Return the guarantee."""
        return {
            "model": "private retrieval",
            "neighbours": "which leaf a worker is in",
            "basis": "what is sent cannot be told from what would be sent from any other leaf",
            "covers": "all that the platform sees",
            "epsilon": None,
        }

    def run(self, spec: AssignSpec, population: Population) -> dict[str, Any]:
        """Pack the tasks, and let every worker fetch."""
        library = Library.read(spec, population.beside(spec.tasks.path, "tasks.path"))
        choice = choose(spec.retrieval, library, population.rows)
        retrieval = choice.taken.retrieval(library.items)
        counts, seconds = np.zeros(3, dtype=np.int64), 0.0
        with Platform.opened(population, retrieval, library.items) as platform, population.room() as put:
            serving = _Serving(spec, platform, library, population.public_seed, put(platform.hint()))
            batches = population.batches(_batch_rows(retrieval, spec.retrieval.gets))
            for number, batch in enumerate(batches):
                serve = partial(serving.serve, batch)
                # What was written must be found again, part by part, by a run that goes on.
                written = spec.output.assignments
                found = (
                    serve() if written else population.once(f"batch {number} of {retrieval.version}", serve)
                )
                counts += np.array(found["counts"], dtype=np.int64)
                seconds += found["seconds"]
        return assignment_document(spec, library, choice, retrieval, counts.tolist(), seconds)

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return the result."""
        return {"result.json": encode(document)}

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of what was fetched."""
        from jobs.page import page  # noqa: PLC0415  its figures take half a second to import

        return page.render_assign(document)


def _batch_rows(retrieval: Retrieval, gets: int) -> int:
    """Return how many workers ask at a time, so that their queries and answers fit in memory."""
    cost = retrieval.cost
    return max(
        1, min(_MOST_IN_BATCH, _BATCH_BYTES // max(1, gets * (cost.upload_bytes + cost.download_bytes)))
    )


@dataclass(frozen=True)
class _Serving:
    """What batches of workers and the platform say to each other."""

    spec: AssignSpec
    platform: Platform
    library: Library
    seed: bytes
    hint: Load

    def serve(self, batch: Population) -> dict[str, Any]:
        """Let a batch of workers ask, have them answered, and let them make out what came."""
        question, retrieval = self.spec.grown.question, self.platform.retrieval
        with batch.room() as put:
            fetched = self.library.packing.fetched
            fetching = Fetching(retrieval, self.spec.grown.cells, fetched, self.seed, put)
            letters: Letters = batch.ask([(question, fetching)], _ROUND)[0]
            answers, seconds = self.platform.answer(letters)
            addresses = np.concatenate(letters.addresses)
            id_type = self.library.tasks.ids.type
            receiving = Receiving(fetching, put(answers), put(addresses), self.hint, id_type)
            asks = [(question, receiving)]
            if self.spec.output.assignments:
                counts = batch.collect(asks, _ROUND, private=True)[0]
            else:
                counts = batch.ask(asks, _ROUND)[0]
        return {"counts": counts.tolist(), "seconds": seconds}
