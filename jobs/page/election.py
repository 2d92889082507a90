"""What the page of an election shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from typing import Any

from jobs.election import words as told
from jobs.guarantee import collected
from jobs.page import words
from jobs.page.election_rounds import view_rounds
from jobs.page.election_scores import Round, read_rounds
from jobs.page.parts import view_bound, view_budget, view_provenance, view_times
from jobs.page.values import epsilon_of, mapping, sequence

_CENTRAL = (
    *("outcome", "rule", "ballots", "candidates", "tie_order"),
    *("decisive_margin", "selection", "score", "invalid", "shared"),
)
"""All that leaves the central model."""
_QUESTIONS = {
    "first choices": "First choices: whom do you place first among these candidates?",
    "duels": "Duels: whom of these two do you place higher?",
    "points": "Points: what place do you give to each of the candidates?",
}
"""What a voter was asked, by what documents call it."""


def view_election(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of an election is filled with; figures are drawn on the way.

    In the central model nothing is shown of scores, rounds and times, whatever the document holds.
    """
    result, privacy = mapping(document.get("result")), mapping(document.get("privacy"))
    model, seconds = result.get("model") or privacy.get("model"), mapping(document.get("seconds"))
    if model == "central":
        result, seconds = {key: result[key] for key in _CENTRAL if key in result}, {}
    result = {**result, "model": model}
    rounds = read_rounds(result)
    winner = None if result.get("outcome") is None else words.label(result["outcome"])
    ballots = words.finite(result.get("ballots", mapping(document.get("population")).get("rows")))
    confidence = words.finite(result.get("confidence")) or 0.95
    return {
        "population": mapping(document.get("population")),
        "model": model,
        "ballots": ballots,
        "candidates": [words.label(name) for name in sequence(result.get("tie_order"))],
        "confidence": f"{100 * confidence:.6g}\N{NO-BREAK SPACE}%",
        "outcome": _outcome(result, privacy),
        "winner": winner,
        "guarantee": _guarantee({**privacy, "model": model}),
        "trust": told.trust_of(model) if model else None,
        "margin": told.margin_of(result),
        "verdict": told.verdict_of(result),
        "levels": told.levels_of(result),
        "gauge": _gauge(result),
        "budget": view_budget(privacy),
        **view_rounds(rounds, winner, ballots),
        "asked": _asked(rounds, ballots),
        "questions": [
            text for name, text in _QUESTIONS.items() if any(name == one.question for one in rounds)
        ],
        "settings": _settings(document, result, rounds),
        "times": view_times(seconds),
        "provenance": view_provenance(document),
    }


def _outcome(result: dict[str, Any], privacy: dict[str, Any]) -> tuple[str, str, str] | None:
    if "outcome" not in result:
        return None
    named = result if result["outcome"] is None else {**result, "outcome": words.label(result["outcome"])}
    return told.outcome_of(named, epsilon_of(privacy) or words.ABSENT)


def _guarantee(privacy: dict[str, Any]) -> dict[str, Any] | None:
    """Return the one sentence in parts, and whether there is a guarantee."""
    if "epsilon" not in privacy:
        return None
    bound = view_bound(privacy["epsilon"])
    before, claim, after = told.guarantee_of(privacy, bound)
    return {
        "before": before,
        "claim": claim,
        "after": after,
        "none": bound is None,
        "collected": collected(privacy),
    }


def _gauge(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the estimated margin beside the decisive one, in per cent of a bar that holds both."""
    estimate = words.finite(result.get("estimated_margin"))
    least = words.finite(mapping(result.get("decisive_margin")).get("value"))
    if estimate is None or least is None or least <= 0:
        return None
    estimate = max(estimate, 0.0)
    whole = 1.15 * max(estimate, least)
    shares = [round(100 * part / whole, 3) for part in (estimate, least)]
    return {"estimate": estimate, "least": least, "shares": shares}


def _asked(rounds: list[Round], ballots: float | None) -> list[dict[str, Any]]:
    """Return what each round asked of how many."""
    return [
        {
            "number": one.number,
            "question": one.question,
            "about": len(one.active),
            "pairs": len(one.scores) if one.question == "duels" else None,
            "randomizer": one.randomizer.replace("-", " "),
            "asked": one.asked,
            "share": None if one.asked is None or not ballots else one.asked / ballots,
        }
        for one in rounds
    ]


def _settings(document: dict[str, Any], result: dict[str, Any], rounds: list[Round]) -> list[tuple[str, str]]:
    """Return the rules of the count by name, in sentences, without what the document does not say."""
    election, asked = mapping(mapping(document.get("spec")).get("election")), mapping(result.get("asked"))
    margin = mapping(result.get("decisive_margin"))
    is_open = bool(words.finite(margin.get("value")))
    paper = words.finite(margin.get("paper"))
    parts = {
        "Rule": told.rule_of(result),
        "Points by place": ", ".join(map(str, sequence(election.get("weights")))),
        "What a voter sent": _sent(rounds, asked),
        "Why": asked.get("reason") if rounds else None,
        "Rounds": told.ROUNDS.get(str(asked.get("rounds"))) if len(rounds) > 1 else None,
        "How the outcome was drawn": _looked_up(told.SELECTIONS, result.get("selection")),
        "The margin there is": _looked_up(told.SCORES, result.get("score")),
        "The estimated margin is": result.get("estimated_margin_is") if is_open else None,
        "The decisive margin is from": margin.get("bound") if is_open else None,
        "By the paper’s bound": f"it would be {told.bound(paper)}" if is_open and paper is not None else None,
        "An invalid ballot": _looked_up(told.INVALID, result.get("invalid")),
        "A shared rank": _looked_up(told.SHARED, result.get("shared")),
    }
    return [(name, words.sentence(value)) for name, value in parts.items() if value]


def _sent(rounds: list[Round], asked: dict[str, Any]) -> str:
    """Return what a voter sent: in one report, in a report for each of several questions, or from round to round."""
    if not rounds:
        return ""
    by_round = dict.fromkeys(one.randomizer for one in rounds if one.randomizer)
    given = asked.get("randomizer")
    names = [*by_round] or [
        str(name) for name in (given if isinstance(given, list) else [given]) if name not in (None, "auto")
    ]
    sent = [told.RANDOMIZERS.get(name, name) for name in dict.fromkeys(names)]
    if len(names) > 1 and not by_round:
        return f"{len(names)} reports, with an equal part of ε each: {words.listed(sent)}"
    return "; or ".join(sent)


def _looked_up(table: dict[str, str], value: Any) -> Any:
    return table.get(str(value), value)
