"""What is imported when: a command line that answers at once, and a core that needs no torch."""

from __future__ import annotations

import ast
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import earmark
from earmark.cli.main import COMMANDS

SOURCE = Path(earmark.__file__).parent
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(SOURCE)], "earmark."))

# Detection, evaluation and everything they need. The rest (pooling, models, training, demo) is for torch.
CORE = (
    "audio", "checks", "config", "config_file", "detection", "embeddings", "events", "files", "labels", "metrics",
    "soundscapes", "timeline", "writers",
)  # fmt: skip
HEAVY = {"matplotlib", "numpy", "onnxruntime", "rich", "soundfile", "torch"}
# Nobody may: the first two are slow and large, the third is no way to keep a model.
BANNED = {"pandas", "scipy", "pickle", "librosa"}


def core_modules() -> list[str]:
    return [name for name in MODULES if name.split(".")[1] in CORE]


def in_fresh_python(code: str, *options: str) -> set[str]:
    """Run `code` in a new interpreter and return the modules it has imported then."""
    code += "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def command_line(*arguments: str) -> str:
    """Code that runs the command line and goes on."""
    return f"from earmark.cli.main import main\nmain({list(arguments)!r}, standalone_mode=False)"


def imported_in(path: Path) -> set[str]:
    """Top-level packages that a source file imports anywhere, also inside functions, except for type checkers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for_checkers = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inside in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_checkers:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module.partition(".")[0])
    return found


def source_of(module: str) -> Path:
    path = SOURCE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


# Laws


def test_importing_earmark_is_cheap() -> None:
    bare, loaded = in_fresh_python("pass"), in_fresh_python("import earmark")
    assert not loaded & (HEAVY | {"click"})
    # 27 with Python 3.11. Modules are counted instead of milliseconds, which a busy machine would stretch.
    assert len(loaded - bare) <= 60


def test_help_is_cheap() -> None:
    bare, loaded = in_fresh_python("pass"), in_fresh_python(command_line("--help"))
    assert not loaded & HEAVY
    assert len(loaded - bare) <= 150  # 77 with Python 3.11 and click 8.5; numpy alone brings as many again
    assert not any(f"earmark.cli.{name}" in loaded for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_cheap(name: str) -> None:
    assert not in_fresh_python(command_line(name, "--help")) & HEAVY


def test_an_event_needs_no_numpy() -> None:
    assert not in_fresh_python("import earmark; earmark.Event(0.0, 1.0, 'dog')") & HEAVY


def test_the_core_runs_without_torch_and_the_extras() -> None:
    absent = [
        "torch",
        "matplotlib",
        "onnx",
        "safetensors",
        "av",
        "sklearn",
        "tensorboard",
        *sorted(BANNED - {"pickle"}),
    ]
    code = f"import importlib, sys\nsys.modules.update(dict.fromkeys({absent!r}))\n"
    code += f"for name in {core_modules()!r}: importlib.import_module(name)"
    assert "earmark.detection.detector" in in_fresh_python(code, "-W", "error")


def test_the_core_names_torch_nowhere() -> None:
    found = {name: imported_in(source_of(name)) & {"torch", "matplotlib", "onnx", "rich"} for name in core_modules()}
    assert {name for name, packages in found.items() if packages} == set()


def test_nobody_imports_what_is_banned() -> None:
    found = {name: imported_in(source_of(name)) & BANNED for name in MODULES}
    assert {name for name, packages in found.items() if packages} == set()


def test_every_module_can_be_imported_first() -> None:
    # Each with all others forgotten, so that a circle of imports cannot hide behind a lucky order.
    code = f"""
import importlib, sys
for name in {MODULES!r}:
    for known in [known for known in sys.modules if known.partition(".")[0] == "earmark"]:
        del sys.modules[known]
    importlib.import_module(name)
"""
    assert set(MODULES[-1:]) <= in_fresh_python(code, "-W", "error")


def test_there_is_something_to_check() -> None:
    assert len(MODULES) > 60
    assert {"earmark.detection.decoding", "earmark.metrics.event", "earmark.labels.weak"} <= set(core_modules())
    assert imported_in(source_of("earmark.models.crnn")) >= {"torch", "typing"}
    assert "torch" in imported_in(source_of("earmark.cli.train"))  # inside a function


# Worked numbers


def test_the_names_of_the_top_level() -> None:
    from earmark.detection.detector import Detector, load
    from earmark.events import Event

    assert (earmark.Event, earmark.Detector, earmark.load) == (Event, Detector, load)
    assert set(earmark.__all__) == {"Detector", "Event", "__version__", "load"}
    assert all(hasattr(earmark, name) for name in earmark.__all__)


# Wrong input


def test_an_unknown_name_of_the_top_level() -> None:
    name = "detect"
    with pytest.raises(AttributeError, match="module 'earmark' has no attribute 'detect'"):
        getattr(earmark, name)
