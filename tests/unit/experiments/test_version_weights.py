import pytest
from discerning import ORDER, TYPOS

from judgesmith.experiments.robustness.version_weights import (
    checked_weights,
    fitted_weights,
    read_weights,
    weights_of_task,
)
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS

SUMMARY = ("coherence", "consistency", "fluency", "relevance")
KINDS = (TYPOS, ORDER)


def test_the_weights_of_a_task_go_to_its_kinds_under_the_judges_names():
    found = weights_of_task("summarization", KINDS, ["Coherence", *SUMMARY[1:], "wit"])
    assert found.said == "ours for summarization"
    assert found.by_name[ORDER.name]["Coherence"] == 1.0
    assert found.by_name[ORDER.name]["wit"] == 0.0
    assert set(found.by_name) == {TYPOS.name, ORDER.name}


def test_kinds_without_shipped_weights_have_none():
    assert set(weights_of_task("translation", KINDS, ["accuracy", "fluency"]).by_name) == {
        TYPOS.name
    }


@pytest.mark.parametrize(
    ("task", "metrics", "said"),
    [
        (None, SUMMARY, "no task says"),
        ("dialogue", SUMMARY, "no task says"),
        ("summarization", ["fluency"], "coherence, consistency and relevance are not judged"),
    ],
)
def test_where_names_do_not_match_there_are_none_and_it_is_said(task, metrics, said):
    found = weights_of_task(task, KINDS, metrics)
    assert not found.by_name
    assert said in found.said


def test_shipped_weights_pass_their_own_check():
    for by_kind in EXPERT_WEIGHTS.values():
        metrics = list(next(iter(by_kind.values())))
        kinds = [TYPOS.model_copy(update={"kind": kind, "degree": None}) for kind in by_kind]
        found = fitted_weights(checked_weights(by_kind, kinds), metrics, said="ours")
        assert found.by_name == {kind: dict(own) for kind, own in by_kind.items()}


def test_weights_of_a_degree_go_before_those_of_the_kind():
    given = {"reordering": {"a": 1, "b": 0}, "reordering/minor": {"a": 0.5, "b": 0.5}}
    assert checked_weights(given, [ORDER]) == {ORDER.name: {"a": 0.5, "b": 0.5}}


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"a": 0.5, "b": 0.4}, r"sum to 0\.9"),
        ({"a": 1.5, "b": -0.5}, "a number from 0 to 1; got 1.5"),
        ({"a": True, "b": 0}, "got True"),
        ({"a": "1", "b": 0}, "got '1'"),
        ({"a": float("nan"), "b": 1}, "got nan"),
        ({"a": 10**400}, "got 1000"),
        ({}, "are written metric: share"),
        ([0.5, 0.5], "are written metric: share"),
    ],
)
def test_weights_that_are_none_are_refused(own, said):
    with pytest.raises(ValueError, match=said):
        checked_weights({"reordering": own}, [ORDER])


@pytest.mark.parametrize(
    ("own", "got"),
    [
        ({"a": 1.0}, "got a"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, "got a, b and c"),
        ({"a": 0.5, "A": 0.25, "b": 0.25}, "got a, A and b"),
    ],
)
def test_weights_that_do_not_cover_the_metrics_are_refused(own, got):
    with pytest.raises(ValueError, match=f"cover the metrics a and b, each once; {got}"):
        fitted_weights({"reordering": own}, ["a", "b"], said="")


def test_weights_that_nearly_sum_to_1_pass():
    given = {"reordering": {"a": 1 / 3, "b": 1 / 3, "c": 0.3333334}}
    assert checked_weights(given, [ORDER])


def test_weights_for_other_changes_alone_are_refused():
    with pytest.raises(ValueError, match="none of the weights is for a change in this set; got r"):
        checked_weights({"reorderings": {"a": 1}}, [ORDER])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected weights as kind"),
        ("- a\n- b\n", "got list"),
        ("reordering: {a: 0.2}\n", "sum to 0.2"),
        ("reordering: {a: 1\n", "weights.yaml: "),
    ],
)
def test_a_file_that_holds_no_weights_is_refused_by_name(tmp_path, text, said):
    place = tmp_path / "weights.yaml"
    place.write_text(text)
    with pytest.raises(ValueError, match=said):
        read_weights(place, [ORDER])


def test_a_file_of_weights_is_read(tmp_path):
    place = tmp_path / "votes.json"
    place.write_text('{"reordering": {"A": 0.4, "b": 0.6}, "typos": {"x": 1}}')
    found = fitted_weights(read_weights(place, [ORDER]), ["a", "b"], said="x")
    assert found.by_name == {ORDER.name: {"a": 0.4, "b": 0.6}}


@pytest.mark.parametrize("name", ["reodering", "reordering/minr", "paddin"])
def test_a_misspelt_kind_is_refused_beside_one_that_matches(name):
    given = {ORDER.name: {"a": 1}, name: {"a": 1}}
    meant = "padding" if name == "paddin" else "reordering"
    with pytest.raises(ValueError, match=f"'{name}', which is no change; did you mean {meant}"):
        checked_weights(given, [ORDER])


def test_kinds_that_are_not_in_the_set_may_have_weights():
    given = {ORDER.name: {"a": 1}, "negation": {"a": 1}, "character_typos/major": {"a": 1}}
    assert set(checked_weights(given, [ORDER])) == {ORDER.name}
