"""Tests outside ``tests/unit`` import what everybody may import, and nothing behind it."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DOORS = {
    "judgesmith",
    *(
        f"judgesmith.{one}"
        for one in (
            *("signatures", "programs", "metrics", "optimizers", "data", "experiments"),
            *("cli", "pytest_plugin"),
        )
    ),
}
HELD = ("api", "contracts", "system")
"""Folders of tests that keep to the doors already; it grows until all but ``unit`` do."""


def deep(tree):
    """Return what a module imports from behind a door."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{one.name}" for one in node.names}
            found += [node.module or ""] if not names <= DOORS else []
    return [one for one in found if one.partition(".")[0] == "judgesmith" and one not in DOORS]


@pytest.mark.parametrize("folder", HELD)
def test_tests_import_front_doors_alone(folder):
    paths = [one for one in sorted((HERE / folder).rglob("*.py")) if "before" not in one.parts]
    assert paths
    wrong = {
        str(path.relative_to(HERE)): found
        for path in paths
        if (found := deep(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert wrong == {}


@pytest.mark.parametrize("helper", ["locking.py", "loopback_door.py"])
def test_what_helps_them_does_so_too(helper):
    assert deep(ast.parse((HERE / "unit" / "support" / helper).read_text(encoding="utf-8"))) == []


def test_an_import_from_behind_a_door_is_noticed():
    code = "import judgesmith.programs.lm\nfrom judgesmith.metrics.records import Estimate\n"
    code += "from judgesmith import metrics\nfrom judgesmith.programs import Judge\n"
    assert deep(ast.parse(code)) == ["judgesmith.programs.lm", "judgesmith.metrics.records"]
