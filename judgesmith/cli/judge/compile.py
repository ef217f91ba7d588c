"""``judgesmith compile``: from rated data to a judge, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.judge.calibration_options import (
    CalibrationChoice,
    calibration_options,
    no_calibration_note,
)
from judgesmith.cli.judge.compile_options import (
    OF_A_FAMILY,
    earlier_judge,
    judge_options,
    objective_note,
    refuse_search_with_ratings,
    settings_from_options,
)
from judgesmith.cli.judge.compiled import (
    compile_summary,
    print_again,
    print_compile_answer,
    print_compiled,
    print_examples,
    print_nothing,
    print_saved,
)
from judgesmith.cli.shared.command import DataArgument, tool
from judgesmith.cli.shared.data_options import (
    data_options,
    data_words,
    load_data,
)
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import used
from judgesmith.cli.shared.judged import max_unscored_option, unscored_status
from judgesmith.cli.shared.model_options import ModelChoice, model_options
from judgesmith.cli.shared.options import field_options, given_options, judge_output_options
from judgesmith.cli.shared.places import OUTPUT, judge_place, made_before, page_place
from judgesmith.cli.shared.printing import (
    estimate_note,
    full_option,
    print_estimate,
    print_json,
    say_notes,
)
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.cli.shared.role_options import RoleModels, run_models
from judgesmith.experiments.compile.fields import CompileFields
from judgesmith.signatures.config import InferenceSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import dspy

    from judgesmith.data import DataSet
    from judgesmith.experiments import CompileResult, CompileSettings
    from judgesmith.experiments.compile.chosen_targets import ChosenTargets
    from judgesmith.experiments.compile.searching import SearchFiles
    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.optimizers.objectives.base import Objective
    from judgesmith.optimizers.objectives.combining import SeveralObjectives
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel
    from judgesmith.programs.artifacts.test_rows import JudgedRow
    from judgesmith.programs.lm import Usage


@dataclass(frozen=True, kw_only=True)
class CompileRun:
    """What is compiled, from which rows and by which models."""

    dataset: DataSet
    aside: DataSet | None
    settings: CompileSettings
    calibration: CalibrationChoice
    before: SavedJudge | None
    asked: RoleModels
    fingerprint: str

    @property
    def models(self) -> tuple[dspy.LM, ...]:
        """All models, the one that judges first."""
        return (self.asked.lm, *self.asked.others)

    @property
    def usage(self) -> Usage:
        """What went through all models together."""
        return used(*self.models)

    @property
    def adaptations(self) -> list[str]:
        """What models were asked in another way than was said, each once."""
        from judgesmith.programs.lm import lm_client_of

        clients = [client for one in self.models if (client := lm_client_of(one))]
        return list(dict.fromkeys(text for client in clients for text in client.adaptations))

    def estimate(self) -> RunEstimate:
        from judgesmith.experiments.compile.estimate import estimate_run

        estimated = estimate_run(
            self.dataset,
            self.settings,
            self.asked.lm,
            others=self.asked.others,
            known=_known(self.before),
        )
        return self.calibration.added(estimated, self.aside, self.settings)

    def search_files(self, choice: ModelChoice, storage: str | None) -> SearchFiles:
        """Return where a search is kept: beside the ledger, or in the database that is named."""
        from judgesmith.experiments.compile.searching import SearchFiles
        from judgesmith.optimizers.storage import check_storage

        if choice.recorded_run is not None and given_options("storage"):
            raise OptionError(
                "a search that is recorded or replayed is made from its first trial on, and one in "
                "a database may be begun.",
                option="--storage",
                hint="leave --storage out.",
            )
        folder = choice.searches
        # From the environment it may be given to a search that has no use for it.
        shared = self.settings.optimizer == "protocol" and choice.recorded_run is None
        used = storage if shared else None
        if used is not None:
            check_storage(used)
        journal, log = (folder / f"{self.fingerprint}.{kind}" for kind in ("journal", "jsonl"))
        return SearchFiles(storage=used or journal, log=log)

    def compile(self, files: SearchFiles | None, *, concurrency: int, quiet: bool) -> CompileResult:
        """Return the judge and how far it agrees, as ``compile_judge`` does."""
        from judgesmith.experiments import compile_judge

        with stage_progress(quiet=quiet) as progress:
            return compile_judge(
                self.dataset,
                self.settings,
                earlier=self.before,
                lm=self.asked.lm,
                models=self.asked.competing,
                roles=self.asked.roles,
                concurrency=concurrency,
                on_progress=progress,
                files=files,
            )

    def calibrated(
        self, found: SavedJudge | SavedPanel, *, concurrency: int, quiet: bool
    ) -> tuple[AnySaved, list[str]]:
        """Return the judge with its calibration, if there is to be one, and what to say of it."""
        if self.aside is None:
            return found, []
        models = {str(one.model): one for one in self.models}
        with stage_progress(quiet=quiet) as progress:
            return self.calibration.learned(
                found.with_models(models),
                self.dataset,
                self.aside,
                self.settings,
                run=self.fingerprint,
                lm=models.get(found.model, self.asked.lm),
                concurrency=concurrency,
                on_progress=progress,
            )


def _for_labels(
    settings: CompileSettings,
    targets: ChosenTargets,
    before: SavedJudge | None,
    calibration: CalibrationChoice,
) -> tuple[CompileSettings, Objective | SeveralObjectives]:
    """Return the settings that labels take where nothing else is said, and the objective."""
    from judgesmith.experiments.compile.settings import settings_for_labels

    with blaming("--judge"):
        named = before is not None or bool(given_options(*OF_A_FAMILY))
        settings = settings_for_labels(settings, targets.whole, said=named)
    calibration.refuse_for_labels(targets.whole)
    with blaming("--objective"):
        return settings, settings.aims


def prepared_run(
    dataset: DataSet,
    settings: CompileSettings,
    choice: ModelChoice,
    calibration: CalibrationChoice,
    before: SavedJudge | None,
    *,
    data: str,
) -> CompileRun:
    """Return the run; what ``compile_judge`` would refuse is refused here, with its option."""
    from judgesmith.experiments.compile.chosen_targets import chosen_targets
    from judgesmith.experiments.compile.settings import check_role_models, without_equal_ratings
    from judgesmith.experiments.compile.split import parts_of
    from judgesmith.experiments.compile.tuning import (
        check_calls_per_item,
        check_searched,
        endpoints_of,
    )
    from judgesmith.optimizers.space.candidates import check_models

    with blaming("--objective"):
        settings.aims  # noqa: B018 - refused where it cannot be read
    dataset = without_equal_ratings(dataset, settings)
    settings = _for_these(dataset, settings, calibration)
    if not dataset.criteria and not settings.minds_versions:
        raise OptionError(
            f"{dataset.name} has no ratings to agree with; its {len(dataset)} items are unrated.",
            option=data,
            hint="say --map score=COLUMN if a column holds ratings, or --objective d_avg, which "
            "takes none.",
        )
    with blaming("--target" if settings.target else data):
        targets = chosen_targets(dataset, settings)
    settings, objective = _for_labels(settings, targets, before, calibration)
    with blaming(data):
        dataset, aside = calibration.divided(dataset, targets.whole, settings)
        if aside is not None:
            targets = chosen_targets(dataset, settings)
    with blaming("--objective"):
        check_searched(settings)
    with blaming("--calls-per-item"):
        check_calls_per_item(settings, targets.compared)
    with blaming(data):
        parts_of(dataset, targets, settings, _known(before))
    asked = run_models(choice, settings)
    with blaming("--role"):
        check_role_models(settings, asked.roles)
    with blaming("--objective"):
        check_models(asked.lm, asked.competing, objective)
    endpoints = endpoints_of(asked.lm, {**asked.competing, **asked.roles})
    own_run = settings.fingerprint(dataset, choice.model_name or "offline", endpoints)
    run = calibration.run(own_run, aside)
    return CompileRun(
        dataset=dataset,
        aside=aside,
        settings=settings,
        calibration=calibration,
        before=before,
        asked=run_models(choice, settings, run_id=f"compile {run}"),
        fingerprint=run,
    )


def _for_these(
    dataset: DataSet, settings: CompileSettings, calibration: CalibrationChoice
) -> CompileSettings:
    """Return the settings for such data: without what takes ratings, where there are none."""
    from judgesmith.experiments.compile.settings import is_unlabelled, settings_without_labels
    from judgesmith.experiments.compile.versions import chosen_versions

    if not settings.minds_versions:
        return settings
    with blaming("--criteria" if is_unlabelled(dataset, settings) else "--objective"):
        found = settings_without_labels(dataset, settings)
    if not is_unlabelled(dataset, found):
        refuse_search_with_ratings(settings)
    with blaming("--kinds" if settings.kinds else "--task" if settings.task else "--objective"):
        chosen_versions(dataset, settings.model_copy(update={"holdout_kinds": ()}))
    with blaming("--holdout-kinds"):
        chosen_versions(dataset, settings)
    drawing = given_options("n_rounds", *(["n_demonstrations"] * bool(settings.n_demonstrations)))
    of_effects = given_options("optimizer", "effort", "calls_per_item")
    if settings.optimizer != found.optimizer and (named := of_effects):
        drawing = [*drawing, *named]
    if drawing and is_unlabelled(dataset, found):
        raise OptionError(
            f"{drawing[0]} needs ratings, and {dataset.name} has none.",
            option=drawing[0],
            hint="leave it out, and the protocol is searched, as by --optimizer protocol.",
        )
    if calibration.calibrate and is_unlabelled(dataset, found):
        raise OptionError(
            f"a calibration is learned from ratings, and {dataset.name} has none.",
            option="--calibrate",
            hint="leave --calibrate out.",
        )
    return found


def _known(before: SavedJudge | None) -> frozenset[str]:
    """Return the keys of the rows that an earlier judge was made from."""
    return frozenset() if before is None else before.seen_keys


@tool(
    "compile",
    old_names={"--confidence": "--coverage"},
    expert=(
        *("--criteria-calls", "--explain", "--answer-tokens", "--steps", "--questions"),
        *("--without", "--rounds", "--draws", "--screen", "--vary-samples", "--storage"),
        *("--task", "--kinds", "--holdout-kinds", "--versions", "--coverage", "--within"),
        *(
            "--partial-demos",
            "--rationale-length",
            "--guidelines",
            "--lexical",
            "--inference",
            "--split-rows",
            "--percent-of-max",
        ),
    ),
)
@click.argument("data", cls=DataArgument, nargs=-1, required=True, metavar="DATA…")
@click.option("-o", "--output", required=True, metavar="JUDGE", help="Folder for the judge.")
@data_options
@field_options(CompileFields, "target", "aggregate")
@click.option(
    "--from",
    "earlier",
    metavar="JUDGE",
    help="Earlier judge to start from; what still agrees best is kept.",
)
@click.option(
    "--rubric",
    metavar="FILE",
    help="YAML with the task and the criteria.",
)
@click.option(
    "--criteria",
    type=click.Choice(["inferred", "human", "general"]),
    help="Criteria inferred from the ratings, those that raters used, or general ones "
    "[default: --rubric, else inferred if they agree better than general ones].",
)
@judge_options
@click.option(
    "--without",
    default="",
    metavar="PART,…",
    help="Leave out explanations, task, criteria, mcs, os, search, weights, confirmation (the "
    "significance test against the baseline), rationales or guidelines (raters' words).",
)
@field_options(
    CompileFields,
    *(
        "optimizer",
        "effort",
        "calls_per_item",
        "objective",
        "cost",
        "abstain",
        "roles",
        "n_demonstrations",
        "n_rounds",
        "n_trials",
        "screen",
    ),
    "n_draws",
)
@click.option(
    "--vary-samples",
    is_flag=True,
    help="Also try 3 and 5 answers per prompt in a protocol search, at as many calls.",
)
@field_options(CompileFields, "models")
@click.option(
    "--storage",
    metavar="URL",
    envvar="JUDGESMITH_STORAGE",
    help="Database for the study of a protocol search, so that several processes share the work. "
    "Set JUDGESMITH_STORAGE instead to hide its password [default: a journal beside the ledger].",
)
@field_options(CompileFields, "task", "kinds", "holdout_kinds", "versions")
@calibration_options
@field_options(CompileFields, "partial_demos", "rationale_length", "guidelines", "lexical")
@field_options(InferenceSettings, "inference")
@field_options(CompileFields, "holdout", "split_rows", "percent_of_max", "seed")
@max_unscored_option
@full_option
@click.option("--no-texts", is_flag=True, help="Don't store texts in the saved judge.")
@click.option("--html", metavar="CARD.html", help="Also write the judge's card as a page.")
@model_options
@judge_output_options
def command(
    data: tuple[str, ...],
    output: str,
    earlier: str | None,
    storage: str | None,
    calibrate: bool,
    confidence: float,
    within: float | None,
    max_unscored: float,
    html: str | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> int:
    """Tune a judge to the ratings in DATA and save it in a folder.

    Run the same command again to resume: cached answers are not requested again. If the budget
    ends early, the best judge so far is saved and marked as incomplete. DATA is one file or
    several, such as earlier ratings and sheets from 'judgesmith label suggest'.
    """
    from judgesmith.experiments.compile.notes import NothingScoredError
    from judgesmith.programs.artifacts.test_rows import read_rows

    folder = judge_place(output)
    page = page_place(html, *data, like="card.html", force=force, option="--html") if html else None
    before = earlier_judge(earlier) if earlier else None
    rest["roles"] = choice.roles
    settings = settings_from_options(before, first=choice.model_name or "offline", **rest)
    calibration = CalibrationChoice(calibrate=calibrate, confidence=confidence, within=within)
    calibration.refuse_for(settings)
    dataset = load_data(*data)
    run = prepared_run(dataset, settings, choice, calibration, before, data=data[0])
    settings = run.settings
    with blaming(OUTPUT):
        made = made_before(folder, run.fingerprint, force=force)
    files = None
    if settings.search.resumes:
        with blaming("--storage", given=storage is not None):
            files = run.search_files(choice, storage)
    with blaming(data[0]):
        estimate = run.estimate() if dry_run or settings.search.cost else None
    if dry_run:
        assert estimate is not None
        print_estimate(estimate, as_json=as_json, searched=settings.optimizer == "protocol")
        return 0
    if made is not None and made.settings.get("complete") and _is_scored(made, max_unscored):
        _write_card(page, made, read_rows(folder))
        print_again(made, folder, as_json=as_json)
        return 0
    run.asked.check_keys(choice)
    with blaming(data[0]):
        try:
            found = run.compile(files, concurrency=choice.concurrency, quiet=as_json)
        except NothingScoredError as fault:
            if not fault.spent:
                raise
            print_nothing(fault, run.dataset, run.usage, as_json=as_json)
            return 0
    saved, told = run.calibrated(found.saved, concurrency=choice.concurrency, quiet=as_json)
    rows = found.rows_of(saved)
    with blaming(OUTPUT):
        saved.save(folder, overwrite=True, rows=rows)
    _write_card(page, saved, rows)
    usage = run.usage
    missing = no_calibration_note(saved.settings)
    notes = [*missing, *run.dataset.notes, *found.notes, *objective_note(settings)]
    notes += [*(() if missing else told), *estimate_note(estimate, usage), *run.adaptations]
    if as_json:
        print_json({**compile_summary(saved, folder, usage), "notes": notes})
    else:
        headline = "" if found.verdicts is None else found.verdicts.headline
        notes = [one for one in notes if one != headline]
        print_compile_answer(found, run.dataset, folder, data_words(data))
        print_compiled(found, usage)
    say_notes(notes, as_json=as_json)
    if not as_json:
        print_examples(found, saved)
        print_saved(saved, folder, choice.asked_again(saved.models), data_words(data, rated=False))
    return unscored_status(found.unscored.n_rows, found.unscored.causes, max_unscored)


def _write_card(page: Path | None, saved: AnySaved, rows: Sequence[JudgedRow]) -> None:
    if page is not None:
        from judgesmith.drafts import put_text
        from judgesmith.experiments.evaluate.card import card_page

        put_text(page, card_page(saved, rows))


def _is_scored(made: AnySaved, most: float) -> bool:
    """Say whether so few rows of a compiled judge have no score that it need not be made again."""
    rows = made.rows
    return rows["unscored"] <= most * (rows["select"] + rows["heldout"])
