"""The ledger: what each population's privacy budget was spent on.

An account is a population. A job reserves its epsilon before it reads a row, is charged before its first
task draws, and is released only where it was refused and nothing left. Amounts are decimals, and two jobs
that charge at once stand in line: the sum of what stands never passes the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from jobs.state import make_private_folder
from udfs.errors import BudgetError, ClusterError, SpecError
from udfs.exact import LARGEST_MAGNITUDE

_SCHEMA = sa.MetaData()
_ACCOUNTS = sa.Table(
    "accounts",
    _SCHEMA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("epsilon_limit", sa.Text, nullable=True),
)
_CHARGES = sa.Table(
    "charges",
    _SCHEMA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("account", sa.Text, sa.ForeignKey("accounts.name"), nullable=False),
    sa.Column("job", sa.Text, nullable=False),
    sa.Column("draw", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("epsilon", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.UniqueConstraint("account", "job", "draw", "question"),
)
_BUSY_TIMEOUT_S = 60
_CREATION_LOCK = int.from_bytes(b"canvass", "big")


@dataclass(frozen=True)
class Charge:
    """One question's cost to one account.

    Attributes
    ----------
    account, job, question : str
    epsilon : Decimal
    status : {"reserved", "charged"}
    at : str
        When, in UTC.
    """

    account: str
    job: str
    question: str
    epsilon: Decimal
    status: str
    at: str


@dataclass(frozen=True)
class Balance:
    """An account: its limit, None where it has none, and what stands against it."""

    account: str
    limit: Decimal | None
    spent: Decimal


class Ledger:
    """Accounts and charges in a database.

    Parameters
    ----------
    url : str
        An SQLAlchemy URL.

    Raises
    ------
    SpecError
        Where the URL is none.
    ClusterError
        Where the database does not answer.
    """

    def __init__(self, url: str) -> None:
        try:
            self._engine = sa.create_engine(url, connect_args=_connect_args(url))
        except (ArgumentError, ImportError, ValueError) as error:
            raise SpecError(
                "ledger.url", "must be a database URL with its driver installed", type(error).__name__
            ) from None
        if self._engine.dialect.name == "sqlite":
            _let_writers_stand_in_line(self._engine)
        with self._transaction() as connection:
            if self._engine.dialect.name == "postgresql":  # tables that are made twice at once collide
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION_LOCK)))
            _SCHEMA.create_all(connection, checkfirst=True)

    @classmethod
    def at(cls, url: str | None, state_folder: Path) -> Ledger:
        """Open the ledger of a URL, or the SQLite file in the state folder."""
        if url is None:
            make_private_folder(state_folder)
            url = f"sqlite:///{state_folder / 'ledger.db'}"
        return cls(url)

    def reserve(self, account: str, job: str, draw: str, questions: Sequence[tuple[str, Decimal]]) -> Balance:
        """Reserve what a job's questions cost, all or nothing; the same draw reserves once.

        Returns
        -------
        Balance
            The account as it stood without this draw.

        Raises
        ------
        BudgetError
            Where the limit would be passed. Nothing is reserved then.
        """
        if not questions:
            return next(
                (one for one in self.balances() if one.account == account), Balance(account, None, Decimal(0))
            )
        with self._transaction() as connection:
            limit = self._lock(connection, account)
            rows = _charges(connection, account)
            standing = [row.epsilon for row, row_draw in rows if row_draw != draw]
            asking = [epsilon for _, epsilon in questions]
            spent, asked = sum(standing, Decimal(0)), sum(asking, Decimal(0))
            if any(row_draw == draw for _, row_draw in rows):
                return Balance(account, limit, spent)
            exactly = sum(map(Fraction, standing + asking), Fraction(0))  # decimals add up to 28 digits only
            if limit is not None and exactly > Fraction(limit):
                raise BudgetError(
                    f"account {account!r}",
                    f"its limit of {limit} must not be passed",
                    f"{spent} spent and {asked} asked for",
                    "lower epsilon, or raise the limit with: canvass ledger limit NAME EPSILON",
                )
            entry = {"account": account, "job": job, "draw": draw, "status": "reserved", "at": _now()}
            for question, epsilon in questions:
                connection.execute(_CHARGES.insert().values(question=question, epsilon=str(epsilon), **entry))
            return Balance(account, limit, spent)

    def charge(self, draw: str) -> None:
        """Let a draw's reservation stand for good: its first task is about to run."""
        with self._transaction() as connection:
            update = _CHARGES.update().where(_CHARGES.c.draw == draw, _CHARGES.c.status == "reserved")
            connection.execute(update.values(status="charged", at=_now()))

    def release(self, draw: str) -> None:
        """Take a draw's charges back: it was refused, and nothing of it left."""
        with self._transaction() as connection:
            connection.execute(_CHARGES.delete().where(_CHARGES.c.draw == draw))

    def release_reserved(self, draw: str) -> None:
        """Take back what a draw reserved, if it was never charged: nothing was drawn."""
        with self._transaction() as connection:
            connection.execute(
                _CHARGES.delete().where(_CHARGES.c.draw == draw, _CHARGES.c.status == "reserved")
            )

    def set_limit(self, account: str, limit: Decimal) -> None:
        """Set an account's limit; below what is spent it only forbids further charges."""
        with self._transaction() as connection:
            self._lock(connection, account)
            update = _ACCOUNTS.update().where(_ACCOUNTS.c.name == account)
            connection.execute(update.values(epsilon_limit=str(limit)))

    def balances(self) -> list[Balance]:
        """Return every account, by name."""
        with self._transaction() as connection:
            rows = connection.execute(sa.select(_ACCOUNTS).order_by(_ACCOUNTS.c.name)).all()
            return [
                Balance(
                    row.name,
                    _decimal(row.epsilon_limit),
                    sum((c.epsilon for c, _ in _charges(connection, row.name)), Decimal(0)),
                )
                for row in rows
            ]

    def charges(self, account: str) -> list[Charge]:
        """Return what stands against an account, in the order it came."""
        with self._transaction() as connection:
            return [charge for charge, _ in _charges(connection, account)]

    def _lock(self, connection: sa.Connection, account: str) -> Decimal | None:
        """Hold the account's row until the transaction ends, and return its limit."""
        chosen = sa.select(_ACCOUNTS.c.epsilon_limit).where(_ACCOUNTS.c.name == account).with_for_update()
        row = connection.execute(chosen).first()
        if row is None:
            connection.execute(
                _insert_if_absent(self._engine.dialect.name).values(name=account, epsilon_limit=None)
            )
            row = connection.execute(chosen).first()
        return _decimal(row.epsilon_limit) if row is not None else None

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise ClusterError(
                "ledger", "its database must answer", type(error).__name__, "see [ledger] url"
            ) from None


def parse_limit(text: str) -> Decimal:
    """Return a limit as a decimal: zero or more, finite.

    Raises
    ------
    SpecError
    """
    try:
        limit = Decimal(text)
    except InvalidOperation:
        limit = Decimal("NaN")
    if not (limit.is_finite() and limit >= 0 and abs(limit.adjusted()) <= LARGEST_MAGNITUDE):
        raise SpecError("EPSILON", "a limit must be a number, 0 or more", text)
    return limit


def _connect_args(url: str) -> dict[str, Any]:
    return {"timeout": _BUSY_TIMEOUT_S} if url.startswith("sqlite") else {}


def _let_writers_stand_in_line(engine: sa.Engine) -> None:
    """Make every SQLite transaction take the write lock when it begins, not when it first writes."""

    @sa.event.listens_for(engine, "connect")
    def _no_implicit_begin(connection: Any, _: Any) -> None:
        connection.isolation_level = None

    @sa.event.listens_for(engine, "begin")
    def _begin_immediate(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _insert_if_absent(dialect: str) -> Any:
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_postgres  # noqa: PLC0415

        return insert_postgres(_ACCOUNTS).on_conflict_do_nothing()
    from sqlalchemy.dialects.sqlite import insert  # noqa: PLC0415

    return insert(_ACCOUNTS).on_conflict_do_nothing()


def _charges(connection: sa.Connection, account: str) -> list[tuple[Charge, str]]:
    rows = connection.execute(
        sa.select(_CHARGES).where(_CHARGES.c.account == account).order_by(_CHARGES.c.number)
    ).all()
    return [
        (Charge(row.account, row.job, row.question, Decimal(row.epsilon), row.status, row.at), row.draw)
        for row in rows
    ]


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
