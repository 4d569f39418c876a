"""What soundscapes leave on the disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earmark.events import Event
from earmark.soundscapes.synthetic import SoundscapeSettings, draw_clip, write_soundscapes

QUICK = SoundscapeSettings(clip_seconds=1.0, classes=("knock", "click", "bark", "chirp"), same_class_gap_seconds=0.1)


# ---- laws


def test_written_clips_are_the_same_on_every_run_and_in_every_larger_set(tmp_path: Path) -> None:
    for name, n_clips in (("once", 3), ("again", 3), ("larger", 5)):
        write_soundscapes(tmp_path / name, n_clips=n_clips, seed=2, settings=QUICK)
    for index in range(3):
        audio = [(tmp_path / name / "audio" / f"{index:04d}.wav").read_bytes() for name in ("once", "again", "larger")]
        assert audio[0] == audio[1] == audio[2]
    for table in ("weak.tsv", "strong.tsv"):
        once, again, larger = ((tmp_path / name / table).read_text() for name in ("once", "again", "larger"))
        assert once == again
        assert larger.startswith(once)


def test_written_audio_and_tables_say_what_was_drawn(tmp_path: Path) -> None:
    settings = replace(QUICK, empty_share=0.4)
    write_soundscapes(tmp_path, n_clips=8, seed=6, settings=settings)
    weak = dict(line.split("\t") for line in (tmp_path / "weak.tsv").read_text().splitlines()[1:])
    strong = [line.split("\t") for line in (tmp_path / "strong.tsv").read_text().splitlines()[1:]]
    drawn_clips = [draw_clip((6, index), settings) for index in range(8)]
    drawn = {f"{index:04d}.wav": clip for index, clip in enumerate(drawn_clips)}
    assert list(weak) == list(drawn)
    assert any(not clip.events for clip in drawn.values())
    for name, clip in drawn.items():
        written, rate = soundfile.read(tmp_path / "audio" / name, dtype="float32")
        assert rate == 16000
        np.testing.assert_allclose(written, clip.samples, atol=1 / 32768)
        assert soundfile.info(tmp_path / "audio" / name).subtype == "PCM_16"
        assert set(filter(None, weak[name].split(","))) == {event.label for event in clip.events}
        rows = [Event(float(row[1]), float(row[2]), row[3]) for row in strong if row[0] == name and row[1]]
        assert tuple(rows) == clip.events  # to the sample


# ---- worked numbers


def test_an_empty_clip_stands_in_both_tables_with_empty_fields(tmp_path: Path) -> None:
    write_soundscapes(tmp_path, n_clips=2, seed=1, settings=replace(QUICK, empty_share=1.0))
    assert (tmp_path / "weak.tsv").read_text() == "filename\tevent_labels\n0000.wav\t\n0001.wav\t\n"
    assert (tmp_path / "strong.tsv").read_text() == (
        "filename\tonset\toffset\tevent_label\n0000.wav\t\t\t\n0001.wav\t\t\t\n"
    )


def test_a_full_disk_is_the_systems_own_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # a limit for the size of files stands in for the size of a disk
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_soundscapes(tmp_path, n_clips=1, seed=1, settings=QUICK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "audio").iterdir()) == []  # no half of a clip


def test_an_interrupted_run_leaves_no_old_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_soundscapes(tmp_path, n_clips=1, seed=1, settings=QUICK)

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(soundfile, "write", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_soundscapes(tmp_path, n_clips=1, seed=2, settings=QUICK)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audio"]


# ---- wrong input


def test_a_set_without_clips_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="n_clips must be at least 1, got 0"):
        write_soundscapes(tmp_path / "new", n_clips=0, seed=1, settings=QUICK)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        write_soundscapes(tmp_path / "new", n_clips=1, seed=-1, settings=QUICK)
    with pytest.raises(ValueError, match=r"n_clips must be a whole number, got 2\.5"):
        write_soundscapes(tmp_path / "new", n_clips=2.5, seed=1, settings=QUICK)  # type: ignore[arg-type]
    for name, wrong in (("n_clips", {"n_clips": True, "seed": 1}), ("seed", {"n_clips": 1, "seed": True})):
        with pytest.raises(ValueError, match=f"{name} must be a number, got True"):
            write_soundscapes(tmp_path / "new", settings=QUICK, **wrong)
    assert not (tmp_path / "new").exists()
