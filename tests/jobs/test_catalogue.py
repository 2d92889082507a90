from __future__ import annotations

from typing import Any

import pytest

from jobs.catalogue import JOBS, load
from udfs.errors import SpecError


@pytest.mark.parametrize("kind", ["surveys", "servey", "Survey"])
def test_an_unknown_job_is_refused_with_the_nearest(kind: str) -> None:
    with pytest.raises(SpecError) as refused:
        load({"job": kind})
    assert str(refused.value) == f'job: must name a kind of job; got {kind!r}. Did you mean "survey"?'


@pytest.mark.parametrize(("given", "got"), [({}, "nothing"), ({"job": "zzz"}, "'zzz'"), ({"job": 3}, "3")])
def test_a_job_that_is_like_none_is_refused_with_all_there_are(given: dict[str, Any], got: str) -> None:
    with pytest.raises(SpecError) as refused:
        load(given)
    assert (refused.value.where, refused.value.got) == ("job", got)
    assert refused.value.remedy == "known are " + ", ".join(JOBS)


@pytest.mark.parametrize("kind", JOBS)
def test_every_job_has_a_spec_that_names_it(kind: str) -> None:
    schema = JOBS[kind]().spec_type.model_json_schema()
    assert schema["properties"]["job"]["const"] == kind
