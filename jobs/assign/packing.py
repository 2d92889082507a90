"""Packing: which tasks go into which leaf's item.

Every worker downloads whole items, all of the size of the largest, so the largest one is what each get costs. There are
two ways to pack:

- `pack_every` puts each task in the items of all leaves that it meets. A worker's own item holds all that the worker
  could do, and one get is enough; a task that many leaves meet is stored, and downloaded, that many times.
- `pack_once` puts each task in the item of one of them, so that the largest is small. A worker's own item is then only a
  part of what the worker could do: to see all of it takes several gets. Which items hold tasks for which leaf is
  public, as tasks and tree are, and every worker still makes the same number of gets.

Where it runs: driver. It sees tasks and the boxes of leaves, and nothing of workers.

References
----------
papers/private-skills: the downloads of a worker whose leaf is known, and their precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from jobs.assign.balance import Bound, Bytes, Places, balance
from udfs.items import HEADER_BYTES

Ends: TypeAlias = npt.NDArray[np.float64]

_CELLS = 1 << 22
"""Pairs of a task and a leaf that are compared at once."""


def meeting(low: Ends, high: Ends, leaves: Ends, top: float) -> Any:
    """Return which tasks meet which leaves: those whose boxes share a point.

    Parameters
    ----------
    low, high : ndarray of float64, shape (tasks, dimensions)
        The ends of tasks' boxes, both included.
    leaves : ndarray of float64, shape (leaves, dimensions, 2)
        The ends of leaves' boxes, half-open as in `udfs.tree_cells`: the upper one belongs to the box only where it
        is the domain's. A leaf between two equal ends below that holds no point, and meets nothing.
    top : float
        The domain's upper end.

    Returns
    -------
    scipy.sparse.csr_array of bool, shape (tasks, leaves)

    Examples
    --------
    >>> halves = np.array([[[0.0, 0.5]], [[0.5, 1.0]]])
    >>> meeting(np.array([[0.2], [0.2], [0.5]]), np.array([[0.4], [0.5], [0.5]]), halves, 1.0).toarray()
    array([[ True, False],
           [ True,  True],
           [False,  True]])
    """
    first, end = leaves.transpose(2, 1, 0)
    beyond = np.where(end < top, end, np.inf)
    hollow = (first >= beyond).any(axis=0)
    step = max(1, _CELLS // max(1, len(leaves)))
    counts, places = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for start in range(0, len(low), step):
        lows, highs = (one[start : start + step].T[:, :, None] for one in (low, high))
        meets = np.repeat(~hollow[None, :], lows.shape[1], axis=0)
        for dimension in range(len(first)):
            meets &= lows[dimension] < beyond[dimension]
            meets &= highs[dimension] >= first[dimension]
        counts.append(np.count_nonzero(meets, axis=1))
        places.append(np.nonzero(meets)[1].astype(np.int32))
    starts, leaf = np.concatenate(counts).cumsum(), np.concatenate(places)
    return csr_array((np.ones(len(leaf), dtype=bool), leaf, starts), shape=(len(low), len(leaves)))


@dataclass(frozen=True)
class Packing:
    """Which tasks are in which item, and what that comes to. Items and leaves have the same places.

    Attributes
    ----------
    leaf_tasks : tuple of tuple of int
        The tasks in each leaf's item, by their places, ascending.
    largest : int
        The bytes of the largest item, and so of every one.
    lower_bound : int
        No packing of the kind has a smaller largest item.
    bound : str
        What the bound follows from: "no choice" where each task has its places; "largest task"; "linear programme", the
        one in which tasks can be cut up; "heaviest leaves", a set of leaves too large for the tasks that fit
        nowhere else, where that programme would take too long.
    fetched : tuple of tuple of int
        The items that a worker of each leaf gets: its own, then those with the most bytes for it; its own again where
        no more are of use, so that all make the same number of gets.
    precision : tuple of float
        By leaf, the bytes of payloads for it in what its workers get, over all bytes that they get.
    needed : tuple of int
        By leaf, how many gets would bring all tasks that it meets.
    coverage : tuple of float
        By leaf, the share of the bytes of payloads for it that its workers get; 1 where there are none.
    """

    leaf_tasks: tuple[tuple[int, ...], ...]
    largest: int
    lower_bound: int
    bound: Bound | Literal["no choice"]
    fetched: tuple[tuple[int, ...], ...]
    precision: tuple[float, ...]
    needed: tuple[int, ...]
    coverage: tuple[float, ...]


def pack_every(meets: Any, sizes: Bytes, payloads: Bytes, gets: int = 1) -> Packing:
    """Put each task in the items of all leaves that it meets: each item is complete.

    Parameters
    ----------
    meets : scipy.sparse.csr_array of bool, shape (tasks, leaves)
    sizes : ndarray of int64, shape (tasks,)
        The bytes that each task takes in an item.
    payloads : ndarray of int64, shape (tasks,)
        The bytes of it that are of use.
    gets : int, optional
        How many items each worker gets. All but the first bring nothing new.

    Returns
    -------
    Packing

    Examples
    --------
    >>> meets = csr_array(np.array([[True, True], [False, True]]))
    >>> packing = pack_every(meets, np.array([32, 40]), np.array([20, 30]))
    >>> packing.leaf_tasks, packing.largest, packing.precision
    (((0,), (0, 1)), 100, (0.2, 0.5))
    """
    own = np.broadcast_to(np.arange(meets.shape[1])[:, None], (meets.shape[1], gets))
    useful = meets.T @ payloads
    needed = np.ones(len(useful), dtype=np.int64)
    return _packing(meets, sizes, own, needed, useful, useful)


def pack_once(meets: Any, sizes: Bytes, payloads: Bytes, gets: int = 1) -> Packing:
    """Put each task in the item of one leaf that it meets, so that the largest item is small.

    A worker who makes fewer than `needed` gets does not see all tasks that the worker could do: `coverage` says how
    much of them.

    Parameters
    ----------
    meets : scipy.sparse.csr_array of bool, shape (tasks, leaves)
    sizes : ndarray of int64, shape (tasks,)
        The bytes that each task takes in an item.
    payloads : ndarray of int64, shape (tasks,)
        The bytes of it that are of use.
    gets : int, optional
        How many items each worker gets.

    Returns
    -------
    Packing
        A task that meets no leaf is in no item. See `jobs.assign.balance` for how good the largest item is.

    Examples
    --------
    >>> meets = csr_array(np.array([[True, True], [False, True]]))
    >>> packing = pack_once(meets, np.array([32, 40]), np.array([20, 30]))
    >>> packing.leaf_tasks, packing.largest, packing.lower_bound, packing.bound
    (((0,), (1,)), 68, 68, 'largest task')
    >>> packing.needed, packing.coverage
    ((1, 2), (1.0, 0.6))
    """
    places, floor, bound = balance(meets, sizes)
    placed = np.flatnonzero(places >= 0)
    items = csr_array((np.ones(len(placed), dtype=bool), (placed, places[placed])), shape=meets.shape)
    fetched, needed, got = _fetched(meets, places, payloads, gets)
    return _packing(items, sizes, fetched, needed, got, meets.T @ payloads, floor, bound)


def _fetched(meets: Any, places: Places, payloads: Bytes, gets: int) -> tuple[Places, Places, Bytes]:
    """Return what workers of each leaf get, how many gets would bring all, and the bytes for it in what they get.

    All where each task lies in one item.
    """
    leaves, by_leaf = meets.shape[1], meets.tocsc()
    fetched = np.repeat(np.arange(leaves)[:, None], gets, axis=1)
    needed, got = np.empty(leaves, dtype=np.int64), np.empty(leaves, dtype=np.int64)
    for leaf in range(leaves):
        tasks = by_leaf.indices[by_leaf.indptr[leaf] : by_leaf.indptr[leaf + 1]]
        held = np.bincount(places[tasks], minlength=leaves)
        worth = np.bincount(places[tasks], payloads[tasks], leaves).astype(np.int64)
        held[leaf] = 0
        others = np.flatnonzero(held)
        best = others[np.argsort(-worth[others], kind="stable")[: gets - 1]]
        fetched[leaf, 1 : 1 + len(best)] = best
        needed[leaf] = 1 + len(others)
        got[leaf] = worth[leaf] + worth[best].sum()
    return fetched, needed, got


def _packing(
    items: Any,
    sizes: Bytes,
    fetched: Places,
    needed: Places,
    got: Bytes,
    useful: Bytes,
    floor: int | None = None,
    bound: Bound | Literal["no choice"] = "no choice",
) -> Packing:
    """Return a packing: which tasks are in which item (bool, shape (tasks, leaves)), and the numbers of each leaf."""
    by_item = items.tocsc()
    largest = HEADER_BYTES + int((items.T @ sizes).max(initial=0))
    return Packing(
        leaf_tasks=tuple(tuple(one.tolist()) for one in np.split(by_item.indices, by_item.indptr[1:-1])),
        largest=largest,
        lower_bound=largest if floor is None else HEADER_BYTES + floor,
        bound=bound,
        fetched=tuple(map(tuple, fetched.tolist())),
        precision=tuple((got / (fetched.shape[1] * largest)).tolist()),
        needed=tuple(needed.tolist()),
        coverage=tuple(np.where(useful > 0, got / np.maximum(useful, 1), 1.0).tolist()),
    )
