"""The example of bags of digits, in small."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from earmark import pooling

PROGRAM = Path(__file__).parents[2] / "examples" / "digit_bags.py"


@pytest.fixture(scope="module")
def digit_bags() -> Iterator[Any]:
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("digit_bags", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["digit_bags"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["digit_bags"]


# -- laws -----------------------------------------------------------------------------------------------------------


def test_a_bag_is_tagged_with_what_its_real_images_show(digit_bags: Any, rng: np.random.Generator) -> None:
    (images, shown), _ = digit_bags.load_halves(rng)
    bags = digit_bags.make_bags(images, shown, n_bags=200, rng=rng)
    sizes = bags.mask.sum(dim=1)
    assert (sizes.min().item(), sizes.max().item()) == (10, 40)
    assert not bool(bags.truth[~bags.mask].any())
    assert torch.equal(bags.truth.any(dim=1), bags.tags.bool())
    assert 0.35 < bags.tags.mean().item() < 0.65
    shares = bags.truth.sum(dim=1) / sizes[:, None]
    for digit in range(3):
        least, most = list(digit_bags.SHARES.values())[digit]
        present = shares[bags.tags[:, digit] == 1, digit]
        one_image = 1 / sizes[bags.tags[:, digit] == 1]  # what rounding may add or take
        assert bool((present >= least - one_image).all())
        assert bool((present <= most + one_image).all())


def test_training_and_test_bags_share_no_image(digit_bags: Any, rng: np.random.Generator) -> None:
    (one, one_shows), (other, other_shows) = digit_bags.load_halves(rng)
    assert len(one) + len(other) == 1797
    assert (len(one_shows), len(other_shows)) == (len(one), len(other))
    together = np.concatenate([one, other])
    assert len(np.unique(together, axis=0)) == len(together)


def test_every_pooling_function_learns_from_tags(digit_bags: Any) -> None:
    rows = digit_bags.compare(pooling.names(), seeds=(1,), n_bags=100, n_epochs=8)
    assert list(rows) == pooling.names()
    for name, row in rows.items():
        _, bag_auc, _, image_auc, *values = row
        assert bag_auc > 0.6, name
        assert image_auc > 0.75, name
        assert len(values) == (3 if digit_bags.create_pool(name).parameter_name else 0)


def test_the_same_seeds_give_the_same_table(digit_bags: Any) -> None:
    one, other = (digit_bags.compare(["attention"], seeds=(1, 2), n_bags=40, n_epochs=1) for _ in range(2))
    assert one == other


# -- worked numbers -------------------------------------------------------------------------------------------------


def test_the_scores_of_a_network_that_is_right(digit_bags: Any, rng: np.random.Generator) -> None:
    (images, shown), _ = digit_bags.load_halves(rng)
    bags = digit_bags.make_bags(images, shown, n_bags=50, rng=rng)

    class Oracle(torch.nn.Module):
        """Says the truth with logits of +-5, and nonsense in the padding."""

        def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return (10 * bags.truth.float() - 5).masked_fill(~bags.mask[:, :, None], torch.nan), images

    assert digit_bags.evaluate(Oracle(), digit_bags.create_pool("max"), bags) == [1.0, 1.0, 1.0, 1.0]
    # Average pooling needs half of the images: only bags with enough 8s reach 0.5, and the order suffers less.
    bag_f1, bag_auc, image_f1, image_auc = digit_bags.evaluate(Oracle(), digit_bags.create_pool("average"), bags)
    assert bag_f1 < 0.5
    assert bag_auc == 1.0
    assert (image_f1, image_auc) == (1.0, 1.0)


def test_the_program_prints_a_row_per_function(
    digit_bags: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digit_bags, "SEEDS", (1,))
    monkeypatch.setattr(digit_bags, "N_BAGS", 40)
    monkeypatch.setattr(digit_bags, "N_EPOCHS", 1)
    digit_bags.main()
    header, *rows, last = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["pooling", "bag", "F1"]
    assert [row.split()[0] for row in rows] == pooling.names()
    assert last.startswith("1 runs each, ")
