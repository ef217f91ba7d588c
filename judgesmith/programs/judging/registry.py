"""Families of judges by name: those of the package, of others, and one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, SerializeAsAny

from judgesmith.errors import InputError, JudgesmithError, did_you_mean
from judgesmith.front_door import at, installed
from judgesmith.programs.judging.logprobs import OVERALL
from judgesmith.programs.judging.program import JudgeProgram, RequestProgram
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import (
    Asking,
    Once,
    each_scored,
    sampled_steps,
    told_inputs,
)
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import record_faults
from judgesmith.signatures.questions import Questions
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Rubrics, Space, asks_choices, usual_choices

if TYPE_CHECKING:
    import dspy


_LINES = ("steps", "questions", "shows", "ignores")  # what may be given by criterion


class UnknownJudgeError(InputError):
    """A kind of judge that nothing installed brings."""


ATTEMPTS_TO_READ = 2
"""How often a question is asked when the first answer cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How often one question is asked for all responses to a source, not less than it may be."""

    usual: float
    calls: float
    unlisted: float
    most: float

    @classmethod
    def each(cls, n: float) -> Effort:
        """Return the effort of ``n`` questions, each asked once more where it cannot be read."""
        return cls(usual=n, calls=n, unlisted=n, most=ATTEMPTS_TO_READ * n)


def usual_space(protocol: JudgeConfig, rubrics: Rubrics = None) -> Space:
    """Return the choices of most judges: the criterion, the scale, how answers are sampled."""
    return Space(choices=(*asks_choices(protocol, rubrics), *usual_choices(protocol)))


def once_per_sample(protocol: JudgeConfig) -> int:
    return len(family_of(protocol.judge).forms(protocol)) * protocol.samples


def calls_of_each(protocol: JudgeConfig, n_responses: int) -> int:
    return family_of(protocol.judge).calls(protocol) * n_responses


def spread_evenly(protocol: JudgeConfig, n_responses: int) -> dict[str, Effort]:
    """Return the efforts where every response takes as many calls, over all questions alike."""
    family = family_of(protocol.judge)
    questions = family.forms(protocol)
    n = family.calls(protocol) * n_responses / max(len(questions), 1)
    return {name: Effort.each(n) for name in questions}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFamily:
    """One kind of judge, by its parts: what all else reads. Callables take the configuration first.

    Attributes
    ----------
    name, about : str
        What ``--judge`` and the configuration's ``judge`` call it; what it does, in one sentence.
    protocol : type of JudgeConfig
        Its configuration.
    runs_code : bool
        Whether a Python module answers, not prompts that are rendered here.
    judge : class or str
        The ``Judge``. It needs DSPy, and is imported when it is used if it is named by its place,
        ``module:name``.
    questions : Questions or str
        The DSPy signatures; or their place.
    forms : callable
        Returns a ``QuestionForm`` by question, in the order in which they are asked.
    once : callable or None
        Takes an ``Asking``, and returns the judgement of one sample as a generator of questions;
        free of DSPy. None where each question asks for one score.
    steps : callable or None
        Takes a ``RatedItem``, and returns the whole judgement as a generator of questions; None
        where it is made of samples.
    inputs : callable
        Takes a question, and returns the inputs that are the same for every item: task and
        criteria, unless it is given.
    space : callable
        Takes other rubrics by name, and returns the ``Space`` of what can be chosen.
    has_demonstrations : bool
        Whether graded examples can be shown, drawn and worded for the questions of Active-Critic.
    scores_texts : bool
        Whether it asks how likely a given text is, which few endpoints return.
    reads_references : bool
        Whether it reads the ``references`` of items.
    is_portable : bool
        Whether a judgement is rendered prompts, answers in sections and plain weights alone, which
        exports can tell and carry.
    calls : callable
        Returns how many calls a text takes if every answer can be read; each question once per
        sample, unless it is given.
    efforts : callable
        Takes the number of responses to a source and returns an ``Effort`` by question; ``calls``
        for every response, spread evenly over the questions, unless it is given.
    roles : tuple of (str, tuple of str)
        Work that another model than the judge's own may do: its name, and its questions.
    source_steps, most_calls : callable
        Of a family that judges all responses to a source together: takes the items, and returns
        the steps to their judgements; takes their number, and returns the most calls, if every
        answer can be read.
    """

    name: str
    about: str
    protocol: type[JudgeConfig]
    judge: type | str
    forms: Callable[[Any], dict[str, QuestionForm]]
    questions: Questions | str = ""
    once: Callable[[Any, Asking], Once] | None = None
    steps: Callable[[Any, RatedItem], JudgeProgram] | None = None
    inputs: Callable[[Any, str], dict[str, str]] = told_inputs
    space: Callable[[Any, Rubrics], Space] = usual_space
    has_demonstrations: bool = False
    scores_texts: bool = False
    reads_references: bool = False
    is_portable: bool = False
    runs_code: bool = False
    calls: Callable[[Any], int] = once_per_sample
    efforts: Callable[[Any, int], dict[str, Effort]] = spread_evenly
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    source_steps: Callable[[Any, Sequence[RatedItem]], RequestProgram[list[Judgement]]] | None = (
        None
    )
    most_calls: Callable[[Any, int], int] = calls_of_each

    @property
    def ranks(self) -> bool:
        """Whether scores are ranks within a source, which say nothing about another source."""
        return self.source_steps is not None

    @property
    def asks(self) -> bool:
        """Whether a model is asked anything, or numbers are made of the texts alone."""
        return bool(self.forms(self.protocol.model_validate({"judge": self.name})))

    def start(self, rubric: Rubric | Mapping[str, Any] | None = None, **choices: Any) -> Any:
        """Return a judge as it is before anything is learned.

        Parameters
        ----------
        rubric : Rubric, mapping or None
            Task and criteria; None takes the general ones.
        **choices
            Parts of the configuration; ``ValueError`` if they make no judge of this family.
        """
        given = choices if rubric is None else {"rubric": rubric, **choices}
        protocol = validated(self.protocol, given)
        check_lines_given(protocol, given)
        return self.judge_of(protocol)

    def judge_of(self, protocol: JudgeConfig) -> Any:
        """Return the judge that follows a protocol of this family."""
        return family_part(self, "judge")(protocol)

    def program(self, protocol: JudgeConfig, item: RatedItem) -> JudgeProgram:
        """Return the judgement of one response, as a generator of questions."""
        if self.steps is not None:
            return self.steps(protocol, item)
        own = self.once or functools.partial(each_scored, questions=self.forms(protocol))
        return sampled_steps(protocol, lambda asking: own(protocol, asking), item)


def family_part(family: JudgeFamily, name: Literal["judge", "questions"]) -> Any:
    """Return a part of a family, imported if it is named by its place."""
    place = getattr(family, name)
    try:
        return at(place)
    except JudgesmithError:
        raise
    except (ImportError, AttributeError, ValueError) as fault:
        raise InputError(
            f"the {name} of the judge family {family.name} cannot be imported from {place!r}: "
            f"{str(fault).rstrip('.')}.",
            hint="a place is 'module:name'.",
        ) from fault


ACTIVE_CRITIC = "active-critic"
"""The family that is taken where none is named."""

_SHIPPED_IN = {
    ACTIVE_CRITIC: "active_critic:ACTIVE_CRITIC",
    "direct": "pointwise:DIRECT",
    "exemplar": "exemplar:EXEMPLAR",
    "g-eval": "pointwise:G_EVAL",
    "explain-eval": "pointwise:EXPLAIN_EVAL",
    "gptscore": "pointwise:GPTSCORE",
    "reference": "reference:REFERENCE",
    "pairs": "pairwise:PAIRS",
    "prometheus": "trained:PROMETHEUS",
    "checklist": "pointwise:CHECKLIST",
    "themis": "trained:THEMIS",
    "auto-j": "trained:AUTO_J",
    "annotator": "trained:ANNOTATOR",
    "distilled": "trained:DISTILLED",
    "verdict": "verdict:VERDICT",
    "wrapped": "wrapped:WRAPPED",
    "judge-model": "trained:JUDGE_MODEL",
}
_OF_CODE = {"module": "judgesmith.programs.families.wrapped:MODULE"}  # by wrap alone: never listed
SHIPPED = {name: f"judgesmith.programs.families.{place}" for name, place in _SHIPPED_IN.items()}
"""Where the families of the package are, in the order in which they are listed."""


ENTRY_POINTS = "judgesmith.judges"
"""The group of entry points by which a package makes its families known to the command line."""

_FAMILIES: dict[str, JudgeFamily | str] = dict(SHIPPED)


def register_family(family: JudgeFamily) -> None:
    """Make a family of judges known by its name in this process.

    Parameters
    ----------
    family : JudgeFamily
        Known from now on to ``family_of``, ``compile`` and saved judges.

    Raises
    ------
    ValueError
        If another one has that name.
    """
    known = _loaded(_FAMILIES.setdefault(family.name, family))
    if known != family:
        raise InputError(
            f"there is a family of judges called {family.name}.",
            hint="choose another name, or start Python again to change it.",
        )


def known_families() -> tuple[JudgeFamily, ...]:
    """Return all families that were registered or found so far, those that ship first.

    Examples
    --------
    >>> [family.name for family in known_families()][:3]
    ['active-critic', 'direct', 'exemplar']
    """
    return tuple(map(_loaded, _FAMILIES.values()))


def _loaded(family: JudgeFamily | str) -> JudgeFamily:
    if isinstance(family, JudgeFamily):
        return family
    found: JudgeFamily = at(family)
    return found


@functools.cache
def _register_installed() -> None:
    """Register the families that installed packages name under ``judgesmith.judges``."""
    for found in installed(ENTRY_POINTS, JudgeFamily, what="family of judges"):
        register_family(found)


def family_of(name: str) -> JudgeFamily:
    """Return the family of that name, as ``--judge`` takes it, or of an installed package.

    Parameters
    ----------
    name : str
        As ``--judge`` takes it.

    Raises
    ------
    ValueError
        If the name is unknown; the message names the nearest.

    Examples
    --------
    >>> family_of("active-critic").has_demonstrations
    True
    """
    if name not in _FAMILIES:
        _register_installed()
    if (found := _FAMILIES.get(name) or _OF_CODE.get(name)) is not None:
        return _loaded(found)
    raise UnknownJudgeError(
        f"no judge is called {str(name)[:80]!r}: there are {', '.join(_FAMILIES)}.",
        hint=did_you_mean(name, _FAMILIES),
    )


def _as_its_family_has_it(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    name = value.get("judge", ACTIVE_CRITIC)
    if not isinstance(name, str):
        raise InputError(
            f"the judge of a configuration must be the name of a family; got {str(name)[:80]}."
        )
    return family_of(name).protocol.model_validate(dict(value))


AnyProtocol = Annotated[SerializeAsAny[JudgeConfig], BeforeValidator(_as_its_family_has_it)]
"""A protocol of any family; plain data becomes one of the family that it names."""


Model = TypeVar("Model")
Own = TypeVar("Own", bound=JudgeConfig)


def check_roles(family: JudgeFamily, roles: Iterable[str]) -> None:
    known = [name for name, _ in family.roles]
    for role in roles:
        if role in known:
            continue
        raise InputError(
            f"a judge of the family {family.name} has no role {role[:80]!r}.",
            hint=did_you_mean(role, known) or f"it has {', '.join(known) or 'none'}.",
        )


def by_question(family: JudgeFamily, models: Mapping[str, Model]) -> dict[str, Model]:
    check_roles(family, models)
    return {
        question: models[role]
        for role, questions in family.roles
        if role in models
        for question in questions
    }


def with_roles(judge: dspy.Module, models: Mapping[str, dspy.LM]) -> dspy.Module:
    """Return a copy of a judge that has some of its work done by other models, by role.

    Parameters
    ----------
    judge : Judge
        Left as it is.
    models : dict of str to dspy.LM
        By role; the family says which there are.

    Raises
    ------
    ValueError
        If the family has no such role.

    Examples
    --------
    >>> from judgesmith.programs.families.modules import ExemplarJudge
    >>> from judgesmith.programs.lm import model
    >>> judge = with_roles(ExemplarJudge(), {"writer": model("openai/m", ledger=None)})
    >>> sorted(judge.own_models()), judge.own_models()["end"].model
    (['between', 'end'], 'openai/m')
    """
    own = by_question(family_of(judge.protocol.judge), models)
    other = judge.with_protocol(judge.protocol)
    for name, predictor in other.named_predictors():
        predictor.lm = own.get(name, predictor.lm)
    return other


def validated(kind: type[Own], parts: Mapping[str, Any]) -> Own:
    with record_faults(kind.model_fields):
        return kind.model_validate(dict(parts))


def check_lines_given(own: JudgeConfig, choices: Mapping[str, Any]) -> None:
    """Refuse steps or questions, given to a judge, for what is no criterion of it."""
    names = own.rubric.names
    for part in _LINES:
        if part not in choices or part not in type(own).model_fields:
            continue
        for name in getattr(own, part):
            if ":" in name or name in (*names, OVERALL):
                continue
            known = f"there are {', '.join(names)}." if names else "the rubric has none."
            raise InputError(
                f"{part} for {name[:80]!r}, which is not a criterion.",
                hint=did_you_mean(name, names) or known,
            )
