"""QAGS: an article and a summary per line, each sentence called consistent or not by workers.

A rating is the share of sentences that one worker called consistent. Correlations in papers use
the share of sentences that most workers called so, which rows keep as ``consistency_majority``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    PublishedFiles,
    Record,
    rated_row,
)
from judgesmith.signatures.scale import Scale

_SCALES = {"consistency": Scale(low=0, high=1)}
_SYSTEM = "single-system"
_VOTES = {"yes": 1, "no": 0}


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    n_before = 0
    for path in files.paths:
        for record in files.records(path, "article", "summary_sentences"):
            row = _row(about, record, str(n_before))
            n_before += 1
            if record.sound:
                yield record, row


def _row(about: Conversion, record: Record, source_id: str) -> dict[str, Any]:
    texts, votes_on, by_worker = list[str](), list[list[int]](), dict[str, list[int]]()
    for sentence in record.many("summary_sentences"):
        votes: list[int] = []
        for answer in sentence.many("responses"):
            said = answer.text("response")
            if said not in _VOTES:
                answer.problem("response", expected="yes or no", came=repr(said))
                continue
            votes.append(_VOTES[said])
            by_worker.setdefault(answer.id("worker_id"), []).append(_VOTES[said])
        if not votes:
            sentence.problem("responses", expected="at least one vote", came="none")
        texts.append(sentence.text("sentence"))
        votes_on.append(votes)
    if not texts:
        record.problem("summary_sentences", expected="at least one sentence", came="none")
    liked = [2 * sum(votes) > len(votes) for votes in votes_on]
    return rated_row(
        about.dataset,
        about.task,
        source_id=source_id,
        system_id=_SYSTEM,
        source=record.text("article"),
        response=" ".join(texts),
        human={"consistency": [sum(votes) / len(votes) for votes in by_worker.values()]},
        scales=_SCALES,
        workers=list(by_worker),
        consistency_majority=sum(liked) / len(liked) if liked else None,
        sentences=[
            {"sentence": text, "votes": votes} for text, votes in zip(texts, votes_on, strict=True)
        ],
    )


QAGS_CNNDM = Conversion(
    name="qags-cnndm",
    task="summarization",
    files="mturk_cnndm.jsonl",
    home="github.com/W4ngatang/qags",
    rows=_rows,
)
QAGS_XSUM = Conversion(
    name="qags-xsum",
    task="summarization",
    files="mturk_xsum.jsonl",
    home="github.com/W4ngatang/qags",
    rows=_rows,
)
