from __future__ import annotations

import pickle

import pytest

from udfs.errors import BudgetError, ClusterError, JobError, ProtocolError, SchemaError, SpecError

CODES = {JobError: 2, SpecError: 2, SchemaError: 2, BudgetError: 3, ProtocolError: 4, ClusterError: 5}
BUILTINS = [(SpecError, ValueError), (SchemaError, ValueError), (ClusterError, RuntimeError)]


@pytest.mark.parametrize("kind", CODES)
def test_an_error_pickles_with_all_its_parts(kind):
    error = kind("where", "must hold", "got", "do this")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.where, again.must, again.got, again.remedy) == ("where", "must hold", "got", "do this")
    assert str(again) == str(error) == "where: must hold; got got. Do this."


@pytest.mark.parametrize(("kind", "code"), CODES.items())
def test_an_error_has_its_exit_code_and_is_a_job_error(kind, code):
    assert kind.exit_code == code
    assert issubclass(kind, JobError)


@pytest.mark.parametrize(("kind", "builtin"), BUILTINS)
def test_an_error_is_the_builtin_one_that_callers_expect(kind, builtin):
    assert issubclass(kind, builtin)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("a", "must hold"), "a: must hold"),
        (("a", "must hold", "3"), "a: must hold; got 3"),
        (("a", "must hold", "", "mend it"), "a: must hold. Mend it."),
        (("a", "must hold", "3", "mend it"), "a: must hold; got 3. Mend it."),
    ],
)
def test_a_message_says_what_there_is_to_say_on_one_line(parts, message):
    assert str(JobError(*parts)) == message
