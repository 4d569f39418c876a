"""Embeddings instead of audio: what the arrays of a data set have in common, checked before anything is learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from earmark.audio import find_clips, late_onset, probe_audio
from earmark.config import Config, for_embeddings
from earmark.embeddings import array_shape, embeddings_of, fits, frame_rate_beside, frame_rate_from
from earmark.labels.weak import WeakClip
from earmark.timeline import Timeline
from earmark.training.clips import ClipSet
from earmark.training.sources import Sources

_NAMED = 3  # wrong recordings in one message


@dataclass(frozen=True)
class ArrayShapes:
    """What the headers of a data set's arrays say.

    Args:
        of: (frames, dims) of every array that could be opened, by recording.
        files: the array of every recording that has one.
        missing: why there is none, or none that can be opened, for the others.

    Example:
        >>> shapes = ArrayShapes({"a.wav": (20, 768)}, {"a.wav": Path("a.wav.npy")}, {})
        >>> shapes.of["a.wav"]
        (20, 768)
    """

    of: dict[str, tuple[int, int]]
    files: dict[str, Path]
    missing: dict[str, str]


def settled(config: Config, clips: Sequence[WeakClip], sources: Sources) -> tuple[Config, str]:
    """Return the configuration with what the embeddings tell, and a remark about what was guessed (or nothing).

    Without embeddings it stays as it is. With them the network has no convolutions, and the frame rate is the
    configuration's; or stands beside the arrays in features.json or features.toml; or is told by the recordings'
    lengths.

    Args:
        config: of the run; of its features it may say the frame rate and the dims.
        clips: whose arrays count.
        sources: where the arrays lie, and perhaps the recordings, against whose lengths they are checked.

    Raises:
        ValueError: when no array is there, their dims differ, are not those the configuration says, or look swapped
            with the frames; when nothing tells the frame rate; when arrays are longer or shorter than the audio; or
            when the configuration is one of embeddings and there are none.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "a.wav.npy"), np.zeros((20, 768), np.float32))
        ...     _ = Path(folder, "features.json").write_text('{"frames_per_second": 2.0}')
        ...     config, _ = settled(Config(), clips, Sources(Path("weak.tsv"), embeddings=Path(folder)))
        >>> config.features.frames_per_second, config.features.n_dims, config.model.channels
        (2.0, 768, ())
    """
    folder = sources.embeddings
    if folder is None:
        if config.features.is_embeddings:
            raise ValueError(
                f"features.frames_per_second = {config.features.frames_per_second:g} says that this run learns from"
                " embeddings, and none are given - name their folder (--features DIR), or leave the setting out"
            )
        return config, ""
    if not folder.is_dir():
        raise ValueError(f"{folder.as_posix()}: there is no such folder of embeddings - is the path right?")
    if not clips:
        raise ValueError(f"{sources.labels}: lists no clips - nothing can be learned from it")
    shapes = array_shapes(clips, folder)
    if not shapes.of:
        first = shapes.missing[clips[0].filename]
        raise ValueError(
            f"none of the {len(shapes.missing)} recordings has embeddings that can be read; the first: {first}"
        )
    n_dims = _common_dims(shapes, config.features.n_dims)
    seconds = {} if sources.audio is None else _audio_seconds(shapes, sources.audio)
    rate, remark = _frame_rate(config, folder, shapes, seconds)
    _refuse_other_lengths(shapes, seconds, rate, is_guessed=remark != "")
    return for_embeddings(config, frames_per_second=rate, n_dims=n_dims), remark


def array_shapes(clips: Sequence[WeakClip], folder: Path) -> ArrayShapes:
    """Return the shapes of the clips' arrays, from their headers, and why others have none.

    Example:
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> list(array_shapes(clips, Path("no-such-folder")).missing)
        ['a.wav']
    """
    files, missing = embeddings_of(folder, (clip.filename for clip in clips))
    of = {}
    for name, file in files.items():
        try:
            of[name] = array_shape(file)
        except ValueError as error:
            missing[name] = str(error)
    return ArrayShapes(of, files, missing)


def span_frames(clip: WeakClip, shapes: ArrayShapes, grid: Timeline) -> tuple[int, int]:
    """Return the first frame of a clip in its recording's array, and the one behind its last.

    Raises:
        ValueError: when there is no such array, or the clip begins behind its end.

    Example:
        >>> clip = WeakClip("a.wav", frozenset({"dog"}), None, 1.0, 2.2, {}, "weak.tsv:2")
        >>> shapes = ArrayShapes({"a.wav": (20, 768)}, {"a.wav": Path("a.wav.npy")}, {})
        >>> span_frames(clip, shapes, Timeline.of_frame_rate(2.0))     # frames 2, 3 and 4, which begins at 2.0 s
        (2, 5)
    """
    if clip.filename not in shapes.of:
        raise ValueError(shapes.missing[clip.filename])
    n_frames = shapes.of[clip.filename][0]
    onset = 0.0 if clip.onset is None else clip.onset
    first = grid.frame(onset)
    end = n_frames if clip.offset is None else min(n_frames, grid.n_frames(round(clip.offset * grid.sample_rate)))
    if first >= end:
        raise ValueError(f"{shapes.files[clip.filename].as_posix()}: {late_onset(onset, grid.seconds(n_frames))}")
    return first, end


def on_frames(clips: ClipSet, config: Config) -> ClipSet:
    """Return the clips with their events counted from the beginning of their first frame.

    Sound is cut where a tagged span begins, embeddings only between two frames: a span from 1.4 s on begins with the
    frame in which that moment lies, perhaps at 1 s. Without embeddings the clips stay as they are.

    Example:
        >>> from earmark.config import FeatureConfig
        >>> from earmark.events import Event
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.strong_labels import StrongLabels
        >>> span = WeakClip("a.wav", frozenset({"dog"}), None, 1.25, 9.0, {}, "weak.tsv:2")
        >>> clips = clip_set([span], ["dog"], holdout_fraction=0)
        >>> clips = replace(clips, strong=(StrongLabels((Event(0.0, 2.0, "dog"),), ()),))     # from 1.25 to 3.25 s
        >>> moved = on_frames(clips, Config(features=FeatureConfig(frames_per_second=1.0, n_dims=768)))
        >>> moved.strong[0].events[0].onset, moved.strong[0].events[0].offset     # frame 0 begins at 1 s
        (0.25, 2.25)
    """
    if clips.strong is None or not config.features.is_embeddings:
        return clips
    grid = config.features.timeline
    onsets = [0.0 if clip.onset is None else clip.onset for clip in clips.clips]
    strong = tuple(
        None if labels is None else labels.later(max(0.0, onset - grid.seconds(grid.frame(onset))))
        for labels, onset in zip(clips.strong, onsets, strict=True)
    )
    return replace(clips, strong=strong)


def _common_dims(shapes: ArrayShapes, wanted: int | None) -> int:
    """The dims that all arrays have."""
    counts = Counter(dims for _, dims in shapes.of.values())
    usual = counts.most_common(1)[0][0]
    first = next(name for name, (_, dims) in shapes.of.items() if dims == usual)
    if len(counts) > 1:
        other, shape = next((name, shape) for name, shape in shapes.of.items() if shape[1] != usual)
        hint = "were they made by two networks?"
        if len({frames for frames, _ in shapes.of.values()}) == 1:
            hint = f"all have {shape[0]} on the first; are frames and dims swapped? Save array.T, (frames, dims)"
        elif shape[0] == usual:
            hint = "are frames and dims swapped in this one? Save array.T, (frames, dims)"
        raise ValueError(
            f"{shapes.files[other].as_posix()}: has shape {shape}, but {shapes.files[first].as_posix()} has"
            f" {shapes.of[first]}: every array must have the same number of dims, on its second axis - {hint}"
        )
    if wanted is not None and usual != wanted:
        hint = "are they of another network?"
        if shapes.of[first][0] == wanted:
            hint = "are frames and dims swapped? Save array.T, (frames, dims)"
        raise ValueError(
            f"{shapes.files[first].as_posix()}: has {usual} dims, shape {shapes.of[first]}, but features.n_dims ="
            f" {wanted} - {hint}"
        )
    return usual


def _audio_seconds(shapes: ArrayShapes, audio: Path) -> dict[str, float]:
    """The lengths of the recordings that are at hand."""
    seconds = {}
    for name, file in find_clips(audio, shapes.of)[0].items():
        try:
            seconds[name] = probe_audio(file).duration_seconds
        except ValueError:  # the array is there, and that is what counts
            continue
    return seconds


def _frame_rate(config: Config, folder: Path, shapes: ArrayShapes, seconds: dict[str, float]) -> tuple[float, str]:
    """The frame rate, and a remark where it was guessed."""
    given, beside = config.features.frames_per_second, frame_rate_beside(folder)
    if given is not None and beside is not None and abs(given / beside - 1) > 1e-6:
        raise ValueError(
            f"features.frames_per_second is {given:g}, but {folder.as_posix()} states {beside:g} in its features file"
            " - which of the two is right?"
        )
    stated = beside if given is None else given
    if stated is not None:
        return stated, ""
    found = frame_rate_from([shapes.of[name][0] for name in seconds], list(seconds.values()))
    if found is None:
        raise ValueError(
            f"{folder.as_posix()}: nothing tells how many frames make a second - add --set"
            ' features.frames_per_second=..., or a features.json beside the arrays, {"frames_per_second": 2.0}, or the'
            " recordings themselves with --audio"
        )
    remark = (
        f"the embeddings have {found.in_words}, as the lengths of {len(seconds)} recordings tell - if the network that"
        " made them has another rate, add --set features.frames_per_second=..."
    )
    return found.frames_per_second, remark


def _refuse_other_lengths(shapes: ArrayShapes, seconds: dict[str, float], rate: float, *, is_guessed: bool) -> None:
    """Raise ValueError when arrays do not have the frames that their recordings' lengths ask for."""
    wrong = [name for name, length in seconds.items() if not fits(shapes.of[name][0], length, rate)]
    if not wrong:
        return
    name = wrong[0]
    (frames, dims), length = shapes.of[name], seconds[name]
    hint = "is the hop another one, was the audio padded or cut, or are they of another network?"
    if fits(dims, length, rate):
        hint = f"its second axis, {dims}, would fit; are frames and dims swapped? Save array.T, (frames, dims)"
    elif len(wrong) == len(seconds) and not is_guessed:
        hint = f"{frames / length:.4g} per second would fit; {hint}"
    others = ", ".join(shapes.files[other].name for other in wrong[1:_NAMED])
    more = f" (and {len(wrong) - 1} more: {others}{', ...' if len(wrong) > _NAMED else ''})" if len(wrong) > 1 else ""
    raise ValueError(
        f"{shapes.files[name].as_posix()}: has {frames} frames for {length:.2f} s of audio; at {rate:.6g} frames per"
        f" second there should be about {length * rate:.0f}{more} - {hint}"
    )
