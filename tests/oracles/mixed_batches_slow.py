"""The batches of an epoch, planned by searching all clips that are left for every batch: right, and far too slow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mixed_batches_slow(
    order: list[int], lengths: NDArray[np.int64], *, max_frames: int, max_together: int
) -> list[list[int]]:
    """What `earmark.training.sampling.mixed_batches` should return."""
    batches: list[list[int]] = []
    waiting = list(order)
    while waiting:
        first = max(waiting[:8], key=lambda clip: int(lengths[clip]))
        waiting.remove(first)
        batch, longest, real = [first], int(lengths[first]), int(lengths[first])
        left: list[int] = []
        for place, clip in enumerate(waiting):
            length = int(lengths[clip])
            is_full = (len(batch) + 1) * longest > max_frames or longest > max_together
            if is_full or place > 1000:
                left += waiting[place:]
                break
            padded = (len(batch) + 1) * max(longest, length)
            if length <= max_together and padded * 0.4 <= real + length and padded <= max_frames:
                batch.append(clip)
                longest, real = max(longest, length), real + length
            else:
                left.append(clip)
        batches.append(batch)
        waiting = left
    return batches
