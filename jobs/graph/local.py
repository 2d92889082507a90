"""Statistics of a graph from what its pairs report, and a graph rebuilt from that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.graph.document import statistic_document
from jobs.graph.estimate import degree_sequence, edge_total, triangle_sequence
from jobs.graph.rebuild import RebuiltSize
from jobs.graph.spec import GraphSpec
from jobs.population import Population
from udfs.link_question import LinkQuestion
from udfs.link_release import LinkRelease
from udfs.link_reports import LinkReports, TileSums
from udfs.link_response import LinkResponse
from udfs.links import Tile, group_tiles, tiles
from udfs.loads import Load
from udfs.streams import byte_stream, derive_key

BAND = 1024
"""Nodes of a band: a tile's reports are an eighth of a megabyte."""

LINKS_A_FILE = 1 << 20
"""Of a rebuilt graph."""


def local_statistics(
    spec: GraphSpec, population: Population, links: Population, question: LinkQuestion, ids: pa.Array
) -> dict[str, Any]:
    """Ask every pair once, and return the `result` of result.json."""
    response = LinkResponse.of(spec.privacy.mechanism, spec.privacy.epsilon)
    nodes, lie = len(ids), response.support_if_false
    with population.room() as put:
        reports = links.collect_pairs(question, response, tiles(nodes, BAND), nodes, "links", put)
        found: dict[str, Any] = {
            "nodes": nodes,
            "ids": ids.to_pylist(),
            "pairs": nodes * (nodes - 1) // 2,
            "reports": "each unordered pair once: links noted twice or the other way round are merged",
            "mechanism": spec.privacy.mechanism,
            "lie": float(lie),
            "thresholds": {"flip": response.flip, "denominator": "2**64"},
            "self_loops": spec.population.self_loops,
        }
        if "edges" in spec.kinds:
            found["edges"] = statistic_document(edge_total(reports.degrees, lie))
        if "degrees" in spec.kinds:
            found["degrees"] = statistic_document(degree_sequence(reports.degrees, lie))
        if "triangles" in spec.kinds:
            chunk = TileSums(reports)
            sums = population.reduce(reports.tiles, chunk, chunk.combine, "common neighbours")
            found["triangles"] = statistic_document(*triangle_sequence(sums, lie))
        found["graph"] = None
        if spec.release.graph:
            size = RebuiltSize(found["pairs"], sum(reports.ones), response.support_if_true)
            written = release(spec, population, question, response, reports, size)
            found |= {
                "graph": "reports",
                "released": {"links": written, "reported": size.kept, "asked": size.links, "cut": size.cut},
            }
    return found


def release(
    spec: GraphSpec,
    population: Population,
    question: LinkQuestion,
    response: LinkResponse,
    reports: LinkReports,
    size: RebuiltSize,
) -> int:
    """Write a rebuilt graph as a table of links, and return how many there are."""
    counts = byte_stream(population.driver_key("release", "counts"))
    releases = size.tiles([tile.pairs for tile in reports.tiles], reports.ones, counts)
    drawn = [one.kept + one.added for one in releases]
    provenance = {
        "version": 1,
        "graph": "rebuilt from reports on pairs",
        "mechanism": spec.privacy.mechanism,
        "epsilon": str(response.true_epsilon),
        "flip": response.flip,
        "denominator": "2**64",
        "links": size.links,
        "nodes": len(reports.degrees),
    }
    table = WriteTiles(
        question,
        dict(zip(reports.tiles, zip(reports.bits, releases, strict=True), strict=True)),
        population.driver_key("release", "links"),
        json.dumps(provenance, sort_keys=True),
    )
    groups = group_tiles(reports.tiles, drawn, LINKS_A_FILE) or [()]  # of no pair, a table of no link
    return population.write(groups, table, "release")


@dataclass(frozen=True)
class WriteTiles:
    """Makes the table of some tiles' links in the rebuilt graph.

    Parameters
    ----------
    question : LinkQuestion
    reports : dict of Tile to (Load, LinkRelease)
        Each tile's bits, and how many of its pairs become links.
    key : bytes
        32 bytes that serve nothing else.
    provenance : str
        JSON.
    """

    question: LinkQuestion
    reports: dict[Tile, tuple[Load, LinkRelease]]
    key: bytes
    provenance: str

    def __call__(self, group: tuple[Tile, ...]) -> pa.Table:
        """Return the links by the ids of their ends."""
        pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *map(self._links, group)])
        ids, names = self.question.node_ids, (self.question.source, self.question.target)
        columns = [ids.take(pa.array(pairs[:, side])) for side in (0, 1)]
        schema = pa.schema(
            [pa.field(name, ids.type, nullable=False) for name in names],
            metadata={"canvass": self.provenance},
        )
        return pa.Table.from_arrays(columns, schema=schema)

    def _links(self, tile: Tile) -> np.ndarray[Any, np.dtype[np.int64]]:
        load, release = self.reports[tile]
        key = derive_key(self.key, str(tile.rows.start), str(tile.columns.start))
        return release.draw(tile, np.asarray(load()), key)
