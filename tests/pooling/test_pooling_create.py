"""Choosing a pooling function by name, and what all of them refuse; what each one refuses stands in its own test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from pooling_cases import Case, plain_cases
from torch import Tensor

from earmark import pooling

# -- laws -----------------------------------------------------------------------------------------------------------


def test_the_functions_of_the_paper_are_there() -> None:
    paper = {"attention", "auto", "average", "cap", "exponential", "hierarchical", "linear", "max", "power", "rap"}
    assert paper <= set(pooling.names())
    assert pooling.names() == sorted(pooling.names())


def test_a_new_file_in_the_folder_is_a_new_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loudest_two.py").write_text(
        "from earmark.pooling.base import Pool\n"
        "class LoudestTwo(Pool):\n"
        "    name = 'loudest_two'\n"
        "    def frame_scores(self, log_y, head_scores):\n"
        "        second = log_y.topk(2, dim=1).values[:, 1:]\n"
        "        return (log_y < second).float() * -1000\n"
    )
    monkeypatch.setattr(pooling, "__path__", [*pooling.__path__, str(tmp_path)])
    pooling._classes.cache_clear()
    try:
        assert "loudest_two" in pooling.names()
        assert pooling.takes("loudest_two") == ()
        clip = torch.logit(torch.tensor([[[0.2], [0.6], [0.9]]]))
        assert pooling.create("loudest_two", n_classes=1)(clip).item() == pytest.approx(0.75)  # (0.6 + 0.9) / 2
    finally:
        sys.modules.pop("earmark.pooling.loudest_two", None)
        pooling._classes.cache_clear()


def test_options_left_out_keep_their_defaults() -> None:
    needed: dict[str, dict[str, Any]] = {"power": {}, "auto": {}, "cap": {"n_frames": 100}, "rap": {"penalty": 0.1}}
    values = {name: pooling.create(name, n_classes=2, **given).parameter_values() for name, given in needed.items()}
    assert {name: value.tolist() for name, value in values.items() if value is not None} == {
        "power": [1.0, 1.0],  # as linear softmax
        "auto": [1.0, 1.0],  # as exponential softmax
        "cap": [1.0, 1.0],
        "rap": [1.0, 1.0],
    }


def test_every_option_reaches_its_function() -> None:
    assert pooling.takes("power") == ("initial", "penalty", "constraint", "shared")
    pool = pooling.create("power", n_classes=2, initial=3.0, penalty=0.5, constraint="softplus", shared=True)
    (raw,) = pool.parameters()
    assert raw.shape == (1,)
    assert raw.item() == pytest.approx(2.9489, abs=1e-4)  # log(e^3 - 1)
    assert pool.penalty().item() == pytest.approx(9.0)  # 0.5 (9 + 9)


# -- wrong input ----------------------------------------------------------------------------------------------------

every_pool = pytest.mark.parametrize(
    "case", [*plain_cases(), Case("hierarchical", {"inner": "power", "groups": (3, 2)})], ids=str
)
TRUE = torch.ones(2, 5, dtype=torch.bool)


@every_pool
@pytest.mark.parametrize(
    ("logits", "mask", "message"),
    [
        (torch.zeros(5, 3), None, r"logits must have shape \(batch, frames, classes\), got \(5, 3\) - did you forget"),
        (torch.zeros(2, 3, 5), None, r"logits must have 3 classes on the last axis, got shape \(2, 3, 5\) - are"),
        (torch.zeros(2, 0, 3), None, r"logits must have at least one frame, got shape \(2, 0, 3\)"),
        (torch.zeros(2, 5, 3, dtype=torch.long), None, r"logits must be floating point numbers, got torch.int64"),
        (torch.zeros(2, 5, 3), TRUE.byte(), r"mask must be bool \(true = real frame\), got torch.uint8 - convert it"),
        (torch.zeros(2, 5, 3), TRUE.float(), r"mask must be bool \(true = real frame\), got torch.float32"),
        (torch.zeros(2, 5, 3), TRUE[:1], r"mask must have shape \(batch, frames\) = \(2, 5\), got \(1, 5\)"),
        (torch.zeros(2, 5, 3), TRUE.T, r"mask must have shape \(batch, frames\) = \(2, 5\), got \(5, 2\)"),
        (torch.zeros(2, 5, 3), TRUE[:, :, None], r"mask must have shape \(batch, frames\) = \(2, 5\), got \(2, 5, 1\)"),
    ],
)
def test_wrong_logits_and_masks_are_refused(case: Case, logits: Tensor, mask: Tensor | None, message: str) -> None:
    features = torch.zeros(*logits.shape[:2], 5) if logits.ndim == 3 else None
    for call in (case.pool(), case.pool().log_probs, case.pool().scores):
        with pytest.raises(ValueError, match=message):
            call(logits, mask, features)


@every_pool
@pytest.mark.parametrize("which", ["logits", "mask", "features"])
@pytest.mark.parametrize("kind", ["list", "ndarray"])
def test_whatever_is_no_tensor_is_refused(case: Case, which: str, kind: str) -> None:
    arguments: dict[str, Any] = {"logits": torch.zeros(2, 5, 3), "mask": TRUE, "features": torch.zeros(2, 5, 5)}
    arguments[which] = arguments[which].tolist() if kind == "list" else arguments[which].numpy()
    for call in (case.pool(), case.pool().log_probs, case.pool().scores):
        with pytest.raises(ValueError, match=rf"{which} must be a torch tensor, got {kind} - convert it: torch.as_t"):
            call(**arguments)


@every_pool
def test_logits_must_be_there(case: Case) -> None:
    nothing: Any = None
    for call in (case.pool(), case.pool().log_probs, case.pool().scores):
        with pytest.raises(ValueError, match="logits must be a torch tensor, got NoneType - convert it"):
            call(nothing, TRUE, torch.zeros(2, 5, 5))


@every_pool
@pytest.mark.parametrize(
    ("clip_probs", "message"),
    [
        (0.5, "clip_probs must be a torch tensor, got float - convert it: torch.as_tensor"),
        ([0.5, 0.5, 0.5], "clip_probs must be a torch tensor, got list"),
        (torch.tensor(0.5), r"clip_probs must have 3 classes on the last axis, got shape \(\)"),
        (torch.zeros(2, 1), r"clip_probs must have 3 classes on the last axis, got shape \(2, 1\)"),
        (torch.zeros(3, 2), r"clip_probs must have 3 classes on the last axis, got shape \(3, 2\)"),
        (torch.zeros(2, 3, dtype=torch.long), "clip_probs must be floating point numbers, got torch.int64"),
    ],
)
def test_a_sign_threshold_of_anything_but_clip_probs_is_refused(case: Case, clip_probs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        case.pool().sign_threshold(clip_probs)


@every_pool
def test_features_of_another_length_are_refused_even_where_they_are_not_used(case: Case) -> None:
    with pytest.raises(ValueError, match=r"features .* as many clips and frames as the logits \(2, 5, 3\), got \(2, 4"):
        case.pool()(torch.zeros(2, 5, 3), None, torch.zeros(2, 4, 5))


@pytest.mark.parametrize("name", [name for name in pooling.names() if name != "hierarchical"])
@pytest.mark.parametrize("option", ["n_features", "n_frames", "axis", "initial", "penalty", "constraint", "shared"])
def test_an_option_that_does_not_belong_is_refused(name: str, option: str) -> None:
    values: dict[str, Any] = {"axis": "time", "constraint": "project", "shared": True, "initial": 1.0, "penalty": 0.1}
    if option in pooling.takes(name):
        return
    with pytest.raises(ValueError, match=rf"pooling '{name}' takes no '{option}'"):
        pooling.create(name, n_classes=2, **{option: values.get(option, 9)})


@pytest.mark.parametrize("name", [name for name in pooling.names() if name != "hierarchical"])
def test_stages_are_refused_by_all_others(name: str) -> None:
    with pytest.raises(ValueError, match=rf"pooling '{name}' takes no 'inner'"):
        pooling.create(name, n_classes=2, inner="power")
    with pytest.raises(ValueError, match=rf"pooling '{name}' takes no 'groups'"):
        pooling.create(name, n_classes=2, groups=(5, 5))


def test_unknown_names_and_no_classes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pooling must be one of attention, auto, .*, got 'powr' - did you mean"):
        pooling.create("powr", n_classes=2)
    with pytest.raises(ValueError, match=r"pooling must be one of .*, got 'median'"):
        pooling.takes("median")
    with pytest.raises(ValueError, match=r"n_classes must be at least 1, got 0"):
        pooling.create("average", n_classes=0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2.5, "must be a whole number, got 2.5"),
        (True, "must be a number, got True"),
        ("2", "must be a number, got '2'"),
        (float("nan"), "must be at least [13], got nan"),
        (float("inf"), "must be a finite number, got inf"),
    ],
)
def test_what_is_counted_is_a_whole_number(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"n_classes {message}"):
        pooling.create("average", n_classes=value)
    with pytest.raises(ValueError, match=f"n_features {message}"):
        pooling.create("attention", n_classes=2, n_features=value)
    with pytest.raises(ValueError, match=f"n_frames {message.replace('2.5', '20.5')}"):
        pooling.create("cap", n_classes=2, n_frames=20.5 if value == 2.5 else value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"groups {message}"):
        pooling.create("hierarchical", n_classes=2, inner="power", groups=(2, value))


@pytest.mark.parametrize("name", ["power", "auto", "cap", "rap"])
@pytest.mark.parametrize("value", ["1", True, [1.0, 2.0]])
def test_a_parameter_begins_as_one_number(name: str, value: Any) -> None:
    needed: dict[str, dict[str, Any]] = {"cap": {"n_frames": 20}, "rap": {"penalty": 0.1}}
    with pytest.raises(ValueError, match=r"initial must be a number, got ('1'|True|\[1[.]0, 2[.]0\])"):
        pooling.create(name, n_classes=2, initial=value, **needed.get(name, {}))


@pytest.mark.parametrize("name", ["power", "auto", "cap", "rap"])
@pytest.mark.parametrize("value", ["no", "false", 0, 1, [True, False]])
def test_one_parameter_for_all_or_not_is_yes_or_no(name: str, value: Any) -> None:
    needed: dict[str, dict[str, Any]] = {"cap": {"n_frames": 20}, "rap": {"penalty": 0.1}}
    with pytest.raises(ValueError, match=r"shared must be True or False, got .* - True: one parameter for all classes"):
        pooling.create(name, n_classes=2, shared=value, **needed.get(name, {}))


def test_whole_numbers_may_be_written_with_a_point() -> None:
    # As 3.0 from JSON or from a division: torch itself takes nothing but an int.
    counts: dict[str, Any] = {"n_classes": 3.0, "n_features": 4.0}
    assert pooling.create("attention", **counts)(torch.zeros(2, 8, 3), None, torch.zeros(2, 8, 4)).shape == (2, 3)
    for name in ("power", "auto"):
        assert pooling.create(name, n_classes=counts["n_classes"]).parameter_values().shape == (3,)  # type: ignore[union-attr]
    stages: Any = (2.0, 4.0)
    pool = pooling.create("hierarchical", n_classes=counts["n_classes"], inner="power", groups=stages)
    assert pool(torch.zeros(2, 8, 3)).shape == (2, 3)
