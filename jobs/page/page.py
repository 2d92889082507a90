"""report.html: what a result document says, to be looked at rather than read.

A page is a pure function of its document: no clock, no chance, no file but the templates. It holds what the
document holds: of a survey private estimates and parameters, and so is post-processing; of a study the truth
too, which is public. It loads nothing and runs no script; all that it refers to outside itself are the tables
beside it that were too large for it, by a link. Numbers that are null, and parts that are not there, are passed
over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Page:
    """How documents of one kind are shown.

    Attributes
    ----------
    template : str
        The name of the file that lays the page out.
    view : callable
        Returns what the template is filled with, for a document; it draws figures on the way.

    Notes
    -----
    Runs on the driver. Cost: some 30 ms a figure, after the second that it takes to import matplotlib. Not to be called by
    two threads at once: matplotlib has one set of settings.
    """

    template: str
    view: Callable[[dict[str, Any]], dict[str, Any]]

    def __call__(self, document: dict[str, Any]) -> bytes:
        """Return the page of a result.

        Parameters
        ----------
        document : dict
            What result.json holds: plain JSON values, any number of which may be null.

        Returns
        -------
        bytes
            HTML in UTF-8: the same bytes for the same document.
        """
        with settings():
            view = self.view(document)
        # A text that JSON escaped by halves is no text: what cannot be written is shown as a question mark.
        return _environment().get_template(self.template).render(view).encode("utf-8", "replace")


render_survey = Page("survey.html.j2", view_survey)
"""A survey's estimates: post-processing of private reports."""

render_study = Page("study.html.j2", view_study)
"""The paper's experiment on public data (papers/randomized-response, section 6: figures 1 to 4; theorems 2 to 4)."""

render_election = Page("election.html.j2", view_election)
"""An election (papers/private-voting, section 2): post-processing of private scores, or of a private outcome. Of the central
model nothing else is shown, whatever the document holds."""

render_election_study = Page("election_study.html.j2", view_election_study)
"""Decisive margins on public data (papers/private-voting, table 1). Some 100 ms a rule."""

render_skills = Page("skills.html.j2", view_skills)
"""A private k-d tree and its consistent counts (papers/private-skills): post-processing. Some seconds for 1,024 leaves that cut
ten dimensions; below 2 MB, whatever the tree."""

render_skills_study = Page("skills_study.html.j2", view_skills_study)
"""The error of such trees' leaves on public data (papers/private-skills)."""

render_assign = Page("assign.html.j2", view_assign)
"""Tasks by private retrieval, and the precision of what is downloaded (papers/private-skills): of workers their number alone."""

render_graph = Page("graph.html.j2", view_graph)
"""A graph's statistics (papers/randomized-response, section 6.3): post-processing. Some tenths of a second for 20,000 nodes, of
which the page shows what fits."""

render_graph_study = Page("graph_study.html.j2", view_graph_study)
"""Errors of such statistics on public data (papers/randomized-response, section 6.3; figures 5 and 6)."""


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
