"""Recording what a judge prefers among the responses to a source, in a form that is evaluated."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.experiments.recorded_pairs import SWAPPED
from judgesmith.experiments.score_rows import BETWEEN, pair_in
from judgesmith.metrics.pairs import OrderConsistency, order_consistency
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.pairwise import OneOrder, ResponsePair, prefer_each
from judgesmith.programs.judging.executors import endpoint_of, with_own_models
from judgesmith.programs.judging.runner import sources_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPairs:
    """What a recording wrote.

    Attributes
    ----------
    n_pairs, n_sources, n_unanswered : int
        Pairs, their sources, and pairs that lack an answer in one order or both.
    causes : dict of Cause to int
        Why, code and sentence, most frequent first.
    stated : dict of str to int
        Why answers rest on what the model stated although probabilities were to be used, with the
        number of answers.
    order : OrderConsistency or None
        How often the stated answer is the same in both orders, and how often whatever is shown
        first wins; None where no pair has both.
    """

    n_pairs: int
    n_sources: int
    n_unanswered: int
    causes: Mapping[Cause, int]
    stated: Mapping[str, int]
    order: OrderConsistency | None


@file_faults()
def record_pairs(
    judge: SavedJudge,
    items: Iterable[RatedItem],
    output: str | Path,
    *,
    n_pairs: int | None = None,
    seed: int = 0,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> RecordedPairs:
    """Compare the responses to each source in pairs and write two JSON lines for each pair.

    The system of a pair is ``a|b``; ``score`` is 1 where a is better, 0 where b is, 0.5 where
    neither is, and ``probability`` that a is. The second line, by the same judge ``order
    swapped``, is what it says when b is shown first. ``evaluate`` and ``compare`` read such files.

    Parameters
    ----------
    judge : SavedJudge
        A judge that compares.
    items : iterable of RatedItem
        All responses; ratings are not read. All are read first.
    output : str or Path
        A file that ends in ``.jsonl``, in a folder that is there.
    n_pairs : int or None
        How many pairs of each source, drawn with ``seed``; None takes all.
    seed : int
        Of the draw, which does not depend on the order of the rows.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Pairs compared at the same time.
    overwrite : bool
        Whether a file of another run may be replaced, or one with more answers.
    progress : callable or None
        Told how many pairs were finished since it was last told.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run, or more answers.
    ValueError
        If the judge compares nothing, no source has two responses, or responses cannot be told
        apart by source and system.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.
    """
    output = Path(output)
    if output.suffix != ".jsonl":
        raise InputError(
            "rows are written as JSON Lines.", hint=f"name a file in .jsonl, not {output}."
        )
    judge, lm = with_own_models(judge, lm)
    given = list(items)
    pairs = pairs_of(given, n_pairs=n_pairs, seed=seed)
    compared = prefer_each(judge, pairs, lm=lm, concurrency=concurrency, progress=progress)
    marks = {"target": judge.target, "run": _run(judge, lm, pairs)}
    n_before = 0 if overwrite else _answers_in(output, marks["run"])
    causes, stated = Counter[Cause](), Counter[str]()
    answers: list[tuple[float, float]] = []
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for pair, found in compared:
                for name, one in (("", found.given), (SWAPPED, found.swapped)):
                    row = _row(pair, one, judge=f"{judge.fingerprint}{name}") | marks
                    file.write(json.dumps(row) + "\n")
                    if one.reason:
                        stated[one.reason] += 1
                if found.cause is not None:
                    causes[found.cause] += 1
                answers.append((_number(found.given.stated), _number(found.swapped.stated)))
            file.flush()
            os.fsync(file.fileno())
        table = np.asarray(answers)
        if int(np.sum(~np.isnan(table))) < n_before:
            raise ExistingFileError(
                f"{output} holds more answers than there are now.",
                hint="name another file (the answers are on record), or replace it with --force.",
            )
        put(draft, output)
    has_both = bool(np.any(~np.isnan(table).any(axis=1)))
    sources = [f"{pair.source_id} {pair.source}" for pair in pairs]
    return RecordedPairs(
        n_pairs=len(pairs),
        n_sources=len(set(sources)),
        n_unanswered=causes.total(),
        causes=dict(causes.most_common()),
        stated=dict(stated.most_common()),
        order=order_consistency(*table.T, sources=sources) if has_both else None,
    )


def pairs_of(
    items: Sequence[RatedItem], *, n_pairs: int | None = None, seed: int = 0
) -> list[ResponsePair]:
    """Return the pairs of responses to each source, in the order of the names of their systems.

    Parameters
    ----------
    items : sequence of RatedItem
        The responses.
    n_pairs : int or None
        How many pairs of each source; None takes all.
    seed : int
        Of the draw.

    Raises
    ------
    ValueError
        If there is no pair, two responses to a source have the same system, or none, an id stands
        for several sources, or the names of two systems do not tell which they are once they stand
        together.

    Examples
    --------
    >>> items = [RatedItem(source_id="s", system_id=name, response=name) for name in "bca"]
    >>> [(pair.first_id, pair.second_id) for pair in pairs_of(items)]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> len(pairs_of(items, n_pairs=2))
    2
    """
    if n_pairs is not None and n_pairs < 1:
        raise InputError(f"at least 1 pair of each source is compared; got {n_pairs}.")
    found: list[ResponsePair] = []
    named: set[tuple[str, str]] = set()
    for places in sources_of(items):
        own = sorted((items[place] for place in places), key=lambda item: item.system_id)
        if len(own) > 1:
            _check_names(own)
            _check_source(own, named)
        pairs = list(combinations(own, 2))
        if n_pairs is not None and n_pairs < len(pairs):
            drawn = _rng(own[0], seed).choice(len(pairs), size=n_pairs, replace=False)
            pairs = [pairs[place] for place in sorted(drawn.tolist())]
        found += [ResponsePair.of(first, second) for first, second in pairs]
    if not found:
        raise InputError("no source has two responses to compare; rows of a source share its id.")
    return found


def _check_names(items: Sequence[RatedItem]) -> None:
    names = [item.system_id for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if "" in names or twice is not None:
        which = f"{twice!r} twice" if twice else "none"
        raise InputError(
            f"each response to a source is named by its system; got {which} for the source "
            f"{items[0].source_id[:80]!r}.",
            hint="name the column with --map system_id=COLUMN.",
        )
    keys = {("", name) for name in names}
    for first, second in combinations(names, 2):
        joined = f"{first}{BETWEEN}{second}"
        if pair_in({"source_id": "", "system_id": joined}, keys) != (("", first), ("", second)):
            raise InputError(
                f"systems are told apart in {joined[:80]!r} by the {BETWEEN!r} between them, which "
                "does not say here which two are meant.",
                hint=f"give systems names without {BETWEEN!r}.",
            )


def _check_source(items: Sequence[RatedItem], named: set[tuple[str, str]]) -> None:
    """Refuse a response that another one to another source is called like; remember the names."""
    for item in items:
        key = (item.source_id, item.system_id)
        if key in named:
            raise InputError(
                f"the id {item.source_id[:80]!r} stands for several sources, and each has a "
                f"response of {item.system_id[:80]!r}.",
                hint="give every source an id of its own, or leave ids out with --map source_id=.",
            )
        named.add(key)


def _rng(item: RatedItem, seed: int) -> np.random.Generator:
    named = json.dumps([item.source_id, item.source, item.context]).encode()
    own = int.from_bytes(hashlib.blake2b(named, digest_size=8).digest())
    return np.random.default_rng([seed, own])


def _row(pair: ResponsePair, found: OneOrder, *, judge: str) -> dict[str, Any]:
    return {
        "source_id": pair.source_id,
        "system_id": f"{pair.first_id}{BETWEEN}{pair.second_id}",
        "judge": judge,
        "score": found.stated,
        "probability": found.probability,
        "mode": None if found.stated is None else found.mode,
        "problem": None if found.cause is None else found.cause.text,
        **({} if found.cause is None else {"reason": found.cause.reason}),
    }


def _number(value: float | None) -> float:
    return nan if value is None else value


def _run(judge: SavedJudge, lm: dspy.LM, pairs: Sequence[ResponsePair]) -> str:
    """Return twelve hex digits that tell runs apart: by judge, model, and what is compared."""
    state = hashlib.sha256(json.dumps([judge.fingerprint, str(lm.model), endpoint_of(lm)]).encode())
    for pair in pairs:
        texts = [pair.source_id, pair.first_id, pair.second_id]
        texts += [pair.source, pair.context or "", pair.first, pair.second]
        state.update(json.dumps(texts).encode())
    return state.hexdigest()[:12]


def _answers_in(output: Path, run: str) -> int:
    """Return how many answers of this run a file holds already.

    Raises
    ------
    FileExistsError
        If it holds something else.
    """
    if not output.exists():
        return 0
    n = 0
    for row in _rows_in(output):
        if row.get("run") != run:
            raise ExistingFileError(
                f"{output} holds something else than this judge's comparisons of these pairs.",
                hint="name another file, or replace it with --force.",
            )
        n += row.get("score") is not None
    return n


def _rows_in(output: Path) -> Iterator[Mapping[str, Any]]:
    with file_faults(output), output.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield row if isinstance(row, dict) else {}
