"""One family of judges: where its parts are, each imported when it is used."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from judgesmith.programs.question_forms import QuestionForm
from judgesmith.signatures.judge_protocol import JudgeProtocol

if TYPE_CHECKING:
    from judgesmith.programs.effort import Effort
    from judgesmith.programs.judge import Judge
    from judgesmith.programs.judging import AnySteps, Steps
    from judgesmith.signatures.judgement import Judgement
    from judgesmith.signatures.rubric import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of judge, by where its parts are.

    Attributes
    ----------
    name : str
        What ``--judge`` and the protocol's ``judge`` call it.
    judge, protocol : str
        ``module:Class`` of the ``Judge`` and of its ``JudgeProtocol``.
    steps : str
        ``module:function`` that takes the protocol and, by name, source, response and context,
        and returns the steps of a judgement; free of DSPy.
    forms : str
        ``module:function`` that takes the protocol and returns a ``QuestionForm`` by question, in
        the order in which they are asked.
    about : str
        What such a judge does, in one sentence.
    has_demonstrations : bool
        Whether graded examples can be shown. They are drawn and worded for questions of
        Active-Critic's protocol.
    scores_texts : bool
        Whether it asks how likely a given text is, which few endpoints tell.
    reads_references : bool
        Whether its steps take the item's ``references``, too.
    calls : str
        ``module:function`` that takes the protocol and returns how many calls a text takes if
        every answer can be read; empty where each question is asked once per sample.
    efforts : str
        ``module:function`` that takes the protocol and the number of responses to a source and
        returns an ``Effort`` by question; empty where every response takes ``calls``, spread
        evenly over the questions.
    roles : tuple of (str, tuple of str)
        Work that another model than the judge's own may do: its name, and the questions that are
        asked for it.
    source_steps : str
        ``module:function`` of a family that judges all responses to a source together: takes the
        protocol and, by name, source, context and responses, and returns the steps to their
        judgements. Empty where each response is judged by itself.
    most_calls : str
        Of such a family, ``module:function`` that takes the protocol and the number of responses
        to a source and returns how many calls they take at most, if every answer can be read.
    """

    name: str
    judge: str
    protocol: str
    steps: str
    forms: str
    about: str
    has_demonstrations: bool = False
    scores_texts: bool = False
    reads_references: bool = False
    calls: str = ""
    efforts: str = ""
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    source_steps: str = ""
    most_calls: str = ""

    @property
    def ranks(self) -> bool:
        """Whether scores are ranks within a source, which say nothing about another source."""
        return bool(self.source_steps)

    @property
    def asks(self) -> bool:
        """Whether a model is asked anything, or numbers are made of the texts alone."""
        return bool(self.forms_of(self.protocol_class.model_validate({"judge": self.name})))

    @property
    def protocol_class(self) -> type[JudgeProtocol]:
        """The class of its protocols."""
        found: type[JudgeProtocol] = _at(self.protocol)
        return found

    def start(self, rubric: Rubric | None = None, **choices: Any) -> Judge:
        """Return a judge as it is before anything is learned.

        Parameters
        ----------
        rubric : Rubric or None
            Task and criteria; None takes the general ones.
        **choices
            Parts of the protocol to set.

        Raises
        ------
        ValueError
            If the parts make no judge of this family.

        Examples
        --------
        >>> from judgesmith.programs.families import family_of
        >>> family_of("active-critic").start(variant="vanilla").protocol.variant
        'vanilla'
        """
        from judgesmith.programs.constructing import check_lines_given, validated

        given = choices if rubric is None else {"rubric": rubric, **choices}
        protocol = validated(self.protocol_class, given)
        check_lines_given(protocol, given)
        return self.judge_of(protocol)

    def judge_of(self, protocol: JudgeProtocol) -> Judge:
        """Return the judge that follows a protocol of this family."""
        judge: Judge = _at(self.judge)(protocol)
        return judge

    def steps_of(
        self,
        protocol: JudgeProtocol,
        *,
        source: str,
        response: str,
        context: str | None,
        references: Sequence[str] = (),
    ) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        take: Callable[..., Steps] = _at(self.steps)
        more = self.more_texts(references)
        return take(protocol, source=source, response=response, context=context, **more)

    def more_texts(self, references: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return what its steps take beside source, response and context, by name."""
        return {"references": tuple(references)} if self.reads_references else {}

    def forms_of(self, protocol: JudgeProtocol) -> dict[str, QuestionForm]:
        """Return what each question of a protocol must show and how it is read, in order."""
        found: dict[str, QuestionForm] = _at(self.forms)(protocol)
        return found

    def source_steps_of(
        self,
        protocol: JudgeProtocol,
        *,
        source: str,
        context: str | None,
        responses: Sequence[str],
    ) -> AnySteps[list[Judgement]]:
        """Return the judgements of all responses to one source, as a generator of questions."""
        take: Callable[..., AnySteps[list[Judgement]]] = _at(self.source_steps)
        return take(protocol, source=source, context=context, responses=responses)

    def most_calls_of(self, protocol: JudgeProtocol, n_responses: int) -> int:
        """Return how many calls the responses to one source take at most."""
        count: Callable[[JudgeProtocol, int], int] = _at(self.most_calls)
        return count(protocol, n_responses)

    def efforts_of(self, protocol: JudgeProtocol, n_responses: int) -> dict[str, Effort] | None:
        """Return how often each question is asked; None where ``calls`` says it all."""
        if not self.efforts:
            return None
        count: Callable[[JudgeProtocol, int], dict[str, Effort]] = _at(self.efforts)
        return count(protocol, n_responses)

    def calls_of(self, protocol: JudgeProtocol) -> int:
        """Return how many model calls one text takes, if every answer can be read."""
        if not self.calls:
            return len(self.forms_of(protocol)) * protocol.samples
        count: Callable[[JudgeProtocol], int] = _at(self.calls)
        return count(protocol)


@functools.cache
def _at(place: str) -> Any:
    """Return what stands at ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
