import json
import tracemalloc

import pytest

from judgesmith.experiments.scoring.resume_check import Beside, earlier_rows, refuse_loss
from judgesmith.signatures import RatedItem

RUN = "abc"


def item(n):
    return RatedItem(source_id=f"s{n}", response=f"text {n}")


def line(n, *, run=RUN, score=1.0, **more):
    return json.dumps({"key": item(n).key, "run": run, "score": score, **more}) + "\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.jsonl"


@pytest.fixture
def draft(tmp_path):
    return tmp_path / "draft"


def test_a_row_counts_by_its_line_its_texts_and_whether_it_has_a_score(path):
    path.write_text(line(0) + "\n" + line(1, score=None) + line(2, score=0))
    found = [(row.line, row.key == item(n).key, row.scored) for n, row in enumerate(rows(path))]
    assert found == [(1, True, True), (3, True, False), (4, True, True)]


def rows(path):
    return list(earlier_rows(path, RUN))


def beside(items, path, run):
    earlier = Beside(path, run)
    for one in items:
        earlier.check(one)
        yield one


@pytest.mark.parametrize(
    "broken",
    [
        '{"key": ',
        "[1]",
        line(1, run="other"),
        '{"run": "abc"}',
        "\x1b[2J",
        "[" * 100_000,
        "1" * 9999,
    ],
)
def test_a_line_that_is_no_row_of_the_run_is_named(path, broken):
    path.write_text(line(0) + broken.strip() + "\n" + line(2))
    with pytest.raises(FileExistsError) as caught:
        rows(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: expected a row of this run, as one JSON object; got ")
    assert message.endswith("or replace this one with --force.")
    assert len(message) < 400
    assert "\x1b" not in message


def test_items_pass_while_their_texts_are_those_of_the_rows(path):
    path.write_text(line(0) + line(1))
    grown = [item(n) for n in range(4)]
    assert list(beside(grown, path, RUN)) == grown
    renamed = [one.model_copy(update={"source_id": "else"}) for one in grown]
    assert list(beside(renamed, path, RUN)) == renamed


def test_the_first_item_with_other_texts_is_named_before_it_is_handed_out(path):
    path.write_text(line(0) + "\n" + line(1) + line(2))
    handed = []
    with pytest.raises(FileExistsError, match=r"out\.jsonl:3: expected the texts of row 2 of this"):
        handed.extend(beside([item(0), item(7), item(8)], path, RUN))
    one_more = beside([item(0), item(7)], path, RUN)
    assert next(one_more) == item(0)
    with pytest.raises(FileExistsError, match="row 2 of this run, 's7'; got a score of other"):
        next(one_more)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([line(0), line(1)], [line(0), line(1)]),
        ([line(0)], [line(0), line(1)]),
        ([line(0), line(1, score=None)], [line(0), line(1)]),
        ([line(0), line(1, score=None)], [line(0, score=None), line(1)]),
        ([], [line(0)]),
    ],
)
def test_what_loses_nothing_may_be_replaced(path, draft, old, new):
    path.write_text("".join(old))
    draft.write_text("".join(new))
    refuse_loss(path, earlier_rows(draft, RUN), RUN)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([line(0), line(1)], [line(0)], "holds 2 rows, 2 with a score, and this run has 1, 1 with"),
        ([line(0)], [line(0, score=None), line(1, score=None)], "1 with a score, and this run"),
        ([line(0), line(1)], [line(0), line(2)], "jsonl:2: expected the texts of row 2 of this"),
        ([line(0), "{"], [line(0), line(1)], "jsonl:2: expected a row of this run"),
    ],
)
def test_what_loses_rows_scores_or_texts_may_not(path, draft, old, new, said):
    path.write_text("".join(old))
    draft.write_text("".join(new))
    with pytest.raises(FileExistsError, match=said):
        refuse_loss(path, earlier_rows(draft, RUN), RUN)


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_file(path, draft):
    text = "x" * 500
    for place in (path, draft):
        with place.open("w") as file:
            file.writelines(line(n, explanation=text) for n in range(3_000))
    tracemalloc.start()
    refuse_loss(path, earlier_rows(draft, RUN), RUN)
    for _ in beside((item(n) for n in range(3_000)), path, RUN):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 500_000 < path.stat().st_size
