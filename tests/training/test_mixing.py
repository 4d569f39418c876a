"""Which kinds of clips make which batch."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.training_cases import SMALL, changed

from earmark.config import QuotaConfig
from earmark.training.mixing import check_quotas, labelled_order, quota_batches, with_unlabelled
from earmark.training.sampling import epoch_order


def kinds_of(weak: int, strong: int, unlabelled: int = 0) -> np.ndarray:
    """So many of each kind, mixed."""
    kinds = np.array(["weak"] * weak + ["strong"] * strong + ["unlabelled"] * unlabelled)
    return np.random.default_rng(0).permutation(kinds)


# --- laws ---


@pytest.mark.parametrize("balance", ["none", "classes"])
@pytest.mark.parametrize(
    ("weak", "strong", "drawn"), [(95, 5, 20), (98, 2, 8), (90, 10, 25), (50, 50, 50), (20, 80, 80)]
)
def test_strong_clips_are_drawn_more_often_and_evenly(
    balance: str, weak: int, strong: int, drawn: int, rng: np.random.Generator
) -> None:
    kinds, tags = kinds_of(weak, strong), rng.random((100, 3)) < 0.4
    order = labelled_order(tags, kinds, balance=balance, rng=rng)
    assert len(order) == 100
    is_strong = kinds[order] == "strong"
    assert is_strong.sum() == drawn
    for begin in range(0, 100, 20):  # every stretch has its part
        assert abs(is_strong[begin : begin + 20].sum() - drawn / 5) <= 1
    if balance == "none":
        counts = np.bincount(order, minlength=100)
        assert np.ptp(counts[kinds == "strong"]) <= 1
        assert np.ptp(counts[kinds == "weak"]) <= 1


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_with_one_kind_alone_the_order_is_that_of_classes(kind: str, rng: np.random.Generator) -> None:
    tags = rng.random((30, 3)) < 0.4
    order = labelled_order(tags, np.full(30, kind), balance="classes", rng=np.random.default_rng(1))
    assert order.tolist() == epoch_order(tags, balance="classes", rng=np.random.default_rng(1)).tolist()


def test_classes_are_balanced_inside_each_kind() -> None:
    kinds = np.array(["weak"] * 40 + ["strong"] * 40)
    tags = np.zeros((80, 2), bool)
    tags[:, 0] = True
    tags[[0, 40]] = [False, True]  # one clip of the rare class in each kind
    order = labelled_order(tags, kinds, balance="classes", rng=np.random.default_rng(0))
    counts = np.bincount(order, minlength=80)
    assert counts[0] == counts[40] == 20


def test_every_batch_gets_as_many_unlabelled_clips_as_fit(rng: np.random.Generator) -> None:
    for _ in range(20):
        lengths = rng.integers(10, 60, 60)
        lengths[50] = 500  # longer than a batch: it can join none
        lengths[0] = 130  # alone
        batches = [[0], [1, 2], [3, 4, 5], [6]]
        filled = with_unlabelled(batches, np.arange(20, 60), lengths, max_frames=400, max_together=120, rng=rng)
        assert filled[0] == [0]
        for batch, before in zip(filled, batches, strict=True):
            assert batch[: len(before)] == before
            assert len(batch) <= 2 * len(before)
            assert len(batch) == 1 or len(batch) * lengths[batch].max() <= 400
            assert 50 not in batch
        assert [len(batch) for batch in filled[1:]] == [4, 6, 2]


def test_unlabelled_clips_come_as_often_as_one_another(rng: np.random.Generator) -> None:
    batches = [[0, 1]] * 30
    filled = with_unlabelled(batches, np.arange(2, 14), np.full(14, 10), max_frames=40, max_together=40, rng=rng)
    assert np.bincount([clip for batch in filled for clip in batch[2:]]).tolist()[2:] == [5] * 12


def test_quotas_are_kept_in_every_batch_and_the_first_kind_used_up_ends_the_epoch(rng: np.random.Generator) -> None:
    kinds, tags = kinds_of(13, 40, 100), rng.random((153, 3)) < 0.4
    quotas = QuotaConfig(weak=3, strong=2, unlabelled=6)
    batches = quota_batches(tags, kinds, quotas, balance="none", rng=rng)
    assert len(batches) == 4  # 13 // 3
    for batch in batches:
        assert [(kinds[batch] == kind).sum() for kind in ("weak", "strong", "unlabelled")] == [3, 2, 6]
    drawn = [clip for batch in batches for clip in batch]
    assert len(set(drawn)) == len(drawn)


# --- worked numbers ---


def test_the_recipe_of_2019_has_210_steps() -> None:
    # 80 % of 1578 weak clips are 1262, 6 a step; 1636 synthetic clips would last 272 steps, 14412 unlabelled 1201.
    kinds = np.array(["weak"] * 1262 + ["strong"] * 1636 + ["unlabelled"] * 14412)
    quotas = QuotaConfig(weak=6, strong=6, unlabelled=12)
    rng = np.random.default_rng(26)
    batches = quota_batches(np.zeros((len(kinds), 10), bool), kinds, quotas, balance="none", rng=rng)
    assert len(batches) == 210
    assert {len(batch) for batch in batches} == {24}


# --- wrong input ---


@pytest.mark.parametrize(
    ("quotas", "message"),
    [
        ({"weak": 6, "strong": 6}, "quotas.strong is 6, but there are only 0 strong clips .* --strong missing"),
        ({"weak": 60}, "quotas.weak is 60, but there are only 50 weak clips to learn from"),
        ({"weak": 6}, "quotas.unlabelled is 0, so the 20 unlabelled clips would never be learned from"),
    ],
)
def test_quotas_that_cannot_be_kept_are_refused(quotas: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_quotas(kinds_of(50, 0, 20), changed(quotas=quotas))
    check_quotas(kinds_of(50, 0, 20), SMALL)
