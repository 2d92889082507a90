"""Integer sums over a reported graph, of which its degrees and its numbers of triangles are estimated.

Y is the symmetric matrix of reported links, with a zero diagonal; d_i is the number of ones in its row i, and
c_ij = sum_k y_ik y_jk the number of nodes that are reported to be linked to both i and j. What is added up for
every node i, over all j != i, is

    y_ij,  c_ij,  y_ij c_ij,  c_ij**2,  c_ij d_j

and each tile of pairs of nodes adds its part: c over a tile is a product of two bands of rows, so that neither
matrix ever exists as a whole. The sums of all tiles, in any order, are those of the graph.

Where it runs: on the cluster. It sees reports; all of this is post-processing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from udfs.errors import SpecError
from udfs.links import Bits, Tile, tiles

Sums: TypeAlias = npt.NDArray[np.int64]

_Matrix: TypeAlias = npt.NDArray[np.float64]

MOST_NODES = 1 << 20
"""Sums reach nodes**3, which int64 holds; c is below 2**24 and exact in float32, of whatever order it is added."""

_BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32)
_INNER_BYTES = 512
"""A product is taken 4,096 columns at a time, as unpacked bits take 32 times the memory of packed ones."""

_SPARSE = 1 / 1000
"""The product of two bands' shares of ones below which a sparse product is the faster one: about 3 percent each."""


@dataclass(frozen=True, eq=False)
class LinkSums:
    """What estimates of a graph's degrees and triangles need of its reports: a number for each node i.

    Sums of parts are sums of whole graphs: `+` is exact, associative and commutative.

    Attributes
    ----------
    degrees : ndarray of int64, shape (nodes,)
        sum_j y_ij: reported links at i.
    paths : ndarray of int64, shape (nodes,)
        sum_j c_ij: reported paths of two links from i to another node.
    corners : ndarray of int64, shape (nodes,)
        sum_j y_ij c_ij: twice the reported triangles at i.
    squares : ndarray of int64, shape (nodes,)
        sum_j c_ij**2.
    weighted : ndarray of int64, shape (nodes,)
        sum_j c_ij d_j: paths of two links from i, weighted with the degree of the node where they end.
    """

    degrees: Sums
    paths: Sums
    corners: Sums
    squares: Sums
    weighted: Sums

    @classmethod
    def none(cls, nodes: int) -> LinkSums:
        """Return the sums over no pairs: the identity of `+`."""
        return cls(*(np.zeros(nodes, dtype=np.int64) for _ in fields(cls)))

    def __add__(self, other: LinkSums) -> LinkSums:
        """Return the sums over the pairs of both."""
        return LinkSums(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def degrees(bits: Bits) -> Sums:
    """Return the number of ones in each row: int64, shape (rows,).

    Parameters
    ----------
    bits : ndarray of uint8, shape (rows, bytes)
        Packed; bits that fill up the last byte are zero.
    """
    ones: Sums = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return ones


def band_bits(band: range, reports: Iterable[tuple[Tile, Bits]], nodes: int) -> Bits:
    """Return a band's rows of the symmetric matrix, from the tiles that its pairs are in.

    Parameters
    ----------
    band : range
        Rows or columns of these tiles.
    reports : iterable of (Tile, ndarray of uint8)
        All tiles with this band, and their bits; others are passed over.
    nodes : int

    Returns
    -------
    ndarray of uint8, shape (rows, ceil(nodes / 8))
        Packed along rows.

    Examples
    --------
    >>> tile = Tile(range(3), range(3))
    >>> links = tile.to_bits(tile.select(np.array([[0, 2]])))
    >>> np.unpackbits(band_bits(range(3), [(tile, links)], 3), axis=1, count=3)
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]], dtype=uint8)
    """
    rows = np.zeros((len(band), -(-nodes // 8)), dtype=np.uint8)
    for tile, bits in reports:
        if tile.rows == band:
            rows[:, _bytes_of(tile.columns)] |= bits
        if tile.columns == band:
            matrix = np.unpackbits(bits, axis=1, count=len(band))
            rows[:, _bytes_of(tile.rows)] |= np.packbits(matrix.T, axis=1)
    return rows


def tile_sums(tile: Tile, rows: Bits, columns: Bits, ones: Sums) -> LinkSums:
    """Return what one tile's pairs add to the sums.

    Parameters
    ----------
    tile : Tile
    rows, columns : ndarrays of uint8, shape (band, ceil(nodes / 8))
        The packed rows of the symmetric matrix that belong to the tile's rows, and those of its columns: the whole
        rows, as c takes all nodes in.
    ones : ndarray of int64, shape (nodes,)
        d: the number of ones in each row of the matrix.

    Returns
    -------
    LinkSums
        Zero for nodes outside of the tile.

    Raises
    ------
    SpecError
        For bits of another shape, and for more than 2**20 nodes, whose sums would not fit.

    Notes
    -----
    c is a float32 product, exact as all of its partial sums are integers below 2**24; or a product of sparse
    matrices where ones are few. What is summed over a tile is below 2**53 and exact in float64.

    Cost: 2 nodes operations for each of rows x columns, at the speed of BLAS. Memory: 40 bytes for each of rows x
    columns, and 16 KB for each row and column.
    """
    nodes = len(ones)
    for name, band, bits in (("rows", tile.rows, rows), ("columns", tile.columns, columns)):
        if bits.shape != (len(band), -(-nodes // 8)):
            raise SpecError(
                name, f"must be packed rows of {len(band)} of {nodes} nodes", f"shape {bits.shape}"
            )
    if nodes > MOST_NODES:
        raise SpecError("nodes", f"must be {MOST_NODES} or fewer for sums of triangles", str(nodes))
    links = np.unpackbits(rows[:, _bytes_of(tile.columns)], axis=1, count=len(tile.columns)).astype(
        np.float64
    )
    common = _common(rows, rows if tile.diagonal else columns).astype(np.float64)
    if tile.diagonal:
        np.fill_diagonal(common, 0)
    sums = LinkSums.none(nodes)
    _put(sums, tile.rows, links, common, ones[tile.columns.start : tile.columns.stop])
    if not tile.diagonal:
        _put(sums, tile.columns, links.T, common.T, ones[tile.rows.start : tile.rows.stop])
    return sums


def link_sums(rows: Callable[[range], Bits], nodes: int, band: int = 1024) -> LinkSums:
    """Return the sums of a whole graph, tile after tile.

    Parameters
    ----------
    rows : callable
        Given a range of nodes, returns their packed rows of the symmetric matrix.
    nodes : int
    band : int
        How many rows and columns a tile has: a multiple of 8.

    Returns
    -------
    LinkSums

    Examples
    --------
    >>> triangle = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    >>> bits = np.packbits(triangle, axis=1)
    >>> link_sums(lambda band: bits[band.start : band.stop], 3).corners
    array([2, 2, 2])
    """
    cut = tiles(nodes, band)
    ones = np.concatenate(
        [np.empty(0, np.int64), *(degrees(rows(tile.rows)) for tile in cut if tile.diagonal)]
    )
    sums = LinkSums.none(nodes)
    for tile in cut:
        sums += tile_sums(tile, rows(tile.rows), rows(tile.columns), ones)
    return sums


def _put(sums: LinkSums, band: range, links: _Matrix, common: _Matrix, ones: Sums) -> None:
    """Set the sums of a band's nodes over the other side's: matrices have a row for each node of the band."""
    here = slice(band.start, band.stop)
    sums.degrees[here] = links.sum(axis=1)
    sums.paths[here] = common.sum(axis=1)
    sums.corners[here] = np.einsum("ij,ij->i", links, common)
    sums.squares[here] = np.einsum("ij,ij->i", common, common)
    sums.weighted[here] = np.einsum("ij,j->i", common, ones.astype(np.float64))


def _common(rows: Bits, columns: Bits) -> npt.NDArray[np.float32]:
    """Return how many ones each of some packed rows has in common with each of some others."""
    shares = [float(degrees(bits).sum()) / max(1, 8 * bits.size) for bits in (rows, columns)]
    if shares[0] * shares[1] < _SPARSE:
        product: npt.NDArray[np.float32] = (_sparse(rows) @ _sparse(columns).T).toarray()
        return product
    common = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for first in range(0, rows.shape[1], _INNER_BYTES):
        inner = slice(first, first + _INNER_BYTES)
        left = _floats(rows[:, inner])
        common += left @ (left if columns is rows else _floats(columns[:, inner])).T
    return common


def _floats(bits: Bits) -> npt.NDArray[np.float32]:
    """Return packed rows as zeros and ones."""
    return np.take(_BITS_OF_BYTE, bits, axis=0).reshape(len(bits), -1)


def _sparse(bits: Bits) -> csr_array:
    """Return packed rows as a sparse matrix, at the cost of their ones and a look at each byte."""
    flat = bits.reshape(-1)
    at = np.flatnonzero(flat)
    ones = np.flatnonzero(np.unpackbits(flat[at]))
    rows, columns = np.divmod(8 * at[ones >> 3] + (ones & 7), 8 * bits.shape[1])
    data = np.ones(len(ones), dtype=np.float32)
    return csr_array((data, (rows, columns)), shape=(len(bits), 8 * bits.shape[1]))


def _bytes_of(band: range) -> slice:
    """Return where the bits of a band's nodes lie in a packed row: bands begin at multiples of 8."""
    return slice(band.start // 8, -(-band.stop // 8))
