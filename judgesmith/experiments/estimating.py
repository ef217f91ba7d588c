"""What a compilation would ask and cost, before anything is asked."""

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

ATTEMPTS_TO_READ = 2
"""How often a question is asked when the first answer cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """How many calls a run makes, and about how many tokens and dollars they take.

    Attributes
    ----------
    calls : int
        Requests if every answer can be read and is kept: without a ledger, questions that
        come up again are asked again. Answers on record are not counted off.
    max_calls : int
        Requests if no first answer can be read: never more, but for requests that are sent
        again after a fault of network or server.
    input_tokens, output_tokens : int
        Of ``calls`` requests, from characters at four to a token.
    cost_usd : float or None
        Of these tokens; None where the price is unknown.
    """

    calls: int
    max_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def estimate_run(dataset: DataSet, settings: CompileSettings, lm: dspy.LM) -> RunEstimate:
    """Return what ``compile_judge`` with these settings asks and costs.

    Raises
    ------
    ValueError
        Where compiling itself would refuse the data.

    Examples
    --------
    Without a search each of the 160 texts is judged once, in two questions:

    >>> from judgesmith.experiments.reading import read_items
    >>> from judgesmith.programs.models import model
    >>> settings = CompileSettings(optimizer="none")
    >>> found = estimate_run(read_items("sample"), settings, model(ledger=None))
    >>> found.calls, found.max_calls, found.cost_usd
    (320, 640, 0.0)
    """
    from judgesmith.programs.models import stack_of

    targets = targets_of(dataset, settings.target, settings.aggregate)
    parts = parts_of(dataset, targets, settings)
    n_pool = 0 if parts.pool is None else len(parts.pool)
    n_held = 0 if parts.heldout is None else len(parts.heldout)
    n_selection = len(parts.selection)
    n_bare = n_selection + n_held + n_pool
    # Later rounds and the report ask with demonstrations; the pool is judged again for the fit.
    n_shown = (settings.n_rounds - 1) * n_selection + n_pool + n_held if n_pool else 0
    templates = ActiveCritic(settings.protocol).templates()
    samples = settings.protocol.samples
    texts = sum(len(item.source) + len(item.context or "") + len(item.response) for item in dataset)
    item = texts / len(dataset) * len(templates)
    fixed = sum(len(template.as_text()) for template in templates.values())
    demonstrations = settings.n_demonstrations * item
    characters = samples * ((n_bare + n_shown) * (fixed + item) + n_shown * demonstrations)
    n_scores = 1 + (len(settings.protocol.rubric.criteria) if len(templates) > 1 else 0)
    n_judgements = (n_bare + n_shown) * samples
    input_tokens = round(characters / CHARACTERS_PER_TOKEN)
    output_tokens = n_judgements * n_scores * TOKENS_PER_EXPLAINED_SCORE
    stack = stack_of(lm)
    price = stack.price if stack is not None else None
    return RunEstimate(
        calls=n_judgements * len(templates),
        max_calls=ATTEMPTS_TO_READ * n_judgements * len(templates),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if price is None else price.usd(input_tokens, output_tokens),
    )
