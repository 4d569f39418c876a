"""One run of the lung-sound benchmark: train a system with a seed, and keep what it says about recordings it never saw.

Everything is what `earmark train` does; only the features, which are the same for all runs, are computed once.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lung_sounds_decoding import TAILS, Scores, decoded
from lung_sounds_systems import Job, config_of, system_of
from numpy.typing import NDArray

from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.detection.tuning import tune_thresholds_from_tags
from earmark.files import write_atomic, write_atomic_with
from earmark.labels.strong import read_durations
from earmark.labels.weak import read_weak
from earmark.models.crnn import Network
from earmark.timeline import Timeline
from earmark.training.batch import collate
from earmark.training.checkpoint import Progress, load_checkpoint
from earmark.training.clips import ClipSet, clip_set
from earmark.training.feature_store import FeatureStore, feature_store
from earmark.training.held_out import batch_frames, choose_decoding
from earmark.training.joining import join
from earmark.training.loop import new_optimiser, train_network
from earmark.training.run import training_data
from earmark.training.sampling import batches_by_length
from earmark.training.sources import Sources, Split
from earmark.training.starting import begin, card_of, new_network
from earmark.writers import events_to_tsv

SPLIT = Split("split", "held-out")


def make_features(out: Path, audio: Path, config: Config) -> None:
    """Compute the features of all recordings, or find that they are there."""
    clips = join(Sources(out / "weak.tsv", audio), config, SPLIT).clips
    _store(out / "features", clips, audio, config)
    _store(out / "features-test", tests(out), audio, config)


def tests(out: Path) -> ClipSet:
    """The test recordings; their tags stand there for the format's sake alone."""
    rows = read_weak(out / "test.tsv")
    return clip_set(rows, sorted({label for row in rows for label in row.labels}), holdout_fraction=0)


def run(job: Job, *, out: Path, audio: Path, epochs: int | None, device: str, threads: int) -> float:
    """Train, score the recordings that were not trained on, leave out/results/NAME-SEED.npz, and return the seconds."""
    began = time.monotonic()
    torch.set_num_threads(threads)
    system, config = system_of(job.system), config_of(job, epochs=epochs)
    strong = None if system.strong is None else out / system.strong.format(seed=job.seed)
    clips = join(Sources(out / "weak.tsv", audio, strong), config, SPLIT).clips
    data = training_data(clips, _store(out / "features", clips, audio, config))
    folder = out / "runs" / job.name
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was cut off
    folder.mkdir(parents=True)
    begin(folder, config, clips, resume=False)
    network = new_network(data, config).to(device)
    train_network(
        network,
        new_optimiser(network, config),
        data,
        config,
        folder=folder,
        progress=Progress(),
        card=card_of(clips, data, config),
        on_row=lambda row: None,
    )
    network = load_checkpoint(folder / "best.safetensors").network.to(device).eval()

    scores = score(network, data.clips, data.store, data.held_out, config)
    tagged = np.array([scores.clips[data.clips.clips[index].filename] for index in data.held_out], dtype=np.float64)
    decoding = decoding_of(config, data.clips, data.held_out, tagged)
    if system.teaches is not None:
        learned = score(network, data.clips, data.store, data.training, config)
        tags = {clip.filename: clip.labels for clip in data.clips.clips}  # what is known is not asked of the network
        durations = read_durations(out / "durations.tsv")
        events = decoded(learned, decoding, timeline_of(config), durations, tags, TAILS)
        # Where a tag has no event, that there is none would be a lie: such a recording keeps its tags alone.
        complete = {name: found for name, found in events.items() if {event.label for event in found} == tags[name]}
        write_atomic(out / system.teaches.format(seed=job.seed), events_to_tsv(complete, with_scores=False))
    test_clips = tests(out)
    test_store = _store(out / "features-test", test_clips, audio, config)
    of_tests = score(network, test_clips, test_store, np.arange(len(test_store)), config)
    both = Scores(scores.frames | of_tests.frames, scores.clips | of_tests.clips)
    values = network.pool.parameter_values()
    about = {
        "system": job.system,
        "seed": job.seed,
        "decoding": decoding.to_dict(),
        "hop_seconds": timeline_of(config).hop_seconds,
        "seconds": round(time.monotonic() - began, 1),
        "device": device,
        "pooling": None if values is None else values.tolist(),
    }
    write_scores(out / "results" / f"{job.name}.npz", both, about)
    return time.monotonic() - began


def decoding_of(config: Config, clips: ClipSet, indices: NDArray[np.intp], clip_probs: NDArray[np.float64]) -> Decoding:
    """Return the settings of decoding: for frames as configured, for tags the best thresholds of the held-out tags."""
    start = choose_decoding(config, clips, indices, clip_probs).decoding
    tuned = tune_thresholds_from_tags(clip_probs, clips.tags[indices], clips.known[indices], start=start).decoding
    settings = tuple(
        replace(of_frames, clip_threshold=of_tags.clip_threshold)
        for of_frames, of_tags in zip(start.settings, tuned.settings, strict=True)
    )
    return Decoding(start.mode, start.classes, settings)


def timeline_of(config: Config) -> Timeline:
    """The grid of the output frames."""
    return Timeline(config.features.sample_rate, config.features.hop_samples).coarser(config.model.time_reduction)


def score(network: Network, clips: ClipSet, store: FeatureStore, indices: NDArray[np.intp], config: Config) -> Scores:
    """What the network says about the clips at `indices`."""
    device = next(network.parameters()).device
    reduction = config.model.time_reduction
    scores = Scores({}, {})
    most = batch_frames(config)
    with torch.no_grad():
        for chosen in batches_by_length(indices, store.lengths, max_frames=most, max_together=most):
            batch = collate(clips, store, chosen, time_reduction=reduction).to(device)
            output = network(batch.features, batch.mask)
            of_clips = network.pool(output.logits, output.mask, output.hidden).clamp(0, 1).cpu().numpy()
            of_frames = torch.sigmoid(output.logits.float()).cpu().numpy()
            for row, index in enumerate(chosen):
                name = clips.clips[index].filename
                scores.frames[name] = of_frames[row, : store.lengths[index] // reduction]
                scores.clips[name] = of_clips[row]
    return scores


def write_scores(path: Path, scores: Scores, about: dict[str, object]) -> None:
    """Write scores in half precision, all files in one array, and what they are of."""
    names = sorted(scores.frames)
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {
        "names": np.array(names),
        "n_frames": np.array([len(scores.frames[name]) for name in names]),
        "frames": np.concatenate([scores.frames[name] for name in names]).astype(np.float16),
        "clips": np.stack([scores.clips[name] for name in names]).astype(np.float32),
        "about": np.array(json.dumps(about)),
    }

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    write_atomic_with(path, write)


def read_scores(path: Path) -> tuple[Scores, dict[str, Any]]:
    """Read what `write_scores` wrote."""
    with np.load(path) as arrays:
        names = [str(name) for name in arrays["names"]]
        parts = np.split(arrays["frames"].astype(np.float32), np.cumsum(arrays["n_frames"])[:-1])
        clips = arrays["clips"]
        about = json.loads(str(arrays["about"]))
    return Scores(dict(zip(names, parts, strict=True)), dict(zip(names, clips, strict=True))), about


def _store(folder: Path, clips: ClipSet, audio: Path, config: Config) -> FeatureStore:
    """The features of the clips, which another run may have left there."""
    return feature_store(folder, clips.clips, audio, config, on_clip=lambda done: None)
