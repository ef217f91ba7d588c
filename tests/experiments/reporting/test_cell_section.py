import pytest

from judgesmith.experiments.reporting.cell_section import cell_section
from judgesmith.experiments.reporting.values import Besides, LevelCounts


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
