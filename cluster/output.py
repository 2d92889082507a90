"""A job's output folder: staged out of sight, put in place file by file, the manifest last."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from cluster.reports import hash_file, noted_files
from cluster.storage import Store
from udfs.asking import WrittenFile
from udfs.errors import ClusterError

MANIFEST = "manifest.json"
_EARLIER = "earlier.json"
_RESULT = "result.json"
_OWN = re.compile(
    r"(result|study)\.json|report\.html|(leaves|nodes)\.parquet|tables/[0-9]{1,5}\.parquet"
    r"|reports/part-[0-9]{5,9}\.parquet"
)
"""The names that jobs publish under: a manifest that names another file is none of theirs."""
_COPIED_BYTES = 1 << 20


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
        self._remove_empty_folders()

    def _remove_empty_folders(self) -> None:
        """Remove the folders that hold nothing, where a file system has folders of their own."""
        if self.store.local:
            for folder in (self.store.folder("reports"), self.store.folder("tables"), self.store):
                with contextlib.suppress(OSError):
                    os.rmdir(folder.root)

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

        May be run again after it was cut off anywhere. Files that bear the names of the new ones are replaced,
        whoever wrote them: what was drawn is paid for, and has to have its place. Of all others only those go
        that are, byte for byte, what an earlier job put there.

        Returns
        -------
        str
            SHA-256 of the manifest.

        Raises
        ------
        ValueError
            For a name that no job publishes under: such a result would never be found again, and be drawn and paid for
            anew by whoever asks for it.
        """
        foreign = [
            name for name in (*documents, *map("reports/{}".format, reports)) if not _OWN.fullmatch(name)
        ]
        if foreign:
            raise ValueError(f"jobs publish under no such name: {', '.join(foreign)}")
        return self._publish(job_id, reports, {name: (data,) for name, data in documents.items()}, manifest)

    def _publish(
        self,
        job_id: str,
        reports: dict[str, WrittenFile],
        documents: dict[str, Iterable[bytes]],
        manifest: dict[str, Any],
    ) -> str:
        """Publish documents that come in pieces."""
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
        for name, pieces in documents.items():
            if "/" in name:
                self.store.folder(name.rpartition("/")[0]).make()
            with self.store.replacing(name) as into:
                into.writelines(pieces)
            with self.store.open(name) as file:
                files[name] = hash_file(file)
        earlier = _read_manifest(staging, _EARLIER) or {"files": {}}
        for name, written in earlier["files"].items():
            if name not in files and self._holds(name, written):
                self.store.remove(name)
        self._remove_empty_folders()
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
        if not all(self._holds(name, written) for name, written in manifest["files"].items()):
            return None
        reports = any(name.startswith("reports/") for name in manifest["files"])
        return Verified(self.store.read(_RESULT), found, reports)

    def copy_to(self, url: str, job_id: str) -> None:
        """Copy a verified output elsewhere, as if it had been staged there."""
        manifest = _read_manifest(self.store, MANIFEST) or {"files": {}}
        other = Output(url)
        staging = other.open_staging(job_id)
        reports: dict[str, WrittenFile] = {}
        documents: dict[str, Iterable[bytes]] = {}
        for path, written in manifest.pop("files").items():
            if not path.startswith("reports/"):
                documents[path] = self._pieces(path)
                continue
            name = path.removeprefix("reports/")
            reports[name] = written
            folder = replace(staging.folder("reports"), private=self.store.is_private(path))
            with folder.replacing(name) as into:
                into.writelines(self._pieces(path))
        other._publish(job_id, reports, documents, manifest)

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Yield a file's bytes, a piece at a time: a table may be large."""
        with self.store.open(name) as file:
            while data := file.read(_COPIED_BYTES):
                yield data

    def _holds(self, name: str, written: WrittenFile) -> bool:
        """Tell whether a file is there, byte for byte as a manifest says."""
        if self.store.size(name) != written.size:
            return False
        with self.store.open(name) as file:
            return hash_file(file) == written

    def _digest(self) -> str:
        with self.store.open(MANIFEST) as file:
            return hash_file(file).sha256


def _read_manifest(store: Store, name: str) -> dict[str, Any] | None:
    """Return a manifest, or None where there is none that can be read and names no files but a job's own."""
    if not store.exists(name):
        return None
    try:
        found = json.loads(store.read(name))
        files = {name: WrittenFile(**written) for name, written in found["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found | {"files": files} if all(map(_OWN.fullmatch, files)) else None
