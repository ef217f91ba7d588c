"""A saved judge written in another form: checked first, whole or not at all, then verified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.drafts import draft_beside, put, tidy, write_synced
from judgesmith.errors import ExistingFileError, InputError
from judgesmith.programs.exporting.about import about, kind_of
from judgesmith.programs.exporting.form import Form
from judgesmith.programs.exporting.forms import FORMS, form_of
from judgesmith.programs.exporting.verifying import Verified, verified

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

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
    ModelError, LedgerError
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
    """Refuse a judge that a form cannot carry."""
    why = form.check(saved)
    if why is None:
        return
    can = _others(name, saved)
    advice = f"choose from {', '.join(can)}" if can else "use the folder that compile made"
    raise InputError(f"the form {name} cannot carry this {kind_of(saved)} judge: {why}; {advice}.")


def _others(name: str, saved: AnySaved) -> list[str]:
    """Return which other forms can carry a judge, of those whose libraries are here."""
    can = []
    for other in FORMS:
        if other == name:
            continue
        try:
            if form_of(other).check(saved) is None:
                can.append(other)
        except ImportError:
            continue
    return can


def check_free(place: Path, form: Form, *, overwrite: bool) -> None:
    """Refuse a place that holds what may not be replaced."""
    tidy(place)
    if form.suffix and place.suffix != form.suffix:
        raise InputError(f"this form is a file in {form.suffix}, not {place}; name another file.")
    if not place.exists():
        return
    if place.is_dir() != form.folder:
        wanted, there = ("a folder", "a file") if form.folder else ("a file", "a folder")
        raise ExistingFileError(
            f"{place} is {there}, and this form is {wanted}; name another place."
        )
    if place.is_dir() and not (place / ABOUT_FILE).is_file():
        raise ExistingFileError(f"{place} is there and holds no export; name another folder.")
    if not overwrite:
        raise ExistingFileError(
            f"{place} is there already; name another place, or replace it with --force."
        )
