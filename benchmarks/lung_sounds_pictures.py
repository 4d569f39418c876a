"""Pictures of the lung-sound benchmark: recordings of new patients, what was marked, and what three systems thought."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from lung_sounds_data import CLASSES
from lung_sounds_systems import Job, config_of
from lung_sounds_table import AS_TAGS_ALLOW, Truth, found_by
from lung_sounds_training import read_scores, timeline_of

from earmark.audio import read_audio
from earmark.models.features import LogMel, mel_centres_hz
from earmark.report.canvas import save
from earmark.report.clip_plots import clip_figure
from earmark.timeline import Timeline

SHOWN = ("linear", "power-ours", "strong")  # seed 0 of each
N_EVENTS = 3  # a recording is shown for a class that it has at least so often


def draw(out: Path, audio: Path, docs: Path) -> None:
    """Draw one recording for each class: the first of the new patients that has enough of it, in order of names."""
    truth = Truth.of(out, "inter")
    config = config_of(Job(SHOWN[0], 0))
    log_mel = LogMel(config.features)
    shown: set[str] = set()
    for label in CLASSES:
        name = next(
            name
            for name, events in sorted(truth.events.items())
            if name not in shown and sum(event.label == label for event in events) >= N_EVENTS
        )
        shown.add(name)
        paths = {system: out / "results" / f"{system}-0.npz" for system in SHOWN}
        alone = {system: read_scores(path)[0].only([name]) for system, path in paths.items()}
        detected = {system: found_by(path, out, truth, how=AS_TAGS_ALLOW)[1][name] for system, path in paths.items()}
        samples = torch.from_numpy(read_audio(audio / name, sample_rate=config.features.sample_rate).samples)
        with torch.no_grad():
            frames = log_mel(samples[None])[0].numpy()
        figure = clip_figure(
            log_mel=frames,
            feature_timeline=Timeline(config.features.sample_rate, config.features.hop_samples),
            frame_probs={system: alone[system].frames[name] for system in SHOWN},
            classes=CLASSES,
            shown_classes=sorted({event.label for event in truth.events[name]} | {label}),
            timeline=timeline_of(config),
            reference=truth.events[name],
            detected=detected,
            clip_probs={system: alone[system].clips[name] for system in SHOWN},
            sign_thresholds={system: np.full(len(CLASSES), np.nan) for system in SHOWN},
            mel_frequencies=mel_centres_hz(config.features),
            title=f"{name} (SPRSound, CC BY 4.0)",
        )
        save(figure, docs / f"lung-sounds-{label}.png")
