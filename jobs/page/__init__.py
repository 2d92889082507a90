"""The page of a result: one self-contained HTML file, made from a result document alone."""

from jobs.page.page import render_study, render_survey

__all__ = ["render_study", "render_survey"]
