"""The errors of a job, each with its exit code.

A message says where, what must hold, what was got and what to do. What was got is a parameter, a
type or a count of rows: never an answer, a share or a secret.
"""

from __future__ import annotations


class JobError(Exception):
    """A job cannot go on: `where`: `must`; got `got`. `remedy`.

    Parameters
    ----------
    where : str
        The option, file, column or stage.
    must : str
        What must hold there.
    got : str, optional
        What was found instead: parameters, counts, types, schemas.
    remedy : str, optional
        What to do about it.

    Examples
    --------
    >>> str(SpecError("attributes.ldl.epsilon", "must be a positive number", "-1", "give one above 0"))
    'attributes.ldl.epsilon: must be a positive number; got -1. Give one above 0.'
    """

    exit_code = 2

    def __init__(self, where: str, must: str, got: str = "", remedy: str = "") -> None:
        super().__init__(where, must, got, remedy)
        self.where, self.must, self.got, self.remedy = where, must, got, remedy

    def __str__(self) -> str:
        """Return the message, on one line."""
        text = f"{self.where}: {self.must}" + (f"; got {self.got}" if self.got else "")
        if self.remedy:
            text += f". {self.remedy[:1].upper()}{self.remedy[1:]}" + (
                "" if self.remedy.endswith("?") else "."
            )
        return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class SpecError(JobError, ValueError):
    """The spec or the command is wrong (exit code 2)."""


class SchemaError(JobError, ValueError):
    """The data does not fit the spec (exit code 2)."""


class BudgetError(JobError):
    """The account's privacy budget does not allow the job (exit code 3)."""

    exit_code = 3


class ProtocolError(JobError):
    """A share, a proof or a ciphertext is wrong, or there are too few (exit code 4)."""

    exit_code = 4


class ClusterError(JobError, RuntimeError):
    """The cluster failed or does not fit the job (exit code 5)."""

    exit_code = 5
