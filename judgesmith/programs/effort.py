"""How often a judge asks each of its questions for the responses to a source."""

from __future__ import annotations

from dataclasses import dataclass

from judgesmith.programs.families import family_of
from judgesmith.signatures.judge_protocol import JudgeProtocol

ATTEMPTS_TO_READ = 2
"""How often a question is asked when the first answer cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How often one question is asked for all responses to a source, not less than it may be.

    Attributes
    ----------
    usual : float
        As a rule, if every answer can be read and is on record from then on.
    calls : float
        At most, if every answer can be read and comes with the probabilities that are wanted.
    unlisted : float
        At most, if every answer can be read and none comes with probabilities.
    most : float
        At most, whatever comes.
    """

    usual: float
    calls: float
    unlisted: float
    most: float

    @classmethod
    def each(cls, n: float) -> Effort:
        """Return the effort of ``n`` questions, each asked once more where nobody can read it.

        Examples
        --------
        >>> Effort.each(3).calls, Effort.each(3).most
        (3, 6)
        """
        return cls(usual=n, calls=n, unlisted=n, most=ATTEMPTS_TO_READ * n)


def efforts_of(protocol: JudgeProtocol, n_responses: int) -> dict[str, Effort]:
    """Return how often each question of a judge is asked, by question.

    Parameters
    ----------
    protocol : JudgeProtocol
        Of any family.
    n_responses : int
        Responses to one source.

    Examples
    --------
    Six responses to a source have 15 pairs, each compared in both orders; a merge sort takes 11:

    >>> from judgesmith.signatures.pairs import PairsProtocol
    >>> found = efforts_of(PairsProtocol(), 6)["compare"]
    >>> found.usual, found.calls, found.most
    (22, 30, 60)
    """
    family = family_of(protocol.judge)
    own = family.efforts_of(protocol, n_responses)
    if own is not None:
        return own
    questions = family.forms_of(protocol)
    n = family.calls_of(protocol) * n_responses / max(len(questions), 1)
    return {name: Effort.each(n) for name in questions}
