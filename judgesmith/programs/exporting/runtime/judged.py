"""The judge itself: in an exported file, its questions and learned numbers stand here."""

from __future__ import annotations

from typing import Any

ABOUT: dict[str, Any] = {}
"""Where the judge comes from, what it judges, and how well."""

JUDGE: Any = None
"""What judges."""
