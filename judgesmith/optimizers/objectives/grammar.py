"""Objectives as people write them: ``q + .5*kappa - .01*calls; scored >= .95``.

::

    objectives = sum { "," sum } { ";" constraint }
    constraint = sum ( ">=" | "<=" ) [ "+" | "-" ] number
    sum        = [ "+" | "-" ] term { ( "+" | "-" ) term }
    term       = [ number [ "*" ] ] name [ "@" level | "(" costs ")" ]
    costs      = label "=" number { "," label "=" number }
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from judgesmith.errors import InputError, did_you_mean
from judgesmith.metrics.correlation import Level, Statistic
from judgesmith.metrics.pairs import PairLevel
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Agreement,
    Kappa,
    NeighbourAccuracy,
    TieAccuracy,
)
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import (
    Constrained,
    Constraint,
    SeveralObjectives,
    WeightedSum,
    has_wrong_sign,
)
from judgesmith.optimizers.objectives.discernment import (
    AverageDiscernment,
    FalseAlarms,
    LowestDiscernment,
)
from judgesmith.optimizers.objectives.functions import (
    KINDS,
    CallsPerItem,
    DollarsPerItem,
    ShareScored,
    objective_of,
)
from judgesmith.optimizers.objectives.verdicts import Terms, VerdictCost, VerdictRate, costs_of

CORRELATIONS: tuple[Statistic, ...] = ("q", *(name for name in get_args(Statistic) if name != "q"))

PLAIN: Mapping[str, Callable[[], Objective]] = {
    "kappa": Kappa,
    "kappa_linear": lambda: Kappa("linear"),
    "adjacent": NeighbourAccuracy,
    "mae": AbsoluteError,
    "balanced_accuracy": VerdictRate,
    "mcc": lambda: VerdictRate("mcc"),
    "f1": lambda: VerdictRate("f1"),
    "tpr": lambda: VerdictRate("tpr"),
    "tnr": lambda: VerdictRate("tnr"),
    "cost": VerdictCost,
    "d_min": LowestDiscernment,
    "d_avg": AverageDiscernment,
    "false_alarms": FalseAlarms,
    "scored": ShareScored,
    "calls": CallsPerItem,
    "usd": DollarsPerItem,
}
"""Names that stand at no level."""

TIES = "ties"  # the share of pairs ordered, or tied, as people do; it has levels of its own

NAMES: tuple[str, ...] = (*CORRELATIONS, TIES, *PLAIN)

DEFAULT = "q"  # the text of the objective that is taken where none is given
AnyObjective = Objective | Callable[..., Any] | str  # what optimizers take: see ``as_objective``

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<sign>>=|<=|[-+*;@,])|(?P<other>\S))"
)
_SHOWN = 60  # characters of a text that a message repeats before the place, and after it


def parse_objective(text: str) -> Objective:
    """Return the objective that ``text`` writes.

    Parameters
    ----------
    text : str
        Such as ``q``, ``pearson@sample``, ``q + .5*kappa`` or ``q; kappa >= .4``. See
        ``docs/reference/objectives/index.md`` for all names.

    Raises
    ------
    ValueError
        If it writes none; the message names the place, and what was expected there.

    Examples
    --------
    >>> parse_objective("spearman@sample")
    Agreement(statistic='spearman', level='sample')
    >>> str(parse_objective("q+.5*kappa-.01*calls;scored>=.95"))
    'q + 0.5*kappa - 0.01*calls; scored >= 0.95'
    """
    return _Reader(text).objective()


def as_objective(
    given: AnyObjective, metric: AnyObjective | SeveralObjectives | None = None
) -> Objective:
    """Return an objective, or the one that a text, a function or a metric of DSPy's kind is."""
    given = _instead(given, metric)
    if isinstance(given, str):
        return parse_objective(given)
    if isinstance(given, Objective):
        if given.lower_is_better:
            raise InputError(f"{given} is better when lower; subtract it, as in '-{given}'.")
        return given
    if callable(given) and not isinstance(given, type):
        return objective_of(given)
    raise InputError(f"an objective is a text such as 'q', {KINDS}; got {given!r:.80}.")


def as_objectives(
    given: AnyObjective | SeveralObjectives, metric: AnyObjective | SeveralObjectives | None = None
) -> Objective | SeveralObjectives:
    """Return one objective, as ``as_objective`` does, or several."""
    given = _instead(given, metric)
    if isinstance(given, str):
        return parse_objectives(given)
    return given if isinstance(given, SeveralObjectives) else as_objective(given)


def _instead(given: Any, metric: Any) -> Any:
    """Return the metric where there is one: ``metric=`` is DSPy's word for an objective."""
    if metric is None:
        return given
    if str(given) != DEFAULT:
        raise InputError("metric= stands in for objective=.", hint=f"drop {given} or the metric.")
    return metric


def parse_objectives(text: str) -> Objective | SeveralObjectives:
    """Return the objective that ``text`` writes, or the several ones, with commas between.

    Parameters
    ----------
    text : str
        As for ``parse_objective``; conditions hold for all objectives.

    Examples
    --------
    >>> str(parse_objectives("q,-calls;scored>=.95"))
    'q, -calls; scored >= 0.95'
    """
    return _Reader(text).objectives()


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.token = self._next()

    def objective(self) -> Objective:
        aim = self._sum()
        if self._at(","):
            raise self._fault(
                "one objective; several, with commas between, are for a search of the protocol "
                "(--optimizer protocol)"
            )
        return self._whole(aim)

    def objectives(self) -> Objective | SeveralObjectives:
        aims = [self._sum()]
        while self._at(","):
            self._step()
            aims.append(self._sum())
        if len(aims) == 1:
            return self._whole(aims[0])
        return SeveralObjectives(tuple(map(_alone, aims)), self._constraints())

    def _whole(self, aim: WeightedSum) -> Objective:
        constraints = self._constraints()
        return Constrained(aim, constraints) if constraints else _alone(aim)

    def _constraints(self) -> tuple[Constraint, ...]:
        constraints = []
        while self._at(";"):
            self._step()
            constraints.append(self._constraint())
        if self.token.kind != "end":
            raise self._fault("; or the end" if constraints else "+, -, ; or the end")
        return tuple(constraints)

    def _constraint(self) -> Constraint:
        start = self.token
        terms = self._terms()
        if not self._at(">=", "<="):
            raise self._fault("+, -, >= or <=")
        sign = 1.0 if self._step().text == ">=" else -1.0
        bound = self._sign() * self._number("a number to compare with")
        turned = tuple((sign * weight, atom) for weight, atom in terms)
        return Constraint(self._made(turned, start, in_constraint=True), sign * bound)

    def _sum(self) -> WeightedSum:
        start = self.token
        return self._made(self._terms(), start)

    def _made(self, terms: Terms, start: _Token, *, in_constraint: bool = False) -> WeightedSum:
        for weight, atom in terms:
            if not has_wrong_sign(weight, atom):
                continue
            better, bound = "higher", f"bound it from below, as in {atom} >= .4."
            term = f"add it, as in 2*{atom}."
            if weight > 0:
                better, bound = "lower", f"bound it from above, as in {atom} <= 2."
                term = f"subtract it, as in q - .1*{atom} or -{atom}."
            raise InputError(
                f"{self._place(start)}: {atom} is better when {better}.",
                hint=bound if in_constraint else term,
            )
        return WeightedSum(terms)

    def _terms(self) -> Terms:
        found = [self._term(self._sign())]
        while self._at("+", "-"):
            found.append(self._term(self._sign()))
        return tuple(found)

    def _term(self, sign: float) -> tuple[float, Objective]:
        weight = 1.0
        if self.token.kind == "number":
            start = self.token
            weight = self._number("a weight")
            if weight == 0:
                raise self._fault("a weight other than 0, or no such term", start)
            if self._at("*"):
                self._step()
        return sign * weight, self._atom()

    def _atom(self) -> Objective:
        if self.token.kind != "name" or self.token.text not in NAMES:
            what = "a known name" if self.token.kind == "name" else "a name or a weight"
            raise self._fault(f"{what}; names are {', '.join(NAMES)}", known=NAMES)
        name = self._step().text
        level: Any = "dataset"
        if self._at("@"):
            at = self._step()
            known = _levels(name)
            if not known:
                raise self._fault(f"no level, which {name} does not have", at)
            if self.token.text not in known:
                raise self._fault(f"a level; those of {name} are {', '.join(known)}", known=known)
            level = self._step().text
        if name == "cost" and self.token.text == "(":
            return VerdictCost(self._costs())
        if name in PLAIN:
            return PLAIN[name]()
        return TieAccuracy(level) if name == TIES else Agreement(name, level)  # type: ignore[arg-type]

    def _costs(self) -> tuple[tuple[str, float], ...]:
        """Read what wrong verdicts cost, by label, to the closing bracket."""
        within, closed, _ = self.text[self.token.start + 1 :].partition(")")
        if not closed:
            raise self._fault("costs in brackets, as in cost(fail=5, pass=1)")
        self.place = self.token.start + 1 + len(within) + 1
        try:
            costs = costs_of(within)
        except InputError as fault:
            raise InputError(f"{self._place(self.token)}: {fault}") from None
        self.token = self._next()
        return costs

    def _sign(self) -> float:
        if not self._at("+", "-"):
            return 1.0
        return -1.0 if self._step().text == "-" else 1.0

    def _number(self, what: str) -> float:
        if self.token.kind != "number" or not math.isfinite(float(self.token.text)):
            raise self._fault(what)
        return float(self._step().text)

    def _at(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.text in signs

    def _step(self) -> _Token:
        done, self.token = self.token, self._next()
        return done

    def _next(self) -> _Token:
        found = _TOKEN.match(self.text, self.place)
        if found is None:
            return _Token("end", "", len(self.text))
        self.place = found.end()
        kind = found.lastgroup or "other"
        return _Token(kind, found[kind], found.start(kind))

    def _fault(
        self, expected: str, at: _Token | None = None, *, known: Sequence[str] = ()
    ) -> InputError:
        """Return the refusal of a token, with the nearest of the names that are ``known`` there."""
        token = at or self.token
        came = "the end" if token.kind == "end" else repr(token.text[:_SHOWN])
        return InputError(
            f"{self._place(token)}: expected {expected}; got {came}.",
            hint=did_you_mean(token.text[:_SHOWN], known),
        )

    def _place(self, token: _Token) -> str:
        shown = self.text[max(0, token.start - _SHOWN) : token.start + _SHOWN]
        return f"the objective {shown!r} cannot be read at character {token.start + 1}"


def _alone(aim: WeightedSum) -> Objective:
    weight, atom = aim.terms[0]
    return atom if len(aim.terms) == 1 and weight == 1 else aim


def _levels(name: str) -> tuple[str, ...]:
    if name in CORRELATIONS:
        return get_args(Level)
    return get_args(PairLevel) if name == TIES else ()
