"""Each task in one of the leaves that it meets, and the fullest leaf as light as can be found.

This is scheduling on machines of which each job can use only some, with the least makespan. It contains number
partitioning, so it is NP-hard, and no polynomial algorithm guarantees less than 3/2 of the optimum unless P = NP. What is
found here has beside it a lower bound that whole numbers certify.

References
----------
Lenstra, Shmoys, Tardos: Approximation algorithms for scheduling unrelated parallel machines (1990). Azar, Naor, Rom: The
competitiveness of on-line assignments (1995): placing one after another where least lies is within
ceil(log2(leaves)) + 1 of the optimum; Graham (1969): within 4/3 where all tasks may go anywhere, the largest first.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

Places: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.int64]
Bound: TypeAlias = Literal["largest task", "heaviest leaves", "linear programme"]

MOST_PAIRS = 200_000
"""The linear programme is solved up to so many pairs of a task and a leaf: in a second or two."""

_MOST_CHOICES = 1 << 22
"""So many ways to relieve a leaf are weighed at once; it has more only where it holds a great many tasks."""
_MOST_STUCK, _PATIENCE = 16, 500
"""The search ends where so many leaves in a row can give nothing away, or so many tries have not helped the fullest."""


def balance(meets: Any, sizes: Bytes) -> tuple[Places, int, Bound]:
    """Place each task in one of its leaves so that the fullest leaf is light.

    Parameters
    ----------
    meets : scipy.sparse.csr_array of bool, shape (tasks, leaves)
    sizes : ndarray of int64, shape (tasks,)

    Returns
    -------
    places : ndarray of int64, shape (tasks,)
        Each task's leaf; -1 for one that meets none.
    bound : int
        However tasks are placed, the fullest leaf holds at least so much.
    by : str
        What it follows from.

    Notes
    -----
    Tasks with the fewest leaves come first, of these the largest, and each goes where least lies (longest processing time
    first). Then each in turn moves to a leaf where its load is less, until none can: every move lowers the sum of
    squared loads. Last, the fullest leaf gives a task away, or gives it in exchange for a smaller one, for as long
    as both leaves end up below what it was; the leaves about it make room where it has to be.
    """
    order = np.lexsort((-sizes, np.diff(meets.indptr)))
    places, loads = _settle(meets, sizes, order[np.diff(meets.indptr)[order] > 0])
    floor, by = lower_bound(meets, sizes, loads)
    _level(meets, sizes, places, loads, floor)
    if by == "heaviest leaves":
        floor = max(floor, _heaviest(meets, sizes, np.argsort(-loads, kind="stable")))
    return places, floor, by


def _settle(meets: Any, sizes: Bytes, order: Places) -> tuple[Places, Bytes]:
    """Place tasks in an order, and again as long as one finds a better leaf; return their leaves and the loads."""
    places, loads = np.full(len(sizes), -1), np.zeros(meets.shape[1], dtype=np.int64)
    moved = True
    while moved:
        moved = False
        for task in order.tolist():
            open_to = meets.indices[meets.indptr[task] : meets.indptr[task + 1]]
            best, now, size = open_to[loads[open_to].argmin()], places[task], sizes[task]
            if now < 0 or loads[best] + size < loads[now]:
                if now >= 0:
                    loads[now] -= size
                loads[best] += size
                places[task], moved = best, True
    return places, loads


def _level(meets: Any, sizes: Bytes, places: Places, loads: Bytes, floor: int) -> None:
    """Relieve the fullest leaf, in place, until it is as light as the bound or nothing helps it.

    Where it cannot give anything away, the fullest of those that its tasks could go to makes room first; where that cannot
    either, of those that their tasks could go to.
    """
    by_leaf = meets.tocsc()
    near, stuck = (np.zeros(len(loads), dtype=bool) for _ in range(2))
    top, patience = int(loads.max(initial=0)), _PATIENCE
    while top > floor:
        within = np.where(near & ~stuck, loads, -1) if stuck.any() else loads
        leaf = int(within.argmax())
        if stuck.any() and (within[leaf] < 0 or stuck.sum() == _MOST_STUCK or not patience):
            return
        patience -= patience > 0
        own = np.flatnonzero(places == leaf)[: max(1, _MOST_CHOICES // (len(loads) + len(sizes)))]
        open_to = meets[own].toarray()
        able = by_leaf.indices[by_leaf.indptr[leaf] : by_leaf.indptr[leaf + 1]]
        if _relieve(sizes, places, loads, leaf, own, open_to, able):
            near[:], stuck[:] = False, False
        else:
            near |= open_to.any(axis=0)
            stuck[leaf] = True
        if loads.max() < top:
            top, patience = int(loads.max()), _PATIENCE


def _relieve(
    sizes: Bytes,
    places: Places,
    loads: Bytes,
    leaf: int,
    own: Places,
    open_to: npt.NDArray[np.bool_],
    able: Places,
) -> bool:
    """Let a leaf give one of its own tasks away, or exchange it, in place; tell whether that could be done.

    It can where both leaves end up with less than the leaf has. `open_to` tells where its own tasks could go, bool of
    shape (own, leaves); `able` are the tasks that could come in exchange.
    """
    others = able[places[able] != leaf]
    # What leaves the leaf, if each of its own goes to each leaf, or is exchanged for each other task.
    away = np.hstack([np.broadcast_to(sizes[own, None], open_to.shape), sizes[own, None] - sizes[others]])
    goes_to = np.concatenate([np.arange(len(loads)), places[others]])
    then = np.maximum(loads[goes_to] + away, loads[leaf] - away)
    then[~open_to[:, goes_to]] = loads[leaf]
    if not then.size or then.min() >= loads[leaf]:
        return False
    task, choice = divmod(int(then.argmin()), len(goes_to))
    loads[[leaf, goes_to[choice]]] += away[task, choice] * np.array([-1, 1])
    places[own[task]] = goes_to[choice]
    if choice >= len(loads):
        places[others[choice - len(loads)]] = leaf
    return True


def lower_bound(meets: Any, sizes: Bytes, loads: Bytes) -> tuple[int, Bound]:
    """Return a load that some leaf has at least, however tasks are placed, and what it follows from.

    Parameters
    ----------
    meets : scipy.sparse.csr_array of bool, shape (tasks, leaves)
    sizes : ndarray of int64, shape (tasks,)
    loads : ndarray of int64, shape (leaves,)
        Of any placement; the fuller its fullest leaves are by necessity, the better the bound.

    Notes
    -----
    Let w(S) be the sizes of tasks that meet no leaf outside a set S of leaves: some leaf of S holds w(S)/|S| or more. The
    maximum over all S is the optimum of the linear programme in which tasks can be cut up: its dual maximizes
    the sum over tasks of s_t min(y_l : l in N(t)) over y >= 0 of sum 1, and integrating over the sets
    {l : y_l >= theta} shows that one of these attains it. So only an order of leaves is taken from
    floating point, by y where the programme is solved and by loads where it is too large; the sets that begin the order
    are weighed in whole numbers.
    """
    placed = np.diff(meets.indptr) > 0
    largest = int(sizes[placed].max(initial=0))
    by: Bound = "heaviest leaves"
    floor = max(_heaviest(meets, sizes, np.argsort(-loads, kind="stable")), _alone(meets, sizes))
    if (
        meets.nnz <= MOST_PAIRS
        and placed.any()
        and (prices := _prices(meets[placed], sizes[placed])) is not None
    ):
        by, floor = (
            "linear programme",
            max(floor, _heaviest(meets, sizes, np.argsort(-prices, kind="stable"))),
        )
    return (largest, "largest task") if largest >= floor else (floor, by)


def _alone(meets: Any, sizes: Bytes) -> int:
    """Return the most that tasks of a single leaf come to."""
    single = np.diff(meets.indptr) == 1
    loads = np.zeros(meets.shape[1], dtype=np.int64)
    np.add.at(loads, meets.indices[meets.indptr[:-1][single]], sizes[single])
    return int(loads.max(initial=0))


def _heaviest(meets: Any, sizes: Bytes, order: Places) -> int:
    """Return the greatest of w(S)/|S|, rounded up, over the sets of leaves that begin an order."""
    placed = np.flatnonzero(np.diff(meets.indptr))
    ranks = np.argsort(order)
    weights = np.zeros(len(order), dtype=np.int64)
    if len(placed):
        last = np.maximum.reduceat(ranks[meets.indices], meets.indptr[placed])
        np.add.at(weights, last, sizes[placed])
    return int((-(-weights.cumsum() // np.arange(1, len(order) + 1))).max(initial=0))


def _prices(meets: Any, sizes: Bytes) -> npt.NDArray[np.float64] | None:
    """Return the leaves' dual values in the linear programme, whose optimum is w(S)/|S|; None where it is not solved."""
    tasks, leaves = meets.shape
    pairs = np.arange(meets.nnz + 1)
    whole = csr_array((np.ones(meets.nnz), pairs[:-1], meets.indptr), shape=(tasks, meets.nnz + 1))
    into = csr_array((np.ones(meets.nnz), meets.indices, pairs), shape=(meets.nnz, leaves)).T
    found = linprog(
        c=pairs == meets.nnz,
        A_ub=hstack([into, csr_array(-np.ones((leaves, 1)))]),
        b_ub=np.zeros(leaves),
        A_eq=whole,
        b_eq=sizes,
        method="highs",
    )
    return None if found.status else -found.ineqlin.marginals
