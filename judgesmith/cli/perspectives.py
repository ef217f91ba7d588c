"""``judgesmith evaluate --perspective``: the right rating, or the order of near neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_models import asked_models
from judgesmith.cli.judged import UNTRACED, Named
from judgesmith.cli.model_options import ModelChoice
from judgesmith.cli.numbers import WholeNumber
from judgesmith.cli.options import Command, given_options, together
from judgesmith.cli.printing import print_json, say_notes
from judgesmith.cli.progress import stage_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgesmith.data import DataSet
    from judgesmith.experiments.evaluate.perspectives.direct import DirectReport
    from judgesmith.experiments.evaluate.perspectives.report import PerspectiveReport
    from judgesmith.signatures.scale import Scale

PERSPECTIVE = "--perspective"
_MOST_STEPS = 100


def perspective_options(command: Command) -> Command:
    """Add the options that ask for one perspective."""
    return together(
        command,
        click.option(
            PERSPECTIVE,
            type=click.Choice(["global", "local"]),
            help="Report kappa with undisputed ratings (global), or the order of texts of a source "
            "whose ratings are neighbours (local), by criterion.",
        ),
        click.option(
            "--samples",
            type=WholeNumber(1),
            help="With --perspective: answers to each question, at temperature 1 [default: the "
            "judge as it was saved].",
        ),
        click.option(
            "--answers",
            metavar="LOW..HIGH",
            help="What scores on file are points of; without it they have no kappa. "
            "With --perspective and --samples: what is asked for "
            "[default: global the ratings' scale, local 1..10].",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which perspective is asked for, and how.

    Attributes
    ----------
    perspective : str
        ``global`` or ``local``.
    samples : int or None
        Answers to each question.
    answers : Scale or None
        What they are given on.
    """

    perspective: str
    samples: int | None
    answers: Scale | None


def answer_scale(answers: str | None) -> Scale | None:
    """Return the scale that ``--answers`` names."""
    if answers is None:
        return None
    from judgesmith.signatures.scale import Scale

    with blaming("--answers"):
        return Scale.parse(answers)


def asked_perspective(
    perspective: str | None, samples: int | None, scale: Scale | None, *, on_file: bool
) -> Asked | None:
    """Return what the options ask for; None where it is no perspective."""
    if perspective is None:
        unread = {"--samples": samples, "--answers": None if on_file else scale}
        for option, given in unread.items():
            if given is not None:
                raise OptionError(
                    f"{option} belongs to a perspective.",
                    option=option,
                    hint=f"say {PERSPECTIVE} global or local, too.",
                )
        return None
    if scale is not None:
        whole = scale.low.is_integer() and scale.high.is_integer()
        if samples is not None and not (whole and scale.high - scale.low <= _MOST_STEPS):
            raise OptionError(
                f"models answer in whole points, at most {_MOST_STEPS + 1} of them; got {scale}.",
                option="--answers",
            )
    return Asked(perspective=perspective, samples=samples, answers=scale)


def report_perspective(
    asked: Asked,
    given: Named,
    dataset: DataSet,
    *,
    data: str,
    target: str,
    aggregate: str,
    criterion: str | None,
    choice: ModelChoice,
    roles: Sequence[str],
    seed: int,
    concurrency: int,
    as_json: bool,
) -> None:
    """Report one perspective of a judge, or of scores on file."""
    import numpy as np

    from judgesmith.cli.compared_text import print_comparisons
    from judgesmith.cli.perspectives_text import print_perspective
    from judgesmith.data.targets import MEAN, meant_by, nobody_rated
    from judgesmith.experiments.evaluate.perspectives.direct import DirectReport

    wanted = None if target == "auto" else target
    if wanted is not None and dataset.criteria:
        with blaming("--target"):
            if meant_by(wanted, dataset.criteria) is None:
                if "+" in wanted or meant_by(wanted, [MEAN]):
                    raise OptionError(
                        f"a perspective is of single criteria, and {wanted} is of several.",
                        option="--target",
                        hint="leave --target out: the mean of all is told beside them.",
                    )
                raise nobody_rated([wanted], dataset, dataset.criteria)
    common: dict[str, Any] = {
        "perspective": asked.perspective,
        "target": wanted,
        "aggregate": aggregate if given_options("aggregate") else None,
        "answers": asked.answers,
        "rng": np.random.default_rng(seed),
    }
    found: PerspectiveReport | DirectReport
    if given.path is None:
        found, notes = _of_judge(
            asked, given, dataset, common, choice, roles, data, concurrency, quiet=as_json
        )
    else:
        found, notes = _of_scores(asked, given, dataset, common, criterion, data)
    if as_json:
        print_json(found.to_dict())
    elif isinstance(found, DirectReport):
        print_comparisons(found, name=dataset.name)
    else:
        print_perspective(found, name=dataset.name)
    say_notes([*dataset.notes, *found.notes, *notes], as_json=as_json)


def _of_judge(
    asked: Asked,
    given: Named,
    dataset: DataSet,
    common: dict[str, Any],
    choice: ModelChoice,
    roles: Sequence[str],
    data: str,
    concurrency: int,
    *,
    quiet: bool,
) -> tuple[PerspectiveReport | DirectReport, list[str]]:
    import numpy as np

    from judgesmith.experiments.evaluate.perspectives.direct import compared_by_judge
    from judgesmith.experiments.evaluate.perspectives.perspectives import perspective_of_judge
    from judgesmith.experiments.evaluate.perspectives.ratings import errors_of
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.judging.runner import judges_sources

    saved = load_saved(given.text)
    ranks = judges_sources(saved)
    # Texts of which nobody says how many errors they have are ranked, in the judge's own way.
    compares = ranks and asked.perspective == "local" and bool(np.any(errors_of(dataset) > 0))
    if asked.samples is not None and not isinstance(saved, SavedJudge):
        raise OptionError(
            "samples are taken of a judge that judges texts itself, and this one holds others.",
            option="--samples",
            hint="leave --samples out to take it as it was saved.",
        )
    if asked.samples is not None and ranks and not compares:
        raise OptionError(
            "a judge that compares ranks texts, and gives no samples of a score.",
            option="--samples",
            hint="leave --samples "
            "out, or take a benchmark whose rows say how many errors they have.",
        )
    if asked.answers is not None and ranks:
        raise OptionError(
            "a judge that compares answers which text is better, on no scale.",
            option="--answers",
            hint="leave --answers out.",
        )
    if asked.samples is None and asked.answers is not None:
        raise OptionError(
            "a judge answers on the scale that it was saved with.",
            option="--answers",
            hint="say --samples N to ask it on another.",
        )
    if ranks and asked.perspective == "global":
        raise OptionError(
            "scores of a judge that compares are ranks within a source, and no ratings.",
            option=PERSPECTIVE,
            hint="take the local perspective.",
        )
    run_id = f"evaluate {saved.fingerprint} {dataset.digest} {asked}"
    saved, lms = asked_models(saved, choice, run_id=run_id, roles=roles)
    with stage_progress(quiet=quiet) as progress, blaming(data):
        how: dict[str, Any] = {
            "samples": asked.samples,
            "lm": lms[0],
            "models": [str(lm.model) for lm in lms],
            "label": given.text,
            "concurrency": concurrency,
            "progress": None if progress is None else (lambda n: progress("texts", n, None)),
        }
        if compares:
            assert isinstance(saved, SavedJudge)
            return compared_by_judge(saved, dataset, target=common["target"], **how), []
        return perspective_of_judge(saved, dataset, **common, **how), []


def _of_scores(
    asked: Asked,
    given: Named,
    dataset: DataSet,
    common: dict[str, Any],
    criterion: str | None,
    data: str,
) -> tuple[PerspectiveReport, list[str]]:
    from judgesmith.experiments.evaluate.perspectives.perspectives import (
        perspective_of_scores,
        recorded_by_criterion,
    )

    if asked.samples is not None:
        raise OptionError(
            "scores on file have the samples that they have.",
            option="--samples",
            hint="leave --samples out.",
        )
    assert given.path is not None
    if criterion is None and common["target"] is not None:
        with blaming(given.text):
            every = recorded_by_criterion(given.path, dataset, judge=given.recorded)
        named = {one: scores for one, scores in every.items() if one == common["target"]}
        scores = named or every
    else:
        with blaming(given.text):
            scores = recorded_by_criterion(
                given.path, dataset, judge=given.recorded, criterion=criterion
            )
    with blaming(data):
        found = perspective_of_scores(scores, dataset, **common)
    notes = {note: None for one in scores.values() for note in given.unused(one, dataset)}
    return found, [*notes, UNTRACED]
