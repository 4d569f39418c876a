"""Embeddings from tags to events, by the commands; then a model that is continued with a class it did not know."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_cases import done, make_model, refused
from oracles.embedding_cases import MadeUp, write_embeddings

import earmark
from earmark.config_file import read_config
from earmark.labels.strong import read_strong
from earmark.metrics import event_counts
from earmark.training import measuring
from earmark.training.checkpoint import load_checkpoint
from earmark.training.continuing import config_of, read_start
from earmark.training.run import train

OLD, ALL = ("bark", "chirp"), ("bark", "chirp", "knock")
SETTINGS = {
    "model.rnn_units": 12, "model.projection_units": 24, "training.epochs": 12, "training.learning_rate": 0.01,
    "training.batch_seconds": 120, "training.select": "last", "training.checkpoint_seconds": 1e9,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class World:
    """Old clips whose tags know bark and chirp, new ones whose tags know knock alone, and clips to test with."""

    root: Path
    old: MadeUp
    new: MadeUp
    test: MadeUp


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The clips, a run on the old ones, its model, and a run that continues it with the new ones."""
    root = tmp_path_factory.mktemp("embeddings")
    old = write_embeddings(root / "old", OLD, n_clips=48, seed=1)
    new = write_embeddings(root / "new", ALL, n_clips=48, seed=5, tagged=("knock",), suffix=".npz")
    test = write_embeddings(root / "test", ALL, n_clips=40, seed=2)
    done(*training(old, root / "run"))
    done("export", root / "run", root / "old.onnx")
    done(*training(new, root / "continued", "--from", root / "run", "--set", "training.seed=0"))
    done("export", root / "continued", root / "all.onnx")
    return World(root, old, new, test)


def training(made: MadeUp, out: Path, *options: object, **settings: object) -> list[object]:
    """The arguments of a run; one that continues another takes over its network."""
    values = {name: value for name, value in SETTINGS.items() if "--from" not in options or "training" in name}
    chosen = [option for name, value in (values | settings).items() for option in ("--set", f"{name}={value}")]
    threads = ("--device", "cpu", "--threads", "1")
    return ["train", made.labels, "--features", made.folder, "--out", out, *threads, *chosen, *options]


def event_f1(model: Path, made: MadeUp) -> dict[str, float]:
    """Event F1 of every class with the usual collars; with frames of 0.5 s a frame too many is an error."""
    detector = earmark.load(model)
    found = {name: detector(made.folder / f"{name}.npy") for name in made.events}
    counts = event_counts(made.events, found, classes=ALL)
    return dict(zip(ALL, counts.f1.tolist(), strict=True))


# --- laws ---


def test_tags_alone_find_the_moments(world: World) -> None:
    figures = event_f1(world.root / "old.onnx", world.test)
    assert min(figures[label] for label in OLD) > 0.8  # a seed gives 1.0 and 0.92


def test_a_new_class_is_learned_and_the_old_ones_are_kept(world: World) -> None:
    before, after = (event_f1(world.root / name, world.test) for name in ("old.onnx", "all.onnx"))
    assert after["knock"] > 0.8
    # Nobody tagged barks and chirps, which sound in the new clips as well.
    assert np.mean([after[label] for label in OLD]) > np.mean([before[label] for label in OLD]) - 0.2


def test_without_keeping_them_the_old_ones_fade(world: World, tmp_path: Path) -> None:
    config = config_of(read_start(world.root / "run"))
    chosen: dict[str, Any] = {
        name.removeprefix("training."): v for name, v in SETTINGS.items() if name.startswith("training")
    }
    config = dataclasses.replace(config, training=dataclasses.replace(config.training, **chosen, keep_weight=0.0))
    out = tmp_path / "run"
    train(
        world.new.labels,
        embeddings=world.new.folder,
        start_from=world.root / "run",
        out=out,
        config=config,
        device="cpu",
    )
    done("export", out, tmp_path / "faded.onnx")
    before, after = event_f1(world.root / "old.onnx", world.test), event_f1(tmp_path / "faded.onnx", world.test)
    assert after["knock"] > 0.8
    assert np.mean([after[label] for label in OLD]) < np.mean([before[label] for label in OLD]) - 0.4


def test_a_mean_teacher_continues_a_model_too(world: World, tmp_path: Path) -> None:
    teacher = {"training.method": "mean_teacher", "training.epochs": 1, "training.keep_weight": 2.0}
    done(*training(world.new, tmp_path / "run", "--from", world.root / "run", **teacher))
    first = json.loads((tmp_path / "run/log.jsonl").read_text().splitlines()[0])
    assert {"kept", "consistency_frames", "tags"} <= first.keys()
    assert first["kept"] < 0.01  # it still says what the model said
    assert load_checkpoint(tmp_path / "run/best.safetensors").teacher is not None


def test_long_arrays_in_pieces_are_the_same(world: World, rng: np.random.Generator, tmp_path: Path) -> None:
    array = np.concatenate([np.load(file) for file in sorted(world.test.folder.glob("*.npy"))])
    pieces = tmp_path / "pieces.onnx"
    done("export", world.root / "run", pieces, "--piece-seconds", "20", "--context-seconds", "50")
    done("export", world.root / "run", tmp_path / "whole.onnx", "--piece-seconds", "100000")
    in_pieces, whole = (earmark.load(file).analyse(array) for file in (pieces, tmp_path / "whole.onnx"))
    assert whole.duration_seconds == len(array) / 2.0
    np.testing.assert_allclose(in_pieces.frame_probs, whole.frame_probs, atol=1e-3)


def test_the_command_says_what_the_library_says(world: World, tmp_path: Path) -> None:
    printed = done("detect", world.test.folder, "--model", world.root / "old.onnx").stdout
    (tmp_path / "found.tsv").write_text(printed)
    found, detector = read_strong(tmp_path / "found.tsv"), earmark.load(world.root / "old.onnx")
    for name in world.test.events:
        expected = detector(np.load(world.test.folder / f"{name}.npy"))
        assert [event[:3] for event in map(dataclasses.astuple, found.get(name, []))] == [
            event[:3] for event in map(dataclasses.astuple, expected)
        ]
    done("detect", world.test.folder, "--model", world.root / "old.onnx", "--out", tmp_path / "out", "--tags")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"000.wav.tsv", "000.wav.tags.tsv"} <= names


def test_the_run_says_where_it_came_from(world: World) -> None:
    run, parent = load_checkpoint(world.root / "continued/best.safetensors"), read_start(world.root / "run")
    assert run.network.classes == ALL
    assert run.card["started_from"] == {
        "digest": parent.digest, "epochs": 12, "classes": list(OLD), "card": parent.checkpoint.card,
    }  # fmt: skip
    info = earmark.load(world.root / "all.onnx").info
    assert (info.n_dims, info.timeline.frames_per_second, info.context_seconds) == (24, 2.0, 50.0)
    assert info.to_dict()["format"] == 2
    config = read_config(world.root / "continued/config.toml")
    assert config.features == parent.checkpoint.network.config.features


def test_a_continued_run_is_resumed_without_its_model(world: World, tmp_path: Path) -> None:
    out = shutil.copytree(world.root / "continued", tmp_path / "run")
    (out / "metrics.json").unlink()
    again = ["train", world.new.labels, "--features", world.new.folder, "--out", out, "--device", "cpu", "--resume"]
    done(*again)
    assert json.loads((out / "metrics.json").read_text())["classes"] == list(ALL)
    done(*again, "--from", world.root / "run")
    message = refused(*again, "--from", world.root / "continued")
    assert "was begun with another model, not with" in message
    assert "resume it without --from" in message


def test_a_dry_run_leaves_nothing_behind(world: World, tmp_path: Path) -> None:
    shown = json.loads(done(*training(world.old, tmp_path / "run", "--dry-run", "--json")).stdout)
    assert shown["classes"] == list(OLD)
    hours = sum(len(np.load(file)) for file in world.old.folder.glob("*.npy")) / 2.0 / 3600
    assert shown["hours"] == pytest.approx(hours)
    assert [path.name for path in tmp_path.iterdir()] == ["run-first-batch.png"]


def test_a_dry_run_counts_the_model_that_is_continued(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms, asked = measuring.loss_terms, []

    def noted(*arguments: Any, **models: Any) -> Any:
        asked.append(models["old"])
        return terms(*arguments, **models)

    monkeypatch.setattr(measuring, "loss_terms", noted)
    done(*training(world.new, tmp_path / "run", "--dry-run", "--from", world.root / "run"))
    assert asked
    assert all(old.classes == OLD for old in asked)


# --- wrong input ---


def test_models_and_inputs_that_do_not_belong_together(world: World, tmp_path: Path) -> None:
    model, array = world.root / "old.onnx", world.test.folder / "000.wav.npy"
    audio_model = make_model(tmp_path)
    message = refused("detect", tmp_path / "data/audio", "--model", model)
    assert "no array of embeddings in this folder" in message
    assert "this model expects embeddings in .npy or .npz, arrays (frames, 24) with 2 frames per second" in message
    assert "and this model expects recordings" in refused("detect", array, "--model", audio_model)
    assert "holds arrays of NumPy, but this model expects" in refused(
        "detect", world.test.folder, "--model", audio_model
    )
    (tmp_path / "b").mkdir()
    np.save(tmp_path / "b/b.npy", np.load(array).T)
    (tmp_path / "b/features.json").write_text('{"frames_per_second": 4}')
    assert "states 4 frames per second, but the model learned from 2" in refused(
        "detect", tmp_path / "b", "--model", model
    )
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (np.load(array).T, {}, r"embeddings: has shape \(24, \d+\), but .* are frames and dims swapped\?"),
        (np.load(array)[0], {}, r"embeddings must have shape \(frames, dims\), got \(24,\)"),
        (np.load(array), {"sample_rate": 16000}, "sample_rate is only for audio, got 16000"),
        (np.full((5, 24), np.nan), {}, "embeddings: frame 0 has nan in dim 0"),
        (np.zeros((5, 24), bool), {}, "embeddings: must hold real numbers, got type bool"),
        ([1.0], {}, "embeddings must be a file name or an array, got list"),
    ]
    for given, options, expected in wrong:
        with pytest.raises(ValueError, match=expected):
            earmark.load(model)(given, **options)


def test_a_model_of_other_features_cannot_be_continued(world: World, tmp_path: Path) -> None:
    message = refused(*training(world.new, tmp_path / "x", "--from", world.root / "run", **{"model.rnn_units": 13}))
    assert "model.rnn_units is 12 in the model" in message
    assert "but 13 was asked for" in message
    message = refused(
        "train", world.old.labels, "--audio", tmp_path, "--out", tmp_path / "x", "--from", world.root / "run"
    )
    assert "says that this run learns from embeddings, and none are given" in message
    other = write_embeddings(tmp_path / "other", OLD, n_clips=4, seed=1, n_dims=9)
    assert "has 9 dims" in refused(*training(other, tmp_path / "x", "--from", world.root / "run"))
    assert not (tmp_path / "x").exists()


def test_misspelt_classes_and_models_that_are_none(world: World, tmp_path: Path) -> None:
    labels = tmp_path / "weak.tsv"
    labels.write_text(world.old.labels.read_text().replace("bark", "Bark"))
    arguments = [*training(dataclasses.replace(world.old, labels=labels), tmp_path / "x"), "--from"]
    arguments = [value for value in arguments if "model." not in str(value)]
    arguments = [value for i, value in enumerate(arguments) if value != "--set" or "training" in str(arguments[i + 1])]
    message = refused(*arguments, world.root / "run")
    assert "has the class 'Bark', which the model does not know - did you mean 'bark', which it does?" in message
    assert f"{labels}:" in message
    assert "is an exported model, which cannot be trained further" in refused(*arguments, world.root / "old.onnx")
    (tmp_path / "bad.safetensors").write_bytes((world.root / "run/best.safetensors").read_bytes()[:5000])
    assert "is no readable safetensors file" in refused(*arguments, tmp_path / "bad.safetensors")
    assert "there is no such model" in refused(*arguments, tmp_path / "nowhere")
    assert not (tmp_path / "x").exists()
