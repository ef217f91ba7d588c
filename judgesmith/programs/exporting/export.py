"""A saved judge written in another form: checked first, whole or not at all, then verified."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import draft_beside, put, tidy, write_synced
from judgesmith.errors import ExistingFileError, InputError
from judgesmith.front_door import at
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.artifacts.record import SavedRecord, plain_report
from judgesmith.programs.judging.runner import score_batch
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


LICENCE = (
    "What belongs to judgesmith in this export is under the Apache License 2.0; the rubric, the "
    "examples and the learned numbers are those of the person who compiled the judge."
)


def about(saved: AnySaved) -> dict[str, Any]:
    """Return what is known of a judge that goes elsewhere: no key, no endpoint, no rated text."""
    return {
        "fingerprint": saved.fingerprint,
        "kind": family_or_kind(saved),
        "target": saved.target,
        "scale": saved.scale.model_dump(mode="json"),
        "human_scale": saved.human_scale.model_dump(mode="json"),
        "models": list(saved.models),
        "agreement": _headline(saved),
        "judgesmith": version("judgesmith"),
        "licence": LICENCE,
    }


def family_or_kind(saved: AnySaved) -> str:
    """Return what kind of judge it is: its family, ``panel`` or ``calibrated``."""
    from judgesmith.programs.artifacts.saved import SavedJudge

    return saved.protocol.judge if isinstance(saved, SavedJudge) else str(saved.kind)  # type: ignore[attr-defined]


def about_lines(saved: AnySaved) -> Iterator[str]:
    """Yield the same in sentences, one a line, with nothing in them that a terminal obeys."""
    yield printable(
        f"Judge {saved.fingerprint} ({family_or_kind(saved)}), exported by judgesmith "
        f"{version('judgesmith')}."
    )
    if saved.agreement.is_unrated:
        yield "It was made without ratings."
    else:
        yield printable(f"It scores {saved.target!r}, rated on {saved.human_scale}.")
    yield printable(f"Scores are on {saved.scale}; compiled with {', '.join(saved.models)}.")
    part, headline = saved.agreement.best_known
    for level, estimates in headline.items():
        said = ", ".join(
            f"{name} {one.text()}" for name, one in (estimates or {}).items() if one is not None
        )
        if said:
            yield printable(f"Agreement with human ratings, {part}, {level} level: {said}.")
    if not headline:
        yield "Its agreement with human ratings was not measured."
    yield LICENCE


def _headline(saved: AnySaved) -> dict[str, Any] | None:
    rows, found = saved.agreement.best_known
    return {"rows": rows, **plain_report(found)} if found else None


Row = Mapping[str, Any]
"""What an exported judge says of one text: ``score``, ``explanation``, ``criteria``, ``problem``
and whatever else the rows of ``judgesmith score`` hold."""


class Form(ABC):
    """One way to take a saved judge elsewhere."""

    says: ClassVar[str]
    """What it is, in a few words."""

    folder: ClassVar[bool]
    """Whether a folder is written, rather than a file."""

    suffix: ClassVar[str] = ""
    """What the name of a file must end in; empty where that makes no difference."""

    @abstractmethod
    def check(self, saved: AnySaved) -> str | None:
        """Return why this form cannot carry a judge, without a full stop; None where it can."""

    @abstractmethod
    def write(self, saved: AnySaved, place: Path) -> None:
        """Write the judge to ``place``: an empty folder, or a file that is not yet there."""

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row] | None:
        """Return what the exported judge says of each golden item; None where nothing runs."""
        return None


FORMS: dict[str, str] = {
    "prompt": "judgesmith.programs.exporting.prompt:Prompt",
    "python": "judgesmith.programs.exporting.python_file:PythonFile",
    "dspy": "judgesmith.programs.exporting.dspy_program:DspyProgram",
    "mlflow": "judgesmith.programs.exporting.mlflow_scorer:MlflowModel",
    "inspect": "judgesmith.programs.exporting.inspect_scorer:InspectPackage",
}
"""Where each form is, as ``module:Class``."""


def form_of(name: str) -> Form:
    if name not in FORMS:
        raise InputError(
            f"a judge cannot be exported as {name[:80]!r}.", hint=f"choose from {', '.join(FORMS)}."
        )
    form: Form = at(FORMS[name])()
    return form


_CLOSE = 1e-9  # points: sums in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What an exported judge says otherwise of a golden item."""

    item: int
    field: str
    saved: Any
    exported: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How an export did on the golden items."""

    n_items: int
    n_equal: int
    differences: tuple[Difference, ...]


def verified(
    form: Form, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM] | None
) -> Verified | None:
    """Return how an export does on the golden items beside the judge itself, asked the same."""
    lms = offline_models(saved) if lms is None else lms
    if not saved.golden or lms is None:
        return None
    found = form.judged(place, saved, lms)
    if found is None:
        return None
    bound = saved.with_models(lms)
    own = score_batch(bound, golden_items(saved), lm=lms[saved.models[0]])
    differences = tuple(
        one
        for n, (judgement, row) in enumerate(zip(own, found, strict=True))
        for one in differing(n, judgement, row)
    )
    n = len(saved.golden)
    n_equal = n - len({one.item for one in differences})
    return Verified(n_items=n, n_equal=n_equal, differences=differences)


def golden_items(saved: AnySaved) -> list[RatedItem]:
    return [one.item.model_copy(update={"source_id": str(n)}) for n, one in enumerate(saved.golden)]


def offline_models(saved: AnySaved) -> dict[str, dspy.LM] | None:
    """Return the offline model by its name; None for a judge that asks any other."""
    from judgesmith.programs.lm import model

    if set(saved.models) != {"offline"}:
        return None
    return {"offline": model("offline", ledger=None)}


def differing(item: int, own: Judgement, row: Row) -> list[Difference]:
    """Return what a row of an exported judge says otherwise than the judge itself."""
    pairs: dict[str, tuple[Any, Any]] = {
        "score": (own.score, row.get("score")),
        "problem": (own.problem, row.get("problem")),
        "label": (own.label, row.get("label")),
    }
    given = row.get("criteria") or {}
    for name in dict.fromkeys((*own.criteria, *given)):
        ours = own.criteria[name].score if name in own.criteria else None
        theirs = given[name]["score"] if name in given else None
        pairs[f"criteria.{name}"] = (ours, theirs)
    return [
        Difference(item=item, field=field, saved=ours, exported=theirs)
        for field, (ours, theirs) in pairs.items()
        if not _same(ours, theirs)
    ]


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=0, abs_tol=_CLOSE)
    return bool(ours == theirs)


ABOUT_FILE = "export.json"
"""What an exported folder says of the judge in it; a folder without it is never replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written, and whether it judges as the judge does."""

    form: str
    place: Path
    verified: Verified | None


def export_judge(
    saved: AnySaved,
    form: str,
    place: str | Path,
    *,
    overwrite: bool = False,
    lms: Mapping[str, dspy.LM] | None = None,
) -> Exported:
    """Write a saved judge in another form, and judge its golden items with what was written.

    Parameters
    ----------
    saved : saved judge
        Of any kind, from ``load_saved``.
    form : str
        Name of the form: one of ``FORMS``.
    place : str or Path
        A file or a folder, in a folder that is there.
    overwrite : bool
        Whether a file, or the folder of an earlier export, may be replaced.
    lms : dict of str to dspy.LM, or None
        What answers instead of each of the judge's models, by name, for the verification. None
        verifies judges of the offline model alone, of which every answer is free.

    Raises
    ------
    ValueError
        If there is no such form, or it cannot carry the judge; the message says which can.
    FileExistsError
        If something is there that may not be replaced.
    ImportError
        If the form needs a library that is not installed.
    ModelError, CacheError
        If the model cannot be asked; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> import judgesmith
    >>> settings = judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0)
    >>> made = judgesmith.compile(judgesmith.read("sample"), settings)
    >>> place = Path(tempfile.mkdtemp()) / "prompts"
    >>> sorted(one.name for one in export_judge(made.saved, "prompt", place).place.iterdir())
    ['README.md', 'export.json', 'messages.json', 'prompts']
    """
    if not isinstance(saved, SavedRecord):
        raise InputError(
            f"a saved judge is exported; got {type(saved).__name__}.",
            hint="give one from judgesmith.load, or the saved judge of a compile result.",
        )
    found = form_of(form)
    check_carried(found, form, saved)
    place = Path(place)
    check_free(place, found, overwrite=overwrite)
    with draft_beside(place, folder=True) as draft:
        # A file's draft stands in a folder of its own: its name may matter to what is written.
        target = draft if found.folder else draft / place.name
        if found.folder:
            said = json.dumps({"form": form, **about(saved)}, indent=1, allow_nan=False)
            write_synced(draft / ABOUT_FILE, said + "\n")
        found.write(saved, target)
        # Whatever the model makes of it, what was there stays until this is known.
        how = verified(found, target, saved, lms)
        put(target, place)
    return Exported(form=form, place=place, verified=how)


def check_carried(form: Form, name: str, saved: AnySaved) -> None:
    why = form.check(saved)
    if why is None:
        return
    can = _others(name, saved)
    advice = f"choose from {', '.join(can)}" if can else "use the folder that compile made"
    which = f"this {family_or_kind(saved)} judge"
    raise InputError(f"the form {name} cannot carry {which}: {why}.", hint=f"{advice}.")


def _others(name: str, saved: AnySaved) -> list[str]:
    """Return which other forms can carry a judge, of those whose libraries are here."""
    can = []
    for other in (one for one in FORMS if one != name):
        with suppress(ImportError):
            can += [other] if form_of(other).check(saved) is None else []
    return can


def check_free(place: Path, form: Form, *, overwrite: bool) -> None:
    tidy(place)
    if form.suffix and place.suffix != form.suffix:
        raise InputError(
            f"this form is a file in {form.suffix}, not {place}.", hint="name another file."
        )
    if not place.exists():
        return
    if place.is_dir() != form.folder:
        wanted, there = ("a folder", "a file") if form.folder else ("a file", "a folder")
        raise ExistingFileError(
            f"{place} is {there}, and this form is {wanted}.", hint="name another place."
        )
    if place.is_dir() and not (place / ABOUT_FILE).is_file():
        raise ExistingFileError(
            f"{place} is there and holds no export.", hint="name another folder."
        )
    if not overwrite:
        raise ExistingFileError(
            f"{place} is there already.", hint="name another place, or replace it with --force."
        )
