"""Configurations on disk: the same after a round trip, and no key that goes nowhere."""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from pathlib import Path
from typing import Any

import pytest

from earmark.config import (
    AugmentConfig,
    Config,
    DecodingConfig,
    FeatureConfig,
    ModelConfig,
    PoolingConfig,
    QuotaConfig,
    TeacherConfig,
    TrainingConfig,
)
from earmark.config_file import change, from_toml, read_config, to_toml

PAPER = Path(__file__).parents[1] / "src" / "earmark" / "paper"

# Every field of every section away from its default; test_nothing_is_left_at_its_default sees to that.
EVERYTHING = Config(
    features=FeatureConfig(
        sample_rate=22050,
        n_mels=40,
        window_samples=2048,
        hop_samples=365,
        min_hz=20.5,
        max_hz=1e4,
        window="hamming",
        spectrum="magnitude",
        mel_scale="htk",
        floor=1e-5,
        framing="centred",
        dynamic_range_db=80.0,
        clip_frames=606,
    ),
    model=ModelConfig(
        channels=(8, 9),
        kernel_size=5,
        pool_time=(2, 3),
        pool_mel=(4, 2),
        pool="average",
        activation="glu",
        conv_bias=True,
        batch_norm_eps=1e-3,
        batch_norm_momentum=0.01,
        conv_dropout=0.25,
        rnn_layers=2,
        rnn_units=7,
        rnn_dropout=0.5,
        projection_units=5,
        init="baseline2019",
    ),
    pooling=PoolingConfig(
        name="hierarchical",
        axis="class",
        initial=0.1 + 0.2,
        penalty=1e-17,
        constraint="softplus",
        shared=False,
        n_frames=100,
        inner="power",
        groups=(5, 5, 4),
    ),
    training=TrainingConfig(
        epochs=200,
        batch_seconds=1e3,
        piece_seconds=1 / 3,
        context_seconds=0.0,
        balance="none",
        learning_rate=3e-4,
        pooling_learning_rate_factor=10.0,
        schedule="ramp",
        warmup_epochs=2.0,
        plateau_patience=5,
        gradient_clip=0.0,
        holdout_fraction=0.0,
        validate_every_epochs=7,
        method="mean_teacher",
        unlabelled_seconds=4.5,
        select="loss",
        checkpoint_seconds=0.0,
        snapshot_epochs=(40, 200),
        frame_weight=0.5,
        tags_of_strong=False,
        loss="clamped",
        seed=123456789012,
        keep_weight=3.5,
        allow_similar_classes=True,
    ),
    quotas=QuotaConfig(weak=6, strong=5, unlabelled=12),
    teacher=TeacherConfig(
        weight=1.5, ramp_epochs=50.0, momentum=0.99, noise_db=20.0, batch_norm="student", deploy="student"
    ),
    augment=AugmentConfig(
        time_shift_seconds=0.1,
        mixup=0.2,
        n_mel_masks=1,
        mel_mask_bands=2,
        n_time_masks=3,
        time_mask_seconds=0.4,
        gain_db=5.0,
    ),
    decoding=DecodingConfig(
        mode="duration",
        threshold=0.6,
        low_threshold=0.3,
        median_seconds=0.7,
        max_gap_seconds=0.1,
        min_event_seconds=0.05,
        mean_seconds=(0.58, 1.5),
    ),
)

# What excludes most settings of log-mel features and of convolutions.
EMBEDDINGS = Config(
    features=FeatureConfig(frames_per_second=1 / 0.96, n_dims=128),
    model=ModelConfig(channels=(), pool_time=(), pool_mel=(), projection_units=32),
)
OF_EMBEDDINGS = {"frames_per_second", "n_dims"}


# --- laws ---


def test_nothing_is_left_at_its_default() -> None:
    for section in dataclasses.fields(EVERYTHING):
        mine, default = getattr(EVERYTHING, section.name), getattr(Config(), section.name)
        for entry in dataclasses.fields(mine):
            # Two settings can only stand in a configuration of their own.
            away = getattr(EMBEDDINGS.features if entry.name in OF_EMBEDDINGS else mine, entry.name)
            assert away != getattr(default, entry.name), f"{section.name}.{entry.name}"


@pytest.mark.parametrize("config", [Config(), EVERYTHING, EMBEDDINGS], ids=["defaults", "everything", "embeddings"])
def test_every_field_survives_a_round_trip(config: Config) -> None:
    again = from_toml(to_toml(config), where="run.toml")
    assert again == config
    for section in dataclasses.fields(config):
        for entry in dataclasses.fields(getattr(config, section.name)):
            before, after = (
                getattr(getattr(config, section.name), entry.name),
                getattr(getattr(again, section.name), entry.name),
            )
            assert type(before) is type(after), f"{section.name}.{entry.name}"


def test_the_file_is_complete_and_holds_nothing_else() -> None:
    tables = tomllib.loads(to_toml(EVERYTHING))
    for section in dataclasses.fields(EVERYTHING):
        names = [entry.name for entry in dataclasses.fields(getattr(EVERYTHING, section.name))]
        assert list(tables.pop(section.name)) == [name for name in names if name not in OF_EMBEDDINGS]
    assert tables == {}


def test_a_file_of_embeddings_names_nothing_that_nobody_looks_at() -> None:
    tables = tomllib.loads(to_toml(EMBEDDINGS))
    assert set(tables["features"]) == OF_EMBEDDINGS
    assert set(tables["model"]).isdisjoint({"kernel_size", "pool", "conv_dropout"})


def test_only_fields_that_may_be_none_are_left_out() -> None:
    # TOML has no null, so a default other than None could not be set back to None; there must be no such field.
    for section in dataclasses.fields(Config()):
        values = getattr(Config(), section.name)
        hints = typing.get_type_hints(type(values))
        for entry in dataclasses.fields(values):
            may_be_none = isinstance(hints[entry.name], types.UnionType)
            assert may_be_none == (entry.default is None), f"{section.name}.{entry.name}"


def test_texts_survive_whatever_is_in_them() -> None:
    for name in ('quo"te', "back\\slash", "new\nline", "tab\t", "Geräusch", "\U0001f41f", "#", ""):
        config = Config(pooling=PoolingConfig(name=name))
        assert from_toml(to_toml(config), where="run.toml") == config


def test_a_file_changes_only_what_it_names() -> None:
    config = from_toml("[training]\nepochs = 3\n", where="run.toml")
    assert config == dataclasses.replace(Config(), training=TrainingConfig(epochs=3))


@pytest.mark.parametrize("name", ["dcase2017", "dcase2019"])
def test_the_recipes_of_the_paper_are_valid(name: str) -> None:
    config = read_config(PAPER / f"{name}.toml")
    assert config != Config()
    assert from_toml(to_toml(config), where="again") == config


# --- worked numbers ---


def test_a_file_from_an_editor_that_marks_its_files(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(b"\xef\xbb\xbf[training]\r\nepochs = 3\r\n")
    assert read_config(file).training.epochs == 3


def test_tables_change_a_configuration_in_memory() -> None:
    changed = change(EVERYTHING, {"training": {"seed": 2}}, where="here")
    assert changed == dataclasses.replace(EVERYTHING, training=dataclasses.replace(EVERYTHING.training, seed=2))


# --- wrong input ---


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[trainning]\nepochs = 3", r"run.toml: unknown section \[trainning\] \(there are: features, model, pooling, "
         r"training, quotas, teacher, augment, decoding\) - did you mean 'training'\?"),
        ("[zzz]", r"run.toml: unknown section \[zzz\] \(there are: [a-z, ]*\)$"),
        ("[training]\nlearnig_rate = 1", r"run.toml \[training\]: unknown key 'learnig_rate' - .* 'learning_rate'\?"),
        ("[training]\nzzz = 1", r"run.toml \[training\]: unknown key 'zzz'$"),
        ("[model]\ntime_reduction = 2", r"run.toml \[model\]: unknown key 'time_reduction'"),
        ("epochs = 3", r"run.toml: the key 'epochs' stands outside its section - it belongs under \[training\]"),
        ("training = 3", r"run.toml: \[training\] must be a table, got 3 - is the key outside its section\?"),
        ("[[training]]\nepochs = 3", r"run.toml: \[training\] must be a table, got \[\{'epochs': 3\}\]"),
        ("[training]\nepochs = 3.0", r"run.toml \[training\]: epochs must be a whole number, got 3.0"),
        ("[training]\nepochs = true", r"epochs must be a whole number, got True"),
        ("[training]\nepochs = '3'", r"epochs must be a whole number, got '3'"),
        ("[training]\nlearning_rate = '1e-3'", r"learning_rate must be a number, got '1e-3'"),
        ("[training]\nlearning_rate = false", r"learning_rate must be a number, got False"),
        ("[features]\nmax_hz = 'half'", r"run.toml \[features\]: max_hz must be a number, got 'half'"),
        ("[features]\nwindow = 1", r"window must be a text in quotes, got 1"),
        ("[features]\nwindow = 2020-01-01", r"window must be a text in quotes, got datetime.date"),
        ("[model]\nconv_bias = 1", r"conv_bias must be true or false, got 1"),
        ("[model]\nchannels = 16", r"channels must be a list such as \[1, 2\], got 16"),
        ("[model]\nchannels = [16, 32.0, 64, 128]", r"channels must be a whole number, got 32.0"),
        ("[pooling]\ngroups = [[5]]", r"groups must be a whole number, got \[5\]"),
        ("[training]\nepochs = 0", r"run.toml: training.epochs must be at least 1, got 0"),
        ("[training]\nlearning_rate = nan", r"run.toml: training.learning_rate must be above 0, got nan"),
        ("[features]\nclip_frames = 301", r"run.toml: features.clip_frames must be a multiple of 2"),
        ("[training\nepochs = 3", r"run.toml: is not valid TOML: .*line 1"),
        ("[training]\nepochs = 3\nepochs = 4", r"run.toml: is not valid TOML: Cannot overwrite a value"),
    ],
)  # fmt: skip
def test_what_a_file_must_not_say(content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_toml(content, where="run.toml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def refused(path: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read_config(path)

    refused(tmp_path / "none.toml", r"none.toml: cannot be read as a configuration: No such file or directory")
    refused(tmp_path, r"cannot be read as a configuration: Is a directory")
    (tmp_path / "latin.toml").write_bytes("[pooling]\nname = 'Geräusch'".encode("latin-1"))
    refused(tmp_path / "latin.toml", r"latin.toml: is not UTF-8 text \(.*\) - is it a TOML file\?")
    refused(str(tmp_path / "none.toml"), r"none.toml: cannot be read")
