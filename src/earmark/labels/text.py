"""A label file as lines of text, or the reason why it is none."""

from __future__ import annotations

from pathlib import Path

from earmark.audio.finding import AUDIO_SUFFIXES

# Other files that lie beside label files and are named by mistake.
_MODEL_SUFFIXES = frozenset({".onnx", ".safetensors", ".pt", ".pth", ".ckpt"})
_SPREADSHEET_SUFFIXES = frozenset({".xlsx", ".xls", ".ods", ".numbers"})


def read_lines(path: Path | str) -> list[str]:
    """Return the lines of a UTF-8 file without their ends; with or without a byte order mark, any line ends.

    Raises:
        ValueError: the file cannot be read, is another kind of file, or is not UTF-8; with what to do about it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.txt")
        ...     _ = file.write_bytes(b"0.5\\t1.25\\tdog\\r\\n")
        ...     read_lines(file)
        ['0.5\\t1.25\\tdog', '']
    """
    path, name = Path(path), Path(path).as_posix()
    _refuse_other_formats(path, name)
    try:
        data = path.read_bytes()
    except OSError as error:
        hints = {
            FileNotFoundError: " - is the path relative to another folder?",
            IsADirectoryError: " - name the table inside it",
            PermissionError: " - are you allowed to read it?",
        }
        raise ValueError(f"{name}: cannot be read ({error.strerror}){hints.get(type(error), '')}") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{name}: the file is UTF-16, not UTF-8 - in the spreadsheet choose 'CSV UTF-8' when saving, in a text"
            " editor the encoding UTF-8"
        )
    if b"\0" in data:
        raise ValueError(
            f"{name}: is no table of labels: it holds a zero byte, as text never does"
            " - is it a recording, a model or a spreadsheet's own format? save a table as CSV UTF-8"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        lines_before = data[: error.start].split(b"\n")
        rest = data[error.start :].split(b"\n", 1)[0]
        line = (lines_before[-1] + rest).decode("utf-8", errors="backslashreplace").rstrip()
        raise ValueError(
            f"{name}:{len(lines_before)}: byte 0x{data[error.start]:02x} is not UTF-8"
            f" - saved as Windows-1252 or Latin-1? save it as UTF-8\n    {line}"
        ) from None
    # str.splitlines() also cuts at form feeds and other characters that editors do not count as line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def line_error(path: Path | str, number: int, reason: object, line: str, kind: str) -> ValueError:
    """Return the ValueError that says `reason`, with the line, and what kind of file it was taken for.

    Example:
        >>> print(line_error("a.txt", 3, "the label is empty", "0.5 1.25", "an Audacity label track"))
        a.txt:3: the label is empty (read as an Audacity label track)
            0.5 1.25
    """
    return ValueError(f"{Path(path).as_posix()}:{number}: {reason} (read as {kind})\n    {line}")


def _refuse_other_formats(path: Path, name: str) -> None:
    """Raise ValueError for a file whose ending says that it is something else."""
    suffix = path.suffix.casefold()
    if path.is_dir():
        return  # a folder may be called anything
    if suffix in AUDIO_SUFFIXES:
        raise ValueError(f"{name}: is no table of labels but a recording - name the table that lists it")
    if suffix in _MODEL_SUFFIXES:
        raise ValueError(f"{name}: is no table of labels but a model - are two arguments swapped?")
    if suffix in _SPREADSHEET_SUFFIXES:
        raise ValueError(f"{name}: is no table of labels but a spreadsheet - save the sheet as CSV UTF-8")
