from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from earmark.labels.weak import NONE_FOLDER, WeakClip, classes_of, classes_to_learn, read_weak

HORN = "Air horn, truck horn"


def read(folder: Path, content: str, *, name: str = "weak.tsv") -> list[WeakClip]:
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return read_weak(file)


def tagged(*names: str) -> list[WeakClip]:
    return [WeakClip(f"{i}.wav", frozenset({name}), None, None, None, {}, "") for i, name in enumerate(names)]


def touch(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


# Laws


def test_lists_and_single_labels_say_the_same(tmp_path: Path, rng: np.random.Generator) -> None:
    classes = ["Dog", "Cat", HORN, "Käfer"]
    truth = {f"{i}.wav": {name for name in classes if rng.random() < 0.4} for i in range(60)}
    quoted = {name: f'"{name}"' if "," in name else name for name in classes}
    lists = [f"{file}\t{','.join(quoted[name] for name in names)}" for file, names in truth.items()]
    single = [f"{file}\t{name}" for file, names in truth.items() for name in (names if names else {""})]
    from_lists = read(tmp_path, "\n".join(["filename\tevent_labels", *lists]))
    from_single = read(tmp_path, "\n".join(["filename\tlabel", *single]))
    assert {clip.filename: set(clip.labels) for clip in from_lists} == truth
    assert {clip.filename: set(clip.labels) for clip in from_single} == truth


def test_order_of_rows_is_kept(tmp_path: Path) -> None:
    clips = read(tmp_path, "filename\tlabel\nb.wav\tDog\na.wav\tCat\nb.wav\tCat\n")
    assert [clip.filename for clip in clips] == ["b.wav", "a.wav"]


def test_a_folder_and_its_table_agree_on_labels(tmp_path: Path) -> None:
    for name in ("Dog/a.wav", "Dog/deep/b.FLAC", "Cat/a.wav", f"{NONE_FOLDER}/c.wav", ".cache/d.wav", "Dog/notes.txt"):
        touch(tmp_path / name)
    clips = read_weak(tmp_path)
    assert {clip.filename: set(clip.labels) for clip in clips} == {
        "Cat/a.wav": {"Cat"},
        "Dog/a.wav": {"Dog"},
        "Dog/deep/b.FLAC": {"Dog"},
        "_none/c.wav": set(),
    }
    assert all((tmp_path / clip.filename).is_file() for clip in clips)
    assert {clip.known for clip in clips} == {None}


# Worked numbers


def test_every_column(tmp_path: Path) -> None:
    clips = read(
        tmp_path,
        "filename\tonset\toffset\tevent_labels\tknown_classes\tsplit\tpatient\n"
        f'./day\\1.wav\t60\t70.5\t"{HORN}",Car\tCar,"{HORN}",Bus\ttrain\tP7\n'
        "b.wav\t\t\t\t\ttest\tP8\n",
    )
    where = (tmp_path / "weak.tsv").as_posix()
    assert clips == [
        WeakClip(
            "day/1.wav",
            frozenset({HORN, "Car"}),
            frozenset({"Car", HORN, "Bus"}),
            60.0,
            70.5,
            {"split": "train", "patient": "P7"},
            f"{where}:2",
        ),
        WeakClip("b.wav", frozenset(), None, None, None, {"split": "test", "patient": "P8"}, f"{where}:3"),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.tsv", f'filename\tevent_labels\na.wav\t"{HORN}",Car\n'),
        ("w.csv", f'filename,event_labels\na.wav,"""{HORN}"",Car"\n'),
        ("w.tsv", f"filename\tlabel\na.wav\t{HORN}\na.wav\tCar\n"),
        ("w.csv", f'filename,label\na.wav,"{HORN}"\na.wav,Car\n'),
    ],
)
def test_a_comma_inside_a_class_name_survives(tmp_path: Path, name: str, content: str) -> None:
    (clip,) = read(tmp_path, content, name=name)
    assert clip.labels == {HORN, "Car"}


def test_spans_of_one_file_are_clips_of_their_own(tmp_path: Path) -> None:
    clips = read(
        tmp_path, "filename\tlabel\tonset\toffset\na.wav\tDog\t0\t10\na.wav\tCat\t10\t20\na.wav\tCat\t0\t10.0\n"
    )
    assert [(clip.onset, clip.offset, clip.labels) for clip in clips] == [
        (0.0, 10.0, frozenset({"Dog", "Cat"})),
        (10.0, 20.0, frozenset({"Cat"})),
    ]


def test_what_united_rows_know(tmp_path: Path) -> None:
    clips = read(
        tmp_path,
        "filename\tlabel\tknown_classes\tannotator\tpatient\n"
        "a.wav\tDog\tDog,Cat\tX\tP1\na.wav\tCar\tCar\tY\tP1\n"
        "b.wav\tDog\tDog\tX\tP2\nb.wav\tCat\t\tX\tP2\n",
    )
    # a: each listened for some classes, together for three; b: the second listened for everything.
    assert clips[0].known == frozenset({"Dog", "Cat", "Car"})
    assert clips[1].known is None
    # The annotators of a disagree, so no annotator can be named.
    assert clips[0].columns == {"patient": "P1"}
    assert clips[1].columns == {"annotator": "X", "patient": "P2"}


def test_an_accent_is_one_class_and_one_file_however_it_is_stored(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Käfer")
    clips = read(tmp_path, f"filename\tlabel\n{decomposed}.wav\t{decomposed}\nKäfer.wav\tKäfer\n")
    assert [(clip.filename, clip.labels) for clip in clips] == [("Käfer.wav", frozenset({"Käfer"}))]


def test_classes_are_sorted_and_named_once() -> None:
    assert classes_of(tagged("b", "a", "b")) == ("a", "b")
    assert classes_of([]) == ()
    assert classes_to_learn(tagged("b", "a", "b"), "weak.tsv") == ("a", "b")


@pytest.mark.parametrize(
    "content",
    [
        "filename\tevent_labels\na.wav\tDog;big\nb.wav\tDog\n",  # there is no label 'big'
        "filename\tevent_labels\na.wav\tDog\nb.wav\tCat\nc.wav\t;\n",
        'filename\tevent_labels\na.wav\tDog\nb.wav\tCat\nc.wav\t"Dog,Cat"\n',  # a quoted comma is meant
        'filename\tlabel\tknown_classes\na.wav\tDog\t\nb.wav\tCat\t"Dog,Cat",Cat\n',
    ],
)
def test_names_that_are_no_lists(tmp_path: Path, content: str) -> None:
    clips = read(tmp_path, content)
    assert [len(clip.labels) for clip in clips] == [1] * len(clips)


# Wrong input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "filename\tevent_labels\na.wav\tDog\na.wav\tCat\n",
            r"weak.tsv:3: a.wav was already tagged at .*weak.tsv:2 - one",
        ),
        ("filename\tevent_labels\nDog\ta.wav\nDog\tb.wav\n", r"weak.tsv:3: Dog was already .* - are .* swapped\?"),
        ("filename\tevent_labels\na.wav\tDog\n./a.wav\tDog\n", r"weak.tsv:3: a.wav was already .*\n    ./a.wav\tDog"),
        ("filename\tevent_labels\n\tDog\n", "weak.tsv:2: the filename is empty"),
        ("filename\tevent_labels\na.wav\tDog,\n", "weak.tsv:2: a label is empty"),
        ("filename\tevent_labels\tonset\toffset\na.wav\tDog\t3\t1\n", "weak.tsv:2: onset 3 is after offset 1 - are"),
        ("filename\tevent_labels\tonset\toffset\na.wav\tDog\t3\t3\n", "weak.tsv:2: the span from 3 to 3 s is empty"),
        ("filename\tevent_labels\tonset\toffset\na.wav\tDog\t1,5\t3\n", "weak.tsv:2: onset must .* decimal comma"),
        ("filename\tevent_labels\tonset\toffset\na.wav\tDog\t3\t\n", "weak.tsv:2: onset is given but offset is empty"),
        ("filename\tevent_labels\tonset\na.wav\tDog\t3\n", "weak.tsv:2: onset is given but offset is empty"),
        (
            "filename\tevent_labels\tknown_classes\na.wav\tDog\tCat,Bus\n",
            r"weak.tsv:2: label 'Dog' is not among the row's known_classes \(Bus, Cat\)",
        ),
        ("filename\tevent_labels\tlabel\n", "weak.tsv:1: labels must stand in one column, got both"),
        ("filename\tonset\toffset\tevent_label\n", "weak.tsv:1: onset, offset and event_label mark events"),
        ("filename\tevent_label\n", "is 'event_label' meant to be 'event_labels'"),
        ("filename\tlabels\n", "is 'labels' meant to be 'event_labels'"),
        ("path\tDog\n", r"no column 'filename' .* for instance:\n    filename\tevent_labels\n    a.wav\tDog,Cat"),
        ("a.wav\tDog\n", r"the first line must .* for instance:\n    filename\tevent_labels\n    a.wav\tDog,Cat"),
        ("file\tlabel\n", r"no column 'filename' .* is 'file' meant .*\n    filename\tlabel\n    a.wav\tDog"),
        ("filename\tlabel\na.wav\tDog\na.wav\t\n", "weak.tsv:3: a.wav has a row without a label .* see .*weak.tsv:2"),
        (
            "filename\tlabel\na.wav\tDog\nb.wav\tCat\nc.wav\tDog,Cat\n",
            "weak.tsv:4: the label 'Dog,Cat' is a list of other labels",
        ),
        (
            "filename\tevent_labels\na.wav\tDog,Bus\nb.wav\tCat\nc.wav\tBus,Dog; Cat\n",
            r"weak.tsv:4: the label 'Dog; Cat' is a list of other labels of this file - separate them with commas\n"
            "    c.wav\tBus,Dog; Cat",
        ),
        ("filename\tevent_labels\na.wav\tDog|Cat\nb.wav\tDog\nc.wav\tCat\n", r"weak.tsv:2: the label 'Dog\|Cat' is a"),
        ("filename\tevent_labels\na.wav\tDog\nb.wav\tDog;\n", r"weak.tsv:3: the label 'Dog;' is a list"),
        (
            "filename\tevent_labels\tknown_classes\na.wav\t\tDog;Cat\nb.wav\tDog\t\nc.wav\tCat\t\n",
            r"tsv:2: .* 'Dog;Cat'",
        ),
        (
            "filename\tlabel\na.wav\tDog\nb.wav\tCat\nc.wav\tDog|Cat\n",
            r"weak.tsv:4: the label 'Dog\|Cat' is a list .* with commas and call the column 'event_labels'\n    c.wav",
        ),
    ],
)
def test_broken_tables(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, content)


def test_audio_beside_the_class_folders(tmp_path: Path) -> None:
    touch(tmp_path / "Dog/a.wav")
    touch(tmp_path / "b.wav")
    with pytest.raises(ValueError, match=r"b\.wav: audio must lie in a sub-folder named after its class"):
        read_weak(tmp_path)


def test_a_recording_in_two_class_folders_is_one_clip_with_both(tmp_path: Path) -> None:
    for name, content in (("Dog/1.wav", b"a"), ("Cat/1.wav", b"a"), ("Cat/2.wav", b"b"), ("Dog/2.wav", b"other")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = {clip.filename: clip.labels for clip in read_weak(tmp_path)}
    assert found == {"Cat/1.wav": {"Cat", "Dog"}, "Cat/2.wav": {"Cat"}, "Dog/2.wav": {"Dog"}}
    (tmp_path / "_none").mkdir()
    (tmp_path / "_none" / "2.wav").write_bytes(b"b")
    with pytest.raises(ValueError, match=r"_none/2\.wav: the same recording lies in _none and in a class folder, see"):
        read_weak(tmp_path)


def test_a_class_folder_without_audio(tmp_path: Path) -> None:
    touch(tmp_path / "Dog/a.wav")
    touch(tmp_path / "Cat/a.txt")
    with pytest.raises(ValueError, match="Cat: no audio in this folder"):
        read_weak(tmp_path)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no sub-folders - expected one per class"):
        read_weak(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("filename\tevent_labels\n", r"weak.tsv: the label file lists no clips - only its first line is there, was it"),
        ("filename\tlabel\na.wav\t\n", r"weak.tsv: at least one clip must have a label, got 1 clip and no label - do "),
        (
            "filename\tevent_labels\tfold\tcategory\na.wav\t\t1\tDog\nb.wav\t\t1\tCat\n",
            r"weak.tsv: .* got 2 clips and no label - do .* in another column\? There are also 'fold', 'category'$",
        ),
    ],
)
def test_labels_without_a_class_to_learn(tmp_path: Path, content: str, message: str) -> None:
    clips = read(tmp_path, content)
    with pytest.raises(ValueError, match=message):
        classes_to_learn(clips, tmp_path / "weak.tsv")


def test_a_folder_without_a_class_to_learn(tmp_path: Path) -> None:
    touch(tmp_path / NONE_FOLDER / "a.wav")
    with pytest.raises(ValueError, match="got 1 clip and no label - do all of them lie in _none"):
        classes_to_learn(read_weak(tmp_path), tmp_path)
