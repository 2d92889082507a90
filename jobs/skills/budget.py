"""How a tree's privacy budget is shared by its levels.

The nodes of a level hold different workers, and so do the bins of a histogram: a worker is in one counter of each
kind a level, and the budgets of levels add up. Node counts get a part of all, most of it near the leaves; the rest
goes to the histograms that medians are found by, equally, as a bad split harms at every level alike.

References
----------
papers/private-skills, "Privacy budget distribution"; Cormode, Procopiuc, Srivastava, Shen, Yu: Differentially
private spatial decompositions (ICDE 2012), lemma 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, Inexact, localcontext
from typing import Literal

from udfs.errors import SpecError

Allocation = Literal["quadtree", "tree"]

_DIGITS = 12
"""Significant digits of a level's share: what they leave over goes to the leaves."""


@dataclass(frozen=True)
class LevelBudget:
    """What a level's counters may give away of a worker.

    Attributes
    ----------
    level : int
        The root's is the tree's depth, the leaves' is 0.
    counts : Decimal
        Epsilon of the level's node counts.
    median : Decimal or None
        Epsilon of the histograms by which its nodes are split; None at the leaves.
    """

    level: int
    counts: Decimal
    median: Decimal | None


def split_budget(
    epsilon: Decimal, depth: int, counts_share: Decimal, allocation: Allocation, dimensions: int
) -> tuple[LevelBudget, ...]:
    """Share a tree's epsilon among its levels, root first; the shares add up to it exactly.

    Parameters
    ----------
    epsilon : Decimal
        Of the whole tree, for a worker who is added or removed.
    depth : int
        From 0 up; a tree of depth 0 is its root, whose count gets everything.
    counts_share : Decimal
        The part of epsilon, between 0 and 1, that goes to node counts.
    allocation : "quadtree" or "tree"
        How a level's part of it grows from its parent's: by 2**(1/3), as in the paper, which makes the worst error
        of a range of a quadtree least; or by 2**((1 - 1/d)/3), which does so for a binary tree that cuts d
        dimensions in turn.
    dimensions : int
        How many dimensions are cut.

    Returns
    -------
    tuple of LevelBudget
        Levels `depth`, ..., 0. All but the leaves' counts are rounded down to 12 digits; these get the rest.

    Raises
    ------
    SpecError
        For a share that leaves nothing to counts or to medians.

    Notes
    -----
    With r the growth, level i of h has r**(h - i) (r - 1)/(r**(h + 1) - 1) of what counts get, and a level that is
    split 1/h of the rest. That is epsilon-private for a worker added or removed, 2 epsilon for one replaced.

    Examples
    --------
    >>> [str(one.counts) for one in split_budget(Decimal(1), 2, Decimal("0.7"), "tree", 1)]
    ['0.233333333333', '0.233333333333', '0.233333333334']
    >>> [str(one.median) for one in split_budget(Decimal(1), 2, Decimal("0.7"), "tree", 1)]
    ['0.15', '0.15', 'None']
    """
    if not 0 < counts_share < 1:
        raise SpecError(
            "skills.counts_share",
            "must be between 0 and 1, so that both counts and medians get some",
            f"{counts_share}",
        )
    with localcontext(Context(prec=50, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        steepness = Decimal(1) if allocation == "quadtree" else 1 - Decimal(1) / dimensions
        weights = [Decimal(2) ** (steepness * step / 3) for step in range(depth + 1)]
        counts = [_rounded_down(epsilon * counts_share * weight / sum(weights)) for weight in weights[:-1]]
        median = _rounded_down(epsilon * (1 - counts_share) / depth) if depth else Decimal(0)
    with localcontext(Context(prec=10_000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])):
        leaves = epsilon - sum(counts) - median * depth
    levels = zip(range(depth, 0, -1), counts, strict=True)
    return (*(LevelBudget(level, share, median) for level, share in levels), LevelBudget(0, leaves, None))


def _rounded_down(value: Decimal) -> Decimal:
    return Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN).plus(value)
