"""Where to train: on the processor, on a CUDA card, or on Apple's."""

from __future__ import annotations

import torch

from earmark.checks import choice


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; ``"auto"`` takes the best there is.

    Example:
        >>> choose_device("cpu")
        device(type='cpu')
    """
    choice("device", name, ("auto", "cpu", "cuda", "mps"))
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device 'cuda' is not there - is this torch a CPU build, or the driver missing? Try 'auto'")
    if name == "mps" and not torch.backends.mps.is_available():
        raise ValueError("device 'mps' is not there - it needs a Mac with Apple silicon. Try 'auto'")
    return torch.device(name)
