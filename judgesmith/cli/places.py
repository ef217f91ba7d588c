"""Where results go: checked before anything is asked, so that no answer is bought in vain."""

from __future__ import annotations

from pathlib import Path

import click

from judgesmith.drafts import draft_beside


def check_place(output: str) -> Path:
    """Return ``output`` as a path whose folder is there and can be written.

    Raises
    ------
    click.UsageError
        If it is not.
    """
    path = Path(output)
    if not path.name:
        raise click.UsageError(f"-o {output!r} names no file or folder of its own.")
    folder = path.parent
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder} to put {path.name} in; make it first.")
    try:
        with draft_beside(path):
            pass
    except OSError as fault:
        why = fault.strerror or str(fault)
        raise click.UsageError(
            f"nothing can be written in {folder}: {why}; name another place."
        ) from None
    return path
