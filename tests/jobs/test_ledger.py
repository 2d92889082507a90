from __future__ import annotations

import multiprocessing
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from jobs.ledger import Balance, Ledger, parse_limit
from udfs.errors import BudgetError, ClusterError, SpecError

ONE = [("smokes", Decimal(1))]
PROCESSES, TURNS, LIMIT = 8, 5, 3


@pytest.fixture
def ledger(ledger_url: str) -> Ledger:
    return Ledger(ledger_url)


def statuses(ledger: Ledger, account: str = "people") -> list[str]:
    return [charge.status for charge in ledger.charges(account)]


def test_a_draw_is_reserved_then_charged(ledger: Ledger) -> None:
    balance = ledger.reserve("people", "job", "draw", [("smokes", Decimal("0.5")), ("drinks", Decimal(2))])
    assert balance == Balance("people", None, Decimal(0))
    assert statuses(ledger) == ["reserved", "reserved"]
    ledger.charge("draw")
    assert statuses(ledger) == ["charged", "charged"]
    assert ledger.balances() == [Balance("people", None, Decimal("2.5"))]


def test_a_charge_says_what_was_asked_and_when(ledger: Ledger) -> None:
    ledger.reserve("people", "job", "draw", ONE)
    (charge,) = ledger.charges("people")
    assert (charge.account, charge.job, charge.question, charge.epsilon) == ("people", "job", *ONE[0])
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(charge.at) < timedelta(minutes=5)


def test_the_same_draw_reserves_once(ledger: Ledger) -> None:
    ledger.set_limit("people", Decimal(1))
    for _ in range(3):
        assert ledger.reserve("people", "job", "draw", ONE).spent == 0
    ledger.charge("draw")
    ledger.reserve("people", "job", "draw", ONE)
    assert statuses(ledger) == ["charged"]


def test_a_refused_draw_is_released_even_when_charged(ledger: Ledger) -> None:
    ledger.reserve("people", "job", "draw", ONE)
    ledger.reserve("people", "job", "other", ONE)
    ledger.charge("draw")
    ledger.release("draw")
    assert statuses(ledger) == ["reserved"]


def test_only_what_was_never_charged_is_released_as_reserved(ledger: Ledger) -> None:
    for draw in ("charged", "reserved"):
        ledger.reserve("people", "job", draw, ONE)
    ledger.charge("charged")
    for draw in ("charged", "reserved"):
        ledger.release_reserved(draw)
    assert statuses(ledger) == ["charged"]


def test_a_limit_is_reached_exactly_and_not_passed(ledger: Ledger) -> None:
    ledger.set_limit("people", Decimal("0.3"))
    for draw, epsilon in (("first", "0.1"), ("second", "0.2")):  # 0.30000000000000004 in binary
        ledger.reserve("people", "job", draw, [("smokes", Decimal(epsilon))])
    with pytest.raises(BudgetError):
        ledger.reserve("people", "job", "third", [("smokes", Decimal("1e-15"))])
    assert ledger.balances() == [Balance("people", Decimal("0.3"), Decimal("0.3"))]


def test_over_the_limit_all_questions_are_refused_together(ledger: Ledger) -> None:
    ledger.set_limit("people", Decimal("1.5"))
    ledger.reserve("people", "job", "before", [("smokes", Decimal("0.25"))])
    with pytest.raises(BudgetError) as refused:
        ledger.reserve("people", "job", "draw", [("smokes", Decimal("0.5")), ("drinks", Decimal("0.8"))])
    assert str(refused.value) == (
        "account 'people': its limit of 1.5 must not be passed; got 0.25 spent and 1.3 asked for. "
        "Lower epsilon, or raise the limit with: canvass ledger limit NAME EPSILON."
    )
    assert refused.value.exit_code == 3
    assert statuses(ledger) == ["reserved"]


def test_accounts_do_not_share_a_budget(ledger: Ledger) -> None:
    ledger.set_limit("people", Decimal(1))
    ledger.reserve("people", "job", "draw", ONE)
    ledger.reserve("patients", "job", "other", ONE)
    assert ledger.balances() == [
        Balance("patients", None, Decimal(1)),
        Balance("people", Decimal(1), Decimal(1)),
    ]


def test_a_limit_below_what_is_spent_only_forbids_more(ledger: Ledger) -> None:
    ledger.reserve("people", "job", "draw", ONE)
    ledger.set_limit("people", Decimal("0.5"))
    ledger.reserve("people", "job", "nothing", [])
    with pytest.raises(BudgetError):
        ledger.reserve("people", "job", "more", ONE)
    ledger.set_limit("people", Decimal(2))
    ledger.reserve("people", "job", "more", ONE)


def test_what_is_written_is_there_when_opened_again(ledger: Ledger, ledger_url: str) -> None:
    ledger.set_limit("people", Decimal("2.50"))
    ledger.reserve("people", "job", "draw", ONE)
    again = Ledger(ledger_url)
    assert again.balances() == ledger.balances()
    assert again.charges("people") == ledger.charges("people")


def spend_at_once(url: str, barrier: Barrier, outcomes: Queue[tuple[int, str]]) -> None:
    barrier.wait(60)
    ledger = Ledger(url)  # a database without tables, opened by all at once
    for turn in range(TURNS):
        ledger.set_limit(f"people {turn}", Decimal(LIMIT))
        barrier.wait(60)
        try:
            ledger.reserve(f"people {turn}", "job", multiprocessing.current_process().name, ONE)
            outcomes.put((turn, "reserved"))
        except BudgetError:
            outcomes.put((turn, "refused"))


def test_processes_that_spend_at_once_never_pass_the_limit(ledger_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier, outcomes = spawn.Barrier(PROCESSES), spawn.Queue()
    processes = [
        spawn.Process(target=spend_at_once, args=(ledger_url, barrier, outcomes)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    counts = Counter(outcomes.get(timeout=10) for _ in range(PROCESSES * TURNS))
    expected = {"reserved": LIMIT, "refused": PROCESSES - LIMIT}
    assert counts == {(turn, what): n for turn in range(TURNS) for what, n in expected.items()}
    assert all(balance.spent == LIMIT for balance in Ledger(ledger_url).balances())


@pytest.mark.parametrize("text", ["0", "0.3", "2", "1e3"])
def test_a_limit_is_a_decimal_exactly_as_written(text: str) -> None:
    assert parse_limit(text) == Decimal(text)


@pytest.mark.parametrize("text", ["-1", "-0.001", "nan", "sNaN", "inf", "-inf", "", "three", "1,5", "0x10"])
def test_a_limit_that_is_no_number_from_zero_on_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="EPSILON: a limit must be a number, 0 or more"):
        parse_limit(text)


@pytest.mark.parametrize(
    "url", ["", "ledger.db", "nosuch://host/db", "sqlite+nosuch:///x", "postgresql+psycopg://host:port/db"]
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match=r"ledger\.url: must be a database URL"):
        Ledger(url)


def test_a_database_that_is_away_is_a_failure_of_the_cluster(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/away/ledger.db", "postgresql+psycopg://me:hush@127.0.0.1:1/db"):
        with pytest.raises(ClusterError, match="ledger: its database must answer") as failure:
            Ledger(url)
        assert "hush" not in str(failure.value)


def test_a_database_that_breaks_is_a_failure_of_the_cluster(tmp_path: Path) -> None:
    ledger = Ledger.at(None, tmp_path / "state")
    (tmp_path / "state" / "ledger.db").write_bytes(b"no database any more" * 100)
    with pytest.raises(ClusterError, match="ledger: its database must answer"):
        ledger.reserve("people", "job", "draw", ONE)


def test_the_ledger_lies_in_the_state_folder_for_its_owner_alone(tmp_path: Path) -> None:
    Ledger.at(None, tmp_path / "state")
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / "ledger.db").is_file()
