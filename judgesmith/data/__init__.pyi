from judgesmith.data.columns import ColumnMap
from judgesmith.data.items import DataSet
from judgesmith.data.joining import read_together
from judgesmith.data.problems import DataError, Problem
from judgesmith.data.rating_sheets import write_rating_sheet
from judgesmith.data.reading import read_items, stream_items
from judgesmith.data.score_files import PairedAnswers, read_recorded, read_scores
from judgesmith.data.targets import Targets, targets_of

__all__ = [
    "ColumnMap",
    "DataError",
    "DataSet",
    "PairedAnswers",
    "Problem",
    "Targets",
    "read_items",
    "read_recorded",
    "read_scores",
    "read_together",
    "stream_items",
    "targets_of",
    "write_rating_sheet",
]
