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

from jobs.population import Data, Digests, Population
from jobs.results import encode
from jobs.skills.check import check_data
from jobs.skills.document import leaves_table, opening_document, settings_document, tree_documents
from jobs.skills.keys import open_keyring
from jobs.skills.levels import Crowd
from jobs.skills.plan import plan_tree
from jobs.skills.rounds import AskLevels
from jobs.skills.spec import SkillsSpec
from jobs.skills.study import run_study
from jobs.skills.study_plan import plan_study
from jobs.skills.tree import conduct, grow


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

    def look_through(self, spec: SkillsSpec, data: Data, population: Population) -> Digests:
        """Have all rows looked through for what will be asked; return their keyed digests."""
        return population.check([spec.question])

    def roles(self, spec: SkillsSpec) -> str:
        """Return who stands in for whom: the cluster for workers' devices, and the driver for embedded holders."""
        apart = spec.keys is not None and spec.keys.where == "mailbox"
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
        if spec.keys is None:
            raise TypeError("a tree needs keys")
        crowd = Crowd.of(spec, population.rows, population.blocks)
        ring = open_keyring(spec.keys, spec.key, population)
        ask = AskLevels(spec, crowd, ring, population)
        tree = conduct(grow(spec.shape), ask)
        return (
            tree_documents(spec, crowd, tree)
            | settings_document(spec, crowd)
            | opening_document(ring, ask.rounds)
        )

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
