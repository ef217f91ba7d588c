"""USR: dialogues with several answers each, each rated by three people on six criteria.

Raters are named in the files; rows number them instead, by the first dialogue that they rated.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    Numbering,
    PublishedFiles,
    rated_row,
)
from judgesmith.signatures.scale import Scale

_CRITERIA = {
    "understandability": ("Understandable", Scale(low=0, high=1)),
    "naturalness": ("Natural", Scale(low=1, high=3)),
    "coherence": ("Maintains Context", Scale(low=1, high=3)),
    "engagingness": ("Engaging", Scale(low=1, high=3)),
    "groundedness": ("Uses Knowledge", Scale(low=0, high=1)),
    "overall": ("Overall", Scale(low=1, high=5)),
}
_SCALES = {name: scale for name, (_, scale) in _CRITERIA.items()}
_NO_FACT = "_nofact"
_FIRST = "Original Ground Truth"
"""The system whose answer the dialogue went on with: the reference of all others."""


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    raters = Numbering("rater")
    n_dialogues = 0
    for path in files.paths:
        for dialogue in files.records(path, "context", "fact", "annotators", "responses"):
            fact = dialogue.text("fact").strip()
            history = dialogue.text("context").strip()
            names = [raters[name] for name in dialogue.texts("annotators")]
            answers = list(dialogue.many("responses"))
            first = [one.text("response").strip() for one in answers if one.id("model") == _FIRST]
            for answer in answers:
                row = rated_row(
                    about.dataset,
                    about.task,
                    source_id=f"{about.dataset}-{n_dialogues:02d}",
                    system_id=answer.id("model"),
                    source=history,
                    context=None if fact in ("", _NO_FACT) else fact,
                    response=answer.text("response").strip(),
                    references=[] if answer.cells.get("model") == _FIRST else first,
                    human={
                        name: answer.ratings(column, scale)
                        for name, (column, scale) in _CRITERIA.items()
                    },
                    scales=_SCALES,
                    raters=names,
                )
                if dialogue.sound:
                    yield answer, row
            n_dialogues += 1


TOPICAL_CHAT = Conversion(
    name="topical-chat",
    task="dialogue",
    files="tc_usr_data.json",
    home="shikib.com/usr",
    rows=_rows,
)
PERSONA_CHAT = Conversion(
    name="persona-chat",
    task="dialogue",
    files="pc_usr_data.json",
    home="shikib.com/usr",
    rows=_rows,
)
