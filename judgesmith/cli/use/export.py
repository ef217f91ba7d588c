"""``judgesmith export``: a judge in a form that other tools run."""

from __future__ import annotations

from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import judging_estimate, models_of_all, nothing_asked
from judgesmith.cli.shared.model_options import ModelChoice, allow_model_option, model_options
from judgesmith.cli.shared.options import dry_run_option, json_option
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import counted, print_estimate, print_json, say, say_notes

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.exporting.export import Exported

_MODULES = ("python", "inspect")  # forms that are imported by the name of their place


@tool("export")
@click.argument("judge")
@click.option(
    "--to",
    "form",
    required=True,
    metavar="FORM",
    help="Export format: prompt, python, dspy, mlflow or inspect.",
)
@click.option("-o", "--output", required=True, metavar="PLACE", help="Output file or folder.")
@click.option(
    "--verify",
    is_flag=True,
    help="Score the golden items with the judge and with the export, and compare.",
)
@allow_model_option
@model_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@json_option
def command(
    judge: str,
    form: str,
    output: str,
    verify: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Write JUDGE in another form: prompts, or a program of another tool.

    What was written judges the golden items as JUDGE does, or the exit status is 1. A judge of
    the offline model is always verified; --verify asks other models; cached answers are not
    asked again.
    """
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.exporting.export import (
        check_carried,
        check_free,
        export_judge,
        form_of,
    )

    place = check_output(output)
    saved = load_saved(judge)
    with blaming("--to"):
        found = form_of(form)
        check_carried(found, form, saved)
    with blaming(OUTPUT):
        check_free(place, found, overwrite=force)
    lms = None
    if verify or choice.model_name is not None or choice.api_base is not None:
        _check_golden(saved)
        given = models_of_all([saved], choice, run_id=f"export {saved.fingerprint}")
        for lm in given.values():
            choice.check_key(lm)
        alone = next(iter(given.values())) if choice.model_name is not None else None
        lms = {name: alone or given[name] for name in saved.models}
    if dry_run:
        golden = [one.item for one in saved.golden]
        estimate = judging_estimate(saved, golden, list(lms.values())) if lms else nothing_asked()
        print_estimate(estimate, as_json=as_json)
        return 0
    with blaming(OUTPUT):
        done = export_judge(saved, form, place, overwrite=force, lms=lms)
    if as_json:
        print_json(_plain(done, saved))
    else:
        _print(done, saved)
    say_notes(_notes(done), as_json=as_json)
    return 1 if done.verified is not None and done.verified.differences else 0


def _check_golden(saved: AnySaved) -> None:
    if not saved.golden:
        raise OptionError(
            "there is nothing to verify with: the judge was saved without texts.",
            option="--verify",
            hint="leave --verify and the model out, or compile it without --no-texts.",
        )


def _plain(done: Exported, saved: AnySaved) -> dict[str, Any]:
    found = done.verified
    how = None
    if found is not None:
        differences = [
            {"item": one.item, "field": one.field, "saved": one.saved, "exported": one.exported}
            for one in found.differences
        ]
        how = {"items": found.n_items, "equal": found.n_equal, "differences": differences}
    return {
        "judge": saved.fingerprint,
        "form": done.form,
        "output": str(done.place),
        "verified": how,
    }


def _print(done: Exported, saved: AnySaved) -> None:
    say(f"judge {saved.fingerprint} as {done.form} in {done.place}")
    found = done.verified
    if found is None:
        say(f"not verified: {_why_not(done, saved)}")
        return
    say(f"verified: {found.n_equal} of {counted(found.n_items, 'golden item')} judged the same")
    for one in found.differences[:10]:
        say(f"  item {one.item}, {one.field}: {one.saved!r} by the judge, {one.exported!r} by it")


def _notes(done: Exported) -> list[str]:
    name = done.place.stem if done.form == "python" else done.place.name
    if done.form not in _MODULES or (name.isidentifier() and not iskeyword(name)):
        return []
    return [
        f"Python cannot import what is called {name!r}: name it with letters, digits and _, and no "
        "word of Python, if it is to be imported."
    ]


def _why_not(done: Exported, saved: AnySaved) -> str:
    if done.form == "prompt":
        return "prompts do not run by themselves."
    if not saved.golden:
        return "the judge was saved without texts, so it has no golden items."
    return "give --verify to ask the model about the golden items."
