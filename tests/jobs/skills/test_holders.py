from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from jobs.skills.holders import EmbeddedHolders, Holder, OpeningLog, quorum_warning
from jobs.skills.requests import Request
from tests.jobs.skills.holding import (
    BITS,
    KEY,
    OTHER_KEY,
    OTHER_SHARES,
    SHARES,
    P,
    asked,
    encrypted,
    holder,
)
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import combine, deal

PLAINTEXTS = (7, -4, 0, 2**53 + 1, -(2**100))


@pytest.fixture
def log(tmp_path: Path) -> OpeningLog:
    return OpeningLog(tmp_path / "share-1.opened.jsonl")


def lines(log: OpeningLog) -> list[tuple[str, int]]:
    return [(one.session, one.level) for one in log.openings]


@pytest.mark.parametrize("numbers", [*itertools.permutations((1, 2, 3), 2), (3, 2, 1)])
def test_any_two_of_three_open_what_was_encrypted(numbers: tuple[int, ...]) -> None:
    opened = EmbeddedHolders(KEY, [holder(number) for number in numbers]).open(asked(*PLAINTEXTS))
    assert opened.plaintexts == PLAINTEXTS
    assert opened.holders == numbers[:2]
    assert opened.wrong == opened.declined == ()


def test_one_holder_has_nothing_to_open_with() -> None:
    for few in ([], [holder(1)], [holder(1), holder(1)]):
        with pytest.raises(ProtocolError, match=r"must be 2 distinct ones or more; got [01] of 2"):
            EmbeddedHolders(KEY, few)


def test_holders_of_different_keys_do_not_go_together() -> None:
    stranger = Holder(OTHER_SHARES[1], OpeningLog.in_memory())
    with pytest.raises(ProtocolError, match=r"^holder 2: must hold a share of key") as refused:
        EmbeddedHolders(KEY, [holder(1), stranger])
    assert KEY.key_id[:12] in str(refused.value)
    assert OTHER_KEY.key_id[:12] in str(refused.value)


@pytest.mark.parametrize(
    ("request_", "must"),
    [
        (asked(key=OTHER_KEY), "must be opened under key"),
        (asked(contributions=94), "the contributions of 95 to 100 participants"),
        (asked(participants=1, contributions=1, dropout=0), "2 participants or more"),
        (asked(ciphertexts=(*encrypted(1), KEY.n**2)), "must be a ciphertext"),
        (asked(ciphertexts=(*encrypted(1), 3 * P)), "must be a ciphertext"),
    ],
)
def test_what_nobody_should_open_is_refused_and_not_written_down(
    log: OpeningLog, request_: Request, must: str
) -> None:
    with pytest.raises(ProtocolError, match=f"^holder 1, level 5 of session '3f2a': .*{must}") as refused:
        holder(1, log).open(request_)
    assert refused.value.exit_code == 4
    assert log.openings == ()


def test_the_same_request_gets_the_same_values_ever_again(tmp_path: Path, log: OpeningLog) -> None:
    request = asked()
    first = holder(1, log).open(request)
    again = [holder(1, OpeningLog(tmp_path / "share-1.opened.jsonl")).open(request) for _ in range(3)]
    assert {part.values for part in again} == {first.values}
    assert len(log.openings) == 1


def test_another_sum_of_the_same_level_is_never_opened(tmp_path: Path, log: OpeningLog) -> None:
    first = asked(contributions=100)
    holder(1, log).open(first)
    attempts = [
        asked(contributions=99),  # all but one participant
        asked(contributions=100),
        asked(ciphertexts=first.ciphertexts[::-1]),
        asked(ciphertexts=first.ciphertexts[:1]),
        asked(ciphertexts=first.ciphertexts, contributions=99),
        asked(dropout=10, contributions=95),
    ]
    for attempt in attempts:
        with pytest.raises(ProtocolError, match="one sum of a level is opened, ever") as refused:
            holder(1, OpeningLog(tmp_path / "share-1.opened.jsonl")).open(attempt)
        assert str(refused.value).startswith("holder 1, level 5 of session '3f2a': ")
    assert len(log.openings) == 1
    holder(1, log).open(first)


def test_other_levels_and_other_sessions_are_opened(log: OpeningLog) -> None:
    for session, level in itertools.product(("3f2a", "77b0"), (5, 4, 0)):
        holder(1, log).open(asked(session=session, level=level))
    assert lines(log) == [(s, level) for s in ("3f2a", "77b0") for level in (5, 4, 0)]


@pytest.mark.parametrize(
    "changes", [{"account": "patients"}, {"epsilon": "0.25"}, {"dropout": 6}, {"participants": 101}]
)
def test_a_session_keeps_its_terms(log: OpeningLog, changes: dict[str, Any]) -> None:
    holder(1, log).open(asked())
    with pytest.raises(ProtocolError, match="account, epsilon, participants and dropout must stay"):
        holder(1, log).open(asked(level=4, **changes))
    holder(1, log).open(asked(level=4, contributions=95))
    holder(1, log).open(asked(session="another", **changes))


def test_a_holder_has_a_floor_of_its_own(log: OpeningLog) -> None:
    with pytest.raises(ProtocolError, match="sums of 100 contributions or more; got 99"):
        holder(1, log, at_least=100).open(asked(contributions=99))
    assert log.openings == ()
    holder(1, log, at_least=100).open(asked(contributions=100))


def test_a_holder_limits_sessions(log: OpeningLog) -> None:
    for session in ("one", "two"):
        holder(1, log, most_sessions=2).open(asked(session=session))
    with pytest.raises(ProtocolError, match="opens 2 sessions under this key; got one more after 2"):
        holder(1, log, most_sessions=2).open(asked(session="three"))
    holder(1, log, most_sessions=2).open(asked(session="two", level=4))
    other = Holder(OTHER_SHARES[0], log, most_sessions=1)  # a new key in the same place
    other.open(asked(key=OTHER_KEY))


@pytest.mark.parametrize("limits", [{"at_least": 1}, {"at_least": -1}, {"most_sessions": 0}])
def test_limits_that_are_none_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(SpecError, match=rf"^{next(iter(limits))}: must be"):
        holder(1, **limits)


def test_what_one_embedded_holder_refuses_is_not_opened_by_the_others() -> None:
    strict = holder(3, at_least=101)
    with pytest.raises(ProtocolError, match=r"^holder 3, level 5"):
        EmbeddedHolders(KEY, [holder(1), holder(2), strict]).open(asked())


def test_embedded_holders_write_down_what_any_two_of_them_open() -> None:
    key, shares = deal(4, 2, BITS, random.randbytes)
    crowd = [Holder(share, OpeningLog.in_memory()) for share in shares]
    EmbeddedHolders(key, crowd).open(asked(key=key, contributions=100))
    for pair in itertools.combinations(crowd, 2):
        with pytest.raises(ProtocolError, match="one sum of a level is opened, ever"):
            EmbeddedHolders(key, pair).open(asked(key=key, contributions=99))


@pytest.mark.parametrize(("holders", "threshold", "fits"), [(1, 1, True), (3, 2, True), (4, 3, True), (2, 1, False), (4, 2, False), (5, 2, False)])  # fmt: skip
def test_a_threshold_of_which_two_groups_share_no_holder_is_warned_of(
    holders: int, threshold: int, fits: bool
) -> None:
    groups = [set(group) for group in itertools.combinations(range(holders), threshold)]
    assert all(one & other for one, other in itertools.product(groups, repeat=2)) == fits
    key = deal(holders, threshold, BITS, random.randbytes)[0]
    assert (quorum_warning(key) is None) == fits


def test_a_holder_prints_without_its_secret() -> None:
    printed = repr(holder(1))
    assert str(SHARES[0].secret) not in printed
    assert f"{SHARES[0].secret:x}" not in printed


def test_parts_of_two_sums_are_never_put_together() -> None:
    first, second = asked(7), asked(8)
    parts = [holder(1).open(first), holder(2).open(second)]
    with pytest.raises(ProtocolError, match="holder 2"):
        combine(KEY, first.ciphertexts, parts)
