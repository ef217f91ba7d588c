"""What a compilation would ask and cost at most, before anything is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.parts import parts_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.targets import targets_of
from judgesmith.programs import ActiveCritic

if TYPE_CHECKING:
    import dspy

CHARACTERS_PER_TOKEN = 4
"""What English text has on average in common tokenizers."""

TOKENS_PER_EXPLAINED_SCORE = 60
"""Two sentences and a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An upper bound on calls, and an estimate of tokens and cost.

    Attributes
    ----------
    calls : int
        Requests at most, if every answer is readable; answers on record are not counted off.
    input_tokens, output_tokens : int
        From characters, at four to a token.
    cost_usd : float or None
        None where the price is unknown.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def estimate_run(dataset: DataSet, settings: CompileSettings, lm: dspy.LM) -> Estimate:
    """Return what ``compile_judge`` with these settings asks at most.

    Raises
    ------
    ValueError
        Where compiling itself would refuse the data.
    """
    from judgesmith.programs.models import stack_of

    targets = targets_of(dataset, settings.target, settings.aggregate)
    parts = parts_of(dataset, targets, settings)
    n_pool = 0 if parts.pool is None else len(parts.pool)
    n_held = 0 if parts.heldout is None else len(parts.heldout)
    n_selection = len(parts.selection)
    searching = settings.optimizer != "none" and parts.pool is not None
    n_bare = n_selection + n_held + n_pool
    # Later rounds and the report ask with demonstrations; the pool is judged again for the fit.
    n_shown = (settings.n_rounds - 1) * n_selection + n_pool + n_held if searching else 0
    templates = ActiveCritic(settings.protocol).templates()
    n_questions = len(templates) * settings.protocol.samples
    fixed = sum(len(template.as_text()) for template in templates.values())
    texts = sum(len(i.source) + len(i.context or "") + len(i.response) for i in dataset)
    item = texts / len(dataset) * len(templates)
    per_item = (fixed + item) * settings.protocol.samples
    shown = settings.n_demonstrations * item * settings.protocol.samples
    characters = (n_bare + n_shown) * per_item + n_shown * shown
    n_scores = 1 + (len(settings.protocol.rubric.criteria) if len(templates) > 1 else 0)
    calls = (n_bare + n_shown) * n_questions
    input_tokens = round(characters / CHARACTERS_PER_TOKEN)
    output_tokens = (
        (n_bare + n_shown) * n_scores * TOKENS_PER_EXPLAINED_SCORE * settings.protocol.samples
    )
    stack = stack_of(lm)
    price = stack.price if stack is not None else None
    cost = None if price is None else price.usd(input_tokens, output_tokens)
    return Estimate(
        calls=calls, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost
    )
