"""``judgesmith compare``: which of two judges agrees better with people, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.agreement import ranks_note
from judgesmith.cli.compile_refusals import refuse_over_sources
from judgesmith.cli.data_options import data_options, load_data, target_options
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_models import asked_models, role_names
from judgesmith.cli.judged import UNTRACED, Named, criterion_option, named, refuse_criterion
from judgesmith.cli.model_options import ModelChoice, allow_model_option, model_options
from judgesmith.cli.numbers import Number
from judgesmith.cli.options import json_option, seed_option
from judgesmith.cli.printing import print_json, say_notes
from judgesmith.cli.progress import stage_progress
from judgesmith.cli.role_options import ROLE, models_by_part, role_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgesmith.data import DataSet, Targets
    from judgesmith.data.score_files import Scores
    from judgesmith.experiments.evaluate.judged_rows import JudgedRows
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.argument("data")
@data_options
@target_options
@criterion_option
@click.option(
    "--objective",
    metavar="NAME[@LEVEL]",
    help="What decides: pearson, spearman, kendall or q, at dataset, sample or system level "
    "[default: spearman; spearman@sample if scores are ranks within a source].",
)
@click.option(
    "--confidence",
    type=Number(0, 1, above=True, below=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@seed_option("Of the intervals.")
@role_option
@allow_model_option
@model_options
@json_option
def command(
    a: str,
    b: str,
    data: str,
    columns: str | None,
    scales: tuple[str, ...],
    target: str,
    aggregate: str,
    criterion: str | None,
    objective: str | None,
    confidence: float,
    seed: int,
    roles: tuple[str, ...],
    concurrency: int,
    as_json: bool,
    **choice: Any,
) -> None:
    """Say whether judge A agrees better than judge B with the ratings in DATA.

    Each of A and B is a folder that 'compile' made, a file that 'score' wrote, or a file of
    recorded judges (FILE:JUDGE picks one). Both are compared on the rows that both scored; rows
    that either was made from are compared apart.
    """
    import numpy as np

    from judgesmith.cli.compared import print_compared
    from judgesmith.data.scores import other_models
    from judgesmith.experiments.evaluate.comparing import compare_rows
    from judgesmith.optimizers.objectives.agreement import parse_agreement
    from judgesmith.programs.judging.runner import judges_sources

    with blaming("--objective"):
        wanted = None if objective is None else parse_agreement(objective)
    sides = _two(a, b)
    if criterion is not None and all(one.path is None for one in sides):
        raise refuse_criterion(a)
    judges = _judges(sides)
    for judge, side in zip(judges, sides, strict=True):
        if objective is not None and judges_sources(judge):
            refuse_over_sources(objective, judge=side.text)
    dataset = load_data(data, columns, scales)
    scores, targets = _targets(sides, judges, dataset, target, aggregate, criterion, data=data)
    rows = _judged(
        sides,
        judges,
        scores,
        dataset,
        targets,
        choice=ModelChoice(**choice),
        roles=roles,
        concurrency=concurrency,
        quiet=as_json,
    )
    with blaming(b):
        found = compare_rows(
            *rows,
            targets,
            objective=wanted,
            rng=np.random.default_rng(seed),
            confidence=confidence,
        )
    ranking = [side.label for side in (found.a, found.b) if side.ranks]
    notes = [*dataset.notes, *ranks_note(*ranking, ranks=bool(ranking))]
    for side, own in zip(sides, scores, strict=True):
        if own is not None:
            notes += side.unused(own, dataset)
    notes += [note for side in rows for note in other_models(side.judgements)]
    if any(own is not None for own in scores):
        notes.append(UNTRACED)
    if as_json:
        print_json(found.to_dict())
    else:
        print_compared(found, name=dataset.name)
    say_notes(list(dict.fromkeys(notes)), as_json=as_json)


def _two(a: str, b: str) -> tuple[Named, Named]:
    """Return what A and B name, which must be two things."""
    first, second = named(a), named(b)
    same_place = (first.path or Path(a)).resolve() == (second.path or Path(b)).resolve()
    if same_place and first.recorded == second.recorded:
        raise OptionError(f"A and B are both {b}.", option=b, hint="name two judges.")
    return first, second


def _judges(sides: tuple[Named, Named]) -> list[AnySaved | None]:
    """Load the judges among the two."""
    if all(side.path is not None for side in sides):
        return [None, None]
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    judges = [None if side.path else load_saved(side.text) for side in sides]
    first, second = judges
    if first and second and first.fingerprint == second.fingerprint:
        b = sides[1].text
        raise OptionError(
            f"A and B are the same judge (fingerprint {first.fingerprint}).",
            option=b,
            hint="name two.",
        )
    return judges


def _targets(
    sides: tuple[Named, Named],
    judges: list[AnySaved | None],
    dataset: DataSet,
    target: str,
    aggregate: str,
    criterion: str | None,
    *,
    data: str,
) -> tuple[list[Scores | None], Targets]:
    """Read the scores among the two, and find the ratings that both are held against."""
    from judgesmith.data import targets_of
    from judgesmith.data.targets import criteria_behind
    from judgesmith.experiments.evaluate.comparing import shared_target

    told = target != "auto"
    with blaming("--target" if told else data):
        known = [target] if told else [judge.target for judge in judges if judge]
        wanted = criteria_behind(dataset, known[0])[0] if known else None
    scores = [
        side.scores(dataset, criterion=criterion, target=wanted) if side.path else None
        for side in sides
    ]
    if not told:
        first, second = (judge or own for judge, own in zip(judges, scores, strict=True))
        assert first is not None
        assert second is not None
        with blaming("--target"):
            target = shared_target(first, second, dataset) or target
    with blaming("--target" if told else data):
        return scores, targets_of(dataset, target, aggregate)  # type: ignore[arg-type]


def _judged(
    sides: tuple[Named, Named],
    judges: list[AnySaved | None],
    scores: list[Scores | None],
    dataset: DataSet,
    targets: Targets,
    *,
    choice: ModelChoice,
    roles: Sequence[str],
    concurrency: int,
    quiet: bool,
) -> tuple[JudgedRows, JudgedRows]:
    """Return what either says of the rated rows; one budget holds for both."""
    from judgesmith.experiments.evaluate.judged_rows import rows_of_judge, rows_of_scores

    names = "|".join(judge.fingerprint for judge in judges if judge)
    models = {name for judge in judges if judge for name in judge.models}
    by_role = models_by_part(roles)
    models |= {one.name for one in by_role.values()}
    of_judges = [set(role_names(judge)) & set(by_role) if judge else set() for judge in judges]
    if unknown := set(by_role).difference(*of_judges, ()):
        raise OptionError(
            f"neither judge has a role {min(unknown)[:80]!r}.", option=ROLE, hint="drop it."
        )
    run_id = f"compare {names} {dataset.digest} {targets.name}"
    found = []
    with stage_progress(quiet=quiet) as progress:
        sides_of = zip("AB", sides, judges, scores, of_judges, strict=True)
        for letter, side, judge, own, own_roles in sides_of:
            if judge is None:
                assert own is not None
                found.append(rows_of_scores(own, dataset, targets))
                continue
            given = [one for one in roles if one.partition("=")[0].strip() in own_roles]
            asked = {*judge.models, *(by_role[role].name for role in own_roles)}
            own_choice = choice.about(asked, among=models)
            judge, (lm, *_) = asked_models(judge, own_choice, run_id=run_id, roles=given)
            n_rated, stage = len(targets.rated), f"rows by {letter}"
            tell = None if progress is None else _telling(progress, stage, n_rated)
            found.append(
                rows_of_judge(
                    judge,
                    dataset,
                    targets,
                    own=judge.target,
                    lm=lm,
                    label=side.text,
                    concurrency=concurrency,
                    progress=tell,
                )
            )
    return found[0], found[1]


def _telling(
    progress: Callable[[str, int, int | None], None], stage: str, total: int
) -> Callable[[int], None]:
    return lambda n: progress(stage, n, total)
