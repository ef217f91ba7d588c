"""Records of what happens in a run, for whoever listens to the logger ``judgesmith``."""

from __future__ import annotations

import logging
from typing import Any

LOGGER = logging.getLogger("judgesmith")
"""Where records go; what a record says is in its ``event`` and ``details``."""

LOGGER.addHandler(logging.NullHandler())  # who does not listen is told nothing


def log_event(level: int, event: str, said: str, **details: Any) -> None:
    """Log a sentence, with one word for what happened and plain data about it.

    Examples
    --------
    >>> log_event(logging.INFO, "checkpoint", "rows are kept", rows=3)
    """
    LOGGER.log(level, said, extra={"event": event, "details": details})
