"""The skills job.

Question: how are workers' skills distributed, as a balanced k-d tree with counts? Privacy unit: one worker. Guarantee:
epsilon, but for a delta that is stated, for all that key-holders open, against whoever holds fewer than the threshold
of key shares and hears the noise of no more participants than were planned for; the rest is as hard to tell as the
encryption is to break. Who sees what: a Dask process stands in for its workers and sees their skills; the driver sees
ciphertexts, and the noisy sums that holders open; holders see sums alone. Method: a round for each level of the tree,
in which every worker takes part. Cost: some milliseconds a worker and level.

References
----------
papers/private-skills: the privacy-preserving sum, PrivMed and PKD.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from jobs.population import Data, Population
from jobs.results import encode
from jobs.skills.check import check_data
from jobs.skills.document import holders_document, leaves_table, told_of, tree_documents
from jobs.skills.keys import key_holders, open_keyring
from jobs.skills.levels import Crowd, level_sum
from jobs.skills.plan import plan_tree
from jobs.skills.requests import Request
from jobs.skills.spec import SkillsSpec
from jobs.skills.study import run_study
from jobs.skills.study_plan import plan_study
from jobs.skills.tree import LevelQuestion, Tree, grow
from udfs.asking import Question
from udfs.ciphertexts import CiphertextSum
from udfs.threshold import Opened


class Skills:
    """A private k-d tree of workers' skills."""

    @property
    def spec_type(self) -> type[SkillsSpec]:
        """The type of its specs."""
        return SkillsSpec

    def check(self, spec: SkillsSpec, data: Data) -> None:
        """Refuse data and keys that do not fit the spec; no row is read.

        Raises
        ------
        SchemaError
        SpecError
        ProtocolError
        """
        check_data(spec, data)

    def plan(self, spec: SkillsSpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and how good the tree would be; reads no row."""
        return plan_tree(spec, data) if spec.study is None else plan_study(spec, spec.study, data)

    def questions(self, spec: SkillsSpec, data: Data) -> list[Question]:
        """Return what every row is looked through for."""
        return [spec.question]

    def roles(self, spec: SkillsSpec) -> str:
        """Return who stands in for whom: the cluster for workers' devices, and the driver for embedded holders."""
        apart = spec.keys is not None and key_holders(spec.keys) == "mailbox"
        return "embedded, key-holders apart" if apart else "embedded"

    def writes_reports(self, spec: SkillsSpec) -> bool:
        """Tell whether contributions are published: they are not."""
        return False

    def charges(self, spec: SkillsSpec) -> list[tuple[str, Decimal]]:
        """Return epsilon for a worker replaced: how many there are is public."""
        return [] if spec.study is not None else [("worker", spec.charge)]

    def privacy(self, spec: SkillsSpec) -> dict[str, Any]:
        """Return the guarantee."""
        if spec.study is not None:
            return {"model": "none", "basis": "a study on public data: nothing is protected", "epsilon": None}
        return {
            "model": "distributed",
            "neighbours": spec.privacy.neighbours,
            "basis": "drawn by this job",
            "covers": "all that key-holders open",
            "epsilon": spec.privacy.epsilon,
            "epsilon_replace": spec.charge,
            "epsilon_add_or_remove": spec.tree_epsilon,
        }

    def run(self, spec: SkillsSpec, population: Population) -> dict[str, Any]:
        """Grow the tree level by level, or study its error."""
        if spec.study is not None:
            return {"study": run_study(spec, spec.study, population)}
        return _Growing(spec, population).result()

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return the result with its leaves as a table, or a study by itself."""
        if "study" in document["result"]:
            return {"result.json": encode(document), "study.json": encode(document["result"]["study"])}
        return {"result.json": encode(document), "leaves.parquet": leaves_table(document)}

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of a tree, or of a study."""
        from jobs.page import page  # noqa: PLC0415  its figures take half a second to import

        render = page.render_skills_study if "study" in document["result"] else page.render_skills
        return render(document)


class _Growing:
    """A tree that grows: every level is asked of all participants, and its sum alone is opened."""

    def __init__(self, spec: SkillsSpec, population: Population) -> None:
        if spec.keys is None:
            raise TypeError("a tree needs keys")
        self._spec, self._population = spec, population
        self._crowd = Crowd.of(spec, population.rows, population.blocks)
        self._ring = open_keyring(spec.keys, population)
        self._session = population.driver_key("opening").hex()[:32]
        self._answered: set[int] = set()
        self._refused: set[int] = set()
        self._ciphertexts: list[int] = []
        self._contributions: list[int] = []

    def result(self) -> dict[str, Any]:
        """Grow the tree, and return what is said of it."""
        spec, ring = self._spec, self._ring
        tree = self._tree()
        width = 2 * ring.key.bits // 8
        return (
            tree_documents(spec, self._crowd, tree)
            | told_of(spec, self._crowd)
            | {
                "contributions": min(self._contributions),
                "holders": holders_document(
                    sorted(self._answered),
                    sorted(self._refused),
                    ring.key.holders,
                    ring.key.threshold,
                    ring.where,
                ),
                "keys": {"key_id": ring.key.key_id, "bits": ring.key.bits},
                "ciphertexts": {
                    "per_participant": sum(self._ciphertexts),
                    "bytes_per_participant": width * sum(self._ciphertexts),
                    "by_level": self._ciphertexts,
                },
            }
        )

    def _tree(self) -> Tree:
        """Ask level by level."""
        growing = grow(self._spec.shape)
        question = next(growing)
        while True:
            try:
                question = growing.send(self._ask(question))
            except StopIteration as stop:
                tree: Tree = stop.value
                return tree

    def _ask(self, question: LevelQuestion) -> Any:
        """Ask one level of all participants, have its sum opened, and return its counters."""
        key = self._ring.key
        mechanism = level_sum(self._spec, self._crowd, question, key.key_id, key.n)
        stage = f"level {question.level}"
        total: CiphertextSum = self._population.ask([(self._spec.question, mechanism)], stage)[0]
        opened = self._open(stage, total)
        self._answered |= set(opened.holders)
        self._refused |= set(opened.refused)
        self._ciphertexts.append(mechanism.slots.ciphertexts)
        self._contributions.append(total.contributions)
        return mechanism.slots.unpack(opened.plaintexts)

    def _open(self, stage: str, total: CiphertextSum) -> Opened:
        """Have the sum of a level opened."""
        spec = self._spec
        request = Request(
            key_id=total.key_id,
            session=self._session,
            round_name=stage,
            job=spec.population.account,
            contributions=total.contributions,
            participants=self._crowd.participants,
            dropout=spec.privacy.dropout,
            epsilon=str(spec.charge),
            ciphertexts=total.values,
        )
        return self._ring.opener.open(request)
