"""Statistics of a graph from what its pairs report, and a graph rebuilt from that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.graph.document import degree_document, edge_document, node_ids, triangle_document
from jobs.graph.estimate import LinkSums, Noise, degree_estimates, edge_estimate, triangle_estimates
from jobs.graph.spec import GraphSpec
from jobs.population import Population
from udfs.link_question import LinkQuestion
from udfs.link_release import Rebuilding, places_of_ranks, rebuilding, uniform_subset
from udfs.link_reports import LinkReports
from udfs.link_response import LinkResponse
from udfs.link_sums import CommonNeighbours, LinkMatrix, TimesVector, add_up
from udfs.links import Tile, tiles
from udfs.loads import Load

BAND = 2048
"""Nodes of a band: a tile's reports are half a megabyte."""

_RowsOfTile = tuple[Tile, Load, npt.NDArray[np.int64], npt.NDArray[np.int64]]


def local_statistics(
    spec: GraphSpec, population: Population, links: Population, question: LinkQuestion, ids: pa.Array
) -> dict[str, Any]:
    """Ask every pair once, and return the `result` of result.json."""
    response = LinkResponse(spec.privacy.mechanism, spec.privacy.epsilon)
    nodes, noise = len(ids), Noise(response.lie)
    pairs = nodes * (nodes - 1) // 2
    with population.room() as put:
        reports = links.collect_pairs(question, response, tiles(nodes, BAND), nodes, "links", put)
        reported = sum(reports.ones)
        edges, edges_error = edge_estimate(noise, nodes, reported)
        found: dict[str, Any] = {
            "nodes": nodes,
            "ids": node_ids(ids),
            "pairs": pairs,
            "reports": "each unordered pair once: links noted twice or the other way round are merged",
            "mechanism": spec.privacy.mechanism,
            "lie": float(response.lie),
            "thresholds": {"flip": response.flip, "denominator": "2**64"},
            "self_loops": spec.population.self_loops,
        }
        if "edges" in spec.kinds:
            found["edges"] = edge_document(edges, edges_error)
        if "degrees" in spec.kinds:
            found["degrees"] = degree_document(degree_estimates(noise, reports.degrees))
        if "triangles" in spec.kinds:
            found["triangles"] = triangle_document(
                triangle_estimates(noise, add_reports_up(population, reports))
            )
        found["graph"] = None
        if spec.release.graph:
            plan = rebuilding(pairs, reported, response.lie, edges)
            written = release(spec, population, question, reports, plan, response)
            found |= {
                "graph": "reports",
                "released": {"links": written, "reported": plan.kept, "asked": round(edges)},
            }
    return found


def add_reports_up(population: Population, reports: LinkReports) -> LinkSums:
    """Return all sums of the reports that triangles and their errors are made of."""
    matrix = LinkMatrix.of(reports)
    total, both = add_up((matrix.nodes,)), add_up((2, matrix.nodes))
    over = population.reduce(
        matrix.blocks, TimesVector(matrix, reports.degrees), total, "degrees of neighbours"
    )
    second = population.reduce(matrix.blocks, TimesVector(matrix, over), total, "their neighbours")
    common = population.reduce(matrix.blocks, CommonNeighbours(matrix), both, "common neighbours")
    return LinkSums(reports.degrees, over, second, common[0], common[1])


def release(
    spec: GraphSpec,
    population: Population,
    question: LinkQuestion,
    reports: LinkReports,
    plan: Rebuilding,
    response: LinkResponse,
) -> int:
    """Write a rebuilt graph as a table of links, a file for each tile, and return how many there are."""
    zeros = [tile.pairs - ones for tile, ones in zip(reports.tiles, reports.ones, strict=True)]
    chosen = [
        _dealt(uniform_subset(size, sum(sizes), population.driver_key("release", name)), sizes)
        for name, size, sizes in (("ones", plan.kept, reports.ones), ("zeros", plan.links - plan.kept, zeros))
    ]
    units: list[_RowsOfTile] = list(zip(reports.tiles, reports.bits, *chosen, strict=True))
    provenance = {
        "version": 1,
        "graph": "rebuilt from reports on pairs",
        "mechanism": response.mechanism,
        "epsilon": str(spec.privacy.epsilon),
        "flip": response.flip,
        "denominator": "2**64",
        "links": plan.links,
        "nodes": len(reports.degrees),
    }
    table = WriteTile(question, json.dumps(provenance, sort_keys=True))
    return population.write(units, table, "release")


@dataclass(frozen=True)
class WriteTile:
    """Makes the table of a tile's links in the rebuilt graph."""

    question: LinkQuestion
    provenance: str

    def __call__(self, unit: _RowsOfTile) -> pa.Table:
        """Return the links by the ids of their ends."""
        tile, bits, ones, zeros = unit
        pairs = places_of_ranks(tile, np.asarray(bits()), ones, zeros)
        ids, names = self.question.node_ids, (self.question.source, self.question.target)
        columns = [ids.take(pa.array(pairs[:, side])) for side in (0, 1)]
        schema = pa.schema(
            [pa.field(name, ids.type, nullable=False) for name in names],
            metadata={"canvass": self.provenance},
        )
        return pa.Table.from_arrays(columns, schema=schema)


def _dealt(ranks: npt.NDArray[np.int64], sizes: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    """Return the ranks within each of several parts of these sizes, given those in all."""
    ends = np.array([0, *accumulate(sizes)])
    cuts = np.searchsorted(ranks, ends)
    return [
        ranks[first:stop] - start for first, stop, start in zip(cuts[:-1], cuts[1:], ends[:-1], strict=True)
    ]
