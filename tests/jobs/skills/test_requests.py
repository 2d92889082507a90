from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from gmpy2 import mpz

from jobs.skills.requests import Request
from jobs.skills.tree import MOST_DEPTH
from tests.jobs.skills.holding import KEY, OTHER_KEY, P, asked, encrypted, resealed
from udfs.errors import ProtocolError

REQUEST = asked()


def test_a_request_comes_back_as_it_was_written() -> None:
    text = REQUEST.to_json()
    assert Request.from_json(text) == REQUEST
    assert Request.from_json(text).digest == REQUEST.digest
    assert text.count("\n") == 1
    assert text.endswith("\n")


def test_names_come_back_whatever_is_in_them() -> None:
    for name in ("Ärzte, 医生", "a\nb\x1b[2J", "\udcff", '"}', "s3://bucket/people"):
        request = asked(session=name, account=name)
        assert Request.from_json(request.to_json()) == request
        assert request.to_json().isascii()


def test_the_digest_is_of_every_field() -> None:
    others: dict[str, Any] = {
        "key_id": "0" * 64,
        "session": "3f2b",
        "level": 4,
        "account": "patients",
        "contributions": 99,
        "participants": 101,
        "dropout": 4,
        "epsilon": "0.50",
        "ciphertexts": REQUEST.ciphertexts[::-1],
    }
    assert list(others) == [field.name for field in fields(Request)]
    digests = {replace(REQUEST, **{name: value}).digest for name, value in others.items()}
    assert len(digests | {REQUEST.digest}) == len(others) + 1


def test_integers_of_any_kind_make_the_same_request() -> None:
    other = replace(
        REQUEST,
        contributions=np.int64(100),
        dropout=mpz(5),
        ciphertexts=tuple(map(mpz, REQUEST.ciphertexts)),
    )
    assert other == REQUEST
    assert other.to_json() == REQUEST.to_json()


@pytest.mark.parametrize("number", [2.0**60, np.float64(3), "7"])
def test_what_is_no_integer_is_no_ciphertext(number: Any) -> None:
    with pytest.raises(TypeError):
        replace(REQUEST, ciphertexts=(number,))


def test_a_request_that_is_cut_off_anywhere_is_refused() -> None:
    text = REQUEST.to_json()
    for length in range(len(text)):
        with pytest.raises(ProtocolError, match=r"^here: must be"):
            Request.from_json(text[:length], "here")


def test_a_request_with_any_one_character_changed_is_refused() -> None:
    text = REQUEST.to_json()
    for place, sign in enumerate(text):
        for other in ("0", "1", "\x00", "\ufffd"):
            if other != sign:
                with pytest.raises(ProtocolError, match=r"^here: must"):
                    Request.from_json(text[:place] + other + text[place + 1 :], "here")


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", "7", "NaN", "[" * 100_000, "9" * 10_000, '{"sha256":1}', "\ufffd"]
)
def test_whatever_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError, match="here: must be whole and fit its checksum") as refused:
        Request.from_json(text, "here")
    assert refused.value.exit_code == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": True},
        {"kind": "answer"},
        {"contributions": True},
        {"contributions": 100.0},
        {"contributions": "100"},
        {"session": None},
        {"ciphertexts": "ff"},
        {"ciphertexts": [255]},
        {"ciphertexts": ["FF"]},
        {"ciphertexts": ["0ff"]},
        {"ciphertexts": ["-1"]},
        {"ciphertexts": ["0"]},
        {"ciphertexts": ["1_0"]},
        {"ciphertexts": [""]},
        {"ciphertexts": []},
        {"comment": "one more"},
        {"level": "5"},
        {"level": True},
        {"level": 5.0},
        {"level": 21},
        {"level": -1},
        {"session": ""},
        {"session": "s" * 5000},
        {"epsilon": "-1"},
    ],
)
def test_a_request_that_was_forged_into_another_form_is_refused(changes: dict[str, Any]) -> None:
    forged = resealed(REQUEST.to_json(), **changes)
    with pytest.raises(ProtocolError, match=r"^here: "):
        Request.from_json(forged, "here")


def test_the_same_fields_in_another_spelling_are_refused() -> None:
    loaded = json.loads(REQUEST.to_json())
    for text in (
        json.dumps(loaded),
        json.dumps(dict(reversed(loaded.items())), separators=(",", ":")) + "\n",
        REQUEST.to_json() + "\n",
        REQUEST.to_json().replace('{"', '{"account":"other","', 1),
    ):
        with pytest.raises(ProtocolError, match="must be written as requests are"):
            Request.from_json(text)


def test_levels_are_those_that_a_tree_can_have() -> None:
    for level in range(MOST_DEPTH + 1):
        assert asked(level=level).title == f"level {level} of session '3f2a'"
    for level in (-1, MOST_DEPTH + 1, 10**4000):
        with pytest.raises(ProtocolError, match="level must be from 0 to 20; got ") as refused:
            asked(level=level)
        assert len(str(refused.value)) < 100


@pytest.mark.parametrize("epsilon", ["0.5", "1", "1E+2", "0.0000001", "1" * 10_000])
def test_epsilon_is_a_decimal(epsilon: str) -> None:
    assert asked(epsilon=epsilon).epsilon == epsilon


@pytest.mark.parametrize(
    "epsilon", ["", "0", "-1", "inf", "nan", "1 ", "1\n", "one", "1E", "٣", "1" * 10_001]
)
def test_what_is_no_budget_is_refused(epsilon: str) -> None:
    with pytest.raises(ProtocolError, match="epsilon must be a positive number"):
        asked(epsilon=epsilon)


@pytest.mark.parametrize(
    ("contributions", "participants", "dropout"),
    [(100, 100, 0), (95, 100, 5), (2, 2, 0), (2, 7, 5), (7, 7, 5)],
)
def test_enough_contributions_may_be_opened(contributions: int, participants: int, dropout: int) -> None:
    asked(contributions=contributions, participants=participants, dropout=dropout).check(KEY)


@pytest.mark.parametrize(
    ("contributions", "participants", "dropout", "must"),
    [
        (94, 100, 5, "the contributions of 95 to 100 participants"),
        (99, 100, 0, "the contributions of all 100 participants"),
        (101, 100, 5, "the contributions of 95 to 100 participants"),
        (0, 100, 5, "the contributions of 95 to 100 participants"),
        (100, 100, -1, "2 participants or more must be left"),
        (100, 100, 99, "2 participants or more must be left"),
        (1, 1, 0, "2 participants or more must be left .* got 1 participant and a dropout of 0"),
        (0, 0, 0, "2 participants or more must be left"),
        (-5, -5, -10, "2 participants or more must be left"),
    ],
)
def test_too_few_contributions_or_too_many_are_refused(
    contributions: int, participants: int, dropout: int, must: str
) -> None:
    request = asked(contributions=contributions, participants=participants, dropout=dropout)
    with pytest.raises(ProtocolError, match=rf"^level 5 of session '3f2a': .*{must}") as refused:
        request.check(KEY)
    assert refused.value.exit_code == 4


def test_a_request_to_holders_of_another_key_is_refused_naming_both() -> None:
    with pytest.raises(ProtocolError) as refused:
        asked().check(OTHER_KEY)
    assert f"must be opened under key {OTHER_KEY.key_id[:12]}; " in str(refused.value)
    assert f"key '{KEY.key_id[:12]}'" in str(refused.value)


@pytest.mark.parametrize("number", [KEY.n**2, KEY.n**2 + 1, KEY.n, P, 5 * P, KEY.n * 3])
def test_a_number_that_is_no_ciphertext_is_refused(number: int) -> None:
    with pytest.raises(ProtocolError, match="level 5 of session '3f2a': must be a ciphertext"):
        replace(REQUEST, ciphertexts=(*encrypted(1), number)).check(KEY)


@pytest.mark.parametrize("number", [0, -1])
def test_a_number_below_one_makes_no_request(number: int) -> None:
    with pytest.raises(ProtocolError, match="must hold ciphertexts"):
        replace(REQUEST, ciphertexts=(*encrypted(1), number))


def test_a_request_is_told_of_without_signs_that_a_terminal_obeys() -> None:
    assert asked(session="\x1b[2J\n\u202e").title.isprintable()


def test_a_session_is_told_of_by_its_first_twelve_signs() -> None:
    assert asked(session="0123456789abcdef").title == "level 5 of session '0123456789ab'"
