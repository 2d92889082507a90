"""Lines of JSON that carry their own SHA-256: keys, requests, answers, refusals and logs.

A line says what kind of thing it is, and of which version. Its checksum tells what was torn or damaged on its way, or
on disk; whoever wants to deceive can compute it too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from udfs.errors import ProtocolError

_VERSION = 1


class KindError(ProtocolError):
    """A line is whole, and of another kind than what is wanted there."""


def sealed(kind: str, fields: Mapping[str, Any]) -> str:
    """Return a line of JSON: the fields with what kind of thing they are, its version and the SHA-256 of the rest.

    Examples
    --------
    >>> unsealed(sealed("greeting", {"text": "hello"}), "greeting", "here", "greet again")
    {'text': 'hello'}
    """
    return _canonical(_stamped(kind, fields) | {"sha256": checksum(kind, fields)}) + "\n"


def unsealed(text: str, kind: str, where: str, remedy: str) -> dict[str, Any]:
    """Return the fields of a line that `sealed` wrote.

    Parameters
    ----------
    text : str
    kind : str
        The kind that is wanted.
    where : str
        Where it was read, for messages.
    remedy : str
        What to do where it is torn or damaged.

    Raises
    ------
    KindError
        Where it is of another kind.
    ProtocolError
        Where it is torn or damaged, or of another version.
    """
    try:
        found = json.loads(text)
        whole = isinstance(found, dict) and found.pop("sha256", None) == _sha256(found)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        got = f"{len(text)} characters that do not" if text else "nothing"
        raise ProtocolError(where, "must be whole and fit its checksum", got, remedy)
    found_kind, version = found.pop("kind", None), found.pop("version", None)
    if found_kind != kind:
        raise KindError(where, f"must be {_named(kind)}", _named(found_kind))
    if type(version) is not int or version != _VERSION:
        raise ProtocolError(where, f"must be {_named(kind)} of version {_VERSION}", repr(version)[:40])
    return dict(found)


def checksum(kind: str, fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a line says: 64 hexadecimal digits."""
    return _sha256(_stamped(kind, fields))


def _stamped(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "version": _VERSION, **fields}


def _sha256(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(fields).encode()).hexdigest()


def _canonical(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _named(kind: Any) -> str:
    """Return what a kind of thing is called."""
    if not isinstance(kind, str):
        return "something else"
    article = "an" if kind[:1] in set("aeiou") else "a"
    return "a public key file" if kind == "public" else f"{article} {kind[:40]}"
