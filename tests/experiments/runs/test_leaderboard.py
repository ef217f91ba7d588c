import csv
import io
import json

import pytest

from judgesmith.experiments.runs.leaderboard import leaderboard
from judgesmith.experiments.runs.leaderboard_text import (
    COLUMNS,
    FEW_SYSTEMS,
    csv_text,
    latex,
    latex_cell,
    markdown,
    titles,
)


@pytest.fixture(scope="module")
def board(spec, done):
    return leaderboard(spec, done)


def test_cells_stand_by_q_and_differ_from_the_first(board, done):
    first = board.blocks[0]
    assert [block.level for block in board.blocks] == ["dataset", "sample", "system"]
    values = [line.value for line in first.lines]
    assert values == sorted(values, reverse=True)
    assert {line.cell.judge for line in first.lines} == {"plain", "coarse", "theirs", "both"}
    best, *others = first.lines
    assert (best.difference, best.p_holm) == (None, None)
    for line in others:
        assert line.difference.n <= 24
        assert line.p_holm >= line.difference.p_value
    theirs = next(line for line in first.lines if line.cell.judge == "theirs")
    assert theirs.unscored == pytest.approx(1 - theirs.q["n"] / 24)
    assert theirs.difference.n == theirs.q["n"]
    assert theirs.difference.value == pytest.approx(
        theirs.difference.first - theirs.difference.second
    )


def test_all_forms_say_the_same(board, done):
    board.write(done)
    found = json.loads((done.path / "leaderboard.json").read_text())
    assert found == json.loads(json.dumps(board.to_dict()))
    rows = list(csv.DictReader(io.StringIO(csv_text(board))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == sum(len(block.lines) for block in board.blocks)
    flat = [line for block in found["blocks"] for line in block["cells"]]
    assert [float(row["q"]) for row in rows] == [line["q"]["value"] for line in flat]
    for row, line in zip(rows, flat, strict=True):
        q, gain = line["q"], line["difference"]
        assert [row[one] for one in ("n_systems", "n_undefined", "n_sources", "confidence")] == [
            str(one)
            for one in (line["n_systems"], q["n_undefined"], q["n_groups"], q["confidence"])
        ]
        assert row["difference_n"] == ("" if gain is None else str(gain["n"]))
    for text in (markdown(board), latex(board)):
        for line in board.blocks[0].lines:
            assert f"{line.value:.3f}" in text
    assert (done.path / "leaderboard.md").read_text() == markdown(board)


def test_a_ranking_over_few_systems_says_so(board):
    from dataclasses import replace

    dataset, _, system = board.blocks
    n_systems = system.lines[0].n_systems
    assert 1 < n_systems < FEW_SYSTEMS
    few = f"system level (only {n_systems} systems: tells little), seed 0"
    assert titles(system) == f"answers: overall, {few}"
    assert titles(dataset) == "answers: overall, dataset level, seed 0"
    many = replace(system, lines=(replace(system.lines[0], n_systems=FEW_SYSTEMS),))
    assert titles(many) == "answers: overall, system level, seed 0"


def test_what_is_missing_is_told(board):
    from dataclasses import replace

    text = markdown(replace(board, failed={"one": "no *luck*"}, unfinished={"two": "not yet"}))
    assert "- one failed: no \\*luck\\*\n- two is not finished: not yet\n" in text


@pytest.mark.parametrize("text", ["\\end{table}", "50% $x$", "a\nb", "é~^", '"[x]"'])
def test_nobodys_name_is_a_command_of_latex(text):
    shown = latex_cell(text)
    assert "\n" not in shown
    plain = shown
    assert "textquotedbl" not in shown  # which takes a package
    for mark in ("textbackslash", "textasciitilde", "textasciicircum"):
        plain = plain.replace(f"\\{mark}{{}}", "")
    for one in "\\%$#&_{}":
        plain = plain.replace(f"\\{one}", "")
    assert not set(plain.replace("{[}", "").replace("{]}", "")) & set("\\%$#&_^~")
