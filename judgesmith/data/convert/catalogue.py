"""The published datasets by name, and converting their files into one rated dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.data.convert.dialogues import (
    BAGEL,
    NLG_DUALEVAL,
    PERSONA_CHAT,
    SFHOT,
    SFRES,
    TOPICAL_CHAT,
)
from judgesmith.data.convert.evaluations import INSPECT, OPENAI_EVALS, PROMPTFOO
from judgesmith.data.convert.records import Conversion, PublishedFiles, lacks_ratings
from judgesmith.data.convert.references import (
    ANSWER_EQUIVALENCE,
    STORY_CLOZE,
    SUMPUBMED,
    WMT22,
)
from judgesmith.data.convert.stories import HANNA, OPENMEVA_ROC, OPENMEVA_WP
from judgesmith.data.convert.summaries import NEWSROOM, QAGS_CNNDM, QAGS_XSUM, SUMMEVAL
from judgesmith.data.convert.traces import ASSESSORS, HUMAN, LANGFUSE, MLFLOW, PHOENIX
from judgesmith.data.convert.translations import WIKI_DA, WMT_MQM
from judgesmith.data.problems import DataError, nothing_in, shown_value
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import InputError, did_you_mean, file_faults
from judgesmith.signatures.plain_data import json_line

CONVERSIONS = {
    one.name: one
    for one in (
        SUMMEVAL,
        NEWSROOM,
        QAGS_CNNDM,
        QAGS_XSUM,
        TOPICAL_CHAT,
        PERSONA_CHAT,
        OPENMEVA_ROC,
        OPENMEVA_WP,
        HANNA,
        SFRES,
        SFHOT,
        BAGEL,
        WIKI_DA,
        WMT_MQM,
        NLG_DUALEVAL,
        SUMPUBMED,
        STORY_CLOZE,
        ANSWER_EQUIVALENCE,
        WMT22,
        MLFLOW,
        LANGFUSE,
        PHOENIX,
        INSPECT,
        OPENAI_EVALS,
        PROMPTFOO,
    )
}
"""Every conversion by name, in the order in which they are listed."""


def conversion_named(name: str) -> Conversion:
    """Return the conversion of a data set, whether its name is written with - or _.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> conversion_named("topical_chat").files
    'tc_usr_data.json'
    >>> conversion_named("summeva")
    Traceback (most recent call last):
    judgesmith.InputError: there is no conversion summeva; did you mean summeval?
    """
    plain = name.strip().casefold().replace("_", "-")
    if plain in CONVERSIONS:
        return CONVERSIONS[plain]
    others = "choose one that 'judgesmith data list' names."
    raise InputError(
        f"there is no conversion {name}.",
        hint=did_you_mean(plain, CONVERSIONS) or others,
    )


def check_names(conversion: Conversion, paths: Iterable[Path]) -> None:
    """Refuse files whose names are those of another data set, which may have the same form."""
    for path in paths:
        name = path.name.removesuffix(".gz")
        owners = [one.name for one in CONVERSIONS.values() if name in one.file_names]
        if owners and conversion.name not in owners:
            raise InputError(
                f"{path.name} is a file of {' and '.join(owners)}.",
                hint="convert it as that, or, if it "
                f"is of {conversion.name}, give it another name.",
            )


_LACKING = (
    "rows with fewer ratings on one criterion than on others, or than raters: whose is missing is "
    "unknown"
)


@dataclass(kw_only=True)
class Converted:
    """What was written.

    Attributes
    ----------
    name : str
        The data set.
    n_rows : int
        Texts.
    sources, systems : set of str
        Their ids.
    ratings : dict of str to int
        Ratings by criterion.
    left_out, changed : dict of str to int
        What no row was made of, and what stands otherwise than in the files, with how often.
    """

    name: str
    n_rows: int = 0
    sources: set[str] = field(default_factory=set)
    systems: set[str] = field(default_factory=set)
    ratings: dict[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)

    def count(self, row: Mapping[str, Any]) -> None:
        """Count one more row."""
        self.n_rows += 1
        self.sources.add(row["source_id"])
        if "system_id" in row:
            self.systems.add(row["system_id"])
        for name, points in row["human"].items():
            self.ratings[name] = self.ratings.get(name, 0) + len(points)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "name": self.name,
            "rows": self.n_rows,
            "sources": len(self.sources),
            "systems": len(self.systems),
            "ratings": dict(self.ratings),
            "left_out": dict(self.left_out),
            "changed": dict(self.changed),
        }


@file_faults()
def convert(
    conversion: Conversion | str,
    paths: Iterable[str | Path],
    output: str | Path,
    *,
    assessor: str = HUMAN,
) -> Converted:
    """Write published files as rows in the canonical form of rated data.

    Rows are written as they are read, beside ``output``, which they become at the end.

    Parameters
    ----------
    conversion : Conversion or str
        Which data set it is, or its name.
    paths : iterable of str or Path
        Its files, each also with ``.gz``.
    output : str or Path
        A file of JSON Lines; what it holds is replaced.
    assessor : {"human", "llm", "code"}
        Whose assessments of traces become ratings; others are left out and counted.

    Raises
    ------
    DataError
        With every fault of the files; nothing is written then.
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If there are no files, one is standard input, one has the name of another set's file, or
        there is no data set of that name, or none of its ratings is by that assessor.

    Examples
    --------
    >>> import json, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> answers = [{"worker_id": n, "response": said} for n, said in enumerate(("yes", "no"))]
    >>> row = {"article": "It rained.", "summary_sentences": [
    ...     {"sentence": "Rain.", "responses": answers}]}
    >>> _ = (folder / "mturk_xsum.jsonl").write_text(json.dumps(row))
    >>> made = convert("qags-xsum", [folder / "mturk_xsum.jsonl"], folder / "out.jsonl")
    >>> made.n_rows, made.ratings
    (1, {'consistency': 2})
    >>> json.loads((folder / "out.jsonl").read_text())["human"]
    {'consistency': [1, 0]}
    """
    if isinstance(conversion, str):
        conversion = conversion_named(conversion)
    if assessor not in ASSESSORS or (assessor != HUMAN and not conversion.assessors):
        raise InputError(
            f"there are no ratings by {ASSESSORS.get(assessor, assessor)} in {conversion.name}.",
            where="--assessor",
            hint="say human, or leave it out.",
        )
    files, output = PublishedFiles([Path(one) for one in paths], assessor), Path(output)
    check_names(conversion, files.paths)
    made = Converted(name=conversion.name)
    seen: dict[tuple[str, str], str] = {}
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            try:
                for record, row in conversion.rows(conversion, files):
                    if (system := row.get("system_id")) is not None:
                        item = row["source_id"], system
                        if item in seen:
                            what = f"{shown_value(item[0])} of {shown_value(system)}"
                            came = f"{what} again, after {seen[item]}"
                            record.problem("item", expected="each item once", came=came)
                            continue
                        seen[item] = record.where
                    made.count(row)
                    if conversion.one_panel and lacks_ratings(row):
                        files.changed[_LACKING] += 1
                    file.write(json_line(row))
            except DataError as fault:
                raise DataError([*_others(files, fault), *fault.problems]) from fault
        if files.problems:
            raise DataError(files.problems)
        if not made.n_rows:
            raise _nothing_left(files, conversion)
        put(draft, output)
    made.left_out, made.changed = files.left_out, files.changed
    return made


def _others(files: PublishedFiles, fault: DataError) -> list[Any]:
    """Return what was wrong before the fault that ended it all."""
    return [problem for problem in files.problems if problem not in fault.problems]


def _nothing_left(files: PublishedFiles, conversion: Conversion) -> Exception:
    if not files.left_out:
        return nothing_in(", ".join(path.name for path in files.paths))
    reasons = ", ".join(f"{reason}: {n}" for reason, n in files.left_out.items())
    if conversion.assessors:
        return InputError(
            f"nothing in the files is assessed by {ASSESSORS[files.assessor]} ({reasons}).",
            hint=f"say another --assessor: {', '.join(ASSESSORS)}.",
        )
    return InputError(
        f"nothing in the files is of this data set ({reasons}).", hint="name another one."
    )
