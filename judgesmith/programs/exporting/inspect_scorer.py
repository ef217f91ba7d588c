"""A judge as a scorer of Inspect AI, and as a package that holds one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.exporting.export import Form, Row, about_lines, golden_items
from judgesmith.programs.exporting.mlflow_loading import (
    DEFAULTS,
    JudgeModel,
    check_settings,
    models_of,
)
from judgesmith.programs.exporting.mlflow_scorer import needed
from judgesmith.programs.extras import library
from judgesmith.programs.judging.runner import judges_sources

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


SETTINGS = tuple(name for name in DEFAULTS if name not in ("price", "concurrency"))
"""What can be said of the model: one for all, or those that the judge may ask, and ceilings."""

ONE_BY_ONE = "it compares the responses to a source, and a scorer is told of one at a time"

Scoring = Callable[[Any, Any], Awaitable[Any]]


_TOLD = ("label", "probability", "criteria", "errors", "problem")  # in the metadata of a score


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
        raise InputError(
            f"this judge cannot be a scorer: {ONE_BY_ONE}.", hint="choose another judge."
        )
    model = JudgeModel(saved, lms or models_of(saved, **settings), concurrency=1)

    async def score(state: Any, target: Any) -> Any:
        # Inspect runs on asyncio or trio; the judge has an event loop of its own in a thread.
        threads = library("anyio.to_thread", extra="inspect")
        return scored(await threads.run_sync(model.rows, [_row(state, target)]))

    def scored(rows: list[dict[str, Any]]) -> Any:
        kind = library("inspect_ai.scorer", extra="inspect").Score
        (row,) = rows
        told = {"judge": saved.fingerprint, "target": saved.target, "scale": str(saved.scale)}
        told |= {name: row[name] for name in _TOLD if row.get(name)}
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


JUDGE = "judge"  # where the judge is in the folder, as ``compile`` writes one
INSPECT = "inspect-ai>=0.3.250,<0.4"

_MODULE = '''"""A judge as a scorer of Inspect AI.

@@ABOUT@@
"""

from pathlib import Path

from inspect_ai.scorer import Scorer, mean, scorer, stderr

from judgesmith.programs.exporting.inspect_scorer import inspect_scoring

__all__ = ["judge_scorer"]


@scorer(metrics=[mean(), stderr()])
def judge_scorer(
    source: str | None = None,
    context: str = "context",
    model: str | None = None,
    allow_models: str | list[str] | None = None,
    api_base: str | None = None,
    ledger: str | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    max_minutes: float | None = None,
) -> Scorer:
    """Score responses by the judge in this folder.

    ``source`` names what of the sample's metadata is answered, without it the sample's input;
    ``context`` what of the metadata is further material. ``model`` answers instead of the models
    that the judge was compiled with; ``allow_models`` names those of them that it may ask. Keys
    come from the environment. The others are ceilings, and ``ledger`` a file that keeps answers,
    so that none is paid for twice.
    """
    return inspect_scoring(
        Path(__file__).parent / "@@JUDGE@@",
        source=source,
        context=context,
@@SETTINGS@@
    )
'''


class InspectPackage(Form):
    """A package with ``judge_scorer``."""

    says: ClassVar[str] = "a package with a scorer of Inspect AI"
    folder: ClassVar[bool] = True

    def check(self, saved: AnySaved) -> str | None:
        return ONE_BY_ONE if judges_sources(saved) else None

    def write(self, saved: AnySaved, place: Path) -> None:
        saved.save(place / JUDGE)
        settings = "\n".join(f"        {name}={name}," for name in SETTINGS)
        # Names from outside may hold what ends a docstring.
        told = "\n".join(about_lines(saved)).replace("\\", "/").replace('"', "'")
        text = _MODULE.replace("@@JUDGE@@", JUDGE).replace("@@SETTINGS@@", settings)
        write_synced(place / "__init__.py", text.replace("@@ABOUT@@", told))
        libraries = [INSPECT, *needed(saved)[1:]]
        write_synced(place / "requirements.txt", "".join(f"{one}\n" for one in libraries))
        write_synced(place / "README.md", "\n".join(_readme(saved)) + "\n")

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        model = JudgeModel(load_saved(place / JUDGE), lms, concurrency=1)
        return list(model.rows([one.model_dump() for one in golden_items(saved)]))


def _readme(saved: AnySaved) -> Iterator[str]:
    yield "# A judge as a scorer of Inspect AI"
    yield ""
    yield from about_lines(saved)
    yield ""
    yield "With `inspect-ai` and `judgesmith` installed (`pip install -r requirements.txt`), where"
    yield "this folder is called `my_judge`:"
    yield ""
    yield "    from my_judge import judge_scorer"
    yield "    Task(dataset=..., solver=generate(), scorer=judge_scorer(allow_models=[...]))"
    yield ""
    yield "    inspect score LOG.eval --scorer my_judge/__init__.py@judge_scorer"
    yield ""
    yield "A sample's input is the source and the model's completion the response. One that could"
    yield "not be judged is unscored, with the reason; it is left out of means, and never 0."
