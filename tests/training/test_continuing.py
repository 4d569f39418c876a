"""Runs that continue from a model: what is taken over, what is new, and what about a class nobody listened for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed, lively_network, pooling_config, weak_clip

from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.events import Event
from earmark.models.crnn import Network
from earmark.training.added_classes import in_words, joined_classes, only_what_labels_say
from earmark.training.batch import Batch
from earmark.training.checkpoint import Checkpoint, Progress, save_checkpoint
from earmark.training.clips import clip_set
from earmark.training.continuing import (
    START,
    StartModel,
    config_of,
    continued_network,
    keep_start,
    kept_decoding,
    read_start,
    refuse_other_settings,
    start_of,
)  # fmt: skip
from earmark.training.keeping import divergence, kept_terms
from earmark.training.strong_labels import Complete, StrongLabels
from earmark.training.supervised import batch_output

OLD, NEW = ("high", "low"), ("high", "low", "noise")

# Every pooling function, with options that give each class parameters of its own where it can have some.
POOLINGS: tuple[dict[str, Any], ...] = (
    {"name": "max"},
    {"name": "linear"},
    {"name": "power"},
    {"name": "power", "shared": True},
    {"name": "attention", "axis": "time"},
    {"name": "attention", "axis": "class"},
    {"name": "auto"},
    {"name": "cap", "n_frames": 50},
    {"name": "rap", "penalty": 0.01},
)


def start_model(network: Network, path: Path = Path("model"), **values: Any) -> StartModel:
    """A model in memory."""
    return StartModel(path, "digest", Checkpoint(network, {}, Progress(epoch=7), values.get("decoding"), {"clips": 7}))


def saved(path: Path, network: Network) -> Path:
    """A model on disk."""
    save_checkpoint(path, network, optimiser=None, progress=Progress(epoch=7))
    return path


def a_batch(rng: np.random.Generator, known: list[list[bool]], lengths: tuple[int, ...] = (20, 12)) -> Batch:
    """Two clips of the small features, the second padded."""
    features = torch.from_numpy(rng.normal(-7, 2, (2, 2 * max(lengths), 16))).float()
    mask = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    marks = torch.tensor(known)
    return Batch(features, mask, torch.zeros(marks.shape), marks, ("a.wav", "b.wav"))


# --- laws ---


@pytest.mark.parametrize("pooling", POOLINGS, ids=str)
def test_old_classes_say_the_same_at_first(pooling: dict[str, Any], rng: np.random.Generator) -> None:
    config = pooling_config(pooling)
    old = lively_network(config, OLD)
    with torch.no_grad():
        for parameter in old.pool.parameters():
            parameter.add_(0.3)
    new = continued_network(start_model(old), config, NEW).eval()
    batch = a_batch(rng, [[True] * 3] * 2)
    with torch.no_grad():
        before, after = batch_output(old, batch, config), batch_output(new, batch, config)
        probs = [n.pool(o.logits, o.mask, o.hidden) for n, o in ((old, before), (new, after))]
    assert torch.equal(after.logits[:, :, :2], before.logits)
    # Attention over classes is a softmax among them, which one more changes.
    if pooling != {"name": "attention", "axis": "class"}:
        torch.testing.assert_close(probs[1][:, :2], probs[0])
    assert torch.equal(new.mean, old.mean)


def test_what_is_new_is_as_in_an_untrained_network() -> None:
    new = continued_network(start_model(lively_network(SMALL, OLD)), SMALL, NEW)
    torch.manual_seed(SMALL.training.seed)
    untrained = Network(SMALL, NEW)
    for name in ("linear.weight", "linear.bias"):
        assert torch.equal(new.crnn.get_parameter(name)[2:], untrained.crnn.get_parameter(name)[2:])
    other = dataclasses.replace(SMALL, pooling=pooling_config({"name": "attention", "axis": "time"}).pooling)
    torch.manual_seed(SMALL.training.seed)
    expected = Network(other, NEW).pool.state_dict()
    found = continued_network(start_model(lively_network(SMALL, OLD)), other, NEW).pool.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())


def test_another_pooling_function_begins_anew_though_its_parameter_has_the_same_name() -> None:
    old = lively_network(pooling_config({"name": "auto", "initial": 2.5}), OLD)
    capped = pooling_config({"name": "cap", "n_frames": 50})
    networks = (continued_network(start_model(old), capped, NEW), Network(capped, NEW), old)
    found, untrained, before = (network.pool.state_dict()["alpha"].tolist() for network in networks)
    assert found == untrained
    assert found[:2] != before


def test_a_class_of_which_nobody_says_anything_is_unknown_everywhere() -> None:
    rows = [
        weak_clip("a.wav", ["noise"]),
        weak_clip("b.wav"),
        weak_clip("c.wav", known=frozenset({"noise", "low"})),  # somebody listened for low, and there was none
    ]
    clips = clip_set(rows, NEW, holdout_fraction=0)
    events = StrongLabels((Event(0.0, 1.0, "noise"),), (Complete(), Complete(0.0, 1.0, frozenset({"low"}))))
    clips = only_what_labels_say(dataclasses.replace(clips, strong=(events, None, None)), ["noise"])
    assert clips.known.tolist() == [[False, False, True], [False, False, True], [False, True, True]]
    assert clips.strong is not None
    assert clips.strong[0] is not None
    # A file whose noises are all marked says nothing of the rest.
    assert [span.classes for span in clips.strong[0].complete] == [frozenset({"noise"}), frozenset({"low"})]


def test_agreement_counts_where_labels_are_silent_and_nowhere_else(rng: np.random.Generator) -> None:
    old, config = lively_network(SMALL, OLD), changed(training={"keep_weight": 2.0})
    new = continued_network(start_model(lively_network(SMALL, OLD, seed=8)), config, NEW).eval()
    batch = a_batch(rng, [[False, True, True], [True, True, False]])
    output = batch_output(new, batch, config)
    found = kept_terms(old, output, batch, config)["kept"]
    with torch.no_grad():  # of the first class in the first clip, which has no padding, alone
        q, y = (torch.sigmoid(o.logits[0, :, 0]).double() for o in (batch_output(old, batch, config), output))
    expected = 2 * (q * (q / y).log() + (1 - q) * ((1 - q) / (1 - y)).log()).mean()
    assert expected > 0.1
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)
    assert kept_terms(old, output, batch, changed(training={"keep_weight": 0.0})) == {}
    everything = dataclasses.replace(batch, tags_known=torch.ones(2, 3, dtype=torch.bool))
    assert kept_terms(old, output, everything, config)["kept"].item() == 0


def test_padding_and_known_frames_never_reach_it(rng: np.random.Generator) -> None:
    old = lively_network(SMALL, OLD)
    new = continued_network(start_model(lively_network(SMALL, OLD, seed=8)), SMALL, NEW).eval()
    batch = a_batch(rng, [[False] * 3] * 2)
    output = batch_output(new, batch, SMALL)
    expected = kept_terms(old, output, batch, SMALL)["kept"]
    spoilt = dataclasses.replace(batch, features=batch.features.clone())
    spoilt.features[1, 24:] = torch.nan
    torch.testing.assert_close(kept_terms(old, batch_output(new, spoilt, SMALL), spoilt, SMALL)["kept"], expected)
    known = torch.zeros(2, 20, 3, dtype=torch.bool)
    known[0] = True  # all moments of the first clip are marked
    partly = dataclasses.replace(batch, frame_tags=torch.zeros(known.shape), frame_known=known)
    second = kept_terms(old, output, partly, SMALL)["kept"]
    with torch.no_grad():
        alone = dataclasses.replace(batch, features=batch.features[1:, :24], mask=None, tags_known=batch.tags_known[1:])
        again = kept_terms(old, batch_output(new, alone, SMALL), alone, SMALL)["kept"]
    torch.testing.assert_close(second, again, rtol=1e-4, atol=1e-5)


def test_the_run_keeps_a_copy_of_its_model(tmp_path: Path) -> None:
    given = read_start(saved(tmp_path / "old.safetensors", lively_network(SMALL, OLD)))
    run = tmp_path / "run"
    run.mkdir()
    keep_start(run, given)
    assert (run / START).read_bytes() == given.path.read_bytes()
    (run / "log.jsonl").touch()
    for named in (None, given.path):
        again = start_of(run, named, resume=True)
        assert again is not None
        assert (again.path, again.about) == (run / START, given.about)
    keep_start(run, None)
    assert start_of(run, None, resume=True) is None


def test_a_run_stopped_before_it_learned_is_resumed_with_its_model(tmp_path: Path) -> None:
    # It was still reading its clips: there is no log, and the model it began with is there.
    first, other = (read_start(saved(tmp_path / f"{seed}", lively_network(SMALL, OLD, seed=seed))) for seed in (7, 8))
    run = tmp_path / "run"
    run.mkdir()
    keep_start(run, first)
    again = start_of(run, None, resume=True)
    assert again is not None
    assert again.digest == first.digest
    keep_start(run, again)
    assert (run / START).exists()
    named = start_of(run, other.path, resume=True)  # nothing is lost by beginning with another one
    assert named is not None
    assert named.digest == other.digest
    assert start_of(run, None, resume=False) is None


# --- worked numbers ---


def test_divergence() -> None:
    # y = 0.5 and q = 0.25: 0.25 log(0.25 / 0.5) + 0.75 log(0.75 / 0.5) = 0.1308
    before = torch.logit(torch.tensor([[[0.25]]]))
    assert divergence(torch.zeros(1, 1, 1), before, before < 0).item() == pytest.approx(0.1308, abs=1e-4)
    assert divergence(torch.zeros(1, 1, 1), before, before > 0).item() == 0


def test_classes_and_what_is_said_of_them() -> None:
    rows = [weak_clip("a.wav", ["noise"])]
    assert joined_classes(("low", "high"), ("high", "noise"), rows, allow_similar=False) == ("low", "high", "noise")
    assert joined_classes(("low",), ("Low",), rows, allow_similar=True) == ("low", "Low")
    assert joined_classes(("type 1",), ("type 2",), rows, allow_similar=False) == ("type 1", "type 2")
    assert in_words(("low",), ("low",)) == "continues from a model: goes on learning low"
    assert in_words(("low",), ("noise",)).endswith("is it the wrong model or another spelling?")


def test_decoding_settings_of_silent_classes_are_the_models() -> None:
    tuned = Decoding.fixed(OLD, threshold=0.3).to_dict()
    start = start_model(lively_network(SMALL, OLD), decoding=tuned)
    kept = kept_decoding(Decoding.fixed(NEW), start, frozenset({"low", "noise"}))
    assert [setting.threshold for setting in kept.settings] == [0.3, 0.5, 0.5]
    assert kept_decoding(Decoding.fixed(NEW), None, frozenset()) == Decoding.fixed(NEW)


def test_what_a_run_takes_over_from_its_model() -> None:
    config = config_of(start_model(Network(changed(pooling={"name": "linear"}, training={"epochs": 9}), OLD)))
    assert (config.features, config.model, config.pooling.name) == (SMALL.features, SMALL.model, "linear")
    assert config.training.epochs == Config().training.epochs


# --- wrong input ---


def test_settings_that_contradict_the_model() -> None:
    start = start_model(Network(SMALL, OLD))
    refuse_other_settings(changed(model={"rnn_dropout": 0.5}), start)
    with pytest.raises(ValueError, match=r"features\.min_hz is 0\.0 in the model model, but 50\.0 was asked for"):
        refuse_other_settings(changed(features={"min_hz": 50.0}), start)
    with pytest.raises(ValueError, match=r"model\.channels is \(4, 6\) in the model model, but \(4, 7\) was asked for"):
        refuse_other_settings(changed(model={"channels": (4, 7)}), start)


def test_a_misspelt_class_is_refused_with_its_row() -> None:
    rows = [weak_clip("a.wav", ["Low"], where="weak.tsv:3")]
    with pytest.raises(ValueError, match=r"weak\.tsv:3: has the class 'Low', .* did you mean 'low', .*allow_similar"):
        joined_classes(OLD, ("Low",), rows, allow_similar=False)


def test_a_run_is_resumed_with_its_own_model_only(tmp_path: Path) -> None:
    first = saved(tmp_path / "first.safetensors", lively_network(SMALL, OLD))
    other = saved(tmp_path / "other.safetensors", lively_network(SMALL, OLD, seed=8))
    (tmp_path / "log.jsonl").touch()
    with pytest.raises(ValueError, match=r"was begun without a model, not with .*first\.safetensors"):
        start_of(tmp_path, first, resume=True)
    keep_start(tmp_path, read_start(first))
    with pytest.raises(ValueError, match=r"was begun with another model, not with .*other\.safetensors"):
        start_of(tmp_path, other, resume=True)


def test_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "bad.safetensors").write_bytes(
        saved(tmp_path / "m.safetensors", Network(SMALL, OLD)).read_bytes()[:900]
    )
    for name, message in (
        ("m.onnx", "is an exported model, which cannot be trained further - give the run it was exported from"),
        ("run", "holds no best.safetensors - is it a folder of earmark train"),
        ("nothing", "there is no such model - give the folder of a run"),
        ("bad.safetensors", "is no readable safetensors file"),
    ):
        with pytest.raises(ValueError, match=f"{tmp_path}/{name}: {message}"):
            read_start(tmp_path / name)
