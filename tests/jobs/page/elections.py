"""Result documents of elections, with all that their page may meet, built from profiles that are made up."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tests.jobs.page.documents import HOSTILE

NAMES = ["Pat McCarthy", "Mike Lonergan", "Shawn Bunney", "Will Baker", "Calvin Goings"]
"""The candidates of `transfers`, best first."""
_FLOW = [
    [78021.4, 66102.2, 64891.7, 50210.9, 41377.3],
    [86312.8, 75240.1, 76110.6, 57190.5],
    [100812.0, 91877.5, 89420.3],
    [137903.6, 133847.2],
]
_ASKED = [20851, 41703, 83406, 166811]
LONG_NAMES = [
    "Marie-Thérèse d’Arc-en-Ciel de la Fontaine-Saint-Martin-sur-Loire",
    "Nguyễn Thị Minh Khai",
    "Ólafur Ragnar Grímsson",
    "אריאל שרון",
    "安倍晋三",
    *HOSTILE,
]


def election(
    rule: str, names: list[Any], ballots: int, outcome: Any, rounds: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """Return a document with these rounds."""
    model = more.pop("model", "local")
    result = {
        "outcome": outcome,
        "rule": rule,
        "model": model,
        "ballots": ballots,
        "candidates": names,
        "tie_order": names,
        "asked": {"randomizer": ["ball"], "reason": "ball has the least variance of a gap, 18.39 a ballot"},
        "decisive_margin": {
            "value": 1850,
            "bound": "the mechanism’s own tails, through the rule’s certificate",
            "paper": 9731,
            "failure_probability": 0.05,
        },
        "estimated_margin": 2027,
        "assured": True,
        "estimated_margin_is": "half of the gap of the two best",
        "invalid": "truncate",
        "shared": "overvote",
        "rounds": rounds,
        **more,
    }
    return {
        "job": "election",
        "version": "0.1.0",
        "spec": {
            "job": "election",
            "election": {"rule": rule, "candidates": names},
            "privacy": {"model": model, "epsilon": "1", "rounds": "share-voters", "randomizer": "auto"},
        },
        "population": {"name": "Pierce County 2008", "rows": ballots, "fingerprint": "31ac1eff223b8183" * 4},
        "privacy": {
            "model": model,
            "neighbours": "one ballot replaced",
            "epsilon": 1.0,
            "spent_before": 0.5,
            "spent_after": 1.5,
            "limit": 4.0,
        },
        "roles": "embedded",
        "result": result,
        "seconds": {"prepare": 0.91, "round 1": 3.25, "round 2": 2.98, "count": 0.02},
    }


def asked(
    question: str, active: list[Any], scores: list[float | None], error: float | None, **more: Any
) -> Any:
    """Return a round with the same standard error for all scores."""
    return {
        "question": question,
        "active": active,
        "scores": scores,
        "standard_errors": [error for _ in scores],
        "intervals": [
            [None, None] if score is None or error is None else [score - 1.96 * error, score + 1.96 * error]
            for score in scores
        ],
        "asked": 1000,
        "tied": [],
        **more,
    }


def duels(names: list[Any], strengths: list[float], error: float | None, **more: Any) -> dict[str, Any]:
    """Return a round of all duels: of two, who is stronger is ahead by the difference."""
    places = list(combinations(range(len(names)), 2))
    margins = [strengths[a] - strengths[b] + 7.0 * ((a + b) % 3) for a, b in places]
    of = [[names[a], names[b]] for a, b in places]
    return asked("duels", names, margins, error, pairs=of, **more)


def transfers(**more: Any) -> dict[str, Any]:
    """Return an election by single transferable vote in rounds: five candidates, one out after each round."""
    names, rounds = list(NAMES), []
    for scores, voters in zip(_FLOW, _ASKED, strict=True):
        active, error = names[: len(scores)], 1.31 * 312771 / voters**0.5
        one = asked("first choices", active, list(scores), error, asked=voters, eliminated=active[-1])
        rounds.append(one)
    rounds[1]["tied"] = ["Will Baker", "Shawn Bunney"]
    for one, randomizer in zip(rounds, [*["subset-selection"] * 3, "ball"], strict=True):
        one["randomizer"] = randomizer
    asks = {"randomizer": "auto", "rounds": "share-voters", "shares": [1, 2, 4, 8]}
    more = {"model": "interactive", "asked": asks, **more}
    return election("stv", NAMES, 312771, NAMES[0], rounds, **more)


def plurality(**more: Any) -> dict[str, Any]:
    """Return an election by plurality, one score below zero and one not estimated."""
    names = ["Wright", "Kiss", "Montroll", "Smith", "Simpson", "write-in"]
    one = asked("first choices", names, [2951.2, 2585.9, 2063.4, 1306.0, 35.1, -36.2], 128.4, asked=8980)
    one["standard_errors"][4], one["intervals"][4] = None, [None, None]
    return election(
        "plurality", names, 8980, "Wright", [one], **{"estimated_margin": 183, "assured": False} | more
    )


def runoff() -> dict[str, Any]:
    """Return an election by plurality with runoff, in rounds."""
    made = plurality(model="interactive")
    (first,) = made["result"]["rounds"]
    first["asked"] = 2993
    final = asked("duels", ["Wright", "Kiss"], [-252.8], 61.0, pairs=[["Wright", "Kiss"]], asked=5987)
    made["result"] |= {
        "rule": "runoff",
        "outcome": "Kiss",
        "rounds": [first, final],
        "estimated_margin": 127,
        "assured": False,
    }
    return made


def condorcet(size: int = 6, **more: Any) -> dict[str, Any]:
    """Return an election by the Condorcet rule, all duels asked in advance."""
    known = ["Montroll", "Kiss", "Wright", "Smith", "Simpson", "write-in"]
    names = [*known, *(f"Candidate {k}" for k in range(7, 99))][:size]
    strengths = [3000.0 - 3000.0 * k / size for k in range(size)]
    rounds = [duels(names, strengths, 311.7, asked=8980)]
    return election("condorcet", names, 8980, names[0], rounds, estimated_margin=294, **more)


def nobody() -> dict[str, Any]:
    """Return an election that nobody wins: three candidates in a circle, and one whom all beat."""
    names = ["Ada", "Bo", "Cy", "Dee"]
    one = duels(names, [0.0] * 4, 40.0, asked=1000)
    one["scores"] = [120.5, -98.1, 300.0, 143.0, 310.0, 280.0]
    one["intervals"] = [[score - 78.4, score + 78.4] for score in one["scores"]]
    return election("condorcet", names, 1000, None, [one], estimated_margin=49)


def knockout() -> dict[str, Any]:
    """Return an election by the Condorcet rule in rounds."""
    names = ["Ada", "Bo", "Cy", "Dee", "Eve"]
    of = [
        [["Ada", "Bo"], ["Cy", "Dee"]],
        [["Ada", "Dee"]],
        [["Ada", "Eve"]],
        [["Ada", other] for other in names[1:]],
    ]
    scores: list[list[float | None]] = [[410.0, -22.0], [388.0], [0.0], [402.0, 371.0, 396.0, 35.0]]
    rounds = [
        asked(
            "duels",
            list(dict.fromkeys(name for pair in pairs for name in pair)),
            one,
            90.0,
            pairs=pairs,
            asked=250,
        )
        for pairs, one in zip(of, scores, strict=True)
    ]
    rounds[2]["tied"] = ["Ada", "Eve"]
    return election("condorcet", names, 1000, "Ada", rounds, model="interactive", estimated_margin=None)


def borda() -> dict[str, Any]:
    """Return an election by the Borda count."""
    one = asked("points", ["Ada", "Bo", "Cy"], [1204.5, 1190.0, 605.5], 33.25, asked=1000)
    return election("borda", ["Ada", "Bo", "Cy"], 1000, "Ada", [one], estimated_margin=8, assured=False)


def central(**more: Any) -> dict[str, Any]:
    """Return an election of the central model: the outcome, and nothing of how it came out."""
    made = election("stv", NAMES, 312771, NAMES[0], [], model="central")
    for key in ("rounds", "asked", "estimated_margin", "estimated_margin_is", "assured"):
        del made["result"][key]
    made["result"] |= {"selection": "margin", "score": "exact", **more}
    made["result"]["decisive_margin"] |= {"value": 5, "paper": 9}
    del made["seconds"]
    return made


def alone() -> dict[str, Any]:
    """Return an election with one candidate."""
    made = election("plurality", ["Ada"], 12, "Ada", [], estimated_margin=0)
    made["result"]["decisive_margin"] |= {"value": 0, "paper": 0}
    return made


def unvoted() -> dict[str, Any]:
    """Return an election without ballots."""
    one = asked("first choices", ["Ada", "Bo"], [0.0, 0.0], 0.0, asked=0, tied=["Ada", "Bo"])
    made = election("plurality", ["Ada", "Bo"], 0, "Ada", [one], estimated_margin=0)
    made["result"]["decisive_margin"] |= {"value": 0}
    return made


def many(size: int = 30) -> dict[str, Any]:
    """Return an election of many candidates by single transferable vote in rounds, two of them never level."""
    names, rounds = [f"Candidate {k}" for k in range(1, size + 1)], []
    for left in range(size, 1, -1):
        total = sum(1 / (k + 1) for k in range(left))
        scores = [40000 / (k + 1) / total - 60.0 * (k > 20) + 35.0 * ((k * left) % 3) for k in range(left)]
        one = asked("first choices", names[:left], scores, 190.0, asked=1379, eliminated=names[left - 1])
        rounds.append(one)
    return election("stv", names, 40000, names[0], rounds, model="interactive", estimated_margin=988)


def landslide() -> dict[str, Any]:
    """Return an election by single transferable vote that one candidate wins, and for whose others hardly any vote."""
    names, rounds = [f"Candidate {k}" for k in range(1, 9)], []
    for left in range(8, 1, -1):
        scores = [970.0, 20.0, 4.0, 3.0, 2.0, 1.0, 0.0, -5.0][:left]
        rounds.append(asked("first choices", names[:left], list(scores), 9.0, eliminated=names[left - 1]))
    return election("stv", names, 1000, names[0], rounds)


def hostile_election() -> dict[str, Any]:
    """Return an election whose every text tries to be something else."""
    size = len(LONG_NAMES)
    rounds = [
        asked(
            "first choices", LONG_NAMES, [900.0 - 60.0 * k for k in range(size)], 30.0, tied=LONG_NAMES[4:6]
        ),
        duels(LONG_NAMES, [1000.0 - 50.0 * k for k in range(size)], 30.0),
        duels(LONG_NAMES[4:9], [1000.0 - 50.0 * k for k in range(5)], None),
        asked(HOSTILE[8], LONG_NAMES, [float(k) for k in range(size)], None, tied=LONG_NAMES[4:6]),
    ]
    made = election(HOSTILE[0], LONG_NAMES, 4000, LONG_NAMES[5], rounds, model=HOSTILE[0])
    made["result"] |= {
        "invalid": HOSTILE[0],
        "shared": HOSTILE[1],
        "asked": {"randomizer": [HOSTILE[8], HOSTILE[0]]},
    }
    made["result"]["decisive_margin"]["bound"] = HOSTILE[3]
    made["population"]["name"] = HOSTILE[8] + HOSTILE[3]
    made["version"] = HOSTILE[0]
    return made


def hostile_transfers() -> dict[str, Any]:
    """Return an election by single transferable vote whose every name tries to be something else."""
    rounds = []
    for left in range(len(LONG_NAMES), 1, -1):
        scores: list[float | None] = [float(100 + 10 * (len(LONG_NAMES) - k)) for k in range(left)]
        rounds.append(asked("first choices", LONG_NAMES[:left], scores, 9.0, eliminated=LONG_NAMES[left - 1]))
    return election("stv", LONG_NAMES, 3000, LONG_NAMES[0], rounds)


ELECTIONS = {
    "transfers": transfers,
    "plurality": plurality,
    "runoff": runoff,
    "condorcet": condorcet,
    "condorcet-30": lambda: condorcet(30),
    "nobody": nobody,
    "knockout": knockout,
    "borda": borda,
    "central": central,
    "alone": alone,
    "unvoted": unvoted,
    "many": many,
    "landslide": landslide,
    "hostile-election": hostile_election,
    "hostile-transfers": hostile_transfers,
}
"""A maker of every kind of document."""
