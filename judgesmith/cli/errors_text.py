"""Texts on a terminal, with the errors in them between numbered marks, and listed below.

Marks and words say everything; where there are colours, they say it again.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgesmith.cli.printing import counted, say, say_under, say_wrapped, shortened, visible
from judgesmith.errors import file_faults

if TYPE_CHECKING:
    from rich.text import Text

    from judgesmith.experiments.evaluate.errors.found import TextErrors
    from judgesmith.experiments.evaluate.errors.page import Numbered

_AROUND = 400  # characters shown on either side of a mark
_STYLES = {
    "major": "bold red underline",
    "moderate": "yellow underline",
    "minor": "cyan underline",
    "ungraded": "underline",
}
_WORST = ("major", "moderate", "minor", "ungraded")


def print_texts(texts: Sequence[TextErrors]) -> None:
    """Print texts with their errors."""
    from rich.console import Console

    from judgesmith.experiments.evaluate.errors.page import MOST, numbered

    room = shutil.get_terminal_size((80, 24)).columns
    console = Console(file=sys.stdout, width=max(room, 20), highlight=False)
    for text in texts:
        every = numbered(text.errors or ())
        errors = every[:MOST]
        say()
        say_wrapped(_heading(text), hang=2)
        with file_faults("standard output"):
            console.print(_marked(text.item.response, errors))
        for one in errors:
            _print_error(one, text.item.response, text.finders.get(one.error, ()))
        if more := len(every) - len(errors):
            say(f"  and {counted(more, 'more error')}, which are not shown")
        for note in text.notes:
            say_under("note", note, indent=2)


def _heading(text: TextErrors) -> str:
    item = text.item
    name = ", ".join(shortened(one, 60) for one in (item.source_id, item.system_id) if one)
    if text.score is None:
        return f"{name or 'text'}: no score ({shortened(text.problem or 'no reason given')})"
    return f"{name or 'text'}: score {text.score:.4g}"


def _marked(response: str, errors: Sequence[Numbered]) -> Text:
    """Return a text with a mark where each error begins and ends."""
    from rich.text import Text

    from judgesmith.experiments.evaluate.errors.found import grade_of
    from judgesmith.experiments.evaluate.errors.page import pieces

    grades = {one.number: grade_of(one.error.severity) for one in errors}
    drawn = Text()
    for piece in pieces(response, errors, around=_AROUND):
        if piece.left_out:
            drawn.append(f" … {counted(piece.left_out, 'character')} … ", style="dim")
        for number in piece.closes:
            drawn.append(f"<{number}]", style="bold")
        for number in piece.opens:
            drawn.append(f"[{number}>", style="bold")
        worst = min((grades[number] for number in piece.over), key=_WORST.index, default=None)
        drawn.append(visible(piece.text), style=_STYLES[worst] if worst else "")
    return drawn


def _print_error(one: Numbered, response: str, finders: Sequence[str]) -> None:
    from judgesmith.experiments.evaluate.errors.found import severity_text
    from judgesmith.experiments.evaluate.errors.page import place_text, quoted_otherwise

    error = one.error
    about = [severity_text(error.severity), place_text(error)]
    if one.criteria:
        about.append(f"about {', '.join(shortened(name, 40) for name in one.criteria)}")
    if finders:
        about.append(f"found by {', '.join(shortened(name, 40) for name in finders)}")
    say_wrapped(f"  {one.number} {'; '.join(about)}", hang=4)
    if quoted := quoted_otherwise(error, response):
        say_under("quoted", shortened(quoted, 300), indent=4)
    if error.explanation.strip():
        say_under("why", shortened(error.explanation, 1000), indent=4)
