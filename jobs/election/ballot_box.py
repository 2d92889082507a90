"""Ballots that are no secret to whoever asks: read in this process, counted by a rule, with their exact margin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pyarrow as pa

from jobs.election.classical import count_exactly
from jobs.election.margins import margin_of_victory
from jobs.election.spec import ElectionSpec
from jobs.population import Data
from jobs.spec import check
from udfs.asking import Fault, refusal
from udfs.ballots import BallotQuestion
from udfs.errors import SchemaError, SpecError
from udfs.profile import Profile, ProfileTally


def open_box(data: Data, population: dict[str, Any], election: dict[str, Any]) -> ElectionSpec:
    """Return the spec of an election in which nobody need be protected, and check that the files fit it.

    Parameters
    ----------
    data : Data
    population : dict
        The spec's table: where the files were found, and the column `ranking` or the columns `ranks`.
    election : dict
        The spec's table. Without candidates they are those of the files' footers, in their order.

    Raises
    ------
    SpecError
        Where there are no candidates, or a table is wrong.
    SchemaError
        Where files name different candidates, or hold no ballots of theirs.
    """
    names = election.get("candidates") or _candidates_in(data)
    columns = population.get("ranks") or [population["ranking"]]
    types = [_innermost(arrow_type) for name in columns for _, arrow_type in data.columns(name)]
    if any(map(pa.types.is_integer, types)) and all(str(name).isdecimal() for name in names):
        names = [int(name) for name in names]
    given = {
        "job": "election",
        "population": population,
        "output": {"path": population["path"]},
        "election": election | {"candidates": names},
        "privacy": {"model": "central", "epsilon": 1},  # a spec has to have one; nothing here reads it
    }
    spec = cast(ElectionSpec, check(ElectionSpec, given))
    for part in spec.question.parts:
        for file, arrow_type in data.columns(part.column):
            part.check_type(arrow_type, file)
    return spec


def _candidates_in(data: Data) -> list[str]:
    """Return the candidates that the files' footers name."""
    found = {
        tuple(map(str, entry["ballots"]["candidates"]))
        for entry in data.metadata
        if isinstance(entry.get("ballots"), dict) and isinstance(entry["ballots"].get("candidates"), list)
    }
    if not found:
        remedy = "give --candidates A,B,C in the tie order, or bring the ballots in by `canvass import`"
        raise SpecError(
            "--candidates", "is required where no file's footer names candidates", "nothing", remedy
        )
    if len(found) > 1:
        remedy = "name the files of one election, or give --candidates"
        raise SchemaError(data.root, "all files must name the same candidates", f"{len(found)} lists", remedy)
    return list(found.pop())


def _innermost(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type of the names in however many lists or dictionaries they are."""
    while (inner := getattr(arrow_type, "value_type", None)) is not None:
        arrow_type = inner
    return arrow_type


def gather(question: BallotQuestion, blocks: Iterable[tuple[str, pa.RecordBatch]]) -> Profile:
    """Return the profile of all ballots.

    Parameters
    ----------
    question : BallotQuestion
    blocks : iterable of (str, pyarrow.RecordBatch)
        Each with the path of its file.

    Raises
    ------
    SchemaError
        Where ballots have faults and the question refuses them; names files, columns and counts.

    Notes
    -----
    Profiles are added up like the digits of a binary number: each ballot is sorted log(blocks) times at most.
    """
    tally = ProfileTally(len(question.candidates))
    faults: dict[Fault, int] = {}
    sums: list[Profile] = []
    for file, block in blocks:
        reading = question.read(block)
        for (column, what), rows in reading.faults.items():
            faults[file, column, what] = faults.get((file, column, what), 0) + rows
        sums.append(tally.tally([reading.codes]))
        while len(sums) > 1 and len(sums[-2].counts) <= 2 * len(sums[-1].counts):
            sums.append(sums.pop() + sums.pop())
    if faults:
        raise refusal(faults)
    return sum(reversed(sums), tally.zeros())


def find_margin(spec: ElectionSpec, profile: Profile) -> dict[str, Any]:
    """Return the count, and `margin`: how many ballots at least must be others for another outcome.

    See `jobs.election.classical.count_exactly` and `jobs.election.margins.margin_of_victory`.
    """
    counted = count_exactly(spec.rule, profile, spec.order)
    rounds = {"majority_base": counted.pop("majority_base"), "rounds": counted.pop("rounds")}
    weights = {} if spec.election.weights is None else {"weights": list(map(str, spec.election.weights))}
    return {
        **counted,
        "margin": margin_of_victory(spec.rule, profile).margin,
        "tie_order": list(spec.order),
        "invalid": spec.election.invalid,
        "shared": spec.shared,
        **weights,
        **rounds,
    }
