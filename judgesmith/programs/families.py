"""The families of judges by name: those of the package, of others, and one's own.

A family is a judge class, its protocol class, its steps, and the forms of its questions. Whoever
writes one registers it here and can then compile, save, load, score and compare its judges.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from judgesmith.errors import InputError
from judgesmith.programs.family import Family
from judgesmith.programs.shipped_families import ACTIVE_CRITIC, SHIPPED
from judgesmith.signatures.judge_protocol import JudgeProtocol

ENTRY_POINTS = "judgesmith.judges"
"""The group of entry points by which a package makes its families known to the command line."""

_FAMILIES: dict[str, Family] = {one.name: one for one in SHIPPED}


def register_family(family: Family) -> None:
    """Make a family of judges known by its name.

    Parameters
    ----------
    family : Family
        Known from now on in this process, to ``family_of``, ``compile`` and saved judges; the
        same one may be registered again.

    Raises
    ------
    ValueError
        If another one has that name.
    """
    known = _FAMILIES.setdefault(family.name, family)
    if known != family:
        raise InputError(f"there is a family of judges called {family.name}; choose another name.")


def known_families() -> tuple[Family, ...]:
    """Return all families, in the order in which they were registered.

    Returns
    -------
    tuple of Family
        Those that ship, and those that were registered or found in installed packages so far.

    Examples
    --------
    >>> [family.name for family in known_families()][:3]
    ['active-critic', 'direct', 'exemplar']
    """
    return tuple(_FAMILIES.values())


@functools.cache
def _register_installed() -> None:
    """Register the families that installed packages name under ``judgesmith.judges``.

    Raises
    ------
    ValueError
        If one cannot be had; the message names it.
    """
    for point in entry_points(group=ENTRY_POINTS):
        try:
            found = point.load()
        except Exception as fault:
            raise InputError(
                f"the family of judges {point.name} cannot be imported from {point.value}: {fault}."
            ) from fault
        if not isinstance(found, Family):
            raise InputError(
                f"{point.value} is to be a Family of judges ({point.name} under {ENTRY_POINTS}); "
                f"it is a {type(found).__name__}."
            )
        register_family(found)


def family_of(name: str) -> Family:
    """Return the family of that name, those of installed packages included.

    Parameters
    ----------
    name : str
        As ``--judge`` takes it.

    Returns
    -------
    Family
        How judges of the kind are started, asked, searched and saved.

    Raises
    ------
    ValueError
        If there is none; the message names the nearest.

    Examples
    --------
    >>> family_of("active-critic").has_demonstrations
    True
    >>> family_of("activecritic")
    Traceback (most recent call last):
    ...
    judgesmith.InputError: no judge is called 'activecritic': there are active-critic, direct, \
exemplar, g-eval, explain-eval, gptscore, reference, pairs, prometheus, checklist, themis, auto-j, \
annotator, distilled; \
did you mean active-critic?
    """
    if name not in _FAMILIES:
        _register_installed()
    if name in _FAMILIES:
        return _FAMILIES[name]
    near = difflib.get_close_matches(str(name)[:80].lower(), _FAMILIES, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else "."
    there = ", ".join(_FAMILIES)
    raise InputError(f"no judge is called {str(name)[:80]!r}: there are {there}{meant}")


def _as_its_family_has_it(value: Any) -> Any:
    """Return plain data of a protocol as one of the family that it names."""
    if not isinstance(value, Mapping):
        return value
    name = value.get("judge", ACTIVE_CRITIC)
    if not isinstance(name, str):
        raise InputError(f"a protocol names its family of judges; got {str(name)[:80]}.")
    return family_of(name).protocol_class.model_validate(dict(value))


AnyProtocol = Annotated[SerializeAsAny[JudgeProtocol], BeforeValidator(_as_its_family_has_it)]
"""A protocol of any family; plain data becomes one of the family that it names."""
