"""Names in the labels against files on the disk."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath

from earmark.audio.finding import find_clips
from earmark.audio.opening import open_source
from earmark.doctor.findings import Finding, some
from earmark.labels.cells import clean_filename

# A wrong folder holds next to nothing of what is named; a wrong label file names next to nothing of what is there.
_WRONG_FOLDER_SHARE, _FEW_NAMED_SHARE = 0.1, 0.1


def find_recordings(
    folder: Path, on_disk: Iterable[Path], places: Mapping[str, str], *, labels: str, strong: frozenset[str]
) -> tuple[dict[str, Path], list[Finding]]:
    """Return the file of each name that labels or events use, and what is wrong with the names.

    Args:
        folder: in which the recordings lie.
        on_disk: all recordings below it.
        places: each name that is used -> where.
        labels: what the label file is called.
        strong: the names that only strong labels use.
    """
    spelt: dict[str, str] = {}  # NFC -> as it is on disk, of every recording below the folder
    for path in on_disk:
        name = path.relative_to(folder).as_posix()
        spelt[unicodedata.normalize("NFC", name)] = name
    found, missing = find_clips(folder, places)
    by_case = {name.casefold(): name for name in spelt}
    by_stem = {_stem(name): name for name in spelt}
    findings = [
        _missing(folder, name, reason, places[name], by_case, by_stem, is_event=name in strong)
        for name, reason in missing.items()
    ]
    findings += _spelt_otherwise(found, places, spelt, by_case)
    # A name with another ending or other capitals is in the right folder.
    n_nowhere = sum(finding.code in ("label-without-audio", "event-without-audio") for finding in findings)
    if places and n_nowhere > (1 - _WRONG_FOLDER_SHARE) * len(places) and len(places) > 1:
        findings.append(_wrong_folder(folder, places, missing, on_disk, labels))
    else:
        used = {os.path.abspath(path) for path in found.values()}
        unnamed = {name for name in spelt if os.path.abspath(folder / spelt[name]) not in used}
        findings += _unnamed(folder, spelt, unnamed, missing, labels)
    return found, findings


def _missing(
    folder: Path,
    name: str,
    reason: str,
    where: str,
    by_case: Mapping[str, str],
    by_stem: Mapping[str, str],
    *,
    is_event: bool,
) -> Finding:
    """A name without its file: what there is instead, or the reason in the words of `earmark.audio`."""
    there = by_case.get(name.casefold())
    if there == name:
        return Finding("audio-unreadable", where, name, "is a link that leads nowhere")
    if there is not None:
        return Finding("filename-case", where, name, f"on disk it is called {there!r}")
    there = next((by_stem[stem] for stem in _stems(name) if stem in by_stem), None)
    if there is not None:
        return Finding("filename-ending", where, name, f"on disk it is called {there!r}")
    if os.path.lexists(folder / name):  # a folder, say, or a file that is no file
        try:
            with open_source(folder / name):
                pass
        except (OSError, ValueError) as error:
            return Finding("audio-unreadable", where, name, str(error).removeprefix(f"{(folder / name).as_posix()}: "))
    code = "event-without-audio" if is_event else "label-without-audio"
    return Finding(code, where, name, reason.removeprefix(f"{name}: "))


def _spelt_otherwise(
    found: Mapping[str, Path], places: Mapping[str, str], spelt: Mapping[str, str], by_case: Mapping[str, str]
) -> list[Finding]:
    """Files that are found, although their name on disk is another one."""
    findings = []
    for name in found:
        if name in spelt and spelt[name] != name:
            findings.append(
                Finding(
                    "filename-unicode", places[name], name, "accented letters are spelt in another way on disk (NFD)"
                )
            )
        elif name not in spelt and name.casefold() in by_case:  # a disk that does not tell A from a
            there = by_case[name.casefold()]
            findings.append(Finding("filename-case", places[name], name, f"on disk it is called {there!r}"))
    return findings


def _wrong_folder(
    folder: Path, places: Mapping[str, str], missing: Mapping[str, str], on_disk: Iterable[Path], labels: str
) -> Finding:
    """Next to nothing that the labels name is there."""
    there = some([path.relative_to(folder).as_posix() for path in on_disk], 2)
    return Finding(
        "wrong-audio-folder",
        labels,
        "",
        f"{len(missing):,} of the {len(places):,} recordings it names are not in {folder.as_posix()};"
        f" it names {some(list(missing), 2)}, and there are {there}",
    )


def _unnamed(
    folder: Path, spelt: Mapping[str, str], unnamed: AbstractSet[str], missing: Mapping[str, str], labels: str
) -> list[Finding]:
    """Recordings that no label file names."""
    meant = {stem for name in missing for stem in _stems(name)}  # a name that is wrong in case or ending is told there
    unnamed = {name for name in unnamed if _stem(name) not in meant}
    reasons = {name: reason for name in sorted(unnamed) if (reason := _why_no_table_holds(name))}
    findings = [
        Finding("audio-without-labels", (folder / spelt[name]).as_posix(), name, "no label file names it")
        for name in sorted(unnamed - reasons.keys())
    ]
    # Without the name itself, which might not even be printed: the reason has it, made harmless.
    findings += [Finding("filename-unusable", folder.as_posix(), "", reason) for reason in reasons.values()]
    n_there = len(spelt)
    if n_there - len(unnamed) < _FEW_NAMED_SHARE * n_there:
        share = 100 * (n_there - len(unnamed)) / n_there
        findings.append(
            Finding(
                "few-files-named",
                labels,
                "",
                f"it names {n_there - len(unnamed):,} of the {n_there:,} recordings in {folder.as_posix()}"
                f" ({share:.1f} %)",
            )
        )
    return findings


def _stems(name: str) -> tuple[str, str]:
    """What a name means when its ending is wrong, and when it has none."""
    return _stem(name), _stem(f"{name}.wav")


def _why_no_table_holds(name: str) -> str:
    """Why no row of a label file can name this file; empty when one can."""
    try:
        is_kept = clean_filename(name) == name
    except ValueError as reason:
        return str(reason)
    return "" if is_kept else f"the filename {name!r} begins or ends with a space, or holds a backslash - rename it"


def _stem(name: str) -> str:
    """The name without its ending, in no particular case; never a name itself."""
    path = PurePosixPath(name.casefold())
    return f"{path.parent}/{path.stem}/"
