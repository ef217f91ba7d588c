"""The models that a saved judge asks: each member of a panel its own, or all the one named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgesmith.cli.options import ModelChoice

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved_kinds import AnySaved


def models_of_all(
    judges: Iterable[AnySaved], choice: ModelChoice, *, run_id: str | None
) -> dict[str, dspy.LM]:
    """Return the models of several saved judges by name, or the one that is named for all.

    One ledger and one budget hold for all.

    Raises
    ------
    OptionError
        If a model cannot be asked.
    """
    names = list(dict.fromkeys(name for one in judges for name in one.models))
    if choice.model_name is not None:
        return {choice.model_name: choice.lm(run_id=run_id)}
    lms = choice.lms(*names[1:], default=names[0], run_id=run_id)
    return dict(zip(names, lms, strict=True))


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

    models = models_of_all([saved], choice, run_id=run_id)
    for lm in models.values():
        choice.check_key(lm)
    if isinstance(saved, SavedHolder) and choice.model_name is None:
        saved = saved.with_models(models)
    return saved, list(models.values())
