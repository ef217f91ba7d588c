"""What a compilation would ask and cost, before anything is asked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgesmith.data.items import DataSet
from judgesmith.experiments.compile.chosen_targets import ChosenTargets, chosen_targets
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.compile.settings import (
    CompileSettings,
    settings_for_labels,
    settings_without_labels,
)
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.scoring.estimates import (
    JudgingEffort,
    MeanLengths,
    RunEstimate,
    calls_per_text,
    effort_per_text,
    judging_effort,
    known_price,
    sizes_of,
)
from judgesmith.front_door import at
from judgesmith.optimizers.base import OFFLINE
from judgesmith.optimizers.effect_search import EFFORTS
from judgesmith.optimizers.fair import PARAPHRASES, ROUNDS, TEXTS, refuse_many_answers
from judgesmith.optimizers.gepa import BATCH
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.search.racing import FEWEST_ROWS
from judgesmith.optimizers.search.screening import ScreeningStage
from judgesmith.optimizers.space.candidates import judge_space, with_demonstrations, without_fixed
from judgesmith.optimizers.space.demonstrations import CHOSEN, RUNS, N
from judgesmith.programs import Judge
from judgesmith.programs.families.guidelines import LONGEST_PART, ROWS_AT_ONCE, n_questions
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures import Rubric
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.rubric import DEFAULT_RUBRIC
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    import dspy


def screened_texts(n_trials: int, by_row: Sequence[int], *, anew: bool = False) -> int:
    """Return how many texts are judged at most, by all that are tried beside the start."""
    screen = ScreeningStage()
    stops = screen.stops(len(by_row), FEWEST_ROWS)
    dearest = sorted(by_row, reverse=True)
    texts = [sum(dearest[:n_rows]) for n_rows in stops]
    if anew:
        texts = list(itertools.accumulate(texts))
    reach = [n_trials]
    for number in range(1, len(stops)):
        reach.append(min(reach[-1], screen.n_staying(len(stops) - number)))
    ended = [one - after for one, after in itertools.pairwise([*reach, 0])]
    return sum(n * each for n, each in zip(ended, texts, strict=True))


SAME_COST = ("rubric", "explain", "answers", "reduction", "weighting")
"""The choices that do not decide how many calls a judgement takes."""

RACED_SHARE = 0.5
"""Share of the validation rows that a configuration is judged on before it is dropped: from .2
to .65 in twenty searches (benchmark ``protocol_search``), .5 on average, the start included."""

USUAL_FRONT = 4
"""Judges on a front as a rule: a guess, for it depends on the objectives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCalls:
    """Calls of a search and of what follows with the judge that it finds."""

    most: float
    expected: float | None = None  # None where only the most is known


@dataclass(frozen=True, kw_only=True)
class SearchSize:
    """What a search works on: the judge as it is, the calls it takes per text, and the rows."""

    settings: CompileSettings
    judge: Judge
    calls: float
    n_pool: int
    n_selection: int
    n_heldout: int
    sizes: Sequence[int]
    by_row: Sequence[int]


def search_calls(
    settings: CompileSettings,
    *,
    n_pool: int,
    n_selection: int,
    n_heldout: int,
    competing: bool,
    sizes: Sequence[int] = (),
    by_row: Sequence[int] = (),
) -> SearchCalls:
    """Return how many calls a search of the protocol takes, with the rest of the compilation."""
    student = _student(settings)
    own = _space(settings, student, competing=competing)
    space = with_demonstrations(
        own, student, n_pool, most=settings.n_demonstrations, n_demo_sets=settings.n_draws
    )
    space = without_fixed(space, settings.fixed)
    dearest = _dearest(settings, student, own, sizes)
    usual = sum(share * cost for share, cost in _costs(student, own, sizes))
    start = _calls(student, sizes)
    # Without a rubric that competes with it, the inferred one is that of the start.
    first = start if competing else _calls(_with_criteria(student, _most_criteria(settings)), sizes)
    n_trials = min(settings.n_trials, space.size * (1 + len(settings.models)))
    reported = n_selection + n_heldout
    # Each configuration may show runs of its own of every row of the pool; the fit of the
    # aggregation judges the pool by the judge that was found.
    most = first * reported + n_trials * dearest * (n_selection + n_pool)
    expected = start * reported + n_trials * usual * (
        RACED_SHARE * n_selection + _share_with_runs(space) * n_pool
    )
    if settings.screen:
        # Few rows may be parts of sources, of which a text can take more calls.
        parts = {1, max(sizes, default=1)}
        by_part = {_dearest(settings, student, own, [size]) for size in parts}
        tried = screened_texts(n_trials, by_row or [1] * n_selection, anew=len(by_part) > 1)
        most += max(dearest, *by_part) * tried - n_trials * dearest * n_selection
        expected += usual * tried - n_trials * usual * RACED_SHARE * n_selection
    most += dearest * (n_pool + n_heldout)
    # Each other judge on a front has its aggregation fitted, too.
    several = len(settings.aims.each) > 1
    most += several * n_trials * dearest * n_pool
    # Weights are learned for the baseline, too, to see whether the winner is still better.
    weighed = settings.learn_weights and not several
    most += weighed * first * n_pool
    expected += usual * (n_pool + n_heldout) + weighed * start * n_pool / 2
    expected += several * min(n_trials, USUAL_FRONT - 1) * usual * n_pool
    return SearchCalls(most=most, expected=min(expected, most))


def dearest_calls(settings: CompileSettings, sizes: Sequence[int] = ()) -> float:
    """Return the calls of one judgement by the costliest judge that a search may find."""
    student = _student(settings)
    return _dearest(settings, student, _space(settings, student, competing=False), sizes)


def _student(settings: CompileSettings) -> Judge:
    judge: Judge
    judge, _ = family_of(settings.protocol.judge).judge_of(settings.protocol).as_if_prepared()
    return judge


def _space(settings: CompileSettings, student: Judge, *, competing: bool) -> Space:
    """Return what may be chosen, demonstrations left aside."""
    rubrics = {"inferred": settings.protocol.rubric.model_copy(update={"task": "another"})}
    own = judge_space(student, rubrics if competing else None, ("score",))
    if len(settings.target) > 1:
        own = own.without("variant")
    return own.without(*settings.fixed)


def _most_criteria(settings: CompileSettings) -> int:
    """Return how many criteria a judge has at most: what is inferred is not known yet."""
    given = len(settings.protocol.rubric.criteria)
    inferred = settings.inference.most if settings.criteria_from == "inferred" else 0
    return max(given, inferred)


def _dearest(
    settings: CompileSettings, student: Judge, space: Space, sizes: Sequence[int]
) -> float:
    largest = _with_criteria(student, _most_criteria(settings))
    return max(cost for _, cost in _costs(largest, space, sizes))


def _calls(judge: Judge, sizes: Sequence[int]) -> float:
    return calls_per_text(judge.protocol, sizes)


def _with_criteria(student: Judge, n: int) -> Judge:
    """Return a judge that scores ``n`` criteria: as many as may be inferred."""
    criteria = [{"name": f"criterion {place}", "definition": "as named"} for place in range(n)]
    rubric = Rubric.model_validate({"criteria": criteria})
    judge = student.with_protocol(student.protocol.model_copy(update={"rubric": rubric}))
    return judge.as_if_prepared()[0]


def _costs(student: Judge, space: Space, sizes: Sequence[int]) -> list[tuple[float, float]]:
    """Return calls per judgement, with the share of evenly drawn configurations that take them."""
    reduced = space.without(*(name for name in space.names if name in SAME_COST))
    counts = {one.name: len(one.options) for one in reduced.choices}
    found = []
    for picked in reduced.configurations():
        share = 1.0
        for name in picked:
            share /= counts[name]
        decided = student.protocol.model_copy(update={"demonstrations": {}, "instructions": {}})
        judge = student.with_protocol(decided).with_choices(picked, space=reduced)
        found.append((share, _calls(judge, sizes)))
    return found


def _share_with_runs(space: Space) -> float:
    """Return which share of evenly drawn configurations shows runs of the judge."""
    by_name = {one.name: one for one in space.choices}
    if RUNS not in by_name:
        return 0.0
    shows = by_name[N]
    share = (len(shows.ids) - ("0" in shows.ids)) / len(shows.ids)
    runs = by_name[RUNS]
    share *= (len(runs.ids) - 1) / len(runs.ids)
    if CHOSEN in runs.only_if:
        share *= len(runs.only_if[CHOSEN]) / len(by_name[CHOSEN].ids)
    if "variant" in runs.only_if:
        share *= len(runs.only_if["variant"]) / len(by_name["variant"].ids)
    return share


_CANDIDATES, _MINIBATCH, _FULL_EVERY, _VALIDATION = 6, 35, 5, 100  # MIPROv2's "light"
_STEPS, _SAMPLES, _STEP_ROWS = 8, 6, 32  # SIMBA's defaults


def protocol_calls(size: SearchSize) -> SearchCalls:
    return search_calls(
        size.settings,
        n_pool=size.n_pool,
        n_selection=size.n_selection,
        n_heldout=size.n_heldout,
        competing=size.settings.rubrics_compete,
        sizes=size.sizes,
        by_row=size.by_row,
    )


def effects_calls(size: SearchSize) -> SearchCalls:
    """Return the calls of a search of effects, of the report, and of the fit of the weights."""
    settings = size.settings
    n_searched = math.floor(EFFORTS[settings.effort] * (size.n_selection + size.n_pool))
    n_prompts = prompts_averaged(settings, size.judge)
    judged = n_searched + size.n_selection * settings.rubrics_compete + size.n_heldout
    judged += n_prompts * (size.n_heldout + size.n_pool)
    return SearchCalls(most=math.ceil(size.calls * judged))


# As a rule a search of texts takes fewer calls than these: most rewrites are no better than their
# parent and are not judged on the validation rows.


def _around(size: SearchSize) -> int:
    """Return the texts that are scored around a search of texts."""
    competing = size.settings.rubrics_compete
    return 2 * size.n_heldout + size.n_selection * (1 + competing) + size.n_pool


def reflective_calls(size: SearchSize) -> SearchCalls:
    n = size.settings.n_trials
    texts = _around(size) + n * (2 * min(BATCH, size.n_pool) + size.n_selection)
    return SearchCalls(most=math.ceil(size.calls * texts) + n)


def balanced_calls(size: SearchSize) -> SearchCalls:
    refuse_many_answers(size.judge)
    n_instructions = len({one.turns[:1] for one in size.judge.templates().values()})
    n_wordings = ROUNDS * PARAPHRASES * n_instructions
    # Validation rows once more by the baseline, to see whether even answers agree better.
    texts = _around(size) + size.n_selection
    protocol = size.judge.protocol
    on_one = 2 * protocol.samples if family_of(protocol.judge).ranks else size.calls
    tried = TEXTS if family_of(protocol.judge).ranks else min(TEXTS, size.n_pool)
    on_wordings = (1 + n_wordings) * tried * on_one
    return SearchCalls(most=math.ceil(size.calls * texts + on_wordings) + n_wordings)


def miprov2_calls(size: SearchSize) -> SearchCalls:
    """Return the calls of DSPy's MIPROv2 in its light form."""
    per_text = math.ceil(size.calls)
    n_texts = 2 * per_text if size.settings.n_demonstrations else per_text
    n_trials = int(max(2 * n_texts * math.log2(_CANDIDATES), 1.5 * _CANDIDATES))
    seen = min(_VALIDATION, size.n_selection)
    n_full = n_trials // _FULL_EVERY + 3
    of_trials = n_trials * min(_MINIBATCH, seen) + n_full * size.n_selection
    written = 12 + (_CANDIDATES + 2) * per_text
    # Rows to learn from once more by the baseline, for what an answer adds.
    texts = _around(size) + size.n_pool + of_trials + _CANDIDATES * size.n_pool
    return SearchCalls(most=math.ceil(size.calls * texts) + written)


def simba_calls(size: SearchSize) -> SearchCalls:
    """Return the calls of DSPy's SIMBA as it comes."""
    steps = _STEPS * (2 * _SAMPLES + 1) * min(_STEP_ROWS, size.n_pool)
    finals = (_SAMPLES + 1) * (size.n_pool + size.n_selection)
    texts = _around(size) + size.n_pool + steps + finals
    return SearchCalls(most=math.ceil(size.calls * texts) + _STEPS * (_SAMPLES + 1))


TOKENS_PER_TAUGHT = 300
"""An answer of task inference: observations, a description, or ten criteria."""

CHARACTERS_PER_INFERENCE = 4000
"""A question of task inference, without the rated rows, or one for steps or questions."""


def estimate_run(
    dataset: DataSet,
    settings: CompileSettings,
    lm: dspy.LM,
    *,
    others: Iterable[dspy.LM] = (),
    known: frozenset[str] = frozenset(),
) -> RunEstimate:
    """Return what ``compile_judge`` with these settings asks and costs."""
    settings = settings_without_labels(dataset, settings)
    targets = chosen_targets(dataset, settings)
    settings = settings_for_labels(settings, targets.whole)
    parts = parts_of(dataset, targets, settings, known)
    # Texts to judge: rows, and what changed versions of them the objective looks at.
    pool = () if parts.pool is None else parts.pool.items
    held = () if parts.heldout is None else parts.heldout.texts
    selection = parts.selection.texts
    n_pool, n_held, n_selection = len(pool), len(held), len(selection)
    # How often each is judged; later rounds and the report ask with demonstrations, and the pool
    # is judged again for the fit.
    bare = {"selection": 1 + settings.rubrics_compete, "held": 1, "pool": 1}
    shown = {"selection": settings.n_rounds - 1, "held": 1, "pool": 1} if n_pool else {}
    if targets.whole.is_verdict:  # the threshold of the judge that it is reported beside
        bare["selection"] += settings.criteria_from != "given"
        bare["pool"] += 1
    if not n_pool and settings.criteria_from == "inferred":
        bare["held"] += 1  # the baseline has another rubric than the one reported beside it
    judge, n_prepared = _prepared(dataset, targets, settings)
    taught = JudgingEffort.asked(
        n_prepared,
        characters=n_prepared * CHARACTERS_PER_INFERENCE,
        answered=TOKENS_PER_TAUGHT,
    )
    if settings.criteria_from != "given":
        taught += inference_effort(dataset, settings.inference)
    templates = judge.templates()
    items = list(dataset)
    sizes, lengths = sizes_of(items), MeanLengths.of(items)
    one = effort_per_text(judge.protocol, templates, sizes, lengths)
    found: SearchCalls | None = None
    if settings.search.cost is not None:
        found = at(settings.search.cost)(
            SearchSize(
                settings=settings,
                judge=judge,
                calls=one.calls,
                n_pool=n_pool,
                n_selection=n_selection,
                n_heldout=n_held,
                sizes=sizes,
                by_row=_by_row(parts.selection),
            )
        )
    if found is None:
        effort = JudgingEffort()
        for name, texts in (("selection", selection), ("held", held), ("pool", pool)):
            n = bare[name] + shown.get(name, 0)
            several = judging_effort(judge.protocol, templates, sizes_of(texts), lengths)
            effort += several * n
        n_shown = sum(
            shown.get(name, 0) * n
            for name, n in (("selection", n_selection), ("held", n_held), ("pool", n_pool))
        )
    else:
        # In judgements by the judge as it is, of which most show demonstrations.
        most = math.ceil(found.most)
        n_judged = round(most / max(one.calls, 1))
        n_shown = n_judged - n_selection - n_held
        share = most / max(one.calls, 1)
        effort = replace(
            one * n_judged,
            calls=most,
            usual=most if found.expected is None else found.expected,
            unlisted=one.unlisted * share,
            most=one.most * share,
        )
    n_demonstrations = 0 if settings.optimizer == "reflective" else settings.n_demonstrations
    demonstrations = n_demonstrations * len(templates) * (lengths.source + lengths.response)
    characters = effort.characters + settings.protocol.samples * n_shown * demonstrations
    whole = replace(effort, characters=characters) + taught
    if settings.infers_guidelines and str(lm.model) != OFFLINE:
        guided = guidelines_effort(dataset, parts.pool_places)
        # With them all, without them, and without each.
        whole += guided + one * (n_selection * (1 + settings.guidelines) if guided.calls else 0)
    costs = [whole.usd(known_price(one)) for one in (lm, *others)]
    known_costs = [one for one in costs if one is not None]
    return RunEstimate.of(
        whole,
        cost_usd=max(known_costs) if len(known_costs) == len(costs) else None,
        searched=found is not None and found.expected is not None,
    )


def guidelines_effort(dataset: DataSet, places: Sequence[int]) -> JudgingEffort:
    """Return what the questions about raters' words at some places take at most."""
    n = n_questions(sum(bool(dataset[place].rationale) for place in places))
    read = n * ROWS_AT_ONCE * 2 * LONGEST_PART
    return JudgingEffort.asked(n, characters=read, answered=TOKENS_PER_TAUGHT)


def prompts_averaged(settings: CompileSettings, judge: Judge) -> int:
    """Return how many prompts may be averaged, each with the calls of the judge as it is."""
    return max((settings.calls_per_item or 0) // max(calls_per_item(judge), 1), 1)


def _by_row(rows: Rows) -> list[int]:
    """Return how many texts each row has, changed versions of it counted."""
    if not rows.versions:
        return [1] * len(rows)
    return [1 + sum(one is not None for one in several) for several in rows.versions]


def _prepared(
    dataset: DataSet, targets: ChosenTargets, settings: CompileSettings
) -> tuple[Judge, int]:
    """Return the judge as it may be once prepared, and the calls that this takes at most."""
    own = settings.protocol
    if settings.criteria_from == "human":
        given = None if own.rubric == DEFAULT_RUBRIC else own.rubric
        found = human_rubric(dataset, names=targets.names, rubric=given).rubric
        own = own.model_copy(update={"rubric": found})
    judge, n = family_of(own.judge).judge_of(own).as_if_prepared()
    if n and settings.criteria_from == "inferred":
        n += settings.inference.most
    return judge, n


def inference_effort(dataset: DataSet, caps: InferenceSettings) -> JudgingEffort:
    """Return what the questions of task inference take at most."""
    n_sets = max(caps.max_descriptions, caps.max_criteria_sets)
    n_made = caps.max_descriptions + caps.max_criteria_sets

    # Each batch is observed and followed by a check; in the end there are two summaries.
    n_most = 2 * caps.batches + min(n_made, 2 * caps.batches) + 2
    texts = sum(len(item.source) + len(item.response) for item in dataset) / len(dataset)
    n_read = min(caps.batches, n_sets)
    read = n_read * min(caps.batch_size * texts, caps.max_characters)
    made = (2 * n_read + n_made) * CHARACTERS_PER_INFERENCE
    return JudgingEffort.asked(n_most, characters=read + made, answered=TOKENS_PER_TAUGHT)
