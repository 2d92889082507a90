"""A job's output folder: staged out of sight, put in place file by file, the manifest last."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from cluster.reports import hash_file
from cluster.storage import Store
from udfs.asking import WrittenFile
from udfs.errors import ClusterError

MANIFEST = "manifest.json"
_EARLIER = "earlier.json"


class Output:
    """The folder where a job's results go.

    Parameters
    ----------
    url : str
        A path or any fsspec URL.
    """

    def __init__(self, url: str) -> None:
        self.store = Store(url)

    @property
    def url(self) -> str:
        """Where it is; absolute."""
        return self.store.url

    def staging(self, job_id: str) -> Store:
        """Return the job's own folder inside the output, which nobody reads before the commit."""
        return self.store.folder(f".canvass-{job_id[:16]}")

    def open_staging(self, job_id: str) -> Store:
        """Make the staging folders."""
        staging = self.staging(job_id)
        for folder in (staging, staging.folder("reports"), staging.folder("ids")):
            folder.make(private=True)
        return staging

    def discard(self, job_id: str) -> None:
        """Remove what was staged, and the output folder where nothing else is in it."""
        self.staging(job_id).clear()
        if self.store.local:
            with contextlib.suppress(OSError):
                os.rmdir(self.store.root)

    def publish(
        self,
        job_id: str,
        reports: dict[str, WrittenFile],
        documents: dict[str, bytes],
        manifest: dict[str, Any],
    ) -> str:
        """Put reports and documents in place, then the manifest; remove what an earlier manifest named.

        May be run again after it was cut off anywhere.

        Returns
        -------
        str
            SHA-256 of the manifest.
        """
        staging = self.staging(job_id)
        staged = set(staging.folder("reports").names())
        if self.store.exists(MANIFEST):
            staging.take(self.store, MANIFEST, _EARLIER)
        if reports:
            self.store.folder("reports").make()
        staging.folder("reports").sync(sorted(staged & set(reports)))
        for name, written in sorted(reports.items()):
            if name in staged:
                self.store.folder("reports").take(staging.folder("reports"), name, name)
            if self.store.size(f"reports/{name}") != written.size:
                raise ClusterError(
                    f"{self.url}/reports/{name}", "a report file must stay as it was written", "another size"
                )
        files = {f"reports/{name}": written for name, written in sorted(reports.items())}
        for name, data in documents.items():
            self.store.write(name, data)
            with self.store.open(name) as file:
                files[name] = hash_file(file)
        earlier = _read_manifest(staging, _EARLIER) or {"files": {}}
        stale = {name for name in earlier["files"] if PurePosixPath(name).match("reports/part-*.parquet")}
        for name in stale - set(files):
            self.store.remove(name)
        text = json.dumps(manifest | {"files": {name: asdict(one) for name, one in files.items()}}, indent=1)
        self.store.write(MANIFEST, text.encode())
        staging.clear()
        return self._digest()

    def verify(self, draw: str, digest: str) -> bytes | None:
        """Return result.json where the manifest is this draw's and every file is as it says, else None.

        Parameters
        ----------
        draw : str
        digest : str
            SHA-256 of the manifest; empty where a run was cut off before it was noted.
        """
        manifest = _read_manifest(self.store, MANIFEST)
        if manifest is None or manifest.get("draw") != draw or digest not in ("", self._digest()):
            return None
        for name, expected in manifest["files"].items():
            if not self.store.exists(name):
                return None
            with self.store.open(name) as file:
                if asdict(hash_file(file)) != expected:
                    return None
        return self.store.read("result.json")

    def copy_to(self, url: str) -> None:
        """Copy a verified output elsewhere, the manifest last."""
        other = Store(url)
        other.make()
        for name in [*(_read_manifest(self.store, MANIFEST) or {"files": {}})["files"], MANIFEST]:
            if "/" in name:
                other.folder(name.rsplit("/", 1)[0]).make()
            with other.replacing(name) as into, self.store.open(name) as file:
                while data := file.read(1 << 20):
                    into.write(data)

    def _digest(self) -> str:
        with self.store.open(MANIFEST) as file:
            return hash_file(file).sha256


def _read_manifest(store: Store, name: str) -> dict[str, Any] | None:
    """Return a manifest, or None where there is none that can be read."""
    if not store.exists(name):
        return None
    try:
        found = json.loads(store.read(name))
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("files"), dict) else None
