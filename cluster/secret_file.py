"""The job's secret as a file: how it reaches workers without standing in a task graph."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from dataclasses import dataclass

from udfs.errors import ClusterError
from udfs.streams import SECRET_BYTES, Secret


@dataclass(frozen=True)
class SecretFile:
    """Where the job's secret lies; this, and never the secret, is what a task holds.

    Parameters
    ----------
    path : str
        A file that every worker can read and only its owner may.
    check : str
        A value derived from the secret, by which a worker knows that it has the right one.
    """

    path: str
    check: str

    def load(self) -> Secret:
        """Read the secret; it is not kept in the process.

        Raises
        ------
        ClusterError
            Where the file is not there, is not its owner's alone, or holds another secret.
        """
        secret = read_secret(self.path)
        if _check_value(secret) != self.check:
            raise ClusterError(
                self.path, "must hold this job's secret", "another", "share cluster.secrets_dir"
            )
        return secret


def keep_secret(path: str, given: Secret | None = None) -> SecretFile:
    """Return the secret at a path; where there is none, put one there that its owner alone may read.

    Parameters
    ----------
    path : str
    given : Secret, optional
        By default a new one from the operating system. A secret that is there already stays.
    """
    if not os.path.exists(path):
        secret = given or Secret.new()
        temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise ClusterError(
                os.path.dirname(path), "the secret's folder must be writable", type(error).__name__
            ) from None
        try:
            os.write(descriptor, secret.reveal())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    return SecretFile(path, _check_value(read_secret(path)))


def read_secret(path: str) -> Secret:
    """Read a secret from a file that only its owner may read.

    Raises
    ------
    ClusterError
        Where the file is not there, is not 32 bytes, or can be read by others.
    """
    remedy = "set cluster.secrets_dir to a folder that all workers share"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ClusterError(path, "the job's secret must be readable", type(error).__name__, remedy) from None
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        secret_bytes = file.read(SECRET_BYTES + 1)
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        found = f"mode {status.st_mode & 0o777:o} of user {status.st_uid}"
        raise ClusterError(path, "a secret must be its owner's alone", found, "chmod 600 it")
    if len(secret_bytes) != SECRET_BYTES:
        raise ClusterError(path, f"a secret is {SECRET_BYTES} bytes", f"{len(secret_bytes)} bytes or more")
    return Secret(secret_bytes)


def destroy_secret(path: str) -> None:
    """Overwrite and remove a secret's file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        with open(path, "r+b") as file:
            file.write(bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.remove(path)


def _check_value(secret: Secret) -> str:
    return secret.key("check")[:16].hex()
