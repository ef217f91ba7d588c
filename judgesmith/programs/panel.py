"""A panel: several judges whose scores are standardised, weighed and put back on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from judgesmith.errors import InputError
from judgesmith.programs.holding import AnyJudge, JudgeOfJudges, scale_of
from judgesmith.programs.panel_judgement import PanelJudgement, panel_judgement
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.panel_weights import PanelWeights
from judgesmith.signatures.scale import Scale


class Panel(JudgeOfJudges):
    """Score a response by the weighted mean of what several judges say.

    A member without a score leaves the mean, and the others count as much more; where none has
    one, neither has the panel, and says why each has not. Members of weight 0 are not asked.

    Parameters
    ----------
    members : dict of str to judge
        By name. Judges of one kind may differ in model (``member.set_lm``), rubric, scale, …
    weights : PanelWeights or None
        Of just these members; None weighs them alike, on 0 to 100. ``PanelSelection`` learns
        them.

    Raises
    ------
    ValueError
        If the weights are of other members.
    TypeError
        If a member is no judge.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> panel = Panel({"fine": ActiveCritic(), "vanilla": ActiveCritic(variant="vanilla")})
    >>> said = {"fine": Judgement(score=80), "vanilla": Judgement(score=60)}
    >>> panel.combined(said).score, round(panel.combined(said).disagreement, 6)
    (70.0, 10.0)
    >>> panel.combined({**said, "fine": Judgement.unscored("it broke off")}).score
    60.0
    """

    def __init__(
        self, members: Mapping[str, AnyJudge], weights: PanelWeights | None = None
    ) -> None:
        super().__init__(members)
        scales = {name: scale_of(one) for name, one in self.members.items()}
        self._weights = self._of_these(weights or PanelWeights.equal(scales))

    @property
    def weights(self) -> PanelWeights:
        """How the members' scores become one."""
        return self._weights

    @property
    def scale(self) -> Scale:
        """What scores are measured in."""
        return self._weights.scale

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the members whose weight is above 0, the heaviest first."""
        return self._weights.asked

    def with_weights(self, weights: PanelWeights) -> Self:
        """Return a panel of copies of the same members with other weights."""
        copies = {name: one.deepcopy() for name, one in self.members.items()}
        other = type(self)(copies, weights)
        other.callbacks = list(self.callbacks)
        return other

    def combined(self, judgements: Mapping[str, Judgement]) -> PanelJudgement:
        """Return the judgement that the members' judgements make."""
        return panel_judgement(judgements, self._weights)

    def settings(self) -> dict[str, Any]:
        """Return the weights as plain data."""
        return self._weights.model_dump(mode="json")

    def adopt(self, settings: Mapping[str, Any]) -> None:
        """Take over weights that ``settings`` returned."""
        self._weights = self._of_these(PanelWeights.model_validate(settings))

    def _of_these(self, weights: PanelWeights) -> PanelWeights:
        if set(weights.members) != set(self.members):
            raise InputError(
                f"the weights are of {', '.join(weights.members)}; the panel has "
                f"{', '.join(self.members)}."
            )
        return weights
