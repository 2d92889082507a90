"""The rounds of a tree: each level is asked of all participants, and its sum alone is opened."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.population import Population
from jobs.skills.keys import Keyring
from jobs.skills.levels import Crowd, level_request, level_sum
from jobs.skills.spec import SkillsSpec
from jobs.skills.tree import LevelQuestion
from udfs.ciphertexts import CiphertextSum
from udfs.design import Counts
from udfs.slots import Slots
from udfs.threshold import Opened


@dataclass(frozen=True)
class Round:
    """How a level was answered.

    Attributes
    ----------
    slots : Slots
        How its counters were packed.
    contributions : int
        How many were added up.
    opened : Opened
    """

    slots: Slots
    contributions: int
    opened: Opened


class AskLevels:
    """Asks level after level of a population, and remembers how.

    Parameters
    ----------
    spec : SkillsSpec
    crowd : Crowd
    ring : Keyring
    population : Population

    Attributes
    ----------
    rounds : list of Round
        Of the levels that were asked, root first.
    """

    def __init__(self, spec: SkillsSpec, crowd: Crowd, ring: Keyring, population: Population) -> None:
        self._spec, self._crowd, self._ring, self._population = spec, crowd, ring, population
        self._session = population.driver_key("opening").hex()[:32]
        self.rounds: list[Round] = []

    def __call__(self, question: LevelQuestion) -> Counts:
        """Ask one level of all participants, have its sum opened, and return its counters: int64.

        Raises
        ------
        ProtocolError
            Where too few contribute or open, or what is opened cannot be.
        """
        key = self._ring.key
        mechanism = level_sum(self._spec, self._crowd, question, key.key_id, key.n)
        asks = [(self._spec.question, mechanism)]
        total: CiphertextSum = self._population.ask(asks, f"level {question.level}")[0]
        request = level_request(self._spec, self._crowd, question.level, self._session, total)
        opened = self._ring.opener.open(request)
        self.rounds.append(Round(mechanism.slots, total.contributions, opened))
        return mechanism.slots.unpack(opened.plaintexts)
