"""``judgesmith score prefer``: record which of two responses a judge prefers, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.agreement import print_order
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import texts_in
from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.judge_models import asked_models, saved_of_kind, used
from judgesmith.cli.shared.model_options import ModelChoice, allow_model_option, model_options
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    rows_arguments,
    rows_output_options,
    seed_option,
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

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.preferring import RecordedPairs


@tool("prefer")
@rows_arguments
@click.option(
    "--pairs",
    "n_pairs",
    type=WholeNumber(1),
    help="Pairs of responses per source, sampled at random [default: all].",
)
@seed_option
@allow_model_option
@model_options
@dry_run_option
@rows_output_options
def command(
    judge: str,
    data: str,
    output: str,
    columns: str | None,
    n_pairs: int | None,
    seed: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Compare the responses to each source in INPUT by JUDGE, two at a time, in both orders.

    JUDGE was compiled with --judge pairs. OUT.jsonl gets two rows for each pair, which 'evaluate'
    and 'compare' read: what JUDGE prefers with the first text shown first, and with the second.
    Ratings in INPUT are never read. The same command again resumes.
    """
    from judgesmith.experiments.evaluate.preferring import pairs_of, record_pairs
    from judgesmith.experiments.scoring.estimates import estimate_comparing
    from judgesmith.programs.families.pairwise import PairwiseConfig
    from judgesmith.programs.lm import lm_client_of

    place = lines_place(output, data, like="pairs.jsonl")
    saved = saved_of_kind(
        judge,
        PairwiseConfig,
        lack="scores single responses and does not compare them",
        hint="name one that was compiled with --judge pairs.",
    )
    dataset = texts_in(data, columns)
    items = list(dataset)
    with blaming(data):
        pairs = pairs_of(items, n_pairs=n_pairs, seed=seed)
    run_id = f"prefer {saved.fingerprint} {data}"
    _, (lm, *others) = asked_models(saved, choice, run_id=run_id)
    if dry_run:
        print_estimate(estimate_comparing(saved, pairs, lm), as_json=as_json)
        return 0
    with counting("pairs", quiet=as_json) as tell, blaming(OUTPUT):
        found = record_pairs(
            saved,
            items,
            place,
            n_pairs=n_pairs,
            seed=seed,
            lm=lm,
            concurrency=choice.concurrency,
            overwrite=force,
            on_progress=tell,
        )
    client, usage = lm_client_of(lm), used(lm, *others)
    assert client is not None
    if as_json:
        print_json(
            {"output": output, "judge": saved.fingerprint, **_plain(found), **spent_on(usage)}
        )
    else:
        _print(found, output, data)
        say(usage_text(usage))
    stated = [f"{n} answers rest on what was stated: {why}." for why, n in found.stated.items()]
    say_notes((*dataset.notes, *stated, *client.adaptations), as_json=as_json)
    return 0


def _plain(found: RecordedPairs) -> dict[str, Any]:
    from judgesmith.experiments.evaluate.preferring import plain_order
    from judgesmith.signatures.judgement import by_code, by_sentence

    return {
        "pairs": found.n_pairs,
        "sources": found.n_sources,
        "unanswered": found.n_unanswered,
        "problems": by_sentence(found.causes),
        "reasons": by_code(found.causes),
        **({"stated": dict(found.stated)} if found.stated else {}),
        "order": plain_order(found.order),
    }


def _print(found: RecordedPairs, output: str, data: str) -> None:
    from judgesmith.signatures.judgement import by_sentence

    of = counted(found.n_sources, "source")
    say(
        f"{counted(found.n_pairs, 'pair')} of {of} in {output}, {found.n_unanswered} without an "
        "answer in both orders"
    )
    for problem, n in list(by_sentence(found.causes).items())[:5]:
        say(f"  {n} × {problem}")
    if found.order is not None:
        print_order(found.order)
    say()
    say("compare with human ratings, if there are any:")
    say(f"  judgesmith evaluate {output} {data}")
