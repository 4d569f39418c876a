"""The settings of decoding."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from earmark.detection.settings import ClassDecoding, Decoding, from_durations

TUNED = Decoding(
    "tuned",
    ("cat", "dog"),
    (
        ClassDecoding(),
        ClassDecoding(
            threshold=0.7,
            low_threshold=0.1,
            median_seconds=1 / 3,
            max_gap_seconds=0.2,
            min_event_seconds=0.1,
            clip_threshold=0.05,
        ),
    ),
)


def as_dict(**changes: Any) -> dict[str, Any]:
    """A sound dictionary of one class, with changes."""
    return {"mode": "fixed", "classes": ["dog"], "settings": [{}], **changes}


# --- laws ---


@pytest.mark.parametrize(
    "decoding", [TUNED, Decoding.fixed(["dog"]), from_durations(["dog"], {"dog": 0.7}), Decoding.fixed([])]
)
def test_json_keeps_every_bit(decoding: Decoding) -> None:
    assert Decoding.from_dict(json.loads(json.dumps(decoding.to_dict(), allow_nan=False))) == decoding


def test_needs_no_numpy() -> None:
    code = "import sys, earmark.detection.settings; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- worked numbers ---


def test_durations_become_windows() -> None:
    decoding = from_durations(["dog", "hum"], {"hum": 6.0, "dog": 0.6}, fraction=0.5, threshold=0.4)
    assert decoding.mode == "duration"
    assert [one.median_seconds for one in decoding.settings] == [0.3, 3.0]  # 0.5 * 0.6, 0.5 * 6.0
    assert [(one.threshold, one.clip_threshold) for one in decoding.settings] == [(0.4, 0.4)] * 2
    assert from_durations(["hum"], {"hum": 6.0}).of("hum") == ClassDecoding(median_seconds=2.0)  # a third, 0.5


def test_fixed_sets_frames_and_clips_alike() -> None:
    decoding = Decoding.fixed(["cat", "dog"], threshold=0.3)
    assert decoding.mode == "fixed"
    assert decoding.settings == (ClassDecoding(threshold=0.3, clip_threshold=0.3),) * 2


def test_lower_is_the_threshold_unless_there_is_one() -> None:
    assert ClassDecoding(threshold=0.4).lower == 0.4
    assert ClassDecoding(threshold=0.4, low_threshold=0.0).lower == 0.0  # 0 is a threshold, not "none"


def test_absent_settings_have_their_defaults() -> None:
    assert Decoding.from_dict(as_dict(settings=[{"median_seconds": 1}])).settings == (ClassDecoding(median_seconds=1),)


# --- wrong input ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 1.5}, "threshold must be at least 0 and at most 1, got 1.5 - thresholds are probabilities"),
        ({"threshold": -0.1}, "threshold must be at least 0 and at most 1, got -0.1"),
        ({"threshold": float("nan")}, "threshold must be at least 0 and at most 1, got nan"),
        ({"clip_threshold": 2.0}, "clip_threshold must be at least 0 and at most 1, got 2.0"),
        ({"low_threshold": 0.6}, "low_threshold must be at least 0 and at most 0.5, got 0.6 - it may not be above"),
        ({"low_threshold": -0.6}, "low_threshold must be at least 0"),
        ({"median_seconds": -1.0}, "median_seconds must be at least 0, got -1.0 - is it in seconds"),
        ({"max_gap_seconds": float("inf")}, "max_gap_seconds must be a finite number, got inf"),
        ({"min_event_seconds": -0.1}, "min_event_seconds must be at least 0, got -0.1"),
    ],
)
def test_settings_out_of_range(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClassDecoding(**settings)
    with pytest.raises(ValueError, match=f"decoding, settings of 'dog': {message}"):
        Decoding.from_dict(as_dict(settings=[settings]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mod": "fixed"}, "decoding: unknown key 'mod' - did you mean 'mode'"),
        ({"settings": [{"median_second": 1}]}, "unknown key 'median_second' - did you mean 'median_seconds'"),
        ({"settings": [{"threshold": "0.5"}]}, "settings of 'dog': threshold must be a number, got '0.5'"),
        ({"settings": [{"threshold": None}]}, "threshold must be a number, got None"),
        ({"settings": [{"threshold": True}]}, "threshold must be a number, got True"),
        ({"settings": [{}, {}]}, r"settings must be one per class, got 2 for 1 classes \(dog\)"),
        ({"settings": []}, "settings must be one per class, got 0 for 1"),
        ({"settings": {"dog": {}}}, "settings must be a list of tables, got {'dog'"),
        ({"classes": "dog"}, "classes must be a list of names, got 'dog'"),
        ({"classes": [1]}, r"classes must be a list of names, got \[1\]"),
        (
            {"classes": ["dog", "dog"], "settings": [{}, {}]},
            "classes must be different names, got 'dog' more than once",
        ),
        ({"mode": "tunde"}, "mode must be one of fixed, duration, tuned, got 'tunde' - did you mean 'tuned'"),
    ],
)
def test_wrong_dictionaries(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Decoding.from_dict(as_dict(**changes))


@pytest.mark.parametrize("name", ["mode", "classes", "settings"])
def test_missing_parts(name: str) -> None:
    values = as_dict()
    del values[name]
    with pytest.raises(ValueError, match=f"decoding: {name} is missing"):
        Decoding.from_dict(values)


def test_unknown_class() -> None:
    with pytest.raises(ValueError, match=r"decoding: unknown class 'dgo' \(the classes are: cat, dog\) - did you mean"):
        TUNED.of("dgo")


@pytest.mark.parametrize(
    ("mean_seconds", "message"),
    [
        ({}, "mean_seconds must name every class, 'dog' is missing"),
        ({"dog": 1.0, "cat": 1.0}, "mean_seconds: unknown class 'cat'"),
        ({"dog": 0.0}, r"mean_seconds\['dog'\] must be above 0, got 0.0 - is it in seconds"),
    ],
)
def test_wrong_durations(mean_seconds: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_durations(["dog"], mean_seconds)


def test_wrong_fraction() -> None:
    with pytest.raises(ValueError, match="fraction must be at least 0, got -1"):
        from_durations(["dog"], {"dog": 1.0}, fraction=-1)
