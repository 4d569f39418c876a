"""The examples in docs/labels.md, run as they stand."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "labels.md"


def test_every_example_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    # The fences would be taken for output; empty lines in their place keep the numbers of the lines.
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)
    assert results.attempted > 25
    assert results.failed == 0, capsys.readouterr().out


def test_every_example_stands_in_a_fence() -> None:
    is_inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            assert line == ("```" if is_inside else "```python")
            is_inside = not is_inside
        assert is_inside or not line.startswith(">>>"), line
    assert not is_inside
