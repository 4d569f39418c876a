"""What the command line changes in a configuration: --set section.key=value, and --pooling."""

from __future__ import annotations

from pathlib import Path

import pytest

from earmark.config import PoolingConfig
from earmark.config_file import read_config

# --- worked numbers ---


def test_overrides_come_after_the_file_and_the_last_one_wins(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[training]\nepochs = 3\nseed = 1\n")
    overrides = ["training.epochs=4", "training.epochs=5", "pooling.name=linear", "model.channels = [1, 2, 3, 4]"]
    config = read_config(file, overrides=overrides)
    assert (config.training.epochs, config.training.seed) == (5, 1)
    assert config.pooling.name == "linear"
    assert config.model.channels == (1, 2, 3, 4)


def test_overrides_that_only_fit_together_are_applied_together() -> None:
    # Each alone would be refused: five channels with four pools, a clip length that four does not divide.
    overrides = ["model.channels=[8, 8]", "model.pool_time=[2, 2]", "model.pool_mel=[2, 2]", "features.clip_frames=604"]
    assert read_config(None, overrides=overrides).model.time_reduction == 4
    assert read_config(None, overrides=list(reversed(overrides))).model.time_reduction == 4
    duration = ["decoding.mode=duration", "decoding.mean_seconds=[0.5, 2]"]
    assert read_config(None, overrides=duration).decoding.mean_seconds == (0.5, 2.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("1", 1.0), ("1e-4", 1e-4), ("  2.5  ", 2.5), ("1_000", 1000.0)],
)
def test_numbers_of_an_override(text: str, value: float) -> None:
    config = read_config(None, overrides=[f"training.learning_rate={text}"])
    assert config.training.learning_rate == value
    assert type(config.training.learning_rate) is float


def test_texts_of_an_override_need_no_quotes() -> None:
    for text in ("hamming", '"hamming"', "'hamming'", " hamming "):
        assert read_config(None, overrides=[f"features.window={text}"]).features.window == "hamming"


def test_a_value_with_an_equals_sign_is_one_value() -> None:
    assert read_config(None, overrides=["pooling.name=a=b"]).pooling.name == "a=b"


def test_another_pooling_function_leaves_the_options_of_the_first_behind(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[pooling]\nname = "power"\npenalty = 1e-4\n')
    assert read_config(recipe, pooling="linear").pooling == PoolingConfig(name="linear")
    assert read_config(recipe, pooling="power").pooling.penalty == 1e-4
    assert read_config(recipe, pooling="rap", overrides=["pooling.penalty=0.1"]).pooling.penalty == 0.1


# --- wrong input ---


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.learnig_rate=1", r"--set training.learnig_rate=1 \[training\]: unknown key .* 'learning_rate'\?"),
        ("trainig.epochs=1", r"--set trainig.epochs=1: unknown section \[trainig\] .* did you mean 'training'\?"),
        ("training.epochs=many", r"--set training.epochs=many \[training\]: epochs must be a whole number, got 'many'"),
        ("training.epochs=", r"epochs must be a whole number, got ''"),
        ("model.channels=16,32", r"channels must be a list such as \[1, 2\], got '16,32'"),
        ("training.epochs=0", r"--set training.epochs=0: training.epochs must be at least 1, got 0"),
        ("training.epochs", r"--set must look like section.key=value, got 'training.epochs'"),
        ("epochs=1", r"--set must look like section.key=value, got 'epochs=1' - did you mean training.epochs\?$"),
        ("sampl_rate=8000", r"got 'sampl_rate=8000' - did you mean features.sample_rate\?$"),
        ("zzz=1", r"got 'zzz=1'$"),
        ("training.learning_rate", r"got 'training.learning_rate'$"),
        ("training.sample_rate=8000", r"\[training\]: unknown key 'sample_rate' - it belongs under \[features\]$"),
        ("training.=1", r"--set must look like section.key=value, got 'training.=1'"),
        ("", r"--set must look like section.key=value, got ''"),
    ],
)
def test_what_an_override_must_not_say(override: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_config(None, overrides=[override])


def test_the_first_wrong_override_is_the_one_named() -> None:
    with pytest.raises(ValueError, match=r"^--set model.rnn_unit=4 \[model\]: unknown key 'rnn_unit'"):
        read_config(None, overrides=["training.epochs=4", "model.rnn_unit=4", "x.y=1"])


def test_overrides_that_contradict_each_other_are_all_named() -> None:
    overrides = ["model.channels=[8, 8]", "model.pool_time=[2]"]
    with pytest.raises(ValueError, match=r"--set model.channels=\[8, 8\] model.pool_time=\[2\]: model.pool_time must"):
        read_config(None, overrides=overrides)
