"""The figures of one run on the test clips, in the data and in every resample of their groups."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.comparing.ranking import loss_under, ranking_under
from earmark.comparing.scoring import ClipScores
from earmark.config import Config
from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.detection.tags import has_tag
from earmark.detection.tuning_events import tune_from_events
from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.weak import WeakClip
from earmark.metrics.bootstrap import resampled_weights
from earmark.metrics.by_file import CountsByFile, event_counts_by_file, segment_counts_by_file
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2
from earmark.metrics.curves.scored_clips import scored_clips
from earmark.metrics.curves.scores import score_table
from earmark.metrics.curves.weighted import WeighablePsds
from earmark.metrics.encoding import event_tables
from earmark.metrics.figures import MACRO
from earmark.metrics.resampled import figures_under
from earmark.timeline import Timeline
from earmark.training.batch import clip_name
from earmark.training.clips import ClipSet
from earmark.training.held_out import choose_decoding

N_RESAMPLES = 1000
N_RESAMPLES_PSDS = 200  # they cost a thousand times as much; the error of a standard error is 5 % then
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measured:
    """The figures of one run.

    Args:
        values: by name (1 + classes,), the figure of all classes first; NaN where there is none.
        resampled: by name (resamples, 1 + classes).

    Example:
        >>> Measured({"loss": np.array([0.3, 0.3])}, {"loss": np.array([[0.2, 0.2], [0.4, 0.4]])}).values["loss"][0]
        np.float64(0.3)
    """

    values: dict[str, Floats]
    resampled: dict[str, Floats]


@dataclass(frozen=True, eq=False)
class Truth:
    """What the clips of a part hold.

    Args:
        clips: tags, and what of them is known.
        events: for each clip its events, in seconds from its own start; None where nobody wrote them down.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> truth = Truth(clip_set(rows, ["dog"], holdout_fraction=0), (None, (Event(0.0, 1.0, "dog"),)))
        >>> truth.with_events.tolist()
        [1]
    """

    clips: ClipSet
    events: tuple[tuple[Event, ...] | None, ...]

    @property
    def with_events(self) -> NDArray[np.intp]:
        """The clips whose events are known."""
        return np.array([index for index, events in enumerate(self.events) if events is not None], dtype=np.intp)

    def names(self) -> list[str]:
        """A name for each clip, another one for each span of a file."""
        return [clip_name(clip) for clip in self.clips.clips]


def events_of_clips(
    clips: Sequence[WeakClip], strong: Mapping[str, Sequence[Event]]
) -> tuple[tuple[Event, ...] | None, ...]:
    """Return the events of each clip from its own start, cut at its ends; None for a file that `strong` does not name.

    Example:
        >>> span = WeakClip("day.wav", frozenset({"dog"}), None, 10.0, 20.0, {}, "weak.tsv:2")
        >>> events_of_clips([span], {"day.wav": [Event(8.0, 12.0, "dog"), Event(30.0, 31.0, "dog")]})
        ((Event(onset=0.0, offset=2.0, label='dog', score=None),),)
    """
    found: list[tuple[Event, ...] | None] = []
    for clip in clips:
        events = strong.get(clip.filename)
        if events is None or clip.onset is None or clip.offset is None:
            found.append(None if events is None else tuple(events))
            continue
        begin, end = clip.onset, clip.offset
        found.append(
            tuple(
                Event(max(event.onset, begin) - begin, min(event.offset, end) - begin, event.label)
                for event in events
                if event.onset < end and event.offset > begin
            )
        )
    return tuple(found)


def measure(
    held_out: Truth,
    of_held_out: ClipScores,
    test: Truth,
    of_test: ClipScores,
    config: Config,
    *,
    n_resamples: int = N_RESAMPLES,
    n_resamples_psds: int = N_RESAMPLES_PSDS,
) -> Measured:
    """Return the figures on the test clips; thresholds and decoding are chosen on the held-out ones.

    Where events are known: event F1, segment F1 and both PSDS, besides clip F1, average precision, AUROC and loss.

    Args:
        held_out: the clips to choose by.
        of_held_out: what the run says about them.
        test: the clips to be measured on.
        of_test: what the run says about those.
        config: of the run.
        n_resamples: of the test clips' groups.
        n_resamples_psds: the same for PSDS: the first of them.
    """
    group_of = np.unique(test.clips.groups, return_inverse=True)[1]
    drawn = resampled_weights(int(group_of.max()) + 1, n_resamples)  # (resamples, groups)
    once = np.ones((1, drawn.shape[1]), dtype=np.int64)
    decoding = chosen_decoding(held_out, of_held_out, config)
    counts = {"clip_f1": _clip_counts(test, of_test, decoding)}
    chosen = test.with_events
    if len(chosen):
        counts |= _event_counts(test, of_test, decoding, config)
    found = Measured({}, {})
    for name, by_clip in counts.items():
        of_group = group_of if name == "clip_f1" else group_of[chosen]
        found.values[name], found.resampled[name] = (_f1(weights, by_clip, of_group) for weights in (once, drawn))
    for weights, into in ((once, found.values), (drawn, found.resampled)):
        of_clips = weights[:, group_of].astype(np.float64)
        tags, known = test.clips.tags, test.clips.known
        into |= ranking_under(of_clips, of_test.log_y, tags, known)
        into["loss"] = loss_under(of_clips, of_test.log_y, of_test.log_not_y, tags, known)
    if len(chosen):
        for name, system in _psds(test, of_test, config).items():
            assert system.files == tuple(np.array(test.names())[chosen].tolist())
            of_file = group_of[chosen]
            found.values[name] = system.under(once[:, of_file])["psds"]
            found.resampled[name] = system.under(drawn[:n_resamples_psds][:, of_file])["psds"]
    return Measured({name: values[0] for name, values in found.values.items()}, found.resampled)


def chosen_decoding(held_out: Truth, scores: ClipScores, config: Config) -> Decoding:
    """Return thresholds from the held-out clips' tags and, where their events are known, everything from those.

    The same rule for every function: at a common 0.5 one whose probabilities are low would lose for that alone.
    """
    if config.decoding.mode != "duration":
        config = replace(config, decoding=replace(config.decoding, mode="tuned"))
    everyone = np.arange(len(held_out.clips.clips))
    decoding = choose_decoding(config, held_out.clips, everyone, scores.clip_probs).decoding
    chosen = held_out.with_events
    if len(chosen) == 0 or scores.frames is None or config.decoding.mode == "duration":
        return decoding
    names = held_out.names()
    tuned = tune_from_events(
        {names[index]: scores.frames[index] for index in chosen},
        {names[index]: list(_known_events(held_out, index)) for index in chosen},
        start=decoding,
        timeline=output_timeline(config),
    )
    return tuned.decoding


def output_timeline(config: Config) -> Timeline:
    """Return the grid of what the network says.

    Example:
        >>> output_timeline(Config()).hop_seconds
        0.04
    """
    return config.features.timeline.coarser(config.model.time_reduction)


def write_measured(path: Path, measured: Measured) -> None:
    """Write the figures of a run, completely or not at all.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_measured(Path(folder, "f.npz"), Measured({"loss": np.array([0.5])}, {"loss": np.array([[0.4]])}))
        ...     read_measured(Path(folder, "f.npz")).values["loss"].tolist()
        [0.5]
    """
    arrays: dict[str, Any] = {f"value/{name}": array for name, array in measured.values.items()}
    arrays |= {f"resampled/{name}": array for name, array in measured.resampled.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomic(path, buffer.getvalue())


def read_measured(path: Path) -> Measured:
    """Return what `write_measured` wrote."""
    found = Measured({}, {})
    with np.load(path, allow_pickle=False) as file:
        for name in file:
            kind, _, figure = name.partition("/")
            (found.values if kind == "value" else found.resampled)[figure] = file[name]
    return found


def _f1(weights: NDArray[np.int64], counts: CountsByFile, group_of: NDArray[np.intp]) -> Floats:
    """The macro F1 and that of every class in every resample: (resamples, 1 + classes)."""
    by_clip = np.column_stack(
        [counts.true_positives, counts.false_positives, counts.false_negatives, counts.substitutions, counts.n_segments]
    )
    columns = np.zeros((1, weights.shape[1], by_clip.shape[1]))
    np.add.at(columns[0], group_of, by_clip)
    f1 = figures_under(weights, columns, counts)["f1"][0]  # (resamples, 2 + classes): macro, micro, classes
    return np.column_stack([f1[:, MACRO], f1[:, 2:]])


def _clip_counts(test: Truth, scores: ClipScores, decoding: Decoding) -> CountsByFile:
    """Hits and misses of tags; what nobody listened for is neither."""
    found = has_tag(scores.clip_probs, decoding=decoding) & test.clips.known
    tags = test.clips.tags & test.clips.known
    hits, wrong, missed = (side.astype(np.int64) for side in (found & tags, found & ~tags, tags & ~found))
    none = np.zeros(len(tags), dtype=np.int64)
    return CountsByFile("clip", tuple(test.names()), test.clips.classes, hits, wrong, missed, none, none)


def _event_counts(test: Truth, scores: ClipScores, decoding: Decoding, config: Config) -> dict[str, CountsByFile]:
    """Hits and misses of events and of segments of one second, in the order of `test.with_events`."""
    assert scores.frames is not None
    names, grid = test.names(), output_timeline(config)
    reference = {names[index]: list(_known_events(test, index)) for index in test.with_events}
    predicted = {
        names[index]: decode(scores.frames[index], decoding=decoding, timeline=grid) for index in test.with_events
    }
    tables = event_tables(reference, predicted, classes=test.clips.classes, zero_length="drop")
    by_level = {"event_f1": event_counts_by_file(*tables[:2]), "segment_f1": segment_counts_by_file(*tables[:2])}
    assert all(counts.files == tuple(reference) for counts in by_level.values())
    return by_level


def _psds(test: Truth, scores: ClipScores, config: Config) -> dict[str, WeighablePsds]:
    """Both PSDS from frame probabilities as they are: nothing is chosen for them."""
    assert scores.frames is not None
    names = test.names()
    hop = output_timeline(config).hop_seconds
    table = score_table(
        {names[index]: scores.frames[index] for index in test.with_events}, classes=test.clips.classes, hop_seconds=hop
    )
    clips = scored_clips(table, {names[index]: list(_known_events(test, index)) for index in test.with_events})
    return {"psds_1": WeighablePsds(clips, SCENARIO_1), "psds_2": WeighablePsds(clips, SCENARIO_2)}


def _known_events(truth: Truth, index: int) -> tuple[Event, ...]:
    """The events of a clip of which they are known."""
    events = truth.events[index]
    assert events is not None
    return events
