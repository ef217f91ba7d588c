"""``judgesmith score exemplars``: the texts that an exemplar judge compares with, on file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import texts_in
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.judge_models import asked_models, saved_of_kind, used
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    dry_run_option,
    rows_arguments,
    rows_output_options,
)
from judgesmith.cli.shared.places import OUTPUT, lines_place
from judgesmith.cli.shared.printing import (
    counted,
    print_estimate,
    print_json,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options

if TYPE_CHECKING:
    from judgesmith.experiments.benchmark.exemplars import ExemplarReport
    from judgesmith.metrics import Estimate


@tool("exemplars")
@rows_arguments
@asking_options
@dry_run_option
@rows_output_options
def command(
    judge: str,
    data: str,
    output: str,
    columns: str | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> None:
    """Write the exemplars of every source in INPUT to OUT.jsonl, and say if they are in order.

    JUDGE is an exemplar judge that 'compile' made. Neighbouring levels are compared by the judge
    itself. Responses and ratings in INPUT are not read. The same command again continues where an
    interrupted one was, or one whose budget ended.
    """
    from judgesmith.experiments.benchmark.exemplars import write_exemplars
    from judgesmith.experiments.scoring.estimates import estimate_exemplars
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.families.exemplar import ExemplarConfig

    place = lines_place(output, data, like="exemplars.jsonl")
    saved = saved_of_kind(
        judge,
        ExemplarConfig,
        lack="writes no exemplars",
        hint="name a judge that compile --judge exemplar made.",
    )
    items = list(texts_in(data, columns))
    run_id = f"exemplars {saved.fingerprint} {data}"
    bound, (lm, *others) = asked_models(saved, choice, run_id=run_id)
    assert isinstance(bound, SavedJudge)
    if dry_run:
        print_estimate(estimate_exemplars(bound, items, lm), as_json=as_json)
        return
    with counting("sources", quiet=as_json) as tell, blaming(OUTPUT):
        found = write_exemplars(
            bound,
            items,
            place,
            lm=lm,
            concurrency=choice.concurrency,
            overwrite=force,
            on_progress=tell,
        )
    usage = used(lm, *others)
    if as_json:
        print_json(
            {"output": output, "judge": saved.fingerprint, **found.to_dict(), **spent_on(usage)}
        )
    else:
        _print(found, output)
        say(usage_text(usage))
    say_notes(_notes(found), as_json=as_json)


def _print(found: ExemplarReport, output: str) -> None:
    of = counted(found.n_sources, "source")
    say(f"{counted(found.n_exemplars, 'exemplar')} of {of} in {output}")
    say(f"  neighbouring levels in order: {_text(found.in_order, 'pairs')}")
    say(f"  ladders in order throughout: {_text(found.monotone, 'ladders')}")


def _text(share: Estimate, unit: str) -> str:
    if not share.n:
        return "undefined"
    within = f" [{share.low:.3f}, {share.high:.3f}]" if share.low == share.low else ""
    return f"{share.value:.3f}{within} of {share.n} {unit}"


def _notes(found: ExemplarReport) -> list[str]:
    notes = [f"{n} × {problem}" for problem, n in list(found.problems.items())[:5]]
    if found.n_flagged:
        notes.append(
            f"{found.n_flagged} of {found.n_exemplars} exemplars are empty or a copy of a "
            "neighbour, after a second attempt; 'flags' says which."
        )
    return notes
