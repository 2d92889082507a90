"""Keys as files: public.json for everybody, and a share for each holder that its owner alone may read.

Each is one line of JSON with its kind, its version and a SHA-256 of the rest, numbers in hexadecimal. A share holds
the whole public key, so that a holder checks requests and its own share without trusting what others send. What is
read is checked: that it is whole, of its kind, that its key id is the one of its numbers, that they make a key, and
that the share is this holder's. The checksum tells what is torn or damaged, not what is forged: who can write these
files has the key.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jobs.skills.sealed import KindError, sealed, unsealed
from udfs.errors import ProtocolError, SpecError
from udfs.hexadecimal import number_from_hex
from udfs.threshold import KeyShare, ThresholdKey

_KEY_FIELDS: dict[str, type] = {
    "key_id": str,
    "n": str,
    "holders": int,
    "threshold": int,
    "v": str,
    "verification": list,
}
_SHARE_FIELDS: dict[str, type] = {**_KEY_FIELDS, "holder": int, "secret": str}


def write_keys(folder: str | Path, key: ThresholdKey, shares: Sequence[KeyShare]) -> None:
    """Write public.json and share-1.json to share-N.json, of which none may be there.

    Public.json comes last: where it is, all are. What fails midway is undone.

    Raises
    ------
    SpecError
        Where one of them is there, or the folder cannot be written to.
    """
    fields = _key_fields(key)
    files = [
        (
            f"share-{share.holder}.json",
            0o600,
            sealed("share", {**fields, "holder": share.holder, "secret": f"{share.secret:x}"}),
        )
        for share in shares
    ] + [("public.json", 0o644, sealed("public", fields))]
    for name, _, _ in files:
        if Path(folder, name).exists():
            raise SpecError(
                str(Path(folder, name)),
                "keys are never overwritten",
                "a file of that name",
                "name another folder",
            )
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with ExitStack() as undone:
            for name, mode, text in files:
                descriptor = os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                undone.callback(Path(folder, name).unlink)
                with open(descriptor, "w", encoding="utf-8") as file:
                    os.fchmod(descriptor, mode)  # whatever the umask
                    file.write(text)
                    file.flush()
                    os.fsync(descriptor)
            undone.pop_all()
    except OSError as error:
        raise SpecError(
            str(folder), "must be a folder that can be written to", type(error).__name__
        ) from None


def read_public(path: str | Path, option: str = "keys.public") -> ThresholdKey:
    """Return the public key of a file.

    Parameters
    ----------
    path : path
    option : str
        What named it in a spec or a command.

    Raises
    ------
    SpecError
        Naming the option and the file, where it cannot be read or is of another kind.
    ProtocolError
        Naming the file, where it is not whole and consistent.
    """
    return _key(_fields(path, "public", _KEY_FIELDS, option), str(path))


def read_share(path: str | Path, option: str = "keys.shares") -> KeyShare:
    """Return the share of a file.

    Parameters
    ----------
    path : path
    option : str
        What named it in a spec or a command.

    Raises
    ------
    SpecError
        Naming the option and the file, where it cannot be read or is of another kind.
    ProtocolError
        Naming the file, where it is not whole and consistent, or others than its owner may read it.
    """
    where = str(path)
    found = _fields(path, "share", _SHARE_FIELDS, option)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o077:
        raise ProtocolError(
            where,
            "a share must be its owner's alone",
            f"mode {mode:04o}",
            f"if nobody read it, run: chmod 600 {where}",
        )
    share = KeyShare(_key(found, where), found["holder"], number_from_hex(found["secret"], where))
    try:
        share.check()
    except ProtocolError as fault:
        raise ProtocolError(where, f"{fault.where} {fault.must}", fault.got) from None
    return share


def _key_fields(key: ThresholdKey) -> dict[str, Any]:
    """Return a key as JSON values."""
    return {
        "key_id": key.key_id,
        "n": f"{key.n:x}",
        "holders": key.holders,
        "threshold": key.threshold,
        "v": f"{key.v:x}",
        "verification": [f"{number:x}" for number in key.verification],
    }


def _fields(path: str | Path, kind: str, types: dict[str, type], option: str) -> dict[str, Any]:
    """Return the fields of a file of this kind, each of its type."""
    where = str(path)
    if "://" in where:
        raise SpecError(
            f"{option} {where}", "must be a file of this machine, or in a folder that is mounted", "a URL"
        )
    try:
        text = Path(path).read_bytes().decode("ascii", "replace")
    except OSError as error:
        raise SpecError(
            f"{option} {where}", "must be a key file that can be read", os.strerror(error.errno or 0)
        ) from None
    try:
        found = unsealed(text, kind, where, "restore it from its copy")
    except KindError as error:
        raise SpecError(f"{option} {where}", error.must, error.got) from None
    if found.keys() != types.keys() or any(type(found[name]) is not one for name, one in types.items()):
        raise ProtocolError(where, "must have the fields of a key file", "others, or of other types")
    return found


def _key(found: dict[str, Any], where: str) -> ThresholdKey:
    """Return the key that these fields name, once its numbers are found to make one."""
    n, v = number_from_hex(found["n"], where), number_from_hex(found["v"], where)
    verification = tuple(number_from_hex(number, where) for number in found["verification"])
    key = ThresholdKey(n, found["holders"], found["threshold"], v, verification)
    try:
        key.check()
    except ProtocolError as fault:
        raise ProtocolError(where, f"{fault.where}: {fault.must}", fault.got) from None
    if key.key_id != found["key_id"]:
        raise ProtocolError(
            where,
            "its key id must be the one of its numbers",
            f"{found['key_id'][:12]} for key {key.key_id[:12]}",
        )
    return key
