"""What requests may cost, what they did cost, and what those in flight hold back until then.

A ceiling on tokens or dollars holds only if no request costs more than was held back for it. So
what is held back is not an estimate but the most that is possible, as far as that can be known.
"""

import math
import threading

from judgesmith.programs.models.budget import UNSEEN_OUTPUT, Budget, Meter
from judgesmith.programs.models.errors import BudgetSpent
from judgesmith.programs.models.ledger_writes import Claim
from judgesmith.programs.models.prices import Price
from judgesmith.programs.models.request import ModelAnswer, ModelRequest

_AROUND_ALL, _AROUND_EACH = 128, 16  # tokens that servers put around a prompt and its messages


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
        self._held_to = budget.max_tokens is not None or budget.max_usd is not None
        # A server that counts or writes more than it should is believed the next time.
        self._excess, self._beyond = 1.0, 0
        self._scout: bytes | None = None

    def most(self, request: ModelRequest) -> tuple[int, float]:
        """Return how many tokens and dollars the request can cost at most.

        Every token of a prompt stands for a byte of it or more; servers add a few around messages.
        The answer keeps to its ceiling; without one it has at most twice the tokens of the longest
        so far, which is the only part that is a guess.
        """
        if not self._held_to:
            return self.estimate(request)
        allowed = request.settings.max_tokens
        longest = max(UNSEEN_OUTPUT, 2 * self._meter.longest_output) if allowed is None else allowed
        return self._priced(
            math.ceil(self._excess * _most_input(request)), max(longest, self._beyond)
        )

    def may_go(self, identity: bytes, request: ModelRequest) -> bool:
        """Say whether this request may be sent already.

        While nobody knows how long answers are, and they have no ceiling, one goes ahead.
        """
        if not self._held_to or request.settings.max_tokens is not None:
            return True
        with self._lock:
            if self._meter.longest_output:
                return True
            self._scout = self._scout or identity
            return self._scout == identity

    def came_back(self, identity: bytes) -> None:
        """Let another request go ahead, if this was the one and there is no answer."""
        with self._lock:
            if self._scout == identity:
                self._scout = None

    def estimate(self, request: ModelRequest) -> tuple[int, float]:
        """Return how many tokens and dollars the request will probably cost."""
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
        if self._held_to:
            self._excess = max(self._excess, tokens_in / _most_input(request))
            allowed = request.settings.max_tokens
            if allowed is not None and tokens_out > allowed:
                self._beyond = max(self._beyond, tokens_out)
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


def _most_input(request: ModelRequest) -> int:
    n_messages = len(request.prefix.messages) + 1
    return request.n_bytes + _AROUND_ALL + _AROUND_EACH * n_messages
