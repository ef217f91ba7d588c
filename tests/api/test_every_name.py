"""All names at the front doors stand on file, and each is used by a test beside this one."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from locking import hold

HERE = Path(__file__).parent
DOORS = (
    "judgesmith",
    "judgesmith.signatures",
    "judgesmith.programs",
    "judgesmith.metrics",
    "judgesmith.metrics.audits",
    "judgesmith.metrics.calibration",
    "judgesmith.metrics.comparing",
    "judgesmith.metrics.correlation",
    "judgesmith.metrics.pairs",
    "judgesmith.metrics.perturbations",
    "judgesmith.metrics.ratings",
    "judgesmith.metrics.resampling",
    "judgesmith.metrics.spans",
    "judgesmith.metrics.systems",
    "judgesmith.metrics.verdicts",
    "judgesmith.optimizers",
    "judgesmith.data",
    "judgesmith.experiments",
    "judgesmith.studio",
    "judgesmith.cli",
    "judgesmith.pytest_plugin",
)


def test_the_names_are_those_on_file():
    hold(
        {door: sorted(import_module(door).__all__) for door in DOORS}, HERE / "expected/names.json"
    )


@cache
def used():
    """Return every public name that a test here uses, by its door."""
    found = {door: set() for door in DOORS}
    for path in sorted(HERE.parent.glob("api/test_*.py")) + sorted(HERE.parent.glob("system/*.py")):
        if path.name == Path(__file__).name:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        doors = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                doors |= {one.asname or one.name: one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module in DOORS:
                for one in node.names:
                    inner = f"{node.module}.{one.name}"
                    if inner in DOORS:
                        doors[one.asname or one.name] = inner
                    found[node.module].add(one.name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                door = doors.get(node.value.id)
                if door in found:
                    found[door].add(node.attr)
    return found


@pytest.mark.parametrize("door", DOORS)
def test_every_name_is_used_by_a_test(door):
    found = used()
    listed = set(import_module(door).__all__) - found[door]
    if door.count(".") > 1:  # what the door before it lists, too
        listed -= found[door.rpartition(".")[0]]
    assert sorted(listed) == []
