"""Figures on held-out clips, and the decoding settings that come from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from oracles.training_cases import SMALL, changed, clips_in_memory, lively_network
from torch.nn import functional

from earmark.config import Config, TrainingConfig
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.models.crnn import Network
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore
from earmark.training.held_out import batch_frames, choose_decoding, held_out_figures, start_decoding, tag_f1

N_CLIPS = 13


def clips(rng: np.random.Generator) -> tuple[ClipSet, FeatureStore]:
    """Clips of very different length, three classes, partly known."""
    lengths = rng.permutation([10, 12, 14, 40, 60, 62, 80, 82, 84, 100, 300, 500, 700])
    features = [rng.normal(-7.0, 1.5, (length, 16)) for length in lengths]
    return clips_in_memory(features, rng.random((N_CLIPS, 3)) < 0.5, known=rng.random((N_CLIPS, 3)) < 0.8)


def one_by_one(network: Network, store: FeatureStore, indices: list[int]) -> NDArray[np.float32]:
    """Clip probabilities, every clip by itself and in one piece."""
    network.eval()
    rows = []
    with torch.no_grad():
        for index in indices:
            output = network(torch.from_numpy(store.clip(index).astype(np.float32))[None])
            rows.append(network.pool(output.logits, None, output.hidden)[0].numpy())
    return np.stack(rows)


# --- laws ---


@pytest.mark.parametrize("batch_seconds", [0.5, 4.0, 1000.0])
@pytest.mark.parametrize("piece_seconds", [5.0, 60.0])
def test_every_clip_has_its_own_probability_in_its_own_row(
    batch_seconds: float, piece_seconds: float, rng: np.random.Generator
) -> None:
    config = changed(training={"batch_seconds": batch_seconds, "piece_seconds": piece_seconds, "context_seconds": 1.0})
    network = lively_network(config)
    clip_set, store = clips(rng)
    indices = rng.permutation(N_CLIPS)[:10]
    figures = held_out_figures(network, clip_set, store, indices, config)
    np.testing.assert_allclose(figures.clip_probs, one_by_one(network, store, indices.tolist()), atol=1e-4)


def test_the_loss_is_the_mean_over_what_is_known(rng: np.random.Generator) -> None:
    network = lively_network()
    clip_set, store = clips(rng)
    indices = np.array([4, 2, 9])
    figures = held_out_figures(network, clip_set, store, indices, SMALL)
    probs = torch.from_numpy(one_by_one(network, store, indices.tolist()))
    known, tags = torch.from_numpy(clip_set.known[indices]), torch.from_numpy(clip_set.tags[indices])
    expected = functional.binary_cross_entropy(probs[known], tags[known].float())
    assert figures.loss == pytest.approx(expected.item(), rel=1e-4)


def test_looking_changes_nothing_in_the_network(rng: np.random.Generator) -> None:
    network = lively_network(changed(model={"conv_dropout": 0.5, "rnn_dropout": 0.5})).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    clip_set, store = clips(rng)
    first, again = (held_out_figures(network, clip_set, store, np.arange(N_CLIPS), SMALL) for _ in "12")
    torch.testing.assert_close(network.state_dict(), before, rtol=0, atol=0)
    assert network.training
    assert all(module.training for module in network.modules())
    np.testing.assert_array_equal(first.clip_probs, again.clip_probs)


def test_the_figure_of_a_class_is_its_best_f1_over_all_thresholds(rng: np.random.Generator) -> None:
    network = lively_network()
    clip_set, store = clips(rng)
    indices = np.arange(N_CLIPS)
    figures = held_out_figures(network, clip_set, store, indices, SMALL)
    best = []
    for column in range(3):
        known = clip_set.known[:, column]
        tags, probs = clip_set.tags[known, column], figures.clip_probs[known, column]
        scores = [2 * (tags & (probs >= t)).sum() / (tags.sum() + (probs >= t).sum()) for t in probs]
        best.append(max(scores))
    assert figures.macro_f1 == pytest.approx(np.mean(best))


def test_without_a_class_that_can_be_judged_there_is_no_f1(rng: np.random.Generator) -> None:
    features = [rng.normal(-7.0, 1.5, (20, 16)) for _ in range(3)]
    clip_set, store = clips_in_memory(features, np.zeros((3, 3)))
    assert held_out_figures(lively_network(), clip_set, store, np.arange(3), SMALL).macro_f1 is None


# --- laws: decoding ---


def decoding_of(rng: np.random.Generator, **decoding: Any) -> Decoding:
    """The settings a configuration leads to, with two of three classes heard in the held-out clips."""
    tags = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]], bool)
    probs = np.array([[0.9, 0.2, 0.1], [0.3, 0.4, 0.1], [0.8, 0.7, 0.1], [0.1, 0.1, 0.1]])
    clip_set, _ = clips_in_memory([rng.normal(size=(4, 16))] * 4, tags)
    tuned = choose_decoding(changed(decoding=decoding), clip_set, np.arange(4), probs)
    assert tuned.untuned == (("class 2",) if decoding.get("mode") == "tuned" else ())
    return tuned.decoding


LENGTHS = {"median_seconds": 0.5, "max_gap_seconds": 0.25, "min_event_seconds": 0.75}


def test_mode_fixed_takes_the_settings_as_they_are(rng: np.random.Generator) -> None:
    found = decoding_of(rng, mode="fixed", threshold=0.6, low_threshold=0.3, **LENGTHS)
    expected = ClassDecoding(threshold=0.6, low_threshold=0.3, clip_threshold=0.6, **LENGTHS)
    assert found == Decoding("fixed", ("class 0", "class 1", "class 2"), (expected,) * 3)


def test_durations_are_in_sorted_order_whatever_the_order_of_the_classes() -> None:
    # A run that continues a model has the model's classes first.
    config = changed(decoding={"mode": "duration", "mean_seconds": (0.9, 3.0, 6.0)})
    found = start_decoding(config, ("dog", "owl", "cat"))
    windows = {label: found.of(label).median_seconds for label in found.classes}
    assert windows == pytest.approx({"cat": 0.3, "dog": 1.0, "owl": 2.0})
    with pytest.raises(ValueError, match=r"one entry per class, 2 \(cat, dog\), got 3"):
        start_decoding(config, ("dog", "cat"))


def test_mode_duration_takes_only_the_windows_from_the_durations(rng: np.random.Generator) -> None:
    found = decoding_of(rng, mode="duration", mean_seconds=(0.9, 3.0, 6.0), threshold=0.6, low_threshold=0.3, **LENGTHS)
    assert found.mode == "duration"
    assert [one.median_seconds for one in found.settings] == pytest.approx([0.3, 1.0, 2.0])  # a third of each
    for one in found.settings:
        assert (one.threshold, one.low_threshold, one.clip_threshold) == (0.6, 0.3, 0.6)
        assert (one.max_gap_seconds, one.min_event_seconds) == (0.25, 0.75)


def test_mode_tuned_chooses_thresholds_and_keeps_the_lengths(rng: np.random.Generator) -> None:
    found = decoding_of(rng, mode="tuned", threshold=0.6, low_threshold=0.3, **LENGTHS)
    assert found.mode == "tuned"
    # Class 0: half way between 0.3 and 0.8; class 1: between 0.2 and 0.4; class 2 is never heard and stays.
    assert [one.threshold for one in found.settings] == pytest.approx([0.55, 0.3, 0.6])
    assert [one.clip_threshold for one in found.settings] == pytest.approx([0.55, 0.3, 0.6])
    assert found.settings[2].low_threshold == 0.3
    assert all((one.median_seconds, one.min_event_seconds) == (0.5, 0.75) for one in found.settings)


def test_mode_tuned_without_held_out_clips_tunes_nothing(rng: np.random.Generator) -> None:
    clip_set, _ = clips_in_memory([rng.normal(size=(4, 16))] * 2, np.eye(2))
    config = changed(decoding={"mode": "tuned", "threshold": 0.4, "low_threshold": 0.4})
    found = choose_decoding(config, clip_set, np.zeros(0, np.intp), np.zeros((0, 2)))
    assert found.untuned == ("class 0", "class 1")
    assert found.f1 == {}
    assert [one.threshold for one in found.decoding.settings] == [0.4, 0.4]


def test_equal_thresholds_are_no_hysteresis(rng: np.random.Generator) -> None:
    found = decoding_of(rng, mode="fixed", threshold=0.5, low_threshold=0.5)
    assert {one.low_threshold for one in found.settings} == {None}


# --- worked numbers ---


def test_f1_of_tags_by_hand(rng: np.random.Generator) -> None:
    # Class 0: two of three found, one found in vain, 2 * 2 / (3 + 3); class 1: its only clip is not known, so it has
    # no figure; class 2: one clip, not found.
    tags = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]], bool)
    known = np.array([[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], bool)
    probs = np.array([[0.9, 0.9, 0.0], [0.5, 0.9, 0.0], [0.4, 0.0, 0.4], [0.7, 0.0, 0.0], [0.1, 0.0, 0.0]])
    clip_set, _ = clips_in_memory([rng.normal(size=(4, 16))] * 5, tags, known=known)
    decoding = Decoding.fixed(clip_set.classes)
    assert tag_f1(probs, clip_set, np.arange(5), decoding) == pytest.approx({"class 0": 2 / 3, "class 2": 0.0})
    assert tag_f1(probs[:0], clip_set, np.zeros(0, np.intp), decoding) == {}


def test_the_bound_on_a_batch() -> None:
    assert batch_frames(Config(training=TrainingConfig(batch_seconds=320.0))) == 16000  # of 20 ms
    assert batch_frames(Config(training=TrainingConfig(batch_seconds=1e-6))) == 1


# --- wrong input ---


def test_durations_must_be_one_per_class(rng: np.random.Generator) -> None:
    message = r"mean_seconds must have one entry per class, 3 \(class 0, class 1, class 2\), got 2"
    with pytest.raises(ValueError, match=message):
        decoding_of(rng, mode="duration", mean_seconds=(0.9, 3.0))
    with pytest.raises(ValueError, match=r"mean_seconds\['class 1'\] must be above 0, got 0.0 - is it in seconds"):
        decoding_of(rng, mode="duration", mean_seconds=(0.9, 0.0, 1.0))


def test_weights_that_are_not_numbers_are_noticed(rng: np.random.Generator) -> None:
    network = lively_network()
    with torch.no_grad():
        network.crnn.linear.weight[0, 0] = torch.nan
    clip_set, store = clips(rng)
    with pytest.raises(ValueError, match=r"the network says NaN about the held-out clips .*\.wav, .*\.wav - are they"):
        held_out_figures(network, clip_set, store, np.arange(3), SMALL)
