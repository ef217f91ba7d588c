"""One stack under every model call: budget, ledger, rate limit and retry, engine."""

from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.errors import (
    BudgetSpent,
    ContextWindowExceeded,
    LedgerError,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.models.request import (
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    Settings,
    TokenLogprob,
)

__all__ = [
    "BudgetSpent",
    "ContextWindowExceeded",
    "Engine",
    "LedgerError",
    "Message",
    "ModelAnswer",
    "ModelError",
    "ModelRequest",
    "Prefix",
    "PureEngine",
    "Settings",
    "TokenLogprob",
    "TransientModelError",
]
