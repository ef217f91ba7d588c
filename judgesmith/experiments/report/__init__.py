"""A report of a run: one page that people open, read, sort, print and send on."""

from judgesmith.experiments.report.page import WrittenReport, write_report
from judgesmith.experiments.report.reading import ReportRun, read_run, texts_of

__all__ = ["ReportRun", "WrittenReport", "read_run", "texts_of", "write_report"]
