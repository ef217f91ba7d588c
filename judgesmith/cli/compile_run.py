"""A run of ``compile`` that is about to be made: its rows, its models and its fingerprint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.cli.compile_refusals import refuse_search_with_ratings
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.options import given_options
from judgesmith.cli.progress import stage_progress
from judgesmith.cli.role_options import RunModels, run_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dspy

    from judgesmith.cli.calibration_options import CalibrationChoice
    from judgesmith.cli.model_options import ModelChoice
    from judgesmith.data import DataSet
    from judgesmith.experiments import Compiled, CompileSettings
    from judgesmith.experiments.compile.estimate import RunEstimate
    from judgesmith.experiments.compile.searching import SearchFiles
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import Usage


@dataclass(frozen=True, kw_only=True)
class CompileRun:
    """What is compiled, from which rows and by which models.

    Attributes
    ----------
    dataset : DataSet
        The rows to compile from.
    aside : DataSet or None
        Those that are kept for a calibration.
    settings : CompileSettings
        What is decided about the judge and the search.
    calibration : CalibrationChoice
        What comes on top of the judge.
    before : SavedJudge or None
        The earlier judge that it starts from.
    asked : RunModels
        All models, under one budget.
    fingerprint : str
        What tells this run from others.
    """

    dataset: DataSet
    aside: DataSet | None
    settings: CompileSettings
    calibration: CalibrationChoice
    before: SavedJudge | None
    asked: RunModels
    fingerprint: str

    @property
    def models(self) -> tuple[dspy.LM, ...]:
        """All models, the one that judges first."""
        return (self.asked.lm, *self.asked.others)

    @property
    def usage(self) -> Usage:
        """What went through all models together."""
        from judgesmith.programs.judging.rows import usage_of

        usage = usage_of(*self.models)
        assert usage is not None
        return usage

    @property
    def adaptations(self) -> list[str]:
        """What models were asked in another way than was said, each once."""
        from judgesmith.programs.lm import lm_client_of

        clients = [client for one in self.models if (client := lm_client_of(one))]
        return list(dict.fromkeys(text for client in clients for text in client.adaptations))

    def estimate(self) -> RunEstimate:
        """Return what the run would ask and cost."""
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

        if choice.taping is not None and given_options("storage"):
            raise OptionError(
                "a search that is recorded or replayed is made from its first trial on, and one in "
                "a database may be begun.",
                option="--storage",
                hint="leave --storage out.",
            )
        folder = choice.searches
        # From the environment it may be given to a search that has no use for it.
        shared = self.settings.optimizer == "protocol" and choice.taping is None
        used = storage if shared else None
        if used is not None:
            check_storage(used)
        journal, log = (folder / f"{self.fingerprint}.{kind}" for kind in ("journal", "jsonl"))
        return SearchFiles(storage=used or journal, log=log)

    def compile(self, files: SearchFiles | None, *, concurrency: int, quiet: bool) -> Compiled:
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
                progress=progress,
                files=files,
            )

    def calibrated(
        self, found: SavedJudge, *, concurrency: int, quiet: bool
    ) -> tuple[AnySaved, list[str]]:
        """Return the judge with its calibration, if there is to be one, and what to say of it."""
        if self.aside is None:
            return found, []
        with stage_progress(quiet=quiet) as progress:
            return self.calibration.learned(
                found.with_models({str(one.model): one for one in self.models}),
                self.dataset,
                self.aside,
                self.settings,
                run=self.fingerprint,
                lm=_of_name(found.model, self.models),
                concurrency=concurrency,
                progress=progress,
            )


def prepared_run(
    dataset: DataSet,
    settings: CompileSettings,
    choice: ModelChoice,
    calibration: CalibrationChoice,
    before: SavedJudge | None,
    *,
    data: str,
) -> CompileRun:
    """Return the run that all of this makes, once it is sure that it can be made.

    ``data`` is what the rated items are called on the command line. No model is asked.
    """
    from judgesmith.experiments.compile.chosen_targets import chosen_targets
    from judgesmith.experiments.compile.settings import check_role_models, without_equal_ratings
    from judgesmith.experiments.compile.split import parts_of
    from judgesmith.experiments.compile.tuning import check_searched, endpoints_of
    from judgesmith.optimizers.space.candidates import check_models

    with blaming("--objective"):
        objective = settings.aims
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
    with blaming(data):
        dataset, aside = calibration.divided(dataset, targets.whole, settings)
        targets = chosen_targets(dataset, settings)
    with blaming("--objective"):
        check_searched(settings)
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
    if settings.optimizer == "random" != found.optimizer:
        drawing = [*drawing, *given_options("optimizer")]
    if drawing and is_unlabelled(dataset, found):
        raise OptionError(
            f"{drawing[0]} is about examples to show, which takes ratings, and {dataset.name} has "
            "none.",
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


def _of_name(name: str, models: Sequence[dspy.LM]) -> dspy.LM:
    """Return the model of that name: the first, or one of those that competed with it."""
    return next((one for one in models if str(one.model) == name), models[0])
