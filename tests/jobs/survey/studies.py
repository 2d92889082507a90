"""A small public population that is studied."""

from __future__ import annotations

from tests.jobs.house import House

ROWS = 200


def put_study(house: House) -> House:
    """Put a public population into a house, with a gap in one attribute, and a grid of two points."""
    house.write(
        {
            "id": list(range(ROWS)),
            "smokes": ["yes" if i % 4 == 0 else "no" for i in range(ROWS)],
            "drinks": [None if i % 10 == 0 else ("some", "none", "much")[i % 3] for i in range(ROWS)],
            "walks": [i % 8 // 3 for i in range(ROWS)],
        }
    )
    house.given["population"]["public"] = True
    house.given["attributes"] = {
        "smokes": {"categories": ["no", "yes"]},
        "drinks": {"categories": ["none", "some", "much"], "missing": "category"},
        "walks": {"categories": [0, 1, 2]},
    }
    house.given["statistics"] = [{"kind": "entropy", "of": ["smokes"]}]
    house.given["study"] = {
        "epsilons": [3],
        "mechanisms": ["randomized-response", "subset-selection"],
        "replications": 4,
    }
    return house
