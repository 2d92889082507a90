"""Result documents with all that a page may meet, built from a few numbers."""

from __future__ import annotations

from typing import Any

HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{1}{0}$ & $x_",
    "לא עניתי על השאלה הזאת",
    "a label that goes on and on " * 12,
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "日本語のとても長い選択肢のラベルです",
    "",
    "\ud800 half a character, \u202e turned, \x00 and nothing",
    "'\"--><svg onload=alert(1)>",
    "@0@",
]


def attribute(
    categories: list[Any], shares: list[float | None], error: float | None, **more: Any
) -> dict[str, Any]:
    intervals = [
        [None, None]
        if share is None or error is None
        else [max(share - 2 * error, 0.0), max(share + 2 * error, 0.0)]
        for share in shares
    ]
    clipped = [None if share is None else max(share, 0.0) for share in shares]
    return {
        "categories": categories,
        "proportions": shares,
        "standard_errors": [error for _ in shares],
        "intervals": intervals,
        "post_processed": {"simplex-projection": clipped},
        "missing": {"handling": "none", "share": None, "standard_error": None, "note": None},
        "mechanism": "randomized-response",
        "epsilon": 1.0,
        **more,
    }


def document(attributes: dict[str, Any], **parts: Any) -> dict[str, Any]:
    spec = {
        name: {"categories": one.get("categories"), "epsilon": "1.0", "missing": "none"}
        for name, one in attributes.items()
    }
    return {
        "job": "survey",
        "version": "0.1.0",
        "spec": {"job": "survey", "attributes": spec, "collected": None},
        "population": {"name": "responses", "rows": 20000, "fingerprint": "4e1bdeaa09a0491e" * 4},
        "privacy": {
            "model": "local",
            "neighbours": "one respondent replaced",
            "basis": "drawn by this job",
            "covers": "all that respondents report",
            "epsilon": 6.0,
            "spent_before": 2.5,
            "spent_after": 8.5,
            "limit": 12.0,
        },
        "roles": "embedded",
        "result": {
            "respondents": 20000,
            "confidence": 0.95,
            "sampling": "respondents are taken as a simple random sample, without a finite-population correction",
            "attributes": attributes,
            **parts,
        },
        "seconds": {"prepare": 2.208169256000474, "ask": 0.5549412399996072},
    }


def rich() -> dict[str, Any]:
    """Return a document that has every part, negative estimates among them."""
    drinks = ["never", "monthly", "weekly", "several-a-week", "daily"]
    income = list(range(1, 13))
    small = [0.048, 0.088, 0.123, 0.140, 0.139, 0.122, 0.100, 0.080, 0.061, 0.050, 0.051, -0.002]
    posts = {
        "simplex-projection": [0.462, 0.355, 0.183, 0.0],
        "clip-and-rescale": [0.4598, 0.3546, 0.1856, 0.0],
        "maximum-likelihood": None,
    }
    rarely = attribute(
        ["at home", "at work", "outside", "in the ring"],
        [0.47, 0.3625, 0.1906, -0.0231],
        0.0152,
        post_processed=posts,
    )
    shares = [0.2218, 0.2990, 0.2674, 0.1475, 0.0643]
    attributes = {
        "cheated": attribute(["no", "yes"], [0.9294, 0.0706], 0.0022, reason="it has the smallest error"),
        "drinks": attribute(
            drinks,
            shares,
            0.0026,
            epsilon=1.5,
            missing={
                "handling": "category",
                "share": 0.0789,
                "standard_error": 0.0021,
                "note": "proportions are among those who answered",
            },
        ),
        "place": rarely,
        "income": attribute(
            income, small, 0.0017, epsilon=2.0, mechanism="subset-selection", shared_with=["means"]
        ),
    }
    return document(
        attributes,
        statistics=[
            {
                "kind": "entropy",
                "of": ["drinks"],
                "estimate": 2.1764,
                "standard_error": 0.0124,
                "interval": [2.1521, 2.2007],
                "unit": "bits",
                "method": "delta method",
            },
            {
                "kind": "mutual-information",
                "of": ["drinks", "cheated"],
                "estimate": -0.0021,
                "standard_error": 0.0043,
                "interval": [-0.0105, 0.0063],
                "unit": "bits",
                "if_independent": 0.0017,
                "note": "if they were independent, noise alone would make it about 0.0017 on average",
            },
            {
                "kind": "independence-test",
                "of": ["drinks", "cheated"],
                "estimate": 252.0861,
                "standard_error": None,
                "interval": None,
                "degrees_of_freedom": 4,
                "p_value": 1e-9,
                "method": "rao-scott",
            },
            {
                "kind": "pearson",
                "of": ["income", "drinks"],
                "estimate": 0.0312,
                "standard_error": 0.0252,
                "interval": [-0.0182, 0.0806],
                "p_value": 0.2161,
                "note": "scores are the places of the categories",
            },
        ],
        joint=[
            {
                "of": ["cheated", "drinks"],
                "shape": [2, 5],
                "categories": [["no", "yes"], drinks],
                "proportions": [
                    [0.2103, 0.2790, 0.2504, 0.1315, 0.0583],
                    [0.0115, 0.0200, 0.0170, 0.0260, -0.004],
                ],
                "standard_errors": [[0.0051] * 5, [0.0049] * 5],
                "epsilon": 2.5,
                "mechanism": "randomized-response",
            },
            large_table("tables/0.parquet"),
        ],
        regressions=[
            {
                "outcome": "cheated",
                "rows": 20000,
                "iterations": 6,
                "log_likelihood": -5012.3456,
                "terms": [
                    _term("(intercept)", -2.51, 0.09, 0.0813, [0.0682, 0.0969]),
                    _term("drinks: weekly", 0.42, 0.11, 1.522, [1.227, 1.888]),
                    _term("drinks: daily", 0.97, 0.17, 2.638, [1.890, 3.681]),
                    _term("age (decades)", -0.21, 0.06, 0.8106, [0.7207, 0.9117]),
                ],
            }
        ],
        groups=[
            {
                "group": name,
                "respondents": size,
                "attributes": {"drinks": attribute(drinks, [share + shift for share in shares], error)},
            }
            for name, size, shift, error in (
                ("north", 7012, 0.012, 0.0044),
                ("east", 6000, -0.007, 0.005),
                ("south", 6988, 0.0, 0.0044),
            )
        ],
        strata=[
            {"stratum": "urban", "respondents": 12000, "share": 0.6},
            {"stratum": "rural", "respondents": 8000, "share": 0.4},
        ],
        cheating=[
            {
                "attribute": "cheated",
                "model": "stochastic-lie-detector",
                "estimates": {
                    "carriers": {"estimate": 0.8707, "standard_error": 0.0411, "interval": [0.7901, 0.9513]},
                    "truthful": {"estimate": 0.6358, "standard_error": 0.0173, "interval": [0.6018, 0.6698]},
                    "cheaters": {"estimate": -0.0171, "standard_error": 0.0254, "interval": [0.0, 0.0327]},
                },
                "p_value": 0.7496,
                "note": "cheaters came out as no share",
            }
        ],
    )


def large_table(name: str) -> dict[str, Any]:
    """Return a table of proportions that is a file of its own."""
    return {
        "kind": "proportions",
        "of": [f"q{k}" for k in range(14)],
        "estimate": None,
        "standard_error": None,
        "unit": "share",
        "categories": None,
        "note": None,
        "table": name,
        "cells": 2**14,
    }


def _term(name: str, estimate: float, error: float, odds: float, interval: list[float]) -> dict[str, Any]:
    return {
        "term": name,
        "estimate": estimate,
        "standard_error": error,
        "z": estimate / error,
        "p_value": 0.00013,
        "interval": [estimate - 1.96 * error, estimate + 1.96 * error],
        "odds_ratio": odds,
        "odds_ratio_interval": interval,
    }


def hostile() -> dict[str, Any]:
    """Return a document whose every text tries to be something else, with 200 categories and a wide table."""
    shares: list[float | None] = [0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.03, -0.01]
    many = attribute(
        [f"category {k}" for k in range(200)], [(k % 7) / 600 - 0.001 for k in range(200)], 0.002
    )
    name = HOSTILE[0]
    made = document(
        {name: attribute(HOSTILE, shares, 0.01, mechanism=HOSTILE[1], reason=HOSTILE[3]), HOSTILE[4]: many},
        statistics=[
            {"kind": HOSTILE[8], "of": [HOSTILE[2], HOSTILE[0]], "estimate": 1e12, "note": HOSTILE[0]},
            large_table("javascript:alert(1)"),
        ],
        joint=[
            {
                "of": [name, name],
                "categories": [HOSTILE, HOSTILE],
                "proportions": [shares] * 10,
                "standard_errors": [[0.001] * 10] * 10,
            }
        ],
        groups=[
            {"group": label, "respondents": 3, "attributes": {name: attribute(HOSTILE, shares, 0.05)}}
            for label in HOSTILE[:3]
        ],
    )
    made["population"]["name"] = HOSTILE[8] + HOSTILE[3]
    made["privacy"] |= {"basis": "collected: as the spec says", "epsilon": 50.0}
    made["version"] = HOSTILE[0]
    return made
