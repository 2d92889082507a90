"""What a level of the tree asks every participant, as a private sum of counters."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jobs.skills.requests import Request
from jobs.skills.spec import SkillsSpec
from jobs.skills.tree import LevelQuestion
from udfs.ciphertexts import CiphertextSum
from udfs.encrypted_sum import EncryptedSum
from udfs.noise_shares import NoiseShare, noise_reach, two_sided_variance
from udfs.slots import Slots


@dataclass(frozen=True)
class Crowd:
    """Who contributes, and how much noise that makes.

    Attributes
    ----------
    workers : int
    participants : int
        Workers, or stewards of blocks of them.
    parts : int
        So many noise shares make the noise that is due: participants less those who may collude or be missing.
    """

    workers: int
    participants: int
    parts: int

    @classmethod
    def of(cls, spec: SkillsSpec, rows: int, blocks: int) -> Crowd:
        """Return the crowd of a population.

        Raises
        ------
        SpecError
            Where too few are left whose noise must suffice.
        """
        participants = rows if spec.privacy.participant == "worker" else blocks
        return cls(rows, participants, spec.needed(participants))

    @property
    def beta(self) -> Fraction:
        """How many times the noise that is due the sum has, where nobody is missing."""
        return Fraction(self.participants, self.parts)

    def variance(self, epsilon: Decimal) -> float:
        """Return the variance of the noise in one counter."""
        return two_sided_variance(epsilon, self.beta)


def most_counters(spec: SkillsSpec) -> int:
    """Return how many counters all levels of a full tree have: l (2^h - 1) + 2^(h+1) - 1."""
    depth, bins = spec.skills.depth, spec.skills.bins
    return bins * ((1 << depth) - 1) + (2 << depth) - 1


def level_slots(spec: SkillsSpec, crowd: Crowd, level: int, counters: int, modulus_bits: int) -> Slots:
    """Return how a level's counters are packed, so that no sum leaves its slot.

    Raises
    ------
    SpecError
        Where not even one sum fits a plaintext.
    """
    budget = spec.budget[spec.skills.depth - level]
    epsilons = tuple(one for one in (budget.counts, budget.median) if one is not None)
    reach = noise_reach(epsilons, crowd.beta, most_counters(spec))
    return Slots.fit(counters, crowd.workers, reach, modulus_bits)


def level_request(spec: SkillsSpec, crowd: Crowd, level: int, session: str, total: CiphertextSum) -> Request:
    """Return what key-holders are asked to open of a level.

    Raises
    ------
    ProtocolError
        Where holders would take it for no request.
    """
    return Request(
        key_id=total.key_id,
        session=session,
        level=level,
        account=spec.population.account,
        contributions=total.contributions,
        participants=crowd.participants,
        dropout=spec.privacy.dropout,
        epsilon=str(spec.charge),
        ciphertexts=total.values,
    )


def level_sum(spec: SkillsSpec, crowd: Crowd, question: LevelQuestion, key_id: str, n: int) -> EncryptedSum:
    """Return the private sum of a level: its nodes' counts, and their histograms where they are cut."""
    budget, cells = spec.budget[spec.skills.depth - question.level], question.cells
    noise = [(cells.nodes, NoiseShare(budget.counts, crowd.parts))]
    if budget.median is not None and cells.counters > cells.nodes:
        noise.append((cells.counters - cells.nodes, NoiseShare(budget.median, crowd.parts)))
    slots = level_slots(spec, crowd, question.level, cells.counters, n.bit_length())
    return EncryptedSum(cells, key_id, n, slots, tuple(noise), spec.privacy.participant)
