"""One client under every model call: budget, ledger, rate limit and retry, engine."""

from judgesmith.programs.lm.budget import Budget, Price, Spent, Usage, price_of, prices_date
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.client import LMClient
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    CacheError,
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.lm.factory import (
    AnyModel,
    ClientModel,
    client_model,
    engine_for,
    lm_client_of,
    model,
    request_settings,
)
from judgesmith.programs.lm.limits import Limits, Retry
from judgesmith.programs.lm.records import (
    Engine,
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    PureEngine,
    SamplingSettings,
    TokenLogprob,
    request_identity,
    sampling,
)

__all__ = [
    "AnyModel",
    "Budget",
    "BudgetSpent",
    "CacheError",
    "ClientModel",
    "ContextWindowExceeded",
    "Engine",
    "LMClient",
    "Limits",
    "Message",
    "ModelAnswer",
    "ModelError",
    "ModelRequest",
    "Prefix",
    "Price",
    "PureEngine",
    "ResponseCache",
    "Retry",
    "SamplingSettings",
    "Spent",
    "TokenLogprob",
    "TransientModelError",
    "Usage",
    "client_model",
    "engine_for",
    "lm_client_of",
    "model",
    "price_of",
    "prices_date",
    "request_identity",
    "request_settings",
    "sampling",
]
