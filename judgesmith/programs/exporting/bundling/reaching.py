"""Which definitions a few of them need, across modules: what one file must hold."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from judgesmith.errors import InputError
from judgesmith.programs.exporting.bundling.parts import (
    Imported,
    Module,
    imported_by,
    module_called,
)

Place = tuple[str, str]
"""A module, and a name in it."""

_VALIDATING = {"field_validator", "model_validator", "model_serializer", "field_serializer"}
PLAIN_TYPES = {"FiniteFloat": "float"}
"""What types of pydantic are without it."""

_NO_ENTRIES = ast.Dict(keys=[], values=[])
_OTHERS = {"openai"}  # libraries that a bundle may use


@dataclass(slots=True)
class Reached:
    """What is needed.

    Attributes
    ----------
    places : list of Place
        Definitions, in the order in which they were found.
    modules : list of str
        Their modules, each after those that it imports from.
    outside : dict of str to Imported
        What is imported from the standard library and, within functions, from elsewhere.
    mentions : set of str
        Names of attributes and arguments, and short texts that may be such: members of classes
        that are called otherwise are left out.
    """

    places: list[Place] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    outside: dict[str, Imported] = field(default_factory=dict)
    mentions: set[str] = field(default_factory=set)


def reached(entries: Iterable[Place], stand_ins: Mapping[str, str]) -> Reached:
    """Return what some definitions need.

    Parameters
    ----------
    entries : iterable of (str, str)
        Module and name of each.
    stand_ins : dict of str to str
        Modules that are not to be used, with those that define the same names instead.

    Raises
    ------
    ValueError
        If something is needed from a library that is not the standard one.
    """
    found = Reached()
    pending = [at(place, stand_ins) for place in entries]
    seen: set[Place] = set()
    # Members of a class are needed once something mentions their names, which may come later.
    n_before = -1
    while n_before != len(found.mentions) + len(seen):
        n_before = len(found.mentions) + len(seen)
        again = [*pending, *seen]
        while again:
            place = again.pop()
            module = module_called(place[0])
            definition = module.parts[place[1]].node
            if isinstance(definition, ast.ClassDef) and is_dataclass(definition):
                found.mentions.update(_fields(definition))
            for node in needed_nodes(module, place[1], found.mentions):
                found.mentions.update(_mentions(node))
                local = _local_imports(node)
                for name in _names(node):
                    target = _resolved(module, name, local, stand_ins, found)
                    if target is not None and target not in seen:
                        again.append(target)
            seen.add(place)
        pending = []
    # By module and line: where a definition was found first says nothing.
    found.places = sorted(seen, key=lambda one: (one[0], module_called(one[0]).parts[one[1]].first))
    found.modules = list(_in_order({place[0] for place in seen}, stand_ins))
    return found


def needed_nodes(module: Module, name: str, mentions: set[str]) -> Iterator[ast.AST]:
    """Yield what of a definition is needed: all of it, or those members of a class."""
    node = module.parts[name].node
    if not isinstance(node, ast.ClassDef):
        yield node
        return
    yield from node.bases
    yield from node.decorator_list
    whole = is_dataclass(node)
    for member in node.body:
        if is_needed(member, mentions, whole=whole):
            is_field = isinstance(member, ast.AnnAssign) and not whole
            yield from _field_nodes(member) if is_field else (member,)


def is_dataclass(node: ast.ClassDef) -> bool:
    """Say whether a class is a dataclass, of which every field is needed."""
    return "dataclass" in {_called(one) for one in node.decorator_list}


def is_needed(member: ast.stmt, mentions: set[str], *, whole: bool) -> bool:
    """Say whether a member of a class is needed: its name is mentioned, or Python calls it.

    Where the class is ``whole``, all of its fields are.
    """
    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
        decorators = {_called(one) for one in member.decorator_list}
        is_own = member.name.startswith("__") and member.name.endswith("__")
        return (is_own or member.name in mentions) and not decorators & _VALIDATING
    if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
        return whole or member.target.id in mentions
    return False


def _field_nodes(member: ast.stmt) -> Iterator[ast.AST]:
    """Yield the annotation of a field, and its default where that is a plain value."""
    assert isinstance(member, ast.AnnAssign)
    yield member.annotation
    if (default := plain_default(member.value)) is not None:
        yield default


def plain_default(value: ast.expr | None, names: Container[str] = ()) -> ast.expr | None:
    """Return the default of a field, also in ``Field(…)``, if it is made of plain values.

    It may name what is needed anyway, which are ``names``; None where there is no such default.
    """
    if isinstance(value, ast.Call) and _called(value) == "Field":
        given = {one.arg: one.value for one in value.keywords}
        if "default_factory" in given:
            factory = given["default_factory"]
            is_dict = isinstance(factory, ast.Name) and factory.id == "dict"
            return _NO_ENTRIES if is_dict else None
        value = given.get("default") or (value.args[0] if value.args else None)
    return None if value is None or any(one not in names for one in _names(value)) else value


def _called(node: ast.expr) -> str:
    found = node.func if isinstance(node, ast.Call) else node
    return found.id if isinstance(found, ast.Name) else ""


@functools.cache
def _names(node: ast.AST) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.id for one in ast.walk(node) if isinstance(one, ast.Name)))


@functools.cache
def _mentions(node: ast.AST) -> frozenset[str]:
    """Return names of attributes and arguments, and texts that may be such."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, ast.keyword) and one.arg:
            found.add(one.arg)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            found.update([one.value] if one.value.isidentifier() else ())
    return frozenset(found)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            yield one.target.id


@functools.cache
def _local_imports(node: ast.AST) -> dict[str, Imported]:
    """Return what functions import themselves, by name."""
    found: dict[str, Imported] = {}
    for one in ast.walk(node):
        found.update(imported_by(one))
    return found


def _resolved(
    module: Module,
    name: str,
    local: Mapping[str, Imported],
    stand_ins: Mapping[str, str],
    found: Reached,
) -> Place | None:
    """Return which definition a name in a module means; None where it is none of ours."""
    if name in module.parts:
        return module.name, name
    source = local.get(name) or module.imports.get(name)
    if source is None or hasattr(builtins, name):
        return None
    if source.is_ours:
        if source.name != name:
            raise InputError(f"{module.name} imports {source.name} under another name.")
        return at((source.module, name), stand_ins)
    if name == "BaseModel":
        return at((source.module, name), stand_ins)
    if name in PLAIN_TYPES:
        return None
    if name in local:
        return None  # imported where it is used
    library = source.module.partition(".")[0]
    if library not in sys.stdlib_module_names | _OTHERS:
        raise InputError(f"{module.name} needs {source.module}.{source.name}.")
    found.outside[name] = source
    return None


def at(place: Place, stand_ins: Mapping[str, str]) -> Place:
    """Return where a name is defined, following imports."""
    module = module_called(stand_ins.get(place[0], place[0]))
    name = "Record" if place == ("pydantic", "BaseModel") else place[1]
    if name in module.parts:
        return module.name, name
    source = module.imports.get(name)
    if source is None or not source.is_ours:
        raise InputError(f"{module.name} defines no {name}.")
    return at((source.module, source.name), stand_ins)


def _in_order(modules: set[str], stand_ins: Mapping[str, str]) -> Iterator[str]:
    """Yield modules, each after those that it imports from."""
    done: set[str] = set()

    def visit(name: str) -> Iterator[str]:
        if name in done:
            return
        done.add(name)
        for one in module_called(name).imports.values():
            if one.is_ours or one.module in stand_ins:
                yield from visit(stand_ins.get(one.module, one.module))
        if name in modules:
            yield name

    for name in sorted(modules):
        yield from visit(name)
