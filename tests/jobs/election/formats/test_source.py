"""A file is text in one of two encodings, and is refused by its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.election.formats.source import Source, tidy
from tests.jobs.election.formats.files import written
from udfs.errors import SchemaError, SpecError

NAME = "Zo\u00eb \u00d8sterg\u00e5rd"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_a_name_is_the_same_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    assert Source.read(written(tmp_path, f"a\n{NAME}\n", encoding)).text == f"a\n{NAME}\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_numbered_from_1_however_they_end(tmp_path: Path, end: str) -> None:
    source = Source.read(written(tmp_path, f"a{end}{end}b{end}"))
    assert list(source.lines()) == [(1, "a"), (2, ""), (3, "b")]


def test_a_file_that_is_not_there_is_an_error_of_use(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="must be a file that can be read; got FileNotFoundError"):
        Source.read(str(tmp_path / "none"))


def test_composed_and_decomposed_accents_are_one_name() -> None:
    assert tidy("Zoe\u0308  Abegg ") == tidy(" Zo\u00eb Abegg") == "Zo\u00eb Abegg"


@pytest.mark.parametrize(
    ("names", "must"),
    [
        ([], "must name candidates"),
        (["a", ""], "must give every candidate a name"),
        (["a", "b\x1b"], "must give every candidate a name in printable signs"),
        (["a", "b", "a"], "must give all candidates different names"),
        (list(map(str, range(256))), "must name at most 255 candidates; got 256"),
    ],
)
def test_candidates_who_cannot_be_told_apart_are_refused(names: list[str], must: str) -> None:
    with pytest.raises(SchemaError, match=f"^file line 7: {must}"):
        Source("file", "").check_candidates(names, 7)


def test_as_many_candidates_as_a_place_can_tell_apart_are_taken() -> None:
    Source("file", "").check_candidates(list(map(str, range(255))), 1)
