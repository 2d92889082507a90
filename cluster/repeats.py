"""Ids that stand twice: found exactly, also across files, in memory bounded by the block.

Each part sorts its ids' fingerprints a run at a time. Where the footers show that no two parts can share an
id, that is all. Elsewhere each sorted run is written to the job's scratch folder, cut into buckets by the
fingerprints' first bits, and a second reduction looks through one bucket at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cluster.manifest import Part
from cluster.storage import Store
from udfs.asking import MOST_REPEATS
from udfs.identity import Blocks, spread

RUN_ROWS = 1 << 22
"""Rows whose fingerprints are sorted at a time: 32 MiB."""

BUCKET_ROWS = 1 << 20
"""Rows of a bucket, on the average."""

Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Scratch:
    """Where sorted runs go.

    Attributes
    ----------
    folder : Store
    buckets : int
        Into how many equal ranges of fingerprints a run is cut.
    """

    folder: Store
    buckets: int

    def edges(self) -> Fingerprints:
        """Return the first fingerprint of every bucket but the first: uint64, shape (buckets - 1,)."""
        return np.array(
            [(number << 64) // self.buckets for number in range(1, self.buckets)], dtype=np.uint64
        )


def plan_scratch(parts: Sequence[Part], folder: Store) -> Scratch | None:
    """Return where runs must go, or None where every part can be checked by itself."""
    if all(part.rows <= RUN_ROWS for part in parts) and _spans_apart(parts):
        return None
    return Scratch(folder, max(1, -(-sum(part.rows for part in parts) // BUCKET_ROWS)))


def _spans_apart(parts: Sequence[Part]) -> bool:
    """Tell whether the parts' integer ids lie in ranges that do not overlap."""
    spans = []
    for part in parts:
        known = [unit.id_span for unit in part.units if unit.id_span is not None]
        if len(known) < len(part.units):
            return len(parts) <= 1
        spans.append((min(low for low, _ in known), max(high for _, high in known)))
    spans.sort()
    return all(before[1] < after[0] for before, after in itertools.pairwise(spans))


class RunSorter:
    """Takes one part's ids block by block, sorts them in runs, and finds repeats within a run.

    Parameters
    ----------
    part : Part
    scratch : Scratch, optional
        Where sorted runs go; without, each run is only looked through.
    key : bytes
        Of the fingerprints: see `udfs.identity.spread`.
    """

    def __init__(self, part: Part, scratch: Scratch | None, key: bytes) -> None:
        self._name, self._scratch, self._key = f"part-{part.index:05d}", scratch, key
        self._blocks: list[Fingerprints] = []
        self._rows = self._runs = 0
        self._repeats: set[int] = set()

    def add(self, blocks: Blocks) -> None:
        """Take one block's ids."""
        halves = blocks[:, 0]
        self._blocks.append(halves.copy() if self._scratch is None else spread(halves, self._key))
        self._rows += len(blocks)
        if self._rows >= RUN_ROWS:
            self._end_run()

    def finish(self) -> tuple[int, ...]:
        """Return the fingerprints that stand twice in a run that is not written for a wider search."""
        self._end_run()
        return tuple(sorted(self._repeats)[:MOST_REPEATS])

    def _end_run(self) -> None:
        if not self._blocks:
            return
        run = np.concatenate(self._blocks)
        self._blocks, self._rows = [], 0
        if self._scratch is not None:
            run.sort()
            self._write(run, self._scratch)
        elif not (run[1:] > run[:-1]).all():
            run.sort()
            repeated = np.array(list(_repeated(run)), dtype=np.uint64)
            self._repeats.update(spread(repeated, self._key).tolist())
        self._runs += 1

    def _write(self, run: Fingerprints, scratch: Scratch) -> None:
        """Write a sorted run after the places where its buckets begin and end."""
        places = np.searchsorted(run, scratch.edges()).astype("<i8")
        bounds = np.concatenate([[0], places, [len(run)]]).astype("<i8")
        with scratch.folder.replacing(f"{self._name}-{self._runs:03d}.run", durable=False) as file:
            file.write(bounds.tobytes())
            file.write(run.astype("<u8", copy=False).data)


@dataclass(frozen=True)
class SearchBucket:
    """Looks through one bucket of all runs for fingerprints that stand twice."""

    scratch: Scratch
    runs: tuple[str, ...]

    def __call__(self, bucket: int) -> tuple[int, ...]:
        """Return the repeated fingerprints of a bucket, at most `MOST_REPEATS`."""
        joined = np.concatenate([self._read(run, bucket) for run in self.runs])
        joined.sort()
        return tuple(_repeated(joined))

    def _read(self, run: str, bucket: int) -> Fingerprints:
        with self.scratch.folder.open(run) as file:
            file.seek(8 * bucket)
            first, last = np.frombuffer(file.read(16), dtype="<i8").tolist()
            file.seek(8 * (self.scratch.buckets + 1 + first))
            return np.frombuffer(file.read(8 * (last - first)), dtype="<u8")


def join_repeats(found: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Join repeated fingerprints, at most `MOST_REPEATS`."""
    return tuple(sorted(set(itertools.chain.from_iterable(found)))[:MOST_REPEATS])


def _repeated(run: Fingerprints) -> Iterator[int]:
    """Yield each fingerprint that stands twice in a sorted run, at most `MOST_REPEATS`."""
    twice = run[1:][run[1:] == run[:-1]]
    yield from np.unique(twice)[:MOST_REPEATS].tolist()


@dataclass(frozen=True)
class Sightings:
    """Where suspected ids stand: for each whole block, how many rows of each file."""

    rows: dict[tuple[int, int], dict[str, int]]

    def repeated(self) -> dict[str, int]:
        """Return, by file, the rows whose id stands in another row too."""
        files: dict[str, int] = {}
        for places in self.rows.values():
            if sum(places.values()) > 1:
                for file, rows in places.items():
                    files[file] = files.get(file, 0) + rows
        return files


def sight(file: str, blocks: Blocks, suspects: Fingerprints, key: bytes) -> Sightings:
    """Return where the suspected fingerprints stand in a block of rows, told apart by all 128 bits."""
    seen = blocks[np.isin(spread(blocks[:, 0], key), suspects)]
    whole, counts = np.unique(seen, axis=0, return_counts=True)
    return Sightings({(a, b): {file: n} for (a, b), n in zip(whole.tolist(), counts.tolist(), strict=True)})


def join_sightings(found: Iterable[Sightings]) -> Sightings:
    """Add sightings up."""
    rows: dict[tuple[int, int], dict[str, int]] = {}
    for sightings in found:
        for block, places in sightings.rows.items():
            into = rows.setdefault(block, {})
            for file, count in places.items():
                into[file] = into.get(file, 0) + count
    return Sightings(rows)
