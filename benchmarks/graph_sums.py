"""Triangles estimated from reports on one core, against a bare float32 product of the same matrix."""

from __future__ import annotations

import argparse
import json
import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from decimal import Decimal

import numpy as np

from benchmarks.measure import in_turns, pin_to_one_core
from benchmarks.network import skewed
from jobs.graph.estimate import triangle_sequence
from jobs.graph.local import BAND
from udfs.link_response import LinkResponse
from udfs.link_sums import band_bits, link_sums
from udfs.links import Bits, Tile, tiles
from udfs.streams import Secret

LINKS_A_NODE = 5


def reported(nodes: int, response: LinkResponse) -> Bits:
    """Return the symmetric matrix of reports on a network with a few links a node: packed rows."""
    links, key = skewed(nodes, LINKS_A_NODE * nodes), Secret.new().key("benchmark")

    def answers(tile: Tile) -> Bits:
        return response.report(tile.select(links), tile, key)

    reports = [(tile, answers(tile)) for tile in tiles(nodes, BAND)]
    return np.concatenate(
        [band_bits(tile.rows, reports, nodes) for tile in tiles(nodes, BAND) if tile.diagonal]
    )


def main() -> None:
    """Print the processor seconds of the bare product and, by epsilon, of all that estimates take, as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", type=int)
    parser.add_argument("rounds", type=int)
    parser.add_argument("epsilons", nargs="+")
    arguments = parser.parse_args()
    nodes: int = arguments.nodes
    pin_to_one_core()
    responses = {
        epsilon: LinkResponse.of("randomized-response", Decimal(epsilon)) for epsilon in arguments.epsilons
    }
    bits = {epsilon: reported(nodes, response) for epsilon, response in responses.items()}
    matrix = np.unpackbits(bits[arguments.epsilons[0]], axis=1, count=nodes).astype(np.float32)

    def bare() -> None:
        for first in range(0, nodes, BAND):
            matrix[first : first + BAND] @ matrix

    def estimate(epsilon: str) -> None:
        rows = bits[epsilon]
        sums = link_sums(lambda band: rows[band.start : band.stop], nodes, BAND)
        triangle_sequence(sums, responses[epsilon].support_if_false)

    works = {"bare": bare} | {
        epsilon: lambda epsilon=epsilon: estimate(epsilon) for epsilon in arguments.epsilons
    }
    print(json.dumps(in_turns(works, arguments.rounds)))


if __name__ == "__main__":
    main()
