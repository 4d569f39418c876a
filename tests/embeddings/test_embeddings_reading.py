"""Arrays of embeddings: what is read of them, and what never is."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earmark.embeddings import array_dtype, array_shape, frame_blocks, open_array
from earmark.embeddings import reading as module

# --- laws ---


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", ">f4"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_what_was_saved_is_read(tmp_path: Path, rng: np.random.Generator, dtype: str, suffix: str) -> None:
    array = (100 * rng.random((7, 5))).astype(dtype)
    file = tmp_path / f"a{suffix}"
    if suffix == ".npz":
        np.savez_compressed(file, anything=array)
    else:
        np.save(file, array)
    assert array_shape(file) == (7, 5)
    assert array_dtype(file) == np.dtype(dtype)
    np.testing.assert_array_equal(open_array(file), array)


def test_an_array_in_the_order_of_fortran_is_the_same(tmp_path: Path, rng: np.random.Generator) -> None:
    array = np.asfortranarray(rng.random((7, 5)))
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(open_array(tmp_path / "a.npy"), array)


def test_blocks_joined_are_the_array(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    array = rng.random((100, 3))
    monkeypatch.setattr(module, "_BLOCK_VALUES", 30)
    blocks = list(frame_blocks(array, where="a.npy"))
    assert [len(block) for block in blocks] == [10] * 10
    np.testing.assert_array_equal(np.concatenate(blocks), array.astype(np.float32))


class _Harmful:
    """Would leave a trace if anybody unpickled it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("kind", ["object array", "pickle", "inside an npz"])
def test_a_pickle_is_refused_and_not_run(tmp_path: Path, kind: str) -> None:
    trace, file = tmp_path / "trace", tmp_path / ("a.npz" if "npz" in kind else "a.npy")
    objects = np.array([_Harmful(trace)], dtype=object)
    if kind == "pickle":
        file.write_bytes(pickle.dumps(_Harmful(trace)))
    elif kind == "object array":
        np.save(file, objects, allow_pickle=True)
    else:
        np.savez(file, embeddings=objects)
    message = "is no readable array of NumPy" if kind == "pickle" else "a pickle may run any program: it is never done"
    for read in (array_shape, open_array):
        with pytest.raises(ValueError, match=message):
            read(file)
    assert not trace.exists()


# --- worked numbers ---


def test_of_several_arrays_the_one_with_the_right_name_counts(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", times=np.zeros(9), features=np.ones((2, 3)))
    assert array_shape(tmp_path / "a.npz") == (2, 3)
    assert open_array(tmp_path / "a.npz").sum() == 6


# --- wrong input ---


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(768), "must have shape (frames, dims), got (768,) - one vector for a whole recording has no moments"),
        (np.zeros((1, 20, 768)), "must have shape (frames, dims), got (1, 20, 768) - is the first axis a batch?"),
        (np.zeros((20, 3, 4, 5)), "flatten all axes behind the first"),
        (np.zeros((0, 768)), "is empty, shape (0, 768) - was the recording shorter than the network's window?"),
        (np.zeros((20, 0)), "must have at least one number per frame, got shape (20, 0)"),
        (np.zeros((20, 3), complex), "must hold real numbers, got type complex128"),
        (np.zeros((20, 3), bool), "must hold real numbers, got type bool"),
        (np.zeros((20, 3), "U3"), "must hold real numbers, got type <U3"),
    ],
)
def test_arrays_that_are_no_embeddings(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match=f"{tmp_path}/a.npy: .*{re.escape(message)}"):
        array_shape(tmp_path / "a.npy")


def test_files_that_are_no_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "cut.npy", np.zeros((100, 100)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:1000])
    (tmp_path / "text.npy").write_text("0 1 2")
    (tmp_path / "text.npz").write_text("0 1 2")
    np.savez(tmp_path / "two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 2)))
    messages = {
        "cut.npy": "is no readable array of NumPy",
        "text.npy": "is no readable array of NumPy .* - .npy is written by numpy.save; is it damaged",
        "text.npz": "is no readable array of NumPy",
        "two.npz": "must hold one array, or one of several called embeddings or features, got a, b",
        "none.npy": "No such file or directory",
    }
    for name, message in messages.items():
        with pytest.raises(ValueError, match=f"{tmp_path}/{name}: {message}"):
            open_array(tmp_path / name)


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.nan, "float32", "a.npy: frame 3 has nan in dim 1 - every value must be a finite number; did the network"),
        (-np.inf, "float16", "a.npy: frame 3 has -inf in dim 1"),
        (1e39, "float64", r"frame 3 has 1e\+39 in dim 1 - .* float32, in which the network computes, ends at"),
    ],
)
def test_values_no_network_can_use_are_named(value: float, dtype: str, message: str) -> None:
    array = np.zeros((5, 2), dtype)
    array[3, 1] = value
    with pytest.raises(ValueError, match=message):
        list(frame_blocks(array, where="a.npy"))
