"""One stack under every model call: budget, ledger, rate limit and retry, engine."""

from judgesmith.programs.lm.budget import Budget, Price, Spent, Usage, price_of, prices_date
from judgesmith.programs.lm.cache.store import Ledger
from judgesmith.programs.lm.client import Stack
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    ContextWindowExceeded,
    LedgerError,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.lm.factory import (
    AnyModel,
    StackModel,
    engine_for,
    model,
    request_settings,
    stack_model,
    stack_of,
)
from judgesmith.programs.lm.limits import Limits, Retry
from judgesmith.programs.lm.records import (
    Engine,
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    PureEngine,
    Settings,
    TokenLogprob,
    request_identity,
    sampling,
)

__all__ = [
    "AnyModel",
    "Budget",
    "BudgetSpent",
    "ContextWindowExceeded",
    "Engine",
    "Ledger",
    "LedgerError",
    "Limits",
    "Message",
    "ModelAnswer",
    "ModelError",
    "ModelRequest",
    "Prefix",
    "Price",
    "PureEngine",
    "Retry",
    "Settings",
    "Spent",
    "Stack",
    "StackModel",
    "TokenLogprob",
    "TransientModelError",
    "Usage",
    "engine_for",
    "model",
    "price_of",
    "prices_date",
    "request_identity",
    "request_settings",
    "sampling",
    "stack_model",
    "stack_of",
]
