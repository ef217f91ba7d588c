"""A judge as a package with a scorer of Inspect AI, to be imported or named on its command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.exporting.about import about_lines
from judgesmith.programs.exporting.form import Form, Row
from judgesmith.programs.exporting.inspect_scorer import ONE_BY_ONE, SETTINGS
from judgesmith.programs.exporting.mlflow_loading import JudgeModel
from judgesmith.programs.exporting.mlflow_model import needed
from judgesmith.programs.exporting.verifying import golden_items
from judgesmith.programs.judging.runner import judges_sources

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

JUDGE = "judge"
"""Where the judge is in the folder, as ``compile`` writes one."""

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
        """Return why a judge is no scorer: only those that compare responses are none."""
        return ONE_BY_ONE if judges_sources(saved) else None

    def write(self, saved: AnySaved, place: Path) -> None:
        """Write the module, what it needs to be installed, and the judge itself."""
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
        """Return what the judge in the folder says of the golden items, as the scorer asks it."""
        model = JudgeModel(load_saved(place / JUDGE), lms, concurrency=1)
        items: list[dict[str, Any]] = [
            {
                "response": one.response,
                "source": one.source,
                "context": one.context,
                "references": list(one.references),
            }
            for one in golden_items(saved)
        ]
        return list(model.rows(items))


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
