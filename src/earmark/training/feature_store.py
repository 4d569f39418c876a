"""Log-mel features of all clips, computed once and kept on disk, so that an epoch costs no decoding.

The store is one flat file of float16 frames, opened as a memory map, and an index that is written last: a store
without an index was interrupted and is made anew. A clip that cannot be read is named and left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import unicodedata
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.audio import blocks, find_clips
from earmark.config import Config
from earmark.files import write_atomic
from earmark.labels.weak import WeakClip
from earmark.models.features import LogMel
from earmark.training.clip_features import BLOCK_SECONDS, feature_blocks, length_remark
from earmark.training.clip_features import clip_features as clip_features

_LAYOUT = 2  # of the store; another one is made anew
_HELD_BYTES = 2**20  # of one clip's features in memory until their turn comes; more waits on disk


@dataclass(frozen=True)
class FeatureStore:
    """Features of the clips that could be read.

    Args:
        frames: float16 (frames of all clips, mels); of embeddings also float32 (frames of all clips, dims).
        starts: int (clips + 1,); clip i is ``frames[starts[i]:starts[i + 1]]``.
        kept: for each clip its index in the list the store was made from.
        failures: (where in the label file, filename, reason) of each clip that could not be read.
        notes: (where in the label file, filename, remark) of each clip that could be read only in part.
    """

    frames: NDArray[np.floating]
    starts: NDArray[np.int64]
    kept: tuple[int, ...]
    failures: tuple[tuple[str, str, str], ...]
    notes: tuple[tuple[str, str, str], ...]

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Frames of each clip, (clips,)."""
        return np.diff(self.starts)

    def clip(self, index: int) -> NDArray[np.floating]:
        """Features of one clip, (frames, mels)."""
        return self.frames[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True)
class _Wanted:
    """What to read: clips, the files of their names or the reasons why there is none, and the settings."""

    clips: Sequence[WeakClip]
    files: Mapping[str, Path]
    missing: Mapping[str, str]
    config: Config


@dataclass(frozen=True)
class _ReadClip:
    """One clip: its features as float16 bytes, of how many frames, and a remark or none."""

    features: IO[bytes]
    n_frames: int
    remark: str


def feature_store(
    folder: Path,
    clips: Sequence[WeakClip],
    audio_folder: Path,
    config: Config,
    *,
    on_clip: Callable[[int], None],
    read_only: bool = False,
) -> FeatureStore:
    """Return the features of `clips`, from `folder` if they are there already, otherwise computed now.

    Clips that could not be read the last time are tried again first: a missing decoder may have been installed since.

    Args:
        folder: where the store lies.
        clips: what to read; a clip may be a span of a file.
        audio_folder: where the recordings lie.
        config: features, and how many of their frames make one output frame.
        on_clip: called with the number of clips done so far.
        read_only: compute nothing and try nothing again, because others are reading `folder` too.

    Raises:
        ValueError: when not a single clip could be read, or `read_only` and the features are not there.
    """
    files, missing = find_clips(audio_folder, (clip.filename for clip in clips))
    wanted = _Wanted(clips, files, missing, config)
    fingerprint = _fingerprint(wanted)
    store = _open(folder, fingerprint, config.features.n_mels)
    if store is None and read_only:
        raise ValueError(f"{folder}: has not the features of these clips - was a recording changed in the meantime?")
    if store is not None and store.failures and not read_only:
        store = _with_failures_of_today(store, wanted, folder)
    if store is None:
        store = _build(folder, fingerprint, wanted, on_clip)
    if not len(store):
        raise ValueError(f"none of the {len(clips)} clips could be read; the first: {located(*store.failures[0])}")
    return store


def statistics(store: FeatureStore, indices: Sequence[int] | NDArray[np.intp]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and standard deviation of every mel band over the given clips, each (mels,)."""
    n_mels = store.frames.shape[1]
    count, total, squares = 0, np.zeros(n_mels), np.zeros(n_mels)
    for index in indices:
        clip = store.clip(int(index)).astype(np.float64)
        count += len(clip)
        total += clip.sum(axis=0)
        squares += np.square(clip).sum(axis=0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    # A band without any variation carries nothing; dividing by its zero would make it everything.
    deviation = np.where(deviation < 1e-3, 1.0, deviation)
    return torch.from_numpy(mean).float(), torch.from_numpy(deviation).float()


def located(where: str, filename: str, reason: str) -> str:
    """Return a reason behind its place in the label file, with the recording named once.

    Every reason begins with the name or the path of the recording. In a folder per class the place is that very path.

    Example:
        >>> located("weak.tsv:2", "a.wav", "audio/a.wav: is empty")
        'weak.tsv:2: audio/a.wav: is empty'
        >>> located("audio/dog/a.wav", "dog/a.wav", "audio/dog/a.wav: is empty")
        'audio/dog/a.wav: is empty'
        >>> located("audio/dog/a.wav", "dog/a.wav", "dog/a.wav: no such file in elsewhere")
        'audio/dog/a.wav: no such file in elsewhere'
    """
    place = unicodedata.normalize("NFC", where)
    for name in (place, filename):
        if f"/{place}".endswith(f"/{filename}") and unicodedata.normalize("NFC", reason).startswith(f"{name}: "):
            return f"{where}: {unicodedata.normalize('NFC', reason)[len(name) + 2 :]}"
    return f"{where}: {reason}"


def _fingerprint(wanted: _Wanted) -> str:
    """Changes whenever the features would: settings, spans, and each file's size and time of change."""
    settings = (_LAYOUT, wanted.config.features, wanted.config.model.time_reduction)
    digest = hashlib.sha256(repr(settings).encode())
    for clip in wanted.clips:
        try:
            status = os.stat(wanted.files[clip.filename])
            state = (status.st_size, status.st_mtime_ns)
        except (OSError, KeyError):
            state = (-1, -1)
        digest.update(repr((clip.filename, clip.onset, clip.offset, state)).encode())
    return digest.hexdigest()


def _open(folder: Path, fingerprint: str, n_mels: int) -> FeatureStore | None:
    """The store in `folder`, or None when there is none for these clips."""
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        n_bytes = (folder / "features.f16").stat().st_size
    except (OSError, json.JSONDecodeError):
        return None
    starts = np.array(index["starts"], dtype=np.int64)
    # A kill while the folder was being removed, or a disk that lost its end, leaves an index without its features.
    if index["fingerprint"] != fingerprint or n_bytes != starts[-1] * n_mels * np.dtype(np.float16).itemsize:
        return None
    frames: NDArray[np.float16] = np.zeros((0, n_mels), np.float16)
    if starts[-1] > 0:
        frames = np.memmap(folder / "features.f16", np.float16, mode="r", shape=(int(starts[-1]), n_mels))
    failures = tuple((where, name, reason) for where, name, reason in index["failures"])
    notes = tuple((where, name, remark) for where, name, remark in index["notes"])
    return FeatureStore(frames, starts, tuple(index["kept"]), failures, notes)


def _with_failures_of_today(store: FeatureStore, wanted: _Wanted, folder: Path) -> FeatureStore | None:
    """The store, with the reasons why its failures fail now, or None when one of them can be read by now."""
    kept = set(store.kept)
    failed = [clip for number, clip in enumerate(wanted.clips) if number not in kept]
    failures = []
    with contextlib.closing(_read_all(replace(wanted, clips=failed), folder)) as results:
        for clip, result in zip(failed, results, strict=True):
            if not isinstance(result, str):
                result.features.close()
                return None
            failures.append((clip.where, clip.filename, result))
    return replace(store, failures=tuple(failures))


def _build(folder: Path, fingerprint: str, wanted: _Wanted, on_clip: Callable[[int], None]) -> FeatureStore:
    """Read all clips, some at a time, and write their features in order."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").unlink(missing_ok=True)
    starts, kept, failures, notes = [0], [], [], []
    with (folder / "features.f16").open("wb") as file, contextlib.closing(_read_all(wanted, folder)) as results:
        for number, result in enumerate(results):
            clip = wanted.clips[number]
            if isinstance(result, str):
                failures.append((clip.where, clip.filename, result))
            else:
                with result.features as features:
                    features.seek(0)
                    shutil.copyfileobj(features, file, _HELD_BYTES)
                starts.append(starts[-1] + result.n_frames)
                kept.append(number)
                if result.remark:
                    notes.append((clip.where, clip.filename, result.remark))
            on_clip(number + 1)
        file.flush()
        os.fsync(file.fileno())
    index = {"fingerprint": fingerprint, "starts": starts, "kept": kept, "failures": failures, "notes": notes}
    write_atomic(folder / "index.json", json.dumps(index))
    store = _open(folder, fingerprint, wanted.config.features.n_mels)
    assert store is not None, "a store that was just written must open"
    return store


def _read_all(wanted: _Wanted, folder: Path) -> Generator[_ReadClip | str]:
    """What was read of each clip, in order, or the reason why it cannot be read."""
    log_mel = LogMel(wanted.config.features)

    def read(clip: WeakClip) -> _ReadClip | str:
        if clip.filename in wanted.missing:
            return wanted.missing[clip.filename]
        file = wanted.files[clip.filename]
        try:
            return _read_clip(file, clip, log_mel, wanted.config, folder)
        except ValueError as error:  # the system's own errors are among them, except those of writing the store
            path = file.as_posix()
            return str(error) if str(error).startswith(f"{path}: ") else f"{path}: {error}"

    n_threads = torch.get_num_threads()
    ahead = 4 * n_threads  # clips waiting in memory; an unbounded queue would hold the whole data set
    clips = wanted.clips
    threads = ThreadPoolExecutor(n_threads, initializer=torch.set_num_threads, initargs=(1,))
    waiting: deque[Future[_ReadClip | str]] = deque()
    try:
        waiting.extend(threads.submit(read, clip) for clip in clips[:ahead])
        for upcoming in range(ahead, ahead + len(clips)):
            yield waiting.popleft().result()
            if upcoming < len(clips):
                waiting.append(threads.submit(read, clips[upcoming]))
    finally:
        threads.shutdown(cancel_futures=True)
        torch.set_num_threads(n_threads)
        for future in waiting:  # none, unless something ended the reading
            result = "" if future.cancelled() or future.exception() is not None else future.result()
            if not isinstance(result, str):
                result.features.close()


def _read_clip(file: Path, clip: WeakClip, log_mel: LogMel, config: Config, folder: Path) -> _ReadClip:
    """The features of one clip, with never more of it in memory than a block of sound and a little of features."""
    n_samples, n_frames, remarks = 0, 0, []

    def sound() -> Iterator[NDArray[np.float32]]:
        nonlocal n_samples
        span = (0.0 if clip.onset is None else clip.onset, clip.offset)
        rate = config.features.sample_rate
        for block in blocks(file, sample_rate=rate, block_seconds=BLOCK_SECONDS, onset=span[0], offset=span[1]):
            n_samples += len(block.samples)
            remarks.append(block.note)
            yield block.samples

    # The features of a long clip wait in a file without a name, which disappears with this process.
    features = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES, dir=os.fspath(folder))
    try:
        for frames in feature_blocks(sound(), log_mel, config.model.time_reduction):
            features.write(frames.numpy().astype(np.float16).tobytes())
            n_frames += len(frames)
    except BaseException:
        features.close()
        raise
    remarks.append(length_remark(n_samples / config.features.sample_rate, config))
    return _ReadClip(features, n_frames, "; ".join(remark for remark in remarks if remark))
