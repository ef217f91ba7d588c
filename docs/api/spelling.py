"""Calls, types and constants in the words of Python, as a reference shows them."""

import ast
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from docstrings import Link, inline

LONGEST_DEFAULT = 60
WIDEST_CALL = 96


def call(name: str, thing: Any) -> str:
    """Return how a function, a class or a method is called, with its defaults."""
    if isinstance(thing, property):
        return name
    try:
        signature = inspect.signature(thing)
        if inspect.isclass(thing) and "args" in signature.parameters:
            signature = inspect.signature(thing.__init__)  # a metaclass hides it
    except (TypeError, ValueError):
        return name
    shown, star, slash = [], False, False
    for each in signature.parameters.values():
        if each.name in ("self", "cls") or each.name.startswith("_"):
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        prefix = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f"={default_text(each.default)}"
        shown.append(f"{prefix}{each.name}{default}")
        slash = slash or each.kind is each.POSITIONAL_ONLY
    line = f"{name}({', '.join(shown)})"
    if len(line) <= WIDEST_CALL:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in shown), ")"])


def default_text(default: object) -> str:
    """Return a default as it would be written, or dots for what is long or made anew."""
    if inspect.isfunction(default) or inspect.isclass(default):
        return default.__name__
    text = quoted(repr(default))
    return "..." if len(text) > LONGEST_DEFAULT or text.startswith("<") else text


def annotation_text(annotation: object) -> str:
    """Return a type as people write it, without the modules it comes from."""
    if annotation is inspect.Signature.empty or annotation is None:
        return "None"
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def methods_of(thing: type, public: set[int]) -> tuple[list[tuple[str, Any]], list[type]]:
    """Return the documented methods of a class, and the public classes it has others of."""
    own: dict[str, Any] = {}
    parents = []
    for kind in thing.__mro__:
        if kind is not thing and id(kind) in public:
            parents.append(kind)
            break
        if not kind.__module__.startswith("judgesmith."):
            continue
        for key, one in vars(kind).items():
            one = one.__func__ if isinstance(one, classmethod | staticmethod) else one
            if key.startswith("_") or not (inspect.isfunction(one) or isinstance(one, property)):
                continue
            made = one.fget if isinstance(one, property) else one
            if one.__doc__ and made.__module__ == kind.__module__:
                own.setdefault(key, one)
    return sorted(own.items()), parents


def said_below(module: str, name: str) -> str:
    """Return the string below the line that gives a value its name, wherever that is."""
    tree = ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))
    for line, below in pairwise([*tree.body, ast.Pass()]):
        targets = getattr(line, "targets", [getattr(line, "target", None)])
        if name in [getattr(target, "id", None) for target in targets]:
            said = getattr(getattr(below, "value", None), "value", "")
            return " ".join(said.split()) if isinstance(said, str) else ""
        if isinstance(line, ast.ImportFrom) and name in [one.name for one in line.names]:
            return said_below(line.module or "", name)
    raise ValueError(f"{module} does not make {name}.")


def value_gist(module: str, name: str, thing: object) -> str:
    """Return what a constant or the name of a type is, in one line."""
    said = said_below(module, name)
    if not said and get_origin(thing) is Literal:
        said = f"One of {', '.join(f'``{one!r}``' for one in get_args(thing))}."
    if not said:
        raise ValueError(f"{module} does not say what {name} is: put a string below it.")
    return said


def value_parts(module: str, name: str, thing: object, link: Link) -> list[str]:
    """Return what is said of a constant or the name of a type."""
    said = inline(value_gist(module, name, thing), link)
    return [said, f"```text\n{name} = {value_text(thing)}\n```"]


def value_text(thing: object) -> str:
    """Return a constant, or the types that a name stands for, as they would be written."""
    if get_args(thing):
        return quoted(annotation_text(thing))
    if isinstance(thing, Mapping):
        return "\n".join(["{", *(f'    "{key}": ...,' for key in thing), "}"])
    return quoted(repr(thing))


def quoted(text: str) -> str:
    """Return what Python shows as people write it: strings in double quotes."""
    return re.sub(r"'([^'\"\\]*)'", r'"\1"', text)
