"""What a run may spend and has spent, at the prices of a dated table."""

import json
import math
import re
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.lm.errors import BudgetSpent
from judgesmith.programs.lm.records import ModelAnswer

# These run on the user's own machine, whatever the model is called.
LOCAL_PROVIDERS = frozenset({"hosted_vllm", "ollama", "ollama_chat", "vllm", "offline"})
# What OpenAI asks for a request in a batch, as a share of the same request at once: its list says
# 50 % less, for all models that have batches.
BATCH_SHARE = 0.5
_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """United States dollars per million tokens.

    Raises
    ------
    ValueError
        If a price is negative, or not finite.

    Examples
    --------
    >>> round(Price(0.15, 0.6).usd(1_000_000, 500_000), 2)
    0.45
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        """Reject prices below zero."""
        if not (0 <= self.input < math.inf and 0 <= self.output < math.inf):
            raise InputError(
                f"a price is zero or more dollars per million tokens; got {self.input:g} for "
                f"input and {self.output:g} for output."
            )

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        """Return what this many tokens cost, in dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read ``IN,OUT``, as given to ``--price``.

        Examples
        --------
        >>> Price.parse("0.15,0.60")
        Price(input=0.15, output=0.6)
        """
        try:
            paid_in, paid_out = (float(part) for part in text.split(","))
        except ValueError:
            raise InputError(
                "a price is two numbers with a comma between, dollars per million tokens in and "
                f"out, such as 0.15,0.60; got {text!r}."
            ) from None
        return cls(paid_in, paid_out)


def price_of(model: str) -> Price | None:
    """Return the price of ``provider/model`` from the table, or None where it is not known.

    Models on the user's own machine cost nothing. A dated name (``…-2024-07-18``) has the price of
    the name without the date.

    Examples
    --------
    >>> price_of("ollama/llama3")
    Price(input=0.0, output=0.0)
    """
    if model.partition("/")[0] in LOCAL_PROVIDERS:
        return Price(0.0, 0.0)
    table = _table()["usd_per_million_tokens"]
    found = table.get(model) or table.get(_DATE.sub("", model))
    return Price(*found) if found else None


def priced_models() -> tuple[str, ...]:
    return tuple(_table()["usd_per_million_tokens"])


def prices_date() -> str:
    """Return the day on which the table was last looked over, as ``YYYY-MM-DD``."""
    return str(_table()["date"])


@cache
def _table() -> dict[str, dict[str, tuple[float, float]]]:
    text = files(__package__).joinpath("prices.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, tuple[float, float]]] = json.loads(text)
    return table


UNSEEN_OUTPUT = 512
"""Tokens that an answer without a ceiling is taken to have at least, however short all were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Ceilings for one run; None means no ceiling.

    Attributes
    ----------
    max_calls : int or None
        Requests sent, attempts that failed included. Never exceeded.
    max_tokens : int or None
        Tokens in and out. A request is let through if the most that it can use still fits: a token
        for each byte of its texts, and its largest allowed output (without a ceiling of its own:
        twice the longest output so far).
    max_usd : float or None
        United States dollars at the prices in force, counted like tokens.
    max_minutes : float or None
        Time at work, over all processes of the run. Nothing is sent later.

    Examples
    --------
    >>> Budget(max_calls=-1)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: max_calls must be zero or more; got -1.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    max_minutes: float | None = None

    def __post_init__(self) -> None:
        """Reject ceilings that nothing could satisfy."""
        for name in ("max_calls", "max_tokens", "max_usd", "max_minutes"):
            ceiling = getattr(self, name)
            if ceiling is not None and not ceiling >= 0:
                raise InputError(f"{name} must be zero or more; got {ceiling}.")

    def calls_left(self, spent: "Spent") -> float | None:
        """Return for how many calls it lasts that cost what those so far did; None: for any.

        Time is left out. While nothing was asked yet, tokens and dollars are taken to last for one.

        Examples
        --------
        >>> Budget(max_calls=9, max_tokens=500).calls_left(Spent(calls=4, tokens=400))
        1.0
        """
        left: list[float] = [] if self.max_calls is None else [self.max_calls - spent.calls]
        for ceiling, cost in ((self.max_tokens, spent.tokens), (self.max_usd, spent.usd)):
            if ceiling is not None and not spent.calls:
                left.append(1.0)
            elif ceiling is not None and cost:
                left.append((ceiling - cost) * spent.calls / cost)
        return min(left, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent, in all its processes.

    Attributes
    ----------
    calls : int
        Requests sent.
    tokens, usd : int, float
        As counted by the server, or as reserved where no reply came; dollars are 0 without a price.
    minutes : float
        Time at work.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    minutes: float = 0.0


def check(budget: Budget, spent: Spent, *, tokens: int = 0, usd: float = 0.0) -> None:
    """Refuse one more request of this size if it would pass a ceiling."""
    if budget.max_calls is not None and spent.calls + 1 > budget.max_calls:
        _refuse("max_calls", f"{budget.max_calls} calls is spent", spent)
    if budget.max_tokens is not None and spent.tokens + tokens > budget.max_tokens:
        _refuse("max_tokens", f"{budget.max_tokens} tokens is spent: {_TOO_LITTLE}", spent)
    if budget.max_usd is not None and spent.usd + usd > budget.max_usd:
        _refuse("max_usd", f"${budget.max_usd:g} is spent: {_TOO_LITTLE}", spent)
    if budget.max_minutes is not None and spent.minutes >= budget.max_minutes:
        _refuse("max_minutes", f"{budget.max_minutes:g} minutes is spent", spent)


_TOO_LITTLE = "the next request may need more than is left"


def _refuse(ceiling: str, what: str, spent: Spent) -> None:
    # No figures of the moment: rows that a budget did not reach are counted by this reason.
    raise BudgetSpent(f"the budget of {what}.", ceiling=ceiling, **asdict(spent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What went through one client since it was made.

    Attributes
    ----------
    calls, retries : int
        Requests sent, failed attempts included; and those sent again after a fault.
    hits : int
        Answers that needed no request: from the cache, or asked by someone else meanwhile.
    input_tokens, output_tokens : int
        As servers counted them.
    cost_usd : float or None
        At the prices in force; None if the price is unknown.
    seconds : float
        Sum of the time that answers took, over all requests in flight at once.
    renewals : int
        Answers to questions whose cached answer could not be read.
    """

    calls: int = 0
    hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    retries: int = 0
    seconds: float = 0.0
    renewals: int = 0


class UsageMeter:
    """The one place where calls are counted, by whichever threads and loops make them."""

    def __init__(self, *, priced: bool) -> None:
        self._lock = threading.Lock()
        self._priced = priced
        self._sums: dict[str, Any] = asdict(Usage())
        # Tokens per character seen so far, started with the usual one per four so that the first
        # request has an estimate; the start weighs as much as one long message.
        self._seen_tokens, self._seen_characters = 1000.0, 4000.0
        self.longest_output = 0
        self.on_answer: Callable[[float], None] | None = None

    def hit(self) -> None:
        with self._lock:
            self._sums["hits"] += 1

    def renewed(self) -> None:
        """Count an answer that was requested anew, as the cached one was unreadable."""
        with self._lock:
            self._sums["renewals"] += 1

    def sent(self, *, again: bool) -> None:
        with self._lock:
            self._sums["calls"] += 1
            self._sums["retries"] += again

    def answered(self, n_characters: int, answer: ModelAnswer, *, usd: float) -> None:
        """Count what an answer cost, and learn how long tokens are."""
        with self._lock:
            self._sums["cost_usd"] += usd
            self._sums["seconds"] += answer.seconds
            if answer.input_tokens is not None:
                self._sums["input_tokens"] += answer.input_tokens
                self._seen_tokens += answer.input_tokens
                self._seen_characters += n_characters
            if answer.output_tokens is not None:
                self._sums["output_tokens"] += answer.output_tokens
                self.longest_output = max(self.longest_output, answer.output_tokens)
        if (callback := self.on_answer) is not None:
            callback(answer.seconds)

    def estimated_input(self, n_characters: int) -> int:
        """Return how many tokens a text of this length probably has, on the safe side."""
        return int(1.25 * n_characters * self._seen_tokens / self._seen_characters) + 32

    def estimated_output(self, max_tokens: int | None) -> int:
        """Return the most tokens an answer may have: its ceiling, else the longest one seen."""
        return max(self.longest_output, UNSEEN_OUTPUT) if max_tokens is None else max_tokens

    @property
    def usage(self) -> Usage:
        with self._lock:
            found = Usage(**self._sums)
        return found if self._priced else replace(found, cost_usd=None)
