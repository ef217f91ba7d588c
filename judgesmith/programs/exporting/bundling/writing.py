"""The text of what is needed, as it stands in its modules, less what is only for this package."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from judgesmith.errors import InputError
from judgesmith.programs.exporting.bundling.parts import (
    Imported,
    Module,
    commented_from,
    module_called,
)
from judgesmith.programs.exporting.bundling.reaching import (
    PLAIN_TYPES,
    Place,
    Reached,
    at,
    is_dataclass,
    is_needed,
    plain_default,
    reached,
)

_WIDTH = 100

Writer = Callable[[set[str], Callable[[Place], str]], str]


def bundle(
    entries: Iterable[Place],
    stand_ins: Mapping[str, str],
    written: Mapping[str, Writer],
    *,
    documented: Collection[Place] = (),
) -> str:
    """Return Python source that defines some names and all that they need, and nothing else.

    Parameters
    ----------
    entries : iterable of (str, str)
        Module and name of each.
    stand_ins : dict of str to str
        Modules that are not to be used, with those that define the same names instead;
        ``pydantic`` is one, of which ``Record`` stands for ``BaseModel``.
    written : dict of str to callable
        Writes modules that are not taken as they stand: told which names of fields are used, and
        by what a definition in a module is called here. The text may use all that comes before:
        such modules, and those that import from them, come last.
    documented : collection of (str, str)
        Definitions whose docstrings stay whole: those that are called from elsewhere.

    Raises
    ------
    ValueError
        If something is needed from a library that is not the standard one, or two modules give
        one public name to different things.
    """
    found = reached(entries, stand_ins)
    renamed = _renamed(found.places)

    def called(place: Place) -> str:
        module, name = at(place, stand_ins)
        return renamed.get(module, {}).get(name, name)

    sections = []
    for name in _last(found.modules, written):
        module = module_called(name)
        texts = (
            [written[name](found.mentions, called)]
            if name in written
            else [
                _text(module, one, found, renamed.get(name, {}), whole=(name, one) in documented)
                for place, one in found.places
                if place == name
            ]
        )
        once = list(dict.fromkeys(texts))  # one statement may define several names
        sections.append("\n\n\n".join([_heading(module.idea), *once]))
    imports = "\n".join(_imports(found.outside, "\n".join(sections)))
    return "\n\n\n".join([f"from __future__ import annotations\n\n{imports}", *sections]) + "\n"


def _last(modules: Sequence[str], written: Mapping[str, object]) -> list[str]:
    """Return modules with those that are written, and what imports from them, at the end."""

    def rank(name: str) -> int:
        if name in written:
            return 1
        return (
            2 if any(one.module in written for one in module_called(name).imports.values()) else 0
        )

    return sorted(modules, key=rank)


def _heading(idea: str) -> str:
    rule = "# " + "-" * (_WIDTH - 2)
    return f"{rule}\n# {idea}\n{rule}"


def _imports(outside: Mapping[str, Imported], text: str) -> Iterator[str]:
    """Yield the import statements of what is used in a text."""
    used = {name: one for name, one in outside.items() if re.search(rf"\b{name}\b", text)}
    yield from sorted(f"import {one.module}" for one in used.values() if not one.name)
    by_module: dict[str, set[str]] = {}
    for one in used.values():
        if one.name and one.module != "__future__":
            by_module.setdefault(one.module, set()).add(one.name)
    for module in sorted(by_module):
        names = sorted(by_module[module], key=lambda name: (name.islower(), name))
        yield f"from {module} import {', '.join(names)}"


def _renamed(places: Sequence[Place]) -> dict[str, dict[str, str]]:
    """Return other names for private ones and values that several modules use, by module.

    Raises
    ------
    ValueError
        If a public function or class has two meanings.
    """
    by_name: dict[str, list[str]] = {}
    for module, name in places:
        by_name.setdefault(name, []).append(module)
    renamed: dict[str, dict[str, str]] = {}
    for name, modules in by_name.items():
        kept = [one for one in modules if _keeps(one, name)]
        if len(kept) > 1:
            raise InputError(f"{name} is defined in {' and in '.join(kept)}.")
        for module in modules if len(modules) > 1 else ():
            if module not in kept:
                own = f"{name}_in_{module.rpartition('.')[2]}"
                renamed.setdefault(module, {})[name] = own
    return renamed


def _keeps(module: str, name: str) -> bool:
    """Say whether a name is that of a public function or class, which is not renamed."""
    is_value = isinstance(module_called(module).parts[name].node, ast.Assign)
    return not (name.startswith("_") or is_value)


def _text(
    module: Module, name: str, found: Reached, renamed: Mapping[str, str], *, whole: bool
) -> str:
    """Return one definition as it is written in the bundle."""
    if name in module.changed:
        raise InputError(f"{name} of {module.name} is changed after its definition.")
    part = module.parts[name]
    if isinstance(part.node, ast.ClassDef):
        lines = list(_class_lines(module, part.node, found, part.first))
    elif whole:
        lines = list(module.lines[part.first - 1 : part.last])
    else:
        lines = _kept(module.lines, part.first, part.last, part.node)
    text = "\n".join(lines)
    for old, new in PLAIN_TYPES.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return _with_names(text, renamed) if renamed else text


def _class_lines(module: Module, node: ast.ClassDef, found: Reached, first: int) -> Iterator[str]:
    """Yield a class with the members that are needed, on ``Record`` instead of ``BaseModel``."""
    body = node.body[0].lineno
    header = "\n".join(module.lines[first - 1 : body - 1])
    yield from re.sub(r"\bBaseModel\b", "Record", header).rstrip().split("\n")
    doc = node.body[0] if ast.get_docstring(node) is not None else None
    whole = is_dataclass(node)
    names = {name for _, name in found.places}
    wrote = False
    if doc is not None:
        yield from _kept(module.lines, doc.lineno, doc.end_lineno or doc.lineno, node)
        wrote = True
    was_field = False
    for member in node.body:
        if member is doc or not is_needed(member, found.mentions, whole=whole):
            continue
        start = commented_from(member, module.lines)
        is_field = isinstance(member, ast.AnnAssign)
        if wrote and not (is_field and was_field):
            yield ""
        if isinstance(member, ast.AnnAssign) and not whole:
            default = plain_default(member.value, names)
            said = "" if default is None else f" = {ast.unparse(default)}"
            assert isinstance(member.target, ast.Name)
            yield f"    {member.target.id}: {ast.unparse(member.annotation)}{said}"
        else:
            yield from _kept(module.lines, start, member.end_lineno or start, member)
        wrote, was_field = True, is_field
    if not wrote:
        yield "    pass"


def _kept(lines: Sequence[str], first: int, last: int, node: ast.AST) -> list[str]:
    """Return lines of a definition without sections of docstrings and our own imports in it."""
    dropped: set[int] = set()
    closing: dict[int, str] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("judgesmith"):
            dropped.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(one) is not None:
            doc = one.body[0]
            end = doc.end_lineno or doc.lineno
            start = _sections(lines, doc.lineno, end)
            if start is not None:
                dropped.update(range(start, end + 1))
                closing[start] = " " * doc.col_offset + '"""'
    kept: list[str] = []
    for number in range(first, last + 1):
        if number in closing:
            while kept and not kept[-1].strip():
                kept.pop()
            is_line = kept[-1].lstrip().startswith(('"""', 'r"""')) and len(kept[-1]) < _WIDTH - 3
            if is_line:
                kept[-1] += '"""'
            else:
                kept.append(closing[number])
        elif number not in dropped:
            kept.append(lines[number - 1])
    return kept


def _sections(lines: Sequence[str], first: int, last: int) -> int | None:
    """Return the line on which the sections of a docstring begin, such as its parameters.

    What stands before them says what it is; types and names say most of the rest.
    """
    for number in range(first, last):
        if re.fullmatch(r"\s*-{3,}", lines[number]) and lines[number - 1].strip().isalpha():
            return number
    return None


def _with_names(text: str, renamed: Mapping[str, str]) -> str:
    """Return source with other names for some variables; attributes and texts stay."""
    names = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, renamed))})(?!\w)")
    lines = text.split("\n")
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token in reversed([*zip([None, *tokens], tokens, strict=False)]):
        is_name = token.type == tokenize.NAME and (before is None or before.string != ".")
        # Before Python 3.12 the names in a formatted string are no tokens of their own.
        is_formatted = (
            token.type == tokenize.STRING and "f" in token.string.partition('"')[0].lower()
        )
        (row, start), (_, end) = token.start, token.end
        if row == token.end[0] and (is_name or is_formatted):
            line = lines[row - 1]
            new = names.sub(lambda found: renamed[found[0]], token.string)
            lines[row - 1] = line[:start] + new + line[end:]
    written = "\n".join(lines)
    left = {one.id for one in ast.walk(ast.parse(written)) if isinstance(one, ast.Name)}
    if left & set(renamed):
        raise InputError(f"{min(left & set(renamed))} stands where it cannot be renamed.")
    return written
