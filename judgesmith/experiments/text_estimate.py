"""What searches that rewrite texts would ask, at most."""

from __future__ import annotations

import math

from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers.fair import PARAPHRASES, ROUNDS, TEXTS
from judgesmith.optimizers.gepa import BATCH

_CANDIDATES, _MINIBATCH, _FULL_EVERY, _VALIDATION = 6, 35, 5, 100  # MIPROv2's "light"
_STEPS, _SAMPLES, _STEP_ROWS = 8, 6, 32  # SIMBA's defaults


def text_search_calls(
    settings: CompileSettings,
    *,
    n_questions: float,
    n_pool: int,
    n_selection: int,
    n_heldout: int,
    n_instructions: int = 1,
    competing: bool = False,
) -> int:
    """Return how many calls such a search takes at most, with the rest of the compilation.

    As a rule it takes fewer: most rewrites are no better than their parent and are not judged on
    the rows to choose by.

    Parameters
    ----------
    settings : CompileSettings
        Of the compilation.
    n_questions : float
        Calls that one judgement takes.
    n_pool, n_selection, n_heldout : int
        Rows to learn from, to choose by, to report on.
    n_instructions : int
        Different instructions of the judge's questions.
    competing : bool
        Whether a second rubric is judged on the rows to choose by.

    Examples
    --------
    >>> settings = CompileSettings(optimizer="reflective", n_trials=10)
    >>> text_search_calls(settings, n_questions=1, n_pool=40, n_selection=100, n_heldout=60)
    1970
    """
    # Reported on before and after; the start is judged on the rows to choose by, and the judge
    # that is found on those to learn from, for the aggregation.
    rest = 2 * n_heldout + n_selection * (1 + competing) + n_pool
    if settings.optimizer == "reflective":
        n = settings.n_trials
        return math.ceil(n_questions * (rest + n * (2 * min(BATCH, n_pool) + n_selection))) + n
    if settings.optimizer == "balanced":
        n_wordings = ROUNDS * PARAPHRASES * n_instructions
        rest += n_selection  # as it was, to see whether even answers agree better
        return math.ceil(n_questions * (rest + (1 + n_wordings) * min(TEXTS, n_pool))) + n_wordings
    rest += n_pool  # as it was, for what an answer adds to the objective
    if settings.optimizer == "miprov2":
        n_texts = (
            2 * math.ceil(n_questions) if settings.n_demonstrations else math.ceil(n_questions)
        )
        n_trials = int(max(2 * n_texts * math.log2(_CANDIDATES), 1.5 * _CANDIDATES))
        seen = min(_VALIDATION, n_selection)
        n_full = n_trials // _FULL_EVERY + 3
        of_trials = n_trials * min(_MINIBATCH, seen) + n_full * n_selection
        written = 12 + (_CANDIDATES + 2) * math.ceil(n_questions)
        return math.ceil(n_questions * (rest + of_trials + _CANDIDATES * n_pool)) + written
    rows = min(_STEP_ROWS, n_pool)
    steps = _STEPS * (2 * _SAMPLES + 1) * rows
    finals = (_SAMPLES + 1) * (n_pool + n_selection)
    return math.ceil(n_questions * (rest + steps + finals)) + _STEPS * (_SAMPLES + 1)
