"""Reports of pairs on one core: the dense sampler and the rare one, against the bare keystream."""

from __future__ import annotations

import argparse
import json
from decimal import Decimal

from benchmarks.measure import in_turns, pin_to_one_core
from benchmarks.network import skewed
from cluster.allocator import keep_freed_memory
from jobs.graph.local import BAND
from udfs.draws import RowDraws
from udfs.link_response import LinkResponse
from udfs.links import tiles
from udfs.streams import Secret

EPSILONS, ROUNDS = {"dense": Decimal(2), "rare": Decimal(8)}, 5
LINKS_A_NODE = 5


def main() -> None:
    """Print a pair's processor seconds as JSON: of each sampler, and of a byte of keystream for each pair."""
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", type=int)
    nodes: int = parser.parse_args().nodes
    pin_to_one_core()
    keep_freed_memory()
    key, cut = Secret.new().key("benchmark"), tiles(nodes, BAND)
    links = skewed(nodes, LINKS_A_NODE * nodes)
    places = [tile.select(links) for tile in cut]
    responses = {name: LinkResponse.of("randomized-response", epsilon) for name, epsilon in EPSILONS.items()}
    assert [response.rare for response in responses.values()] == [False, True]

    def report(response: LinkResponse) -> None:
        for tile, own in zip(cut, places, strict=True):
            response.report(own, tile, key)

    def keystream() -> None:
        for tile in cut:
            RowDraws(key, -(-tile.pairs // 8)).words(0)

    works = {"keystream": keystream} | {
        name: lambda response=response: report(response) for name, response in responses.items()
    }
    pairs = sum(tile.pairs for tile in cut)
    print(json.dumps({name: taken / pairs for name, taken in in_turns(works, ROUNDS).items()}))


if __name__ == "__main__":
    main()
