"""Long recordings in pieces that lie on one fixed grid, so that nothing depends on how the sound arrived.

Piece k is the samples [k * piece, (k + 1) * piece). The network hears `context` more on both sides and what it says
there is thrown away. The grid begins at sample 0, whatever the size of the blocks a file or a pipe delivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Window:
    """One piece with its context.

    Args:
        samples: what the network hears, float32 (samples,).
        keep_from: first sample of the piece itself, counted in `samples`.
        keep_to: one past its last.

    Example:
        >>> window = Window(np.arange(6, dtype=np.float32), keep_from=1, keep_to=5)
        >>> window.samples[window.keep_from : window.keep_to]
        array([1., 2., 3., 4.], dtype=float32)
    """

    samples: NDArray[np.float32]
    keep_from: int
    keep_to: int


def windows(blocks: Iterable[NDArray[np.float32]], *, piece_samples: int, context_samples: int) -> Iterator[Window]:
    """Yield the pieces of a recording that arrives in blocks of any size, holding one piece in memory.

    Args:
        blocks: consecutive samples, (samples,) each; or frames of embeddings, (frames, dims).
        piece_samples: length of a piece.
        context_samples: heard on both sides where the recording goes on.

    Example:
        >>> sound = np.arange(10, dtype=np.float32)
        >>> for w in windows([sound[:3], sound[3:]], piece_samples=4, context_samples=1):
        ...     print(w.samples.astype(int), w.samples[w.keep_from : w.keep_to].astype(int))
        [0 1 2 3 4] [0 1 2 3]
        [3 4 5 6 7 8] [4 5 6 7]
        [7 8 9] [8 9]
    """
    held = np.zeros(0, np.float32)
    held_from = piece = 0  # sample number of held[0], and the number of the next piece
    for block in blocks:
        held = np.concatenate([held.reshape(-1, *block.shape[1:]), block])
        while held_from + len(held) >= (piece + 1) * piece_samples + context_samples:
            yield _window(held, held_from, piece, piece_samples, context_samples)
            piece += 1
            drop = max(0, piece * piece_samples - context_samples - held_from)
            held, held_from = held[drop:], held_from + drop
    while piece * piece_samples < held_from + len(held):
        yield _window(held, held_from, piece, piece_samples, context_samples)
        piece += 1


def _window(held: NDArray[np.float32], held_from: int, piece: int, piece_samples: int, context_samples: int) -> Window:
    """Piece number `piece` out of the samples held."""
    end = held_from + len(held)
    begin_piece, end_piece = piece * piece_samples, min((piece + 1) * piece_samples, end)
    begin, stop = max(held_from, begin_piece - context_samples), min(end_piece + context_samples, end)
    return Window(held[begin - held_from : stop - held_from], begin_piece - begin, end_piece - begin)
