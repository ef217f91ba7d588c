"""Input checks of all metrics."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
WithMissing = ArrayLike | Sequence[object]
"""Numbers that may hold None, whose lists a type checker knows as lists of objects."""
Seed = int | np.random.Generator
"""Where draws come from: a generator, or the seed of one."""


def paired_scores(
    human: ArrayLike, judge: ArrayLike, *, allow_unscored: bool = False, name: str = "judge"
) -> tuple[FloatArray, FloatArray]:
    """Return both score vectors as float arrays of one shared length."""
    p, h = _vector(judge, name), _vector(human, "human")
    if p.shape != h.shape:
        raise ValueError(
            f"{name} and human must be aligned, one score each per item; got {len(p)} "
            f"scores of {name} and {len(h)} human ones."
        )
    _refuse_misaligned(human, judge, name)
    _refuse(~np.isfinite(h), "human", "give only rated items")
    if allow_unscored:
        _refuse(np.isinf(p), name, "mark an item without a score as nan")
    else:
        _refuse(~np.isfinite(p), name, "drop unscored items and report how many there were")
    return h, p


def _refuse_misaligned(human: Any, judge: Any, name: str) -> None:
    """Raise if both are columns of pandas whose rows are not called alike."""
    if not (hasattr(judge, "iloc") and hasattr(human, "iloc")):
        return
    if not judge.index.equals(human.index):
        raise ValueError(
            f"{name} and human are columns with different indexes, and scores are taken by their "
            "position; align them first, or give both without an index (.to_numpy())."
        )


def generator(seed: Seed) -> np.random.Generator:
    """Return ``seed``, or the generator that a whole number seeds."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(
            f"seed must be a whole number or a numpy.random.Generator; got {type(seed).__name__}."
        )
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, or a numpy.random.Generator; got {seed}.")
    return np.random.default_rng(seed)


def group_codes(
    labels: Iterable[object] | None, *, name: str, n_items: int
) -> tuple[IntArray, int]:
    """Return codes 0 to ``n_groups - 1`` by first appearance, each item its own without labels."""
    if labels is None:
        return np.arange(n_items), n_items
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
        if is_missing(label):
            raise ValueError(
                f"{name} holds a missing label ({label!r}), the first at index "
                f"{np.flatnonzero(codes == seen[label])[0]}; give every item one."
            )
    return codes, len(seen)


def source_codes(
    sources: Iterable[object] | None, n_rows: int, kept: NDArray[np.bool_] | IntArray
) -> IntArray:
    """Return codes from 0 of the sources of the rows kept; without labels each row has its own."""
    codes, _ = group_codes(sources, name="sources", n_items=n_rows)
    return np.unique(codes[kept], return_inverse=True)[1].astype(np.int64, copy=False)


def label_list(labels: Iterable[object], *, name: str) -> list[object]:
    """Return labels as a list of plain values, for what reads them more than once."""
    if not isinstance(labels, Iterable):
        raise TypeError(f"{name} must be a sequence of labels, one per item; got {labels!r}.")
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Return labels in sorted order, or as they come where they have no order."""
    given = list(labels)
    try:
        return sorted(given)
    except TypeError:
        return given


def rating_table(ratings: ArrayLike) -> FloatArray:
    """Return ratings as a float array of shape (n_items, n_raters), nan where missing."""
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
    if not isinstance(value, float | int | np.number) or not 0 < value < 1:
        raise ValueError(f"{name} must be strictly between 0 and 1, such as 0.95; got {value!r}.")
    return value


def number(value: object, *, name: str) -> float:
    """Return a single number, which may be nan, as a float."""
    if not isinstance(value, float | int | np.number):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    return float(value)


def score_vector(
    scores: ArrayLike, *, name: str, n_items: int | None = None, allow_missing: bool = False
) -> FloatArray:
    vector = _vector(scores, name)
    if n_items is not None and len(vector) != n_items:
        raise ValueError(f"{name} must hold one score per item; got {len(vector)} for {n_items}.")
    if allow_missing:
        _refuse(np.isinf(vector), name, "mark a missing score as nan")
    else:
        _refuse(~np.isfinite(vector), name, "leave out items without a score")
    return vector


def number_array(numbers: WithMissing, *, name: str, kind: str = "an array") -> FloatArray:
    """Return numbers of any shape as floats, nan where None or masked."""
    if isinstance(numbers, np.ma.MaskedArray):
        numbers = np.ma.filled(numbers.astype(np.float64), np.nan)
    try:
        _refuse_other_kinds(np.asarray(numbers))
        return np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be {kind} of numbers; {error}.") from error


def check_choice(value: object, choices: object, *, name: str) -> None:
    """Raise a ``ValueError`` for what a ``Literal`` does not list."""
    if value not in get_args(choices):
        raise ValueError(f"{name} must be one of {get_args(choices)}; got {value!r}.")


def ratio(
    top: NDArray[Any] | float,
    bottom: NDArray[Any],
    where: NDArray[np.bool_] | None = None,
    otherwise: float = np.nan,
) -> FloatArray:
    """Divide where the divisor is positive, or ``where`` says."""
    result = np.full(np.broadcast_shapes(np.shape(top), bottom.shape), otherwise)
    np.divide(top, bottom, out=result, where=bottom > 0 if where is None else where)
    return result


def group_sums(columns: Sequence[ArrayLike], groups: IntArray, n_groups: int = 0) -> FloatArray:
    """Return the sum of each column over the rows of each group, (n_groups, n_columns)."""
    found = [np.bincount(groups, weights=each, minlength=n_groups) for each in columns]
    return np.stack(found, axis=1).astype(np.float64, copy=False)


def _integer_codes(labels: NDArray[np.integer[Any]]) -> tuple[IntArray, int]:
    """Give whole numbers their codes by sorting them, which takes no look at each in turn."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse], len(first)


def is_missing(label: object) -> bool:
    """Say whether a label stands for none."""
    try:
        # A nan differs from itself, so every missing id would silently be a group of its own.
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas.NA is neither equal to itself nor different.
        return True


def _vector(scores: ArrayLike, name: str) -> FloatArray:
    vector = number_array(scores, name=name, kind="a vector")
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
    if bad.any():
        raise ValueError(
            f"{name} has no finite score for {np.count_nonzero(bad)} of {len(bad)} items, the "
            f"first at index {np.flatnonzero(bad)[0]}; {advice}."
        )
