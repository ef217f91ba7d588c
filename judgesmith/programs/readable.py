"""Whether anything that a model answered could be read so far, so that garbage is noticed early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from judgesmith.programs.models import ModelError
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

ENOUGH_UNREAD = 20
"""Judgements in a row, from a model's first one on, after which it is not bad luck."""

_UNREAD = "could not be read"


class Readable:
    """How much of what one model answered made a judgement.

    Attributes
    ----------
    n_read : int
        Judgements behind which at least one answer could be read.
    n_unread : int
        Judgements without any before the first of those; the same answers count once.
    example : str
        Why the latest of the unread ones has no score; empty where there is none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unread: set[tuple[str, ...]] = set()
        self._n_forgiving = 0
        self.n_read = self.n_unread = 0
        self.example = ""

    @property
    def nothing(self) -> bool:
        """True where there were answers, and none could be read."""
        return self.n_unread > 0 and self.n_read == 0

    def add(self, judgement: Judgement) -> None:
        """Count a judgement.

        Raises
        ------
        ModelError
            If it is the last of ``ENOUGH_UNREAD`` and nothing could be read before, outside of
            ``forgiving``.
        """
        with self._lock:
            if not is_unread(judgement):
                # Texts that were never sent say nothing about the model.
                self.n_read += judgement.score is not None or _scores_any(judgement)
                return
            if self.n_read or (judgement.calls and judgement.calls in self._unread):
                return
            self._unread.add(judgement.calls)
            self.n_unread += 1
            self.example = str(judgement.problem)
            if self.n_unread < ENOUGH_UNREAD or self._n_forgiving:
                return
        raise ModelError(
            f"{self.n_unread} judgements in a row have no score, because nothing that the model "
            f"answered could be read, for example: {self.example.rstrip('.')}. Check that the "
            "address and the model are those of a chat model that keeps to a layout."
        )

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Return a block in which judgements are counted, but none is one too many.

        For a model that competes with others: whoever cannot read it takes another one.
        """
        with self._lock:
            self._n_forgiving += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_forgiving -= 1


def is_unread(judgement: Judgement) -> bool:
    """Say whether there were answers behind a judgement, and nothing in them could be used.

    Examples
    --------
    >>> is_unread(Judgement.unscored("the model's answer could not be read: no score"))
    True
    >>> is_unread(Judgement.unscored("the texts are longer than the model reads"))
    False

    Scores outside the scale are none, on whatever criterion:

    >>> wit = {"wit": {"score": None}}
    >>> is_unread(Judgement(score=None, problem="outside 1..5", criteria=wit, calls=("a",)))
    True
    """
    if judgement.problem is None or _scores_any(judgement):
        return False
    # A model that is not ours leaves no identities of its calls, only the reason.
    return bool(judgement.calls) or _UNREAD in judgement.problem


def _scores_any(judgement: Judgement) -> bool:
    return any(one.score is not None for one in judgement.criteria.values())


_OF_MODELS: WeakKeyDictionary[object, Readable] = WeakKeyDictionary()


def readable_of(lm: dspy.LM) -> Readable:
    """Return what is known of ``lm``: it outlives a run, as the next one may ask otherwise.

    A prompt that a model cannot follow is then a bad prompt, not a model that answers garbage.
    """
    from judgesmith.programs.models import stack_of

    return _OF_MODELS.setdefault(stack_of(lm) or lm, Readable())
