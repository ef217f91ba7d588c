"""Rankings as a page shows them: what the other forms of the leaderboard tell is told here, too."""

from dataclasses import replace

import pytest

from judgesmith.experiments.report.reading import SeedsBoard
from judgesmith.experiments.report.sections import board_section

SPREAD = {"mean": 1.25, "sd": 0.5, "low": 0.75, "high": 1.75, "n_seeds": 2, "n_undefined": 1}
LINE = {"judge": "<b>fine</b>", "optimizer": None, "model": "offline", "q": SPREAD}


@pytest.fixture
def several(reported):
    """The run with a ranking over three seeds, too."""
    lines = [LINE | {"difference": None}, LINE | {"difference": SPREAD | {"mean": -0.25}}]
    told = {"data": "answers", "target": "overall", "level": "dataset", "seeds": [0, 1, 2]}
    board = SeedsBoard.model_validate(told | {"cells": lines})
    return replace(reported, board=reported.board.model_copy(update={"over_seeds": (board,)}))


def test_systems_and_rows_of_both_are_counted_and_few_systems_told(reported):
    section = board_section(reported)
    assert ">systems</th>" in section
    assert ">rows of both</th>" in section
    few = max(line.n_systems for line in reported.board.blocks[-1].cells)
    assert f"system level (only {few} systems: tells little)</caption>" in section
    assert "dataset level</caption>" in section


def test_means_over_seeds_stand_before_those_of_each(several):
    section = board_section(several)
    first = section.index("<h3><bdi>answers: overall, over 3 seeds</bdi></h3>")
    assert first < section.index("<h3><bdi>answers: overall, seed 0</bdi></h3>")
    assert "<bdi>&lt;b&gt;fine&lt;/b&gt;</bdi>" in section
    for cell in ("1.25", "0.50", "0.75", "1.75", "2, 1 undefined", "-0.25"):
        assert f'<td class="num">{cell}</td>' in section


def test_a_leaderboard_of_before_is_read_without_what_it_lacks(reported):
    board = reported.board.model_copy(update={"over_seeds": ()})
    lines = [line.model_copy(update={"n_systems": None}) for line in board.blocks[-1].cells]
    old = board.blocks[-1].model_copy(update={"cells": tuple(lines)})
    section = board_section(replace(reported, board=board.model_copy(update={"blocks": (old,)})))
    assert "tells little" not in section
    assert '<td class="num">unknown</td>' in section


def test_a_cell_without_a_part_of_its_own_has_no_link(reported):
    first, *others = reported.cells
    section = board_section(reported, {first})
    assert f'href="#cell-{first}"' in section
    assert not [one for one in others if f'href="#cell-{one}"' in section]
    assert all(f'href="#cell-{one}"' in board_section(reported) for one in others)
