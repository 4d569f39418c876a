from __future__ import annotations

import pytest

from earmark.labels.recordings import true_names

RECORDINGS = ("a.wav", "site 3/a.wav", "b.wav", "b.wav.flac", "site 3/c.wav", "site 4/d.wav", "site 4/d.flac")

# Worked numbers


@pytest.mark.parametrize(
    ("written", "recording"),
    [
        ("a", "a.wav"),  # relative to the folder, before one that merely ends so
        ("site 3/a", "site 3/a.wav"),
        ("b.wav", "b.wav"),  # ending and all, before the one that is called so without its ending
        ("c", "site 3/c.wav"),
        ("c.wav", "site 3/c.wav"),
        ("/media/disk/site 3/a.wav", "site 3/a.wav"),
        ("/media/disk/a.wav", "a.wav"),
        ("D:/rec/site 4/d.flac", "site 4/d.flac"),
    ],
)
def test_which_recording_is_meant(written: str, recording: str) -> None:
    assert true_names({written: "labels"}, RECORDINGS) == {written: recording}


# Wrong input


@pytest.mark.parametrize("written", ["d", "site 4/d", "/media/site 4/d"])
def test_several_could_be_meant(written: str) -> None:
    with pytest.raises(
        ValueError, match=r"labels: '.*' may be any of 2 recordings: site 4/d.wav, site 4/d.flac - which"
    ):
        true_names({written: "labels"}, RECORDINGS)


@pytest.mark.parametrize("written", ["site 4/c.wav", "/media/site 4/c.wav"])
def test_a_recording_in_another_folder_is_not_meant(written: str) -> None:
    with pytest.raises(ValueError, match=r"no recording is called '.*c.wav' - there is 'site 3/c.wav'"):
        true_names({written: "labels"}, RECORDINGS)
