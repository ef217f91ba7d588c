"""Workers that search together judge different rows, and read on a board what the others found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.optimizers.board import Board
from judgesmith.optimizers.protocol_candidates import Candidates, JudgeOnRows, Said
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.programs.judging.runner import is_unread, readable_of
from judgesmith.signatures.judgement import CriterionScore, Judgement

ROWS = 8
"""Rows of an item at most, of which a worker claims as many as it judges at a time.

Small, so that workers end a look together; all must agree on it."""

_VERSIONS = "versions"
"""Where the board has what was said of a row's changed versions."""


@dataclass(frozen=True, eq=False)
class _Item:
    """Some rows of one judge."""

    judge: JudgeOnRows
    rows: Sequence[int]

    @property
    def id(self) -> str:
        """What all workers call it."""
        texts = "".join(self.judge.rows.items[row].key for row in self.rows)
        whole = f"{self.judge.known} {hashlib.sha256(texts.encode()).hexdigest()}"
        return hashlib.sha256(whole.encode()).hexdigest()[:24]


@dataclass(frozen=True, eq=False)
class SharedJudging:
    """Shares out what the candidates of one search are asked.

    What is read on the board counts, also of what this worker has put there. Rows for which the
    model gave no answer at all are left to whoever needs them: it may answer another time.

    Attributes
    ----------
    board : Board
        Of this search.
    candidates : Candidates
        Of this worker.
    """

    board: Board
    candidates: Candidates

    def alone(self, what: str) -> AbstractContextManager[None]:
        """Return a block that one worker goes through first while the others wait for its end."""
        return self.board.alone(what)

    def made(self, configurations: Sequence[Mapping[str, str]]) -> None:
        """Share out the runs of judges on the rows to show."""
        running = [self.candidates.on_pool(picked) for picked in configurations]
        rows = range(len(self.candidates.pool))
        self._share([(one, rows) for one in running if one is not None], words=True)

    def judged(self, candidates: Sequence[JudgeOnRows], rows: Sequence[int]) -> None:
        """Share out the judgements of these candidates on the rows at these places."""
        self._share([(one, rows) for one in candidates], words=False)

    def _share(self, wanted: Iterable[tuple[JudgeOnRows, Sequence[int]]], *, words: bool) -> None:
        groups: dict[str, list[_Item]] = {}
        for judge, rows in wanted:
            groups[judge.known] = [_Item(judge, part) for part in parted(judge.missing(rows))]
        items = {one.id: one for group in groups.values() for one in group}

        def work(ids: Sequence[str]) -> dict[str, Any]:
            parts = [items[one].rows for one in ids]
            judge = items[ids[0]].judge
            found, usd = judge.ask([row for part in parts for row in part])
            plain = [_plain_row(said, words=words) for said in found]
            results: dict[str, Any] = {}
            for id_, part in zip(ids, parts, strict=True):
                results[id_] = {"said": plain[: len(part)], "usd": list(usd[: len(part)])}
                plain, usd = plain[len(part) :], usd[len(part) :]
            return results

        most = max(1, self.candidates.asking.concurrency // ROWS)
        # What the budget did not reach is asked for in its turn, and then ends the search.
        with suppress(OutOfBudget):
            results = self.board.results(
                [[one.id for one in group] for group in groups.values()], work, most=most
            )
            for id_, one in items.items():
                _take(one, results[id_])


def parted(rows: Sequence[int]) -> list[Sequence[int]]:
    """Return rows in parts of ``ROWS`` at most, as equal as they can be.

    Examples
    --------
    >>> [len(part) for part in parted(range(17))], parted([])
    ([6, 6, 5], [])
    """
    if not rows:
        return []
    parts = np.array_split(np.asarray(rows), -(-len(rows) // ROWS))
    return [part.tolist() for part in parts]


def _take(item: _Item, result: Mapping[str, Any]) -> None:
    """Keep what a board says of an item, but for rows without an answer."""
    answered = [place for place, one in enumerate(result["said"]) if one is not None]
    said = [_row_of(result["said"][place]) for place in answered]
    usd = [result["usd"][place] for place in answered] if result["usd"] else ()
    item.judge.take([item.rows[place] for place in answered], said, usd)
    # A model that others could read is no garbage, however this worker's first prompts fare.
    readable = readable_of(item.judge.asking.lm)
    for one in (one for several in said for one in several):
        if not is_unread(one):
            readable.add(one)


def _plain_row(said: Said, *, words: bool) -> dict[str, Any] | None:
    """Return what is said of a row and its changed versions; None without an answer to each."""
    plain = [_plain(one, words=words) for one in said]
    if plain[0] is None or None in plain:
        return None
    return plain[0] if len(plain) == 1 else {**plain[0], _VERSIONS: plain[1:]}


def _row_of(plain: Mapping[str, Any]) -> tuple[Judgement, ...]:
    own = {name: value for name, value in plain.items() if name != _VERSIONS}
    return tuple(map(Judgement.model_validate, (own, *plain.get(_VERSIONS, ()))))


def _plain(judgement: Judgement, *, words: bool) -> dict[str, Any] | None:
    """Return a judgement for the board: without its words where only scores are compared.

    None where the model gave no answer.
    """
    if judgement.problem is not None and not judgement.calls:
        return None
    if not words:
        scores = {name: CriterionScore(score=one.score) for name, one in judgement.criteria.items()}
        judgement = judgement.model_copy(
            update={"explanation": "", "criteria": scores, "errors": ()}
        )
    return judgement.model_dump(mode="json", exclude_defaults=True)
