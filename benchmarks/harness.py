"""One harness for all benchmarks: settings from the command line, rows out, results in a file.

A benchmark is a function whose keyword arguments are its settings and that yields rows, dicts from
the name of a column to a cell. ``@benchmark`` gives it a name, its settings for ``--quick`` and how
its numbers are written. Rows with the same columns, one after the other, are one table.
"""

import argparse
import gc
import gzip
import inspect
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import time
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, starmap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"

Cell = str | float | bool | None | tuple[float, float, float] | tuple[float, float]
"""A text, a number, yes or no, nothing; a value with the ends of its interval; or a range."""
Row = dict[str, Cell]


class NotRun(Exception):  # noqa: N818 - not an error: what a benchmark needs is not there
    """Says what a benchmark needs and does not find."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark, and how it is run.

    ``quick`` are the settings that make it take a moment, or why there are none; ``formats`` say
    how the numbers of a column are written.
    """

    function: Callable[..., Iterable[Row]]
    quick: Mapping[str, Any] | str
    formats: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def folder(self) -> str:
        """The folder of benchmarks that it is in."""
        return self.function.__module__.split(".")[1]

    @property
    def about(self) -> str:
        """The first sentence of its module, or of its function where a module has several."""
        module = inspect.getmodule(self.function)
        text = self.function.__doc__ or (module and module.__doc__) or ""
        return text.partition("\n")[0]

    def parser(self) -> argparse.ArgumentParser:
        """Return what reads its settings."""
        module = inspect.getmodule(self.function)
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks run {self.name} --",
            description=(module and module.__doc__) or self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        hints = typing.get_type_hints(self.function, include_extras=True)
        for name, one in inspect.signature(self.function).parameters.items():
            _add_option(parser, f"--{name.replace('_', '-')}", hints[name], one.default)
        return parser

    def changed(self, settings: Mapping[str, Any]) -> str:
        """Return the settings that are not the defaults, as the command line takes them."""
        defaults = vars(self.parser().parse_args([]))
        words = []
        for name, value in settings.items():
            if name in defaults and value != _as_json(defaults[name]):
                option = name.replace("_", "-")
                if isinstance(value, bool):
                    words.append(f"--{option}" if value else f"--no-{option}")
                else:
                    several = value if isinstance(value, list) else [value]
                    words.append(shlex.join([f"--{option}", *map(str, several)]))
        return " ".join(words)

    def run(self, settings: Mapping[str, Any]) -> Iterator[Row]:
        """Yield its rows as they come."""
        with _surroundings():
            for row in self.function(**settings):
                yield {name: _plain(cell) for name, cell in row.items()}


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


BENCHMARKS: dict[str, Benchmark] = {}
"""All that were imported, by name."""


def benchmark(
    *, quick: Mapping[str, Any] | str, formats: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Iterable[Row]]], Callable[..., Iterable[Row]]]:
    """Make a function a benchmark."""

    def register(function: Callable[..., Iterable[Row]]) -> Callable[..., Iterable[Row]]:
        one = Benchmark(function=function, quick=quick, formats=formats or {})
        BENCHMARKS[one.name] = one
        return function

    return register


def _add_option(parser: argparse.ArgumentParser, option: str, hint: Any, default: Any) -> None:
    """Add an option of a type; the texts of an ``Annotated`` type are its help."""
    said: dict[str, Any] = {"default": default, "help": None}
    if typing.get_origin(hint) is typing.Annotated:
        hint, said["help"] = typing.get_args(hint)
    kinds = [one for one in typing.get_args(hint) if one is not type(None)]
    if hint is bool:
        parser.add_argument(option, action=argparse.BooleanOptionalAction, **said)
        return
    if typing.get_origin(hint) is tuple:
        hint, said["nargs"] = kinds[0], "*"
    elif typing.get_origin(hint) is not typing.Literal and kinds:
        hint = kinds[0]
    if typing.get_origin(hint) is typing.Literal:
        said["choices"] = typing.get_args(hint)
    else:
        said["type"] = hint
    parser.add_argument(option, **said)


@contextmanager
def _surroundings() -> Iterator[None]:
    """Look up no prices on the network, ask local servers without a key, and pass over warnings."""
    given = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_API_KEY": "none"}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update({name: before[name] or value for name, value in given.items()})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gc.unfreeze()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


# -- rows --------------------------------------------------------------------------------------


def _plain(cell: Any) -> Cell:
    """Return a cell as JSON keeps it: numbers to six digits, none that is not finite."""
    if hasattr(cell, "low"):
        cell = (cell.value, cell.low, cell.high)
    if isinstance(cell, tuple | list):
        return [_plain(one) for one in cell]  # type: ignore[return-value]
    if hasattr(cell, "item"):
        cell = cell.item()
    if isinstance(cell, float):
        return float(f"{cell:.6g}") if math.isfinite(cell) else None
    return cell if isinstance(cell, int | None) else " ".join(str(cell).split())


def shown(cell: Cell, form: str = "") -> str:
    """Write a cell.

    >>> shown(0.25), shown([0.25, 0.1, 0.4], ".1%"), shown(True), shown(1200)
    ('0.250', '25.0% [10.0%, 40.0%]', 'yes', '1,200')
    >>> shown((0.9, 0.955), ".1%"), shown((1, 1))
    ('90.0% to 95.5%', '1')
    """
    if cell is None:
        return "–"
    if isinstance(cell, tuple | list) and len(cell) == 2:
        return " to ".join(dict.fromkeys(shown(one, form) for one in cell))
    if isinstance(cell, tuple | list):
        value, low, high = (shown(one, form) for one in cell)
        return value if all(one is None for one in cell[1:]) else f"{value} [{low}, {high}]"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    return format(cell, form or ("," if isinstance(cell, int) else ".3f"))


def lines(rows: Iterable[Row], formats: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of tables in Markdown, with an empty one between two tables."""
    for place, (columns, several) in enumerate(groupby(rows, key=tuple)):
        if place:
            yield ""
        yield f"| {' | '.join(columns)} |"
        yield "| --- " * len(columns) + "|"
        for row in several:
            cells = (shown(cell, formats.get(name, "")) for name, cell in row.items())
            yield f"| {' | '.join(cells)} |"


def held(promise: str, measured: object, was_held: bool) -> Row:
    """Return the row of a promise, what was measured of it, and whether it held."""
    return {"promise": promise, "measured": str(measured), "held": bool(was_held)}


# -- what benchmarks share ---------------------------------------------------------------------


def data_file(name: str) -> Path:
    """Return where a file of the rated data is, ``.jsonl.gz`` unless its name says otherwise."""
    folder = Path(os.environ.get("JUDGESMITH_DATA") or ROOT.parent / "shared" / "data").absolute()
    place = folder / (name if "." in name else f"{name}.jsonl.gz")
    if not place.is_file():
        raise NotRun(f"set JUDGESMITH_DATA to the folder of rated data sets; no {place.name} here")
    return place


@lru_cache(maxsize=4)
def records(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the rated data."""
    with gzip.open(data_file(name), "rt", encoding="utf-8") as lines_of_file:
        return [json.loads(line) for line in lines_of_file]


def rated(name: str, sources: int | None = None) -> Any:
    """Return a rated data set, or all rows of so many of its sources, always the same ones."""
    import numpy as np

    from judgesmith.data import read_items

    data = read_items(data_file(name))
    if sources is None:
        return data
    drawn = np.random.default_rng(0).permutation(np.unique(data.groups))[:sources]
    return data.subset(np.flatnonzero(np.isin(data.groups, drawn)).tolist())


def seeds_of(text: str) -> list[int]:
    """Return the seeds that a text names.

    >>> seeds_of("0-2,7"), seeds_of("5")
    ([0, 1, 2, 7], [5])
    """
    ends = [part.partition("-") for part in text.split(",")]
    return [n for first, _, last in ends for n in range(int(first), int(last or first) + 1)]


def shortest(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest time in seconds that something took."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def spread(work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], processes: int) -> Iterator:
    """Yield what every job comes to, in their order; with one process, in this one."""
    if processes == 1:
        yield from starmap(work, jobs)
        return
    with ProcessPoolExecutor(
        processes, initializer=warnings.simplefilter, initargs=("ignore",)
    ) as pool:
        for future in [pool.submit(work, *job) for job in jobs]:
            yield future.result()


def kept(place: str | None, key: Mapping[str, Any], work: Callable[[], dict[str, Any]]) -> dict:
    """Return a part of a long benchmark: from its line of a file, or done now and written there."""
    path = Path(place) if place else None
    if path and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if all(one[name] == value for name, value in key.items()):
                return one
    found = {**key, **work()}
    if path:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
    return json.loads(json.dumps(found))


# -- results -----------------------------------------------------------------------------------


def machine() -> str:
    """Return what kind of machine this is."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {python}"


def commit() -> str:
    """Return the commit that is checked out, marked where files of it were changed."""
    call = ["git", "describe", "--always", "--exclude=*", "--abbrev=12"]
    found = subprocess.run(call, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    parts = ["judgesmith", "benchmarks", "tests", ":!benchmarks/results"]
    call = ["git", "diff", "--quiet", "HEAD", "--", *parts]
    is_changed = subprocess.run(call, cwd=ROOT).returncode != 0
    return f"{found}, changed" if is_changed else found


def write_result(one: Benchmark, arguments: Mapping[str, Any], rows: list[Row], to: Path) -> Path:
    """Write a file of results, which is whole or as it was before."""
    document = {
        "benchmark": one.name,
        "commit": commit(),
        "machine": machine(),
        "arguments": arguments,
    }
    text = "".join(f' "{key}": {json.dumps(value)},\n' for key, value in document.items())
    body = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    to.mkdir(parents=True, exist_ok=True)
    place = to / f"{one.name}.json"
    draft = place.with_suffix(".json.part")
    draft.write_text(f'{{\n{text} "rows": [\n{body}\n ]\n}}\n', encoding="utf-8")
    draft.replace(place)
    return place
