"""A judge as a scorer of Inspect AI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.exporting.mlflow_loading import JudgeModel, check_settings, models_of
from judgesmith.programs.extras import library
from judgesmith.programs.judging.runner import judges_sources

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

SETTINGS = (
    "model",
    "allow_models",
    "api_base",
    "ledger",
    "max_calls",
    "max_tokens",
    "max_usd",
    "max_minutes",
)
"""What can be said of the model: one for all, or those that the judge may ask, and ceilings."""

ONE_BY_ONE = "it compares the responses to a source, and a scorer is told of one at a time"

Scoring = Callable[[Any, Any], Awaitable[Any]]


def inspect_scorer(
    judge: str | Path | AnySaved,
    *,
    source: str | None = None,
    context: str = "context",
    lms: Mapping[str, dspy.LM] | None = None,
    **settings: Any,
) -> Any:
    """Return a judge as a scorer for ``inspect_ai.Task(scorer=…)``.

    Parameters
    ----------
    judge, source, context, lms, **settings
        As for ``inspect_scoring``.

    Returns
    -------
    inspect_ai.scorer.Scorer
        With the metrics mean and standard error, which leave out what has no score.

    Raises
    ------
    ImportError
        If Inspect AI is not installed.
    ValueError, SavedJudgeError
        As ``inspect_scoring`` does.
    """
    scoring = library("inspect_ai.scorer", extra="inspect")
    found = inspect_scoring(judge, source=source, context=context, lms=lms, **settings)

    @scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name="judgesmith")  # type: ignore[untyped-decorator,unused-ignore]
    def judgesmith() -> Any:
        return found

    return judgesmith()


def inspect_scoring(
    judge: str | Path | AnySaved,
    *,
    source: str | None = None,
    context: str = "context",
    lms: Mapping[str, dspy.LM] | None = None,
    **settings: Any,
) -> Scoring:
    """Return what a scorer of Inspect AI does: the ``Score`` of a state and its target."""
    check_settings(settings, SETTINGS)
    saved = load_saved(judge) if isinstance(judge, str | Path) else judge
    if judges_sources(saved):
        raise InputError(f"this judge cannot be a scorer: {ONE_BY_ONE}; choose another judge.")
    model = JudgeModel(saved, lms or models_of(saved, **settings), concurrency=1)

    async def score(state: Any, target: Any) -> Any:
        # Inspect runs on asyncio or trio; the judge has an event loop of its own in a thread.
        threads = library("anyio.to_thread", extra="inspect")
        return scored(await threads.run_sync(model.rows, [_row(state, target)]))

    def scored(rows: list[dict[str, Any]]) -> Any:
        kind = library("inspect_ai.scorer", extra="inspect").Score
        (row,) = rows
        told = {"judge": saved.fingerprint, "target": saved.target, "scale": str(saved.scale)}
        told |= {name: row[name] for name in ("criteria", "errors", "problem") if row.get(name)}
        words = row["explanation"] or None
        if row["score"] is None:
            why = f"{words}\n\n{row['problem']}" if words else row["problem"]
            return kind.unscored(reason="grader_failed", explanation=why, metadata=told)
        return kind(value=row["score"], explanation=words, metadata=told)

    def _row(state: Any, target: Any) -> dict[str, Any]:
        about = state.metadata or {}
        if source is not None and source not in about:
            known = ", ".join(map(str, about))[:200] or "nothing"
            raise InputError(f"expected {source!r} in the sample's metadata; it has {known}.")
        return {
            "source": state.input_text if source is None else str(about[source]),
            "context": None if about.get(context) is None else str(about[context]),
            "response": None if state.output.empty else state.output.completion,
            "references": [one for one in target if one],
        }

    return score
