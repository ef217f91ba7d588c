"""What a specification says of a cell, as the settings of a compilation."""

import pytest

from judgesmith.experiments import CompileSettings
from judgesmith.experiments.specs import Spec, SpecError, cells_of, settings_of, spec_of


def settings(judge, optimizer, **fields):
    spec = Spec.model_validate(
        {
            "name": "one",
            "data": {"answers": {"path": "sample"}},
            "judges": {"own": judge},
            "optimizers": {"own": {"optimizer": "none"} | optimizer},
        }
        | fields
    )
    return settings_of(spec, cells_of(spec)[0])


def test_what_is_not_said_is_as_usual():
    assert settings({}, {"optimizer": "random"}) == CompileSettings()


def test_what_a_judge_says_is_not_searched():
    found = settings(
        {"variant": "coarse", "choose": {"answers": "1-5"}, "without": ["explanations"]},
        {"optimizer": "protocol", "trials": 7, "draws": 2},
    )
    assert found.fixed == ("variant", "explain", "answers", "samples")
    assert (found.n_trials, found.n_draws) == (7, 2)
    assert found.protocol.explain == "none"


def test_samples_are_searched_where_they_may_vary():
    assert settings({}, {"optimizer": "protocol", "vary_samples": True}).fixed == ()


def test_judges_that_show_no_demonstrations_have_none():
    found = settings({"judge": "direct"}, {"optimizer": "random", "demonstrations": 5})
    assert found.n_demonstrations == 0


def test_an_optimizer_may_have_an_objective_of_its_own():
    assert settings({}, {"objective": "spearman"}, objective="q").objective == "spearman"
    assert settings({}, {}, objective="kappa").objective == "kappa"
    assert settings({"judge": "pairs"}, {}).objective == "q@sample"


def test_several_targets_are_one_judge():
    data = {"answers": {"path": "sample", "targets": [["fluency", "faithfulness"]]}}
    assert settings({"criteria": "human"}, {}, data=data).target == ("fluency", "faithfulness")


def test_a_rubric_is_read_from_beside_the_specification(tmp_path):
    (tmp_path / "mine.yaml").write_text("task: Rate.\ncriteria:\n  wit: Is it witty?\n")
    text = "name: a\ndata: {d: {path: sample}}\njudges: {own: {rubric: mine.yaml}}"
    spec = spec_of(text, folder=str(tmp_path))
    found = settings_of(spec, cells_of(spec)[0])
    assert found.protocol.rubric.names == ("wit",)
    assert found.criteria_from == "given"
    with pytest.raises(SpecError, match=r"judges\.own\.rubric: "):
        spec_of(text, folder=str(tmp_path / "elsewhere"))


def test_nothing_is_compiled_for_scores_on_record():
    with pytest.raises(ValueError, match="its judge is recorded"):
        settings({"recorded": "a.jsonl"}, {})


@pytest.mark.parametrize(
    ("judge", "optimizer", "said"),
    [
        (
            "{judge: reference}",
            "{optimizer: reflective}",
            "asks none; use protocol, random or none",
        ),
        ("{judge: reference, rubric: a.yaml}", "{}", "rubric does not apply to a reference judge"),
        ("{judge: direct, partial_demos: true}", "{}", "partial_demos does not apply"),
        ("{judge: pairs}", "{objective: q}", "say q@sample"),
        ("{}", "{objective: 'q, -calls'}", "several objectives"),
        ("{without: [mcs, os]}", "{}", "nothing is scored"),
        ("{steps: none.yaml, judge: g-eval}", "{}", r"judges\.j\.steps: "),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_read(judge, optimizer, said):
    optimizer = optimizer.replace("{", "{optimizer: random, ", 1)
    optimizer = optimizer.replace("optimizer: random, optimizer", "optimizer")
    text = f"name: a\ndata: {{d: {{path: none.jsonl}}}}\njudges:\n  j: {judge}\n"
    with pytest.raises(SpecError, match=said):
        spec_of(f"{text}optimizers:\n  o: {optimizer}\n")


def test_a_combination_that_cannot_be_names_both_and_may_be_left_out():
    text = (
        "name: a\ndata: {d: {path: sample}}\njudges: {pairs: {judge: pairs}, direct: {judge: "
        "direct}}\noptimizers:\n  fits: {optimizer: none}\n  not: {optimizer: none, objective: q}\n"
    )
    with pytest.raises(SpecError, match=r":3: judges\.pairs: with the optimizer not: .* leave_out"):
        spec_of(text)
    spec = spec_of(f"{text}leave_out: [{{judge: pairs, optimizer: not}}]")
    assert len(cells_of(spec)) == 3
