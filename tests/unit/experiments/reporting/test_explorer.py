import dataclasses

import pytest

from judgesmith.data.items import DataSet
from judgesmith.experiments.report.explorer import explorer


@pytest.fixture(scope="module")
def bodies_of():
    def found(section):
        return section.split("<tbody")[1:]

    return found


def test_the_largest_differences_come_first(reported, sets, bodies_of):
    found = explorer(reported, sets, room=10**9)
    gaps = [
        abs(float(one.split('data-apart="')[1].split('"')[0])) if "data-apart" in one else -1.0
        for one in bodies_of(found.section)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps.count(-1.0) == sum(
        row.score is None for cell in reported.cells.values() for row in cell.rows
    )
    assert "judgements of rows held out are below, the largest differences first" in found.section


def test_what_does_not_fit_is_said_and_no_judge_is_left_out(reported, sets, bodies_of):
    found = explorer(reported, sets, room=60_000)
    assert 3 < found.shown < found.n_rows
    assert f"{found.shown} of {found.n_rows} judgements" in found.section
    assert "More do not fit on a page" in found.section
    for name in reported.cells:
        assert any(f'data-cell="{name}"' in one for one in bodies_of(found.section))
    assert "unscored" in found.section


def test_errors_are_marked_in_their_text(reported, sets):
    section = explorer(reported, sets, room=10**9).section
    assert '<mark class="m' in section
    assert "data-errors" in section


def test_a_text_that_changed_since_is_not_shown_for_the_one_that_was_judged(reported, sets):
    items = [one.model_copy(update={"response": "Something else."}) for one in sets["answers"]]
    changed = dataclasses.replace(sets["answers"], items=tuple(items))
    assert isinstance(changed, DataSet)
    section = explorer(reported, {"answers": changed}, room=10**9).section
    assert "Something else." not in section


def test_a_run_without_rows_has_a_section_without_a_table(reported):
    empty = dataclasses.replace(reported, cells={})
    found = explorer(empty, {}, room=10**9)
    assert (found.shown, found.n_rows) == (0, 0)
    assert "<table" not in found.section
