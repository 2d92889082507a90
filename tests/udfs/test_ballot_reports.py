"""Reports on ballots that are here already: read, refused where they cannot be, and added up as when they were made."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.choices import choice_of, every_ballot
from udfs.asking import respond
from udfs.ball import Ball, DirectionSums
from udfs.ballot_reports import (
    MECHANISMS,
    CollectedBallots,
    CollectedScores,
    describe_ballots,
    reports_of,
)
from udfs.ballots import BallotQuestion
from udfs.choice_contests import every_set
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.draws import Numbered, PublicDraws, fresh_draws
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SchemaError
from udfs.turns import Turn

SEED = bytes(range(32))
BALLOTS = np.tile(every_ballot(4), (5, 1))
ROWS = len(BALLOTS)
STANDING = Numbered(1000, ROWS)

MADE_BY = {
    "one contest": choice_of(4, ((0, 1, 2, 3),), seed=SEED),
    "last places": choice_of(4, ((0, 1, 2, 3),), seed=SEED, last=True),
    "every set": choice_of(4, every_set(4), "0.5", seed=SEED),
    "weighted": choice_of(4, ((0, 1, 2, 3), (0, 3)), "3", weights=(6, 1), seed=SEED),
    "ball of first choices": Ball(FirstChoice((0, 1, 2, 3)), Decimal(1), SEED),
    "ball of points": Ball(Points((3, 2, 1, 0)), Decimal(1), SEED),
    "ball of duels": Ball(Duels.of_all(4), Decimal("0.1"), SEED),
    "ellipsoid": Ball(Duels.of_all(4), Decimal(1), SEED, transform=Ellipsoid(4)),
    "ball of every set": Ball(EveryFirstChoice(4), Decimal(2), SEED),
    "ball of some": Ball(FirstChoice((1, 3)), Decimal(1), SEED, Turn(1, 3, 4)),
}
every_maker = pytest.mark.parametrize("maker", MADE_BY.values(), ids=MADE_BY)
whole_makers = pytest.mark.parametrize(
    "maker", [one for one in MADE_BY.values() if one.turn.share == 1], ids=lambda one: one.label[:40]
)


def made(maker):
    """Return reports of all ballots."""
    return maker.randomize(BALLOTS, fresh_draws(ROWS, STANDING))


def block_of(maker, reports, name="bit"):
    """Return reports as a block of their columns, as files hold them."""
    column = maker.to_arrow(reports, ())
    if pa.types.is_struct(column.type):
        return pa.record_batch(column.flatten(), [part.name for part in column.type])
    return pa.record_batch([column], [name])


def read_again(maker, block, standing=STANDING):
    """Ask for reports that are here: what `respond` finds in a block."""

    def nothing(codes):
        raise AssertionError("nothing is drawn of reports")

    return respond((CollectedBallots("bit", maker), CollectedScores(maker)), block, nothing, standing)


@whole_makers
def test_reports_come_back_as_they_were_made_and_add_up_to_the_same(maker):
    reports = made(maker)
    found = read_again(maker, block_of(maker, reports))
    assert found.faults == {}
    assert found.reports.tobytes() == reports.tobytes()
    assert (CollectedScores(maker).tally(found.reports) == maker.tally(reports)).all()
    assert (CollectedScores(maker).zeros() == maker.zeros()).all()


@whole_makers
@given(data=st.data())
def test_any_cut_of_a_block_adds_up_to_the_same(maker, data):
    reports = made(maker)
    cut = data.draw(st.integers(0, ROWS))
    whole = block_of(maker, reports)
    parts = [
        read_again(maker, whole.slice(0, cut), Numbered(1000, cut)).reports,
        read_again(maker, whole.slice(cut), Numbered(1000 + cut, ROWS - cut)).reports,
    ]
    tallies = [CollectedScores(maker).tally(part) for part in parts]
    assert (tallies[0] + tallies[1] == maker.tally(reports)).all()
    if isinstance(maker, Ball) and not maker.sums_all:
        sums = DirectionSums(maker, maker.coordinates(FirstChoice((1, 2))))
        assert (sums.tally([parts[0]]) + sums.tally([parts[1]]) == sums.tally([reports])).all()


def test_a_bit_read_as_of_another_row_is_of_another_direction():
    maker = MADE_BY["ball of duels"]
    reports = made(maker)
    elsewhere = read_again(maker, block_of(maker, reports), Numbered(1001, ROWS))
    assert not (CollectedScores(maker).tally(elsewhere.reports)[:-1] == maker.tally(reports)[:-1]).any()


def test_rows_that_were_not_asked_hold_no_report():
    maker = MADE_BY["ball of some"]
    asked = maker.turn.rows(PublicDraws(STANDING), SEED)
    assert 0 < len(asked) < ROWS
    for bits in (np.zeros(ROWS, dtype=bool), np.ones(ROWS, dtype=bool)):
        found = read_again(maker, pa.record_batch({"bit": bits}))
        assert len(found.reports) == len(asked)
        assert found.reports["positive"].tolist() == bits[asked].tolist()


@every_maker
def test_a_column_of_another_type_is_refused_by_file_column_and_type(maker):
    for part in CollectedBallots("bit", maker).parts:
        part.check_type(part.expected, "a.parquet")
        assert part.missing == "none"
        for other in (pa.int64(), pa.string(), pa.binary(9)):
            with pytest.raises(SchemaError) as refused:
                part.check_type(other, "a.parquet")
            assert refused.value.where == f"a.parquet, column {part.column!r}"
            assert refused.value.got == str(other)


@every_maker
def test_missing_reports_are_counted_and_nothing_is_read_of_their_block(maker):
    block = block_of(maker, made(maker))
    for place, name in enumerate(block.schema.names):
        column = pa.array([None, *block.column(name).to_pylist()[1:]], block.schema.field(name).type)
        faulty = block.set_column(place, name, column)
        found = read_again(maker, faulty)
        assert (found.reports, found.faults) == (None, {(name, "missing answers"): 1})


@pytest.mark.parametrize("name", ["one contest", "every set", "weighted", "last places"])
def test_reports_that_cannot_be_are_counted_and_never_shown(name):
    maker = MADE_BY[name]
    block = block_of(maker, made(maker))
    answers = block.column("answer")
    impossible = 100 if pa.types.is_integer(answers.type) else b"\xff"
    spoilt = [
        block.set_column(0, "question", pa.array([len(maker.contests), -1, *[0] * (ROWS - 2)], pa.int32())),
        block.set_column(1, "answer", pa.array([impossible] * ROWS, answers.type)),
    ]
    for faulty, least in zip(spoilt, (2, ROWS), strict=True):
        found = read_again(maker, faulty)
        assert found.reports is None
        ((place, rows),) = found.faults.items()
        assert place == ("answer", "reports that its mechanism does not make")
        assert rows >= least


@every_maker
def test_what_a_footer_says_makes_the_same_mechanism_again(maker):
    question = BallotQuestion(("ranking",), ("Ada", "Bo", "Cy", "\u00c9va"), "list", "blank", "tie")
    entry = json.loads(json.dumps(describe_ballots(question, {"some column": maker})))
    assert entry["candidates"] == ["Ada", "Bo", "Cy", "\u00c9va"]
    assert (entry["invalid"], entry["shared"]) == ("blank", "tie")
    assert reports_of(entry) == {"some column": maker}
    assert reports_of(entry)["some column"].label == maker.label


def test_both_kinds_of_reports_have_a_name_in_footers():
    assert set(MECHANISMS) == {"ball", "sampled-choice"}
    assert all(kind.mechanism == name for name, kind in MECHANISMS.items())


def spoil(entry, *steps):
    """Yield an entry with one value replaced, or gone, at a time."""
    *way, last = steps
    for value in (None, "gone", 5, [], {}, "0", -1):
        copy = json.loads(json.dumps(entry))
        table = copy
        for step in way:
            table = table[step]
        if value == "gone":
            del table[last]
        elif table[last] == value:
            continue
        else:
            table[last] = value
        yield copy


@pytest.mark.parametrize("name", ["weighted", "ball of duels"])
def test_a_footer_that_was_tampered_with_is_refused(name):
    entry = json.loads(json.dumps({"columns": {"bit": MADE_BY[name].describe()}}))
    keys = ["mechanism", "epsilon", "seed", "turn", "thresholds"]
    keys += ["contests", "weights"] if name == "weighted" else ["contest"]
    spoilt = [*spoil(entry, "columns"), *spoil(entry, "columns", "bit")]
    for key in keys:
        spoilt += spoil(entry, "columns", "bit", key)
    for one in spoilt:
        with pytest.raises(SchemaError):
            reports_of(one)
    with pytest.raises(SchemaError, match="thresholds must be those of their epsilon"):
        reports_of({"columns": {"bit": entry["columns"]["bit"] | {"epsilon": "2"}}})


@every_maker
def test_the_label_says_what_made_the_reports(maker):
    labels = {CollectedBallots(name, maker).label for name in ("bit", "other")}
    assert len(labels) == 2
    other = replace(maker, seed=bytes(32))
    assert CollectedBallots("bit", other).label not in labels
    assert all(maker.label in label for label in labels)


def test_reports_that_were_collected_are_neither_drawn_for_nor_written_again():
    maker = CollectedScores(MADE_BY["ball of duels"])
    assert not maker.draws
    assert maker.thresholds() == {}
    for refused in (lambda: maker.report_type(()), lambda: maker.to_arrow(np.zeros(1), ())):
        with pytest.raises(NotImplementedError):
            refused()
