from judgesmith.data.columns import ColumnMap
from judgesmith.data.formats.opening import Format, register_format
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.items import DataSet
from judgesmith.data.joining import read_many
from judgesmith.data.problems import DataError, Problem
from judgesmith.data.reading import read_items, stream_items
from judgesmith.data.score_files import PairedAnswers, read_recorded, read_scores
from judgesmith.data.sheets.ratings import write_rating_sheet
from judgesmith.data.targets import Targets, targets_of

__all__ = [
    "ColumnMap",
    "DataError",
    "DataSet",
    "Format",
    "PairedAnswers",
    "Problem",
    "RawRows",
    "Targets",
    "read_items",
    "read_many",
    "read_recorded",
    "read_scores",
    "register_format",
    "stream_items",
    "targets_of",
    "write_rating_sheet",
]
