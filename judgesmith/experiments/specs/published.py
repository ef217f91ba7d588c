"""Numbers that a paper published, as a data file states them: by table, judge and set."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.specs.faults import faults_of, unknown_name
from judgesmith.experiments.specs.parts import Name, Names, SpecPart, Text
from judgesmith.metrics.correlation import Level
from judgesmith.signatures.plain_data import read_yaml

PublishedStatistic = Literal[
    "pearson", "spearman", "kendall", "global", "local", "d_min", "d_avg", "d_min_ew", "d_avg_ew"
]
PublishedNumber = float | Annotated[str, Field(max_length=40)] | None
"""A number, a text such as ``above 1`` where only that is published, or nothing."""


class PublishedSet(SpecPart):
    """Where the numbers of one set of a table have their like in a run."""

    data: Name | None = None
    targets: Names = ()
    criteria: Names = ()  # whose agreement is averaged, else each target's
    level: Level | None = None
    statistics: tuple[PublishedStatistic, ...] = ()
    ours: Name | None = None  # the judge, where it is another than its row says
    why: str = ""  # why nothing compares
    note: str = ""


class PublishedRow(SpecPart):
    """A judge of a table: which of a run is like it, or why none is, and its numbers by set."""

    ours: Name | None = None
    model: str = ""
    why: str = ""
    values: tuple[tuple[PublishedNumber, ...], ...]


class PublishedTable(SpecPart):
    """A table of a paper; ``by_model`` says that its judges differ by nothing but the model."""

    source: Text
    about: str = ""
    model: str = ""
    by_model: bool = False
    level: Level = "dataset"
    statistics: tuple[PublishedStatistic, ...] = Field(min_length=1)
    sets: dict[Name, PublishedSet] = Field(min_length=1)
    rows: dict[Name, PublishedRow] = Field(min_length=1)

    def statistics_of(self, name: str) -> tuple[PublishedStatistic, ...]:
        return self.sets[name].statistics or self.statistics

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        widths = [len(self.statistics_of(name)) for name in self.sets]
        for name, row in self.rows.items():
            if [len(one) for one in row.values] != widths:
                raise InputError(
                    f"{self.source} has {widths} numbers by set; {name!r} has "
                    f"{[len(one) for one in row.values]}."
                )
        return self


class PublishedPaper(SpecPart):
    """The tables of one paper."""

    paper: Text
    tables: tuple[PublishedTable, ...] = Field(min_length=1)


def published_names() -> tuple[str, ...]:
    """Return the papers whose numbers come with the package."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


@file_faults()
def read_published(name: str, place: Path) -> PublishedPaper:
    """Return the numbers of a paper: one that comes with the package, or a file of the user's."""
    if name in published_names():
        place = _folder() / f"{name}.yaml"
    elif not place.is_file():
        raise InputError(unknown_name("published table", name, published_names()))
    try:
        return PublishedPaper.model_validate(read_yaml(place.read_text(encoding="utf-8-sig")))
    except ValidationError as fault:
        where, said = next(iter(faults_of(fault, list(PublishedPaper.model_fields))))
        raise InputError(f"{'.'.join(map(str, where))}: {said}", at=place) from None


def _folder() -> Path:
    return Path(str(resources.files("judgesmith.experiments.specs.templates"))) / "published"
