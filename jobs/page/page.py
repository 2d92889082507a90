"""report.html: what a result document says, to be looked at rather than read.

A page is a pure function of its document: no clock, no chance, no file but the templates. It holds what the
document holds: of a survey private estimates and parameters, and so is post-processing; of a study the truth
too, which is public. It loads nothing and runs no script; all that it refers to outside itself are the tables
beside it that were too large for it, by a link. Numbers that are null, and parts that are not there, are passed
over.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from jobs.page import words
from jobs.page.assign import view_assign
from jobs.page.election import view_election
from jobs.page.election_study import view_election_study
from jobs.page.graph import view_graph
from jobs.page.graph_study import view_graph_study
from jobs.page.sheet import settings
from jobs.page.skills import view_skills
from jobs.page.skills_boxes import fill_of
from jobs.page.skills_study import view_skills_study
from jobs.page.study import view_study
from jobs.page.survey import view_survey

_OF_NUMBERS = ("number", "significant", "bound", "percent", "short", "count", "seconds", "p_value", "degrees")
_OF_TEXTS = ("listed", "sentence", "label")


def render_survey(document: dict[str, Any]) -> bytes:
    """Return the page of a survey's result.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: post-processing of private estimates. Cost: some 30 ms an attribute, after
    the second that it takes to import matplotlib. Not to be called by two threads at once: matplotlib has one
    set of settings.
    """
    with settings():
        view = view_survey(document)
    return _filled("survey.html.j2", view)


def render_study(document: dict[str, Any]) -> bytes:
    """Return the page of a study's result: the paper's experiment.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: a study is of public data, and protects nothing. Cost: some 150 ms an
    attribute, and 100 ms a statistic; else as `render_survey`.

    References
    ----------
    papers/randomized-response, section 6: figures 1 to 4; theorems 2 to 4.
    """
    with settings():
        view = view_study(document)
    return _filled("study.html.j2", view)


def render_election(document: dict[str, Any]) -> bytes:
    """Return the page of an election's result.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: post-processing of private scores, or of a private outcome; of the central
    model nothing else is shown, whatever the document holds. Cost: some 30 ms a figure, of which there are at
    most eight; else as `render_survey`.

    References
    ----------
    papers/private-voting: the rules of section 2, and their decisive margins.
    """
    with settings():
        view = view_election(document)
    return _filled("election.html.j2", view)


def render_election_study(document: dict[str, Any]) -> bytes:
    """Return the page of a study of decisive margins.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: a study is of public data, and protects nothing. Cost: some 100 ms a rule; else
    as `render_survey`.

    References
    ----------
    papers/private-voting, table 1.
    """
    with settings():
        view = view_election_study(document)
    return _filled("election_study.html.j2", view)


def render_skills(document: dict[str, Any]) -> bytes:
    """Return the page of a tree of skills.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: post-processing of private counts. Cost: some seconds for a tree of 1,024 leaves
    that cuts ten dimensions; the page stays below 2 MB, whatever the tree; else as `render_survey`.

    References
    ----------
    papers/private-skills: the private k-d tree, and its consistent counts.
    """
    with settings():
        view = view_skills(document)
    return _filled("skills.html.j2", view)


def render_skills_study(document: dict[str, Any]) -> bytes:
    """Return the page of a study of a tree's error.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: a study is of public data, and protects nothing. Cost: some 40 ms a figure, of which
    there are at most nine; else as `render_survey`.

    References
    ----------
    papers/private-skills: the private k-d tree, and the error of its leaves.
    """
    with settings():
        view = view_skills_study(document)
    return _filled("skills_study.html.j2", view)


def render_assign(document: dict[str, Any]) -> bytes:
    """Return the page of assignments.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: of workers it shows how many there are. Cost: some milliseconds; else as
    `render_survey`.

    References
    ----------
    papers/private-skills: PIR-get, and the precision of what is downloaded.
    """
    with settings():
        view = view_assign(document)
    return _filled("assign.html.j2", view)


def render_graph(document: dict[str, Any]) -> bytes:
    """Return the page of a graph's statistics.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: post-processing of private estimates. Cost: some milliseconds, and some tenths of a
    second for 20,000 nodes, of which the page shows what fits; else as `render_survey`.

    References
    ----------
    papers/randomized-response, section 6.3.
    """
    with settings():
        view = view_graph(document)
    return _filled("graph.html.j2", view)


def render_graph_study(document: dict[str, Any]) -> bytes:
    """Return the page of a study of a graph's statistics.

    Parameters
    ----------
    document : dict
        What result.json holds: plain JSON values, any number of which may be null.

    Returns
    -------
    bytes
        HTML in UTF-8: the same bytes for the same document.

    Notes
    -----
    Runs on the driver. Privacy: a study is of public data, and protects nothing. Cost: some 40 ms a figure; else
    as `render_survey`.

    References
    ----------
    papers/randomized-response, section 6.3; figures 5 and 6.
    """
    with settings():
        view = view_graph_study(document)
    return _filled("graph_study.html.j2", view)


def _filled(template: str, view: dict[str, Any]) -> bytes:
    # A text that JSON escaped by halves is no text: what cannot be written is shown as a question mark.
    return _environment().get_template(template).render(view).encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    loader = PackageLoader("jobs.page", "")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(loader.get_source(environment, "style.css")[0])  # noqa: S704 (ours)
    for name in (*_OF_NUMBERS, *_OF_TEXTS):
        environment.filters[name] = getattr(words, name)
    environment.filters["fill_of"] = fill_of
    return environment
