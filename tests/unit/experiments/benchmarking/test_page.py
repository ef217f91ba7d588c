"""docs/explanation/dual-perspective.md names functions and tests: they are there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "explanation" / "dual-perspective.md").read_text(encoding="utf-8")


def test_every_function_it_names_is_there():
    named = re.findall(r"`((?:experiments|programs|metrics)\.[\w.]+)\.(\w+)`", PAGE)
    assert len(named) >= 25
    missing = [
        (module, name)
        for module, name in named
        if not hasattr(import_module(f"judgesmith.{module}"), name)
    ]
    assert missing == []


def test_every_test_it_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= 20
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in named}
    assert [(file, name) for file, name in named if f"\ndef {name}(" not in texts[file]] == []
