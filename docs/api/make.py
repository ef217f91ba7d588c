"""Write the reference of every public name: ``python docs/api/make.py``.

One page per room of the package, of its face and of its pytest plugin, from the names on their
front doors, the signatures and the docstrings. A test holds that the pages are what this script
writes.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from docstrings import Link, inline, prose, read, section, whole
from spelling import annotation_text, call, methods_of, value_gist, value_parts

HERE = Path(__file__).resolve().parent
ROOMS = (
    "signatures",
    "programs",
    "metrics",
    "metrics.correlation",
    "metrics.comparing",
    "metrics.pairs",
    "metrics.ratings",
    "metrics.perturbations",
    "metrics.spans",
    "metrics.calibration",
    "metrics.systems",
    "metrics.audits",
    "metrics.resampling",
    "optimizers",
    "data",
    "experiments",
    "pytest_plugin",
)
GUIDES = {
    "signatures": "judges.md",
    "programs": "judges.md",
    "metrics": "metrics.md",
    "metrics.correlation": "metrics-correlation.md",
    "metrics.comparing": "metrics-uncertainty.md",
    "metrics.pairs": "metrics-pairs.md",
    "metrics.ratings": "metrics-ordinal.md",
    "metrics.perturbations": "metrics-discernment.md",
    "metrics.spans": "metrics-spans.md",
    "metrics.calibration": "metrics-calibration.md",
    "metrics.systems": "metrics-prediction-powered.md",
    "metrics.audits": "metrics-audits.md",
    "metrics.resampling": "metrics-uncertainty.md",
    "optimizers": "compiling.md",
    "data": "data.md",
    "experiments": "command-line.md",
    "pytest_plugin": "pytest.md",
}
MADE = "<!-- Written by docs/api/make.py from the docstrings: change those, and run it. -->"

Places = Mapping[str, tuple[str, str]]


def doors() -> Iterator[ModuleType]:
    """Yield the package and its rooms, whose front doors list all public names."""
    yield import_module("judgesmith")
    yield from (import_module(f"judgesmith.{room}") for room in ROOMS)


def places_of(door: ModuleType) -> dict[str, tuple[str, str]]:
    """Return the module and the own name of every public name of a front door."""
    stub = Path(door.__file__ or "").with_suffix(".pyi")
    listed = stub if stub.is_file() else Path(door.__file__ or "")
    found = {name: (door.__name__, name) for name in door.__all__}
    for node in ast.walk(ast.parse(listed.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                found[name.asname or name.name] = (node.module or "", name.name)
    return {name: found[name] for name in door.__all__}


def identity(door: ModuleType, name: str) -> object:
    """Return what tells one thing from another, whatever it is called at a door."""
    thing = getattr(door, name)
    # Names of types may stand for one object: Python keeps each Literal once.
    return id(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else name


class Reference:
    """The public names, where each is told, and what they say of each other."""

    def __init__(self) -> None:
        self.doors = {door.__name__: door for door in doors()}
        self.places = {name: places_of(door) for name, door in self.doors.items()}
        self.told: dict[str, str] = {}
        self.homes: dict[object, tuple[str, str]] = {}
        # A name is told in its own room, not in those that list it, too.
        inner_first = sorted(ROOMS, key=lambda room: -room.count("."))
        for room in (*(f"judgesmith.{one}" for one in inner_first), "judgesmith"):
            for name in self.places[room]:
                self.homes.setdefault(identity(self.doors[room], name), (room, name))
                self.told.setdefault(name, room)

    def page(self, room: str) -> str:
        """Return the page of one room."""
        door = self.doors[room]
        own = [name for name in self.places[room] if self._home(room, name) == (room, name)]
        lines = [MADE, f"# {room}", prose(read(door).prose, self._linker(room, ""))]
        if example := read(door).sections.get("Examples"):
            lines.append(section("Examples", example, self._linker(room, "")))
        if room == "judgesmith":
            lines.append(self._rooms())
        if guide := GUIDES.get(room.partition(".")[2]):
            lines.append(f"How it is used: [{guide}](../{guide}).")
        lines += [self._table(room, *group) for group in self._groups(room)]
        lines += [self.entry(room, name) for name in own]
        return "\n\n".join(lines) + "\n"

    def _groups(self, room: str) -> list[tuple[str, list[str]]]:
        """Return the names of a room by package, if most are in some, with what each is about."""
        packages: dict[str, list[str]] = {}
        for name, (module, _) in self.places[room].items():
            packages.setdefault(".".join(module.split(".")[:3]), []).append(name)
        n_inside = sum(module.count(".") > 2 for module, _ in self.places[room].values())
        if 2 * n_inside < len(self.places[room]) or room.count(".") > 1:
            return [("", list(self.places[room]))]
        door = self.doors[room]
        for names in packages.values():
            names.sort(key=lambda name: not inspect.isfunction(getattr(door, name)))
        return [(read(import_module(one)).summary, packages[one]) for one in sorted(packages)]

    def _table(self, room: str, about: str, names: list[str]) -> str:
        rows = [
            f"| [`{name}`]({self._address(room, name, room)}) | {self._gist(room, name)} |"
            for name in names
        ]
        head = [f"**{about}**", ""] if about else []
        return "\n".join([*head, "| name | what it is |", "| --- | --- |", *rows])

    def _rooms(self) -> str:
        rows = []
        for room, door in self.doors.items():
            if room != "judgesmith":
                gist = inline(read(door).summary, self._linker("judgesmith", ""))
                rows.append(f"| [{room}]({file_of(room)}) | {gist} |")
        told = "Methods without parentheses are attributes; every example here runs as a test."
        return "\n".join([told, "", "| room | what it holds |", "| --- | --- |", *rows])

    def entry(self, room: str, name: str) -> str:
        """Return all that is said of one name."""
        thing = getattr(self.doors[room], name)
        link = self._linker(room, name)
        module, attribute = self.places[room][name]
        parts = [f"## {name}"]
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            return "\n\n".join([*parts, *value_parts(module, attribute, thing, link)])
        said = read(thing)
        parts += [f"```text\n{call(name, thing)}\n```", prose(said.prose, link)]
        sections = dict(said.sections)
        if inspect.isclass(thing) and "Parameters" in sections:
            public = {id(one) for one in self._classes()}
            sections["Parameters"] = whole(sections["Parameters"], thing, public)
        example = sections.pop("Examples", None)
        if inspect.isfunction(thing) and not {"Returns", "Yields"} & set(sections):
            sections["Returns"] = annotation_text(inspect.signature(thing).return_annotation)
        order = ["Parameters", "Attributes", "Returns", "Yields"]
        for heading in sorted(sections, key=lambda one: [*order, one].index(one)):
            parts.append(section(heading, sections[heading], link))
        if inspect.isclass(thing):
            parts += self._class_parts(room, name, thing, link)
        if example:
            parts.append(section("Examples", example, link))
        return "\n\n".join(parts)

    def _class_parts(self, room: str, name: str, thing: type, link: Link) -> list[str]:
        parts = []
        makers = sorted(self._makers(thing))
        if makers:
            parts.append(
                f"**Returned by** {', '.join(self._entry_link(room, one) for one in makers)}."
            )
        own, parents = methods_of(thing, {id(one) for one in self._classes()})
        if own:
            lines = [f"- `{call(key, one)}`: {inline(read(one).summary, link)}" for key, one in own]
            parts.append("\n".join(["**Methods**\n", *lines]))
        for key, one in own:
            said = read(one)
            if "Parameters" in said.sections or "Returns" in said.sections:
                parts.append(f"### {name}.{key}\n\n```text\n{call(key, one)}\n```")
                parts.append(prose(said.prose, link))
                parts += [section(head, text, link) for head, text in said.sections.items()]
        if parents:
            names = ", ".join(self._entry_link(room, self.homes[id(one)][1]) for one in parents)
            parts.append(f"**Also has** the methods of {names}.")
        return parts

    def _classes(self) -> list[type]:
        things = (getattr(self.doors[room], name) for name, room in self.told.items())
        return [one for one in things if inspect.isclass(one)]

    def _makers(self, thing: type) -> Iterator[str]:
        for name, room in self.told.items():
            maker = getattr(self.doors[room], name)
            if inspect.isfunction(maker) and self._home(room, name) == (room, name):
                returned = annotation_text(inspect.signature(maker).return_annotation)
                if re.search(rf"\b{thing.__name__}\b", returned):
                    yield name

    def _home(self, room: str, name: str) -> tuple[str, str]:
        return self.homes[identity(self.doors[room], name)]

    def _entry_link(self, page: str, name: str) -> str:
        return f"[`{name}`]({self._address(self.told[name], name, page)})"

    def _gist(self, room: str, name: str) -> str:
        thing = getattr(self.doors[room], name)
        home, own = self._home(room, name)
        link = self._linker(room, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            gist = inline(read(thing).summary, link)
        else:
            gist = inline(value_gist(*self.places[home][own], thing), link)
        return gist.replace("|", "\\|")

    def _address(self, room: str, name: str, page: str) -> str:
        home, own = self.homes[identity(self.doors[room], name)]
        return f"{'' if home == page else file_of(home)}#{own.lower()}"

    def _linker(self, page: str, name: str) -> Link:
        return partial(self._linked, page, name)

    def _linked(self, page: str, inside: str, code: str) -> str:
        word = code.removesuffix("()")
        if word.startswith("judgesmith."):
            word = word.rpartition(".")[2]
        if word == inside or word not in self.told:
            return f"`{code}`"
        # Words such as ``model`` and ``compile`` are parameters and methods more often than names.
        if word == code and word.isalpha() and word.islower():
            return f"`{code}`"
        return self._entry_link(page, word)


def file_of(room: str) -> str:
    """Return the page of a room."""
    return "README.md" if room == "judgesmith" else f"{room.partition('.')[2].replace('.', '-')}.md"


def pages() -> dict[str, str]:
    """Return every page of the reference, by file name."""
    reference = Reference()
    return {file_of(room): reference.page(room) for room in reference.doors}


def main() -> int:
    """Write the pages, and say what changed."""
    for name, text in pages().items():
        path = HERE / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
