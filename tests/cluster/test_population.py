"""A population gives the same reports whoever asks it, however often workers die, and however rows are cut."""

from __future__ import annotations

import itertools
import os
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.engine import DaskEngine
from cluster.population import ClusterPopulation
from cluster.reduce import SerialEngine
from tests.cluster.deaths import Disturbed, Moment
from tests.cluster.populations import ASKS, DRINKS, EXACT, people, populate, reports_by_id, reports_of, write
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.draws import Draws
from udfs.errors import SchemaError
from udfs.randomized_response import RandomizedResponse
from udfs.tables import CrossTable

Collected = tuple[list[Any], dict[str, bytes], dict[str, dict[str, str]]]
FILES, ROWS = 6, 70_000  # rows: a block and a bit
TABLE = (CrossTable((0, 1), (4, 8)),)


def collect(population: ClusterPopulation) -> Collected:
    """Ask both questions; return sums with their table, files of reports and digests."""
    counts = [sums.tolist() for sums in population.collect(ASKS, "randomize", TABLE)]
    return counts, reports_of(population), population.digests


def with_ids(table: pa.Table, kind: str | None) -> pa.Table:
    """Return people with ids of a kind."""
    if kind is None:
        return table.drop_columns("id")
    ids = table["id"].combine_chunks()
    if kind in ("text", "dictionary"):
        ids = ids.cast(pa.string())
    if kind == "unsigned":
        ids = pa.array(ids.to_numpy().astype(np.uint64) + np.uint64(2**63), pa.uint64())
    return table.set_column(0, "id", ids.dictionary_encode() if kind == "dictionary" else ids)


@pytest.fixture(scope="module", params=[None, "integer", "text"], ids=["rows", "integer ids", "text ids"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Any, Collected]:
    """People in files, their column of ids, and what they answer in this process, undisturbed."""
    folder = tmp_path_factory.mktemp("people")
    tables = [with_ids(people(ROWS, file * ROWS), request.param) for file in range(FILES)]
    path, id_column = write(folder / "data", tables), "id" if request.param else None
    return path, id_column, collect(populate(folder / "alone", path, id_column, rows_per_part=ROWS))


def test_dead_workers_change_no_report(
    tmp_path: Path, engine: DaskEngine, asked: tuple[str, Any, Collected]
) -> None:
    path, id_column, alone = asked
    (tmp_path / "graves").mkdir()
    moments: dict[int, Moment] = {1: "before", 3: "midway", 5: "after"}
    disturbed = Disturbed(engine, moments, tmp_path / "graves")
    assert collect(populate(tmp_path, path, id_column, disturbed, rows_per_part=ROWS)) == alone
    assert sorted(os.listdir(tmp_path / "graves")) == ["part-1", "part-3", "part-5"]
    assert list(alone[1]) == [f"part-{part:05d}.parquet" for part in range(FILES)]


def test_parts_that_are_whole_are_not_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(100, file * 100) for file in range(4)])
    population = populate(tmp_path, path, "id", rows_per_part=1)
    whole, folder = collect(population), population.staging.folder("reports")
    folder.remove("part-00003.parquet")
    for name in ("000", "001", "002"):
        (tmp_path / "data" / f"{name}.parquet").write_bytes(b"rows that would fail to be read")
    assert collect(population) == whole


def test_a_part_whose_reports_were_spoilt_is_asked_again(tmp_path: Path) -> None:
    population = populate(tmp_path, write(tmp_path / "data", [people(100)]), "id")
    whole, folder = collect(population), population.staging.folder("reports")
    for spoilt in (
        b"",
        whole[1]["part-00000.parquet"][:-1],
        whole[1]["part-00000.parquet"].replace(b"never", b"NEVER"),
    ):
        folder.write("part-00000.parquet", spoilt)
        assert collect(population) == whole


@pytest.mark.parametrize("kind", ["integer", "unsigned", "text", "dictionary"])
def test_with_ids_reports_belong_to_respondents_and_not_to_rows(tmp_path: Path, kind: str) -> None:
    table = with_ids(people(5000), kind)
    shuffled = table.take(np.random.default_rng(5).permutation(5000))
    layouts = [
        write(tmp_path / "whole", [table]),
        write(tmp_path / "cut", [table[start : start + 997] for start in reversed(range(0, 5000, 997))]),
        write(tmp_path / "shuffled", [shuffled[:10], shuffled[10:10], shuffled[10:]], row_group_size=333),
    ]
    maps, sums = [], []
    for number, path in enumerate(layouts):
        population = populate(tmp_path / f"asked {number}", path, "id", rows_per_part=500)
        sums.append([counts.tolist() for counts in population.collect(ASKS, "randomize")])
        maps.append(reports_by_id(population))
    assert maps[0] == maps[1] == maps[2]
    assert sums[0] == sums[1] == sums[2]
    assert len(maps[0]) == 5000


def test_ids_that_are_text_in_one_file_and_numbers_in_another_are_the_same_ids(tmp_path: Path) -> None:
    table = people(1000)
    texts = with_ids(table, "text")
    maps = []
    for name, tables in {"texts": [texts], "both": [table[:400], texts[400:]]}.items():
        population = populate(tmp_path / name, write(tmp_path / name / "data", tables), "id")
        population.collect(ASKS, "randomize")
        maps.append(reports_by_id(population))
    assert maps[0] == maps[1]


def test_every_part_draws_its_own_coins(tmp_path: Path, engine: DaskEngine) -> None:
    ask: list[Ask] = [
        (CategoryQuestion("answer", ("a", "b")), RandomizedResponse(2, Decimal("1.09861228866811")))
    ]
    path = write(tmp_path / "data", [{"answer": ["a"] * 250}] * 4)
    population = populate(tmp_path, path, engine=engine, rows_per_part=1)
    (counts,) = population.collect(ask, "randomize")
    folder = population.staging.folder("reports")
    columns = [np.array(pq.read_table(folder.path(name))["answer"].to_pylist()) for name in population.files]
    for one, other in itertools.combinations(columns, 2):
        assert 0.5025 <= (one == other).mean() <= 0.7475
    assert 695 <= counts[0] <= 805


def test_rounds_questions_and_randomizers_draw_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(500)])
    question, randomizer = ASKS[0]
    asks = [(question, randomizer), (question, RandomizedResponse(4, Decimal("1.1")))]
    rounds = {}
    for name in ("one", "two"):
        population = populate(tmp_path / name, path, "id")
        population.collect(asks[:1], name)
        rounds[name] = reports_by_id(population)
    other = populate(tmp_path / "other", path, "id")
    other.collect(asks[1:], "one")
    assert rounds["one"] != rounds["two"]
    assert rounds["one"] != reports_by_id(other)


def test_asking_without_collecting_writes_nothing_and_gives_the_same_sums(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(500)])
    asked, collected = populate(tmp_path / "a", path, "id"), populate(tmp_path / "b", path, "id")
    both = asked.ask(ASKS, "r", TABLE), collected.collect(ASKS, "r", TABLE)
    sums = [[counts.tolist() for counts in one] for one in both]
    assert sums[0] == sums[1]
    assert asked.staging.names() == [] != collected.staging.names()


def test_nobody_at_all_gives_sums_of_nothing(tmp_path: Path, engine: DaskEngine) -> None:
    path = write(tmp_path / "data", [people(0)])
    for number, one in enumerate((SerialEngine(), engine)):
        population = populate(tmp_path / str(number), path, "id", one)
        sums = [counts.tolist() for counts in population.collect(ASKS, "r", TABLE)]
        assert sums == [[0] * 4, [0] * 7, [[0] * 8] * 4]
        assert population.rows == 0
        assert not population.files


def test_faults_are_counted_by_file_and_column_and_only_five_are_named(
    tmp_path: Path, engine: DaskEngine
) -> None:
    good = {"id": [1], "drinks": ["never"], "income": [1]}
    faulty = [
        {"id": [None, 5], "drinks": ["never", "SECRETANSWER42"], "income": [1, None]},
        {"id": [6, 7], "drinks": [None, None], "income": [0, 424242]},
        {"id": [8, 9], "drinks": ["SECRETANSWER42"] * 2, "income": [77, 78]},
    ]
    path = write(tmp_path / "data", [good, *faulty])
    population = populate(tmp_path, path, "id", engine, rows_per_part=1)
    with pytest.raises(SchemaError) as refusal:
        population.collect(ASKS, "randomize")
    assert refusal.value.got == (
        f"1 answers outside the categories in column 'drinks' of {path}/001.parquet; "
        f"1 missing ids in column 'id' of {path}/001.parquet; "
        f"1 missing answers in column 'income' of {path}/001.parquet; "
        f"2 missing answers in column 'drinks' of {path}/002.parquet; "
        f"1 answers outside the categories in column 'income' of {path}/002.parquet; "
        "and 2 more columns of files"
    )


def test_a_file_that_changes_under_the_job_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(10), people(10, 10)])
    population = populate(tmp_path, path, "id")
    os.utime(tmp_path / "data" / "001.parquet", ns=(1, 1))
    with pytest.raises(SchemaError, match=r"001\.parquet: must stay as it was when the job started"):
        population.collect(ASKS, "randomize")


def test_digests_name_every_unit_and_hang_on_the_answers_and_the_secret_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "data", [people(10), people(10, 10)], row_group_size=4)
    population = populate(tmp_path, path)
    population.ask(EXACT, "r")
    assert sorted(population.digests[EXACT[0][0].label]) == [
        f"{file}/{group}" for file in range(2) for group in range(3)
    ]
    before = dict(population.digests[EXACT[0][0].label])
    write(tmp_path / "data", [people(10), people(10, 11)], row_group_size=4)
    again = populate(tmp_path, path)
    again.ask(EXACT, "r")
    changed = {name for name, digest in again.digests[EXACT[0][0].label].items() if digest != before[name]}
    assert changed == {"1/0", "1/1", "1/2"}


def test_what_travels_to_workers_holds_no_secret(tmp_path: Path) -> None:
    seen: list[bytes] = []

    class Listening(SerialEngine):
        def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
            seen.append(pickle.dumps((list(units), chunk, combine, stage)))
            return super().reduce(units, chunk, combine, stage)

    path = write(tmp_path / "data", [people(10)])
    populate(tmp_path, path, "id", Listening()).collect(ASKS, "randomize")
    assert b"job.secret" in seen[0]
    assert not any(bytes(range(32)) in sent or bytes(range(32)).hex().encode() in sent for sent in seen)


def test_another_question_of_the_same_column_is_looked_through_anew(tmp_path: Path) -> None:
    population = populate(tmp_path, write(tmp_path / "data", [people(10)]))
    population.ask(EXACT, "first")
    turned: list[Ask] = [(CategoryQuestion("drinks", DRINKS[::-1]), EXACT[0][1])]
    assert population.ask(turned, "second")[0].sum() == 10
    short = [(CategoryQuestion("drinks", DRINKS[:2]), RandomizedResponse(2, 1))]
    with pytest.raises(SchemaError, match="answers outside the categories"):
        population.ask(short, "third")
    assert len(population.digests) == 2


class Steward(RandomizedResponse):
    """Answers for each block as one respondent, with one word of the block's."""

    def randomize(self, answers: Any, draws: Draws) -> Any:
        whole = draws.whole()
        assert len(whole) == 1
        return (whole.words(0) >> np.uint64(32)).astype(np.int64)

    def tally(self, reports: Any) -> Any:
        return reports.repeat(self.cells)


def word_of_blocks(root: Path, tables: list[pa.Table], id_column: str | None, round_name: str = "r") -> int:
    """Return the sum of what the stewards of all blocks answer."""
    population = populate(root, write(root / "data", tables), id_column)
    counts = population.ask([(CategoryQuestion("drinks", DRINKS), Steward(4, 1))], round_name)[0]
    assert (counts == counts[0]).all()
    return int(counts[0])


@pytest.mark.parametrize("id_column", [None, "id"])
def test_a_block_draws_as_one_respondent_what_belongs_to_its_place_and_its_answers(
    tmp_path: Path, id_column: str | None
) -> None:
    one, other = people(100), people(100, 100)
    cases = {
        "one": ([one], "r"),
        "again": ([one], "r"),
        "another round": ([one], "s"),
        "another answer": ([pa.concat_tables([one[:99], other[1:2]])], "r"),
        "another order": ([pa.concat_tables([one[50:], one[:50]])], "r"),
        "another place": ([one[:0], one], "r"),
    }
    assert one["drinks"][99] != other["drinks"][1]
    words = {
        name: word_of_blocks(tmp_path / name, tables, id_column, round_name)
        for name, (tables, round_name) in cases.items()
    }
    assert words["one"] == words.pop("again")
    assert len(set(words.values())) == len(words)
    both = word_of_blocks(tmp_path / "both", [one, other], id_column)
    assert both - words["one"] not in (0, words["one"])
    kinds = {word_of_blocks(tmp_path / str(kind), [one], kind) for kind in (None, "id")}
    assert len(kinds) == 2
