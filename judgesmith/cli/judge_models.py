"""The models that a saved judge asks: each member of a panel its own, or all the one named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.options import ModelChoice

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved_kinds import AnySaved


def asked_models(
    saved: AnySaved, choice: ModelChoice, *, run_id: str
) -> tuple[AnySaved, list[dspy.LM]]:
    """Return the judge bound to its models, and these; one ledger and one budget hold for all.

    Parameters
    ----------
    saved : saved judge
        Of any kind. Members of a panel ask the model that each was compiled with, unless
        ``--model`` names one for all.
    choice : ModelChoice
        What the command line says of models.
    run_id : str
        What the budget is kept under.

    Raises
    ------
    OptionError
        If a model cannot be asked.
    """
    from judgesmith.programs.saved_kinds import SavedHolder

    first, *others = saved.models
    if not isinstance(saved, SavedHolder) or choice.model_name is not None or not others:
        lms = [choice.lm(default=first, run_id=run_id)]
    else:
        lms = choice.lms(*others, default=first, run_id=run_id)
        saved = saved.with_models(dict(zip(saved.models, lms, strict=True)))
    for lm in lms:
        choice.check_key(lm)
    return saved, lms
