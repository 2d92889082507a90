"""Specs: read from TOML, checked whole before anything else is done, and never changed.

Every job's spec shares these tables; what is its own stands in its package.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from jobs.population import Data
from udfs.errors import SpecError
from udfs.exact import parse_epsilon

_T = TypeVar("_T")

Epsilon = Annotated[Decimal, BeforeValidator(parse_epsilon), PlainSerializer(str, return_type=str)]
"""A privacy budget: a positive finite decimal, exactly as written."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be text without control characters")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_printable)]
"""Text that can stand in a path, a name or a message."""


def as_tuple(value: Any) -> Any:
    """Return a list of a spec as the tuple that it is checked as; anything else as it is, to be refused."""
    return tuple(value) if isinstance(value, list) else value


def middle(values: tuple[_T, ...]) -> _T:
    """Return the middle of a study's grid; of an even number, the lower one.

    Examples
    --------
    >>> middle((3, 4, 6)), middle((1, 2))
    (4, 1)
    """
    return values[(len(values) - 1) // 2]


class Table(BaseModel):
    """A table of a spec: frozen, without room for keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for key in given:
                if key not in cls.model_fields:
                    near = difflib.get_close_matches(key, cls.model_fields, 1, 0.5)
                    known = (
                        f'did you mean "{near[0]}"' if near else "known are " + ", ".join(cls.model_fields)
                    )
                    raise SpecError(str(key), "is not a key of this table", "", known + ("?" if near else ""))
        return given


class PopulationTable(Table):
    """Who is asked."""

    path: Text = Field(description="A Parquet file, directory or glob; any fsspec URL.")
    id: Text | None = Field(None, description="The column of unique respondent ids, text or integer.")
    ids: Literal["checked", "trusted"] = Field(
        "checked",
        description="Repeats are refused; or you vouch that there are none: two rows of an id share coins.",
    )
    public: bool = Field(False, description="The data is no secret: studies and comparisons need this.")
    name: Text | None = Field(None, description="Its account in the ledger; by default the path.")

    @property
    def respondents(self) -> str:
        """Where there is a row for each who is asked."""
        return self.path

    @property
    def respondents_key(self) -> str:
        """The key that says so: errors name it."""
        return "population.path"

    @property
    def account(self) -> str:
        """The account that is charged."""
        return self.name or (self.path if "://" in self.path else os.path.normpath(self.path))


class OutputTable(Table):
    """Where results go."""

    path: Text = Field(description="A folder, or any fsspec URL.")
    reports: bool = Field(True, description="Also write the private reports, as Parquet.")
    beside: ClassVar[str] = "reports"
    """What may be written beside the result."""


class ClusterTable(Table):
    """Where the job runs; an embedded cluster of processes where nothing is said."""

    scheduler: str | None = Field(None, description="The address of a running scheduler.")
    scheduler_file: str | None = Field(None, description="The file in which a scheduler wrote its address.")
    workers: int | None = Field(None, ge=1, description="Processes of the embedded cluster.")
    threads: int = Field(1, ge=1, description="Threads of each process of the embedded cluster.")
    memory: str | None = Field(
        None, description="Memory of each process of the embedded cluster, such as 4GiB."
    )
    timeout_s: float = Field(600.0, gt=0, description="Fail when no task has finished for so long.")
    secrets_dir: str | None = Field(
        None, description="A folder that all workers share, for the job's secret."
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Self:
        if self.scheduler and self.scheduler_file:
            raise SpecError("scheduler_file", "a job has one scheduler", "scheduler too")
        return self


class LedgerTable(Table):
    """Which ledger is charged."""

    url: str | None = Field(
        None, description="An SQLAlchemy URL; by default a SQLite file in the state folder."
    )


class Spec(Table):
    """What every job's spec has."""

    job: str
    population: PopulationTable
    output: OutputTable
    cluster: ClusterTable = ClusterTable()
    ledger: LedgerTable = LedgerTable()

    @property
    def task_rows(self) -> int | None:
        """Rows of a task, at least; None where reading them is most of the work."""
        return None

    @property
    def unit_rows(self) -> int | None:
        """Rows of a task's smallest part, at most; None for whole row groups."""
        return None

    @property
    def tells_times(self) -> bool:
        """Whether it is published how long a job took: not where that tells of answers."""
        return True

    def snapshot(self, data: Data) -> str:
        """Return a digest of all that is read; of what is read beside the population too."""
        return data.snapshot

    def canonical(self) -> dict[str, Any]:
        """Return the spec as JSON values, defaults filled in; where it runs and where results go left out."""
        return self.model_dump(mode="json", exclude={"output", "cluster", "ledger"})

    def job_id(self, snapshot: str) -> str:
        """Return a digest of this job over one snapshot of its input: 64 hexadecimal digits, to be published keyed."""
        text = json.dumps({"spec": self.canonical(), "snapshot": snapshot}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def read_spec_file(path: str, overrides: Iterable[str] = ()) -> dict[str, Any]:
    """Read a spec's TOML and set what the command line says on top.

    Parameters
    ----------
    path : str
    overrides : iterable of str
        `table.key=value` each; the value as TOML, or else as text.

    Raises
    ------
    SpecError
        Where there is no such file, it is no TOML, or an override does not fit in.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(path, "must be a spec that can be read", type(error).__name__) from None
    try:
        given = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(path, "must be TOML", str(error)) from None
    for override in overrides:
        _set(given, override)
    return given


def _set(given: dict[str, Any], override: str) -> None:
    """Set one `table.key=value`."""
    dotted, equals, value = override.partition("=")
    steps = [step.strip() for step in dotted.split(".")]
    if not equals or not all(steps):
        raise SpecError("--set", "must be table.key=value", override)
    try:
        parsed = tomllib.loads(f"value = {value}", parse_float=Decimal)["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    table = given
    for step in steps[:-1]:
        table = table.setdefault(step, {})
        if not isinstance(table, dict):
            raise SpecError("--set", f"{step} must be a table of the spec", override)
    table[steps[-1]] = parsed


def check(kind: type[Spec], given: dict[str, Any]) -> Spec:
    """Return a checked spec.

    Raises
    ------
    SpecError
        Names the first key that is wrong, what must hold there and what was found.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise _spec_error(error, given) from None


def _spec_error(error: ValidationError, given: dict[str, Any]) -> SpecError:
    first = error.errors(include_url=False)[0]
    steps = _steps(first["loc"], given)
    own = first.get("ctx", {}).get("error")
    if isinstance(own, SpecError):
        is_item = steps[-1:] != [] and steps[-1].isdigit() and not isinstance(first["input"], dict)
        in_list = own.where == "epsilon" and is_item
        inner = [] if own.where in ("", *steps[-1:]) or in_list else [own.where]
        return SpecError(".".join(steps + inner), own.must, own.got, own.remedy)
    where = ".".join(steps) or "spec"
    if first["type"] == "missing":
        return SpecError(where, "is required", "nothing")
    if first["type"] == "tuple_type":
        table = isinstance(first["input"], dict)
        return SpecError(
            where,
            "must be a list",
            "a table" if table else repr(first["input"])[:80],
            f"write [[{where}]]" if table else "write [...]",
        )
    if first["type"] == "union_tag_invalid":
        key, tag = first["ctx"]["discriminator"].strip("'"), first["ctx"]["tag"]
        known = [one.strip(" '") for one in first["ctx"]["expected_tags"].split(",")]
        near = difflib.get_close_matches(tag, known, 1)
        remedy = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}"
        return SpecError(f"{where}.{key}", "must be one that is known", repr(tag)[:80], remedy)
    if first["type"] == "union_tag_not_found":
        return SpecError(f"{where}.{first['ctx']['discriminator'].strip(chr(39))}", "is required", "nothing")
    return SpecError(where, _lower_first(first["msg"]), repr(first["input"])[:80])


def _steps(loc: tuple[int | str, ...], given: Any) -> list[str]:
    """Return the keys that lead to an error, as they stand in the spec: the name of a variant is none of them."""
    steps: list[str] = []
    for step in loc:
        if isinstance(given, dict) and isinstance(given.get("design"), str) and given["design"] == step:
            continue
        steps.append(str(step))
        if isinstance(given, dict):
            given = given.get(step)
        elif isinstance(given, list) and isinstance(step, int) and step < len(given):
            given = given[step]
    return steps


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
