"""The families of judges: what each is made of, found by name and imported when it is used.

A family is a judge class, its protocol class, its steps, and the forms of its questions. Whoever
writes one registers it here and can then compile, save, load, score and compare its judges.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from judgesmith.programs.question_forms import QuestionForm
from judgesmith.signatures.judge_protocol import JudgeProtocol

if TYPE_CHECKING:
    from judgesmith.programs.effort import Effort
    from judgesmith.programs.judge import Judge
    from judgesmith.programs.judging import AnySteps, Steps
    from judgesmith.signatures.judgement import Judgement
    from judgesmith.signatures.rubric import Rubric

ENTRY_POINTS = "judgesmith.judges"
"""The group of entry points by which a package makes its families known to the command line."""

ACTIVE_CRITIC = "active-critic"
"""The family that is taken where none is named."""


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


_FAMILIES: dict[str, Family] = {}


def register_family(family: Family) -> None:
    """Make a family of judges known by its name.

    Raises
    ------
    ValueError
        If another one has that name.
    """
    known = _FAMILIES.setdefault(family.name, family)
    if known != family:
        raise ValueError(f"there is a family of judges called {family.name}; choose another name.")


def known_families() -> tuple[Family, ...]:
    """Return all families, in the order in which they were registered."""
    return tuple(_FAMILIES.values())


@functools.cache
def _register_installed() -> None:
    """Register the families that installed packages name under ``judgesmith.judges``.

    Raises
    ------
    ValueError
        If one cannot be had; the message names it.
    """
    for point in entry_points(group=ENTRY_POINTS):
        try:
            found = point.load()
        except Exception as fault:
            raise ValueError(
                f"the family of judges {point.name} cannot be imported from {point.value}: {fault}."
            ) from fault
        if not isinstance(found, Family):
            raise ValueError(
                f"{point.value} is to be a Family of judges ({point.name} under {ENTRY_POINTS}); "
                f"it is a {type(found).__name__}."
            )
        register_family(found)


def family_of(name: str) -> Family:
    """Return the family of that name, those of installed packages included.

    Raises
    ------
    ValueError
        If there is none; the message names the nearest.

    Examples
    --------
    >>> family_of("active-critic").has_demonstrations
    True
    >>> family_of("activecritic")
    Traceback (most recent call last):
    ...
    ValueError: no judge is called 'activecritic': there are active-critic, direct, exemplar, \
g-eval, explain-eval, gptscore, reference, pairs, prometheus, checklist, themis, auto-j; \
did you mean active-critic?
    """
    if name not in _FAMILIES:
        _register_installed()
    if name in _FAMILIES:
        return _FAMILIES[name]
    near = difflib.get_close_matches(str(name)[:80].lower(), _FAMILIES, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else "."
    there = ", ".join(_FAMILIES)
    raise ValueError(f"no judge is called {str(name)[:80]!r}: there are {there}{meant}")


def _as_its_family_has_it(value: Any) -> Any:
    """Return plain data of a protocol as one of the family that it names."""
    if not isinstance(value, Mapping):
        return value
    name = value.get("judge", ACTIVE_CRITIC)
    if not isinstance(name, str):
        raise ValueError(f"a protocol names its family of judges; got {str(name)[:80]}.")
    return family_of(name).protocol_class.model_validate(dict(value))


AnyProtocol = Annotated[SerializeAsAny[JudgeProtocol], BeforeValidator(_as_its_family_has_it)]
"""A protocol of any family; plain data becomes one of the family that it names."""


@functools.cache
def _at(place: str) -> Any:
    """Return what stands at ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


register_family(
    Family(
        name=ACTIVE_CRITIC,
        judge="judgesmith.programs.active_critic:ActiveCritic",
        protocol="judgesmith.signatures.protocol:Protocol",
        steps="judgesmith.programs.critic_steps:critic_steps",
        forms="judgesmith.programs.critic_questions:critic_forms",
        about="scores every criterion with an explanation, then weighs them into one score",
        has_demonstrations=True,
    )
)
register_family(
    Family(
        name="direct",
        judge="judgesmith.programs.direct:Direct",
        protocol="judgesmith.signatures.direct:DirectProtocol",
        steps="judgesmith.programs.direct_steps:direct_steps",
        forms="judgesmith.programs.direct_steps:direct_forms",
        about="asks for a score and nothing else, of the whole or of each criterion",
    )
)
register_family(
    Family(
        name="exemplar",
        judge="judgesmith.programs.exemplar:ExemplarJudge",
        protocol="judgesmith.signatures.exemplars:ExemplarProtocol",
        steps="judgesmith.programs.exemplar_steps:exemplar_steps",
        forms="judgesmith.programs.exemplar_steps:exemplar_forms",
        about="compares with texts that a model wrote to be the worst, the best, and between",
        calls="judgesmith.programs.exemplar_steps:exemplar_calls",
        efforts="judgesmith.programs.exemplar_steps:exemplar_efforts",
        roles=(("writer", ("end", "between")),),
    )
)
register_family(
    Family(
        name="g-eval",
        judge="judgesmith.programs.g_eval:GEval",
        protocol="judgesmith.signatures.g_eval:GEvalProtocol",
        steps="judgesmith.programs.g_eval_steps:g_eval_steps",
        forms="judgesmith.programs.g_eval_steps:g_eval_forms",
        about="scores by evaluation steps that a model writes once, weighed by probabilities",
    )
)
register_family(
    Family(
        name="explain-eval",
        judge="judgesmith.programs.explain_eval:ExplainEval",
        protocol="judgesmith.signatures.explain_eval:ExplainEvalProtocol",
        steps="judgesmith.programs.explain_eval_steps:explain_eval_steps",
        forms="judgesmith.programs.explain_eval_steps:explain_eval_forms",
        about="analyses and rates each criterion, or the whole, in words and a score",
    )
)
register_family(
    Family(
        name="gptscore",
        judge="judgesmith.programs.gptscore:GPTScore",
        protocol="judgesmith.signatures.gptscore:GPTScoreProtocol",
        steps="judgesmith.programs.gptscore_steps:gptscore_steps",
        forms="judgesmith.programs.gptscore_steps:gptscore_forms",
        about="scores by how likely the model finds the response, token by token",
        scores_texts=True,
    )
)
register_family(
    Family(
        name="reference",
        judge="judgesmith.programs.reference:Reference",
        protocol="judgesmith.signatures.reference:ReferenceProtocol",
        steps="judgesmith.programs.reference_steps:reference_steps",
        forms="judgesmith.programs.reference_steps:reference_forms",
        about="measures likeness to the item's references, by ROUGE, BLEU, chrF, METEOR, BERTScore",
        reads_references=True,
        calls="judgesmith.programs.reference_steps:no_calls",
    )
)
register_family(
    Family(
        name="pairs",
        judge="judgesmith.programs.pairs:Pairs",
        protocol="judgesmith.signatures.pairs:PairsProtocol",
        steps="judgesmith.programs.pair_steps:lone_steps",
        forms="judgesmith.programs.pair_steps:pair_forms",
        about="ranks the responses to a source by comparing two at a time, in both orders",
        calls="judgesmith.programs.pair_steps:usual_calls",
        efforts="judgesmith.programs.pair_steps:pair_efforts",
        source_steps="judgesmith.programs.pair_steps:source_steps",
        most_calls="judgesmith.programs.pair_steps:most_calls",
    )
)
register_family(
    Family(
        name="prometheus",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:PrometheusProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks a Prometheus model in its own form, for feedback and a score from 1 to 5",
    )
)
register_family(
    Family(
        name="checklist",
        judge="judgesmith.programs.checklist:Checklist",
        protocol="judgesmith.signatures.checklist:ChecklistProtocol",
        steps="judgesmith.programs.checklist_steps:checklist_steps",
        forms="judgesmith.programs.checklist_steps:checklist_forms",
        about="asks yes-or-no questions about each criterion and takes the share of yes",
    )
)
register_family(
    Family(
        name="themis",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:ThemisProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks a Themis model in its own form, for an analysis and a rating from 1 to 5",
    )
)
register_family(
    Family(
        name="auto-j",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:AutoJProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks an Auto-J model in its own form, for a critique and a rating from 1 to 10",
    )
)
