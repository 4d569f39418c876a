"""The demo's report: one HTML page, and every picture in it as a PNG beside it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

import earmark
from earmark.audio import read_audio
from earmark.demo.steps import DemoResult
from earmark.files import write_atomic
from earmark.models.features import LogMel, mel_centres_hz
from earmark.report import plots
from earmark.report.page import Section, write_page
from earmark.report.page_blocks import Commands, KeyFigures, Picture, Sound, Table, wav_bytes
from earmark.report.run_curves import run_curves
from earmark.training.checkpoint import load_checkpoint

_SHOWN_CLIPS = 3


def write_report(out: Path, result: DemoResult) -> Path:
    """Write ``report.html`` and ``figures/*.png`` into `out` and return the page's path."""
    picture = _Pictures(out / "figures")
    sections = [
        _figures_of_merit(result, picture),
        _clips(result, picture),
        _parameter(result, picture),
        _training(result, picture),
        _go_on(out),
    ]
    best = max(result.systems, key=lambda name: result.systems[name].event_f1)
    lead = (
        f"Two detectors learned {len(result.systems[best].detector.classes)} kinds of sound from clips that say what"
        f" they contain, but not when. On soundscapes neither has met, {best} pooling marks events with a macro F1 of"
        f" {result.systems[best].event_f1:.2f}."
    )
    minutes = sum(result.seconds.values()) / 60
    path = out / "report.html"
    footer = f"earmark {earmark.__version__}; made by: earmark demo, in {minutes:.1f} minutes"
    write_page(path, title="What happened when", lead=lead, sections=sections, footer=footer)
    return path


class _Pictures:
    """Writes each figure as a PNG and returns it as a part of the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, figure: Figure, *, alt: str, caption: str = "") -> Picture:
        png = plots.png_bytes(figure)
        write_atomic(self.folder / f"{name}.png", png)
        return Picture(png, alt, caption)


def mean_durations(result: DemoResult) -> NDArray[np.float64]:
    """Return the mean length of each class's test events in seconds, (classes,)."""
    classes = next(iter(result.systems.values())).detector.classes
    lengths: dict[str, list[float]] = {label: [] for label in classes}
    for events in result.reference.values():
        for event in events:
            lengths[event.label].append(event.duration)
    return np.array([np.mean(lengths[label]) if lengths[label] else np.nan for label in classes])


def _figures_of_merit(result: DemoResult, picture: _Pictures) -> Section:
    """The tables: macro figures per system, and event F1 per class."""
    header = ["pooling", "event F1", "precision", "recall", "segment F1", "clip F1"]
    rows: list[list[str | float]] = []
    for name, system in result.systems.items():
        event, segment, clip = (counts.macro for counts in system.evaluation.levels)
        rows.append([name, event.f1, event.precision, event.recall, segment.f1, clip.f1])
    durations = mean_durations(result)
    classes = next(iter(result.systems.values())).detector.classes
    by_class = {name: system.evaluation.event.f1 for name, system in result.systems.items()}
    n_clips = len(result.reference)
    text = (
        f"{n_clips} held-out soundscapes, made from another seed with other parameters than the training clips. An"
        " event counts as found when its onset is within 200 ms and its offset within 200 ms or 20 % of its length;"
        f" segments are one second long. The demo fails when an event F1 is below {result.required_f1}."
    )
    return Section(
        "How well",
        text,
        [
            KeyFigures({f"event F1, {name}": f"{system.event_f1:.2f}" for name, system in result.systems.items()}),
            Table("Macro averages over the classes", header, rows),
            picture(
                "event_f1_by_class",
                plots.metrics_by_class_figure(classes=classes, mean_durations_seconds=durations, scores=by_class),
                alt="Dots: event F1 of every class for each pooling function, classes sorted by duration",
                caption="Event F1 class by class, from the shortest sounds to the longest.",
            ),
        ],
    )


def _clips(result: DemoResult, picture: _Pictures) -> Section:
    """A few clips, with what both systems think of every frame."""
    blocks: list[Picture | Sound] = []
    for filename in _chosen_clips(result):
        figure, samples, sample_rate = _clip_figure(result, filename)
        stem = Path(filename).stem
        blocks.append(
            picture(
                f"clip_{stem}",
                figure,
                alt=f"Spectrogram of {filename} and the frame probabilities of each class in it",
            )
        )
        blocks.append(Sound(wav_bytes(samples, sample_rate=sample_rate), f"Listen to {filename}"))
    frame_seconds = next(iter(result.systems.values())).detector.info.timeline.hop_seconds
    text = (
        f"The curves are the probabilities of every {1000 * frame_seconds:.0f} ms. Shaded is what is there; the"
        " bars below the curves are what was marked. The thin dashed lines lie at θ·yᶜ, with θ = n/(n+1) for power"
        " pooling and 1/2 for linear softmax: in a clip tagged with the class, training pushes the frames above the"
        " line up and the frames below it down."
    )
    return Section("What it hears", text, blocks)


def _parameter(result: DemoResult, picture: _Pictures) -> Section:
    """n per class against duration."""
    values = _n_values(result)
    classes = next(iter(result.systems.values())).detector.classes
    durations = mean_durations(result)
    figure = plots.pooling_parameter_figure(names=classes, mean_durations_seconds=durations, n_values=values)
    text = (
        "Power pooling learns one exponent n per class: the larger it is, the fewer frames speak for a clip."
        f" {_extremes(classes, values['power'], durations)}Linear softmax is n = 1 for all."
    )
    alt = "Dots: the learned n of every class over its mean event duration"
    return Section("What power pooling learned", text, [picture("n_against_duration", figure, alt=alt)])


def _extremes(classes: Sequence[str], n: NDArray[np.float64], durations: NDArray[np.float64]) -> str:
    """Which class has learned the largest n and which the smallest, so that the text says what the picture shows."""
    if np.ptp(n) == 0:
        return ""

    def told(index: int) -> str:
        length = "" if np.isnan(durations[index]) else f", with events of {durations[index]:.1f} s"
        return f"{classes[index]} (n = {n[index]:.2f}{length})"

    return f"Here {told(int(np.argmax(n)))} has the largest, {told(int(np.argmin(n)))} the smallest. "


def _training(result: DemoResult, picture: _Pictures) -> Section:
    """Loss, held-out figures and n over time."""
    curves = [run_curves(name, system.run) for name, system in result.systems.items()]
    classes = next(iter(result.systems.values())).detector.classes
    figure = plots.training_figure(curves, classes=classes)
    rows: list[list[str | float]] = [[name, seconds] for name, seconds in result.seconds.items()]
    return Section(
        "How it learned",
        "The held-out figures are about tags only: no onset or offset was ever shown to either network.",
        [
            picture("training", figure, alt="Curves: training loss, held-out figures, n per class"),
            Table("What each step took, in seconds", ["step", "seconds"], rows, digits=1),
        ],
    )


def _go_on(out: Path) -> Section:
    """What to type next."""
    test = out / "soundscapes" / "test"
    commands: list[list[str | Path]] = [
        ["detect", test / "audio" / "0000.wav", "--model", out / "power.onnx"],
        ["evaluate", "--reference", test / "strong.tsv", "--predicted", out / "detected" / "power.tsv"],
        ["train", "my_tags.tsv", "--audio", "my_clips", "--out", "runs/mine"],
    ]
    return Section(
        "Go on from here",
        "The same with your own sounds needs a table of file names and tags.",
        [Commands("\n".join(shlex.join(["earmark", *map(str, command)]) for command in commands))],
    )


def _chosen_clips(result: DemoResult) -> list[str]:
    """The clips with the most classes, and among those the ones that hold long and short events."""

    def variety(filename: str) -> tuple[int, float]:
        lengths = [event.duration for event in result.reference[filename]]
        classes = {event.label for event in result.reference[filename]}
        return len(classes), max(lengths, default=0.0) - min(lengths, default=0.0)

    return sorted(result.reference, key=variety, reverse=True)[:_SHOWN_CLIPS]


def _clip_figure(result: DemoResult, filename: str) -> tuple[Figure, NDArray[np.float32], int]:
    """The picture of one clip, and its sound."""
    first = next(iter(result.systems.values()))
    config = load_checkpoint(first.run / "best.safetensors").network.config.features
    log_mel = LogMel(config)
    audio = read_audio(result.test_audio / filename, sample_rate=config.sample_rate)
    with torch.no_grad():
        features = log_mel(torch.from_numpy(audio.samples)[None])[0].numpy()
    clip_probs = {
        name: system.detector.tags(system.analyses[filename])[0].clip_probs for name, system in result.systems.items()
    }
    longest: dict[str, float] = {}
    for event in result.reference[filename]:
        longest[event.label] = max(longest.get(event.label, 0.0), event.duration)
    present = sorted(longest, key=lambda label: longest[label])
    figure = plots.clip_figure(
        log_mel=features,
        feature_timeline=log_mel.timeline,
        frame_probs={name: system.analyses[filename].frame_probs for name, system in result.systems.items()},
        classes=first.detector.classes,
        shown_classes=present,
        timeline=first.detector.info.timeline,
        reference=result.reference[filename],
        detected={name: system.events[filename] for name, system in result.systems.items()},
        clip_probs=clip_probs,
        sign_thresholds={name: _sign_threshold(result, name, probs) for name, probs in clip_probs.items()},
        mel_frequencies=mel_centres_hz(config),
        title=filename,
    )
    return figure, audio.samples, audio.sample_rate


def _sign_threshold(result: DemoResult, name: str, clip_probs: NDArray[np.float64]) -> NDArray[np.float64]:
    """theta * y^c, from the pooling function of the run itself, (classes,)."""
    pool = load_checkpoint(result.systems[name].run / "best.safetensors").network.pool
    return pool.sign_threshold(torch.from_numpy(clip_probs)).numpy()


def _n_values(result: DemoResult) -> Mapping[str, NDArray[np.float64]]:
    """n per class of the systems that learn it."""
    found = {name: system.detector.info.pooling_values for name, system in result.systems.items()}
    return {name: np.array(values) for name, values in found.items() if values is not None}
