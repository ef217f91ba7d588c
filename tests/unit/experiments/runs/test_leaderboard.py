import csv
import io
import json

import pytest

from judgesmith.experiments.runs.leaderboard import (
    COLUMNS,
    FEW_SYSTEMS,
    csv_text,
    latex,
    latex_cell,
    leaderboard,
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


def test_several_seeds_have_a_mean_and_a_spread_in_every_form(board):
    seeds = several_seeds(board)
    dataset = seeds.over_seeds[0]
    assert (dataset.level, dataset.seeds) == ("dataset", (0, 1))
    by_judge = {line.judge: line for line in dataset.lines}
    first = {line.cell.judge: line.value for line in board.blocks[0].lines}
    for name, value in first.items():
        assert by_judge[name].q.mean == pytest.approx(value + 0.5 * (name == "coarse"))
        assert by_judge[name].q.sd == pytest.approx(2**0.5 / 2 * (name == "coarse"))
    best, *others = dataset.lines
    assert (best.difference, others[0].difference.n_seeds) == (None, 2)
    assert others[0].difference.mean == pytest.approx(others[0].q.mean - best.q.mean)
    assert seeds.to_dict()["over_seeds"][0]["cells"][0]["q"]["mean"] == best.q.mean
    rows = list(csv.DictReader(io.StringIO(csv_text(seeds))))
    assert tuple(rows[0])[: len(COLUMNS)] == COLUMNS
    means = [row for row in rows if row["seed"] == "mean"]
    assert len(means) == sum(len(block.lines) for block in seeds.over_seeds)
    assert (float(means[0]["q"]), means[0]["n_seeds"]) == (best.q.mean, "2")
    for text in (markdown(seeds), latex(seeds)):
        assert "overall, dataset level, over 2 seeds" in text
        assert f"{best.q.mean:.3f}" in text


def test_a_seed_without_a_number_is_counted_and_left_out_of_the_mean(board):
    from dataclasses import replace

    first, second = board.blocks[0], several_seeds(board).blocks[3]
    nothing = dict.fromkeys(first.lines[0].q) | {"n": 0, "n_groups": 0}
    lines = (replace(second.lines[0], q=nothing), *second.lines[1:-1])
    (found,) = replace(board, blocks=(first, replace(second, lines=lines))).over_seeds
    n_undefined = {line.judge: line.q.n_undefined for line in found.lines}
    gone = {second.lines[0].cell.judge, second.lines[-1].cell.judge}
    assert n_undefined == {name: int(name in gone) for name in n_undefined}
    assert all(line.q.sd is None for line in found.lines if line.judge in gone)


def test_one_seed_has_no_spread(board):
    assert board.over_seeds == ()
    assert "over_seeds" not in board.to_dict()


def several_seeds(board):
    """Return rankings by a second seed, too, in which one judge agrees better by 1."""
    from dataclasses import replace

    def other(line):
        gain = 1.0 if line.cell.judge == "coarse" else 0.0
        return replace(line, q={**line.q, "value": line.q["value"] + gain})

    again = (replace(block, seed=1, lines=tuple(map(other, block.lines))) for block in board.blocks)
    return replace(board, blocks=(*board.blocks, *again))


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
