"""An output is whole or is none: it can be cut off at every step and put in place again."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from cluster.output import MANIFEST, Output, Verified
from cluster.storage import Store
from udfs.asking import WrittenFile

JOB, EARLIER = "a" * 64, "b" * 64


def stage(output: Output, job: str, parts: int) -> dict[str, WrittenFile]:
    """Stage so many parts of reports of a job, and return what was written."""
    folder = output.open_staging(job).folder("reports")
    written = {}
    for part in range(parts):
        name, data = f"part-{part:05d}.parquet", f"{job} {part}".encode()
        folder.write(name, data)
        written[name] = WrittenFile(len(data), hashlib.sha256(data).hexdigest())
    return written


def publish(output: Output, job: str, reports: dict[str, WrittenFile], **more: bytes) -> str:
    """Publish a job's result, whose draw is named as the job, and more documents: `study` is study.json."""
    documents = {"result.json": job.encode()} | {f"{name}.json": data for name, data in more.items()}
    return output.publish(job, reports, documents, {"version": 1, "draw": job})


def contents(output: Output) -> dict[str, bytes]:
    """Return every file of an output."""
    return {name: output.store.read(name) for name in output.store.names()}


@pytest.fixture
def output(store: Store) -> Output:
    return Output(f"{store.url}/out")


def test_a_published_result_is_whole_and_nothing_is_left_of_the_staging(output: Output) -> None:
    digest = publish(output, JOB, stage(output, JOB, 2))
    assert list(contents(output)) == [
        "manifest.json", "reports/part-00000.parquet", "reports/part-00001.parquet", "result.json",
    ]  # fmt: skip
    assert output.verify(JOB, digest) == output.verify(JOB, "") == Verified(JOB.encode(), digest, True)
    assert not output.staging(JOB).exists()


class Cut(Exception):
    """The run was cut off here."""


def cut_at(patch: pytest.MonkeyPatch, step: int) -> None:
    """Let the `step`-th change of any store fail: before it is made if even, after if odd."""
    count = itertools.count()
    for name in ("_move", "remove", "clear"):
        _cut_method(patch, name, count, step)


def _cut_method(patch: pytest.MonkeyPatch, name: str, count: Any, step: int) -> None:
    whole = getattr(Store, name)

    def cut(self: Store, *args: Any, **kwargs: Any) -> None:
        if next(count) == step:
            raise Cut
        whole(self, *args, **kwargs)
        if next(count) == step:
            raise Cut

    patch.setattr(Store, name, cut)


def test_publishing_can_be_cut_at_every_step_and_run_again_to_the_same_end(tmp_path: Path) -> None:
    undisturbed = Output(str(tmp_path / "undisturbed"))
    publish(undisturbed, EARLIER, stage(undisturbed, EARLIER, 4))
    publish(undisturbed, JOB, stage(undisturbed, JOB, 2))
    for step in itertools.count():
        output = Output(str(tmp_path / str(step)))
        publish(output, EARLIER, stage(output, EARLIER, 4))
        reports = stage(output, JOB, 2)
        with pytest.MonkeyPatch.context() as patch:
            cut_at(patch, step)
            try:
                publish(output, JOB, reports)
                break
            except Cut:
                pass
        assert output.verify(EARLIER, "") is None or output.verify(EARLIER, "").result == EARLIER.encode()
        if output.verify(JOB, "") is None:
            publish(output, JOB, stage(output, JOB, 2))
        output.discard(JOB)
        assert contents(output) == contents(undisturbed), f"cut at step {step}"
        assert output.verify(JOB, "").result == JOB.encode()
    assert step > 10


def test_parts_of_an_earlier_result_go_and_other_files_stay(output: Output) -> None:
    publish(output, EARLIER, stage(output, EARLIER, 3))
    output.store.write("notes.txt", b"mine")
    output.store.folder("reports").write("mine.parquet", b"mine")
    publish(output, JOB, stage(output, JOB, 1))
    assert set(contents(output)) == {
        "manifest.json", "notes.txt", "reports/mine.parquet", "reports/part-00000.parquet", "result.json",
    }  # fmt: skip
    assert output.verify(EARLIER, "") is None


def noted(data: bytes) -> dict[str, Any]:
    """Return what a manifest says of a file."""
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_what_a_manifest_of_another_program_names_stays(output: Output) -> None:
    """A page of somebody's own lies where a job is to write, with a manifest that names its files."""
    theirs = {
        "index.html": b"<p>mine</p>",
        "package.json": b"{}",
        "notes.json": b"[]",
        "report.html": b"mine",
    }
    output.store.make()
    for names in (theirs, ["report.html"]):
        for name, data in theirs.items():
            output.store.write(name, data)
        # The second manifest names what a job could have put there, but holds no such file's size or digest.
        files = {name: noted(theirs[name]) for name in names} if names is theirs else {"report.html": {}}
        output.store.write(MANIFEST, json.dumps({"version": 1, "files": files}).encode())
        publish(output, JOB, stage(output, JOB, 0))
        assert contents(output).items() >= theirs.items()
        assert output.verify(JOB, "").result == JOB.encode()


@pytest.mark.parametrize("data", [b"changed since, and longer", b"drawN"])
def test_a_file_that_was_changed_since_an_earlier_job_put_it_there_stays(output: Output, data: bytes) -> None:
    publish(output, EARLIER, stage(output, EARLIER, 2), study=b"drawn")
    output.store.write("study.json", data)
    publish(output, JOB, stage(output, JOB, 0))
    assert set(contents(output)) == {"manifest.json", "result.json", "study.json"}
    assert output.store.read("study.json") == data


def test_an_emptied_folder_goes_with_its_files(tmp_path: Path) -> None:
    output = Output(str(tmp_path / "out"))
    tables = {"result.json": b"{}", "tables/0.parquet": b"0", "tables/1.parquet": b"1"}
    output.publish(EARLIER, stage(output, EARLIER, 1), tables, {"draw": EARLIER})
    assert sorted(os.listdir(tmp_path / "out")) == ["manifest.json", "reports", "result.json", "tables"]
    publish(output, JOB, stage(output, JOB, 0))
    assert sorted(os.listdir(tmp_path / "out")) == ["manifest.json", "result.json"]
    output.publish(EARLIER, stage(output, EARLIER, 0), tables, {"draw": EARLIER})
    (tmp_path / "out" / "tables" / "mine.csv").write_text("mine")
    publish(output, JOB, stage(output, JOB, 0))
    assert set(contents(output)) == {"manifest.json", "result.json", "tables/mine.csv"}


def spoil(output: Output, how: str) -> None:
    """Spoil a published result."""
    if how == "flipped bit":
        data = bytearray(output.store.read("reports/part-00001.parquet"))
        data[3] ^= 1
        output.store.write("reports/part-00001.parquet", bytes(data))
    elif how == "missing part":
        output.store.remove("reports/part-00000.parquet")
    elif how == "other result":
        output.store.write("result.json", b"{}")
    elif how == "no manifest":
        output.store.remove(MANIFEST)
    elif how == "torn manifest":
        output.store.write(MANIFEST, output.store.read(MANIFEST)[:-9])
    else:
        output.store.write(MANIFEST, b"[]")


@pytest.mark.parametrize(
    "how", ["flipped bit", "missing part", "other result", "no manifest", "torn manifest", "odd manifest"]
)
def test_a_spoilt_result_is_none(output: Output, how: str) -> None:
    digest = publish(output, JOB, stage(output, JOB, 2))
    spoil(output, how)
    assert output.verify(JOB, digest) is None


def test_a_manifest_of_another_draw_or_digest_is_none_of_ours(output: Output) -> None:
    digest = publish(output, JOB, stage(output, JOB, 1))
    assert output.verify(EARLIER, digest) is None
    assert output.verify(JOB, "0" * 64) is None


def test_a_name_under_which_no_result_would_be_found_again_is_not_published(tmp_path: Path) -> None:
    output = Output(str(tmp_path))
    with pytest.raises(ValueError, match=r"under no such name: friends\.parquet"):
        output.publish(JOB, {}, {"result.json": b"{}", "friends.parquet": b""}, {"draw": JOB})
    assert not list(tmp_path.iterdir())


def test_a_refused_job_leaves_no_folder_but_other_files_stay(tmp_path: Path) -> None:
    output = Output(str(tmp_path / "out"))
    stage(output, JOB, 2)
    output.discard(JOB)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    stage(output, JOB, 2)
    output.discard(JOB)
    assert contents(output) == {"notes.txt": b"mine"}


def test_a_result_can_be_copied_from_here_to_an_object_store_and_back(tmp_path: Path, bucket: str) -> None:
    here, there, back = Output(str(tmp_path / "a")), Output(f"{bucket}/copied"), Output(str(tmp_path / "b"))
    digest = publish(here, JOB, stage(here, JOB, 2))
    here.copy_to(there.url, JOB)
    there.copy_to(back.url, JOB)
    assert there.verify(JOB, digest) == back.verify(JOB, digest) == Verified(JOB.encode(), digest, True)
    assert contents(back) == contents(here)


def test_a_large_table_is_copied_without_being_held_in_memory(tmp_path: Path) -> None:
    here, there = Output(str(tmp_path / "a")), Output(str(tmp_path / "b"))
    table, size = "tables/0.parquet", 1 << 25
    here.publish(JOB, stage(here, JOB, 0), {"result.json": b"{}", table: bytes(size)}, {"draw": JOB})
    tracemalloc.start()
    try:
        here.copy_to(there.url, JOB)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < size / 4
    assert there.verify(JOB, "") == here.verify(JOB, "")
    assert there.store.size(table) == size


def test_staging_is_private(tmp_path: Path) -> None:
    staging = Output(str(tmp_path / "out")).open_staging(JOB)
    for folder in (staging, staging.folder("reports"), staging.folder("ids")):
        assert Path(folder.root).stat().st_mode & 0o777 == 0o700
