"""Judges in pytest: ``assert_judged``, ``assert_judged_all`` and ``assert_passes``.

All are fixtures, and can be imported. Loading this costs nothing: what judges is imported when the
first assertion is made, and a session without one is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgesmith.errors import InputError

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.pytest_session import Judging
    from judgesmith.signatures import Judgement, RatedItem

__all__ = ["assert_judged", "assert_judged_all", "assert_passes"]

_OPTIONS = {
    "model": "provider/model, or offline [default: that of the judge]",
    "allow_models": "models that judges name and may ask, with commas between",
    "api_base": "address of an OpenAI-compatible server",
    "ledger": "where answers are kept [default: .judgesmith/ledger.sqlite under the root]",
    "max_calls": "requests to send at most, in all tests together",
    "max_usd": "dollars to spend at most, in all tests together",
}
_SPENT = ("judgements", "calls", "hits", "tokens", "usd")


def assert_judged(
    judge: AnySaved | str | Path,
    *,
    response: str,
    source: str = "",
    context: str | None = None,
    references: Iterable[str] = (),
    at_least: float | None = None,
    at_most: float | None = None,
    criteria: Mapping[str, float] | None = None,
    no_errors: bool = False,
    unscored: bool = False,
) -> Judgement:
    """Assert what a judge says of a response, and return it.

    Parameters
    ----------
    judge : str, Path or saved judge
        A folder that ``judgesmith compile`` made, looked for in the working folder and in the
        root of the tests.
    response, source, context, references
        The text under judgement, what it answers, and what else the judge may see.
    at_least, at_most : float or None
        Bounds of the score, in points of the judge's scale.
    criteria : dict of str to float, or None
        Lowest score by criterion, from 0 to 100.
    no_errors : bool
        Whether the judge may point at no error; it has to be one that looks for errors.
    unscored : bool
        Whether it is fine, too, if there is no score.

    Raises
    ------
    AssertionError
        If the judgement is not as expected, or has no score; the message says why.
    ValueError
        If there is no such judge, its model cannot be asked, or a bound is outside its scale.
    """
    __tracebackhide__ = True
    from judgesmith.programs.artifacts.differences import Expectation, told

    expected = Expectation(
        at_least=at_least,
        at_most=at_most,
        criteria=criteria or {},
        no_errors=no_errors,
        unscored=unscored,
    )
    texts = {"source": source, "context": context, "response": response}
    (item,) = _items([{**texts, "references": references}])
    (found,) = _judging().judged(judge, [item], expected)
    if short := expected.shortcomings(found):
        raise AssertionError(told(response, found, short))
    return found


def assert_judged_all(
    judge: AnySaved | str | Path,
    items: Iterable[RatedItem | Mapping[str, Any]],
    *,
    share: float = 1.0,
    at_least: float | None = None,
    at_most: float | None = None,
    criteria: Mapping[str, float] | None = None,
    no_errors: bool = False,
    unscored: bool = False,
) -> list[Judgement]:
    """Assert that a share of several responses is judged as expected, and return all judgements.

    Parameters
    ----------
    judge, at_least, at_most, criteria, no_errors, unscored
        As for ``assert_judged``.
    items : iterable of RatedItem or dict
        With ``response``, and ``source``, ``context`` and ``references`` where there are some.
        Judged at the same time, each once.
    share : float, above 0 and up to 1
        Of all items, those without a score among them.

    Raises
    ------
    AssertionError
        If fewer are as expected; the message names the first five that are not.
    ValueError
        As for ``assert_judged``; if there are no items, or ``share`` is none.
    """
    __tracebackhide__ = True
    from judgesmith.programs.artifacts.differences import Expectation, told

    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and up to 1; got {share}.")
    expected = Expectation(
        at_least=at_least,
        at_most=at_most,
        criteria=criteria or {},
        no_errors=no_errors,
        unscored=unscored,
    )
    given = _items(items)
    if not given:
        raise InputError("there are no items to judge.", hint="give at least one.")
    found = _judging().judged(judge, given, expected)
    failed = [
        f"item {number}: {told(item.response, one, short)}"
        for number, (item, one) in enumerate(zip(given, found, strict=True), start=1)
        if (short := expected.shortcomings(one))
    ]
    n_good = len(given) - len(failed)
    if n_good < share * len(given) - 1e-9:
        head = f"{n_good} of {len(given)} responses are as expected, and {share:g} of them should"
        raise AssertionError("\n".join([f"{head} be", *failed[:5]]))
    return found


def assert_passes(
    judge: AnySaved | str | Path,
    *,
    response: str,
    source: str = "",
    context: str | None = None,
    references: Iterable[str] = (),
    unscored: bool = False,
) -> Judgement:
    """Assert that a judge gives a response the label of good ones, such as pass, and return it.

    Parameters
    ----------
    judge, response, source, context, references, unscored
        As for ``assert_judged``; the judge has to give labels.

    Raises
    ------
    AssertionError
        If the label is another, or is missing; the message has the label, its probability and
        the judge's critique.
    ValueError
        If there is no such judge, it gives no labels, or its model cannot be asked.
    """
    __tracebackhide__ = True
    from judgesmith.programs.artifacts.differences import Expectation, told

    expected = Expectation(label=_judging().positive_label(judge), unscored=unscored)
    texts = {"source": source, "context": context, "response": response}
    (item,) = _items([{**texts, "references": references}])
    (found,) = _judging().judged(judge, [item], expected)
    if short := expected.shortcomings(found):
        raise AssertionError(told(response, found, short))
    return found


def _items(items: Iterable[RatedItem | Mapping[str, Any]]) -> list[RatedItem]:
    """Return what is judged, or raise a ``ValueError`` that says which is no item."""
    __tracebackhide__ = True
    from pydantic import ValidationError

    from judgesmith.signatures import RatedItem
    from judgesmith.signatures.plain_data import plain_faults

    found = []
    for number, one in enumerate(items, start=1):
        try:
            found.append(one if isinstance(one, RatedItem) else RatedItem.model_validate(one))
        except ValidationError as fault:
            raise InputError(f"item {number}: {plain_faults(fault)}.") from None
    return found


@pytest.fixture(name="assert_judged", scope="session")
def _assert_judged() -> Any:
    """Return ``assert_judged``."""
    return assert_judged


@pytest.fixture(name="assert_judged_all", scope="session")
def _assert_judged_all() -> Any:
    """Return ``assert_judged_all``."""
    return assert_judged_all


@pytest.fixture(name="assert_passes", scope="session")
def _assert_passes() -> Any:
    """Return ``assert_passes``."""
    return assert_passes


class _Session:
    """What a session is told, and its judging once there is any."""

    def __init__(self, config: pytest.Config | None) -> None:
        self.config = config
        self.judging: Judging | None = None
        self.of_workers: list[dict[str, float | None]] = []

    def made(self) -> Judging:
        """Return what judges for the session."""
        if self.judging is None:
            from judgesmith.pytest_session import Judging, SessionModel

            self.judging = Judging(SessionModel(**self._told()), self._folder())
        return self.judging

    def spent(self) -> dict[str, float | None] | None:
        """Return what this process asked; None where it asked nothing."""
        return None if self.judging is None else self.judging.usage()

    def _folder(self) -> Path:
        return Path.cwd() if self.config is None else self.config.rootpath

    def _told(self) -> dict[str, Any]:
        """Return the options, those of the command line before those of the ini file."""
        if self.config is None:
            return {}
        told: dict[str, Any] = {}
        for name in _OPTIONS:
            value = self.config.getoption(f"judgesmith_{name}")
            value = value or self.config.getini(f"judgesmith_{name}")
            if value:
                told[name] = _number(name, str(value))
        # Processes of one session share its budget through the ledger.
        if shared := os.environ.get("PYTEST_XDIST_TESTRUNUID"):
            told["run_id"] = f"pytest {shared}"
        return told


_SESSIONS: list[_Session] = []


def _judging() -> Judging:
    """Return what judges for the session that is running; outside of one, by the defaults."""
    if not _SESSIONS:
        _SESSIONS.append(_Session(None))
    return _SESSIONS[-1].made()


def _number(name: str, value: str) -> str | int | float:
    if name not in ("max_calls", "max_usd"):
        return value
    try:
        number = int(value) if name == "max_calls" else float(value)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        option = f"--judgesmith-{name.replace('_', '-')}"
        raise pytest.UsageError(f"{option}: expected a number, 0 or more; got {value!r}.")
    return number


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which can stand in the ini file as well."""
    group = parser.getgroup("judgesmith", "judges of texts")
    for name, about in _OPTIONS.items():
        option = f"judgesmith_{name}"
        group.addoption(f"--{option.replace('_', '-')}", dest=option, default=None, help=about)
        parser.addini(option, about, default="")


def pytest_configure(config: pytest.Config) -> None:
    _SESSIONS.append(_Session(config))


def pytest_unconfigure(config: pytest.Config) -> None:
    _SESSIONS[:] = [one for one in _SESSIONS if one.config is not config]


def _session_of(config: pytest.Config) -> _Session | None:
    return next((one for one in _SESSIONS if one.config is config), None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that started this one what was asked here."""
    own = _session_of(session.config)
    output = getattr(session.config, "workeroutput", None)
    if own is not None and output is not None and (spent := own.spent()) is not None:
        output["judgesmith"] = spent


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a process of pytest-xdist what was asked there."""
    own = _session_of(node.config)
    spent = getattr(node, "workeroutput", {}).get("judgesmith")
    if own is not None and spent is not None:
        own.of_workers.append(spent)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was asked, where anything was."""
    own = _session_of(config)
    if own is None:
        return
    parts = [*own.of_workers, *([spent] if (spent := own.spent()) is not None else [])]
    if not parts:
        return
    n_judged, calls, hits, tokens = (
        int(sum(part[name] or 0 for part in parts)) for name in _SPENT[:4]
    )
    usd = [part["usd"] for part in parts]
    known = [one for one in usd if one is not None]
    cost = f"${sum(known):.4f}" if len(known) == len(usd) else "unknown cost"
    terminalreporter.write_line(
        f"judgesmith: {n_judged} judgements, {calls} calls, {hits} from the cache, "
        f"{tokens} tokens, {cost}"
    )
