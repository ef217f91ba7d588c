"""What requests may cost, what they did cost, and what those in flight hold back until then."""

import threading

from judgesmith.programs.models.budget import Budget, Meter
from judgesmith.programs.models.errors import BudgetSpent
from judgesmith.programs.models.ledger_writes import Claim
from judgesmith.programs.models.prices import Price
from judgesmith.programs.models.request import ModelAnswer, ModelRequest


class Reservations:
    """Sums of tokens and dollars for the requests of one stack.

    Parameters
    ----------
    meter : Meter
        Knows how long texts and answers have been.
    price : Price or None
        Dollars per million tokens; None counts them as free.
    budget : Budget
        What the sums are held against.
    """

    def __init__(self, meter: Meter, price: Price | None, budget: Budget) -> None:
        self._meter = meter
        self._price = price
        self._budget = budget
        self._lock = threading.Lock()
        self._tokens, self._usd = 0, 0.0

    def estimate(self, request: ModelRequest) -> tuple[int, float]:
        """Return how many tokens and dollars the request may cost."""
        return self._priced(
            self._meter.estimated_input(request.n_characters),
            self._meter.estimated_output(request.settings.max_tokens),
        )

    def cost(self, request: ModelRequest, answer: ModelAnswer) -> tuple[int, float]:
        """Return tokens and dollars of an answer, estimated where the server did not count."""
        tokens_in, tokens_out = answer.input_tokens, answer.output_tokens
        if tokens_in is None:
            tokens_in = self._meter.estimated_input(request.n_characters)
        if tokens_out is None:
            tokens_out = self._meter.estimated_input(len(answer.text))
        return self._priced(tokens_in, tokens_out)

    def hold(self, claim: Claim) -> None:
        """Hold back what a request in flight may cost."""
        with self._lock:
            self._tokens += claim.tokens
            self._usd += claim.usd

    def release(self, claim: Claim) -> None:
        """Give back what was held for a request that has ended."""
        with self._lock:
            self._tokens -= claim.tokens
            self._usd -= claim.usd

    def may_fit_later(self, refusal: BudgetSpent, claim: Claim) -> bool:
        """Say whether the request may fit once those in flight have used less than was held."""
        with self._lock:
            tokens, usd = self._tokens, self._usd
        if tokens <= 0:
            return False
        if refusal.ceiling == "max_tokens" and self._budget.max_tokens is not None:
            return refusal.tokens - tokens + claim.tokens <= self._budget.max_tokens
        if refusal.ceiling == "max_usd" and self._budget.max_usd is not None:
            return refusal.usd - usd + claim.usd <= self._budget.max_usd
        return False

    def _priced(self, tokens_in: int, tokens_out: int) -> tuple[int, float]:
        usd = self._price.usd(tokens_in, tokens_out) if self._price is not None else 0.0
        return tokens_in + tokens_out, usd
