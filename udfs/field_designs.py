"""The classical designs of the field, for reports that were collected with cards, dice or birthdays.

Nothing is drawn here: respondents followed their instructions long ago, and what counts is the law of
their reports as those instructions state it. Where the question is a sensitive yes or no, cell 0 are those
without the trait and cell 1 its carriers; reports stand in the order that each function names.

References
----------
Chaudhuri: Randomized Response and Indirect Questioning Techniques in Surveys (2011), and the paper named
with each design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import comb
from types import MappingProxyType

from udfs.design import MatrixDesign
from udfs.errors import SpecError
from udfs.probability import Law, Probability, parse_probability, privacy_of_law

MOST_REPETITIONS = 100
_FRACTIONS = 'write fractions such as "1/3"'


@dataclass(frozen=True)
class FieldDesign(MatrixDesign):
    """A design by its name and its exact matrix.

    Privacy: that of the instructions, as far as they were followed: `epsilon`. No report is made here.

    Parameters
    ----------
    name : str
        As specs name it.
    parameters : str
        All that fixes the law, printable.
    rows : tuple of tuples of Fraction
        The law: row u, column v is the probability of report u for answer v.
    where : str
        The option that an error names; not kept.

    Raises
    ------
    SpecError
        Where an entry is no probability, a column does not sum to one, the matrix cannot be inverted, or
        nobody can give a report.

    Examples
    --------
    >>> import numpy as np
    >>> design = crosswise("1/4")
    >>> print(design.label, design.epsilon)
    crosswise p=1/4 1.09861228867
    >>> design.estimate(np.array([112, 198]), 310).shares.round(6)
    array([0.777419, 0.222581])
    """

    name: str
    parameters: str
    rows: Law
    where: InitVar[str]
    cells: int = field(init=False, repr=False)

    def __post_init__(self, where: str) -> None:
        """Check the law."""
        object.__setattr__(self, "cells", len(self.rows[0]))
        self.check_law(where)
        if not all(map(any, self.rows)):
            raise SpecError(where, "every report must be possible under some answer", "a row of zeros")

    @property
    def law(self) -> Law:
        """The design matrix."""
        return self.rows

    @property
    def label(self) -> str:
        """The name and all parameters."""
        return f"{self.name} {self.parameters}"

    @cached_property
    def epsilon(self) -> Decimal:
        """The privacy of an answer under the instructions as stated: see `privacy_of_law`."""
        return privacy_of_law(self.rows)


def warner(p: Probability, where: str = "collected") -> FieldDesign:
    """Warner's design: a card says "I have the trait" with probability p, else "I have it not".

    Reports (no, yes) to the card; P = [[p, 1 - p], [1 - p, p]]. Privacy: epsilon = |ln(p / (1 - p))|.

    References
    ----------
    Warner: Randomized response: a survey technique for eliminating evasive answer bias (1965).

    Examples
    --------
    >>> warner(0.7).epsilon
    Decimal('0.847297860388')
    """
    truth = parse_probability(p, f"{where}.p")
    return _yes_no("warner", {"p": truth}, 1 - truth, truth, f"{where}.p")


def forced_response(
    p: Probability, forced_yes: Probability, forced_no: Probability, where: str = "collected"
) -> FieldDesign:
    """Forced response: the truth with probability p, else yes or no as the die says; the three sum to one.

    Reports (no, yes); P(yes | carrier) = p + forced_yes, P(yes | other) = forced_yes. Privacy: epsilon is
    the larger of ln(1 + p / forced_yes) and ln(1 + p / forced_no), infinite where one of these is 0.

    References
    ----------
    Boruch: Assuring confidentiality of responses in social research (1971).

    Examples
    --------
    >>> forced_response("2/3", "1/6", "1/6").epsilon  # ln 5
    Decimal('1.60943791244')
    """
    truth = parse_probability(p, f"{where}.p")
    yes = parse_probability(forced_yes, f"{where}.forced_yes")
    no = parse_probability(forced_no, f"{where}.forced_no")
    if truth + yes + no != 1:
        raise SpecError(
            f"{where}.p",
            "p, forced_yes and forced_no must sum to one, exactly",
            f"a sum of {truth + yes + no}",
            _FRACTIONS,
        )
    parameters = {"p": truth, "forced_yes": yes, "forced_no": no}
    return _yes_no("forced-response", parameters, yes, truth + yes, f"{where}.p")


def unrelated_question(p: Probability, alpha: Probability, where: str = "collected") -> FieldDesign:
    """Unrelated question: the sensitive one with probability p, else one that a share alpha answers yes.

    Reports (no, yes); P(yes | carrier) = p + (1 - p) alpha, P(yes | other) = (1 - p) alpha. Privacy: as of a
    forced response with forced_yes = (1 - p) alpha and forced_no = (1 - p)(1 - alpha).

    References
    ----------
    Greenberg, Abul-Ela, Simmons, Horvitz: The unrelated question randomized response model (1969).
    """
    asked, known = parse_probability(p, f"{where}.p"), parse_probability(alpha, f"{where}.alpha")
    yes = (1 - asked) * known
    return _yes_no("unrelated-question", {"p": asked, "alpha": known}, yes, asked + yes, f"{where}.p")


def crosswise(p: Probability, where: str = "collected") -> FieldDesign:
    """Crosswise model: are the answers to the sensitive and to an innocuous question the same?

    A share p says yes to the innocuous one. Reports (different, same); P(same | carrier) = p,
    P(same | other) = 1 - p: Warner's matrix. Privacy: epsilon = |ln(p / (1 - p))|.

    References
    ----------
    Yu, Tian, Tang: Two new models for survey sampling with sensitive characteristic (2008).
    """
    known = parse_probability(p, f"{where}.p")
    return _yes_no("crosswise", {"p": known}, 1 - known, known, f"{where}.p")


def triangular(p: Probability, where: str = "collected") -> FieldDesign:
    """Triangular model: a triangle from those with the sensitive or an innocuous trait, else a circle.

    A share p has the innocuous one. Reports (circle, triangle); P(triangle | carrier) = 1,
    P(triangle | other) = p. Privacy: epsilon is infinite, for a circle is never a carrier's.

    References
    ----------
    Yu, Tian, Tang: Two new models for survey sampling with sensitive characteristic (2008).
    """
    known = parse_probability(p, f"{where}.p")
    return _yes_no("triangular", {"p": known}, known, Fraction(1), f"{where}.p")


def mangat(p: Probability, where: str = "collected") -> FieldDesign:
    """Mangat's design: carriers say yes; others say no with probability p, else yes.

    Reports (no, yes); P(yes | carrier) = 1, P(yes | other) = 1 - p. Privacy: epsilon is infinite, for a no
    is never a carrier's.

    References
    ----------
    Mangat: An improved randomized response strategy (1994).
    """
    truth = parse_probability(p, f"{where}.p")
    return _yes_no("mangat", {"p": truth}, 1 - truth, Fraction(1), f"{where}.p")


def kuk(
    p_sensitive: Probability, p_other: Probability, repetitions: int = 1, where: str = "collected"
) -> FieldDesign:
    """Kuk's design: a card's colour, drawn from one deck by carriers and from another by all others.

    Of `repetitions` cards, each put back, the report is how many are red: 0 to `repetitions`, binomial with
    p_sensitive or p_other. Privacy: epsilon is `repetitions` times the larger of |ln(p_sensitive / p_other)|
    and |ln((1 - p_sensitive) / (1 - p_other))|.

    References
    ----------
    Kuk: Asking sensitive questions indirectly (1990).

    Examples
    --------
    >>> kuk(".8", ".2").epsilon, kuk(".8", ".2", repetitions=2).features
    (Decimal('1.38629436112'), 3)
    """
    red = (
        parse_probability(p_other, f"{where}.p_other"),
        parse_probability(p_sensitive, f"{where}.p_sensitive"),
    )
    whole = isinstance(repetitions, int) and not isinstance(repetitions, bool)
    if not (whole and 1 <= repetitions <= MOST_REPETITIONS):
        raise SpecError(
            f"{where}.repetitions", f"must be a whole number from 1 to {MOST_REPETITIONS}", str(repetitions)
        )
    draws = range(repetitions + 1)
    rows = tuple(
        tuple(comb(repetitions, x) * p**x * (1 - p) ** (repetitions - x) for p in red) for x in draws
    )
    parameters = f"p_sensitive={red[1]} p_other={red[0]} repetitions={repetitions}"
    return FieldDesign("kuk", parameters, rows, f"{where}.p_sensitive")


def matrix(rows: Sequence[Sequence[Probability]], where: str = "collected") -> FieldDesign:
    """Return the design of any matrix: row u, column v is the probability of report u for answer v.

    There may be more reports than answers. Privacy: that of the matrix.

    Examples
    --------
    >>> matrix([["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]]).epsilon  # ln 4
    Decimal('1.38629436112')
    """
    where = f"{where}.rows"
    widths = {len(row) for row in rows}
    if len(widths) != 1 or min(widths) < 2:
        raise SpecError(where, "rows must be of one length, two answers or more", f"lengths {sorted(widths)}")
    law = tuple(
        tuple(parse_probability(entry, f"{where}[{u}][{v}]") for v, entry in enumerate(row))
        for u, row in enumerate(rows)
    )
    for v, column in enumerate(zip(*law, strict=True)):
        if sum(column) != 1:
            raise SpecError(
                where,
                "every column must sum to one, exactly",
                f"a sum of {sum(column)} in column {v}",
                _FRACTIONS,
            )
    return FieldDesign("matrix", " ; ".join(" ".join(map(str, row)) for row in law), law, where)


def with_nonresponse(design: FieldDesign) -> FieldDesign:
    """Return the design with one more answer, "none given", which is reported as it is.

    Privacy: who gave no report is plain to see, so epsilon is infinite.
    """
    rows = tuple((*row, Fraction(0)) for row in design.rows)
    last = (*(Fraction(0) for _ in range(design.cells)), Fraction(1))
    return FieldDesign(design.name, f"{design.parameters} nonresponse", (*rows, last), "collected")


DESIGNS: Mapping[str, Callable[..., FieldDesign]] = MappingProxyType(
    {
        "warner": warner,
        "forced-response": forced_response,
        "unrelated-question": unrelated_question,
        "crosswise": crosswise,
        "kuk": kuk,
        "triangular": triangular,
        "mangat": mangat,
        "matrix": matrix,
    }
)
"""By the name that a spec gives: each takes its parameters, and the table's name as `where`."""


def _yes_no(
    name: str, parameters: Mapping[str, Fraction], yes_if_not: Fraction, yes_if: Fraction, where: str
) -> FieldDesign:
    """Return the design of two reports whose second is given with these chances by others and by carriers."""
    rows = ((1 - yes_if_not, 1 - yes_if), (yes_if_not, yes_if))
    return FieldDesign(name, " ".join(f"{key}={value}" for key, value in parameters.items()), rows, where)
