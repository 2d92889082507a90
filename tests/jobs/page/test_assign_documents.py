"""Documents of assignments with all that their page may meet, and how they are like a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.page.page import render_assign
from jobs.show import show_result
from tests.jobs.assign.dispatch import SKILLS, Dispatch
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.missing import assert_clean
from tests.jobs.page.reading import read, rows

LEAVES = [64, 130, 131, 66, 67, 17]
"""The ids of a small tree's leaves, not all of one level."""
PROTOCOLS = {
    "lattice": "learning with errors, dimension 1024 modulo 2^32",
    "paillier": "deciding composite residuosity modulo each worker's own number",
    "download": "perfect: everybody downloads everything",
}
_APART = {"spec", "box", "seconds"}
"""A spec is whatever was given; boxes are named by dimensions, and times by stages."""


def assignments(
    leaves: int = 6,
    protocol: str = "lattice",
    gets: int = 1,
    how: str = "every",
    names: tuple[Any, ...] = ("python", "welding"),
    asked: str = "auto",
    **more: Any,
) -> dict[str, Any]:
    """Return a document with so many leaves, side by side along the first dimension."""
    chance = np.random.default_rng(20030607 + leaves)
    item = 321_129
    useful = np.sort(chance.integers(20_000, 320_000, leaves))[::-1]
    counts = np.round(chance.normal(312, 60, leaves), 1)
    ends = np.linspace(0.0, 1.0, leaves + 1)
    once = how == "once"
    needed = [1 + k % 4 if once else 1 for k in range(leaves)]
    coverage = [min(1.0, round(gets / one, 3)) for one in needed]
    costs = _costs(protocol, leaves, item, gets)
    taken = next(one for one in costs if one["chosen"])
    workers, computes = 20_000, protocol != "download"
    result = {
        "dimensions": list(names),
        "domain": [0.0, 1.0],
        "tree": {"sha256": "5c" * 32, "epsilon": 1.5},
        "leaves": [
            {
                "id": LEAVES[k] if leaves == len(LEAVES) else leaves + k,
                "box": {
                    str(name): [float(ends[k]), float(ends[k + 1])] if name is names[0] else [0.0, 1.0]
                    for name in names
                },
                "count": float(counts[k]),
                "tasks": int(20 + k % 100),
                "payload_bytes": int(useful[k]),
                "in_item": int(18 + k % 100),
                "needed": needed[k],
                "coverage": coverage[k],
            }
            for k in range(leaves)
        ],
        "precision": [
            float(size) * share / (gets * item) for size, share in zip(useful, coverage, strict=True)
        ],
        "item_bytes": item,
        "gets": gets,
        "library_bytes": leaves * item,
        "bytes_up": gets * taken["upload_bytes"],
        "bytes_down": gets * taken["download_bytes"] + taken["hint_bytes"],
        "hint_bytes": taken["hint_bytes"],
        "server_bytes_per_second": 5.21e9 if computes else None,
        "server_seconds": 74.04 if computes else None,
        "workers": workers,
        "received": workers * gets,
        "undecoded": 0,
        "tasks": {"number": 1000, "payload_bytes": 8_123_456, "nowhere": 0},
        "packing": {
            "how": how,
            "largest": item,
            "lower_bound": 300_000 if once else item,
            "bound": "linear programme" if once else "no choice",
        },
        "retrieval": {
            "protocol": protocol,
            "asked": asked,
            "version": "9f" * 32,
            "layout": f"{leaves} items of {item} bytes modulo 991 stack=1 spread=4",
            "security": PROTOCOLS[protocol],
            "failure_log2": -43.6 if protocol == "lattice" else None,
            "server_seconds": 0.01,
        },
        "costs": costs,
        **more,
    }
    return {
        "job": "assign",
        "version": "0.1.0",
        "spec": {"job": "assign", "retrieval": {"protocol": asked, "gets": gets, "bits": 2048}},
        "population": {"name": "Volunteers 2026", "rows": workers, "fingerprint": "31ac1eff223b8183" * 4},
        "privacy": {
            "model": "private retrieval",
            "neighbours": "which leaf a worker is in",
            "basis": "what is sent cannot be told from what would be sent from any other leaf",
            "covers": "all that the platform sees",
            "epsilon": None,
            "spent_before": 1.5,
            "spent_after": 1.5,
            "limit": 4.0,
        },
        "roles": "embedded",
        "result": result,
        "seconds": {"prepare": 2.21, "ask": 81.5},
    }


def _costs(protocol: str, leaves: int, item: int, gets: int) -> list[dict[str, Any]]:
    sizes = {
        "lattice": (1_290_240, 81_920, 430_080, 0.0037),
        "paillier": (0, 16_896, 1_297_920, 41.2),
        "download": (leaves * item, 0, 0, 0.0),
    }
    return [
        {
            "protocol": name,
            "hint_bytes": hint,
            "upload_bytes": up,
            "download_bytes": down,
            "bytes_per_worker": hint + gets * (up + down),
            "server_seconds": seconds,
            "affordable": seconds <= 0.01,
            "chosen": name == protocol,
        }
        for name, (hint, up, down, seconds) in sizes.items()
    ]


def single() -> dict[str, Any]:
    """Return a document of one leaf: there is nothing to hide."""
    return assignments(leaves=1, protocol="download")


def empty() -> dict[str, Any]:
    """Return a document without tasks: items are bare headers."""
    made = assignments()
    for leaf in made["result"]["leaves"]:
        leaf |= {"tasks": 0, "payload_bytes": 0, "in_item": 0}
    made["result"] |= {
        "precision": [0.0] * len(LEAVES),
        "item_bytes": 28,
        "library_bytes": 28 * len(LEAVES),
        "tasks": {"number": 0, "payload_bytes": 0, "nowhere": 0},
        "packing": {"how": "every", "largest": 28, "lower_bound": 28, "bound": "no choice"},
    }
    return made


def short_of_gets() -> dict[str, Any]:
    """Return a document in which two gets do not bring everything, and some tasks are for no leaf."""
    made = assignments(leaves=8, how="once", gets=2)
    made["result"]["tasks"]["nowhere"] = 3
    return made


def spoilt() -> dict[str, Any]:
    """Return a document in which some gets were not decoded."""
    return assignments(received=19_997, undecoded=3)


def trial() -> dict[str, Any]:
    """Return a document of short keys, asked for whatever they cost."""
    made = assignments(protocol="paillier", asked="paillier")
    made["spec"]["retrieval"]["bits"] = 512
    return made


def hostile_assignments() -> dict[str, Any]:
    """Return a document whose names and remarks are what nobody should write."""
    made = assignments(names=tuple(HOSTILE))
    for leaf in made["result"]["leaves"]:
        leaf["box"] = {name: [0.125, 0.875] for name in HOSTILE}
    made["population"]["name"] = HOSTILE[8] + HOSTILE[3]
    made["version"] = HOSTILE[0]
    made["privacy"] |= {"neighbours": HOSTILE[8], "model": HOSTILE[0]}
    result = made["result"]
    result["retrieval"] |= {
        **{"protocol": HOSTILE[8], "asked": HOSTILE[0], "security": HOSTILE[4]},
        **{"layout": HOSTILE[3], "version": HOSTILE[0]},
    }
    result["packing"] |= {"how": HOSTILE[0], "bound": HOSTILE[1]}
    result["costs"][0]["protocol"] = HOSTILE[8] + HOSTILE[4]
    result["tree"]["sha256"] = HOSTILE[8]
    return made


DISPATCHES = {
    "lattice": assignments,
    "download": lambda: assignments(protocol="download"),
    "single": single,
    "large": lambda: assignments(leaves=4096, gets=3, how="once"),
    "empty": empty,
    "short-of-gets": short_of_gets,
    "spoilt": spoilt,
    "trial": trial,
    "hostile": hostile_assignments,
}


def shape_of(value: Any) -> Any:
    """Return the keys of a document at all depths; those of a list are of all its elements together."""
    if isinstance(value, dict):
        return {key: None if key in _APART else shape_of(inner) for key, inner in value.items()}
    if isinstance(value, list):
        shapes: dict[str, Any] = {}
        for one in value:
            shapes |= shape_of(one) or {}
        return shapes
    return None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the document of workers who really fetched."""
    return Dispatch(tmp_path_factory.mktemp("dispatch")).run()[0]


@pytest.mark.parametrize("name", DISPATCHES)
def test_an_invented_document_has_the_keys_of_a_real_one(made: dict[str, Any], name: str) -> None:
    assert shape_of(DISPATCHES[name]()) == shape_of(made)
    for key in ("protocol", "bits"):
        assert key in made["spec"]["retrieval"]


def test_the_page_of_a_real_document_holds_what_it_does(made: dict[str, Any]) -> None:
    shown = render_assign(made)
    assert_clean(shown, ())
    page, result = read(shown), made["result"]
    (table,) = page.all("article")[0].all("table")
    found = {row[0]: row[1:] for row in rows(table)}
    assert set(found) == {str(leaf["id"]) for leaf in result["leaves"]}
    for leaf, share in zip(result["leaves"], result["precision"], strict=True):
        row = found[str(leaf["id"])]
        assert any(name in row[0] for name in SKILLS)
        assert row[2] == str(leaf["tasks"])
        assert row[5] == f"{100 * share:.1f}"
        assert row[6:] == ["100", "1"]
    assert result["retrieval"]["version"] in page.text


def test_the_terminal_shows_a_real_document(made: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show_result(made, "out", stored=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    assert "90 workers, 1 get each: sent" in " ".join(lines)


def test_gets_that_bring_a_part_are_told_of_a_real_document(tmp_path: Path) -> None:
    dispatch = Dispatch(tmp_path)
    dispatch.given["tasks"]["packing"] = "once"
    dispatch.given["retrieval"]["protocol"] = "download"
    document = dispatch.run()[0]
    short = sum(leaf["coverage"] < 1 for leaf in document["result"]["leaves"])
    assert short > 0
    said = f"Workers of {short} of 5 leaves did not get all tasks for them"
    assert said in read(render_assign(document)).text
