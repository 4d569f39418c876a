"""Configurations on disk: TOML in, TOML out, and no key that goes nowhere."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path

from earmark import checks
from earmark.config import Config, PoolingConfig, unused_settings


def read_config(
    path: Path | str | None,
    *,
    pooling: str | None = None,
    overrides: Sequence[str] = (),
    base: Config | None = None,
) -> Config:
    """Return the configuration in a TOML file (None: the defaults), changed by ``section.key=value`` overrides.

    Args:
        path: the file, or None.
        pooling: another pooling function than the file's, which then has its own defaults: the file's options are
            those of the function it names.
        overrides: applied last, all at once.
        base: what the file changes; None: the defaults.

    Raises:
        ValueError: for an unknown section or key, with the nearest known one, or a value of the wrong type.

    Example:
        >>> read_config(None, overrides=["training.epochs=3", "pooling.name=linear"]).training.epochs
        3
        >>> read_config(None, overrides=["training.learnig_rate=1"])
        Traceback (most recent call last):
        ...
        ValueError: --set training.learnig_rate=1 [training]: unknown key 'learnig_rate' - did you mean 'learning_rate'?
    """
    config = Config() if base is None else base
    if path is not None:
        try:
            content = Path(path).read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
        except OSError as error:
            hint = " - is the path relative to another folder?" if isinstance(error, FileNotFoundError) else ""
            raise ValueError(f"{path}: cannot be read as a configuration: {error.strerror}{hint}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: is not UTF-8 text ({error}) - is it a TOML file?") from error
        config = from_toml(content, where=str(path), base=base)
    if pooling is not None and pooling != config.pooling.name:
        config = dataclasses.replace(config, pooling=PoolingConfig(name=pooling))
    if not overrides:
        return config
    # All at once: two settings that only fit each other must be able to change together.
    together: dict[str, dict[str, object]] = {}
    for override in overrides:
        for section, values in _parse_override(override).items():
            _checked_values(config, section, values, where=f"--set {override}")
            together.setdefault(section, {}).update(values)
    return change(config, together, where=f"--set {' '.join(overrides)}")


def from_toml(content: str, *, where: str, base: Config | None = None) -> Config:
    """Return the defaults, or `base`, changed by TOML text; `where` begins every error message.

    Example:
        >>> from_toml("[training]\\nepochs = 3", where="run.toml").training.epochs
        3
    """
    try:
        tables = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{where}: is not valid TOML: {error}") from error
    return change(Config() if base is None else base, tables, where=where)


def change(config: Config, tables: Mapping[str, object], *, where: str) -> Config:
    """Return `config` with the values in `tables` (section to key to value); `where` begins every error message."""
    sections = {entry.name: getattr(config, entry.name) for entry in dataclasses.fields(config)}
    for section, values in tables.items():
        new = _checked_values(config, section, values, where=where)
        try:
            sections[section] = dataclasses.replace(sections[section], **new)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
    try:
        return Config(**sections)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def to_toml(config: Config) -> str:
    """Return the complete configuration as TOML; `read_config` of it gives the same configuration again.

    Example:
        >>> to_toml(Config()).splitlines()[:2]
        ['[features]', 'sample_rate = 16000']
    """
    lines = []
    for section in dataclasses.fields(config):
        values = getattr(config, section.name)
        lines.append(f"[{section.name}]")
        for entry in dataclasses.fields(values):
            value = getattr(values, entry.name)
            # TOML has no null; a key left out is None, since None is the default wherever it is allowed.
            if value is not None and entry.name not in unused_settings(values):
                lines.append(f"{entry.name} = {_toml_value(value)}")
        lines.append("")
    return "\n".join(lines)


def _checked_values(config: Config, section: str, values: object, *, where: str) -> dict[str, object]:
    """The values of one section, each of the type its field has."""
    known = [entry.name for entry in dataclasses.fields(config)]
    if section not in known:
        homes = [name for name in known if hasattr(getattr(config, name), section)]
        if homes and not isinstance(values, Mapping):
            raise ValueError(f"{where}: the key {section!r} stands outside its section - it belongs under [{homes[0]}]")
        hint = checks.did_you_mean(section, known)
        raise ValueError(f"{where}: unknown section [{section}] (there are: {', '.join(known)}){hint}")
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}: [{section}] must be a table, got {values!r} - is the key outside its section?")
    hints = typing.get_type_hints(type(getattr(config, section)))
    new = {}
    for key, value in values.items():
        if key not in hints:
            homes = [name for name in known if key in typing.get_type_hints(type(getattr(config, name)))]
            hint = f" - it belongs under [{homes[0]}]" if homes else checks.did_you_mean(key, hints)
            raise ValueError(f"{where} [{section}]: unknown key {key!r}{hint}")
        new[key] = _converted(value, hints[key], f"{where} [{section}]: {key}")
    return new


def _converted(value: object, hint: typing.Any, where: str) -> object:
    """The TOML value as the field's type."""
    if isinstance(hint, types.UnionType):  # X | None
        hint = next(option for option in typing.get_args(hint) if option is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{where} must be a list such as [1, 2], got {value!r}")
        return tuple(_converted(item, typing.get_args(hint)[0], where) for item in value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        kinds = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}
        raise ValueError(f"{where} must be {kinds[hint]}, got {value!r}")
    return value


def _parse_override(override: str) -> dict[str, dict[str, object]]:
    """``section.key=value`` as nested tables; a value that is not TOML by itself is a text."""
    path, equals, text = override.partition("=")
    section, dot, key = path.strip().partition(".")
    if not (equals and dot and key):
        raise ValueError(f"--set must look like section.key=value, got {override!r}{_did_you_mean_key(path.strip())}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    return {section: {key: value}}


def _did_you_mean_key(key: str) -> str:
    """The setting that is probably meant by a key without its section."""
    sections = {name: section for section, values in vars(Config()).items() for name in vars(values)}
    near = [] if "." in key else difflib.get_close_matches(key, sections, n=1)
    return f" - did you mean {sections[near[0]]}.{near[0]}?" if near else ""


def _toml_value(value: object) -> str:
    """One value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_toml_value(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # JSON's escapes are TOML's, but for characters beyond 16 bits
    return repr(value)
