"""What ``judgesmith compile`` prints: an estimate, a judge, its agreement and its discernment."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.cli.judge.calibration_options import NO_CALIBRATION, no_calibration_note
from judgesmith.cli.shared.agreement import (
    NO_DIFFERENCE,
    basis_text,
    estimate_text,
    headline_estimate,
    interval_text,
    print_agreement,
    print_criteria,
)
from judgesmith.cli.shared.printing import (
    answer,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
    spent_on,
    usage_text,
    wants_full,
)
from judgesmith.cli.shared.verdicts import Tone, agreement_verdict, print_verdict
from judgesmith.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judgesmith.data import DataSet
    from judgesmith.experiments import CompileResult
    from judgesmith.experiments.compile.notes import NothingScoredError, ObjectiveReport
    from judgesmith.experiments.compile.versions import (
        DetectionComparison,
        DiscernmentReport,
        Noticed,
    )
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.families.ensemble.members import CalibratedJudgement
    from judgesmith.programs.lm import Usage
    from judgesmith.signatures import Judgement, RatedItem
    from judgesmith.signatures.config import JudgeConfig


def print_discernment(found: DiscernmentReport, *, before: str, after: str = "compiled") -> None:
    """Print a discernment report: over all kinds of change, then of each."""
    if found.seen is None:
        rows = [[name, estimate_text(one)] for name, one in found.selection.estimates.items()]
        print_table("Sensitivity to damage on validation rows", rows, header=["", "validation"])
        print_table("By perturbation", list(_kind_rows(found.selection)), header=_HEADER)
        return
    rows = [*_gain_rows(found.seen)]
    if found.unseen is not None:
        rows = [
            ["perturbations used in validation"],
            *rows,
            ["unseen perturbations"],
            *_gain_rows(found.unseen),
        ]
    print_table(
        "Sensitivity to damage on test rows",
        rows,
        header=["", before, after, "gain"],
    )
    kinds = [*_kind_rows(found.seen.heldout)]
    if found.unseen is not None:
        kinds += _kind_rows(found.unseen.heldout)
    print_table(f"By perturbation, {after}", kinds, header=_HEADER)


_HEADER = ("kind", "pairs", "D")


def _gain_rows(found: DetectionComparison) -> Iterator[list[str]]:
    for name, before in found.uncompiled.estimates.items():
        after, gain = found.heldout.estimates[name], found.gain[name]
        yield [
            f"  {name}",
            estimate_text(before),
            estimate_text(after),
            estimate_text(gain, signed=True),
        ]


def _kind_rows(found: Noticed) -> Iterator[list[str]]:
    for name, one in found.kinds.items():
        yield [name, str(found.n_pairs[name]), estimate_text(one)]


def compile_summary(saved: AnySaved, folder: Path, usage: Usage | None) -> dict[str, Any]:
    """Return what ``--json`` prints of a judge; why it has no calibration where it lacks one."""
    missing = NO_CALIBRATION in saved.settings
    return {
        "judge": str(folder),
        "target": saved.target,
        "calls": usage.calls if usage else 0,
        "cost_usd": usage.cost_usd if usage else 0.0,
        "rows": _rows(saved.rows),
        **saved.agreement.plain,
        **(
            {"calibration": None, NO_CALIBRATION: saved.settings[NO_CALIBRATION]} if missing else {}
        ),
    }


def _rows(counts: Mapping[str, int]) -> dict[str, int]:
    kept = ("calibrate",) if "calibrate" in counts else ()
    return {name: counts[name] for name in ("train", "select", "heldout", "unscored", *kept)}


def print_again(saved: AnySaved, folder: Path, *, as_json: bool) -> None:
    """Print the result that this very run had before."""
    if as_json:
        notes = no_calibration_note(saved.settings)
        print_json({**compile_summary(saved, folder, None), "notes": list(notes)})
        return
    from judgesmith.programs.artifacts.card import judge_card

    say(f"Up to date: {folder} contains the result of this run; no model calls made.\n")
    say_notes(no_calibration_note(saved.settings), as_json=as_json)
    say(judge_card(saved))


def print_nothing(
    fault: NothingScoredError, dataset: DataSet, usage: Usage, *, as_json: bool
) -> None:
    """Say that the budget ended before there was anything to report."""
    notes = [
        *dataset.notes,
        f"{str(fault).rstrip('.')}.",
        "nothing was saved; rerun with a larger budget to resume.",
    ]
    if as_json:
        parts = ("uncompiled", "selection", "heldout", "gain", "optimism", "objective", "criteria")
        print_json(
            {
                "judge": None,
                "target": fault.target,
                **spent_on(usage),
                "rows": _rows(fault.rows),
                **dict.fromkeys(parts),
                "notes": notes,
            }
        )
    say_notes(notes, as_json=as_json)
    if not as_json:
        say(usage_text(usage))


def report(found: CompileResult) -> None:
    """Print a compiled judge as the command does, without commands that follow from it."""
    _print_answer(found)
    print_compiled(found)
    say_notes(found.notes, as_json=False)


def print_compile_answer(found: CompileResult, dataset: DataSet, folder: Path, data: str) -> None:
    """Print how well the judge agrees on the test rows, and what follows from that."""
    if found.selection is None:
        return
    import numpy as np

    from judgesmith.experiments.evaluate.describing import rater_correlation

    place = shlex.quote(str(folder))
    _print_answer(
        found,
        raters=rater_correlation(dataset, found.saved.target, seed=np.random.default_rng(0)),
        label=f"judgesmith label suggest {place} UNRATED {data} -o rate.csv -n {{n}}",
        check=f"judgesmith check {data}",
    )


def _print_answer(found: CompileResult, **more: Any) -> None:
    if found.selection is None:
        return
    if found.verdicts is not None:
        better = found.verdicts.gain.low > 0
        tone: Tone = "bad" if found.verdicts.is_useless else "good" if better else "open"
        answer(found.verdicts.headline, tone=tone)
        say()
        return
    from judgesmith.programs.judging.runner import judges_sources

    estimate, within = headline_estimate(found.heldout, ranks=judges_sources(found.judge))
    gain = None
    if found.gain is not None:
        gain = found.gain["sample" if within else "dataset"]["pearson"]
    verdict = agreement_verdict(estimate, gain=gain, within=within, **more)
    if not found.complete:
        verdict = replace(verdict, text=f"The budget ended before the run did. {verdict.text}")
    print_verdict(verdict)
    say()


def print_compiled(found: CompileResult, usage: Usage | None = None) -> None:
    """Print a compiled judge: its rows, its agreement, and what it is made of."""
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import SavedPanel
    from judgesmith.programs.judging.executors import calls_per_item

    saved = found.saved
    rows = saved.rows
    earlier = saved.settings.get("earlier")
    several = saved.settings.get("compared") != ["score"]
    about = f"{saved.target} on {saved.human_scale}" if found.selection else "unrated"
    say(
        f"{found.data}: {about}; {rows['train']} few-shot, {rows['select']} validation, "
        f"{rows['heldout']} test rows; {rows['unrated']} unrated, {rows['unscored']} unscored"
    )
    if found.selection is None:
        _print_objectives(found)
    elif found.heldout is not None:
        before = {"earlier" if earlier else "uncompiled": found.uncompiled}
        same = saved.settings.get("optimizer") == "none" and _no_gain(found)
        print_agreement(
            f"Agreement on test rows: {basis_text(found.heldout)}",
            {"baseline": found.heldout} if same else {**before, "compiled": found.heldout},
            gain=None if same else found.gain,
        )
        for title, name in (("uncompiled", "uncompiled"), ("compiled", "heldout")):
            shown = wants_full() or name == "heldout"
            if name in found.by_criterion and shown and (several or name == "heldout"):
                print_criteria(f"By criterion, {title}", found.by_criterion[name])
        _print_objectives(found)
        _print_trade_off(found)
    else:
        print_agreement(
            f"Agreement on validation rows: {basis_text(found.selection)}",
            {"validation": found.selection},
        )
        if found.discernment is not None:
            print_discernment(found.discernment, before="uncompiled")
        say()
    members = saved.members if isinstance(saved, SavedPanel) else {"": saved}
    if isinstance(saved, SavedPanel):
        say(f"\nmean of {len(members)} prompts, {calls_per_item(saved)} calls per item")
    for name, one in members.items():
        assert isinstance(one, SavedJudge)  # as search finds no others
        _print_protocol(one.protocol, of=f", {name}" if name else "")
    say(f"model: {saved.model}{f'; {usage_text(usage)}' if usage else ''}")


def _print_trade_off(found: CompileResult) -> None:
    """Print what other thresholds would pass and stop of the validation rows."""
    if found.verdicts is None or not found.verdicts.trade_off:
        return
    rows = [[f"{one:.3f}" for one in several] for several in found.verdicts.trade_off]
    header = ["threshold", "TNR", "TPR"]
    print_table("Other thresholds, on the rows learned from", rows, header=header)


def _print_protocol(protocol: JudgeConfig, *, of: str) -> None:
    """Print what a judge's score is made of; ``of`` says which prompt it is, if it is one."""
    from judgesmith.programs.artifacts.card import label_text, score_text

    say_under(f"score{of}", score_text(protocol))
    if label := label_text(protocol):
        say_under(f"label{of}", label)
    shows = protocol.tells_rubric
    say_under(f"criteria{of}", ", ".join(protocol.rubric.names) if shows else "none shown")
    say(f"demonstrations{of}: {_shown_text(protocol)}")


def _no_gain(found: CompileResult) -> bool:
    """Say whether no figure on the rows held out is another than before."""
    values = [one.value for row in (found.gain or {}).values() for one in row.values()]
    return not any(abs(value) > NO_DIFFERENCE for value in values)


def _shown_text(protocol: JudgeConfig) -> str:
    """Return how many examples each question shows."""
    some = "" if protocol.nearest is None else f"the {protocol.nearest} nearest of "
    counts = {name: len(many) for name, many in protocol.demonstrations.items()}
    return ", ".join(f"{some}{n} in {name}" for name, n in counts.items()) or "none"


def _print_objectives(found: CompileResult) -> None:
    """Print the judge's discernment, if it is measured, and its validation results."""
    if found.discernment is not None:
        earlier = found.saved.settings.get("earlier")
        print_discernment(found.discernment, before="earlier" if earlier else "uncompiled")
    for one in found.objectives or (found.objective,):
        _print_objective(one)


def _print_objective(found: ObjectiveReport) -> None:
    """Print the validation results and their optimism."""
    names = [{"q": "Q"}.get(found.name, found.name)]
    if len(found.targets) > 1:
        names.append(f"mean over {', '.join(found.targets)}")
        estimates = {"uncompiled": found.uncompiled, "compiled": found.heldout, "gain": found.gain}
        cells = [(name, estimate_text(one)) for name, one in estimates.items() if one is not None]
        print_table(f"Objective ({', '.join(names)}) on test rows", cells)
    if found.optimism == found.optimism:
        # Dollars per item are far below one, and 0.000 would say nothing.
        digits = ".3g" if "usd" in found.name else ".3f"
        test = found.selection.value - found.optimism
        say(
            f"\nValidation {', '.join(names)}: {found.selection.value:{digits}} on the rows that "
            f"the judge was selected by (test: {test:{digits}})"
        )
    elif found.heldout is not None and found.grows:
        say(
            f"\nTest {', '.join(names)}: {estimate_text(found.heldout)} (validation: "
            f"{found.selection.value:.3f}). Sensitivity grows with the number of rows: compare "
            "judges on the same rows."
        )


def print_saved(saved: AnySaved, folder: Path, asked: str, inputs: str = "INPUT.jsonl") -> None:
    """Print where a judge is, and the command that scores with it."""
    say(f"\nSaved in {folder} (fingerprint {saved.fingerprint}). Score responses with it:")
    say(f"  judgesmith score {shlex.quote(str(folder))} {inputs} -o SCORES.jsonl{asked}")


def print_examples(found: CompileResult, saved: AnySaved) -> None:
    """Print two judgements of texts that were held out, as the judge that is saved gives them."""
    from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated
    from judgesmith.programs.families.ensemble.members import calibrated

    if not found.examples:
        return
    calibration = saved.calibration if isinstance(saved, SavedCalibrated) else None
    say("\nTwo judgements on test rows:")
    for item, human, judgement in found.examples:
        scale, people = saved.scale, found.saved.human_scale
        given = f"{judgement.score:.1f}"
        if people.is_verdict and judgement.label is not None:
            said = f" (raters: {people.labels[int(human)]})"
            say(f"\n  {judgement.label}, {judgement.score:.2f} on {scale}{said}")
            _print_response(item, judgement)
            continue
        if calibration is not None:
            given = _calibrated_text(calibrated(judgement, calibration))
        said = "" if human != human else f" (raters: {human:.1f} on {people})"
        say(f"\n  {given} on {scale}{said}")
        _print_response(item, judgement)


def _print_response(item: RatedItem, judgement: Judgement) -> None:
    say_under("response", shortened(item.response), indent=2)
    if judgement.explanation:
        say_under("because", shortened(judgement.explanation, 400), indent=2)


def _calibrated_text(judgement: CalibratedJudgement) -> str:
    """Return a score on the scale of people with its interval, or that people are to give one."""
    low, high = judgement.low, judgement.high
    assert low is not None
    assert high is not None
    between = interval_text(low, high)
    if judgement.score is None:
        return f"abstains, {between}"
    return f"{judgement.score:.1f} {between}"
