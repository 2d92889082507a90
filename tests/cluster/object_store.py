"""A real object-store API over HTTP, on loopback, reached as users reach theirs: by the environment."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

_START_S = 30.0


@contextlib.contextmanager
def serve_bucket(folder: Path) -> Iterator[str]:
    """Serve a bucket, and let this process and those that it starts reach it; yield the bucket's URL."""
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [Path(sys.executable).with_name("moto_server"), "--host", "127.0.0.1", "--port", "0"],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        address = _address(log, server)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FSSPEC_S3_ENDPOINT_URL", address)
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                patch.setenv(name, "testing")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setitem(fsspec.config.conf, "s3", {"endpoint_url": address})
            fsspec.filesystem("s3").mkdir("population")
            yield "s3://population"
    finally:
        server.terminate()
        server.wait(_START_S)


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    """Return where the server listens, once it does."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and server.poll() is None:
        if found := re.search(r"Running on (http://127\.0\.0\.1:\d+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the object store did not start: {log.read_text()}")
