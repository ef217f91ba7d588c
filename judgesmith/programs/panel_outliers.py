"""Members of a panel whose score stands so far apart that their errors are not to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, median, pstdev

from judgesmith.signatures.panel_rules import OutlierRule

SMALL = 6
"""Fewer scores than this are told by the median of the others, unless a rule is named."""

_ROUNDING = 1e-9


def outliers_of(shares: Mapping[str, float], rule: OutlierRule, *, level: float) -> tuple[str, ...]:
    """Return the members whose score stands apart, in their order.

    By ``deviation``: at least two population standard deviations, and at least one level, from
    the mean of all. Five scores reach two deviations only where four of them agree, and fewer
    never do. By ``median``: at least two levels from the median of all others. One that stands
    apart draws that median for everybody else, so the farthest leaves first, and of the others
    only those go who are two levels away without it, too; where the two farthest stand on
    opposite sides, or half of the scores would leave, there is nobody to stand apart from, and
    they stay.

    Parameters
    ----------
    shares : dict of str to float
        The scores, each as a share of its scale from 0 to 1, of the members that have one.
    rule : {"auto", "deviation", "median", "none"}
        ``auto`` is ``deviation`` from six scores on, and ``median`` below.
    level : float
        What one level is, as a share.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", for deviation. The rest is ours.

    Examples
    --------
    >>> five = {"a": 0.75, "b": 0.75, "c": 0.75, "d": 0.75, "e": 0.25}
    >>> outliers_of(five, "deviation", level=0.25), outliers_of(five, "auto", level=0.25)
    (('e',), ('e',))
    >>> outliers_of({"a": 0.0, "b": 0.5, "c": 1.0}, "median", level=0.25)
    ()
    """
    if rule == "auto":
        rule = "deviation" if len(shares) >= SMALL else "median"
    if rule == "none" or len(shares) < 3:
        return ()
    if rule == "deviation":
        return _by_deviation(shares, level)
    return _by_median(shares, level)


def _by_deviation(shares: Mapping[str, float], level: float) -> tuple[str, ...]:
    middle, spread = fmean(shares.values()), pstdev(shares.values())
    least = max(2 * spread, level) - _ROUNDING
    return tuple(name for name, share in shares.items() if abs(share - middle) >= least)


def _by_median(shares: Mapping[str, float], level: float) -> tuple[str, ...]:
    left, least = dict(shares), 2 * level - _ROUNDING
    while len(left) > 2:
        away = {name: abs(share - _of_others(name, left)) for name, share in left.items()}
        farthest = max(away.values())
        apart = {name: left[name] for name in left if away[name] >= farthest - _ROUNDING}
        one_side = max(apart.values()) - min(apart.values()) <= _ROUNDING
        few = 2 * (len(shares) - len(left) + len(apart)) < len(shares)
        if farthest < least or not (one_side and few):
            break
        left = {name: share for name, share in left.items() if name not in apart}
    return tuple(
        name
        for name in shares
        if name not in left and abs(shares[name] - _of_others(name, shares)) >= least
    )


def _of_others(name: str, shares: Mapping[str, float]) -> float:
    return median(share for its, share in shares.items() if its != name)
