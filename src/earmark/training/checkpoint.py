"""A training run on disk: one safetensors file with weights, optimiser and everything else it takes to go on.

Never a pickle. The file is written beside the old one and renamed, so there is always a whole one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

import earmark
from earmark import config_file
from earmark.files import write_atomic
from earmark.models.crnn import Network

_FORMAT = 1


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    Args:
        step: optimiser steps done.
        epoch: epochs done, whole ones.
        step_in_epoch: steps done of the epoch under way.
        best_figure: of the held-out figure that selects the best epoch; larger is better.
        best_epoch: the epoch it comes from; 0 before the first.
        lowest_loss: of the held-out clips so far; None before the first look.
        looks_without: looks at them since then, or since the learning rate was halved.
        halvings: of the learning rate, with the schedule ``"plateau"``.

    Example:
        >>> Progress(step=120, epoch=2).step_in_epoch     # the next step is the first of epoch 3
        0
    """

    step: int = 0
    epoch: int = 0
    step_in_epoch: int = 0
    best_figure: float = float("-inf")
    best_epoch: int = 0
    lowest_loss: float | None = None
    looks_without: int = 0
    halvings: int = 0


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as read from disk.

    Args:
        network: the one to use: the teacher where there is one, unless its configuration says the student.
        optimiser: Adam's moments, for the student.
        progress: where the run stands.
        decoding: how frame probabilities become events, once that is known.
        card: what the model was trained on.
        other: of teacher and student the one that is not to use; None where there is no teacher.

    Example:
        >>> from earmark.config import Config
        >>> checkpoint = Checkpoint(Network(Config(), ["dog"]), {}, Progress(step=7), None, {"clips": 400})
        >>> checkpoint.network.classes, checkpoint.progress.step
        (('dog',), 7)
    """

    network: Network
    optimiser: dict[str, Tensor]
    progress: Progress
    decoding: dict[str, object] | None
    card: dict[str, object]
    other: Network | None = None

    @property
    def student(self) -> Network:
        """The network that learns."""
        return self.network if self.other is None or not _is_teacher_used(self.network) else self.other

    @property
    def teacher(self) -> Network | None:
        """The average of its past selves, if there is one."""
        return self.network if self.other is not None and _is_teacher_used(self.network) else self.other


def save_checkpoint(
    path: Path,
    network: Network,
    *,
    optimiser: torch.optim.Adam | None,
    progress: Progress,
    decoding: dict[str, object] | None = None,
    card: dict[str, object] | None = None,
    teacher: Network | None = None,
) -> None:
    """Write everything to `path` atomically.

    Args:
        path: ends in ``.safetensors``.
        network: weights, classes and configuration; where there is a teacher, the student.
        optimiser: its moments, so that training can go on; None for a finished model.
        progress: where the run stands.
        decoding: how frame probabilities become events, once that is known.
        card: what the model was trained on, in plain words and figures.
        teacher: of the mean teacher.

    Example:
        >>> import tempfile
        >>> from earmark.config import Config
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "best.safetensors")
        ...     network = Network(Config(), ["dog"])
        ...     save_checkpoint(file, network, optimiser=None, progress=Progress(), card={"clips": 400})
        ...     load_checkpoint(file).card
        {'clips': 400}
    """
    tensors = _weights("network", network)
    if teacher is not None:
        used, other = (teacher, network) if _is_teacher_used(network) else (network, teacher)
        tensors = {**_weights("network", used), **_weights("other", other)}
    if optimiser is not None:
        tensors.update(_optimiser_tensors(network, optimiser))
    about = {
        "format": _FORMAT,
        "version": earmark.__version__,
        "classes": network.classes,
        "config": config_file.to_toml(network.config),
        "progress": {**vars(progress), "best_figure": _finite_or_none(progress.best_figure)},
        "decoding": decoding,
        "card": {} if card is None else card,
    }
    write_atomic(path, safetensors.torch.save(tensors, metadata={"earmark": json.dumps(about)}))


def load_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint at `path`, its network on the CPU and in training mode.

    Raises:
        ValueError: when the file is no checkpoint of ours, is damaged, or comes from a later version.

    Example:
        >>> import tempfile
        >>> from earmark.config import Config
        >>> network = Network(Config(), ["cat", "dog"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "last.safetensors")
        ...     save_checkpoint(file, network, optimiser=None, progress=Progress(step=7))
        ...     checkpoint = load_checkpoint(file)
        >>> checkpoint.progress.step, torch.equal(checkpoint.network.crnn.linear.weight, network.crnn.linear.weight)
        (7, True)
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata()
        tensors = safetensors.torch.load_file(path)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: there is no such model file") from error
    except (safetensors.SafetensorError, OSError) as error:
        raise ValueError(f"{path}: is no readable safetensors file ({error}) - is it damaged?") from error
    if metadata is None or "earmark" not in metadata:
        raise ValueError(f"{path}: is a safetensors file, but not one of earmark's models")
    try:
        about = json.loads(metadata["earmark"])
        is_newer = about["format"] > _FORMAT
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: what the file says about itself cannot be read ({error!r}) - is it damaged?"
        ) from error
    if is_newer:
        raise ValueError(
            f"{path}: was written by earmark {about['version']}, which is newer than this one"
            f" ({earmark.__version__}) - upgrade earmark"
        )
    config = config_file.from_toml(about["config"], where=str(path))
    models = {}
    for part in ("network", "other"):
        state = {name.removeprefix(f"{part}/"): v for name, v in tensors.items() if name.startswith(f"{part}/")}
        if part == "other" and not state:
            continue  # no teacher
        models[part] = Network(config, about["classes"])
        try:
            models[part].load_state_dict(state)
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            raise ValueError(
                f"{path}: its weights do not fit its own configuration - is it damaged? {reason}"
            ) from error
    best = about["progress"]["best_figure"]
    progress = Progress(**{**about["progress"], "best_figure": float("-inf") if best is None else best})
    optimiser = {name: value for name, value in tensors.items() if name.startswith("optimiser/")}
    return Checkpoint(models["network"], optimiser, progress, about["decoding"], about["card"], models.get("other"))


def restore_optimiser(optimiser: torch.optim.Adam, network: Network, saved: dict[str, Tensor]) -> None:
    """Put the saved moments back into a new optimiser over the same network.

    Example:
        >>> import tempfile
        >>> from earmark.config import Config
        >>> network = Network(Config(), ["dog"])
        >>> optimiser, new = torch.optim.Adam(network.parameters()), torch.optim.Adam(network.parameters())
        >>> network.crnn.linear.bias.sum().backward()     # a gradient of 1
        >>> optimiser.step()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "last.safetensors")
        ...     save_checkpoint(file, network, optimiser=optimiser, progress=Progress(step=1))
        ...     restore_optimiser(new, network, load_checkpoint(file).optimiser)
        >>> new.state[network.crnn.linear.bias]["exp_avg"]     # a tenth of the first gradient
        tensor([0.1000])
    """
    for name, parameter in network.named_parameters():
        optimiser.state[parameter] = {
            "step": saved[f"optimiser/{name}/step"],
            # Laid out in memory as the parameter is, which the saved ones are not, so that Adam takes the same path.
            "exp_avg": torch.empty_like(parameter).copy_(saved[f"optimiser/{name}/exp_avg"]),
            "exp_avg_sq": torch.empty_like(parameter).copy_(saved[f"optimiser/{name}/exp_avg_sq"]),
        }


def _optimiser_tensors(network: Network, optimiser: torch.optim.Adam) -> dict[str, Tensor]:
    """Adam's moments under the names of their parameters; a parameter not stepped yet starts at zero."""
    tensors = {}
    for name, parameter in network.named_parameters():
        state = optimiser.state.get(parameter)
        if not state:
            zeros = torch.zeros_like(parameter, device="cpu")
            state = {"step": torch.tensor(0.0), "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
        for key in ("step", "exp_avg", "exp_avg_sq"):
            tensors[f"optimiser/{name}/{key}"] = state[key].detach().cpu().contiguous()
    return tensors


def _weights(part: str, network: Network) -> dict[str, Tensor]:
    """All tensors of a network under the name of its part in the file."""
    return {f"{part}/{name}": value.detach().cpu().contiguous() for name, value in network.state_dict().items()}


def _is_teacher_used(network: Network) -> bool:
    """Whether the configuration says so."""
    return network.config.teacher.deploy == "teacher"


def _finite_or_none(value: float) -> float | None:
    """JSON has no infinity."""
    return value if abs(value) != float("inf") else None
