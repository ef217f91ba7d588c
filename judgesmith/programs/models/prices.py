"""What a million tokens cost: a small dated table that ships with the code, or the user's word."""

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from judgesmith.errors import InputError

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

        Raises
        ------
        ValueError
            If ``text`` is anything but two numbers with a comma between.

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

    Models that run on the user's own machine cost nothing. A dated name
    (``openai/gpt-4o-mini-2024-07-18``) has the price of the name without the date.

    Examples
    --------
    >>> price_of("ollama/llama3")
    Price(input=0.0, output=0.0)
    >>> price_of("somewhere/unheard-of") is None
    True
    """
    if model.partition("/")[0] in LOCAL_PROVIDERS:
        return Price(0.0, 0.0)
    table = _table()["usd_per_million_tokens"]
    found = table.get(model) or table.get(_DATE.sub("", model))
    return Price(*found) if found else None


def prices_date() -> str:
    """Return the day on which the table was last looked over, as ``YYYY-MM-DD``."""
    return str(_table()["date"])


@cache
def _table() -> dict[str, dict[str, tuple[float, float]]]:
    text = files(__package__).joinpath("prices.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, tuple[float, float]]] = json.loads(text)
    return table
