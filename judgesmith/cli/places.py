"""Where results go: checked before anything is asked, so that no answer is bought in vain."""

from __future__ import annotations

from pathlib import Path

from judgesmith.cli.faults import OptionError
from judgesmith.drafts import draft_beside

OUTPUT = "--output"


def check_place(output: str) -> Path:
    """Return ``output`` as a path whose folder is there and can be written.

    Raises
    ------
    OptionError
        If it is not.
    """
    path = Path(output)
    if not path.name:
        raise OptionError(
            f"-o {output!r} names no file or folder of its own; name one.", option=OUTPUT
        )
    folder = path.parent
    if not folder.is_dir():
        raise OptionError(
            f"there is no folder {folder} to put {path.name} in; make it first.", option=OUTPUT
        )
    try:
        with draft_beside(path):
            pass
    except OSError as fault:
        why = fault.strerror or "files that are made there vanish"
        raise OptionError(
            f"nothing can be written in {folder}: {why}; name another place.", option=OUTPUT
        ) from None
    return path


def file_place(output: str, *read: str | None, like: str) -> Path:
    """Return ``output`` as :func:`check_place` does, refusing folders and what is read.

    Parameters
    ----------
    output : str
        Where a file is to be written.
    *read : str or None
        Files that the command reads.
    like : str
        A name such as the file may have, for the message.

    Raises
    ------
    OptionError
        If nothing can be written there, or it would replace what is read.
    """
    place = check_place(output)
    if place.is_dir():
        raise OptionError(f"{output} is a folder; name a file, such as {like}.", option=OUTPUT)
    for other in read:
        if other and place.exists() and Path(other).exists() and place.samefile(other):
            raise OptionError(
                f"{output} is read by this command; name another file.", option=OUTPUT
            )
    return place
