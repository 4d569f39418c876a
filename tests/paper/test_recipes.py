"""The two recipes, row by row against what is known of the paper and of the code it builds on."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from earmark.config import Config
from earmark.config_file import read_config
from earmark.detection.decoding import median_frames
from earmark.detection.settings import from_durations
from earmark.models.crnn import Network
from earmark.models.export import output_timeline

PAPER = Path(__file__).parents[2] / "src" / "earmark" / "paper"

# What the recipe says, the setting that says it here, and its value.
RECIPE_2017: list[tuple[str, str, Any]] = [
    ("resampled to 16 kHz", "features.sample_rate", 16000),
    ("64 mel bins", "features.n_mels", 64),
    ("from 0 Hz", "features.min_hz", 0.0),
    ("to 8000 Hz", "features.top_hz", 8000.0),
    ("Slaney's mel scale", "features.mel_scale", "slaney"),
    ("Hann window", "features.window", "hann"),
    ("of 1024 samples, 64 ms", "features.window_samples", 1024),
    ("hop of 25 ms", "features.hop_samples", 400),
    ("power spectrogram", "features.spectrum", "power"),
    ("log(max(x, 1e-10))", "features.floor", 1e-10),
    ("no range per clip", "features.dynamic_range_db", None),
    ("padded or trimmed to 400 frames, no mask", "features.clip_frames", 400),
    ("convolutions 1 to 32 to 64 to 128", "model.channels", (32, 64, 128)),
    ("of 5 x 5", "model.kernel_size", 5),
    ("max pooling", "model.pool", "max"),
    ("over time 1, 2, 2", "model.pool_time", (1, 2, 2)),
    ("over frequency 2, 2, 2", "model.pool_mel", (2, 2, 2)),
    ("ReLU", "model.activation", "relu"),
    ("convolution biases kept", "model.conv_bias", True),
    ("batch normalisation, eps 1e-5", "model.batch_norm_eps", 1e-5),
    ("momentum 0.1", "model.batch_norm_momentum", 0.1),
    ("no dropout", "model.conv_dropout", 0.0),
    ("anywhere", "model.rnn_dropout", 0.0),
    ("2 BiGRU layers", "model.rnn_layers", 2),
    ("of 100 units per direction", "model.rnn_units", 100),
    ("Xavier-uniform, orthogonal GRU", "model.init", "xavier"),
    ("power pooling", "pooling.name", "power"),
    ("lambda 1e-4", "pooling.penalty", 1e-4),
    ("n from 1", "pooling.initial", None),
    ("held at 0 by projection", "pooling.constraint", None),
    ("one n per class", "pooling.shared", None),
    ("50 checkpoints, each after 500 updates", "training.epochs", 50),
    ("each of them judged", "training.validate_every_epochs", 1),
    ("class-balanced streams", "training.balance", "classes"),
    ("Adam, 3e-4", "training.learning_rate", 3e-4),
    ("no warm-up", "training.warmup_epochs", 0.0),
    ("halved on a plateau of the held-out loss", "training.schedule", "plateau"),
    ("with a patience of 3", "training.plateau_patience", 3),
    ("n learns as fast as the rest", "training.pooling_learning_rate_factor", 1.0),
    ("no clipping of gradients", "training.gradient_clip", 0.0),
    ("batches of 100", "training.batch_seconds", 1000.0),
    ("about 1000 of 51,172 clips held out", "training.holdout_fraction", 0.02),
    ("highest held-out clip F1", "training.select", "f1"),
    ("cross-entropy on logarithms", "training.loss", "log"),
    ("seed 15213", "training.seed", 15213),
    ("no augmentation: no shift", "augment.time_shift_seconds", 0.0),
    ("thresholds per class, tuned on held-out clips", "decoding.mode", "tuned"),
    ("the same for frames", "decoding.low_threshold", 0.5),
    ("from 0.5", "decoding.threshold", 0.5),
    ("no median filter", "decoding.median_seconds", 0.0),
    ("nothing closed", "decoding.max_gap_seconds", 0.0),
    ("nothing dropped", "decoding.min_event_seconds", 0.0),
]
RECIPE_2019: list[tuple[str, str, Any]] = [
    ("resampled to 22,050 Hz", "features.sample_rate", 22050),
    ("128 mel bins", "features.n_mels", 128),
    ("from 0 Hz", "features.min_hz", 0.0),
    ("to half the sample rate", "features.top_hz", 11025.0),
    ("Slaney's mel scale", "features.mel_scale", "slaney"),
    ("Hamming window", "features.window", "hamming"),
    ("of 2048 samples", "features.window_samples", 2048),
    ("hop 365", "features.hop_samples", 365),
    ("STFT magnitude", "features.spectrum", "magnitude"),
    ("amin 1e-5", "features.floor", 1e-5),
    ("centred, reflect padding", "features.framing", "centred"),
    ("80 dB range per clip", "features.dynamic_range_db", 80.0),
    ("605 frames padded to 608, no mask", "features.clip_frames", 608),
    ("7 blocks", "model.channels", (16, 32, 64, 128, 128, 128, 128)),
    ("of 3 x 3", "model.kernel_size", 3),
    ("average pooling", "model.pool", "average"),
    ("over time 2, 2, then 1", "model.pool_time", (2, 2, 1, 1, 1, 1, 1)),
    ("over frequency 2 each", "model.pool_mel", (2, 2, 2, 2, 2, 2, 2)),
    ("linear(x) sigmoid(x)", "model.activation", "glu"),
    ("convolution biases", "model.conv_bias", True),
    ("batch normalisation, eps 1e-3", "model.batch_norm_eps", 1e-3),
    ("momentum 0.1, not the baselines' slip", "model.batch_norm_momentum", 0.1),
    ("dropout 0.5 in the blocks", "model.conv_dropout", 0.5),
    ("dropout 0.5 after the GRU", "model.rnn_dropout", 0.5),
    ("2 BiGRU layers", "model.rnn_layers", 2),
    ("of 128 units per direction", "model.rnn_units", 128),
    ("Xavier-uniform with gain sqrt 2, N(0, 0.01)", "model.init", "baseline2019"),
    ("power pooling", "pooling.name", "power"),
    ("lambda 0", "pooling.penalty", 0.0),
    ("n from 1", "pooling.initial", None),
    ("held at 0 by projection", "pooling.constraint", None),
    ("one n per class", "pooling.shared", None),
    ("200 epochs", "training.epochs", 200),
    ("each of them judged", "training.validate_every_epochs", 1),
    ("every clip once an epoch", "training.balance", "none"),
    ("Adam, at most 1e-3", "training.learning_rate", 1e-3),
    ("with the same ramp as the teacher", "training.schedule", "ramp"),
    ("of 50 epochs", "teacher.ramp_epochs", 50.0),
    ("a mean teacher", "training.method", "mean_teacher"),
    ("consistency weight 2", "teacher.weight", 2.0),
    ("average of 0.999", "teacher.momentum", 0.999),
    ("noise at 30 dB", "teacher.noise_db", 30.0),
    ("its own batch statistics", "teacher.batch_norm", "own"),
    ("the teacher is reported", "teacher.deploy", "teacher"),
    ("6 weak", "quotas.weak", 6),
    ("6 synthetic", "quotas.strong", 6),
    ("12 unlabelled", "quotas.unlabelled", 12),
    ("weak loss on weak clips only", "training.tags_of_strong", False),
    ("strong loss 1:1", "training.frame_weight", 1.0),
    ("n learns as fast as the rest", "training.pooling_learning_rate_factor", 1.0),
    ("no clipping of gradients", "training.gradient_clip", 0.0),
    ("batches of 24", "training.batch_seconds", 242.0),
    ("80/20", "training.holdout_fraction", 0.2),
    ("best event F1 of held-out synthetic clips", "training.select", "events"),
    ("cross-entropy on logarithms", "training.loss", "log"),
    ("seed 26", "training.seed", 26),
    ("time shift of 16 frames", "augment.time_shift_seconds", 0.26485),
    ("no mixup", "augment.mixup", 0.0),
    ("median windows from durations", "decoding.mode", "duration"),
    (
        "the synthetic clips' mean durations",
        "decoding.mean_seconds",
        (1.07, 2.58, 1.07, 0.58, 0.98, 4.52, 5.17, 3.91, 1.16, 5.29),
    ),
    ("thresholds of 0.5", "decoding.threshold", 0.5),
    ("without hysteresis", "decoding.low_threshold", 0.5),
    ("nothing closed", "decoding.max_gap_seconds", 0.0),
    ("nothing dropped", "decoding.min_event_seconds", 0.0),
]
RECIPES = {"dcase2017": RECIPE_2017, "dcase2019": RECIPE_2019}
N_CLASSES = {"dcase2017": 17, "dcase2019": 10}
every_recipe = pytest.mark.parametrize("name", RECIPES)


def recipe(name: str, **changes: Any) -> Config:
    """The recipe's configuration."""
    return read_config(PAPER / f"{name}.toml", **changes)


def commented_options(name: str) -> list[tuple[str, tuple[str, ...]]]:
    """Pooling function and --set options of every other row that the file's first lines name."""
    found = []
    for line in (PAPER / f"{name}.toml").read_text(encoding="utf-8").splitlines():
        match = re.match(r"#   --pooling ([a-z| ]+?)((?: --set \S+)*)(?:   .*)?$", line)
        if match:
            overrides = tuple(word for word in shlex.split(match[2]) if word != "--set")
            found += [(pooling, overrides) for pooling in match[1].split(" | ")]
    return found


# --- laws ---


@every_recipe
def test_the_file_says_nothing_that_is_not_in_the_table(name: str) -> None:
    tables = tomllib.loads((PAPER / f"{name}.toml").read_text(encoding="utf-8"))
    said = {f"{section}.{key}" for section, values in tables.items() for key in values}
    assert said <= {setting for _, setting, _ in RECIPES[name]}


@every_recipe
def test_the_options_in_the_comments_make_every_other_row_of_the_table(name: str) -> None:
    options = commented_options(name)
    functions = {pooling for pooling, _ in options}
    assert functions == {"max", "average", "exponential", "linear", "auto", "attention", "cap", "rap"}
    for pooling, overrides in options:
        config = recipe(name, pooling=pooling, overrides=overrides)
        network = Network(config, [f"class {number:02d}" for number in range(N_CLASSES[name])])
        assert network.pool.name == pooling


# --- worked numbers ---


@pytest.mark.parametrize(
    ("name", "says", "setting", "value"), [(name, *row) for name, rows in RECIPES.items() for row in rows]
)
def test_every_row_of_the_recipe(name: str, says: str, setting: str, value: Any) -> None:
    section, key = setting.split(".")
    found = getattr(getattr(recipe(name), section), key)
    assert found == value, says
    assert type(found) is type(value)


@pytest.mark.parametrize(("name", "n_frames", "axis"), [("dcase2017", 100, "time"), ("dcase2019", 152, "class")])
def test_the_other_rows_have_the_papers_options(name: str, n_frames: int, axis: str) -> None:
    options = dict(commented_options(name))
    assert options["attention"] == (f"pooling.axis={axis}",)
    assert options["cap"] == (f"pooling.n_frames={n_frames}",)
    assert options["rap"] == ("pooling.penalty=1e-2",)
    config = recipe(name)
    assert config.features.clip_frames is not None
    assert config.features.clip_frames // config.model.time_reduction == n_frames  # CAP counts output frames


@pytest.mark.parametrize(("name", "frames_per_second"), [("dcase2017", 10.0), ("dcase2019", 15.10)])
def test_output_frames_per_second(name: str, frames_per_second: float) -> None:
    assert output_timeline(recipe(name)).frames_per_second == pytest.approx(frames_per_second, abs=0.005)


def test_2017_trains_for_25_000_updates_and_holds_out_about_1000_clips() -> None:
    config = recipe("dcase2017")
    held_out = config.training.holdout_fraction * 51_172
    assert held_out == pytest.approx(1000, abs=50)
    assert config.training.epochs * (51_172 - held_out) / 100 == pytest.approx(25_000, rel=0.01)


def test_2019_shifts_by_16_frames() -> None:
    config = recipe("dcase2019")
    frames = config.augment.time_shift_seconds * config.features.sample_rate / config.features.hop_samples
    assert frames == pytest.approx(16, abs=0.001)


def test_2019_filters_each_class_with_the_recipes_window() -> None:
    classes = (
        "Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying",
        "Running_water", "Speech", "Vacuum_cleaner",
    )  # fmt: skip
    config = recipe("dcase2019")
    assert config.decoding.mean_seconds is not None
    means = dict(zip(classes, config.decoding.mean_seconds, strict=True))
    settings = from_durations(classes, means).settings
    frames = [median_frames(setting.median_seconds, timeline=output_timeline(config)) for setting in settings]
    assert frames == [5, 13, 5, 3, 5, 23, 27, 19, 5, 27]
