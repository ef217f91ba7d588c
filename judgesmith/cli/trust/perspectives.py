"""``judgesmith evaluate --perspective``: the right rating, or the order of near neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.agreement import estimate_text, print_order
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, models_by_name, nothing_asked
from judgesmith.cli.shared.judged import UNTRACED, Named
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import Command, WholeNumber, given_options, together
from judgesmith.cli.shared.printing import (
    counted,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
    say_wrapped,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.errors import shortened

if TYPE_CHECKING:
    import dspy

    from judgesmith.data import DataSet
    from judgesmith.experiments.evaluate.perspectives.direct import DirectReport
    from judgesmith.experiments.evaluate.perspectives.report import (
        GlobalReport,
        LocalReport,
        PerspectiveReport,
    )
    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.signatures.scale import Scale

PERSPECTIVE = "--perspective"
_MOST_STEPS = 100


def perspective_options(command: Command) -> Command:
    return together(
        command,
        click.option(
            PERSPECTIVE,
            type=click.Choice(["global", "local"]),
            help="Report by criterion: kappa with undisputed ratings (global), or the order of "
            "responses to a source with adjacent ratings (local).",
        ),
        click.option(
            "--samples",
            type=WholeNumber(1),
            help="Answers per prompt, at temperature 1; needs --perspective [default: the saved "
            "judge's].",
        ),
        click.option(
            "--answers",
            metavar="LOW..HIGH",
            help="Scale of recorded scores; needed for kappa. With --perspective and --samples: "
            "scale to ask for.",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class PerspectiveChoice:
    """Which perspective is asked for, and how."""

    perspective: str
    samples: int | None
    answers: Scale | None

    @property
    def told(self) -> str:
        """What tells one choice from another, for the name of a run."""
        return f"{self.perspective} {self.samples} {self.answers}"


def answer_scale(answers: str | None) -> Scale | None:
    if answers is None:
        return None
    from judgesmith.signatures.scale import Scale

    with blaming("--answers"):
        return Scale.parse(answers)


def asked_perspective(
    perspective: str | None, samples: int | None, scale: Scale | None, *, on_file: bool
) -> PerspectiveChoice | None:
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
    return PerspectiveChoice(perspective=perspective, samples=samples, answers=scale)


def report_perspective(
    asked: PerspectiveChoice,
    given: Named,
    dataset: DataSet,
    *,
    data: str,
    target: str,
    aggregate: str,
    criterion: str | None,
    choice: ModelChoice,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Report one perspective of a judge, or of scores on file."""
    import numpy as np

    from judgesmith.data.targets import MEAN, meant_by, nobody_rated
    from judgesmith.experiments.evaluate.perspectives.direct import DirectReport, compared_by_judge
    from judgesmith.experiments.evaluate.perspectives.perspectives import perspective_of_judge
    from judgesmith.programs.artifacts.saved import SavedJudge

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
        "seed": np.random.default_rng(seed),
    }
    found: PerspectiveReport | DirectReport
    notes: list[str] = []
    if given.path is None:
        saved, compares = _judge(asked, given, dataset)
        run_id = f"evaluate {saved.fingerprint} {dataset.digest} {asked.told}"
        saved, lms = asked_models(saved, choice, run_id=run_id)
        if dry_run:
            with blaming(data):
                print_estimate(
                    _estimate(asked, saved, dataset, common, lms, compares), as_json=as_json
                )
            return
        with counting("texts", quiet=as_json) as tell, blaming(data):
            how: dict[str, Any] = {
                "samples": asked.samples,
                "lm": lms[0],
                "models": [str(lm.model) for lm in lms],
                "label": given.text,
                "concurrency": choice.concurrency,
                "on_progress": tell,
            }
            if compares:
                assert isinstance(saved, SavedJudge)
                found = compared_by_judge(saved, dataset, target=wanted, **how)
            else:
                found = perspective_of_judge(saved, dataset, **common, **how)
    else:
        found, notes = _of_scores(asked, given, dataset, common, criterion, data)
    if dry_run:
        print_estimate(nothing_asked(), as_json=as_json)
        return
    if as_json:
        print_json(found.to_dict())
    elif isinstance(found, DirectReport):
        print_comparisons(found, name=dataset.name)
    else:
        print_perspective(found)
    say_notes([*dataset.notes, *found.notes, *notes], as_json=as_json)


def _judge(asked: PerspectiveChoice, given: Named, dataset: DataSet) -> tuple[AnySaved, bool]:
    """Return the judge, and whether it compares texts instead of scoring them."""
    import numpy as np

    from judgesmith.experiments.evaluate.perspectives.ratings import errors_made
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.judging.runner import judges_sources

    saved = load_saved(given.text)
    ranks = judges_sources(saved)
    # Texts without a known number of errors are ranked, in the judge's own way.
    compares = ranks and asked.perspective == "local" and bool(np.any(errors_made(dataset) > 0))
    if asked.samples is not None and not isinstance(saved, SavedJudge):
        raise OptionError(
            "samples are taken of a judge that judges texts itself, and this one holds others.",
            option="--samples",
            hint="leave --samples out to use the saved setting.",
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
    return saved, compares


def _estimate(
    asked: PerspectiveChoice,
    saved: AnySaved,
    dataset: DataSet,
    common: Mapping[str, Any],
    lms: Sequence[dspy.LM],
    compares: bool,
) -> RunEstimate:
    from judgesmith.experiments.evaluate.perspectives.direct import comparing_estimate
    from judgesmith.experiments.evaluate.perspectives.perspectives import perspective_estimate
    from judgesmith.programs.artifacts.saved import SavedJudge

    if compares:
        assert isinstance(saved, SavedJudge)
        return comparing_estimate(
            saved, dataset, lms[0], target=common["target"], samples=asked.samples
        )
    own = {name: one for name, one in common.items() if name != "seed"}
    return perspective_estimate(
        saved, dataset, models_by_name(lms), lms[0], samples=asked.samples, **own
    )


def _of_scores(
    asked: PerspectiveChoice,
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


_MOST_LEVELS = 16
"""Tables of all pairs of more levels than this are in ``--json`` alone."""

_MOST_APART = 5


def print_perspective(found: PerspectiveReport) -> None:
    from judgesmith.experiments.evaluate.agreement import unscored_text
    from judgesmith.experiments.evaluate.perspectives.report import GlobalReport, LocalReport

    say(f"{found.label} on {found.data}: {found.perspective} perspective")
    wide = [one for one in found.reports.values() if isinstance(one, GlobalReport)]
    near = [one for one in found.reports.values() if isinstance(one, LocalReport)]
    if wide:
        _print_global(found, wide)
    if near:
        _print_local(found, near)
    for one in found.reports.values():
        if one.basis.unscored.n:
            say_under(shortened(one.criterion, 30), unscored_text(one.basis.unscored), indent=2)
    for criterion, why in found.left_out.items():
        say_under(f"{shortened(criterion, 30)} is left out", why, indent=2)


def _print_global(found: PerspectiveReport, reports: Sequence[GlobalReport]) -> None:
    rows = [
        [shortened(one.criterion, 30), str(one.kappa.n), estimate_text(one.kappa), _asked(one)]
        for one in reports
    ]
    print_table(
        f"Linear-weighted kappa: {_basis(found)}",
        [*rows, *_mean_row(found, len(rows))],
        header=["criterion", "n", "kappa", "samples"],
    )
    for one in reports:
        levels = [f"{level:g}" for level in one.confusion.levels]
        if len(levels) <= _MOST_LEVELS:
            counts = [
                [f"right: {level}", *map(str, row), *map(_share, shares)]
                for level, row, shares in zip(
                    levels, one.confusion.counts, one.confusion.rates, strict=True
                )
            ]
            title = f"{shortened(one.criterion, 30)}: what the judge gave, texts and shares"
            print_table(title, counts, header=["", *levels, *levels])
        _say_kept(one)


def _print_local(found: PerspectiveReport, reports: Sequence[LocalReport]) -> None:
    rows = [
        [
            shortened(one.criterion, 30),
            str(one.accuracy.n),
            estimate_text(one.accuracy),
            _share(one.accuracy.tied),
            str(one.accuracy.n_unscored),
            _asked(one),
        ]
        for one in reports
    ]
    print_table(
        f"Neighbours in the right order: {_basis(found)}",
        [*rows, *_mean_row(found, len(rows), more=2)],
        header=["criterion", "pairs", "accuracy", "tied", "left out", "samples"],
    )
    apart = [one for one in reports if one.apart]
    if apart:
        ks = [k for k in range(1, _MOST_APART + 1) if any(k in one.apart for one in apart)]
        print_table(
            "Pairs by how many errors more one text has",
            [
                [shortened(one.criterion, 30)]
                + [_share(one.apart[k].value) if k in one.apart else "" for k in ks]
                for one in apart
            ],
            header=["criterion", *(f"I({k})" for k in ks)],
        )
    for one in reports:
        if one.by_errors is not None and len(one.by_errors.errors) <= _MOST_LEVELS:
            errors = [f"{n:g}" for n in one.by_errors.errors]
            print_table(
                f"{shortened(one.criterion, 30)}: accuracy by the errors of either text, in %",
                [
                    [n, *map(_percent, row)]
                    for n, row in zip(errors, one.by_errors.accuracy.tolist(), strict=True)
                ],
                header=["errors", *errors],
            )
        _say_kept(one)


def _basis(found: PerspectiveReport) -> str:
    numbers = sorted({one.value.n_groups for one in found.reports.values()})
    most = counted(numbers[-1], "source")
    of = most if len(numbers) == 1 else f"{numbers[0]} to {most}"
    return f"{of}, {found.mean.confidence:.0%} intervals over sources"


def _mean_row(found: PerspectiveReport, n_rows: int, *, more: int = 0) -> list[list[str]]:
    if n_rows < 2:
        return []
    without = f", {found.mean.n_undefined} undefined" if found.mean.n_undefined else ""
    row = [f"mean{without}", str(found.mean.n), estimate_text(found.mean), *[""] * more, ""]
    return [row]


def _asked(one: GlobalReport | LocalReport) -> str:
    low, high = one.basis.n_samples
    return str(low) if low == high else f"{low} to {high}"


def _share(share: float) -> str:
    return "" if share != share else f"{share:.2f}"


def _percent(share: float) -> str:
    return "" if share != share else f"{100 * share:.0f}"


def _say_kept(one: GlobalReport | LocalReport) -> None:
    """Print how many rated rows were kept at each level, and how many were left out."""
    right = one.basis.right
    said = []
    if right.n_built:
        said.append(f"{right.n_built} rated by how they were made")
    counts = right.counts
    n_kept = 0 if counts is None else sum(counts.n_kept)
    if counts is not None and len(counts.levels) <= _MOST_LEVELS and n_kept > right.n_built:
        kept = "/".join(map(str, counts.n_kept))
        ends = f"{counts.levels[0]:g} to {counts.levels[-1]:g}"
        said.append(f"undisputed {kept} (ratings {ends})")
        if any(counts.n_dropped):
            said.append(f"disputed {'/'.join(map(str, counts.n_dropped))}")
    if counts is not None and counts.n_unknown:
        said.append(f"{counts.n_unknown} of which a mean alone is known")
    if counts is not None and counts.n_too_few:
        said.append(f"{counts.n_too_few} with a single rating")
    if one.basis.n_outside:
        said.append(f"{counted(one.basis.n_outside, 'sample')} outside of {one.basis.answers}")
    if said:
        say_wrapped(f"{shortened(one.criterion, 30)}: {'; '.join(said)}", hang=2)


def print_comparisons(found: DirectReport, *, name: str) -> None:
    """Print how often the text with fewer errors is preferred on the set called ``name``."""
    say(f"{found.label} on {name}: local perspective, two texts compared directly")
    for criterion, one in found.reports.items():
        rows = [
            [f"I({k})", str(estimate.n), estimate_text(estimate)]
            for k, estimate in one.apart.items()
        ]
        title = f"{shortened(criterion, 30)}: the text with fewer errors preferred"
        print_table(title, rows, header=["errors more", "pairs", "share"])
        print_order(one.order)
        say()
        votes = counted(one.n_samples, "answer")
        why = "".join(f"; {n} × {reason}" for reason, n in one.unscored.reasons.items())
        say_wrapped(
            f"{votes} in each order, and the relation with most of them counts: neither text in "
            f"{one.n_neither} of {counted(one.unscored.n_rows, 'pair')}, of which {one.unscored.n} "
            f"have no answer{why}"
        )
