"""``judgesmith evaluate errors``: the errors that a judge found, held against known ones.

Marks and words say everything; where there are colours, they say it again.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.agreement import estimate_text
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import texts_in
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import (
    Number,
    WholeNumber,
    json_option,
    map_option,
    reading,
    seed_option,
    shown_option,
)
from judgesmith.cli.shared.places import page_place
from judgesmith.cli.shared.printing import (
    counted,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
    say_wrapped,
    visible,
)
from judgesmith.errors import InputError, file_faults, shortened

if TYPE_CHECKING:
    from rich.text import Text

    from judgesmith.data import DataSet
    from judgesmith.data.scores import Key
    from judgesmith.experiments.evaluate.errors.evaluation import (
        ErrorCounts,
        KindAgreement,
        PlaceAgreement,
        SpanEvaluation,
    )
    from judgesmith.experiments.evaluate.errors.found import (
        ErrorTotals,
        FoundErrors,
        Numbered,
        TextErrors,
    )
    from judgesmith.metrics.spans import SpanAgreement

_SHOWN = 5
_NONE = "none"


@tool("errors")
@click.argument("scores")
@click.argument("data")
@map_option
@click.option("--member", metavar="NAME", help="Panel member whose own errors are shown.")
@click.option(
    "-o",
    "--output",
    "--html",
    "output",
    metavar="PAGE.html",
    help="Write an HTML page instead of printing.",
)
@click.option(
    "-n",
    "--rows",
    "n_rows",
    type=WholeNumber(0),
    help=f"Number of texts shown [default: {_SHOWN}; on a page as many as fit].",
)
@shown_option("--start", WholeNumber(1), 1, "First response shown.")
@click.option("--worst", is_flag=True, help="Show the most severe errors first.")
@click.option("--all", "everything", is_flag=True, help="Show responses without errors as well.")
@click.option(
    "--gold",
    type=click.Choice(["edits", "errors", _NONE]),
    help="Reference errors in DATA: perturbed places (edits), or human marks (errors) "
    "[default: edits if present, else errors].",
)
@shown_option("--overlap", Number(0, 1), 0.5, "Minimum character overlap of two matching errors.")
@shown_option("--major", Number(1, 5), 3, "Minimum severity of a major error.")
@seed_option
@click.option("--force", is_flag=True, help="Replace an existing page.")
@json_option
def command(
    scores: str,
    data: str,
    columns: str | None,
    member: str | None,
    output: str | None,
    n_rows: int | None,
    start: int,
    worst: bool,
    everything: bool,
    gold: str | None,
    overlap: float,
    major: float,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Show the errors that a judge found in texts, and say whether they are errors.

    SCORES is a file that 'score' wrote with a judge that looks for errors (FILE:JUDGE picks one of
    several), DATA what it scored. Where DATA says what is wrong with the texts, as the rows that
    'judgesmith discern perturb' writes do, the errors are held against that.
    """
    import numpy as np

    from judgesmith.experiments.evaluate.errors.evaluation import SpanSettings
    from judgesmith.experiments.evaluate.errors.found import error_totals, worst_first

    path, _ = _scores(scores)
    place = (
        None
        if output is None
        else page_place(output, str(path), data, like="errors.html", force=force)
    )
    dataset = texts_in(data, columns)
    found = found_in(scores, dataset, member=member)
    settings = SpanSettings(overlap=overlap, major=major)
    rng = np.random.default_rng(seed)
    evaluation, unheld = _evaluated(found, dataset, gold, settings, rng, data)
    totals = error_totals(found)
    shown = [text for text in found.texts if everything or text.errors]
    n_texts = len(shown)
    shown = (worst_first(shown) if worst else shown)[start - 1 :]
    if n_rows is not None or place is None:
        shown = shown[: _SHOWN if n_rows is None else n_rows]
    notes = [*dataset.notes, *_notes(found, dataset, totals, path), *unheld]
    if start > max(n_texts, 1):
        notes.append(f"no text is shown: there are {n_texts}, and --start is {start}.")
    if evaluation is not None:
        notes += evaluation.notes
    page: dict[str, Any] = {}
    if place is not None:
        people = _people(data, columns)
        page = _write_page(place, found, shown, totals, dataset, start, people)
        notes += page.pop("notes")
    if as_json:
        known = None if evaluation is None else evaluation.to_dict()
        plain = {"scores": scores, "data": dataset.name, **totals.to_dict()}
        print_json({**plain, "evaluation": known, "output": output, **page})
    else:
        _print(found, dataset, totals, evaluation)
        _print_shown([] if place is not None else shown, found, start, everything=everything)
        if output is not None:
            say(f"\n{counted(page['shown'], 'text')} in {output}")
    say_notes(notes, as_json=as_json)


def _scores(text: str) -> tuple[Path, str | None]:
    """Return the file of scores and which of its judges is meant."""
    from judgesmith.cli.shared.judged import scores_path

    path, judge = scores_path(text)
    if path is None:
        what = "a judge, and errors are read from what it scored" if Path(text).is_dir() else None
        raise OptionError(
            f"{text} is {what}; give a file that score wrote."
            if what
            else f"there is no file of scores called {text}; name a file that score wrote.",
            option=text,
        )
    return path, judge


def found_in(scores: str, dataset: DataSet, *, member: str | None = None) -> FoundErrors:
    """Return the errors in the file that SCORES names, beside the texts of DATA."""
    from judgesmith.experiments.evaluate.errors.reading import read_errors

    path, judge = _scores(scores)
    with blaming(str(path)):
        return read_errors(path, dataset, judge=judge, member=member)


def _evaluated(
    found: FoundErrors, dataset: DataSet, gold: Any, settings: Any, rng: Any, data: str
) -> tuple[SpanEvaluation | None, list[str]]:
    """Hold errors against what DATA says is wrong; else return a note why that cannot be."""
    from judgesmith.data.problems import DataError
    from judgesmith.experiments.evaluate.errors.evaluation import evaluate_spans
    from judgesmith.experiments.evaluate.errors.gold import gold_kind

    if gold == _NONE or (gold is None and gold_kind(dataset) is None):
        return None, []
    try:
        with blaming(data if gold is None else "--gold"):
            return evaluate_spans(found, dataset, gold=gold, settings=settings, seed=rng), []
    except DataError:
        raise
    except InputError as fault:
        if gold is not None:
            raise
        # It was not asked for: the errors can be read without it.
        return None, [f"errors are held against nothing: {fault}"]


def _notes(found: FoundErrors, dataset: DataSet, totals: ErrorTotals, path: Path) -> list[str]:
    notes = []
    if found.n_unused:
        notes.append(f"{found.n_unused} rows of {path.name} belong to no row of {dataset.name}.")
    if not totals.errors and totals.unscored < totals.texts:
        notes.append(
            "no row states an error; of our judges, those of the family annotator look for them."
        )
    return notes


def _print(
    found: FoundErrors, dataset: DataSet, totals: ErrorTotals, evaluation: SpanEvaluation | None
) -> None:

    of = f"{totals.with_errors} of {counted(totals.texts, 'text')}"
    say_wrapped(
        f"{found.label} on {dataset.name}: {counted(totals.errors, 'error')} in {of}; "
        f"{totals.unscored} unscored, {totals.noted} with a note"
    )
    if totals.errors:
        rows = [[name, str(n)] for name, n in totals.grades.items()]
        print_table("How bad they are (major: 4 and 5, moderate: 3, minor: 1 and 2)", rows)
        rows = [[_PLACES[name], str(n)] for name, n in totals.places.items() if n]
        rows += [["one of several such places", str(totals.ambiguous)]] * bool(totals.ambiguous)
        print_table("How they were found in the text", rows)
    if totals.criteria:
        rows = [[shortened(name, 60), str(n)] for name, n in totals.criteria.items()]
        print_table("What they offend", rows)
    if evaluation is not None:
        print_evaluation(evaluation)


_PLACES = {
    "exact": "as quoted",
    "normalised": "with other spaces, case or quotation marks",
    "fuzzy": "with other letters",
    "placed": "placed, not said how",
    "missing": "missing from the text",
    "unresolved": "quoted, but not in the text",
    "unplaced": "without a place",
}


def _print_shown(
    shown: list[TextErrors], found: FoundErrors, start: int, *, everything: bool
) -> None:

    if not shown:
        return
    print_texts(shown)
    total = sum(everything or bool(text.errors) for text in found.texts)
    after = start + len(shown)
    if after <= total:
        say()
        say_wrapped(
            f"texts {start} to {after - 1} of {total}; the next with --start {after}, more at once "
            "with --rows, all on a page with --html PAGE.html"
        )


def _people(data: str, columns: str | None) -> dict[Key, float]:
    """Return what people say of each text on the whole; nothing if they rated none."""
    from judgesmith.data import read_items
    from judgesmith.data.scores import keys_of
    from judgesmith.data.targets import targets_of

    if data == "-":
        return {}
    try:
        rated = read_items(data, columns=columns, **reading())
        values = targets_of(rated).values.tolist()
    except InputError:
        return {}
    return {key: one for key, one in zip(keys_of(rated), values, strict=True) if one == one}


def _write_page(
    place: Path,
    found: FoundErrors,
    shown: list[TextErrors],
    totals: ErrorTotals,
    dataset: DataSet,
    start: int,
    people: dict[Key, float],
) -> dict[str, Any]:
    from judgesmith.experiments.evaluate.errors.page import write_page

    n = write_page(place, found.label, dataset.name, shown, totals, start=start, people=people)
    notes = []
    if n < len(shown):
        notes.append(
            f"a page holds 3 MB: texts {start} to {start + n - 1} are on it; the others with "
            f"--start {start + n} and another name."
        )
    return {"shown": n, "notes": notes}


_RATES = ("precision", "recall", "f1")


def print_evaluation(found: SpanEvaluation) -> None:
    if found.places is not None:
        _print_places(found, found.places)
    damage = [kind for kind in found.kinds if kind.kind.lowers]
    if damage:
        _print_kinds(damage)
    controls = [kind for kind in found.kinds if not kind.kind.lowers]
    if controls:
        print_table(
            "Controls, which make no text worse: the share of them that is marked (less is better)",
            [[kind.kind.name, *_recall(kind.new.characters), _marks(kind)] for kind in controls],
            header=["change", "texts", "characters", "new errors"],
        )
    if found.counts is not None:
        _print_counts(found.counts)


def _print_places(found: SpanEvaluation, places: PlaceAgreement) -> None:
    against = "what was changed" if found.gold == "edits" else "what raters marked"
    basis = places.characters.f1
    rows = [
        *_rows("all errors", places),
        *_rows("without those of the original", found.new),
        *_rows("half credit for severity", found.severities),
    ]
    print_table(
        f"Places beside {against}: {basis.n} texts, {basis.confidence:.0%} intervals over sources",
        rows,
        header=["", "precision", "recall", "F1"],
    )
    pairs = places.pairs
    say()
    say_wrapped(
        f"{pairs.predicted:g} places marked beside {pairs.gold:g} that are wrong; without a place, "
        f"and left out, are {pairs.n_unlocated_predicted} and {pairs.n_unlocated_gold}; "
        f"{counted(pairs.n_unscored, 'text')} unscored"
    )


def _rows(name: str, places: PlaceAgreement | None) -> list[list[str]]:
    if places is None:
        return []
    return [
        [name],
        *(
            [f"  {unit}", *(estimate_text(getattr(one, rate)) for rate in _RATES)]
            for unit, one in (("by character", places.characters), ("one to one", places.pairs))
        ),
    ]


def _print_kinds(kinds: list[KindAgreement]) -> None:
    rows = [
        [
            kind.kind.name,
            str(kind.places.pairs.f1.n),
            f"{kind.places.pairs.gold:g}",
            f"{kind.places.pairs.n_unlocated_gold}",
            *(estimate_text(one.f1) for one in (kind.new.characters, kind.new.pairs)),
        ]
        for kind in kinds
    ]
    header = ["change", "texts", "places", "taken out", "F1, characters", "F1, one to one"]
    title = "By kind of change: F1 of the errors that are not marked in the original, too"
    print_table(title, rows, header=header)


def _recall(found: SpanAgreement) -> list[str]:
    return [str(found.f1.n), estimate_text(found.recall)]


def _marks(kind: KindAgreement) -> str:
    return f"{kind.new.pairs.predicted:g}"


def _print_counts(found: ErrorCounts) -> None:
    print_table(
        f"Number and severity, whatever the place: {found.n_texts} texts",
        [
            ["errors", str(found.found), str(found.known)],
            ["  major", str(found.found_major), str(found.known_major)],
        ],
        header=["", "judge", "people"],
    )
    print_table(
        "",
        [
            [name, *(estimate_text(getattr(one, rate)) for rate in _RATES)]
            for name, one in (
                ("with an error", found.any_error),
                ("with a major one", found.any_major),
            )
        ],
        header=["texts", "precision", "recall", "F1"],
    )
    print_table(
        "",
        [
            ["number of errors", estimate_text(found.number)],
            ["cost (minor 1, major 5)", estimate_text(found.cost)],
        ],
        header=["over texts", "Spearman"],
    )


_AROUND = 400  # characters shown on either side of a mark
_STYLES = {
    "major": "bold red underline",
    "moderate": "yellow underline",
    "minor": "cyan underline",
    "ungraded": "underline",
}


def print_texts(texts: Sequence[TextErrors]) -> None:
    from rich.console import Console

    from judgesmith.experiments.evaluate.errors.found import MOST, numbered_errors

    room = shutil.get_terminal_size((80, 24)).columns
    console = Console(file=sys.stdout, width=max(room, 20), highlight=False)
    for text in texts:
        every = numbered_errors(text.errors or ())
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

    from judgesmith.experiments.evaluate.errors.found import text_pieces, worst_grade

    drawn = Text()
    for piece in text_pieces(response, errors, around=_AROUND):
        if piece.left_out:
            drawn.append(f" … {counted(piece.left_out, 'character')} … ", style="dim")
        for number in piece.closes:
            drawn.append(f"<{number}]", style="bold")
        for number in piece.opens:
            drawn.append(f"[{number}>", style="bold")
        worst = worst_grade(piece, errors)
        drawn.append(visible(piece.text), style=_STYLES[worst] if worst else "")
    return drawn


def _print_error(one: Numbered, response: str, finders: Sequence[str]) -> None:
    from judgesmith.experiments.evaluate.errors.found import (
        place_text,
        quoted_otherwise,
        severity_text,
    )

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
