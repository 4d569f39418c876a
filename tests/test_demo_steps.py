from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner
from demo_cases import CLASSES, EASY, small_demo, small_plan

from earmark.cli.main import main
from earmark.config import not_deployable
from earmark.config_file import read_config
from earmark.demo import steps
from earmark.demo.steps import MARKER, SYSTEMS, DemoPlan, run_demo
from earmark.labels.strong import read_strong, read_tags
from earmark.metrics.clip import clip_counts
from earmark.soundscapes.sources import SOURCES
from earmark.soundscapes.synthetic import draw_clip, held_out

# Laws


def test_the_events_are_what_the_commands_find(tmp_path: Path) -> None:
    out, result, _ = small_demo()
    for name in SYSTEMS:
        options = ["detect", out / "soundscapes/test/audio", "--model", out / f"{name}.onnx"]
        found = CliRunner().invoke(main, [str(option) for option in options])
        assert found.exit_code == 0
        assert found.stdout == (out / "detected" / f"{name}.tsv").read_text(encoding="utf-8")
        by_command = read_strong(out / "detected" / f"{name}.tsv")
        assert by_command.keys() == result.systems[name].events.keys()
        assert sum(map(len, by_command.values())) > 10


def test_the_figures_are_what_the_command_computes() -> None:
    out, result, _ = small_demo()
    for name, system in result.systems.items():
        options = ["--reference", out / "soundscapes/test/strong.tsv", "--predicted", out / "detected" / f"{name}.tsv"]
        computed = CliRunner().invoke(main, ["evaluate", *map(str, options), "--json", "-"])
        assert json.loads(computed.stdout)["event"]["macro"]["f1"] == pytest.approx(system.event_f1, abs=1e-12)


def test_every_test_clip_gets_the_audacity_file_of_the_command(tmp_path: Path) -> None:
    out, result, _ = small_demo()
    for name in SYSTEMS:
        options = ["--model", out / f"{name}.onnx", "--out", tmp_path / name, "--format", "audacity"]
        found = CliRunner().invoke(main, ["detect", str(out / "soundscapes/test/audio"), *map(str, options)])
        assert found.exit_code == 0, found.output
        by_command, by_demo = (
            {path.name: path.read_text(encoding="utf-8") for path in (folder / name).iterdir()}
            for folder in (tmp_path, out / "detected")
        )
        assert by_demo == by_command
        assert by_demo.keys() == {f"{filename}.txt" for filename in result.reference}


def test_a_clip_has_the_tags_of_all_its_spans(tmp_path: Path) -> None:
    out, result, _ = small_demo()
    tags = read_tags(out / "soundscapes/test/weak.tsv")
    for name, system in result.systems.items():
        options = ["--model", out / f"{name}.onnx", "--out", tmp_path / name, "--tags"]
        CliRunner().invoke(main, ["detect", str(out / "soundscapes/test/audio"), *map(str, options)])
        thresholds = [setting.clip_threshold for setting in system.detector.info.decoding.settings]
        found: dict[str, set[str]] = {}
        for filename in result.reference:
            rows = (tmp_path / name / f"{filename}.tags.tsv").read_text(encoding="utf-8").splitlines()
            labels = rows[0].split("\t")[3:]
            found[filename] = {
                label
                for row in rows[1:]
                for label, prob, threshold in zip(labels, row.split("\t")[3:], thresholds, strict=True)
                if float(prob) >= threshold
            }
        counts = clip_counts(tags, found, classes=system.detector.classes)
        np.testing.assert_array_equal(system.evaluation.clip.true_positives, counts.true_positives)
        np.testing.assert_array_equal(system.evaluation.clip.false_positives, counts.false_positives)
    # Two spans: what is in either of them.
    detector = copy.copy(result.systems["power"].detector)
    detector.info = replace(detector.info, clip_seconds=1.5)
    analysis = next(iter(result.systems["power"].analyses.values()))
    n_frames, n_classes = analysis.frame_probs.shape
    probs = np.zeros((n_frames, n_classes), dtype=np.float32)
    probs[: n_frames // 2, 0] = probs[n_frames // 2 :, 2] = 1.0
    flat = replace(analysis, frame_probs=probs, scores=np.zeros_like(probs))
    assert len(detector.tags(flat)) == 2
    assert steps._tags(detector, flat) == {CLASSES[0], CLASSES[2]}


def test_the_test_clips_come_from_another_seed_with_other_parameters() -> None:
    out, _, _ = small_demo()
    for part, clip in (("train", draw_clip((1, 0), EASY)), ("test", draw_clip((2, 0), held_out(EASY)))):
        samples = soundfile.read(out / f"soundscapes/{part}/audio/0000.wav")[0]
        assert samples == pytest.approx(clip.samples, abs=1 / 32768)  # written with 16 bits
    n_clips = {part: len(list((out / "soundscapes" / part / "audio").iterdir())) for part in ("train", "test")}
    assert n_clips == {"train": 64, "test": 16}


def test_it_is_good_when_every_system_reaches_what_is_required() -> None:
    _, result, _ = small_demo()
    lowest, highest = sorted(system.event_f1 for system in result.systems.values())
    assert result.is_good  # 0.3 is required of three easy classes
    assert replace(result, required_f1=lowest).is_good
    assert not replace(result, required_f1=math.nextafter(lowest, 1)).is_good
    assert not replace(result, required_f1=highest + 0.01).is_good


# Worked numbers


def test_the_plan_is_the_promise() -> None:
    plan = DemoPlan()
    assert (plan.n_training_clips, plan.n_test_clips, plan.required_f1) == (400, 120, 0.55)
    assert plan.soundscapes.classes == tuple(SOURCES)
    assert len(plan.soundscapes.classes) >= 10
    assert SYSTEMS == ("power", "linear")
    config = read_config(plan.config)
    assert not_deployable(config) is None


def test_what_the_demo_leaves_behind() -> None:
    out, result, said = small_demo()
    assert {path.name for path in out.iterdir()} >= {
        "detected", "linear.onnx", "power.onnx", "report.html", "runs", "soundscapes",
    }  # fmt: skip
    assert said == [
        "making 64 soundscapes to learn from, and 16 with other parameters to test on",
        "training power and linear pooling side by side, from tags alone, one thread each",
        "exporting both, marking events in the test clips, comparing them with the truth",
    ]
    assert list(result.systems) == ["power", "linear"]
    assert list(result.seconds) == ["soundscapes", "training", "detection"]
    assert all(seconds > 0 for seconds in result.seconds.values())
    assert soundfile.info(out / "soundscapes/train/audio/0000.wav").duration == 3.0
    assert result.systems["power"].detector.classes == CLASSES
    assert result.systems["power"].detector.info.pooling_values is not None
    assert result.systems["linear"].detector.info.pooling_values is None
    assert "epoch  20 of 20" in (out / "runs/power.txt").read_text(encoding="utf-8")


# Wrong input


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "runs/power/best.safetensors"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"three nights of training")
    plan = small_plan(tmp_path, required_f1=0.3)
    with pytest.raises(
        ValueError, match=r"the demo's folder must be new, empty, or that of an earlier demo, got .* - the"
    ):
        run_demo(tmp_path, plan=plan, say=print, on_progress=print)
    with pytest.raises(ValueError, match=r"the demo's folder must be a folder, got the file .*best\.safetensors"):
        run_demo(mine, plan=plan, say=print, on_progress=print)
    assert mine.read_bytes() == b"three nights of training"


def test_folders_named_like_those_of_the_demo_are_not_the_demos(tmp_path: Path) -> None:
    """The demo deletes runs/power, so it must know that it was the demo who made it."""
    mine = tmp_path / "work/runs/power/best.safetensors"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"three nights of training")
    (tmp_path / "work/soundscapes").mkdir()
    with pytest.raises(ValueError, match="must be new, empty, or that of an earlier demo"):
        run_demo(tmp_path / "work", plan=small_plan(tmp_path, required_f1=0.3), say=print, on_progress=print)
    assert mine.read_bytes() == b"three nights of training"
    assert not (tmp_path / "work" / MARKER).exists()


def test_an_empty_folder_is_marked_first_and_may_be_written_over_from_then_on(tmp_path: Path) -> None:
    def stop(text: str) -> None:
        said.append(text)
        assert (tmp_path / "demo" / MARKER).is_file()
        raise KeyboardInterrupt

    said: list[str] = []
    (tmp_path / "demo").mkdir()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_demo(tmp_path / "demo", plan=DemoPlan(), say=stop, on_progress=print)
        (tmp_path / "demo/soundscapes").mkdir(exist_ok=True)
    assert len(said) == 2


def test_training_that_fails_says_why_and_stops_the_other(tmp_path: Path) -> None:
    plan = replace(small_plan(tmp_path, required_f1=0.3), n_training_clips=4, n_test_clips=1)
    plan.config.write_text("[training]\nepoch = 3\n", encoding="utf-8")
    shares: list[Mapping[str, float]] = []
    wrong = re.escape("small.toml [training]: unknown key 'epoch' - did you mean 'epochs'?")
    with pytest.raises(ValueError, match=rf"^training (power|linear) pooling failed:\nearmark: .*{wrong}"):
        run_demo(tmp_path / "demo", plan=plan, say=lambda text: None, on_progress=shares.append)
    assert shares[-1] == {"power": 0.0, "linear": 0.0}
    # What was made before stays, and the demo may be begun again there.
    assert (tmp_path / "demo/soundscapes/train/weak.tsv").exists()
