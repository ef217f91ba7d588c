"""The home page: the state of a project in one look, and what to do next."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from judgesmith.metrics import krippendorff_alpha
from judgesmith.programs.artifacts.record import SavedEstimate, SavedRecord, estimate_in
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.results.charts import NumberWithEnds, forest
from judgesmith.studio.pages import Studio, person_of
from judgesmith.studio.project import Project, values_by_key
from judgesmith.studio.review import largest_gaps
from judgesmith.studio.store import ADJUDICATED

ENOUGH = 40  # labelled rows that a first judge is made from
_OF_EACH = 10  # rows of each label that it needs


@dataclass(frozen=True, kw_only=True)
class JudgeLine:
    """What a list of judges shows of one."""

    number: int
    measure: str = ""
    estimate: SavedEstimate | None = None
    model: str = ""
    rubric: int = 0
    cost_usd: float | None = None
    fault: str = ""


def headline(saved: SavedRecord) -> tuple[str, SavedEstimate | None]:
    """Return the measure that says most of a judge, and its value on test rows."""
    verdicts = saved.agreement.verdicts
    if verdicts is not None and "balanced_accuracy" in verdicts.heldout:
        return "balanced accuracy", verdicts.heldout["balanced_accuracy"]
    for level in ("dataset", "sample", "system"):
        found = estimate_in(saved.agreement.heldout, level, "pearson")
        if found is not None:
            return f"Pearson, {level}", found
    return "agreement", None


def judge_lines(project: Project) -> Iterator[JudgeLine]:
    """Yield the judges of a project, the newest first; one that cannot be read with why."""
    for number in reversed(project.judges):
        about = job_facts(project, number)
        try:
            saved = load_saved(project.judge_folder(number))
        except (ValueError, OSError) as fault:
            yield JudgeLine(number=number, fault=str(fault))
            continue
        measure, estimate = headline(saved)
        yield JudgeLine(
            number=number,
            measure=measure,
            estimate=estimate,
            model=", ".join(saved.models),
            rubric=int(about.get("rubric", 0)),
            cost_usd=about.get("cost_usd"),
        )


def job_facts(project: Project, number: int) -> dict[str, Any]:
    """Return what was noted of the run that made a judge; empty of one that was made elsewhere."""
    try:
        text = (project.run_folder(number) / "job.json").read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def forest_of(lines: list[JudgeLine]) -> Markup | None:
    """Return a forest plot of judges that have an estimate."""
    found = {
        f"v{one.number}": NumberWithEnds.of(given.value, given.low, given.high)
        for one in lines
        if (given := one.estimate) is not None
    }
    found = {name: one for name, one in found.items() if math.isfinite(one.value)}
    if not found:
        return None
    label = next(one.measure for one in lines if one.estimate is not None)
    return forest(found, title=f"Judges by {label} on test rows", x_label=label).figure("judges")


def rater_agreement(project: Project) -> dict[str, Any]:
    """Return how often two raters of a row give the same value, and Krippendorff's alpha."""
    same = pairs = 0
    table: list[list[float]] = []
    nominal = True
    for (_, criterion), given in values_by_key(project.store.ratings()).items():
        scale = project.criteria.get(criterion)
        raters = [one for one in given if one.rater != ADJUDICATED]
        if scale is None or len(raters) < 2:
            continue
        nominal = nominal and bool(scale.labels) and (not scale.ordered or len(scale.labels) == 2)
        for first, second in combinations(raters, 2):
            pairs += 1
            same += first.value == second.value
        try:
            table.append([scale.read(one.value) for one in raters])
        except ValueError:
            continue
    width = max(map(len, table), default=0)
    filled = [row + [math.nan] * (width - len(row)) for row in table]
    alpha = (
        krippendorff_alpha(filled, measurement="nominal" if nominal else "ordinal")
        if filled
        else math.nan
    )
    return {"same": same, "pairs": pairs, "alpha": None if math.isnan(alpha) else alpha}


def state_of(project: Project, raters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many rows are labelled and how many wait."""
    store = project.store
    labelled = store.query(
        "SELECT COUNT(DISTINCT key) FROM ratings WHERE state = 'value' AND key IN "
        "(SELECT key FROM data.items)"
    )[0][0]
    rated = store.query("SELECT COUNT(*) FROM data.items WHERE rated")[0][0]
    queued = "SELECT COUNT(*) FROM queue WHERE key NOT IN (SELECT key FROM ratings)"
    waiting = store.query(queued)[0][0]
    lost = store.query(
        "SELECT COUNT(DISTINCT key) FROM ratings WHERE key NOT IN (SELECT key FROM data.items)"
    )[0][0]
    values: dict[str, int] = {}
    for one in raters:
        for value, n in one["values"].items() if one["rater"] != ADJUDICATED else ():
            values[value] = values.get(value, 0) + n
    return {
        "rows": len(project),
        "labelled": labelled,
        "rated": rated,
        "waiting": waiting,
        "lost": lost,
        "values": values,
        "stale": len(project.stale()),
    }


def next_steps(project: Project, state: dict[str, Any], n_reviews: int) -> list[tuple[str, str]]:
    """Return what to do next, each with the page to do it on."""
    steps: list[tuple[str, str]] = []
    known = state["labelled"] + state["rated"]
    judges = project.judges
    if known < ENOUGH and not judges:
        steps.append((f"Label {ENOUGH - known} more rows for a first judge.", "/label"))
    scales = list(project.criteria.values())
    if state["labelled"] and len(scales) == 1 and scales[0].labels:
        for label in scales[0].labels:
            n = state["values"].get(label, 0)
            if n < _OF_EACH and not state["rated"]:
                steps.append((f"Label rows until there are {_OF_EACH - n} more {label}.", "/label"))
    if known >= ENOUGH and not judges:
        steps.append(("Compile the first judge.", "/compile"))
    if judges and state["waiting"]:
        steps.append(
            (f"Label the {state['waiting']} rows that would help the judge most.", "/label")
        )
    if n_reviews:
        steps.append((f"Review {n_reviews} disagreements.", "/review"))
    if judges and not project.store.rubrics():
        steps.append((f"Read the rubric of v{judges[-1]}, and correct it.", "/rubric"))
    if judges and _changed_since(project, judges[-1]):
        steps.append((f"Compile again: there is something new since v{judges[-1]}.", "/compile"))
    return steps


def _changed_since(project: Project, number: int) -> bool:
    """Return whether labels or the rubric changed after a judge was made."""
    at = job_facts(project, number).get("at", 0.0)
    newest = "SELECT MAX(at) FROM (SELECT at FROM history UNION ALL SELECT at FROM rubrics)"
    return bool((project.store.query(newest)[0][0] or 0.0) > at)


def home_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    project = studio.project

    def shown() -> dict[str, Any]:
        raters = project.summary()
        state = state_of(project, raters)
        lines = list(judge_lines(project))
        n_undecided = sum(one.decided is None for one in largest_gaps(project))
        return {
            "raters": raters,
            "state": state,
            "agreement": rater_agreement(project),
            "judges": lines,
            "forest": forest_of(lines),
            "steps": next_steps(project, state, n_undecided),
            "ADJUDICATED": ADJUDICATED,
            "cost": sum(one.cost_usd or 0 for one in lines),
        }

    @router.get("/")
    async def home(request: Request) -> Response:
        person = person_of(request)
        if person.role == "rater":
            return RedirectResponse("/label", status_code=303)
        return studio.page("home", person, **await studio.call(shown))

    return router
