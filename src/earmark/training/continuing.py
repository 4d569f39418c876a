"""Going on from a trained model: its weights, features and statistics, its classes, and what it said about them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.files import write_atomic
from earmark.models.crnn import Network
from earmark.training.checkpoint import Checkpoint, load_checkpoint

START = "start.safetensors"  # in a run's folder: the model it began with, so that the run needs no other file
_CHANGEABLE = ("conv_dropout", "rnn_dropout")  # of the network, without a weight of their own


@dataclass(frozen=True)
class StartModel:
    """A model to go on from.

    Args:
        path: of its file.
        digest: of the file, SHA-256.
        checkpoint: what it holds.

    Example:
        >>> from earmark.training.checkpoint import Progress
        >>> checkpoint = Checkpoint(Network(Config(), ["dog"]), {}, Progress(epoch=40), None, {"clips": 400})
        >>> StartModel(Path("run/best.safetensors"), "0123", checkpoint).about["epochs"]
        40
    """

    path: Path
    digest: str
    checkpoint: Checkpoint

    @property
    def classes(self) -> tuple[str, ...]:
        """Its classes, in their order."""
        return self.checkpoint.network.classes

    def frozen(self, device: torch.device) -> Network:
        """The model as it is, on a device: it says what the network should not forget, and never learns."""
        return self.checkpoint.network.eval().requires_grad_(False).to(device)

    @property
    def about(self) -> dict[str, object]:
        """Where a model came from, for the card of what is made of it."""
        epochs, card = self.checkpoint.progress.epoch, self.checkpoint.card
        return {"digest": self.digest, "epochs": epochs, "classes": list(self.classes), "card": card}


def read_start(path: Path) -> StartModel:
    """Return the model at `path`: a run's folder (its best epoch) or one of its ``.safetensors``.

    Raises:
        ValueError: there is none, it is damaged, or it is an exported one.

    Example:
        >>> read_start(Path("dogs.onnx"))
        Traceback (most recent call last):
        ...
        ValueError: dogs.onnx: is an exported model, which cannot be trained further - give the run it was exported ...
    """
    if path.suffix == ".onnx":
        raise ValueError(
            f"{path}: is an exported model, which cannot be trained further - give the run it was exported from, its"
            " folder or the best.safetensors in it"
        )
    file = path
    if path.is_dir():
        file = path / "best.safetensors"
        if not file.exists():
            raise ValueError(
                f"{path}: holds no best.safetensors - is it a folder of earmark train, and has an epoch ended?"
            )
    elif not path.exists():
        raise ValueError(f"{path}: there is no such model - give the folder of a run, or a .safetensors file in it")
    checkpoint = load_checkpoint(file)
    return StartModel(file, _digest(file), checkpoint)


def start_of(out: Path, given: Path | None, *, resume: bool) -> StartModel | None:
    """Return the model a run begins with: the one given; of a run that goes on, the one it did begin with; or None.

    Args:
        out: the run's folder.
        given: the model named now.
        resume: whether the run in `out` is to go on, if there is one.

    Raises:
        ValueError: the run began with another model, or with none.

    Example:
        >>> start_of(Path("no-run-yet"), None, resume=True) is None
        True
    """
    stored = out / START
    has_learned = (out / "log.jsonl").exists()
    if not resume or (not has_learned and (given is not None or not stored.exists())):
        return None if given is None else read_start(given)
    # Also when it was stopped while it still read its clips.
    before = read_start(stored) if stored.exists() else None
    if given is not None:
        now = read_start(given)
        if before is None or now.digest != before.digest:
            began = "without a model" if before is None else "with another model"
            raise ValueError(
                f"{out} was begun {began}, not with {now.path} - resume it without --from, or choose another --out"
            )
    return before


def keep_start(out: Path, start: StartModel | None) -> None:
    """Leave in a new run's folder a copy of the model it begins with, and none where it begins with none."""
    target = out / START
    if start is None:
        target.unlink(missing_ok=True)
    elif start.path != target:
        write_atomic(target, start.path.read_bytes())


def config_of(start: StartModel) -> Config:
    """Return the default configuration with the model's features, network and pooling: what a run from it begins with.

    Example:
        >>> from earmark.config import ModelConfig
        >>> from earmark.training.checkpoint import Progress
        >>> network = Network(Config(model=ModelConfig(rnn_units=7)), ["dog"])
        >>> start = StartModel(Path("best.safetensors"), "", Checkpoint(network, {}, Progress(), None, {}))
        >>> config_of(start).model.rnn_units, config_of(start).training.epochs
        (7, 40)
    """
    config = start.checkpoint.network.config
    return Config(features=config.features, model=config.model, pooling=config.pooling)


def refuse_other_settings(config: Config, start: StartModel) -> None:
    """Raise ValueError when features or network are not those of the model, naming both values.

    Example:
        >>> from earmark.config import FeatureConfig
        >>> from earmark.training.checkpoint import Progress
        >>> start = StartModel(Path("m"), "", Checkpoint(Network(Config(), ["dog"]), {}, Progress(), None, {}))
        >>> refuse_other_settings(Config(features=FeatureConfig(min_hz=50.0)), start)
        Traceback (most recent call last):
        ...
        ValueError: features.min_hz is 0.0 in the model m, but 50.0 was asked for - its weights know no other; leave ...
    """
    before = start.checkpoint.network.config
    if before.features.is_embeddings != config.features.is_embeddings:
        kinds = ("audio", "embeddings")
        old, new = kinds[before.features.is_embeddings], kinds[config.features.is_embeddings]
        raise ValueError(f"{start.path}: the model learned from {old}, and this run would learn from {new}")
    for section in ("features", "model"):
        old_values, new_values = vars(getattr(before, section)), vars(getattr(config, section))
        for key, old_value in old_values.items():
            if new_values[key] != old_value and key not in _CHANGEABLE:
                raise ValueError(
                    f"{section}.{key} is {old_value!r} in the model {start.path}, but {new_values[key]!r} was asked for"
                    " - its weights know no other; leave the setting out, or train from the start, without the model"
                )


def continued_network(start: StartModel, config: Config, classes: tuple[str, ...]) -> Network:
    """Return a network for `classes`, which begin with the model's, with its weights and statistics.

    What belongs to a new class is untrained; so is the pooling function, where it is another one than the model's.

    Example:
        >>> from earmark.training.checkpoint import Progress
        >>> old = Network(Config(), ["dog"])
        >>> start = StartModel(Path("best.safetensors"), "", Checkpoint(old, {}, Progress(), None, {}))
        >>> new = continued_network(start, Config(), ("dog", "cat"))
        >>> torch.equal(new.crnn.linear.weight[:1], old.crnn.linear.weight), new.crnn.linear.weight.shape
        (True, torch.Size([2, 256]))
    """
    torch.manual_seed(config.training.seed)
    network, old = Network(config, classes), start.checkpoint.network
    same_pooling = config.pooling.name == old.config.pooling.name
    state = network.state_dict()
    for name, value in old.state_dict().items():
        if name.startswith("pool.") and not same_pooling:
            continue
        if name in state:
            _copy_rows(state[name], value, len(start.classes), len(classes), is_pool=name.startswith("pool."))
    return network


def kept_decoding(decoding: Decoding, start: StartModel | None, tagged: frozenset[str]) -> Decoding:
    """Return the decoding settings with the model's own for the classes of which the labels have no clip.

    Example:
        >>> from earmark.training.checkpoint import Progress
        >>> tuned = Decoding.fixed(["dog"], threshold=0.3).to_dict()
        >>> start = StartModel(Path("m"), "", Checkpoint(Network(Config(), ["dog"]), {}, Progress(), tuned, {}))
        >>> kept = kept_decoding(Decoding.fixed(["dog", "cat"]), start, frozenset({"cat"}))
        >>> [setting.threshold for setting in kept.settings]
        [0.3, 0.5]
    """
    if start is None or start.checkpoint.decoding is None:
        return decoding
    before = Decoding.from_dict(start.checkpoint.decoding)
    settings = tuple(
        before.of(label) if label in start.classes and label not in tagged else setting
        for label, setting in zip(decoding.classes, decoding.settings, strict=True)
    )
    return replace(decoding, settings=settings)


def _copy_rows(target: Tensor, value: Tensor, n_old: int, n_new: int, *, is_pool: bool) -> None:
    """Copy a tensor of the model; where one axis has grown with the classes, into the rows of the old ones."""
    if target.shape == value.shape:
        target.copy_(value)
        return
    grown = [axis for axis in range(value.ndim) if value.shape[axis] != target.shape[axis]]
    if len(grown) == 1 and (value.shape[grown[0]], target.shape[grown[0]]) == (n_old, n_new):
        target.narrow(grown[0], 0, n_old).copy_(value)
    else:  # options of the pooling function that change its shape: it begins anew
        assert is_pool, "the network's shapes are those of its configuration, which is the model's"


def _digest(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
