"""The settings of a run: what they derive, and what they refuse."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

from earmark.config import (
    AugmentConfig,
    Config,
    DecodingConfig,
    FeatureConfig,
    ModelConfig,
    QuotaConfig,
    TeacherConfig,
    TrainingConfig,
    for_embeddings,
    not_deployable,
)
from earmark.config import PoolingConfig as Pooling

# --- laws ---


def test_the_defaults_are_valid_and_nothing_can_be_changed_in_place() -> None:
    config = Config()
    for section in dataclasses.fields(config):
        values = getattr(config, section.name)
        first = dataclasses.fields(values)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{first}'"):
            setattr(values, first, getattr(values, first))


def test_configurations_with_the_same_settings_are_equal() -> None:
    assert Config() == Config()
    assert Config(training=TrainingConfig(seed=1)) != Config()
    assert hash(Config()) == hash(dataclasses.replace(Config(), features=FeatureConfig()))


def test_augmentation_is_off_unless_set() -> None:
    augment = AugmentConfig()
    assert augment.time_shift_seconds == augment.mixup == augment.gain_db == 0
    assert augment.n_mel_masks == augment.n_time_masks == 0


def test_a_frame_of_the_default_features_never_depends_on_the_clip() -> None:
    features = FeatureConfig()
    assert (features.framing, features.dynamic_range_db, features.clip_frames) == ("hop", None, None)


# --- worked numbers ---


def test_derived_values() -> None:
    assert FeatureConfig(sample_rate=22050).top_hz == 11025.0  # half of 22050
    assert FeatureConfig(max_hz=7000.0).top_hz == 7000.0
    assert ModelConfig(pool_time=(1, 2, 2, 3)).time_reduction == 12  # 1 * 2 * 2 * 3
    assert ModelConfig(channels=(), pool_time=(), pool_mel=()).time_reduction == 1


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (Config(), None),
        (Config(features=FeatureConfig(dynamic_range_db=80.0)), "loudest moment of the recording"),
        (Config(pooling=Pooling(name="hierarchical", inner="power", groups=(5, 5))), "train with its inner function"),
    ],
)
def test_what_can_be_deployed(config: Config, reason: str | None) -> None:
    found = not_deployable(config)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert reason in found


# --- wrong input ---

_NAN, _INF = float("nan"), float("inf")

# Section, setting, value, and the message that must come.
_WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (FeatureConfig, {"sample_rate": 0}, "features.sample_rate must be at least 100, got 0 - is it in kHz?"),
    (FeatureConfig, {"n_mels": -1}, "features.n_mels must be at least 1, got -1"),
    (FeatureConfig, {"window_samples": 0}, "features.window_samples must be at least 1, got 0"),
    (FeatureConfig, {"hop_samples": 0}, "features.hop_samples must be at least 1, got 0"),
    (
        FeatureConfig,
        {"hop_samples": 1025},
        "features.hop_samples must be at most window_samples = 1024, got 1025 - samples between",
    ),
    (FeatureConfig, {"floor": 0.0}, "features.floor must be above 0, got 0.0"),
    (FeatureConfig, {"floor": _NAN}, "features.floor must be above 0, got nan"),
    (FeatureConfig, {"dynamic_range_db": -80.0}, "features.dynamic_range_db must be above 0, got -80.0"),
    (FeatureConfig, {"dynamic_range_db": _NAN}, "features.dynamic_range_db must be above 0, got nan"),
    (FeatureConfig, {"clip_frames": 0}, "features.clip_frames must be at least 1, got 0"),
    (
        FeatureConfig,
        {"window": "han"},
        "features.window must be one of hann, hamming, got 'han' - did you mean 'hann'?",
    ),
    (FeatureConfig, {"spectrum": "energy"}, "features.spectrum must be one of power, magnitude, got 'energy'"),
    (FeatureConfig, {"mel_scale": "HTK"}, "features.mel_scale must be one of slaney, htk, got 'HTK'"),
    (FeatureConfig, {"framing": "center"}, "features.framing must be one of hop, centred, got 'center'"),
    (FeatureConfig, {"min_hz": -1.0}, "features.min_hz and max_hz must satisfy 0 <= min_hz < max_hz"),
    (FeatureConfig, {"min_hz": 8000.0}, "<= sample_rate / 2 = 8000, got 8000 and 8000"),
    (FeatureConfig, {"max_hz": 8001.0}, "<= sample_rate / 2 = 8000, got 0 and 8001"),
    (FeatureConfig, {"max_hz": _NAN}, "got 0 and nan"),
    (ModelConfig, {"pool_time": (2,)}, "model.pool_time must have one entry per block, 4 as model.channels has, got 1"),
    (ModelConfig, {"pool_mel": (2,) * 5}, "model.pool_mel must have one entry per block, 4 as .* got 5"),
    (ModelConfig, {"channels": (16, 0, 16, 16)}, "model.channels must be at least 1, got 0"),
    (ModelConfig, {"pool_time": (0, 1, 1, 1)}, "model.pool_time must be at least 1, got 0"),
    (ModelConfig, {"pool_mel": (1, 1, 1, 0)}, "model.pool_mel must be at least 1, got 0"),
    (ModelConfig, {"kernel_size": 4}, "model.kernel_size must be odd, got 4 - else frames would shift in time"),
    (ModelConfig, {"kernel_size": -3}, "model.kernel_size must be at least 1, got -3"),
    (ModelConfig, {"rnn_layers": -1}, "model.rnn_layers must be at least 0, got -1"),
    (ModelConfig, {"rnn_units": 0}, "model.rnn_units must be at least 1, got 0"),
    (ModelConfig, {"batch_norm_eps": 0.0}, "model.batch_norm_eps must be above 0, got 0.0"),
    (ModelConfig, {"batch_norm_momentum": 1.5}, "model.batch_norm_momentum must be above 0 and at most 1, got 1.5"),
    (ModelConfig, {"conv_dropout": 1.0}, "model.conv_dropout must be at least 0 and at most 0.99, got 1.0"),
    (ModelConfig, {"rnn_dropout": -0.1}, "model.rnn_dropout must be at least 0 and at most 0.99, got -0.1"),
    (ModelConfig, {"pool": "mean"}, "model.pool must be one of max, average, got 'mean'"),
    (ModelConfig, {"activation": "Relu"}, "model.activation must be one of .* did you mean 'relu'?"),
    (ModelConfig, {"init": "he"}, "model.init must be one of xavier, baseline2019, got 'he'"),
    (FeatureConfig, {"frames_per_second": 0.0}, "features.frames_per_second must be above 0.000277778 and at most"),
    (FeatureConfig, {"frames_per_second": 2.0, "n_dims": 0}, "features.n_dims must be at least 1, got 0"),
    (FeatureConfig, {"n_dims": 768}, "features.frames_per_second must be given with features.n_dims = 768, got none"),
    (
        FeatureConfig,
        {"frames_per_second": 2.0, "n_mels": 32},
        "features.n_mels = 32 is a setting of log-mel features, and features.frames_per_second = 2 says that these are",
    ),
    (ModelConfig, {"projection_units": -1}, "model.projection_units must be at least 0, got -1"),
    (
        ModelConfig,
        {"channels": (), "pool_time": (), "pool_mel": (), "kernel_size": 5},
        "model.kernel_size = 5 is a setting of the convolutions, and model.channels = [] says that there are none",
    ),
    (TrainingConfig, {"keep_weight": -1.0}, "training.keep_weight must be at least 0, got -1.0"),
    (TrainingConfig, {"epochs": 0}, "training.epochs must be at least 1, got 0"),
    (TrainingConfig, {"batch_seconds": 0.0}, "training.batch_seconds must be above 0, got 0.0"),
    (TrainingConfig, {"piece_seconds": 0.0}, "training.piece_seconds must be above 0, got 0.0"),
    (TrainingConfig, {"learning_rate": 0.0}, "training.learning_rate must be above 0, got 0.0"),
    (TrainingConfig, {"learning_rate": _INF}, "training.learning_rate must be a finite number, got inf"),
    (TrainingConfig, {"pooling_learning_rate_factor": 0.0}, "pooling_learning_rate_factor must be above 0, got 0.0"),
    (TrainingConfig, {"context_seconds": -1.0}, "training.context_seconds must be at least 0, got -1.0"),
    (TrainingConfig, {"warmup_epochs": -0.5}, "training.warmup_epochs must be at least 0, got -0.5"),
    (TrainingConfig, {"gradient_clip": -1.0}, "training.gradient_clip must be at least 0, got -1.0"),
    (TrainingConfig, {"checkpoint_seconds": -1.0}, "training.checkpoint_seconds must be at least 0, got -1.0"),
    (TrainingConfig, {"seed": -1}, "training.seed must be at least 0, got -1"),
    (TrainingConfig, {"holdout_fraction": 0.95}, "holdout_fraction must be at least 0 and at most 0.9, got 0.95"),
    (TrainingConfig, {"validate_every_epochs": 0}, "training.validate_every_epochs must be at least 1, got 0"),
    (TrainingConfig, {"snapshot_epochs": (0,)}, "training.snapshot_epochs must be at least 1 and at most 40, got 0"),
    (TrainingConfig, {"snapshot_epochs": (40, 41)}, "snapshot_epochs must be at least 1 and at most 40, got 41"),
    (TrainingConfig, {"balance": "class"}, "training.balance must be one of .* did you mean 'classes'?"),
    (TrainingConfig, {"select": "best"}, "training.select must be one of f1, events, loss, last, got 'best'"),
    (TrainingConfig, {"schedule": "step"}, "training.schedule must be one of cosine, ramp, plateau, got 'step'"),
    (TrainingConfig, {"plateau_patience": -1}, "training.plateau_patience must be at least 0, got -1"),
    (TrainingConfig, {"method": "teacher"}, "training.method must be one of auto, supervised, mean_teacher"),
    (TrainingConfig, {"unlabelled_seconds": 0.0}, "training.unlabelled_seconds must be above 0, got 0.0"),
    (TrainingConfig, {"frame_weight": -1.0}, "training.frame_weight must be at least 0, got -1.0"),
    (QuotaConfig, {"weak": -1}, "quotas.weak must be at least 0, got -1"),
    (TeacherConfig, {"weight": -1.0}, "teacher.weight must be at least 0, got -1.0"),
    (TeacherConfig, {"ramp_epochs": 0.0}, "teacher.ramp_epochs must be above 0, got 0.0"),
    (TeacherConfig, {"momentum": 1.5}, "teacher.momentum must be at least 0 and at most 1, got 1.5"),
    (TeacherConfig, {"noise_db": -3.0}, "teacher.noise_db must be at least 0, got -3.0"),
    (TeacherConfig, {"batch_norm": "both"}, "teacher.batch_norm must be one of own, student, got 'both'"),
    (TeacherConfig, {"deploy": "both"}, "teacher.deploy must be one of teacher, student, got 'both'"),
    (TrainingConfig, {"loss": "bce"}, "training.loss must be one of log, clamped, got 'bce'"),
    *[
        (AugmentConfig, {entry.name: -1}, f"augment.{entry.name} must be at least 0, got -1")
        for entry in dataclasses.fields(AugmentConfig)
    ],
    (
        DecodingConfig,
        {"mode": "tune"},
        "decoding.mode must be one of fixed, duration, tuned, got 'tune' - did you mean",
    ),
    (DecodingConfig, {"mode": "duration"}, "mean_seconds must be given when decoding.mode is 'duration', got none"),
    (DecodingConfig, {"mean_seconds": (1.0,)}, "given only when decoding.mode is 'duration', got mode 'fixed'"),
    (DecodingConfig, {"threshold": 0.0}, "decoding.threshold must be above 0 and at most 1, got 0.0"),
    (DecodingConfig, {"low_threshold": 0.6}, "low_threshold must be above 0 and at most 0.5, got 0.6 - lower both"),
    (DecodingConfig, {"median_seconds": -0.1}, "decoding.median_seconds must be at least 0, got -0.1"),
    (DecodingConfig, {"max_gap_seconds": -0.1}, "decoding.max_gap_seconds must be at least 0, got -0.1"),
    (DecodingConfig, {"min_event_seconds": _NAN}, "decoding.min_event_seconds must be at least 0, got nan"),
]


@pytest.mark.parametrize(("section", "settings", "message"), _WRONG, ids=lambda value: str(value)[:60])
def test_settings_out_of_range_are_refused(section: Callable[..., Any], settings: dict[str, Any], message: str) -> None:
    # Plain text but for ".*": a full stop or bracket in a message is meant literally.
    pattern = ".*".join(re.escape(part) for part in message.split(".*"))
    with pytest.raises(ValueError, match=pattern):
        section(**settings)


def test_a_clip_length_that_the_network_would_cut_is_refused() -> None:
    model = ModelConfig(channels=(4, 4), pool_time=(2, 2), pool_mel=(2, 2))
    assert Config(features=FeatureConfig(clip_frames=608), model=model).features.clip_frames == 608
    with pytest.raises(ValueError, match=r"clip_frames must be a multiple of 4, .* got 605 - .* take 608"):
        Config(features=FeatureConfig(clip_frames=605), model=model)


def test_embeddings_are_not_treated_as_spectrograms() -> None:
    embeddings = FeatureConfig(frames_per_second=2.0, n_dims=8)
    none = ModelConfig(channels=(), pool_time=(), pool_mel=())
    with pytest.raises(ValueError, match=r"model.channels must be \[\] for embeddings, got \[8\] - their dims have no"):
        Config(features=embeddings, model=ModelConfig(channels=(8,), pool_time=(1,), pool_mel=(1,)))
    for name in ("gain_db", "mixup", "n_mel_masks"):
        with pytest.raises(
            ValueError, match=f"augment.{name} must be 0 for embeddings, got 1 - it changes the energies"
        ):
            Config(features=embeddings, model=none, augment=AugmentConfig(**{name: 1}))
    changed = AugmentConfig(time_shift_seconds=1.0, n_time_masks=1)
    assert Config(features=embeddings, model=none, augment=changed).features.n_inputs == 8
    with pytest.raises(ValueError, match=r"features\.n_dims must be known by now, got none"):
        _ = FeatureConfig(frames_per_second=2.0).n_inputs


def test_the_rest_of_a_configuration_survives_embeddings() -> None:
    config = Config(model=ModelConfig(rnn_units=7, projection_units=0), training=TrainingConfig(epochs=3))
    made = for_embeddings(config, frames_per_second=2.0, n_dims=8)
    assert (made.model.rnn_units, made.model.projection_units, made.training.epochs) == (7, 0, 3)
    assert for_embeddings(made, frames_per_second=2.0, n_dims=8) == made
