"""Embeddings in: arrays that another network made of recordings, (frames, dims) each. Nothing is ever unpickled."""

from earmark.embeddings.finding import EMBEDDING_SUFFIXES, embeddings_of, find_embeddings, recording_name
from earmark.embeddings.frame_rate import fits, frame_rate_beside, frame_rate_from
from earmark.embeddings.reading import array_dtype, array_shape, frame_blocks, open_array

__all__ = [
    "EMBEDDING_SUFFIXES",
    "array_dtype",
    "array_shape",
    "embeddings_of",
    "find_embeddings",
    "fits",
    "frame_blocks",
    "frame_rate_beside",
    "frame_rate_from",
    "open_array",
    "recording_name",
]
