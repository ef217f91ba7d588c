"""Front doors that open only when somebody goes through: names load what they need, when used."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from judgesmith.errors import InputError, did_you_mean

Made = TypeVar("Made")
P = ParamSpec("P")


@functools.cache
def at(place: Any) -> Any:
    """Return what stands at ``module:name``, imported now; anything else as it is."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    found = import_module(module)
    return attrgetter(name)(found) if name else found


def installed(group: str, kind: type[Made], *, what: str) -> Iterator[Made]:
    """Yield what installed packages name under a group of entry points, each of one kind."""
    from importlib.metadata import entry_points  # loads much that --help does not need

    for point in entry_points(group=group):
        try:
            found = point.load()
        except Exception as fault:
            raise InputError(
                f"the {what} {point.name} cannot be imported from {point.value}: {fault}."
            ) from fault
        if not isinstance(found, kind):
            raise InputError(
                f"{point.value} is to be a {kind.__name__} ({point.name} under {group}); it is a "
                f"{type(found).__name__}."
            )
        yield found


def public(name: str, also: Sequence[str] = ()) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """Refuse arguments that a function, or its ``**`` by ``also``, lacks under its public name."""

    def decorate(function: Callable[P, Made]) -> Callable[P, Made]:
        form = signature(function)
        takes = [one.name for one in form.parameters.values() if one.kind is not one.VAR_KEYWORD]
        takes = [*(one for one in takes if one != "self"), *also]
        needed = [
            one.name
            for one in form.parameters.values()
            if one.kind is one.KEYWORD_ONLY and one.default is one.empty
        ]

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Made:
            if also and (said := misfit(name, takes, kwargs)):
                raise TypeError(said)
            try:
                form.bind(*args, **kwargs)
            except TypeError as fault:
                by_name = ", ".join(f"{one}=…" for one in needed)
                usual = f"{name}(): {fault}{by_name and f'; call {name}({by_name})'}."
                raise TypeError(misfit(name, takes, kwargs) or usual) from None
            return function(*args, **kwargs)

        return call

    return decorate


_ALSO_CALLED = {
    "model": "lm",
    "map": "columns",
    "mapping": "columns",
    "metric": "objective",
    "trainset": "dataset",
    "data": "dataset",
    "num_threads": "concurrency",
    "test_size": "holdout",
    "random_state": "seed",
    "verbose": "progress",
    **dict.fromkeys(("n_demos", "max_bootstrapped_demos", "k"), "n_demonstrations"),
}
_OF_MODELS = ("max_usd", "max_calls", "max_tokens", "max_minutes", "budget", "api_base")
_ELSEWHERE = {
    "threshold": "DSPy's optimizers take one: BootstrapFewShot(metric=…, metric_threshold=0.5).",
    "columns": "judgesmith.read and judgesmith.score_batch take it.",
    "rubric": "a judge has it: judge=judgesmith.ActiveCritic(rubric=…).",
    "metrics": "found.rows has human and predicted, for any other.",
}
_MOST_NAMED = 12


def misfit(name: str, takes: Iterable[str], given: Iterable[str]) -> str | None:
    """Return that a function has no arguments of the names that it does not take."""
    takes = list(takes)
    known = [one for one in dict.fromkeys(takes) if one != "self"]
    faults = [f"{one!r}; {_instead(one, known)}" for one in given if one not in takes]
    return f"{name}() has no argument {' No '.join(faults)}" if faults else None


def _instead(unknown: str, known: Sequence[str]) -> str:
    """Return which known name is meant, or some of them."""
    begun = (one for one in known if one.startswith(f"{unknown}_"))
    meant = _ALSO_CALLED.get(unknown)
    if (meant := meant if meant in known else next(begun, None)) is not None:
        return f"did you mean {meant}?"
    if unknown in _OF_MODELS and "lm" in known:
        given = "max_usd" if unknown == "budget" else unknown
        return f"a model has it: lm=judgesmith.model('openai/gpt-4o-mini', {given}=…)."
    if unknown in _ELSEWHERE:
        return _ELSEWHERE[unknown]
    some, more = ", ".join(known[:_MOST_NAMED]), len(known) - _MOST_NAMED
    others = f" and {more} others" if more > 0 else ""
    return did_you_mean(unknown, known, cutoff=0.75) or f"it has {some}{others}."


_ROWS = "judgesmith.score_batch(judge, rows) scores rows, judge(source=…, response=…) one text."
_OF_JUDGES = {
    **dict.fromkeys(("score", "score_batch", "predict", "judge"), _ROWS),
    "metric": "judge.as_metric() is one for DSPy.",
    "evaluate": "it is judgesmith.evaluate(judge, data).",
    "compare": "it is judgesmith.compare(judge, other, data).",
    "compile": "it is judgesmith.compile(data, judge=judge).",
    "to_pandas": "judgesmith.score_batch(judge, rows) has it.",
    "program": "it is the module itself: judge(source=…, response=…).",
    "serve": "save it, then: judgesmith serve FOLDER; or of judgesmith.programs.serving "
    'run(app({"judge": judge}), bound_socket("127.0.0.1", 8000)).',
    "export": "save it, then: judgesmith export FOLDER.",
}
_OF_RESULTS = dict.fromkeys(
    (*_OF_JUDGES, "as_metric", "acall", "batch", "scale", "protocol", "set_lm", "module"),
    "the judge, a dspy.Module, is result.judge.",
) | {
    "evaluate": "it is judgesmith.evaluate(result, data).",
    "compare": "it is judgesmith.compare(result, other, data).",
    "score": _ROWS.replace("(judge,", "(result,").replace(" judge(", " result.judge("),
}
_REPORTS = (
    "its reports are unseen and seen: found.unseen['dataset']['pearson'] has value, low, high"
)
_OF_FRAMES = ("columns", "describe", "groupby", "head", "iloc", "loc", "tail", "to_csv")
_GUESSED = {
    "judgesmith": dict.fromkeys(("score", "predict", "judge"), _ROWS)
    | {
        "GEPA": "it is judgesmith.compile(data, optimizer='reflective').",
        "LM": "it is judgesmith.model('openai/gpt-4o-mini'), or any dspy.LM.",
        "configure": "give lm= to a call, or use dspy.configure(lm=…).",
        "metric": "it is judgesmith.as_metric(judge), or judge.as_metric().",
        "optimize": "it is judgesmith.compile(data).",
        "plot": "results have it: judgesmith.compile(data).plot().",
        "save": "results have it: judgesmith.compile(data).save('judge').",
    },
    "AsMetric": _OF_JUDGES,
    "CompileResult": {
        **_OF_RESULTS,
        **dict.fromkeys(
            ("pearson", "spearman", "kendall", "r", "[]"),
            "result.heldout['dataset']['pearson'] has value, low, high.",
        ),
        **dict.fromkeys(("trials", "history"), "trials are in result.saved.history."),
        "()": "call its judge: result.judge(source=…, response=…).",
    },
    "ClientLM": dict.fromkeys(
        ("usage", "spent", "cost"),
        "in judgesmith.programs.lm: lm_client_of(lm).usage.",
    ),
    "DataSet": dict.fromkeys(
        ("split", "train_test_split"), "compile(data, holdout=0.3) holds rows out by source."
    ),
    "JudgePrediction": dict.fromkeys(
        ("reasoning", "rationale", "feedback"), "it is verdict.explanation."
    ),
    "Judgements": dict.fromkeys(
        ("score", "scores", "df"), "it is scored[0].score, or scored.to_pandas()['score']."
    ),
    "Result": dict.fromkeys(("df", "dataframe", "table"), "it is result.to_pandas().")
    | dict.fromkeys(_OF_FRAMES, "result.to_pandas() is a DataFrame."),
    "Evaluation": dict.fromkeys(("pearson", "spearman", "heldout", "r", "[]"), f"{_REPORTS}."),
    "Comparison": dict.fromkeys(
        ("p_value", "difference", "[]"), "comparison.gain has value, low, high, p_value."
    ),
}
"""What to do instead of a guessed name; ``[]`` is a subscript, ``()`` a call."""


class Guessed:
    """Base of classes that say what to do where somebody guesses a name which they lack."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            self._guess(name, AttributeError, f"has no {name!r}", name=name)
            return getattr(super(), "__getattr__", self.__getattribute__)(name)

        def _guess(self, key: str, kind: type[Exception], fault: str, /, **told: str) -> None:
            for own in type(self).__mro__:
                if key in (known := _GUESSED.get(own.__name__, {})):
                    raise kind(f"{type(self).__name__} {fault}; {known[key]}", **told)


def front_door(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that loads names from their ``places`` when first used."""

    def load(name: str) -> Any:
        if name not in places:
            known = _GUESSED.get(package, {}).get(name) or _instead(name, sorted(places))
            raise AttributeError(f"{package} has no {name!r}; {known}")
        return at(places[name])

    return load


def stub_door(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for the names that the stub imports."""
    stub = Path(file).with_suffix(".pyi")
    imports = [
        line
        for line in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(line, ast.ImportFrom)
    ]
    places = {
        name.asname or name.name: f"{line.module}:{name.name}"
        for line in imports
        for name in line.names
    }
    names = sorted(name for name, place in places.items() if place != f"{package}:{name}")
    places |= {name: f"{package}.{name}:" for name in places if name not in names}
    find = front_door(package, places)

    def load(name: str) -> Any:
        guessed = name in _GUESSED.get(package, {})
        unknown = name not in places and not name.startswith("_") and not guessed
        if unknown and find_spec(f"{package}.{name}") is None:  # modules are imported after this
            _say_where(name, package, [one for one in places if one not in names])
        found = find(name)
        setattr(sys.modules[package], name, found)  # found once, it needs no door
        return found

    return load, lambda: sorted(places), names


def _say_where(name: str, package: str, inside: Iterable[str]) -> None:
    """Raise an error that says which packages inside a package have a public name, if any do."""
    known = getattr(sys.modules[package], "__all__", ())
    is_begun = any(one.startswith(f"{name}_") for one in known)
    if package == "judgesmith" and not is_begun and name in at("judgesmith.cli.main:COMMANDS"):
        raise AttributeError(f"{package} has no {name!r}; it is a command: {package} {name}.")
    doors = [f"{package}.{one}" for one in inside]
    having = [one for one in doors if name in getattr(import_module(one), "__all__", ())]
    if having:
        raise AttributeError(f"{package} has no {name!r}; {' and '.join(having)} has it.")
