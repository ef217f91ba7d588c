"""Front doors that open only when somebody goes through: names load what they need, when used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def front_door(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that loads public names when they are first used.

    Parameters
    ----------
    package : str
        The module's ``__name__``.
    places : dict of str to str
        ``module:attribute`` by public name.

    Examples
    --------
    >>> getattr_ = front_door("judgesmith.metrics", {"half": "fractions:Fraction"})
    >>> getattr_("half")(1, 2)
    Fraction(1, 2)
    >>> getattr_("whole")
    Traceback (most recent call last):
    AttributeError: judgesmith.metrics has no 'whole'; it has half.
    """

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"{package} has no {name!r}; it has {', '.join(sorted(places))}.")
        module, _, attribute = places[name].partition(":")
        return getattr(import_module(module), attribute)

    return load
