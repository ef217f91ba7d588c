"""Greedy matching of two texts, token by token, by how alike their vectors are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judgesmith.errors import InputError

FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]


def greedy_matching(
    response: FloatArray,
    reference: FloatArray,
    *,
    response_counts: BoolArray,
    reference_counts: BoolArray,
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of BERTScore, without weights of rarity or a baseline.

    Every token of a text is matched with the token of the other that is most like it.

    Parameters
    ----------
    response, reference : array, shape (n_tokens, n_dimensions)
        A vector per token, of any length but 0.
    response_counts, reference_counts : array of bool, shape (n_tokens,)
        Which tokens are averaged over; the others, which a tokenizer adds at the ends, can be
        matched with, as in the published implementation.

    Returns
    -------
    tuple of float
        Means of cosines, -1 to 1: over the response's tokens, over the reference's tokens, and
        their harmonic mean, which is 0 where they do not add up to more than 0.

    Raises
    ------
    ValueError
        If no token of a text counts, or a vector is 0 or not finite.

    References
    ----------
    Zhang, Kishore, Wu, Weinberger and Artzi (2020), "BERTScore: Evaluating Text Generation with
    BERT", ICLR, section 3. arXiv:1904.09675.

    Examples
    --------
    >>> said, known = np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])
    >>> counts = {"response_counts": np.array([True]), "reference_counts": np.array([True, True])}
    >>> [round(one, 3) for one in greedy_matching(said, known, **counts)]
    [1.0, 0.5, 0.667]
    """
    if not (response_counts.any() and reference_counts.any()):
        raise InputError("no token to match: each text needs one that counts.")
    cosines = _directions(response) @ _directions(reference).T
    precision = float(cosines.max(axis=1)[response_counts].mean())
    recall = float(cosines.max(axis=0)[reference_counts].mean())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 0 else 0.0


def _directions(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise InputError("the weights give a token a vector without a direction")
    return np.asarray(vectors / lengths, dtype=float)
