"""``judgesmith label suggest``: a sheet of the rows whose rating would help most."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.label.sheet_reading import cut_notes
from judgesmith.cli.shared.command import DataArgument, tool
from judgesmith.cli.shared.data_options import data_options, load_data
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, judging_estimate, used
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    json_option,
    seed_option,
    shown_option,
)
from judgesmith.cli.shared.places import OUTPUT, file_place, refuse_existing
from judgesmith.cli.shared.printing import (
    counted,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options

if TYPE_CHECKING:
    from pathlib import Path

    from judgesmith.experiments.labels.suggesting import Suggestions
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.signatures import Scale

_NONE_RANDOM = (
    "rows that were chosen are no random sample, so compile learns from them and reports on "
    "others; have some drawn with --with-random, or keep rated rows that were."
)

_HOW = {
    "stratified": "stratified",
    "coverage": "by coverage",
    "disagreement": "by disagreement",
    "random": "at random",
}


@tool("suggest", old_names={"--at-most": "--max-rows"})
@click.argument("judge")
@click.argument("data", cls=DataArgument, nargs=-1, required=True, metavar="DATA…")
@shown_option(("-n", "--rows", "n"), WholeNumber(0), 20, "Number of rows to choose.")
@click.option("-o", "--output", required=True, metavar="OUT.csv", help="Sheet to write.")
@data_options
@shown_option(
    "--strategy",
    click.Choice(["stratified", "coverage", "disagreement", "random"]),
    "stratified",
    (
        "Least certain rows in each part of the score range; evenly over the range; least certain "
        "overall; or at random."
    ),
)
@shown_option(
    ("--with-random", "n_random"),
    WholeNumber(0),
    0,
    "Additional random rows, which may serve as test rows.",
)
@click.option(
    "--rate",
    multiple=True,
    metavar="NAME[=LOW..HIGH]",
    help="Criterion to rate. Repeatable [default: the judge's target].",
)
@click.option(
    "--max-rows",
    "at_most",
    type=WholeNumber(1),
    help="Maximum rows to score, sampled at random [default: all].",
)
@seed_option
@asking_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace an existing sheet, including its ratings.")
@json_option
def command(
    judge: str,
    data: tuple[str, ...],
    n: int,
    output: str,
    strategy: str,
    n_random: int,
    rate: tuple[str, ...],
    at_most: int | None,
    seed: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> None:
    """Choose rows of DATA whose rating would help JUDGE most, and write a sheet to rate them on.

    Rows that are rated already, or that JUDGE was made from, are left out; give the file of rated
    rows as well, and none of these is asked about again. The filled sheet is data as any other:
    'judgesmith compile RATED OUT.csv --from JUDGE -o NEW' learns from both.
    """
    import numpy as np

    from judgesmith.data.sheets.ratings import write_rating_sheet
    from judgesmith.experiments.labels.suggesting import (
        Unrated,
        asked_criteria,
        nothing_left,
        read_rates,
        refuse_ranking,
        suggest,
    )
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.lm import lm_client_of

    if not n + n_random:
        raise OptionError("no row is to be chosen.", option="-n", hint="give -n a number above 0.")
    place = _sheet_place(output, *data, force=force)
    saved = load_saved(judge)
    with blaming(judge):
        refuse_ranking(saved)
    with blaming("--rate"):
        wanted = read_rates(rate)
    dataset = load_data(*data)
    with blaming("--rate"):
        criteria = asked_criteria(saved, dataset, wanted)
    unrated = Unrated.among(
        dataset,
        saved.seen_keys,
        criteria=tuple(criteria),
        at_most=at_most,
        rng=np.random.default_rng([seed, 20]).spawn(1)[0],
    )
    if not unrated.places:
        raise OptionError(nothing_left(dataset.name, unrated), option=data[0])
    run_id = f"suggest {saved.fingerprint} {dataset.digest}"
    asked, (lm, *others) = asked_models(saved, choice, run_id=run_id)
    if dry_run:
        rows = [dataset[place] for place in unrated.places if strategy != "random" and n]
        estimate = judging_estimate(asked, rows, [lm, *others])
        print_estimate(estimate, as_json=as_json, rows=len(rows))
        return
    with counting("rows", len(unrated.places), quiet=as_json) as tell:
        found = suggest(
            asked,
            dataset,
            n=n,
            n_random=n_random,
            strategy=strategy,
            criteria=tuple(criteria),
            at_most=at_most,
            seed=seed,
            lm=lm,
            concurrency=choice.concurrency,
            on_progress=tell,
        )
    with blaming(OUTPUT):
        n_cut = write_rating_sheet(
            found.rows, criteria, place, chance=found.chance, overwrite=force
        )
    usage, client = used(lm, *others), lm_client_of(lm)
    assert client is not None
    if as_json:
        print_json(
            {"output": output, "judge": saved.fingerprint, **_plain(found), **spent_on(usage)}
        )
    else:
        _print(found, criteria, output)
        say(usage_text(usage))
    notes = list(dataset.notes)
    if len(found.rows) < n + n_random:
        notes.append(f"there were {len(found.rows)} rows to choose from, fewer than were wanted.")
    if not found.counts.get("random") and not any(map(_is_plain, dataset)):
        notes.append(_NONE_RANDOM)
    notes += cut_notes(n_cut)
    say_notes((*notes, *client.adaptations), as_json=as_json)
    if not as_json:
        say(_next(saved, judge, output))


def _sheet_place(output: str, *read: str, force: bool) -> Path:
    """Return where the sheet goes, before anything is asked."""
    from judgesmith.data.sheets.cells import sheet_place

    place = file_place(output, *read, like="rate.csv")
    with blaming(OUTPUT):
        sheet_place(place)
    refuse_existing(place, output, force=force, why=", and may hold ratings")
    return place


def _is_plain(item: Any) -> bool:
    """Say whether a row is rated and was not chosen."""
    from judgesmith.data.sheets.ratings import was_chosen

    return any(item.human.values()) and not was_chosen(item)


def _plain(found: Suggestions) -> dict[str, Any]:
    from judgesmith.signatures.judgement import by_code, by_sentence

    return {
        "rows": len(found.rows),
        "chosen_by": found.counts,
        "random_probability": found.chance,
        "of": found.n_rows,
        "rated": found.n_rated,
        "seen": found.n_seen,
        "repeated": found.n_repeated,
        "unasked": found.n_unasked,
        "unscored": found.n_unscored,
        "problems": by_sentence(found.causes),
        "reasons": by_code(found.causes),
    }


def _print(found: Suggestions, criteria: dict[str, Scale], output: str) -> None:
    from judgesmith.data.sheets.ratings import heading
    from judgesmith.signatures.judgement import by_sentence

    counts = sorted(found.counts.items(), key=lambda one: one[0] == "random")
    how = ", ".join(f"{n} {_HOW[by]}" for by, n in counts)
    say(f"{counted(len(found.rows), 'row')} to rate in {output}: {how}")
    say(
        f"of {counted(found.n_rows, 'row')}, {found.n_rated} rated, {found.n_seen} that the judge "
        f"was made from, {found.n_repeated} repeated, {found.n_unasked} not looked at, "
        f"{found.n_unscored} without a score"
    )
    for problem, n in list(by_sentence(found.causes).items())[:5]:
        say(f"  {n} × {problem}")
    print_table("Questions", [[heading(name, one)] for name, one in criteria.items()])


def _next(saved: AnySaved, judge: str, output: str) -> str:
    """Return what to do with the sheet, once it is filled in."""
    from judgesmith.programs.artifacts.saved import SavedJudge

    sheet = shlex.quote(output)
    if isinstance(saved, SavedJudge):
        return (
            "fill in the empty columns, and learn from them and from the rows rated before:\n"
            f"  judgesmith compile RATED {sheet} --from {shlex.quote(judge)} -o NEW"
        )
    return (
        "fill in the empty columns, and make the judge again from them and from the rows rated "
        f"before: compile, panel and check read {sheet} as they read any rated rows."
    )
