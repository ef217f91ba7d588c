"""All lexical features of one response as one vector of named numbers, in one fixed order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judgesmith.programs.features.counting import counted, feature_names
from judgesmith.programs.features.structure import Form

_CACHE_VECTORS = 4096
# What was computed last, by the digest of its texts: a judge asks several questions of one item.
_vectors: dict[bytes, FeatureVector] = {}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FeatureVector:
    """What can be counted about a response, its source and its context.

    Attributes
    ----------
    values : ndarray, shape (n_features,)
        In the order of ``FEATURE_NAMES``; always finite; read-only.
    form : str
        The kind of task that the texts look like (``structure.form_of``).
    script : str
        Empty, or what the features do not see in this script.
    unsupported : tuple of str
        Names and numbers of the response found in neither source nor context, as written;
        the first eight.
    missing : tuple of str
        Slot values that the response does not mention; the first eight.
    repeated : str
        The three words said most often, if said twice or more.
    with_context : bool
        Whether there is a context; without one the features of ``CONTEXT_FEATURES`` are 0 and say
        nothing.
    """

    values: npt.NDArray[np.float64]
    form: Form
    script: str = ""
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    repeated: str = ""
    with_context: bool = True

    def __getitem__(self, name: str) -> float:
        """Return one feature by name."""
        return float(self.values[FEATURE_INDEX[name]])


def lexical_features(source: str, context: str | None, response: str) -> FeatureVector:
    """Return the lexical features of ``response``, a function of the three texts alone.

    Time and memory are linear in the length of the texts. What is counted over a source is
    kept for its next response, and the last vectors are kept for a second look.

    Parameters
    ----------
    source : str
        What was answered.
    context : str or None
        Further material that the response may draw on; a blank one is none.
    response : str
        The text under judgement.

    Examples
    --------
    >>> found = lexical_features("Ann met Bob in Rome.", None, "Then Ann met Carl.")
    >>> found.unsupported, round(found["known_words"], 2)
    (('Carl',), 0.5)
    >>> bool(np.isfinite(lexical_features("", None, "").values).all())
    True
    """
    context = context if context and not context.isspace() else None
    key = _digest(source, context, response)
    known = _vectors.get(key)
    if known is None:
        known = _computed(source, context, response)
        if len(_vectors) >= _CACHE_VECTORS:
            # Emptied as a whole: a question about an item follows soon on the one before, and a
            # cache without order needs no lock.
            _vectors.clear()
        _vectors[key] = known
    return known


def _digest(source: str, context: str | None, response: str) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    for text in (source, context, response):
        content = b"" if text is None else text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % (-1 if text is None else len(content)))
        state.update(content)
    return state.digest()


def _computed(source: str, context: str | None, response: str) -> FeatureVector:
    found = counted(source, context, response)
    values = np.array([found.features[name] for name in FEATURE_NAMES])
    values.flags.writeable = False
    return FeatureVector(
        values=values,
        form=found.form,
        script=found.script,
        unsupported=found.unsupported,
        missing=found.missing,
        repeated=found.repeated,
        with_context=context is not None,
    )


FEATURE_NAMES = feature_names()
"""The features' names, in the order of every vector."""

CONTEXT_FEATURES = tuple(name for name in FEATURE_NAMES if name.startswith("context_"))
"""Those that are counted against the context."""

FEATURE_INDEX = {name: place for place, name in enumerate(FEATURE_NAMES)}
"""Where each feature stands."""
