from judgesmith.data.sheets import cell_of, is_cut
from judgesmith.experiments.evaluate.errors.page import numbered
from judgesmith.experiments.labels.annotation import marked_text
from judgesmith.signatures.judgement import ErrorSpan


def test_a_cell_holds_both_marks_of_an_error_however_long_the_text():
    response = "word " * 50_000
    error = ErrorSpan(text="…", start=60_000, end=180_000)
    cell = cell_of(marked_text(response, numbered([error])))
    assert not is_cut(cell)
    assert cell.index("[1>") < cell.index("<1]")
    assert cell.count(" characters … ") == 3
