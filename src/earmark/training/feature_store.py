"""Log-mel features of all clips, computed once and kept on disk, so that an epoch costs no decoding.

The store is one flat file of float16 frames, opened as a memory map, and an index that is written last: a store
without an index was interrupted and is made anew. A clip that cannot be read is named and left out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.audio import find_clips, read_audio
from earmark.config import Config
from earmark.files import write_atomic
from earmark.labels.weak import WeakClip
from earmark.models.features import LogMel


@dataclass(frozen=True)
class FeatureStore:
    """Features of the clips that could be read.

    Args:
        frames: float16 (frames of all clips, mels).
        starts: int (clips + 1,); clip i is ``frames[starts[i]:starts[i + 1]]``.
        kept: for each clip its index in the list the store was made from.
        failures: (where in the label file, filename, reason) of each clip that could not be read.
        notes: (filename, remark) of each clip that could be read only in part.
    """

    frames: NDArray[np.float16]
    starts: NDArray[np.int64]
    kept: tuple[int, ...]
    failures: tuple[tuple[str, str, str], ...]
    notes: tuple[tuple[str, str], ...]

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Frames of each clip, (clips,)."""
        return np.diff(self.starts)

    def clip(self, index: int) -> NDArray[np.float16]:
        """Features of one clip, (frames, mels)."""
        return self.frames[self.starts[index] : self.starts[index + 1]]


def feature_store(
    folder: Path,
    clips: Sequence[WeakClip],
    audio_folder: Path,
    config: Config,
    *,
    on_clip: Callable[[int], None],
) -> FeatureStore:
    """Return the features of `clips`, from `folder` if they are there already, otherwise computed now.

    Args:
        folder: where the store lies.
        clips: what to read; a clip may be a span of a file.
        audio_folder: where the recordings lie.
        config: features, and how many of their frames make one output frame.
        on_clip: called with the number of clips done so far.

    Raises:
        ValueError: when not a single clip could be read.
    """
    files, missing = find_clips(audio_folder, (clip.filename for clip in clips))
    fingerprint = _fingerprint(clips, files, config)
    store = _open(folder, fingerprint, config.features.n_mels)
    if store is None:
        store = _build(folder, fingerprint, clips, files, missing, config, on_clip)
    if not len(store):
        where, _, reason = store.failures[0]
        raise ValueError(f"none of the {len(clips)} clips could be read; the first: {where}: {reason}")
    return store


def clip_features(audio: NDArray[np.float32], log_mel: LogMel, time_reduction: int) -> torch.Tensor:
    """Return a clip's features, (samples,) -> (frames, mels), filled up with silence to a whole output frame.

    Example:
        >>> from earmark.config import FeatureConfig
        >>> clip_features(np.zeros(16001, np.float32), LogMel(FeatureConfig()), time_reduction=2).shape
        torch.Size([52, 64])
    """
    config = log_mel.config
    if config.clip_frames is None:
        unit = config.hop_samples * time_reduction
        n_samples = -(-len(audio) // unit) * unit
        n_frames = n_samples // config.hop_samples
    else:
        n_frames = config.clip_frames
        n_samples = (n_frames - (1 if config.framing == "centred" else 0)) * config.hop_samples
    fitted = np.zeros(n_samples, np.float32)
    fitted[: len(audio)] = audio[:n_samples]
    with torch.no_grad():
        features: torch.Tensor = log_mel(torch.from_numpy(fitted)[None])[0]
    return features[:n_frames]  # centred framing has one frame more, behind the last whole output frame


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


def _cropped(n_samples: int, log_mel: LogMel) -> str:
    """What a recipe with clips of fixed length leaves out, in words; nothing when that is not even a window."""
    config = log_mel.config
    if config.clip_frames is None or n_samples <= config.clip_frames * config.hop_samples + config.window_samples:
        return ""
    used, whole = config.clip_frames * config.hop_samples / config.sample_rate, n_samples / config.sample_rate
    return f" only the first {used:.2f} of {whole:.2f} s are used, as features.clip_frames says"


def _fingerprint(clips: Sequence[WeakClip], files: Mapping[str, Path], config: Config) -> str:
    """Changes whenever the features would: settings, spans, and each file's size and time of change."""
    digest = hashlib.sha256(repr((config.features, config.model.time_reduction)).encode())
    for clip in clips:
        try:
            status = os.stat(files[clip.filename])
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
    notes = tuple((name, remark) for name, remark in index["notes"])
    return FeatureStore(frames, starts, tuple(index["kept"]), failures, notes)


def _build(
    folder: Path,
    fingerprint: str,
    clips: Sequence[WeakClip],
    files: Mapping[str, Path],
    missing: Mapping[str, str],
    config: Config,
    on_clip: Callable[[int], None],
) -> FeatureStore:
    """Read all clips, some at a time, and write their features in order."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").unlink(missing_ok=True)
    starts, kept, failures, notes = [0], [], [], []
    with (folder / "features.f16").open("wb") as file:
        for number, result in enumerate(_read_all(clips, files, missing, config)):
            if isinstance(result, str):
                failures.append((clips[number].where, clips[number].filename, result))
            else:
                features, note = result
                file.write(features.tobytes())
                starts.append(starts[-1] + len(features))
                kept.append(number)
                if note:
                    notes.append((clips[number].filename, note))
            on_clip(number + 1)
        file.flush()
        os.fsync(file.fileno())
    index = {"fingerprint": fingerprint, "starts": starts, "kept": kept, "failures": failures, "notes": notes}
    write_atomic(folder / "index.json", json.dumps(index))
    store = _open(folder, fingerprint, config.features.n_mels)
    assert store is not None, "a store that was just written must open"
    return store


def _read_all(
    clips: Sequence[WeakClip], files: Mapping[str, Path], missing: Mapping[str, str], config: Config
) -> Iterator[tuple[NDArray[np.float16], str] | str]:
    """Features and remark of each clip in order, or the reason why it cannot be read."""
    log_mel = LogMel(config.features)

    def read(clip: WeakClip) -> tuple[NDArray[np.float16], str] | str:
        if clip.filename in missing:
            return missing[clip.filename]
        try:
            audio = read_audio(
                files[clip.filename],
                sample_rate=config.features.sample_rate,
                onset=0.0 if clip.onset is None else clip.onset,
                offset=clip.offset,
            )
            features = clip_features(audio.samples, log_mel, config.model.time_reduction)
        except ValueError as error:
            return str(error)
        return features.numpy().astype(np.float16), audio.note + _cropped(len(audio.samples), log_mel)

    n_threads = torch.get_num_threads()
    ahead = 4 * n_threads  # clips waiting in memory; an unbounded queue would hold the whole data set
    with ThreadPoolExecutor(n_threads, initializer=torch.set_num_threads, initargs=(1,)) as threads:
        try:
            waiting = deque(threads.submit(read, clip) for clip in clips[:ahead])
            for upcoming in range(ahead, ahead + len(clips)):
                yield waiting.popleft().result()
                if upcoming < len(clips):
                    waiting.append(threads.submit(read, clips[upcoming]))
        finally:
            torch.set_num_threads(n_threads)
