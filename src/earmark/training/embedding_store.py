"""Embeddings of all clips in one flat file, opened as a memory map: what feature_store.py is for audio.

Values are kept as they came: float16 where every array is float16, float32 otherwise. Log-mel features all lie within a
few units and lose nothing by 11 bits; dims of embeddings may lie far from 0 (at 500 the next float16 is 0.25 away) or
beyond float16's 65504. Whoever wants half the disk saves float16 arrays.

Arrays are copied, because a batch reads from anywhere: thousands of open files would be needed, and those of an .npz
cannot be mapped at all. A copy is made anew whenever a run begins; reading embeddings costs hardly more than checking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earmark.audio import late_offset
from earmark.config import Config
from earmark.embeddings import array_dtype, frame_blocks, open_array
from earmark.labels.weak import WeakClip
from earmark.training.embeddings import array_shapes, span_frames
from earmark.training.feature_store import FeatureStore, located

_LOST_FRAMES = 2


def embedding_store(
    folder: Path, clips: Sequence[WeakClip], arrays: Path, config: Config, *, on_clip: Callable[[int], None]
) -> FeatureStore:
    """Return the embeddings of `clips`; those whose array is missing, damaged or NaN are named and left out.

    Args:
        folder: where the store lies.
        clips: what to read; a clip may be a span of a recording.
        arrays: the folder of the arrays.
        config: with the frame rate and the dims of the embeddings, as `with_embeddings` completes it.
        on_clip: called with the number of clips done so far.

    Raises:
        ValueError: when not a single clip could be read.

    Example:
        >>> import tempfile
        >>> from earmark.config import for_embeddings
        >>> clips = [WeakClip(name, frozenset(), None, None, None, {}, "weak.tsv:2") for name in ("a.wav", "b.wav")]
        >>> config = for_embeddings(Config(), frames_per_second=2.0, n_dims=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "a.wav.npy"), np.ones((20, 3)))
        ...     np.save(Path(folder, "b.wav.npy"), np.full((20, 3), np.nan))
        ...     store = embedding_store(Path(folder, "cache"), clips, Path(folder), config, on_clip=lambda done: None)
        ...     store.clip(0).shape, [name for _, name, _ in store.failures]
        ((20, 3), ['b.wav'])
    """
    folder.mkdir(parents=True, exist_ok=True)
    shapes = array_shapes(clips, arrays)
    n_dims, grid = config.features.n_inputs, config.features.timeline
    kinds = {array_dtype(shapes.files[name]) for name in shapes.of}
    dtype = np.dtype(np.float16 if kinds == {np.dtype(np.float16)} else np.float32)
    starts, kept, failures, notes = [0], [], [], []
    path = folder / "embeddings.bin"
    with path.open("wb") as file:
        for number, clip in enumerate(clips):
            before = file.tell()
            try:
                first, end = span_frames(clip, shapes, grid)
                where = shapes.files[clip.filename]
                for block in frame_blocks(open_array(where)[first:end], where=f"{where.as_posix()}{_from(first)}"):
                    file.write(block.astype(dtype).tobytes())
            except ValueError as error:
                file.seek(before)  # what came before a NaN is written over, or left behind the end of the store
                failures.append((clip.where, clip.filename, str(error)))
            else:
                starts.append(starts[-1] + end - first)
                kept.append(number)
                # A window that did not fit in costs the last frame or two, which is no loss worth a remark.
                end_seconds = grid.seconds(shapes.of[clip.filename][0] + _LOST_FRAMES)
                remark = late_offset(0.0 if clip.onset is None else clip.onset, clip.offset, end_seconds)
                if remark:
                    notes.append((clip.where, clip.filename, remark))
            on_clip(number + 1)
    if not kept:
        raise ValueError(f"none of the {len(clips)} clips could be read; the first: {located(*failures[0])}")
    frames: NDArray[np.floating] = np.memmap(path, dtype, mode="r", shape=(starts[-1], n_dims))
    return FeatureStore(frames, np.array(starts, np.int64), tuple(kept), tuple(failures), tuple(notes))


def _from(first: int) -> str:
    """Where the frames of a message are counted from, when it is not the beginning of the file."""
    return f", counted from frame {first}" if first else ""
