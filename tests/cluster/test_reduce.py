"""The one primitive: the same answer in this process and on a cluster, in a fixed order, and discreet errors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cluster.reduce
import udfs.errors
from cluster.reduce import FAN_IN, Engine, SerialEngine, check_code, code_digest, tree
from jobs.graph.central import sensitivity
from udfs.errors import ClusterError, JobError

SECRET_ANSWER = "SECRETANSWER42"


def as_list(unit: int) -> tuple[int, ...]:
    """Return a unit as a sequence of one."""
    return (unit,)


def nested(partials: Iterable[Any]) -> tuple[Any, ...]:
    """Combine so that the tree shows."""
    return tuple(partials)


def chained(partials: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Combine so that the order shows."""
    return tuple(itertools.chain.from_iterable(partials))


@pytest.fixture(params=["serial", "dask"])
def either(request: pytest.FixtureRequest) -> Engine:
    """Each engine."""
    return SerialEngine() if request.param == "serial" else request.getfixturevalue("engine")


@pytest.mark.parametrize("units", [0, 1, 2, 16, 17, 300])
def test_units_are_combined_in_the_same_tree_on_every_engine(engine: Engine, units: int) -> None:
    alone = SerialEngine().reduce(range(units), as_list, nested, "count")
    assert engine.reduce(range(units), as_list, nested, "count") == alone


@pytest.mark.parametrize("units", [0, 1, 17, 300])
def test_units_are_combined_in_order(either: Engine, units: int) -> None:
    assert either.reduce(range(units), as_list, chained, "count") == tuple(range(units))


@given(st.integers(0, 5000))
def test_the_tree_takes_every_leaf_once_and_in_order(leaves: int) -> None:
    below = leaves
    for groups in tree(leaves):
        assert list(itertools.chain.from_iterable(groups)) == list(range(below))
        assert all(1 <= len(group) <= FAN_IN for group in groups)
        below = len(groups)
    assert below <= 1


ERRORS = [
    kind for kind in vars(udfs.errors).values() if isinstance(kind, type) and issubclass(kind, JobError)
]


@pytest.mark.parametrize("kind", ERRORS)
def test_a_job_s_own_error_arrives_as_it_was(either: Engine, kind: type[JobError]) -> None:
    def fail(unit: int) -> tuple[int, ...]:
        if unit == 3:
            raise kind("column 'a'", "must hold", "3 rows", "mend them")
        return (unit,)

    with pytest.raises(kind) as caught:
        either.reduce(range(5), fail, chained, "count")
    assert type(caught.value) is kind
    assert caught.value.args == ("column 'a'", "must hold", "3 rows", "mend them")
    assert type(pickle.loads(pickle.dumps(caught.value))) is kind


def fail_in_chunk(unit: int) -> tuple[int, ...]:
    """Fail as a library does, with the answer in the message."""
    try:
        raise KeyError(SECRET_ANSWER)
    except KeyError as cause:
        raise ValueError(f"cannot convert {SECRET_ANSWER}") from cause


def fail_in_combine(partials: Iterable[Any]) -> Any:
    """Fail as a library does, with the answer in the message."""
    raise LookupError(SECRET_ANSWER, list(partials))


def use_too_much(unit: int) -> tuple[int, ...]:
    """Ask for more memory than there is."""
    raise MemoryError(SECRET_ANSWER)


def everything_of(error: BaseException | None) -> str:
    """Return all that an error says, and those it came from."""
    if error is None:
        return ""
    return (
        f"{error!r} {error} {vars(error)}" + everything_of(error.__cause__) + everything_of(error.__context__)
    )


@pytest.mark.parametrize(
    ("chunk", "combine", "says"),
    [
        (fail_in_chunk, chained, "ValueError"),
        (as_list, fail_in_combine, "LookupError"),
        (use_too_much, chained, "out of memory"),
    ],
)
def test_any_other_error_says_its_type_and_not_its_message(
    either: Engine, chunk: Callable[..., Any], combine: Callable[..., Any], says: str
) -> None:
    with pytest.raises(ClusterError) as caught:
        either.reduce(range(3), chunk, combine, "count")
    assert caught.value.where == "count"
    assert caught.value.got.startswith(says)
    assert SECRET_ANSWER not in everything_of(caught.value)


def test_an_error_names_the_line_of_the_project_that_it_passed_last(either: Engine) -> None:
    def misuse(unit: int) -> Any:
        return list(tree("many"))  # type: ignore[arg-type]

    with pytest.raises(ClusterError, match=r"got TypeError at cluster/reduce\.py:\d+\. "):
        either.reduce(range(1), misuse, nested, "count")


def test_an_error_in_a_job_s_own_package_names_its_line_too(either: Engine) -> None:
    with pytest.raises(ClusterError, match=r"got TypeError at graph/central\.py:\d+\. "):
        either.reduce(range(1), lambda unit: sensitivity("edges", "many"), nested, "count")  # type: ignore[arg-type]


def test_the_first_error_ends_a_reduction_of_many(engine: Engine) -> None:
    with pytest.raises(ClusterError, match="count: a task must not fail; got ValueError"):
        engine.reduce(range(200), fail_in_chunk, chained, "count")
    assert engine.reduce(range(3), as_list, chained, "count") == (0, 1, 2)


def test_other_code_is_refused() -> None:
    check_code(code_digest())
    with pytest.raises(
        ClusterError, match=r"must run the same release .* as the driver; got code \w{12}, not 0{12}"
    ):
        check_code("0" * 64)


def test_the_code_s_digest_hangs_on_every_line_that_tasks_run(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = code_digest()
    monkeypatch.setattr("cluster.__file__", str(tmp_path / "__init__.py"))
    cluster.reduce._digest.cache_clear()
    try:
        assert code_digest() != before
    finally:
        monkeypatch.undo()
        cluster.reduce._digest.cache_clear()
    assert cluster.reduce.code_digest() == before
