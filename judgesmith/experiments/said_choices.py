"""Which choices about a judge somebody has made by hand: these a search leaves as they are."""

from __future__ import annotations

from collections.abc import Collection

_DECIDED = {
    "variant": ("variant",),
    "criteria_calls": ("variant", "criteria_calls"),
    "explain": ("explain",),
    "rubric": ("rubric",),
    "criteria": ("rubric",),
}
_LEFT_OUT = {
    "explanations": ("explain",),
    "task": ("rubric",),
    "mcs": ("variant",),
    "os": ("variant", "overall"),
}


def choices_said(options: Collection[str], without: Collection[str]) -> tuple[str, ...]:
    """Return the choices that options have made, each once.

    Parameters
    ----------
    options : collection of str
        Options that were given, by the names of their fields.
    without : collection of str
        Parts of the method that are left out.

    Examples
    --------
    >>> choices_said(["explain", "seed"], ["mcs"])
    ('explain', 'variant')
    """
    made = [name for option, names in _DECIDED.items() if option in options for name in names]
    made += [name for part in without for name in _LEFT_OUT.get(part, ())]
    return tuple(dict.fromkeys(made))
