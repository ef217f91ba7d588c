"""``from:`` in a specification: an entry that takes another's settings first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judgesmith.experiments.specs.faults import unknown_name
from judgesmith.signatures.plain_data import Place

FROM = "from"

Blame = Callable[[Place, str], None]


def inherited(
    entries: Mapping[str, Any], *, section: str, blame: Blame
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, str]]]:
    """Return entries with what they take from others.

    What an entry says itself comes before what it takes; null takes nothing, and leaves a field
    as it usually is.

    Parameters
    ----------
    entries : mapping of str to mapping
        The entries of one section, by name.
    section : str
        Its name.
    blame : callable
        Told the place and the sentence of every mistake. Entries behind one are left out.

    Returns
    -------
    entries : dict of str to dict
        Without ``from``.
    origins : dict of str to (dict of str to str)
        By entry and field, the entry that says the field.

    Examples
    --------
    >>> judges = {"fine": {"explain": "none"}, "coarse": {"from": "fine", "variant": "coarse"}}
    >>> found, origins = inherited(judges, section="judges", blame=print)
    >>> found["coarse"], origins["coarse"]
    ({'explain': 'none', 'variant': 'coarse'}, {'explain': 'fine', 'variant': 'coarse'})
    """
    whole: dict[str, dict[str, Any]] = {}
    origins: dict[str, dict[str, str]] = {}
    blamed: set[str] = set()
    for name in entries:
        chain = _chain(entries, name, section, blame, blamed)
        if chain is None:
            continue
        whole[name], origins[name] = {}, {}
        for one in reversed(chain):
            own = {field: value for field, value in entries[one].items() if field != FROM}
            whole[name] |= own
            origins[name] |= dict.fromkeys(own, one)
        whole[name] = {field: value for field, value in whole[name].items() if value is not None}
    return whole, origins


def _chain(
    entries: Mapping[str, Any], name: str, section: str, blame: Blame, blamed: set[str]
) -> list[str] | None:
    """Return an entry, the one it takes from, and so on; None behind a mistake."""
    chain = [name]
    while FROM in entries[chain[-1]]:
        last = chain[-1]
        taken = entries[last][FROM]
        place = (section, last, FROM)
        if not isinstance(taken, str) or taken not in entries:
            if last not in blamed:
                others = [one for one in entries if one != last]
                blame(place, unknown_name(f"entry of {section}", taken, others))
            blamed.add(last)
            return None
        if taken in chain:
            circle = [*chain[chain.index(taken) :], taken]
            if not blamed & set(circle):
                blame(
                    place,
                    f"{' takes from '.join(circle)}, which never ends; take one of these out.",
                )
            blamed |= set(circle)
            return None
        chain.append(taken)
    return chain
