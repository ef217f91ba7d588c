"""What a compilation would ask and cost, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.chosen_targets import ChosenTargets, chosen_targets
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.human_criteria import human_rubric
from judgesmith.experiments.judging_estimate import (
    CHARACTERS_PER_TOKEN,
    JudgingEffort,
    Lengths,
    effort_per_text,
    judging_effort,
    sizes_of,
)
from judgesmith.experiments.parts import parts_of
from judgesmith.experiments.search_estimate import search_calls
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.text_estimate import text_search_calls
from judgesmith.experiments.unlabelled import settings_without_labels
from judgesmith.optimizers.fair import refuse_many_answers
from judgesmith.optimizers.rows import Rows
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ, family_of
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

if TYPE_CHECKING:
    import dspy

TOKENS_PER_TAUGHT = 300
"""An answer of task inference: observations, a description, or ten criteria."""

CHARACTERS_PER_INFERENCE = 4000
"""A question of task inference, without the rated texts, or one for steps or questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """How many calls a run makes, and about how many tokens and dollars they take.

    Attributes
    ----------
    calls : int
        Requests at most if every answer can be read and is kept, with the log-probabilities that
        are wanted: without a ledger, questions that come up again are asked again. Answers on
        record are not counted off. Task inference counts as if no batch ended it early.
    max_calls : int
        Requests at most, whatever is answered. More come only of requests that are sent again
        after a fault of network or server, or refused for the log-probabilities they ask for.
    input_tokens, output_tokens : int
        Of ``calls`` requests, from characters at four to a token.
    cost_usd : float or None
        Of these tokens; None where a price is unknown.
    expected_calls : int or None
        Requests as a rule, where many are saved as a rule: in a search of the protocol, where
        ``calls`` supposes that every configuration is the costliest and none falls behind; by
        judges that rank, whose comparisons are hardly ever all needed; and by those that write
        exemplars, which serve all responses to a source.
    calls_without_probabilities : int or None
        ``calls`` to a model that tells no log-probabilities, where that makes more of them.
    """

    calls: int
    max_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    expected_calls: int | None = None
    calls_without_probabilities: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, without calls that are no others than ``calls``."""
        found = asdict(self)
        several = ("expected_calls", "calls_without_probabilities")
        return {name: one for name, one in found.items() if name not in several or one is not None}


def estimate_run(
    dataset: DataSet,
    settings: CompileSettings,
    lm: dspy.LM,
    *,
    others: Iterable[dspy.LM] = (),
    known: frozenset[str] = frozenset(),
) -> RunEstimate:
    """Return what ``compile_judge`` with these settings asks and costs.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    settings : CompileSettings
        Criteria that are still to be inferred count as many as the general rubric has.
    lm : dspy.LM
        Says what tokens cost.
    others : iterable of dspy.LM
        Models that compete with it: the dearest of all is reckoned with.
    known : frozenset of str
        ``RatedItem.key`` of the rows that an earlier judge was made from.

    Raises
    ------
    ValueError
        Where compiling itself would refuse the data.

    Examples
    --------
    Without inference or search each of the 160 texts is judged once, in two questions:

    >>> from judgesmith.experiments.reading import read_items
    >>> from judgesmith.programs.lm import model
    >>> settings = CompileSettings(criteria="given", optimizer="none")
    >>> found = estimate_run(read_items("sample"), settings, model(ledger=None))
    >>> found.calls, found.max_calls, found.cost_usd
    (320, 640, 0.0)
    """
    from judgesmith.programs.lm import lm_client_of

    settings = settings_without_labels(dataset, settings)
    targets = chosen_targets(dataset, settings)
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
    if not n_pool and settings.criteria_from == "inferred":
        bare["held"] += 1  # the judge as it was has another rubric than the one reported beside it
    taught = _inference(dataset, settings)
    judge, n_prepared = _prepared(dataset, targets, settings)
    n_taught = taught.calls + n_prepared
    if settings.optimizer == "balanced":
        refuse_many_answers(judge)
    templates = judge.templates()
    items = list(dataset)
    sizes, lengths = sizes_of(items), Lengths.of(items)
    one = effort_per_text(judge.protocol, templates, sizes, lengths)
    found = most = None
    if settings.optimizer == "protocol":
        found = search_calls(
            settings,
            n_pool=n_pool,
            n_selection=n_selection,
            n_heldout=n_held,
            competing=settings.rubrics_compete,
            sizes=sizes,
            by_row=_by_row(parts.selection),
        )
    elif settings.optimizer in ("reflective", "balanced", "miprov2", "simba"):
        most = text_search_calls(
            settings,
            n_questions=one.calls,
            n_pool=n_pool,
            n_selection=n_selection,
            n_heldout=n_held,
            n_instructions=len({one.turns[:1] for one in templates.values()}),
            competing=settings.rubrics_compete,
        )
    if found is not None:
        most = math.ceil(found.most)
    if most is None:
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
        n_judged = round(most / max(one.calls, 1))
        n_shown = n_judged - n_selection - n_held
        share = most / max(one.calls, 1)
        effort = replace(
            one * n_judged,
            calls=most,
            usual=most if found is None else found.expected,
            unlisted=one.unlisted * share,
            most=one.most * share,
        )
    n_demonstrations = 0 if settings.optimizer == "reflective" else settings.n_demonstrations
    demonstrations = n_demonstrations * len(templates) * (lengths.source + lengths.response)
    characters = effort.characters + settings.protocol.samples * n_shown * demonstrations
    characters += taught.characters + n_prepared * CHARACTERS_PER_INFERENCE
    input_tokens = round(characters / CHARACTERS_PER_TOKEN)
    output_tokens = round(effort.answered) + n_taught * TOKENS_PER_TAUGHT
    calls, usual, unlisted = (
        math.ceil(n) + n_taught for n in (effort.calls, effort.usual, effort.unlisted)
    )
    clients = [lm_client_of(one) for one in (lm, *others)]
    prices = [None if one is None else one.price for one in clients]
    costs = [one.usd(input_tokens, output_tokens) for one in prices if one is not None]
    return RunEstimate(
        calls=calls,
        max_calls=math.ceil(effort.most) + ATTEMPTS_TO_READ * n_taught,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if None in prices else max(costs),
        expected_calls=usual if found is not None or usual < calls else None,
        calls_without_probabilities=unlisted if unlisted > calls else None,
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inference:
    """What inferring a rubric asks at most, and about how long its questions are."""

    calls: int = 0
    characters: float = 0.0


def _inference(dataset: DataSet, settings: CompileSettings) -> _Inference:
    """Return the questions of task inference."""
    if settings.criteria_from == "given":
        return _Inference()
    caps = settings.inference
    n_sets = max(caps.max_descriptions, caps.max_criteria_sets)
    n_made = caps.max_descriptions + caps.max_criteria_sets

    # Each batch is observed and followed by a check; in the end there are two summaries.
    n_most = 2 * caps.batches + min(n_made, 2 * caps.batches) + 2
    texts = sum(len(item.source) + len(item.response) for item in dataset) / len(dataset)
    n_read = min(caps.batches, n_sets)
    return _Inference(
        calls=n_most,
        characters=n_read * min(caps.batch_size * texts, caps.max_characters)
        + (2 * n_read + n_made) * CHARACTERS_PER_INFERENCE,
    )
