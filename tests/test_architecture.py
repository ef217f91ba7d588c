"""The page of the architecture draws what is imported, as the import contract has it."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "judgesmith"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
PACKAGES, PROGRAMS = (
    [tuple(line.split(" --> ")) for line in map(str.strip, block.splitlines()) if " --> " in line]
    for block in re.findall(
        r"```mermaid\n(.*?)```",
        (ROOT / "docs" / "explanation" / "architecture.md").read_text(),
        re.DOTALL,
    )
)


def module_of(path):
    """Return the dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def taken_by(name, *, types=False):
    """Return the modules that a module imports, within functions too; for its types if wished."""
    found = set()

    def look(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):  # which holds no statement
                continue
            if (
                isinstance(child, ast.If)
                and "TYPE_CHECKING" in ast.unparse(child.test)
                and not types
            ):
                continue
            if isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    whole = f"{child.module}.{alias.name}"
                    found.add(whole if whole in MODULES else child.module)
            elif isinstance(child, ast.Import):
                found.update(alias.name for alias in child.names)
            look(child)

    look(tree_of(name))
    return {one for one in found if one in MODULES and one != name}


def below(edges):
    """Return everything that each box of a figure reaches along its arrows."""
    reached = {box: {to for start, to in edges if start == box} for edge in edges for box in edge}
    for _ in reached:
        for found in reached.values():
            found |= {far for near in found for far in reached[near]}
    return reached


def part(name, depth):
    """Return which part of a package a module is, or belongs to; None for the package itself."""
    return dict(enumerate(name.split("."))).get(depth)


@pytest.mark.parametrize(
    ("edges", "within", "depth"),
    [(PACKAGES, "judgesmith", 1), (PROGRAMS, "judgesmith.programs", 2)],
)
def test_everything_imported_follows_an_arrow(edges, within, depth):
    reached = below(edges)
    crossed = set()
    for name in MODULES:
        for taken in taken_by(name):
            if not (name.startswith(f"{within}.") and taken.startswith(f"{within}.")):
                continue
            here, there = part(name, depth), part(taken, depth)
            if here in reached and there in reached and here != there:
                assert there in reached[here], f"{name} imports {taken}"
                crossed.add((here, there))
    assert set(edges) <= crossed, "an arrow that nothing follows"


def test_every_folder_of_programs_is_drawn():
    programs, drawn = PACKAGE / "programs", {box for edge in PROGRAMS for box in edge}
    folders = {path.name for path in programs.iterdir() if (path / "__init__.py").is_file()}
    assert folders | {one for one in drawn if (programs / f"{one}.py").is_file()} == drawn


def test_the_contract_orders_folders_as_the_figure_does():
    (layers,) = (
        one["layers"] for one in CONTRACTS if one.get("containers") == ["judgesmith.programs"]
    )
    rank = {box: n for n, line in enumerate(layers) for box in line.split(" | ")}
    assert set(rank) == {box for edge in PROGRAMS for box in edge}
    assert all(rank[start] < rank[to] for start, to in PROGRAMS)


def test_no_circle_in_signatures_programs_and_optimizers():
    boxes = ("judgesmith.signatures", "judgesmith.programs", "judgesmith.optimizers")
    inside = [n for n in MODULES if n.startswith(boxes)]
    doors = {name for name in inside if MODULES[name].name == "__init__.py"}
    graph = {
        name: {one for one in taken_by(name, types=True) if one in inside} - doors
        for name in inside
        if name not in doors
    }
    left = dict(graph)
    while free := [name for name, taken in left.items() if not taken & left.keys()]:
        for name in free:
            del left[name]
    assert sorted(left) == []


def test_paths_on_the_page_exist():
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    said = set(re.findall(r"`([a-z_/]+/(?:[a-z_]+\.pyi?)?)`", text))
    places = [PACKAGE, PACKAGE / "programs", PACKAGE / "programs" / "families", ROOT]
    places += [PACKAGE / "programs" / "lm", PACKAGE / "signatures"]
    missing = [one for one in sorted(said) if not any((p / one).exists() for p in places)]
    assert len(said) > 30
    assert missing == []


_READS_A_TEXT = {
    "count",
    "endswith",
    "find",
    "index",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rpartition",
    "startswith",
}


# Errors of Python's csv and of DSPy that have nothing but a message.
_NO_CODES = {"judgesmith.data.formats.text", "judgesmith.optimizers.dspy_optimizers"}


def _message_readers(tree):
    """Return the lines that look into the message of an exception that they caught."""
    found = []
    for handler in ast.walk(tree):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
            continue
        message = f"str({handler.name})"
        for node in ast.walk(handler):
            if (
                isinstance(node, ast.Compare)
                and any(
                    isinstance(one, ast.In | ast.NotIn) and ast.unparse(text) == message
                    for one, text in zip(node.ops, node.comparators, strict=True)
                )
            ) or (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _READS_A_TEXT
                and ast.unparse(node.func.value) == message
            ):
                found.append(node.lineno)
    return found


def test_no_code_looks_into_the_message_of_an_error():
    assert _message_readers(ast.parse("try: f()\nexcept E as e:\n  if 'a' in str(e): pass")) == [3]
    assert _message_readers(ast.parse("try: f()\nexcept E as e:\n  str(e).partition(';')")) == [3]
    assert (
        _message_readers(ast.parse("try: f()\nexcept E as e:\n  print(str(e).rstrip('.'))")) == []
    )
    places = [
        f"{name}:{line}"
        for name in MODULES
        if name not in _NO_CODES
        for line in _message_readers(tree_of(name))
    ]
    assert places == []
