from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import soundfile
from cli_cases import CLASSES, done, make_model, refused
from detect_cases import EVERYTHING, expected, make_recordings

from earmark.detection.detector import Detector, load
from earmark.labels.strong import read_strong
from earmark.writers import FORMATS, events_to_audacity, events_to_tsv


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    return make_recordings(tmp_path)


# Laws


def test_a_folder_is_printed_as_one_table(model: Path, recordings: Path, tmp_path: Path) -> None:
    result = done("detect", recordings, "--model", model)
    assert result.stderr == ""
    assert result.stdout.splitlines()[0] == EVERYTHING
    (tmp_path / "found.tsv").write_text(result.stdout, encoding="utf-8")
    found, truth = read_strong(tmp_path / "found.tsv"), expected(model, recordings)
    assert found.keys() == truth.keys() == {"hill/a.wav", "hill/a.flac", "lake/day 1/a.wav", "b.wav"}
    for name, events in truth.items():
        assert [(e.onset, e.offset, e.label) for e in found[name]] == [(e.onset, e.offset, e.label) for e in events]
        assert [e.score for e in found[name]] == pytest.approx([e.score for e in events], abs=1e-6)
    assert sum(map(len, truth.values())) > 0


def test_files_keep_their_folder_and_their_ending(model: Path, recordings: Path, tmp_path: Path) -> None:
    result = done("detect", recordings, "--model", model, "--out", tmp_path / "out", "--format", "tsv, audacity")
    assert result.stdout == ""
    assert result.stderr == f"4 of 4 recordings detected, results in {tmp_path}/out\n"
    written = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    names = {"hill/a.wav", "hill/a.flac", "lake/day 1/a.wav", "b.wav"}
    assert written == {name + suffix for name in names for suffix in (".tsv", ".txt")}
    for name, events in expected(model, recordings).items():
        assert (tmp_path / "out" / f"{name}.tsv").read_text(encoding="utf-8") == events_to_tsv({name: events})
        assert (tmp_path / "out" / f"{name}.txt").read_text(encoding="utf-8") == events_to_audacity(events)


def test_each_file_is_what_it_is_alone(model: Path, recordings: Path, tmp_path: Path) -> None:
    together = done("detect", recordings, "--model", model).stdout.splitlines()
    alone = done("detect", recordings / "hill" / "a.wav", "--model", model).stdout.splitlines()
    assert alone == [EVERYTHING, *(line.removeprefix("hill/") for line in together if line.startswith("hill/a.wav\t"))]
    assert len(alone) > 1


def test_threads_change_nothing_but_rounding(model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    create = Detector.__init__

    def noted(detector: Detector, path: Path, *, n_threads: int = 1) -> None:
        asked.append(n_threads)
        create(detector, path, n_threads=n_threads)

    monkeypatch.setattr(Detector, "__init__", noted)
    default = done("detect", recordings, "--model", model).stdout
    two = done("detect", recordings, "--model", model, "--threads", "2").stdout
    assert asked == [1, 2]
    assert [line.split("\t")[:4] for line in two.splitlines()] == [
        line.split("\t")[:4] for line in default.splitlines()
    ]


def test_a_recording_that_is_named_twice_comes_once(model: Path, recordings: Path) -> None:
    once = done("detect", recordings, "--model", model).stdout
    assert done("detect", recordings, recordings, recordings / "b.wav", "--model", model).stdout == once


# Worked numbers


def test_tags_of_every_span(model: Path, recordings: Path, tmp_path: Path) -> None:
    # The model learned from clips of 2 s, so a recording of 5 s has spans of 2, 2 and 1 s.
    samples = np.concatenate([soundfile.read(recordings / name)[0] for name in ("hill/a.wav", "b.wav", "hill/a.flac")])
    soundfile.write(tmp_path / "long.wav", samples[: 5 * 16000], 16000)
    done("detect", tmp_path / "long.wav", "--model", model, "--out", tmp_path / "out", "--tags")
    header, *rows = (tmp_path / "out/long.wav.tags.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["filename", "onset", "offset", *CLASSES]
    assert [row.split("\t")[:3] for row in rows] == [
        ["long.wav", "0.000", "2.000"],
        ["long.wav", "2.000", "4.000"],
        ["long.wav", "4.000", "5.000"],
    ]
    detector = load(model)
    tags = detector.tags(detector.analyse(tmp_path / "long.wav"))
    assert [row.split("\t")[3:] for row in rows] == [[f"{p:.4f}" for p in span.clip_probs] for span in tags]
    assert (tmp_path / "out/long.wav.tsv").exists()


def test_only_some_classes_and_only_sure_events(model: Path, recordings: Path, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in done("detect", recordings, "--model", model).stdout.splitlines()[1:]]
    label, least = rows[0][3], f"{float(rows[0][4]) - 1e-6:.6f}"  # printed, it may be rounded up
    options = ["--model", model, "--classes", label, "--min-score", least]
    found = [line.split("\t") for line in done("detect", recordings, *options).stdout.splitlines()[1:]]
    assert [row for row in found if row[3]] == [
        row for row in rows if row[3] == label and float(row[4]) >= float(least)
    ]
    assert {row[0] for row in found} == {row[0] for row in rows}  # what has no such event keeps a row
    done("detect", recordings / "b.wav", *options, "--out", tmp_path / "out", "--tags")
    header = (tmp_path / "out/b.wav.tags.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert header.split("\t") == ["filename", "onset", "offset", label]


def test_a_recording_without_events_keeps_its_row(
    model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Detector, "events", lambda detector, analysis: [])
    names = ["b.wav", "hill/a.flac", "hill/a.wav", "lake/day 1/a.wav"]
    header, *rows = done("detect", recordings, "--model", model).stdout.splitlines()
    assert header == EVERYTHING  # the same columns, whatever was found
    assert rows == [f"{name}\t\t\t\t" for name in names]


def test_a_recording_that_decodes_in_part(model: Path, recordings: Path) -> None:
    whole = (recordings / "b.wav").read_bytes()
    (recordings / "b.wav").write_bytes(whole[: 44 + 16000])  # a header and half a second of 16-bit samples
    result = done("detect", recordings / "b.wav", "--model", model)
    assert result.stderr.startswith(f"earmark: {recordings}/b.wav: only 0.50 of 2.00 s could be decoded: ")
    assert result.stdout.startswith(EVERYTHING)


# Wrong input


def test_all_corrupt(model: Path, recordings: Path, tmp_path: Path) -> None:
    for path in recordings.rglob("*.*"):
        if path.is_file():
            path.write_bytes(b"")
    message = refused("detect", recordings, "--model", model)
    assert message.count(": is empty - was the recording or the copy interrupted?\n") == 4
    assert refused("detect", recordings, "--model", model, "--out", tmp_path / "out") == (
        f"0 of 4 recordings detected, results in {tmp_path}/out\n{message}"
    )


def test_two_recordings_of_one_name(model: Path, recordings: Path, tmp_path: Path) -> None:
    first, second = recordings / "hill/a.wav", recordings / "lake/day 1/a.wav"
    for options in ([], ["--out", tmp_path / "out"]):
        message = refused("detect", first, second, "--model", model, *options)
        assert message == (
            f"earmark: {first} and {second} would both be called a.wav in the results, and one would be lost"
            " - name the folder above them instead, or detect them one by one\n"
        )
    assert not (tmp_path / "out").exists()


def test_two_spellings_of_one_name(model: Path, recordings: Path, tmp_path: Path) -> None:
    composed = "K\u00e4uzchen.wav"
    os.link(recordings / "b.wav", recordings / composed)
    (recordings / unicodedata.normalize("NFD", composed)).write_bytes((recordings / "hill/a.wav").read_bytes())
    if len(list(recordings.glob("K*.wav"))) == 2:  # some file systems know only one of the spellings
        assert "would both be called" in refused("detect", recordings, "--model", model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--format", "tvs", "--out", "out"],
            f"--format must be one of {', '.join(FORMATS)}, got 'tvs' - did you mean",
        ),
        (["--format", "tsv,", "--out", "out"], f"--format must be one of {', '.join(FORMATS)}, got ''"),
        (["--format", "audacity"], "--tags and formats other than tsv need --out, a folder for their files"),
        (["--tags"], "--tags and formats other than tsv need --out, a folder for their files"),
        (["--classes", "bark,cat"], "--classes: unknown class 'cat' (the classes are: bark, chirp, knock)"),
        (["--classes", ""], "--classes must name at least one of bark, chirp, knock, got ''"),
        (["--classes", "bark,"], "--classes: a label is empty - is there a comma too many?"),
        (["--min-score", "50"], "--min-score must be at least 0 and at most 1, got 50.0 - it is a probability, not a"),
        (["--threads", "0"], "--threads must be at least 1, got 0"),
        (["--threads", "all"], "Invalid value for '--threads': 'all' is not a valid integer."),
    ],
)
def test_wrong_options(options: list[str], message: str, model: Path, recordings: Path) -> None:
    assert message in refused("detect", recordings, "--model", model, *options)


def test_wrong_audio(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "nowhere.wav: no such file or folder - " in refused("detect", tmp_path / "nowhere.wav", "--model", model)
    assert "empty: no audio in this folder - " in refused("detect", tmp_path / "empty", "--model", model)
    assert "Missing argument 'AUDIO...'" in refused("detect", "--model", model)
    assert "Missing option '--model'" in refused("detect", "a.wav")


def test_a_file_where_the_results_should_go(model: Path, recordings: Path) -> None:
    message = refused("detect", recordings, "--model", model, "--out", model)
    assert message == f"earmark: --out must be a folder, got the file {model}\n"


def test_wrong_models(model: Path, recordings: Path, tmp_path: Path) -> None:
    run = model.parent / "run"
    (tmp_path / "cut.onnx").write_bytes(model.read_bytes()[:5000])
    for given, message in [
        (tmp_path / "no.onnx", f"{tmp_path}/no.onnx: there is no such model file - train one with earmark train, then"),
        (run, f"{run}: is a folder - if it is a run, make a model of it with: earmark export {run} FILE.onnx"),
        (run / "best.safetensors", "best.safetensors: is a model for training - make one for detection with: earmark"),
        (tmp_path / "cut.onnx", f"{tmp_path}/cut.onnx: is no readable ONNX file ("),
        (recordings / "b.wav", f"{recordings}/b.wav: is no readable ONNX file ("),
    ]:
        assert refused("detect", recordings, "--model", given).startswith(f"earmark: {given.parent}")
        assert message in refused("detect", recordings, "--model", given)
