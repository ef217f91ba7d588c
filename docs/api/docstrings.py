"""Numpy docstrings as Markdown: sections, tables of parameters, simple tables and examples."""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from textwrap import indent

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", flags=re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([\w.]+)`")
CODE = re.compile(r"``(.+?)``|`([^`]+)`", flags=re.DOTALL)
STAR = re.compile(r"((?<![\w*])\*\w(?:[^*\n]*\w)?\*(?![\w*]))|\*")  # emphasis, or a star
RULE = re.compile(r"^=+(?: +=+)+$")
TABLES = {"Parameters": "parameter", "Attributes": "attribute"}

Link = Callable[[str], str]


@dataclass(frozen=True)
class Docstring:
    """A docstring taken apart.

    Attributes
    ----------
    prose : str
        What stands before the sections.
    sections : dict of str to str
        The others, by heading.
    """

    prose: str
    sections: Mapping[str, str]

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.prose.partition("\n\n")[0].split())


def read(documented: object) -> Docstring:
    """Return the docstring of a function, a class or a property, taken apart."""
    prose, *rest = HEADING.split(inspect.getdoc(documented) or "")
    bodies = (body.strip("\n") for body in rest[1::2])
    return Docstring(prose.strip(), dict(zip(rest[::2], bodies, strict=True)))


def items(section: str) -> list[tuple[str, str, str]]:
    """Return names, type and meaning of each entry of a section."""
    found = []
    for entry in re.split(r"\n(?=\S)", section):
        head, _, meaning = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        found.append((names.strip(), kind.strip(), inspect.cleandoc(meaning)))
    return found


def whole(section: str, thing: type, public: Collection[int]) -> str:
    """Return the parameters of a class, with those that it leaves to a class nobody is shown.

    Such an entry says ``As for`` or ``See``, and the name of a class that it is made from.
    """
    hidden = {one.__name__: one for one in thing.__mro__ if id(one) not in public}
    entries = []
    for names, kind, meaning in items(section):
        of = re.match(r"(?:As for|See) ``(\w+)``\.?$", meaning)
        if of is None or of[1] not in hidden:
            entries.append((names, kind, meaning))
            continue
        wanted = set(names.split(", "))
        entries += [
            entry
            for entry in items(read(hidden[of[1]]).sections.get("Parameters", ""))
            if names.startswith("*") or wanted & set(entry[0].split(", "))
        ]
    return "\n".join(
        f"{names} : {kind}\n" + indent(meaning, "    ") for names, kind, meaning in entries
    )


def inline(text: str, link: Link) -> str:
    """Return prose with code as Markdown has it, and public names linked.

    ``link`` turns the text between backticks into a code span or a link.
    """
    text = ROLE.sub(lambda role: f"``{role.group(1)}``", text)
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [_plain(text[end : code.start()])]
        parts += [link(" ".join((code.group(1) or code.group(2)).split()))]
        end = code.end()
    return "".join([*parts, _plain(text[end:])])


def typed(kind: str, link: Link) -> str:
    """Return a type in words, with the public classes in it linked."""
    parts = []
    for part in re.split(r"(``.+?``|\b[A-Z]\w+\b)", kind):
        found = inline(part, link) if part.startswith("``") else link(part)
        parts.append(found if found != f"`{part}`" else _plain(part))
    return "".join(parts).replace("|", "\\|")


def cell(text: str, link: Link) -> str:
    """Return prose as a cell of a table, paragraphs apart."""
    paragraphs = [" ".join(one.split()) for one in text.split("\n\n")]
    return inline("<br>".join(paragraphs), link).replace("\\<br>", "<br>").replace("|", "\\|")


def prose(text: str, link: Link) -> str:
    """Return paragraphs and simple tables as Markdown."""
    return "\n\n".join(_paragraph(one, link) for one in text.split("\n\n") if one.strip())


def section(heading: str, text: str, link: Link) -> str:
    """Return a section as Markdown, without its heading where the text begins with it."""
    if heading in TABLES:
        rows = [
            f"| {_names(names)} | {typed(kind, link)} | {cell(meaning, link)} |"
            for names, kind, meaning in items(text)
        ]
        return "\n".join([f"| {TABLES[heading]} | type | meaning |", "| --- | --- | --- |", *rows])
    if heading in ("Returns", "Yields", "Raises"):
        code = heading == "Raises"
        said = [_said(*item, link, several=code or bool(item[1])) for item in items(text)]
        if len(said) == 1:
            return f"**{heading}** {said[0]}"
        return "\n".join([f"**{heading}**\n", *(f"- {one}" for one in said)])
    if heading == "Examples":
        return f"**Example**\n\n{examples(text, link)}"
    return f"**{heading}** {prose(text, link)}"


def examples(text: str, link: Link) -> str:
    """Return doctests as blocks of Python, with the prose between them."""
    blocks = []
    for block in re.split(r"\n{2,}", text):
        if block.startswith(">>>"):
            blocks.append(f"```python\n{block}\n```")
        else:
            blocks.append(_paragraph(block, link))
    return "\n\n".join(blocks).replace("\n```\n\n```python\n", "\n\n")


def _names(names: str) -> str:
    return ", ".join(f"`{one.strip()}`" for one in names.split(","))


def _said(names: str, kind: str, meaning: str, link: Link, *, several: bool) -> str:
    # A value without a name is told by its type alone, and that may hold a comma.
    named = several or names.isidentifier()
    head = ", ".join(map(link, names.split(", "))) if named else typed(names, link)
    head = f"{head}, {typed(kind, link)}" if kind else head
    return f"{head}: {inline(' '.join(meaning.split()), link)}" if meaning else f"{head}."


def _plain(text: str) -> str:
    escaped = re.sub(r"([<\[\]]|\b_(?!\w)|(?<!\w)_)", r"\\\1", text)
    return STAR.sub(lambda star: star[1] or f"\\{star[0]}", escaped)


def _paragraph(text: str, link: Link) -> str:
    lines = text.splitlines()
    if RULE.match(lines[0]):
        return _table(lines, link)
    return inline(text, link)


def _table(lines: list[str], link: Link) -> str:
    """Return a simple table of reStructuredText, whose rules say where columns begin."""
    starts = [mark.start() for mark in re.finditer("=+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    for line in lines:
        if RULE.match(line):
            continue
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [" ".join(pair).strip() for pair in zip(rows[-1], cells, strict=True)]
    head, *body = [f"| {' | '.join(cell(one, link) for one in row)} |" for row in rows]
    return "\n".join([head, f"|{' --- |' * len(starts)}", *body])
