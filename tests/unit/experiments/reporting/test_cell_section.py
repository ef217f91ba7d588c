from dataclasses import replace

import pytest

from judgesmith.experiments.report.reading import Mattered, Trial
from judgesmith.experiments.report.sections import cell_section
from judgesmith.experiments.runs.cell_result import Besides, LevelCounts, SeenFrom


@pytest.fixture
def section_with(reported):
    cell = next(iter(reported.cells.values()))

    def made(**besides):
        result = cell.result.model_copy(update={"besides": Besides(**besides)})
        changed = type(cell)(names=cell.names, result=result, rows=cell.rows)
        return cell_section(changed, 0, figures=False)

    return made


def test_rows_are_counted_by_level_where_people_rate_by_level(section_with):
    counts = LevelCounts(levels=(1, 2), counts=((3, 0), (1, 4)))
    section = section_with(confusion=counts)
    assert 'people: 2</th><td class="num">1</td><td class="num">4</td>' in section
    assert "judge: middle" not in section


def test_rows_are_counted_by_thirds_where_there_are_no_levels(section_with):
    assert "judge: middle" in section_with()
    uneven = LevelCounts(levels=(1, 2), counts=((3,), (1, 4)))
    assert "judge: middle" in section_with(confusion=uneven)


def test_both_perspectives_are_told_where_they_are_there(reported):
    sections = [cell_section(one, 0, figures=False) for one in reported.cells.values()]
    for section in sections:
        assert "lobal perspective" in section
        assert "ocal perspective" in section
    assert any(
        "neighbours put in the right order, on rows held out</caption>" in one for one in sections
    )


def test_a_perspective_tells_each_criterion_their_mean_and_what_is_left_out(reported):
    cell = next(iter(reported.cells.values()))
    number = {"value": 0.5, "low": 0.25, "high": 0.75, "n": 9, "n_groups": 4}
    seen = SeenFrom.model_validate(
        {
            "criteria": {"<i>": {"kappa": number, "confusion": {}}, "style": {"kappa": None}},
            "mean": number,
            "left_out": {"length": "nobody rated it"},
            "notes": ["few <b>rows</b>"],
        }
    )
    result = cell.result.model_copy(update={"perspectives": {"global": seen}})
    section = cell_section(replace(cell, result=result), 0, figures=False)
    cells = '<td class="num">0.50 [0.25, 0.75]</td><td class="num">9</td><td class="num">4</td>'
    assert f"<bdi>&lt;i&gt;</bdi></th>{cells}" in section
    assert f"mean</th>{cells}" in section
    assert "<li>length is left out: nobody rated it</li>" in section
    assert "<li>few &lt;b&gt;rows&lt;/b&gt;</li>" in section
    assert "Local perspective" not in section


def test_a_search_tells_which_choices_mattered(reported):
    cell = next(iter(reported.cells.values()))
    trials = tuple(Trial(number=n, value=n / 4) for n in range(3))
    mattered = (Mattered(objective="<q>", shares={"scale": 0.25, "explain": 0.75}),)
    searched = replace(cell, trials=trials, mattered=mattered)
    section = cell_section(searched, 0, figures=False)
    assert "apart by &lt;q&gt;, by PED-ANOVA</caption>" in section
    assert section.index("width:75.0%") < section.index("width:25.0%")
    assert '<td class="num">75%</td>' in section
    assert "PED-ANOVA" not in cell_section(replace(searched, mattered=()), 0, figures=False)


def test_rows_that_a_saved_judge_was_made_from_are_told_apart(reported):
    cell = next(one for one in reported.cells.values() if one.asks)
    told = " rows to learn from, "
    assert told in cell_section(cell, 0, figures=False)
    assert "Made elsewhere" not in cell_section(cell, 0, figures=False)
    names = cell.names.model_copy(update={"optimizer": None})
    section = cell_section(replace(cell, names=names), 0, figures=False)
    assert "Made elsewhere with " in section
    assert f"to choose by; here {cell.result.rows.heldout} held out" in section
