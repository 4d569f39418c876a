"""What `earmark train` says when the data, the settings or the machine are not as they should be."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from cli_cases import done, earmark, make_clips, refused, train

from earmark.training import loop
from earmark.training import run as training_run
from earmark.training.checkpoint import load_checkpoint


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Twelve clips of two seconds: bark, chirp, knock, nothing, bark, ..."""
    return make_clips(tmp_path / "data")


def audio(labels: Path) -> list[object]:
    return ["--audio", labels.parent / "audio"]


def damage(labels: Path, name: str, content: bytes) -> None:
    (labels.parent / "audio" / name).write_bytes(content)


# Laws


def test_corrupt_audio_is_named_left_out_and_counted(labels: Path, tmp_path: Path) -> None:
    damage(labels, "00.wav", b"this was a song once")
    damage(labels, "01.wav", b"")
    (labels.parent / "audio/02.wav").unlink()
    result = earmark(*train(labels, tmp_path / "run", *audio(labels)))
    assert result.exit_code == 1
    *_, head, first, second, third, last = result.stderr.splitlines()
    assert head == "earmark: 3 clips could not be read and had to be left out:"
    folder = labels.parent / "audio"
    assert first.startswith(
        f"  {labels}:2: {folder}/00.wav: cannot be read as audio (libsndfile: Format not recognised"
    )
    assert second == f"  {labels}:3: {folder}/01.wav: is empty - was the recording or the copy interrupted?"
    assert third.startswith(f"  {labels}:4: 02.wav: no such file in {folder} - ")
    assert last.startswith("next: earmark export")  # what could be read was learned
    assert (tmp_path / "run/metrics.json").exists()


def test_corrupt_audio_is_still_counted_after_resuming(labels: Path, tmp_path: Path) -> None:
    damage(labels, "00.wav", b"")
    assert earmark(*train(labels, tmp_path / "run", *audio(labels))).exit_code == 1
    result = earmark(*train(labels, tmp_path / "run", *audio(labels), "--resume"))
    assert result.exit_code == 1
    assert "earmark: 1 clip could not be read and had to be left out:" in result.stderr


def test_a_recording_that_decodes_in_part_is_used_with_a_warning(labels: Path, tmp_path: Path) -> None:
    whole = (labels.parent / "audio/04.wav").read_bytes()
    damage(labels, "04.wav", whole[: 44 + 32000])  # a header and one of two seconds of 16-bit samples
    result = done(*train(labels, tmp_path / "run", *audio(labels)))
    assert f"earmark: {labels}:6: 04.wav: only 1.00 of 2.00 s could be decoded: " in result.stderr


def test_a_dry_run_names_corrupt_audio_too(labels: Path, tmp_path: Path) -> None:
    damage(labels, "05.wav", b"")
    result = earmark(*train(labels, tmp_path / "run", *audio(labels), "--dry-run"))
    assert result.exit_code == 1
    assert f"unreadable    {labels}:7: {labels.parent}/audio/05.wav: is empty" in result.stdout
    soundfile.write(labels.parent / "audio/05.wav", np.zeros(16), 16000)
    result = done(*train(labels, tmp_path / "run", *audio(labels), "--dry-run"))
    assert f"only in part  {labels}:7: 05.wav: lasts only 0.001 s\n" in result.stdout


def test_spans_that_exclude_each_other_are_remarked(labels: Path, tmp_path: Path) -> None:
    header, *rows = labels.read_text().splitlines()
    lines = [f"{header}\tonset\toffset", *(f"{row}\t\t" for row in rows)]
    number = next(i for i, line in enumerate(lines, start=1) if line.split("\t")[1] == "")  # none of the classes
    name = lines[number - 1].split("\t")[0]
    lines += [f"{name}\tbark\t0.1\t0.4", f"{name}\tbark\t0.2\t0.5"]
    labels.write_text("\n".join(lines) + "\n")
    result = done(*train(labels, tmp_path / "run", *audio(labels), training__holdout_fraction="0"))
    assert (
        f"earmark: {labels}:{len(lines) - 1} says that 'bark' is in a part of {name}, and {labels}:{number}, which"
        " covers this part, that it is not there (1 more like this) - is a tag missing?\n"
    ) in result.stderr


def test_what_may_not_be_meant_is_remarked_and_done(labels: Path, tmp_path: Path) -> None:
    labels.write_text(labels.read_text().replace("04.wav\tbark", "04.wav\tBark"))
    result = done(*train(labels, tmp_path / "run", *audio(labels), training__holdout_fraction="0"))
    assert "earmark: the classes 'Bark' and 'bark' look alike - is one a typing error?\n" in result.stderr
    where = next(n for n, line in enumerate(labels.read_text().splitlines(), start=1) if "Bark" in line)
    assert f"earmark: too few clips to learn from: Bark (1, {labels}:{where}), " in result.stderr
    shutil.rmtree(tmp_path / "run")
    rows = [f"{index:02d}.wav\tbird\n" for index in range(12)]
    labels.write_text("filename\tevent_labels\n" + "".join(rows))
    result = done(*train(labels, tmp_path / "run", *audio(labels)))
    assert (
        f"earmark: every clip in {labels} has the class 'bird', or nobody listened for it there, so nothing shows"
        in result.stderr
    )


def test_what_cannot_be_exported_is_said_before_and_not_offered_after(labels: Path, tmp_path: Path) -> None:
    options = ["--pooling", "hierarchical", "--set", "pooling.inner=power", "--set", "pooling.groups=[5,5]"]
    result = done(*train(labels, tmp_path / "run", *audio(labels), *options))
    assert "earmark: this run will not be exportable for detection: hierarchical pooling" in result.stderr
    assert "next:" not in result.stderr
    assert "hierarchical pooling weighs a frame by its place" in refused(
        "export", tmp_path / "run", tmp_path / "model.onnx"
    )


# Wrong input


def test_without_any_readable_clip_there_is_nothing_to_train(labels: Path, tmp_path: Path) -> None:
    for file in (labels.parent / "audio").iterdir():
        file.write_bytes(b"")
    message = refused(*train(labels, tmp_path / "run", *audio(labels)))
    assert "none of the 12 clips could be read; the first: " in message
    assert f"{labels.parent}/audio/00.wav: is empty" in message
    assert "no training clip could be read; the first: " in refused(
        *train(labels, tmp_path / "run", *audio(labels), "--dry-run")
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "training.epoch=3"], "unknown key 'epoch' - did you mean 'epochs'?"),
        (["--set", "trainig.epochs=3"], "unknown section [trainig] (there are: features, model, pooling, training,"),
        (["--set", "epochs=3"], "got 'epochs=3' - did you mean training.epochs?"),
        (["--set", "training.epochs=many"], "epochs must be a whole number, got 'many'"),
        (["--set", "training.epochs=0"], "training.epochs must be at least 1, got 0"),
        (["--pooling", "powr"], "pooling must be one of attention, auto, "),
        (["--pooling", "powr"], "got 'powr' - did you mean 'power'?"),
        # 16000 samples a second, 400 for each feature frame, and two of these for each frame of the network.
        (["--pooling", "cap"], "needs 'n_frames' - add --set pooling.n_frames=..., a second of audio has 20 frames"),
        (["--pooling", "hierarchical"], "for instance 'power' - add --set pooling.inner=...\n"),
        (
            ["--pooling", "hierarchical", "--set", "pooling.inner=cap", "--set", "pooling.groups=[5, 5]"],
            "needs 'n_frames' - add --set pooling.n_frames=...",
        ),
        (["--pooling", "power", "--set", "pooling.axis=time"], "pooling 'power' takes no 'axis' (it takes: initial"),
        (
            ["--pooling", "hierarchical", "--set", "pooling.inner=powr", "--set", "pooling.groups=[5, 5]"],
            "got 'powr' - did you mean 'power'?",
        ),
        (["--device", "gpu"], "device must be one of auto, cpu, cuda, mps, got 'gpu'"),
        (["--threads", "0"], "--threads must be at least 1, got 0"),
        (["--threads", "two"], "Invalid value for '--threads': 'two' is not a valid integer."),
        (["--held-out", "test"], "--held-out test needs --split, the column in which this value stands"),
        (["--split", "split", "--held-out", "test"], "weak.tsv:2: --split names a column 'split' that is not there"),
        (["--group", "patient"], "weak.tsv:2: --group names a column 'patient' that is not there"),
        (["--audio", "nowhere"], "--audio must be a folder, got nowhere - the folder that holds the recordings"),
        (["--config", "nowhere.toml"], "configuration: No such file or directory - is the path relative to"),
    ],
)
def test_wrong_options(options: list[str], message: str, labels: Path, tmp_path: Path) -> None:
    assert message in refused(*train(labels, tmp_path / "run", *audio(labels), *options))
    assert not (tmp_path / "run").exists()


def test_an_unknown_key_in_a_file(labels: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[training]\nlearnig_rate = 0.1\n")
    message = refused(*train(labels, tmp_path / "run", *audio(labels), "--config", tmp_path / "mine.toml"))
    assert "mine.toml [training]: unknown key 'learnig_rate' - did you mean 'learning_rate'?" in message


def test_the_split_column_without_its_value(labels: Path, tmp_path: Path) -> None:
    rows = labels.read_text().splitlines()
    labels.write_text("\n".join([f"{rows[0]}\tfold", *(f"{row}\t{i % 3}" for i, row in enumerate(rows[1:]))]) + "\n")
    message = refused(*train(labels, tmp_path / "run", *audio(labels), "--split", "fold"))
    assert "--held-out must say which value of column 'fold' is held out: '0', '1', '2'" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.tsv", "there is no such label file or folder - is the path relative to another folder?"),
        ("negative.tsv", "negative.tsv: at least one clip must have a label, got 1 clip and no label - do the labels"),
        ("header.tsv", "header.tsv: the label file lists no clips - only its first line is there"),
        ("model.onnx", "model.onnx: is no table of labels but a model"),
        ("audio/00.wav", "LABELS must be a table of file names and tags, got the recording "),
        ("audio", "audio must lie in a sub-folder named after its class, this file lies beside them"),
        ("strong.tsv", "strong.tsv:1: onset, offset and event_label mark events, but weak labels are expected here"),
        ("wrong.tsv", "wrong.tsv:3: 2 fields expected (filename, event_labels), got 1"),
    ],
)
def test_wrong_labels(name: str, message: str, labels: Path, tmp_path: Path) -> None:
    (labels.parent / "strong.tsv").write_text("filename\tonset\toffset\tevent_label\n00.wav\t0\t1\tbark\n")
    (labels.parent / "wrong.tsv").write_text("filename\tevent_labels\n00.wav\tbark\n01.wav chirp\n")
    (labels.parent / "negative.tsv").write_text("filename\tevent_labels\n00.wav\t\n")
    (labels.parent / "header.tsv").write_text("filename\tevent_labels\n")
    (labels.parent / "model.onnx").write_bytes(b"\x08\xe6")
    assert message in refused(*train(labels.parent / name, tmp_path / "run", *audio(labels)))


def test_the_folder_of_the_run(labels: Path, tmp_path: Path) -> None:
    done(*train(labels, tmp_path / "run", *audio(labels)))
    message = refused(*train(labels, tmp_path / "run", *audio(labels)))
    assert message == (
        f"earmark: {tmp_path}/run already holds a run - add --resume to go on with it, or choose another --out\n"
    )
    assert (
        refused(*train(labels, labels, *audio(labels))) == f"earmark: --out must be a folder, got the file {labels}\n"
    )


def test_a_run_is_resumed_with_its_own_settings_and_labels(labels: Path, tmp_path: Path) -> None:
    done(*train(labels, tmp_path / "run", *audio(labels)))
    resume = ["train", labels, *audio(labels), "--out", tmp_path / "run", "--resume", "--threads", "1"]
    # Of all settings only the one that differs is named, also when the others are not repeated.
    message = refused(*resume, "--set", "training.epochs=3")
    assert "was begun with other settings (training.epochs was 2, now 3) - " in message
    labels.write_text(labels.read_text().replace("01.wav\tchirp", "01.wav\tbark"))
    assert "was trained on other labels or held-out clips" in refused(*resume)


def test_learning_too_fast_stops_the_run(labels: Path, tmp_path: Path) -> None:
    options = {"training__learning_rate": "1e30", "training__warmup_epochs": "0"}
    message = refused(*train(labels, tmp_path / "run", *audio(labels), **options))
    # Whether the loss, its gradient or what the network says leaves the numbers first depends on the processor.
    number = "[-+.e0-9naif]+"
    assert re.fullmatch(
        rf"earmark: (the (loss|gradient) is no longer a finite number at step 2 \(tags {number}, penalty {number},"
        rf" gradient norm {number}\) on the clips|after step \d \(before it: tags {number}, penalty"
        rf" {number}\) the network says {number} where \+-10 is nearly"
        r" certain, on the clips) (\d\d\.wav(, )?)+; no checkpoint had been written yet - begin another run with a"
        r" lower training\.learning_rate, or look at these clips\n",
        message,
    )


def test_a_loss_that_is_no_number_leaves_the_last_good_checkpoint(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = loop.supervised_terms
    steps = []

    def spoilt(*arguments: Any) -> dict[str, torch.Tensor]:
        steps.append(arguments)
        terms = honest(*arguments)
        return terms if len(steps) < 4 else {**terms, "tags": terms["tags"] * float("nan")}

    monkeypatch.setattr(loop, "supervised_terms", spoilt)
    message = refused(*train(labels, tmp_path / "run", *audio(labels), training__checkpoint_seconds="0"))
    assert "the loss is no longer a finite number at step 4 (tags nan, penalty 0, gradient norm nan) on the " in message
    last = tmp_path / "run/last.safetensors"
    assert f"; the last good checkpoint is {last} - " in message
    checkpoint = load_checkpoint(last)
    assert checkpoint.progress.step == 3
    assert all(torch.isfinite(weight).all() for weight in checkpoint.network.parameters())


def test_too_little_memory_says_what_to_lower(labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*arguments: object, **named: object) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore about it.")

    monkeypatch.setattr(training_run, "train_network", too_much)
    message = refused(*train(labels, tmp_path / "run", *audio(labels)))
    assert message == (
        "earmark: not enough memory (CUDA out of memory. Tried to allocate 2.00 GiB.) - lower training.batch_seconds,"
        " now 12; for clips of many minutes training.piece_seconds, now 60\n"
    )


def test_a_mistake_of_ours_keeps_its_traceback(labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object, **named: object) -> None:
        raise RuntimeError("size mismatch")

    monkeypatch.setattr(training_run, "train_network", wrong)
    assert isinstance(earmark(*train(labels, tmp_path / "run", *audio(labels))).exception, RuntimeError)


def test_tensorboard_that_is_not_installed(labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    message = refused(*train(labels, tmp_path / "run", *audio(labels), "--tensorboard"))
    assert message == 'earmark: --tensorboard needs TensorBoard: pip install "earmark[tensorboard]"\n'
    assert not (tmp_path / "run").exists()
