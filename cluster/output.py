"""A job's output folder: staged out of sight, put in place file by file, the manifest last."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import asdict, dataclass
from typing import Any

from cluster.reports import hash_file, noted_files
from cluster.storage import Store
from udfs.asking import WrittenFile
from udfs.errors import ClusterError

MANIFEST = "manifest.json"
_EARLIER = "earlier.json"
_RESULT = "result.json"
_OWN = re.compile(r"reports/part-[0-9]{5,9}\.parquet|tables/[0-9]{1,5}\.parquet|[a-z]+\.(json|html)")
"""The files that a job may have put in place, and so may replace."""


@dataclass(frozen=True)
class Verified:
    """An output that is whole.

    Attributes
    ----------
    result : bytes
        result.json.
    digest : str
        SHA-256 of the manifest.
    reports : bool
        Whether reports are in place with it.
    """

    result: bytes
    digest: str
    reports: bool


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
        """Remove what was staged, what a publication that was cut off left, and a folder that is empty then."""
        if not self.store.exists(MANIFEST):
            self._take_back(self.staging(job_id).folder("reports"))
        self.staging(job_id).clear()
        if self.store.local:
            for folder in (self.store.folder("reports").root, self.store.root):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)

    def _take_back(self, staged: Store) -> None:
        """Remove reports that were put in place without their manifest: the notes beside them tell which."""
        for note in (name for name in staged.names() if name.endswith(".json")):
            name = note.removesuffix(".json")
            if self.store.exists(f"reports/{name}"):
                with self.store.open(f"reports/{name}") as file:
                    ours = noted_files(staged.read(note)) == {name: hash_file(file)}
                if ours:
                    self.store.remove(f"reports/{name}")

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
            if "/" in name:
                self.store.folder(name.rpartition("/")[0]).make()
            self.store.write(name, data)
            with self.store.open(name) as file:
                files[name] = hash_file(file)
        earlier = _read_manifest(staging, _EARLIER) or {"files": {}}
        for name in set(earlier["files"]) - set(files):
            self.store.remove(name)
        text = json.dumps(manifest | {"files": {name: asdict(one) for name, one in files.items()}}, indent=1)
        self.store.write(MANIFEST, text.encode())
        staging.clear()
        return self._digest()

    def verify(self, draw: str, digest: str) -> Verified | None:
        """Return what is in place where the manifest is this draw's and every file is as it says, else None.

        Parameters
        ----------
        draw : str
        digest : str
            SHA-256 of the manifest; empty where a run was cut off before it was noted.
        """
        manifest = _read_manifest(self.store, MANIFEST)
        if manifest is None or manifest.get("draw") != draw:
            return None
        found = self._digest()
        if digest not in ("", found):
            return None
        for name, expected in manifest["files"].items():
            if not self.store.exists(name):
                return None
            with self.store.open(name) as file:
                if asdict(hash_file(file)) != expected:
                    return None
        reports = any(name.startswith("reports/") for name in manifest["files"])
        return Verified(self.store.read(_RESULT), found, reports)

    def copy_to(self, url: str, job_id: str) -> None:
        """Copy a verified output elsewhere, as if it had been staged there."""
        manifest = _read_manifest(self.store, MANIFEST) or {"files": {}}
        other = Output(url)
        staging = other.open_staging(job_id)
        reports, documents = {}, {}
        for path, written in manifest.pop("files").items():
            if not path.startswith("reports/"):
                documents[path] = self.store.read(path)
                continue
            name = path.removeprefix("reports/")
            reports[name] = WrittenFile(**written)
            with staging.folder("reports").replacing(name) as into, self.store.open(path) as file:
                while data := file.read(1 << 20):
                    into.write(data)
        other.publish(job_id, reports, documents, manifest)

    def _digest(self) -> str:
        with self.store.open(MANIFEST) as file:
            return hash_file(file).sha256


def _read_manifest(store: Store, name: str) -> dict[str, Any] | None:
    """Return a manifest, or None where there is none that can be read and names no files but a job's own."""
    if not store.exists(name):
        return None
    try:
        found = json.loads(store.read(name))
        files = found["files"]
        known = all(_OWN.fullmatch(name) and name != MANIFEST for name in files)
        return found if known and isinstance(files, dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
