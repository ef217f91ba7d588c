"""Input checks at the door, so that the body of a metric is only its formula."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FloatArray",
    "IntArray",
    "fraction",
    "group_codes",
    "label_list",
    "number",
    "number_array",
    "paired_scores",
    "rating_table",
    "score_vector",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def paired_scores(
    predicted: ArrayLike, human: ArrayLike, *, allow_unscored: bool = False, name: str = "predicted"
) -> tuple[FloatArray, FloatArray]:
    """Return both score vectors as float arrays of one shared length.

    Parameters
    ----------
    predicted, human : array-like, shape (n_items,)
        Aligned scores, each on its own scale.
    allow_unscored : bool
        Whether ``predicted`` may hold nan (or None) for items that have no score.
    name : str
        What ``predicted`` is called, for messages.

    Raises
    ------
    ValueError
        If the vectors are not one-dimensional numbers, differ in length, hold an infinite or
        (unless allowed) a missing score, or are pandas columns with different indexes.

    Examples
    --------
    >>> paired_scores([1, 2], [3, 4])
    (array([1., 2.]), array([3., 4.]))
    """
    p, h = _vector(predicted, name), _vector(human, "human")
    if p.shape != h.shape:
        raise ValueError(
            f"{name} and human must be aligned, one score each per item; got {len(p)} "
            f"{name} and {len(h)} human scores."
        )
    _refuse_misaligned(predicted, human, name)
    _refuse(~np.isfinite(h), "human", "give only rated items")
    if allow_unscored:
        _refuse(np.isinf(p), name, "mark an item without a score as nan")
    else:
        _refuse(~np.isfinite(p), name, "drop unscored items and report how many there were")
    return p, h


def _refuse_misaligned(predicted: Any, human: Any, name: str) -> None:
    """Raise if both are columns of pandas whose rows are not called alike."""
    if not (hasattr(predicted, "iloc") and hasattr(human, "iloc")):
        return
    if not predicted.index.equals(human.index):
        raise ValueError(
            f"{name} and human are columns with different indexes, and scores are taken by their "
            "position; align them first, or give both without an index (.to_numpy())."
        )


def group_codes(labels: Iterable[object], *, name: str, n_items: int) -> tuple[IntArray, int]:
    """Return one code per item, 0 to ``n_groups - 1`` by first appearance, and ``n_groups``.

    Parameters
    ----------
    labels : iterable of hashable, one per item
        For example source or system ids, as strings or numbers.
    name : str
        What the labels are called, for messages.
    n_items : int
        How many labels there must be.

    Raises
    ------
    ValueError
        If the number of labels differs from ``n_items`` or a label is None or nan.
    TypeError
        If this is no sequence, or of lists, which cannot be told apart by looking them up.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], name="sources", n_items=3)
    (array([0, 1, 0]), 2)
    """
    if type(labels) is np.ndarray and labels.dtype.kind in "iu" and labels.shape == (n_items,):
        return _integer_codes(labels)
    given = label_list(labels, name=name)
    if len(given) != n_items:
        raise ValueError(f"{name} must hold one label per item; got {len(given)} for {n_items}.")
    seen: dict[object, int] = {}
    codes_of = (seen.setdefault(label, len(seen)) for label in given)
    try:
        codes = np.fromiter(codes_of, np.int64, n_items)
    except TypeError as error:
        raise TypeError(
            f"{name} must hold one label per item, such as a string or a number; {error}."
        ) from error
    for label in seen:
        if _is_missing(label):
            raise ValueError(
                f"{name} holds a missing label ({label!r}), the first at index "
                f"{np.flatnonzero(codes == seen[label])[0]}; give every item one."
            )
    return codes, len(seen)


def label_list(labels: Iterable[object], *, name: str) -> list[object]:
    """Return labels as a list of plain values, for what reads them more than once.

    Raises
    ------
    TypeError
        If this is no sequence.

    Examples
    --------
    >>> label_list(np.array([3, 3, 5]), name="systems")
    [3, 3, 5]
    """
    if not isinstance(labels, Iterable):
        raise TypeError(f"{name} must be a sequence of labels, one per item; got {labels!r}.")
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def rating_table(ratings: ArrayLike) -> FloatArray:
    """Return ratings as a float array of shape (n_items, n_raters), nan where missing.

    Raises
    ------
    ValueError
        If the table is not two-dimensional numbers or holds an infinite rating.

    Examples
    --------
    >>> rating_table([[1, 2], [3, None]])
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    try:
        table = number_array(ratings, name="ratings")
    except ValueError as error:
        raise ValueError(
            "ratings must be a table of numbers, one row per item and one column per rater, "
            f"with nan where a rating is missing; {error.__cause__}."
        ) from error
    if table.ndim != 2:
        raise ValueError(f"ratings must have shape (n_items, n_raters); got {table.shape}.")
    if np.isinf(table).any():
        raise ValueError(
            f"ratings must be finite or nan; item {np.argwhere(np.isinf(table))[0][0]} is not."
        )
    return table


def fraction(value: float, *, name: str) -> float:
    """Return ``value`` if it lies strictly between 0 and 1.

    Raises
    ------
    ValueError
        If it does not.

    Examples
    --------
    >>> fraction(0.95, name="confidence")
    0.95
    """
    if not isinstance(value, float | int | np.number) or not 0 < value < 1:
        raise ValueError(f"{name} must be strictly between 0 and 1, such as 0.95; got {value!r}.")
    return value


def number(value: object, *, name: str) -> float:
    """Return a single number, which may be nan, as a float.

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> number(1, name="tolerance")
    1.0
    """
    if not isinstance(value, float | int | np.number):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    return float(value)


def score_vector(
    scores: ArrayLike, *, name: str, n_items: int | None = None, allow_missing: bool = False
) -> FloatArray:
    """Return one list of scores as a float vector.

    Parameters
    ----------
    scores : array-like, shape (n_items,)
        Numbers.
    name : str
        What they are called, for messages.
    n_items : int or None
        How many there must be.
    allow_missing : bool
        Whether nan (or None) may stand for a missing score.

    Raises
    ------
    ValueError
        If they are no vector of numbers or not as many as they must be, or one is infinite or
        (unless allowed) missing.

    Examples
    --------
    >>> score_vector([1, None], name="human", allow_missing=True)
    array([ 1., nan])
    """
    vector = _vector(scores, name)
    if n_items is not None and len(vector) != n_items:
        raise ValueError(f"{name} must hold one score per item; got {len(vector)} for {n_items}.")
    if allow_missing:
        _refuse(np.isinf(vector), name, "mark a missing score as nan")
    else:
        _refuse(~np.isfinite(vector), name, "leave out items without a score")
    return vector


def number_array(numbers: ArrayLike, *, name: str) -> FloatArray:
    """Return numbers of any shape as floats, nan where None or masked.

    Raises
    ------
    ValueError
        If they are no array of numbers.

    Examples
    --------
    >>> number_array([[1, None]], name="originals")
    array([[ 1., nan]])
    """
    if isinstance(numbers, np.ma.MaskedArray):
        numbers = np.ma.filled(numbers.astype(np.float64), np.nan)
    try:
        _refuse_other_kinds(np.asarray(numbers))
        return np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers; {error}.") from error


def _integer_codes(labels: NDArray[np.integer[Any]]) -> tuple[IntArray, int]:
    """Give whole numbers their codes by sorting them, which takes no look at each in turn."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse], len(first)


def _is_missing(label: object) -> bool:
    """Say whether a label stands for none."""
    try:
        # A nan differs from itself, so every missing id would silently be a group of its own.
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA is neither equal to itself nor different.
        return True


def _vector(scores: ArrayLike, name: str) -> FloatArray:
    """Return one float vector, or say why there is none."""
    if isinstance(scores, np.ma.MaskedArray):
        scores = np.ma.filled(scores.astype(np.float64), np.nan)
    try:
        _refuse_other_kinds(np.asarray(scores))
        vector = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a vector of numbers; {error}.") from error
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a vector, one score per item; got shape {vector.shape}.")
    return vector


def _refuse_other_kinds(given: NDArray[Any]) -> None:
    """Raise a ``TypeError`` for what NumPy turns into numbers although it is none."""
    kind: object = given.dtype
    if given.dtype.kind == "O":
        kinds = {type(each) for each in given.flat}
        kind = next((each for each in kinds if issubclass(each, str | bytes | complex)), None)
        if kind is None:
            return
    elif given.dtype.kind in "biuf":
        return
    raise TypeError(f"got {getattr(kind, '__name__', kind)}")


def _refuse(bad: NDArray[np.bool_], name: str, advice: str) -> None:
    """Raise if any item is marked bad."""
    if bad.any():
        raise ValueError(
            f"{name} has no finite score for {np.count_nonzero(bad)} of {len(bad)} items, the "
            f"first at index {np.flatnonzero(bad)[0]}; {advice}."
        )
