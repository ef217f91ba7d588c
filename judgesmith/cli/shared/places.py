"""Where results go: checked before anything is asked, so that no answer is bought in vain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.cli.shared.faults import OptionError
from judgesmith.drafts import draft_beside
from judgesmith.errors import ExistingFileError

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

OUTPUT = "--output"


def check_output(output: str, *, option: str = OUTPUT) -> Path:
    """Return ``output`` as a path whose folder is there and can be written."""
    path = Path(output)
    if not path.name:
        raise OptionError(
            f"{'-o ' if option == OUTPUT else ''}{output!r} names no file or folder of its own.",
            option=option,
            hint="name one.",
        )
    folder = path.parent
    if not folder.is_dir():
        raise OptionError(
            f"there is no folder {folder} to put {path.name} in.",
            option=option,
            hint="make it first.",
        )
    try:
        with draft_beside(path):
            pass
    except OSError as fault:
        why = fault.strerror or "files that are made there vanish"
        raise OptionError(
            f"nothing can be written in {folder}: {why}.", option=option, hint="name another place."
        ) from None
    return path


def judge_place(output: str) -> Path:
    """Return ``output`` as :func:`check_place` does, refusing a folder that holds no judge."""
    folder = check_output(output)
    if folder.exists() and not (folder / "judge.json").is_file():
        raise OptionError(
            f"{folder} is there and holds no judge.", option=OUTPUT, hint="name another folder."
        )
    return folder


def made_before(folder: Path, run: str, *, force: bool) -> AnySaved | None:
    """Return the judge that this very run has made before, and refuse to replace another."""
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    if not folder.exists() or force:
        return None
    saved = load_saved(folder)
    if saved.settings.get("run") == run:
        return saved
    raise ExistingFileError(
        f"{folder} holds a judge from another run ({saved.settings.get('run')}, this is {run}).",
        hint="name another folder, or replace it with --force.",
    )


def file_place(output: str, *read: str | None, like: str, option: str = OUTPUT) -> Path:
    """Return ``output`` as :func:`check_place` does, refusing folders and what is read."""
    place = check_output(output, option=option)
    if place.is_dir():
        raise OptionError(
            f"{output} is a folder.", option=option, hint=f"name a file, such as {like}."
        )
    for other in read:
        if other and place.exists() and Path(other).exists() and place.samefile(other):
            raise OptionError(
                f"{output} is read by this command.", option=option, hint="name another file."
            )
    return place


def refuse_existing(
    place: Path,
    named: object,
    *,
    force: bool | None,
    option: str = OUTPUT,
    what: str = "file",
    why: str = "",
) -> None:
    """Refuse what is there already, unless ``force``; None is for commands without ``--force``."""
    if place.exists() and not force:
        otherwise = "" if force is None else ", or replace it with --force"
        raise OptionError(
            f"{named} is there already{why}.",
            option=option,
            hint=f"name another {what}{otherwise}.",
        )


def lines_place(output: str, *read: str | None, like: str) -> Path:
    """Return ``output`` as :func:`file_place` does, refusing other formats than JSON Lines."""
    place = file_place(output, *read, like=like)
    if place.name.endswith(".jsonl.gz"):
        raise OptionError(
            "rows are written unpacked.",
            option=OUTPUT,
            hint=f"name {output.removesuffix('.gz')}, which gzip -n packs "
            "into the same bytes each time.",
        )
    if place.suffix != ".jsonl":
        raise OptionError(
            "rows are written as JSON Lines.",
            option=OUTPUT,
            hint=f"name a file in .jsonl, not {output}.",
        )
    return place


def rows_place(output: str, *read: str | None, like: str, force: bool) -> Path:
    """Return ``output`` as :func:`lines_place` does, for a file that is not there."""
    place = lines_place(output, *read, like=like)
    refuse_existing(place, output, force=force)
    return place


def page_place(
    output: str, *read: str | None, like: str, force: bool, option: str = OUTPUT
) -> Path:
    """Return ``output`` as :func:`file_place` does, for a page that is not there."""
    place = file_place(output, *read, like=like, option=option)
    if place.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            "the page is written as HTML.",
            option=option,
            hint=f"name a file in .html, not {output}.",
        )
    refuse_existing(place, output, force=force, option=option)
    return place
