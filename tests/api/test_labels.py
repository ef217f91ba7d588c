"""Labels such as pass and fail in place of ratings, and the raters' words beside them."""

import numpy as np
import pandas as pd
import pytest

import judgesmith
from judgesmith.data import targets_of


def rows(*labels, **more):
    return [
        {"source": f"s{n}", "response": f"r{n}", "human": {"ok": given}, **more}
        for n, given in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([True, False], ("false", "true")),
        (["pass", "Fail"], ("fail", "pass")),
        (["yes", "NO"], ("no", "yes")),
        (["pass", "pass"], ("fail", "pass")),
    ],
)
def test_booleans_and_known_words_are_labels_without_a_word(given, labels):
    data = judgesmith.read(rows(*given))
    assert data.scales["ok"].labels == labels
    assert data.scales["ok"].positive == labels[1]
    good = [one in (True, "pass", "yes") for one in given]
    assert [item.human["ok"] for item in data] == [(float(one),) for one in good]
    assert any("read as labels" in note for note in data.notes)


def test_a_table_with_booleans_and_words_of_the_rater():
    table = pd.DataFrame(
        {
            "prompt": ["a", "b", "c"],
            "response": ["x", "y", "z"],
            "label": [True, False, None],
            "Kommentar": ["fine", None, "no idea"],
        }
    )
    data = judgesmith.read(table, columns="rationale=Kommentar")
    assert [item.human["overall"] for item in data] == [(1.0,), (0.0,), ()]
    assert [dict(item.rationale) for item in data] == [{"overall": ("fine",)}, {}, {}]


def test_other_words_need_their_positive_one():
    words = rows("rude", "right", "wrong")
    with pytest.raises(judgesmith.JudgesmithError, match="--positive"):
        judgesmith.read(words)
    scale = judgesmith.read(words, positive="right").scales["ok"]
    assert (scale.labels, scale.ordered) == (("rude", "wrong", "right"), False)
    with pytest.raises(judgesmith.JudgesmithError, match="positive"):
        judgesmith.read(words, labels="rude,right,wrong")


def test_unknown_labels_are_refused_with_their_row():
    with pytest.raises(judgesmith.JudgesmithError, match=r"row 2: human\.ok.*fail, pass"):
        judgesmith.read(rows("pass", "maybe"), labels="fail,pass")


def test_a_slip_among_known_words_is_named_by_its_row():
    slip = rows(*["pass", "fail"] * 10, "psas")
    with pytest.raises(judgesmith.JudgesmithError, match=r"1 problem.*\n.*row 21: human\.ok.*psas"):
        judgesmith.read(slip)
    with pytest.raises(judgesmith.JudgesmithError, match="1 problem") as caught:
        judgesmith.read(rows("pass", "fail"), positive="good")
    assert "--positive" in str(caught.value)


def test_numbers_are_labels_where_it_is_said():
    data = judgesmith.read(rows(1, 0, 1.0), labels="0,1", positive="1")
    assert data.scales["ok"].is_verdict
    assert [item.human["ok"] for item in data] == [(1.0,), (0.0,), (1.0,)]


def test_rows_state_labels_and_their_order():
    stated = {"labels": {"ok": ["bad", "fair", "good"]}, "ordered": True}
    scale = judgesmith.read(rows("bad", "good", **stated)).scales["ok"]
    assert (scale.labels, scale.positive, scale.ordered) == (("bad", "fair", "good"), "good", True)


def test_who_is_unsure_is_counted_and_not_learned_from():
    data = judgesmith.read(rows(["pass", "unsure"], "n/a", "fail"))
    assert [dict(item.undecided) for item in data] == [{"ok": ("unsure",)}, {"ok": ("n/a",)}, {}]
    targets = targets_of(data)
    assert targets.reasons[1] == "raters are undecided on ok"
    assert np.array_equal(targets.values, [1.0, np.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [1.0, 0.0, np.nan]),
        ("unanimous", [np.nan, 0.0, np.nan]),
        ("any-fail", [0.0, 0.0, 0.0]),
        ("any-pass", [1.0, 0.0, 1.0]),
    ],
)
def test_several_raters_become_one_label(how, expected):
    data = judgesmith.read(
        rows(["pass", "pass", "fail"], ["fail", "fail"], ["pass", "fail"]) + rows(["pass"])
    )
    found = targets_of(data, aggregate=how).values[:3]
    assert np.array_equal(found, expected, equal_nan=True)


def test_words_of_several_raters_go_with_their_labels():
    said = {"rationale": {"ok": ["good", None, "bad"]}, "raters": {"ok": ["ann", "ben", "cid"]}}
    (item,) = judgesmith.read(rows(["pass", "", "fail"], **said))
    assert item.rationale["ok"] == ("good", "bad")
    assert item.raters["ok"] == ("ann", "cid")
    with pytest.raises(judgesmith.JudgesmithError, match="rationale"):
        judgesmith.read(rows("pass", rationale={"ok": ["one", "two"]}))


def test_one_class_is_refused_with_how_many_are_needed():
    with pytest.raises(judgesmith.JudgesmithError, match="22"):
        targets_of(judgesmith.read(rows("pass", "pass")))


def test_labels_have_no_mean():
    two = [{"source": "s", "response": "r", "human": {"a": "pass", "b": "fail"}}]
    with pytest.raises(judgesmith.JudgesmithError, match="no mean"):
        targets_of(judgesmith.read(two), "mean")
