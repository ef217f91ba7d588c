"""One stack under every model call: budget, ledger, rate limit and retry, engine."""

from judgesmith.programs.models.budget import Budget, Spent, Usage
from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.errors import (
    BudgetSpent,
    ContextWindowExceeded,
    LedgerError,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.models.faces import (
    engine_for,
    model,
    request_settings,
    stack_model,
    stack_of,
)
from judgesmith.programs.models.handle import AnyModel, StackModel
from judgesmith.programs.models.identity import request_identity, sampling
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.limits import Limits
from judgesmith.programs.models.prices import Price, price_of, prices_date
from judgesmith.programs.models.request import (
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    Settings,
    TokenLogprob,
)
from judgesmith.programs.models.retry import Retry
from judgesmith.programs.models.stack import Stack

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
