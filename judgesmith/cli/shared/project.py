"""``judgesmith.yaml``: the data, the model and the budget of a project, said once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from judgesmith.errors import InputError, JudgesmithError, MissingFileError, did_you_mean

if TYPE_CHECKING:
    from judgesmith.data.columns import ColumnMap
    from judgesmith.programs.lm import Price

PROJECT = "judgesmith.yaml"
_META = "judgesmith.cli.project"
_READING = ("positive", "missing", "decimal", "encoding", "sheet")
_BUDGET = {"calls": int, "tokens": int, "usd": float, "minutes": float}
_KEYS = (
    *("data", "map", "scale", "labels", *_READING, "target"),
    *("model", "api_base", "prices", "budget"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What a project file says.

    ``named`` tells whether the user named the file. A file that was found by searching upwards
    never supplies an address, and its model does not count as named by the user.
    """

    path: Path
    named: bool
    data: tuple[str, ...] = ()
    map: str | None = None
    scales: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    target: tuple[str, ...] = ()
    model: str | None = None
    api_base: str | None = None
    prices: Mapping[str, str] = field(default_factory=dict)
    budget: Mapping[str, float] = field(default_factory=dict)

    def reads(self, files: Sequence[str]) -> bool:
        """Return whether the files are those of the project."""
        own = {Path(one).resolve() for one in self.data}
        return bool(own) and {Path(one).resolve() for one in files} <= own


def find_project(given: str | None) -> Project | None:
    """Return the project file that ``--project`` names, or else the nearest one above.

    The search ends at the root of a Git repository.
    """
    if given == "none":
        return None
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise MissingFileError(f"there is no project file {given}.", where="--project")
        return read_project(path, named=True)
    folder = Path.cwd()
    for one in (folder, *folder.parents):
        if (one / PROJECT).is_file():
            return read_project(Path(os.path.relpath(one / PROJECT)), named=False)
        if (one / ".git").exists():
            return None
    return None


def read_project(path: Path, *, named: bool) -> Project:
    """Return what the file says, or raise one error with the line and the key of the fault."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        said = yaml.safe_load(text)
    except yaml.MarkedYAMLError as fault:
        line = "" if fault.problem_mark is None else f", line {fault.problem_mark.line + 1}"
        raise InputError(f"{path}{line}: not YAML: {fault.problem}.", where=str(path)) from None
    except (UnicodeDecodeError, OSError, ValueError) as fault:
        raise InputError(f"cannot be read: {fault}.", at=path) from None
    if tree is None:
        return Project(path=path, named=named)
    if not isinstance(tree, yaml.MappingNode) or not isinstance(said, dict):
        raise InputError(
            f"{path}, line 1: expected KEY: VALUE lines with the keys {', '.join(_KEYS)}.",
            where=str(path),
        )
    lines = {str(key.value): key.start_mark.line + 1 for key, _ in tree.value}
    if len(lines) < len(tree.value):
        names = [str(key.value) for key, _ in tree.value]
        twice = next(one for one in names if names.count(one) > 1)
        _refuse(path, lines, twice, "is given twice; keep one")
    return _Reader(path, lines).project(said, named=named)


def _refuse(path: Path, lines: Mapping[str, int], key: str, why: str) -> NoReturn:
    place = f"{path}, line {lines.get(key, 1)}"
    raise InputError(f"{key!r} {why}.", at=place)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks the values of a project file by their keys."""

    path: Path
    lines: Mapping[str, int]

    def project(self, said: Mapping[Any, Any], *, named: bool) -> Project:
        for key in said:
            if key not in _KEYS:
                meant = did_you_mean(key, _KEYS) or f"the keys are {', '.join(_KEYS)}"
                _refuse(self.path, self.lines, str(key), f"is not a key; {meant.rstrip('.')}")
        if "scale" in said and "labels" in said:
            plain = [one for one in ("scale", "labels") if not isinstance(said[one], dict)]
            if plain:
                self.fail(plain[0], "is for all criteria; beside the other, name the criterion")
        return Project(
            path=self.path,
            named=named,
            data=tuple(self._place(one) for one in self._texts(said, "data")),
            map=self._map(said),
            scales=(*self._scales(said), *self._labels(said)),
            reading={name: ",".join(self._texts(said, name)) for name in _READING if name in said},
            target=self._texts(said, "target"),
            model=self._text(said, "model"),
            api_base=self._text(said, "api_base"),
            prices=self._prices(said),
            budget=self._budget(said),
        )

    def fail(self, key: str, why: str) -> NoReturn:
        _refuse(self.path, self.lines, key, why)

    def _place(self, name: str) -> str:
        if name in ("sample", "sample-verdicts", "-") or "://" in name or Path(name).is_absolute():
            return name
        return os.path.relpath(self.path.parent / name)

    def _text(self, said: Mapping[Any, Any], key: str) -> str | None:
        texts = self._texts(said, key)
        if len(texts) > 1:
            self.fail(key, "takes one value")
        return texts[0] if texts else None

    def _texts(self, said: Mapping[Any, Any], key: str) -> tuple[str, ...]:
        value = said.get(key)
        if value is None:
            return ()
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str | int | float) for one in values):
            self.fail(key, f"takes a text or a list of texts; got {value!r}")
        return tuple(str(one) for one in values)

    def _map(self, said: Mapping[Any, Any]) -> str | None:
        from judgesmith.data.columns import column_map, written_pairs

        value = said.get("map")
        if value is None:
            return None
        if isinstance(value, dict):
            pairs = []
            for name, columns in value.items():
                several = columns if isinstance(columns, list) else [columns]
                pairs.append((str(name), [str(one) for one in several]))
            value = written_pairs(pairs)
        if not isinstance(value, str):
            self.fail("map", f"takes FIELD: COLUMN lines; got {value!r}")
        try:
            column_map(value)
        except JudgesmithError as fault:
            self.fail("map", f"cannot be used: {str(fault).rstrip('.')}")
        return value

    def _scales(self, said: Mapping[Any, Any]) -> tuple[str, ...]:
        from judgesmith.data.rows import as_scale

        value = said.get("scale")
        if value is None:
            return ()
        scales = value if isinstance(value, dict) else {"": value}
        for scale in scales.values():
            try:
                as_scale(scale)
            except JudgesmithError as fault:
                self.fail("scale", f"cannot be used: {str(fault).rstrip('.')}")
        return tuple(
            f"{f'{name}=' if name else ''}{as_scale(scale)}" for name, scale in scales.items()
        )

    def _labels(self, said: Mapping[Any, Any]) -> tuple[str, ...]:
        value = said.get("labels")
        if value is None:
            return ()
        groups = value if isinstance(value, dict) else {"": value}
        for labels in groups.values():
            # YAML reads no and yes as false and true.
            good = isinstance(labels, list) and all(isinstance(one, str) for one in labels)
            if not good or len(set(labels)) < max(2, len(labels)):
                self.fail(
                    "labels",
                    "takes a list of two or more different texts, worst first (quote 'no' and "
                    f"'yes'); got {labels!r}",
                )
        return tuple(
            f"{f'{name}=' if name else ''}{'|'.join(labels)}" for name, labels in groups.items()
        )

    def _prices(self, said: Mapping[Any, Any]) -> dict[str, str]:
        value = said.get("prices")
        if value is None:
            return {}
        prices = value if isinstance(value, dict) else {"": value}
        found = {
            str(name): ",".join(map(str, price)) if isinstance(price, list) else str(price)
            for name, price in prices.items()
        }
        from judgesmith.programs.lm import Price

        for price in found.values():
            try:
                Price.parse(price)
            except (JudgesmithError, ValueError) as fault:
                self.fail("prices", f"cannot be used: {str(fault).rstrip('.')}")
        return found

    def _budget(self, said: Mapping[Any, Any]) -> dict[str, float]:
        value = said.get("budget")
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail("budget", f"takes {', '.join(_BUDGET)} below it; got {value!r}")
        for name, number in value.items():
            if name not in _BUDGET:
                meant = did_you_mean(name, _BUDGET) or f"it has {', '.join(_BUDGET)}"
                self.fail("budget", f"has no limit {name!r}; {meant.rstrip('.')}")
            numbers = int if _BUDGET[name] is int else (int, float)
            if isinstance(number, bool) or not isinstance(number, numbers) or not number >= 0:
                self.fail("budget", f"takes a number of {name}, 0 or more; got {number!r}")
        return dict(value)


def project_defaults(
    command: click.Command, context: click.Context, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults that the project file supplies to a command, by parameter name."""
    known = {str(one.name): one for one in command.params}
    word = given.get("project")
    project = find_project(word if isinstance(word, str) else None)
    if project is None:
        return {}
    context.meta[_META] = project
    return {
        name: value
        for name, value in {
            **_of_data(project, known, given),
            **_of_models(project, known, given),
        }.items()
        if name in known
    }


def project_prices(names: Sequence[str]) -> dict[str, Price]:
    """Return the prices of models that the project file states."""
    context = click.get_current_context(silent=True)
    project = None if context is None else context.meta.get(_META)
    if project is None or not project.prices:
        return {}
    from judgesmith.programs.lm import Price

    prices = project.prices
    told = {name: prices.get(name, prices.get("")) for name in names}
    return {name: Price.parse(one) for name, one in told.items() if one is not None}


def _given(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = given.get(name)
    words = value if isinstance(value, list | tuple) else (value,)
    return tuple(one for one in words if isinstance(one, str))


def _of_data(
    project: Project, known: Mapping[str, click.Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what counts for the files that the command reads."""
    found: dict[str, Any] = {}
    named = _given(given, "data") or _given(given, "inputs")
    argument = known.get("data")
    if not named and isinstance(argument, click.Argument) and project.data:
        if argument.nargs == 1 and len(project.data) > 1:
            raise InputError(
                f"{project.path} names {len(project.data)} data files; this command reads one.",
                hint=f"name it, such as {project.data[0]}.",
            )
        found["data"] = project.data if argument.nargs != 1 else project.data[0]
        named = project.data
    rates = "scales" in known
    if not project.reads(named):
        encoding = given.get("encoding")
        encoding = encoding if isinstance(encoding, str) else project.reading.get("encoding")
        read = _map_for(project, named, encoding, rated=rates)
        if read is None:
            return found
        found["columns"] = read
        rates = rates and read == project.map
    else:
        found["columns"] = project.map if rates else _texts_of(project.map)
    found |= project.reading
    if rates:
        found["scales"] = project.scales
        target = known.get("target")
        if project.target and target is not None:
            several = isinstance(target, click.Option) and target.multiple
            if several or len(project.target) == 1:
                found["target"] = project.target if several else project.target[0]
    return {name: value for name, value in found.items() if value}


def _texts_of(written: str | None) -> str | None:
    """Return the part of a map that says where texts are, without ratings."""
    from judgesmith.data.columns import ColumnMap, column_map

    fields = column_map(written).fields
    return str(ColumnMap(fields=fields)) if fields else None


def _map_for(
    project: Project, files: Sequence[str], encoding: str | None, *, rated: bool
) -> str | None:
    """Return the map as far as the files have its columns; None where they have other columns."""
    from judgesmith.data.columns import column_map
    from judgesmith.data.joining import is_sheet

    if not project.map or not files:
        return None
    columns: ColumnMap = column_map(project.map)
    texts = {one for group in columns.fields.values() for one in group}
    headers = [_columns_of(one, encoding) for one in files]
    plain = [one for one in headers if not is_sheet(one)]
    if not plain or not all(texts <= one for one in plain):
        return None
    if rated and any(set(columns.columns) <= one for one in plain):
        return project.map
    return _texts_of(project.map)


def _columns_of(file: str, encoding: str | None) -> set[str]:
    """Return the columns of a file's first row; of standard input, or a fault, none."""
    from judgesmith.data.formats.opening import options_of
    from judgesmith.data.formats.raw import ReadOptions
    from judgesmith.data.joining import first_columns

    if not Path(file).is_file():
        return set()
    try:
        return first_columns(file, options_of(file, ReadOptions.of(encoding=encoding)))
    except JudgesmithError:
        return set()


def _of_models(
    project: Project, known: Mapping[str, click.Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the model and the budget; a saved judge's own model is at most allowed, if named."""
    found: dict[str, Any] = {f"max_{name}": value for name, value in project.budget.items()}
    if "model_name" not in known:
        return found
    if project.api_base and not isinstance(given.get("api_base"), str):
        if not project.named:
            raise InputError(
                f"{project.path} names an address (api_base), which a file found by searching "
                "never supplies.",
                where="--project",
                hint=f"confirm it with --project {project.path}, or give --api-base.",
            )
        found["api_base"] = project.api_base
    if project.model and not isinstance(given.get("model_name"), str):
        if "allow_models" not in known:
            found["model_name"] = project.model
        elif project.named:
            allowed = tuple(dict.fromkeys((*_given(given, "allow_models"), project.model)))
            found["allow_models"] = allowed
    return found
