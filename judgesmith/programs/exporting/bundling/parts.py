"""The source of a module in parts: each definition with its text, and the names in it."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OURS = "judgesmith"


@dataclass(frozen=True, slots=True)
class Imported:
    """What a name in a module stands for, if it comes from another one.

    Attributes
    ----------
    module : str
        Where it comes from.
    name : str
        What it is called there; empty where the module itself is meant.
    """

    module: str
    name: str

    @property
    def is_ours(self) -> bool:
        """Whether it comes from this package."""
        return self.module.partition(".")[0] == OURS


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One definition at the top of a module.

    Attributes
    ----------
    module, name : str
        Where it stands, and what it defines.
    node : ast.stmt
        The definition.
    first, last : int
        Its lines, from 1, with comments before it and a docstring after it.
    """

    module: str
    name: str
    node: ast.stmt
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module, read.

    Attributes
    ----------
    name, idea : str
        Its name, and the first line of its docstring.
    lines : tuple of str
        Its text.
    parts : dict of str to Part
        Definitions by name.
    imports : dict of str to Imported
        What is imported at its top, by name, also for annotations alone.
    changed : frozenset of str
        Names whose definition is not all that makes them.
    """

    name: str
    idea: str
    lines: tuple[str, ...]
    parts: Mapping[str, Part]
    imports: Mapping[str, Imported]
    changed: frozenset[str]


@functools.cache
def module_called(name: str) -> Module:
    """Return a module of this package in parts.

    Examples
    --------
    >>> found = module_called("judgesmith.signatures.fences")
    >>> found.parts["fenced"].first < found.parts["fenced"].last, found.imports["re"].module
    (True, 're')
    """
    spec = importlib.util.find_spec(name)
    assert spec is not None, name
    assert spec.origin is not None, name
    text = Path(spec.origin).read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = tuple(text.splitlines())
    parts: dict[str, Part] = {}
    imports: dict[str, Imported] = {}
    changed: set[str] = set()
    previous: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.If):
            for below in ast.walk(node):
                imports.update(imported_by(below))
            continue
        if isinstance(node, ast.Expr):  # a docstring, of the module or of the value before it
            last = node.end_lineno or node.lineno
            for one in previous:
                parts[one] = _longer(parts[one], last)
            continue
        if isinstance(node, ast.AugAssign):
            name_changed = ast.unparse(node.target)
            if previous == [name_changed]:
                parts[name_changed] = _longer(parts[name_changed], node.end_lineno or node.lineno)
            else:
                changed.add(name_changed)
            continue
        previous = list(_defined(node))
        for one in previous:
            first, last = commented_from(node, lines), node.end_lineno or node.lineno
            parts[one] = Part(module=name, name=one, node=node, first=first, last=last)
    idea = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Module(
        name=name,
        idea=idea,
        lines=lines,
        parts=parts,
        imports=imports,
        changed=frozenset(changed),
    )


def _longer(part: Part, last: int) -> Part:
    return Part(module=part.module, name=part.name, node=part.node, first=part.first, last=last)


def imported_by(node: ast.AST) -> dict[str, Imported]:
    """Return what a statement imports, by name; nothing for other nodes."""
    if isinstance(node, ast.Import):
        return {one.asname or one.name: Imported(one.name, "") for one in node.names}
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return {one.asname or one.name: Imported(module, one.name) for one in node.names}
    return {}


def first_line(node: ast.stmt) -> int:
    """Return the first line of a definition with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def commented_from(node: ast.stmt, lines: tuple[str, ...]) -> int:
    """Return the first line of a definition with the comments right before it."""
    first = first_line(node)
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Name):
                    yield one.id
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
