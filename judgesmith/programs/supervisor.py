"""The supervisor of a panel: a model that makes one list of the errors that annotators found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dspy

from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.judging import Steps
from judgesmith.programs.panel_annotations import Annotation
from judgesmith.programs.supervisor_steps import merging_steps
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.supervising import MergeAnnotations


class Supervisor(AskingModule):
    """Merges what several annotators say of one response; a ``PanelJudge`` holds one.

    It asks the model that its predictor holds (``supervisor.set_lm``), else the one that all
    members of the panel are asked. Instruction and demonstrations of ``merge`` are open to
    DSPy's optimizers like those of any predictor.

    Attributes
    ----------
    merge : dspy.Predict
        Asks for one list.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import ErrorSpan
    >>> def said(number, member, start, end):
    ...     error = ErrorSpan(text="", start=start, end=end, severity=2, explanation="Wrong.")
    ...     return Annotation(number=number, member=member, error=error)
    >>> both = [said(1, "a", 18, 21), said(2, "b", 15, 21)]
    >>> found = Supervisor()(response="The ferry left at ten.", annotations=both)
    >>> [one.error.text for one in found.merged], found.n_dropped, found.problem
    (['at ten'], 0, '')
    """

    def __init__(self) -> None:
        super().__init__(Protocol())
        self.merge = dspy.Predict(MergeAnnotations)

    @property
    def protocol(self) -> Protocol:
        """What the calls are sampled with."""
        return Protocol()

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return nothing: all that is told depends on the response."""
        return {}

    def own_models(self) -> dict[str, dspy.LM]:
        """Return the model of the predictor if it has one, by its name."""
        return {name: one.lm for name, one in self.named_predictors() if one.lm is not None}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: a supervisor judges nothing by itself.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a supervisor merges what others found; hold it in a PanelJudge.")

    def forward(self, *, response: str, annotations: Sequence[Annotation]) -> dspy.Prediction:
        """Merge the annotations of one response.

        Parameters
        ----------
        response : str
            What they are about.
        annotations : sequence of Annotation
            As ``panel_annotations.numbered`` makes them.

        Returns
        -------
        dspy.Prediction
            ``merged`` (the errors), ``n_dropped`` (entries that did not stand up to the checks),
            ``problem`` (why they were merged by rule instead, else empty) and ``calls``.
        """
        found = self.taken(merging_steps(annotations, response))
        return dspy.Prediction(
            merged=found.merged,
            n_dropped=found.n_dropped,
            problem=found.problem,
            calls=found.calls,
        )
