"""What a test of the difference between two judges says."""

from dataclasses import dataclass
from typing import Literal, get_args

from judgesmith.metrics.record import Record

__all__ = ["Alternative", "SignificanceTest", "check_alternative"]

Alternative = Literal["two-sided", "greater"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignificanceTest(Record):
    """A test of the hypothesis that two judges agree equally well with people.

    Attributes
    ----------
    statistic : float
        What was tested: of a permutation test the difference of the agreements, of Williams'
        test ``t``. nan if it is undefined.
    p_value : float
        From 0 to 1, of a permutation test never 0; nan if the test is undefined. It holds for
        one comparison that was planned; several are adjusted by :func:`~judgesmith.metrics.holm` or
        :func:`~judgesmith.metrics.benjamini_hochberg`.
    first, second : float
        The agreement of either judge.
    n : int
        Rows that entered, scored by both.
    n_groups : int
        Independent units among these rows.
    n_undefined : int
        Groups left out because either judge has no value there.
    n_permutations : int
        Defined permutations behind ``p_value``; 0 where it comes from a formula.
    swap : str
        What changed hands; empty where the p-value comes from a formula.
    alternative : {"two-sided", "greater"}
        What was tested against.
    """

    statistic: float
    p_value: float
    first: float
    second: float
    n: int
    n_groups: int
    n_undefined: int
    n_permutations: int
    swap: str = ""
    alternative: Alternative = "two-sided"


def check_alternative(alternative: str) -> None:
    """Raise a ``ValueError`` if there is no such alternative."""
    if alternative not in get_args(Alternative):
        raise ValueError(
            f"alternative must be one of {get_args(Alternative)}; got {alternative!r}. For the "
            "other direction change the places of the judges."
        )
