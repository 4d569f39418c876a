"""What a training run refuses, and what it does not let a few bad recordings spoil."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from oracles.training_cases import changed, write_tones
from run_cases import QUICK, copied, files, trained

from earmark.config import Config
from earmark.config_file import read_config
from earmark.training.run import Split, Watch, choose_device, train


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


# --- wrong input ---


def refused(message: str, folder: Path, out: Path, config: Config = QUICK, **options: Any) -> None:
    """The run must say this, and leave everything as it was."""
    before = files(out) if out.exists() else None
    with pytest.raises(ValueError, match=message):
        trained(folder, out, config, **options)
    assert (files(out) if out.exists() else None) == before


def test_a_run_that_is_there_already(tones: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    trained(tones, out)
    refused(r"run already holds a run - add --resume to go on with it, or choose another --out", tones, out)
    other = changed(QUICK, training={"epochs": 3}, pooling={"name": "max"})
    message = (
        r"begun with other settings \(pooling.name was 'power', now 'max'; training.epochs was 2, now 3\) - resume"
    )
    refused(message, tones, out, other, resume=True)


def test_a_run_with_other_labels_or_another_split(tones: Path, tmp_path: Path) -> None:
    folder, out = copied(tones, tmp_path / "data"), tmp_path / "run"
    split = Split("split", "test")
    trained(folder, out, split=split)
    before = files(out)
    rows = (folder / "weak.tsv").read_text()

    def refused_with(changed_rows: str, split: Split) -> None:
        (folder / "weak.tsv").write_text(changed_rows)
        with pytest.raises(ValueError, match=r"was trained on other labels or held-out clips \(24 clips, now 24\)"):
            trained(folder, out, split=split, resume=True)
        assert files(out) == before  # not even the features are read again

    refused_with(rows.replace("001.wav\thigh", "001.wav\tlow"), split)
    # As many clips of each class on both sides, but others: those held out so far would be learned.
    lines = rows.splitlines()
    swapped = [line.replace("\ttrain\t", "\t?\t") for line in lines]
    first = [i for i, line in enumerate(lines) if "\ttrain\t" in line][:4]
    held = [i for i, line in enumerate(lines) if "\ttest\t" in line]
    assert [lines[i].split("\t")[1] for i in first] == [lines[i].split("\t")[1] for i in held]
    swapped = [
        line.replace("\ttrain\t", "\ttest\t") if i in first else line.replace("\ttest\t", "\ttrain\t")
        for i, line in enumerate(lines)
    ]
    refused_with("\n".join(swapped) + "\n", split)
    (folder / "weak.tsv").write_text(rows)
    trained(folder, out, split=split, resume=True)
    assert files(out) == before


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"pooling": {"name": "powr"}}, r"pooling must be one of .*, got 'powr' - did you mean 'power'\?"),
        ({"pooling": {"name": "cap"}}, "pooling 'cap' needs 'n_frames'"),
        ({"pooling": {"name": "linear", "penalty": 1e-4}}, "pooling 'linear' takes no 'penalty'"),
        ({"model": {"pool_mel": (4, 8)}}, "must leave at least one band of features.n_mels = 16"),
        ({"features": {"n_mels": 200}}, "n_mels = 200 is too many for a window of 256 samples"),
        (
            {"decoding": {"mode": "duration", "mean_seconds": (1.0,)}},
            r"mean_seconds must have one entry per class, 2 \(high, low\), got 1",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_read_or_written(
    sections: dict[str, dict[str, Any]], message: str, tones: Path, tmp_path: Path
) -> None:
    read: list[int] = []
    watch = Watch(on_clip=lambda done, total: read.append(done))
    refused(message, tones, tmp_path / "run", changed(QUICK, **sections), watch=watch)
    assert read == []


def test_a_wrong_split_leaves_no_folder_behind(tones: Path, tmp_path: Path) -> None:
    refused(
        "--group names a column 'sites' .* did you mean 'site'", tones, tmp_path / "r", split=Split(None, None, "sites")
    )
    refused(r"no clip has 'tset' in column 'split'", tones, tmp_path / "r", split=Split("split", "tset"))
    assert not (tmp_path / "r").exists()


def test_a_class_that_is_only_held_out(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    rows = (folder / "weak.tsv").read_text().splitlines()
    (folder / "weak.tsv").write_text(
        "\n".join(
            row
            if "\ttest\t" in row or row.startswith("filename")
            else row.replace("high,low", "high").replace("low", "")
            for row in rows
        )
    )
    message = r"no training clip has the class 'low' \(1 of 2 classes are missing\) - all its clips are held out"
    refused(message, folder, tmp_path / "run", split=Split("split", "test"))


def test_labels_without_any_class(tones: Path, tmp_path: Path) -> None:
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\n000.wav\t\n001.wav\t\n")
    with pytest.raises(ValueError, match=r"weak.tsv: at least one clip must have a label, got 2 clips and no label"):
        train(tmp_path / "weak.tsv", audio=tones, out=tmp_path / "run", config=QUICK, device="cpu")
    assert not (tmp_path / "run").exists()


def test_a_recording_that_cannot_be_read_costs_only_itself(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    (folder / "001.wav").write_bytes(b"not audio")
    (folder / "010.wav").unlink()
    cut = (folder / "023.wav").read_bytes()
    (folder / "023.wav").write_bytes(cut[: len(cut) // 2])
    result = trained(folder, tmp_path / "run")
    assert [(Path(where).name, name) for where, name, _ in result.failures] == [
        ("weak.tsv:3", "001.wav"), ("weak.tsv:12", "010.wav")
    ]  # fmt: skip
    assert [name for _, name, _ in result.notes] == ["023.wav"]
    assert result.metrics["unreadable_clips"] == 2
    assert result.metrics["training_clips"] + result.metrics["held_out_clips"] == 22


def test_no_recording_that_can_be_read(tones: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copy(tones / "weak.tsv", tmp_path / "empty" / "weak.tsv")
    with pytest.raises(ValueError, match=r"none of the 24 clips could be read; the first: .*weak.tsv:2: 000.wav"):
        trained(tmp_path / "empty", tmp_path / "run")
    # The right folder may follow, into the same place and with other settings: nothing was learned yet.
    config = changed(QUICK, training={"epochs": 1})
    result = train(tones / "weak.tsv", audio=tones, out=tmp_path / "run", config=config, device="cpu")
    assert result.metrics["unreadable_clips"] == 0
    assert read_config(tmp_path / "run" / "config.toml") == config


@pytest.mark.parametrize(("side", "word"), [("test", "held-out"), ("train", "training")])
def test_one_side_that_cannot_be_read(side: str, word: str, tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    rows = [row.split("\t") for row in (folder / "weak.tsv").read_text().splitlines()[1:]]
    lost = [row[0] for row in rows if row[2] == side]
    for name in lost:
        (folder / name).unlink()
    message = (
        rf"none of the {word} clips could be read \(the first: .*weak.tsv:\d+: {lost[0]}: no such file in .*\)"
        " - are they in another folder than"
    )
    with pytest.raises(ValueError, match=message):
        trained(folder, tmp_path / "run", split=Split("split", "test"))


def test_a_class_of_which_no_recording_can_be_read(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    rows = [row.split("\t") for row in (folder / "weak.tsv").read_text().splitlines()[1:]]
    lost = [row[0] for row in rows if "low" in row[1] and row[2] == "train"]
    (folder / rows[0][0]).unlink()  # a failure that is not to blame
    for name in lost:
        (folder / name).write_bytes(b"")
    message = (
        r"no training clip that could be read has the class 'low' \(1 of 2 classes are missing; the first: "
        rf".*weak.tsv:\d+: .*{lost[0]}: is empty"
    )
    with pytest.raises(ValueError, match=message):
        trained(folder, tmp_path / "run", split=Split("split", "test"))


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there(name: str) -> None:
    is_there = torch.cuda.is_available() if name == "cuda" else torch.backends.mps.is_available()
    if is_there:
        assert choose_device(name).type == name
    else:
        with pytest.raises(ValueError, match=rf"device '{name}' is not there - .* Try 'auto'"):
            choose_device(name)
    with pytest.raises(ValueError, match=r"device must be one of auto, cpu, cuda, mps, got 'gpu'"):
        choose_device("gpu")
