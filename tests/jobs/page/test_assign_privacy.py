"""What the page of assignments says of privacy, of the platform's work, and of what workers did not get."""

from __future__ import annotations

import pytest

from jobs.page.page import render_assign
from tests.jobs.page.reading import read
from tests.jobs.page.test_assign import section_of, terms_of, text_of
from tests.jobs.page.test_assign_documents import (
    assignments,
    short_of_gets,
    spoilt,
    trial,
)


@pytest.mark.parametrize("protocol", ["lattice", "paillier"])
def test_a_protocol_that_was_asked_for_is_said_to_be_so_and_whether_another_would_take_less(
    protocol: str,
) -> None:
    text = text_of(assignments(protocol=protocol, asked=protocol, leaves=64))
    said = "The spec asks for the one that was taken"
    fewer = "; with Paillier encryption there would be fewer bytes." if protocol == "lattice" else "."
    assert said + fewer in text


def test_the_platforms_work_is_told_and_how_likely_a_failure_was() -> None:
    terms = terms_of(read(render_assign(assignments())))
    assert terms["Went over, for each query"] == "5.21 GB of the library a second, on one core."
    assert terms["A get took"] == "0.0037 s of one core."
    assert terms["All gets took"] == "1 min 14 s of one core."
    assert (terms["Gets that were decoded"], terms["Gets that were not"]) == ("20,000", "0")
    assert terms["Decoding fails"] == "Below 2^-43 in the whole job."  # 2^-43.6: a bound is rounded up


def test_a_download_has_no_work_and_no_failures() -> None:
    page = read(render_assign(assignments(protocol="download")))
    terms = terms_of(page)
    assert terms["Computed"] == "Nothing: it sent the same bytes to everybody."
    assert terms["Decoding fails"] == "Nothing fails by chance."
    assert "Went over, for each query" not in terms
    assert "goes over the whole library" not in page.text
    assert "queries" not in terms["It sees"]
    assert "whatever it can compute" in page.text


def test_what_the_platform_saw_and_could_not_see_is_said() -> None:
    made = assignments()
    page = read(render_assign(made))
    terms = terms_of(page)
    assert "as many queries of everybody, all of one length" in terms["It sees"]
    assert "which item a query is for" in terms["It does not see"]
    assert "who takes a task on shows to have received it" in terms["Not covered"]
    assert "protects nobody from whoever runs the cluster" in terms["Not covered"]
    assert (
        "cannot be told from what it would send from any other leaf, unless learning with errors" in page.text
    )
    assert "What it rests on: learning with errors, dimension 1024 modulo 2^32." in page.text
    made["roles"] = None
    assert "whoever runs the cluster" not in text_of(made)


def test_short_keys_are_said_to_be_for_trials() -> None:
    assert "Keys of 512 bits can be broken: they are for trials." in text_of(trial())
    assert "for trials" not in text_of(assignments(protocol="paillier"))
    other = assignments()
    other["spec"]["retrieval"]["bits"] = 512
    assert "for trials" not in text_of(other)


def test_gets_that_were_not_decoded_are_said_before_anything_else() -> None:
    header = read(render_assign(spoilt())).all("header")[0]
    (alert,) = [one for one in header.all("p") if one.attributes.get("class") == "alert"]
    assert alert.text.startswith("3 gets were not decoded: the checksum was wrong. Nobody fetched again")
    assert header.text.index(alert.text) < header.text.index("Privacy")
    assert "not decoded" not in text_of(assignments())


def test_workers_who_did_not_see_all_tasks_for_them_are_said_to_be_so() -> None:
    made = short_of_gets()
    page = read(render_assign(made))
    said = "Workers of 4 of 8 leaves did not get all tasks for them, but at least 50 % of their bytes."
    assert f"{said} 4 gets would bring everything." in page.text
    assert "did not get all" not in text_of(assignments())
    marked = [
        one.text for one in section_of(page, "leaves").all("td") if one.attributes.get("class") == "below"
    ]
    assert marked == ["66", "50", "66", "50"]  # two thirds are not 67 per cent


def test_nearly_all_is_not_said_to_be_all() -> None:
    made = assignments()
    made["result"]["leaves"][0] |= {"coverage": 0.9999, "needed": 2}
    page = read(render_assign(made))
    assert "did not get all tasks for them, but at least 99 % of their bytes. 2 gets would bring" in page.text
    assert [one.text for one in page.all("td") if one.attributes.get("class") == "below"][-1] == "99"
