from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from cli_cases import HIDDEN, SHOWN, as_terminal, done, earmark, refused

from earmark.soundscapes.waves import power_law_noise


@pytest.fixture
def folder(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Twelve clips of two classes, with nothing wrong."""
    (tmp_path / "audio").mkdir()
    lines = ["filename\tevent_labels\tsite"]
    for i in range(40):
        sound = 0.1 * power_law_noise(rng, 1600, 8000, slope=0.0)
        soundfile.write(tmp_path / "audio" / f"{i}.wav", sound, 8000)
        lines.append(f"{i}.wav\t{('dog', 'cat', '')[i % 3]}\t{i % 4}")
    (tmp_path / "weak.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def doctor(folder: Path, *options: object) -> list[object]:
    return ["doctor", folder / "weak.tsv", "--audio", folder / "audio", "--workers", "1", *options]


def test_a_healthy_data_set_gets_a_page_and_exit_code_0(folder: Path) -> None:
    result = done(*doctor(folder))
    assert "nothing is wrong with these data" in result.stdout
    assert "the columns site" in result.stdout
    assert f"next: earmark train {folder}/weak.tsv --audio {folder}/audio --out run" in result.stdout
    assert result.stderr == ""


def test_notes_alone_are_healthy(folder: Path) -> None:
    soundfile.write(folder / "audio" / "more.wav", [0.1, 0.2], 8000)
    result = done(*doctor(folder))
    assert "note  audio-without-labels" in result.stdout
    assert "nothing is wrong with these data (0 errors, 0 warnings, 1 note)" in result.stdout


def test_findings_end_with_exit_code_1_and_stand_in_the_json(folder: Path) -> None:
    (folder / "audio" / "7.wav").write_text("<html>not found</html>")
    result = earmark(*doctor(folder, "--json"))
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["code"] == "audio-unreadable"
    assert finding["where"] == f"{folder.as_posix()}/weak.tsv:9"
    assert finding["file"] == "7.wav"
    assert finding["found"] == "is a web page, not audio - did the download need a login?"
    assert "next:" not in earmark(*doctor(folder)).stdout


def test_commas_and_a_default_folder(folder: Path) -> None:
    table = (folder / "weak.tsv").read_text().replace("\t", ",")
    (folder / "audio" / "weak.csv").write_text(table)
    done("doctor", folder / "audio" / "weak.csv")


def test_progress_only_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    from earmark.cli.doctor import _progress

    with _progress() as show:
        show(1, 2)
    sent = terminal.getvalue()
    assert "listening" in sent
    assert sent.count(HIDDEN) == sent.count(SHOWN) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions bind neither root nor Windows")
def test_a_recording_nobody_may_read(folder: Path) -> None:
    (folder / "audio" / "3.wav").chmod(0)
    result = earmark(*doctor(folder))
    assert result.exit_code == 1
    assert "Permission denied" in result.stdout


def test_links_in_a_circle_come_to_an_end(folder: Path) -> None:
    (folder / "audio" / "again").symlink_to(folder / "audio")
    done(*doctor(folder))


# Wrong input


def test_an_empty_label_file(folder: Path) -> None:
    (folder / "weak.tsv").write_text("")
    assert "weak.tsv:1: the first line must name the columns" in refused(*doctor(folder))


def test_a_label_file_of_a_header_alone(folder: Path) -> None:
    (folder / "weak.tsv").write_text("filename\tevent_labels\n")
    result = earmark(*doctor(folder))
    assert result.exit_code == 1
    assert "error  no-labels" in result.stdout


def test_a_recording_in_place_of_the_labels(folder: Path) -> None:
    message = refused("doctor", folder / "audio" / "1.wav", "--audio", folder / "audio")
    assert "is no table of labels but a recording" in message


def test_no_label_file_and_no_folder(folder: Path) -> None:
    assert "cannot be read (No such file" in refused("doctor", folder / "tags.tsv", "--audio", folder)
    assert "--audio must be a folder, got" in refused("doctor", folder / "weak.tsv", "--audio", folder / "weak.tsv")
    (folder / "nothing").mkdir()
    assert "no audio in this folder" in refused("doctor", folder / "weak.tsv", "--audio", folder / "nothing")


def test_no_worker(folder: Path) -> None:
    assert "--workers must be at least 1, got 0" in refused(*doctor(folder)[:4], "--workers", "0")
