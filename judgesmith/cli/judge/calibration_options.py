"""Options about a calibration on top of a judge, and what is done when there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.options import Command, Number, given_options, shown_option, together
from judgesmith.errors import InputError
from judgesmith.results.progress import OnProgress

if TYPE_CHECKING:
    import dspy

    from judgesmith.data import DataSet
    from judgesmith.data.targets import Targets
    from judgesmith.experiments import CompileSettings
    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

NO_CALIBRATION = "no_calibration"
"""Under what the settings of a saved judge say why it lacks the calibration that was asked for."""


def no_calibration_note(settings: Mapping[str, Any]) -> list[str]:
    """Return what is said before anything else where there is no calibration."""
    if NO_CALIBRATION not in settings:
        return []
    return [f"the judge was saved without a calibration: {settings[NO_CALIBRATION]}"]


def calibration_options(command: Command) -> Command:
    """Add ``--calibrate`` and what belongs to it."""
    return together(
        command,
        click.option(
            "--calibrate",
            is_flag=True,
            help="Calibrate scores to the human scale, with intervals; sets 30% of the sources "
            "aside.",
        ),
        shown_option(
            ("--coverage", "confidence"),
            Number(0, 1, above=True, below=True),
            0.9,
            "Minimum coverage of the calibrated intervals.",
        ),
        click.option(
            "--within",
            type=Number(0, above=True),
            metavar="POINTS",
            help="Abstain until the mean error of the remaining scores is below POINTS.",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class CalibrationChoice:
    """What the options say of a calibration."""

    calibrate: bool
    confidence: float
    within: float | None

    def refuse_for_labels(self, targets: Targets) -> None:
        """Refuse to put labels on a scale: they have a threshold."""
        if self.calibrate and targets.is_verdict:
            raise OptionError(
                f"a calibration puts scores on the scale of ratings, with an interval, and "
                f"{targets.name} holds labels, which have no interval: a score is the probability "
                f"of {targets.scale.positive!r} already, and compile learns a threshold for it.",
                option="--calibrate",
                hint="leave it out: evaluate reports the Brier score of the probabilities, and "
                "--abstain leaves uncertain rows to human raters.",
            )

    def refuse_for(self, settings: CompileSettings) -> None:
        """Refuse options about a calibration that is not made, or cannot be."""
        from judgesmith.programs.judging.registry import family_of

        if not self.calibrate and (given := given_options("confidence", "within")):
            raise OptionError(
                f"{given[0]} belongs to --calibrate.",
                option=given[0],
                hint=f"give it, or drop {given[0]}.",
            )
        if self.calibrate and family_of(settings.protocol.judge).ranks:
            raise OptionError(
                "scores that are ranks within a source cannot be calibrated to a scale of ratings.",
                option="--calibrate",
                hint="leave --calibrate out.",
            )

    def run(self, run: str, aside: DataSet | None) -> str:
        """Return the fingerprint of a run with this calibration."""
        if aside is None:
            return run
        from judgesmith.signatures.plain_data import fingerprint_of

        return fingerprint_of([run, aside.digest, self.confidence, self.within])

    def divided(
        self, dataset: DataSet, targets: Targets, settings: CompileSettings
    ) -> tuple[DataSet, DataSet | None]:
        """Return the rows to compile from, and those that are kept for the calibration."""
        from judgesmith.data.targets import targets_of
        from judgesmith.experiments.compile.calibrating import CALIBRATION_SHARE
        from judgesmith.experiments.compile.split import set_aside
        from judgesmith.optimizers.fitting.cross_validation import FEWEST_ROWS

        if not self.calibrate:
            return dataset, None
        if self.within is not None and not settings.protocol.scores_criteria:
            raise OptionError(
                "--within needs a judge that scores criteria, whose spread tells how unsure it is.",
                option="--within",
                hint="drop it, or choose such a judge.",
            )
        points = targets.scale.high - targets.scale.low
        if self.within is not None and self.within >= points:
            raise OptionError(
                f"scores on {targets.scale} are always within {points:g} points of the human "
                "ratings.",
                option="--within",
                hint=f"give fewer than {points:g}, or drop --within.",
            )
        rest, aside = set_aside(dataset, targets, share=CALIBRATION_SHARE, seed=settings.seed)
        kept = targets_of(aside, targets.name, settings.aggregate).rated
        n_sources = len(set(aside.groups[kept].tolist()))
        if len(kept) < 2 * FEWEST_ROWS or n_sources < 2:
            raise InputError(
                f"a calibration keeps {CALIBRATION_SHARE:.0%} of the sources and needs "
                f"{2 * FEWEST_ROWS} rated rows of several among them; there would be {len(kept)} "
                f"of {n_sources}.",
                hint="give more rated rows, or drop --calibrate.",
            )
        return rest, aside

    def added(
        self, estimate: RunEstimate, aside: DataSet | None, settings: CompileSettings
    ) -> RunEstimate:
        """Return an estimate with the calls that the calibration takes."""
        from judgesmith.experiments.compile.estimate import dearest_calls, prompts_averaged
        from judgesmith.experiments.scoring.estimates import calls_per_text, sizes_of
        from judgesmith.programs.judging.registry import family_of

        if aside is None:
            return estimate
        judge = family_of(settings.protocol.judge).judge_of(settings.protocol)
        sizes = sizes_of(list(aside))
        calls = usual = math.ceil(len(aside) * calls_per_text(judge.protocol, sizes))
        if settings.optimizer == "effects":
            calls = usual = calls * prompts_averaged(settings, judge)
        if settings.optimizer == "protocol":
            calls = math.ceil(len(aside) * dearest_calls(settings, sizes))
        factor = 1 + calls / max(estimate.calls, 1)
        unlisted = estimate.calls_without_probabilities
        more = estimate.max_calls / max(estimate.calls, 1)
        expected, cost = estimate.expected_calls, estimate.cost_usd
        return replace(
            estimate,
            calls=estimate.calls + calls,
            max_calls=estimate.max_calls + math.ceil(calls * more),
            input_tokens=round(estimate.input_tokens * factor),
            output_tokens=round(estimate.output_tokens * factor),
            cost_usd=None if cost is None else cost * factor,
            expected_calls=None if expected is None else expected + usual,
            calls_without_probabilities=None if unlisted is None else math.ceil(unlisted * factor),
        )

    def learned(
        self,
        saved: AnySaved,
        rest: DataSet,
        aside: DataSet,
        settings: CompileSettings,
        *,
        run: str,
        lm: dspy.LM,
        concurrency: int,
        on_progress: OnProgress | None,
    ) -> tuple[AnySaved, list[str]]:
        """Return the judge with its calibration, if it has one, and what to say."""
        from judgesmith.experiments.compile.calibrating import CalibrationError, calibrate_judge

        try:
            found = calibrate_judge(
                saved,
                aside,
                check=rest,
                aggregate=settings.aggregate,
                confidence=self.confidence,
                within=self.within,
                seed=settings.seed,
                lm=lm,
                concurrency=concurrency,
                on_progress=on_progress,
            )
        except CalibrationError as fault:
            whole = bool(saved.settings.get("complete", True)) and fault.complete
            marks = {**saved.settings, "run": run, "complete": whole, NO_CALIBRATION: str(fault)}
            return saved.model_copy(update={"settings": marks}), no_calibration_note(marks)
        return found.marked(run), list(found.notes)
