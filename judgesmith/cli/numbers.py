"""Numbers as options take them: in words what is allowed, and nothing that is no number."""

from __future__ import annotations

import math
from typing import Any

import click

from judgesmith.errors import InputError


class WholeNumber(click.IntRange):
    """A whole number from ``low`` on."""

    def __init__(self, low: int) -> None:
        super().__init__(min=low)
        self.low = low

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return ``value`` as a whole number, or fail."""
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = self.low - 1
        if number < self.low:
            self.fail(f"expected a whole number, {self.low} or more; got {value!r}.", param, ctx)
        return number


class Number(click.FloatRange):
    """A number from ``low`` on, up to ``high`` where there is one; never nan or infinite."""

    def __init__(
        self, low: float, high: float | None = None, *, above: bool = False, below: bool = False
    ) -> None:
        super().__init__(min=low, max=high, min_open=above, max_open=below)
        start = f"above {low:g}" if above else f"from {low:g}"
        if high is None:
            self.allowed = f"a number {start}" if above else f"a number, {low:g} or more"
        else:
            self.allowed = f"a number {start} to {'below ' if below else ''}{high:g}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return ``value`` as a number, or fail."""
        try:
            number = float(value)
            if not math.isfinite(number):
                raise InputError(value)
            return float(super().convert(number, None, None))
        except (TypeError, ValueError, click.BadParameter):
            self.fail(f"expected {self.allowed}; got {value!r}.", param, ctx)
