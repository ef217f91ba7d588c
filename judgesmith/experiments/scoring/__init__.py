"""Scoring new texts: readers, what judges, and a writer; one row out for every row in."""

from judgesmith.experiments.scoring.lines import Scored
from judgesmith.experiments.scoring.run import Judging, RowWatch
from judgesmith.experiments.scoring.scoring import (
    rows_to_score,
    score_file,
    score_shards,
    unscored_items,
)
from judgesmith.experiments.scoring.shards import Shard, shards_of

__all__ = [
    "Judging",
    "RowWatch",
    "Scored",
    "Shard",
    "rows_to_score",
    "score_file",
    "score_shards",
    "shards_of",
    "unscored_items",
]
