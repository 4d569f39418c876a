from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_cases import done, earmark, make_model, refused
from detect_cases import expected, make_recordings

from earmark.detection.detector import Detector


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    return make_recordings(tmp_path)


# One recording that cannot be read, named or written never costs the others


def test_one_corrupt_file_never_costs_the_others(model: Path, recordings: Path, tmp_path: Path) -> None:
    truth = expected(model, recordings)
    (recordings / "hill/broken.wav").write_bytes(b"RIFF and then nothing")
    reason = f"earmark: {recordings}/hill/broken.wav: cannot be read as audio ("
    printed = earmark("detect", recordings, "--model", model)
    assert printed.exit_code == 1
    assert printed.stderr.startswith(reason)
    assert printed.stderr.count("broken.wav") == 1
    assert {line.split("\t")[0] for line in printed.stdout.splitlines()[1:]} == truth.keys()
    written = earmark("detect", recordings, "--model", model, "--out", tmp_path / "out")
    assert written.exit_code == 1
    assert written.stderr.startswith(f"4 of 5 recordings detected, results in {tmp_path}/out\n{reason}")
    assert sorted(path.name for path in (tmp_path / "out/hill").iterdir()) == ["a.flac.tsv", "a.wav.tsv"]


def test_a_file_that_cannot_be_opened_never_costs_the_others(
    model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse = Detector.analyse

    def guarded(detector: Detector, audio: Path, *, with_scores: bool) -> object:
        if audio.name == "b.wav":
            raise PermissionError(13, "Permission denied", str(audio))
        return analyse(detector, audio, with_scores=with_scores)

    monkeypatch.setattr(Detector, "analyse", guarded)
    result = earmark("detect", recordings, "--model", model)
    assert result.exit_code == 1
    assert result.stderr == f"earmark: {recordings}/b.wav: Permission denied\n"
    assert "hill/a.wav" in result.stdout


def test_a_name_that_no_table_can_hold_never_costs_the_others(model: Path, recordings: Path, tmp_path: Path) -> None:
    (recordings / "b.wav").rename(recordings / "b\nc.wav")
    for options in ([], ["--out", tmp_path / "out"]):
        result = earmark("detect", recordings, "--model", model, *options)
        assert result.exit_code == 1
        assert "the filename 'b\\nc.wav' holds a tab, a line end or another control character - rename it" in (
            result.stderr
        )


def test_a_name_that_is_not_utf8_never_costs_the_others(model: Path, recordings: Path, tmp_path: Path) -> None:
    truth = expected(model, recordings)
    os.link(recordings / "b.wav", os.fsencode(recordings) + b"/m\xff.wav")
    for options in ([], ["--out", tmp_path / "out"]):
        result = earmark("detect", recordings, "--model", model, *options)
        assert result.exit_code == 1
        assert "the filename 'm\\udcff.wav' is not UTF-8 and no table can hold it - rename it" in result.stderr
    assert len(list((tmp_path / "out").rglob("*.tsv"))) == len(truth)


def test_results_that_cannot_be_written_never_cost_the_others(model: Path, recordings: Path, tmp_path: Path) -> None:
    longest = "n" * 247 + ".wav"  # with .tsv behind it as long as a name can be
    os.link(recordings / "b.wav", recordings / longest)
    (tmp_path / "out" / "b.wav.tsv").mkdir(parents=True)
    result = earmark("detect", recordings, "--model", model, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"4 of 5 recordings detected, results in {tmp_path}/out\n")
    assert f"earmark: {recordings}/b.wav: Is a directory: {tmp_path}/out/b.wav.tsv\n" in result.stderr
    assert (tmp_path / "out" / f"{longest}.tsv").is_file()
    assert [path.name for path in (tmp_path / "out").rglob("*.tmp")] == []


def test_a_full_disk_ends_it_at_once(model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def full(path: Path, *rest: object, **options: object) -> None:
        asked.append(path)
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("earmark.writers.write_events", full)
    assert refused("detect", recordings, "--model", model, "--out", "out") == (
        f"earmark: {asked[0]}: No space left on device\n"
    )
    assert len(asked) == 1


def test_what_was_detected_is_out_before_the_next_recording_is_read(
    model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse = Detector.analyse

    def stopped(detector: Detector, audio: Path, *, with_scores: bool) -> object:
        if audio.name == "a.wav":  # the third of the four
            raise KeyboardInterrupt
        return analyse(detector, audio, with_scores=with_scores)

    whole = done("detect", recordings, "--model", model).stdout
    monkeypatch.setattr(Detector, "analyse", stopped)
    result = earmark("detect", recordings, "--model", model)
    assert result.exit_code == 130
    assert result.stdout == "".join(
        line for line in whole.splitlines(keepends=True) if line.split("\t")[0] in ("filename", "b.wav", "hill/a.flac")
    )


def test_a_bar_on_a_terminal_counts_the_recordings(
    model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    @contextlib.contextmanager
    def noted(n_recordings: int) -> Iterator[Callable[[int], None]]:
        told.append(n_recordings)
        yield told.append

    monkeypatch.setattr("earmark.cli.detect._progress", noted)
    done("detect", recordings, "--model", model)
    assert told == [4, 0, 1, 2, 3]


def test_a_folder_that_may_not_be_written_is_told_before_anything_is_detected(
    model: Path, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.access  # whoever runs the tests may be allowed everything
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("out") and real(path, mode))
    monkeypatch.setattr(Detector, "analyse", None)
    result = earmark("detect", recordings, "--model", model, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (2, f"earmark: {tmp_path}/out: Permission denied\n")
