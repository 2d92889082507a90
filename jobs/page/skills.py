"""What the page of a tree of skills shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from jobs.page import skills_boxes as boxes
from jobs.page import words
from jobs.page.parts import view_bound, view_budget, view_provenance, view_times
from jobs.page.skills_figures import MOST_LEVELS, draw_steps, draw_tree
from jobs.page.skills_rows import root_mean_square, view_levels, view_nodes
from jobs.page.skills_tree import Tree, known, read_tree
from jobs.page.values import mapping, mappings, numbers, sequence
from jobs.skills import words as told

MOST_DIMENSIONS = 10
"""So many dimensions that are cut are drawn, each with each."""
_MOST_MARKS = 40
_DID = {"answered": "opened", "declined": "declined", "wrong": "an answer in its name was wrong"}


def view_skills(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a tree of skills is filled with; figures are drawn on the way."""
    result, privacy = mapping(document.get("result")), mapping(document.get("privacy"))
    tree = read_tree(result)
    holders = mapping(result.get("holders"))
    planes, lines, factor = _drawings(tree)
    return {
        "population": mapping(document.get("population")),
        "guarantee": _guarantee(privacy, result),
        "conditions": told.conditions_of(result),
        "budget": view_budget(privacy),
        "summary": _summary(tree, document),
        "planes": planes,
        "side": max(len(tree.cut[:MOST_DIMENSIONS]) - 1, 0),
        "drawn": [tree.dimensions[k] for k in tree.cut[:MOST_DIMENSIONS]],
        "left_out": [tree.dimensions[k] for k in tree.cut[MOST_DIMENSIONS:]],
        "uncut": [name for k, name in enumerate(tree.dimensions) if k not in tree.cut] if tree.leaves else [],
        "lines": lines,
        "scale": [*boxes.scale(factor), (-1, "less than nobody: noise")],
        "overlap": len(tree.cut) > 2,
        "tree": _tree(tree),
        "first": _first(result, tree),
        "bias": told.bias_of(result),
        "levels": view_levels(tree, result),
        "leaves": view_nodes(tree, tree.leaves),
        "cuts": view_nodes(tree, [one for one in tree.nodes if one.split is not None], by_size=False),
        "holders": _holders(holders),
        "answers": told.answers_of(holders),
        "key": mapping(result.get("keys")).get("key_id"),
        "contributions": _contributions(result),
        "settings": _settings(result, privacy),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _guarantee(privacy: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the one sentence in parts, and whether there is a guarantee to speak of."""
    if "epsilon_replace" not in privacy:
        return None
    bound, delta = view_bound(privacy["epsilon_replace"]), known(result.get("delta"))
    delta = None if delta is None or delta < 0 else delta
    before, claim, after = told.guarantee_of(bound, delta, _small)
    weak = bound is None or delta is None or delta > told.WEAK_DELTA
    return {"before": before, "claim": claim, "after": after, "none": weak}


def _small(delta: float) -> str:
    return words.significant(delta, 2).replace(" ", "\N{NO-BREAK SPACE}")


def _summary(tree: Tree, document: dict[str, Any]) -> dict[str, Any] | None:
    """Return how many leaves there are, and the number and spread of their workers."""
    if not tree.leaves:
        return None
    result = mapping(document.get("result"))
    counts = sorted(leaf.best for leaf in tree.leaves if leaf.best is not None)
    return {
        "leaves": len(tree.leaves),
        "cut": len({one.dimension for one in tree.nodes if one.split is not None}),
        "workers": known(result.get("workers")),
        "ends": (counts[0], counts[-1]) if counts else None,
        "below": bool(counts) and counts[0] < 0,
    }


def _drawings(tree: Tree) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Return any two dimensions drawn small and large, each one alone, and the factor of their shades."""
    cut = tree.cut[:MOST_DIMENSIONS]
    pairs = list(combinations(range(len(cut)), 2))
    most = boxes.cells_a_side(len(pairs))
    edges = {k: boxes.edges_of(tree.boxes[:, k], most) for k in cut}
    parts = {k: boxes.shares_of(tree.boxes[:, k], edges[k]) for k in cut}
    crowds = [
        boxes.crowd(tree.counts, (parts[cut[a]], parts[cut[b]]), (edges[cut[a]], edges[cut[b]]))
        for a, b in pairs
    ]
    factor = boxes.factor_of(max((float(one.max()) for one in crowds), default=1.0))
    planes = []
    for number, ((a, b), crowd) in enumerate(zip(pairs, crowds, strict=True), 1):
        name, of = f"boxes-{number}", (cut[a], cut[b])
        ends, labels = tree.boxes[:, of], (tree.dimensions[of[0]], tree.dimensions[of[1]])
        cells = boxes.shades(crowd, factor)
        small = boxes.draw_boxes(name, ends, cells, (edges[of[0]], edges[of[1]]))
        title = f"leaves by {labels[0]} and {labels[1]}"
        large = boxes.view_boxes(name, title, labels, tree.domain, _numbers(tree, ends))
        planes.append(
            {"number": number, "row": b, "column": a + 2, "labels": labels, "small": small, "large": large}
        )
    lines = []
    low, high = tree.domain
    for number, k in enumerate(cut if tree.counts.sum() > 0 else (), 1):
        crowd = boxes.crowd(tree.counts, (parts[k],), (edges[k],))
        title = f"workers along {tree.dimensions[k]}"
        chart = draw_steps(f"line-{number}", title, crowd, low + (high - low) * edges[k], reference=1.0)
        lines.append({"label": tree.dimensions[k], "chart": chart})
    return planes, lines, factor


def _numbers(tree: Tree, ends: boxes.Array) -> list[tuple[Any, ...]]:
    """Return leaves' counts with their boxes in two dimensions, where each has a place of its own there."""
    if not boxes.apart(ends):
        return []
    places = np.rint(boxes.SIDE * ends).astype(int).tolist()
    return [
        (leaf.best, left, boxes.SIDE - high, right - left, high - low)
        for leaf, ((left, right), (low, high)) in zip(tree.leaves, places, strict=True)
    ]


def _tree(tree: Tree) -> dict[str, Any] | None:
    """Return the drawn tree, and how much of it is not drawn."""
    placed = [one for one in tree.nodes if one.place]
    if not placed:
        return None
    return {
        "chart": draw_tree("tree-chart", "the tree with the counts of its leaves", tree),
        "errors": [
            root_mean_square(leaf.error for leaf in tree.leaves),
            root_mean_square(leaf.estimate_error for leaf in tree.leaves),
        ],
        "deeper": max(tree.depth - MOST_LEVELS, 0),
    }


def _first(result: dict[str, Any], tree: Tree) -> dict[str, Any] | None:
    """Return the root's histogram, and where it was cut."""
    for one in mappings(result.get("nodes")):
        bins = [known(value) for value in sequence(one.get("histogram"))]
        if one.get("id") == 1 and bins and None not in bins:
            edges = np.linspace(*tree.domain, len(bins) + 1)
            label, cut = words.label(one.get("dimension")), known(one.get("split"))
            title = f"workers by {label}, as the root was asked"
            chart = draw_steps("first", title, np.array(bins, dtype=np.float64), edges, cut=cut)
            return {"label": label, "chart": chart, "cut": cut}
    return None


def _holders(holders: dict[str, Any]) -> list[tuple[int, bool, str]]:
    """Return whether each holder opened sums, and what came of it, where they are few enough to be drawn."""
    number, named = told.whole(holders.get("number")) or 0, {key: sequence(holders.get(key)) for key in _DID}
    return [
        (
            k,
            k in named["answered"],
            ", ".join(did for key, did in _DID.items() if k in named[key]) or "no answer used",
        )
        for k in range(1, number + 1 if number <= _MOST_MARKS else 1)
    ]


def _contributions(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how many took part and what each of them sent, by name."""
    sent = mapping(result.get("ciphertexts"))
    slots, width = _range(sent.get("slots")), _range(sent.get("width"))
    per, size = told.whole(sent.get("per_participant")), told.whole(sent.get("bytes_per_participant"))
    keys, holders = mapping(result.get("keys")), mapping(result.get("holders"))
    threshold, number = told.whole(holders.get("threshold")), told.whole(holders.get("number"))
    parts = {
        "A participant is": told.PARTICIPANTS.get(str(result.get("participant")), result.get("participant")),
        "Workers": _counted(result.get("workers")),
        "Participants": _counted(result.get("participants")),
        "Contributions in the sums": _counted(result.get("contributions")),
        "May collude": _at_most(result.get("collusion")),
        "May be missing": _at_most(result.get("dropout")),
        "Noise, of what there has to be": _times(result.get("beta")),
        "Each sent": per is not None
        and f"{per:,} ciphertext{'s' * (per != 1)}" + (f", {size:,} bytes" if size is not None else ""),
        "A ciphertext has room for": slots
        and f"{slots} counter{'s' * (slots != '1')}"
        + (f" of {width} bits" if width else "")
        + (", by level" if "to" in f"{slots} {width}" else ""),
        "Key": told.whole(keys.get("bits")) is not None and f"threshold Paillier, {keys['bits']:,} bits",
        "Shares of the key": number is not None
        and threshold is not None
        and f"{number:,}, of which {threshold:,} can open a sum",
    }
    return _said(parts)


def _range(levels: Any) -> str:
    """Return the least and the greatest count of all levels, once where they are one."""
    ends = [count for one in sequence(levels) if (count := told.whole(one)) is not None]
    return " to ".join(f"{end:,}" for end in sorted({min(ends), max(ends)})) if ends else ""


def _counted(value: Any) -> str | None:
    return None if told.whole(value) is None else f"{value:,}"


def _at_most(value: Any) -> str | None:
    most = _counted(value)
    return "none" if most == "0" else most and f"up to {most}"


def _times(value: Any) -> str | None:
    times = known(value)
    return (
        None if times is None else f"{words.significant(times, 4)} times its variance, with all contributions"
    )


def _settings(result: dict[str, Any], privacy: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rules of the tree by name, in sentences, without what the document does not say."""
    domain, least = numbers(result.get("domain")), words.finite(result.get("min_count"))
    share, tree_epsilon = known(result.get("counts_share")), known(privacy.get("epsilon_add_or_remove"))
    neighbours = privacy.get("neighbours")
    reach = None if len(domain) != 2 or None in domain else [words.short(end) for end in domain]
    parts = {
        "Epsilon is for": told.NEIGHBOURS.get(str(neighbours), neighbours),
        "Epsilon of the tree": tree_epsilon is not None
        and f"{words.bound(tree_epsilon)}, for one worker more or less",
        "Depth": _counted(result.get("depth")),
        "Skills reach": reach and f"from {reach[0]} to {reach[1]}",
        "Bins of a question": _counted(result.get("bins")),
        "For counts": share is not None
        and f"{words.percent(share, 0)}\N{NO-BREAK SPACE}% of epsilon; medians get the rest",
        "Shared by levels": told.ALLOCATIONS.get(str(result.get("allocation")), result.get("allocation")),
        "Not cut": f"a node with a count below {words.short(least)}" if least else None,
    }
    return _said(parts)


def _said(parts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known by name; what is more than a number is a sentence."""
    there = {name: str(value) for name, value in parts.items() if value}
    return [(name, words.sentence(text) if " " in text else text) for name, text in there.items()]
