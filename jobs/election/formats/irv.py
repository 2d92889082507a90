r"""The layout of margin-irv: line 1 has the candidates' ids, line 2 their parties, line 3 a rule of dashes.

Then comes a line ``(3, 1) : 12`` for each different ballot; ``(5,)`` and ``()`` are such, with spaces or none.
Candidates are named by their ids.

References
----------
https://github.com/michelleblom/margin-irv
"""

from __future__ import annotations

import re

from jobs.election.formats.listed import Lines, ListedBallots
from jobs.election.formats.source import Source, tidy

_BALLOT = re.compile(r"\(([^()]*)\)\s*:\s*(\d+)")
_DASHES = re.compile(r"[-+=\s]+")


def read_irv(source: Source) -> ListedBallots:
    """Read ballots of the layout.

    Raises
    ------
    SchemaError
        Names the first line that is wrong.
    """
    lines = source.lines()
    _, line = next(lines)
    candidates = [tidy(one) for one in line.split(",")]
    source.check_candidates(candidates, 1)
    _, parties = next(lines, (2, ""))
    if len(parties.split(",")) != len(candidates):
        must = "must give a party for each candidate of line 1"
        raise source.malformed(2, must, f"{len(parties.split(','))} for {len(candidates)}")
    _, dashes = next(lines, (3, ""))
    if not _DASHES.fullmatch(dashes):
        raise source.malformed(3, "must be a rule of dashes, such as `-+-+-`")
    numbers = {name: number for number, name in enumerate(candidates)}
    ballots = Lines()
    for number, line in lines:
        if not line.strip():
            continue
        found = _BALLOT.fullmatch(line.strip())
        if found is None:
            raise source.malformed(number, "must be a ballot and how many there are, such as `(3, 1) : 12`")
        names = (
            [one.strip() for one in found[1].strip().removesuffix(",").split(",")] if found[1].strip() else []
        )
        if not all(name in numbers for name in names):
            raise source.malformed(number, "must name candidates of line 1")
        ballots.add(int(found[2]), [(numbers[name],) for name in names])
    return ballots.ballots(source.file, candidates)
