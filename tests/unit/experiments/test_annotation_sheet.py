from judgesmith.experiments.annotation_sheet import marked_text
from judgesmith.experiments.errors_marks import numbered
from judgesmith.experiments.spreadsheet_cells import cell_of, is_cut
from judgesmith.signatures.judgement import ErrorSpan


def test_a_cell_holds_both_marks_of_an_error_however_long_the_text():
    response = "word " * 50_000
    error = ErrorSpan(text="…", start=60_000, end=180_000)
    cell = cell_of(marked_text(response, numbered([error])))
    assert not is_cut(cell)
    assert cell.index("[1>") < cell.index("<1]")
    assert cell.count(" characters … ") == 3
