"""How the offline model takes a criterion apart: by the sides that are known of its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.reader import Fields, Question


@answers_signature(inputs="criterion", outputs="sub_aspects", optional="task")
def _name_sub_aspects(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``NameSubAspects``."""
    # The table reads the families of this package, and no judge needs it.
    from judgesmith.programs.benchmarking.sub_aspect_table import known_sub_aspects

    ((name, definition), *_) = read_criteria(fields.get("criterion") or "quality")
    sides = known_sub_aspects(name, definition)
    return {"sub_aspects": ["\n".join(f"{one.name}: {one.definition}" for one in sides)]}
