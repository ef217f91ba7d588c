"""The forms in which calls take data, judges, models and settings, and what they refuse."""

import dspy
import optuna
import pandas as pd
import pytest

import judgesmith

ROWS = [
    {"source": one.source, "response": one.response, "score": place % 5 + 1}
    for place, one in enumerate(judgesmith.read("sample"))
]
QUICK = {"optimizer": "none", "learn_weights": False}
FEW = judgesmith.read("sample").subset(range(48))


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        tuple(ROWS),
        (row for row in ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).to_dict("list"),
        {name: pd.DataFrame(ROWS)[name] for name in ROWS[0]},
        [dspy.Example(**row).with_inputs("source", "response") for row in ROWS],
    ],
    ids=["list", "tuple", "generator", "frame", "columns", "series", "examples"],
)
def test_rows_in_any_form_are_the_same_data(data):
    assert judgesmith.read(data, scale=(1, 5)).digest == judgesmith.read(ROWS, scale="1-5").digest


def test_a_judge_is_compiled_saved_and_evaluated_from_rows_and_keywords(tmp_path):
    rows = ROWS[:48]
    compiled = judgesmith.compile(rows, scale=judgesmith.Scale(1, 5), lm="offline", **QUICK)
    by_settings = judgesmith.compile(
        judgesmith.read(rows, scale=[1, 5]), judgesmith.CompileSettings(**QUICK)
    )
    assert compiled.saved == by_settings.saved
    folder = compiled.save(tmp_path / "judge")
    given = [
        judgesmith.evaluate(judge, FEW, lm="offline").to_dict()
        for judge in (compiled.judge, str(folder))
    ]
    assert given[1:] == given[:-1]
    assert judgesmith.compare(compiled, folder, FEW).gain.value == 0
    assert judgesmith.score_batch(folder, FEW) == judgesmith.score_batch(compiled, FEW)


def test_settings_are_changed_by_keywords():
    settings = judgesmith.CompileSettings(seed=3, **QUICK)
    compiled = judgesmith.compile(FEW, settings, holdout=0.5)
    kept = compiled.saved.settings
    assert (kept["seed"], kept["holdout"]) == (3, 0.5)


def test_a_table_of_the_data_is_read_again():
    again = judgesmith.read(FEW.to_pandas(), scale=(1, 5))
    assert [one.human for one in again] == [one.human for one in FEW]


def test_rows_in_any_form_are_scored_alike():
    texts = [{"source": row["source"], "response": row["response"]} for row in ROWS[:3]]
    frame = pd.DataFrame(texts)
    forms = (texts, frame, frame.to_dict("series"), [dspy.Example(**row) for row in texts])
    scores = [
        [one.score for one in judgesmith.score_batch(judgesmith.ActiveCritic(), form)]
        for form in forms
    ]
    assert scores.count(scores[0]) == len(forms)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: judgesmith.compile("sample", optimiser="none"),
            r"judgesmith\.compile\(\) has no argument 'optimiser'; did you mean optimizer\?",
        ),
        (
            lambda: judgesmith.compile("sample", n_candidates=3),
            r"has no argument 'n_candidates'; it has dataset, settings, ",
        ),
        (
            lambda: judgesmith.compile("sample", model="offline", budget=3),
            r"'model'; did you mean lm\? No 'budget'; .*judgesmith\.model\(.*, max_usd=",
        ),
        (
            lambda: judgesmith.compile("sample", task="pairwise"),
            r"task: expected one of .*; judge=\"pairs\" compares responses",
        ),
        (
            lambda: judgesmith.read([{"chosen": "a", "rejected": "b"}]),
            r"expected two rows for a pair.*; got the columns chosen, rejected",
        ),
        (
            lambda: judgesmith.evaluate(judgesmith.ActiveCritic(), FEW, metrics=["mae"]),
            r"no argument 'metrics'; found\.rows has human and predicted",
        ),
        (
            lambda: judgesmith.wrap("source, response -> score: int", model="offline"),
            r"wrap\(\) has no argument 'model'; it has module, scale, inputs, output",
        ),
        (
            lambda: judgesmith.ActiveCritic().as_metric(threshold=0.5),
            r"no argument 'threshold'; .*metric_threshold=0\.5",
        ),
        (
            lambda: type("Own", (judgesmith.Judge,), {"forward": print}),
            r"Own: a judge with a forward of its own is a dspy.Module, wrapped",
        ),
        (
            lambda: judgesmith.compile("sample", optimizer=dspy.GEPA),
            r"judgesmith\.compile: optimizer: .*GEPA is optimizer='reflective'\.",
        ),
        (
            lambda: judgesmith.compile("sample", optimizer=dspy.LabeledFewShot()),
            r"give one of these names, or call LabeledFewShot yourself",
        ),
        (
            lambda: judgesmith.compile("sample", **QUICK).study,
            r"optimizer='none' makes no study of Optuna",
        ),
        (
            lambda: judgesmith.compile("sample", optimizer="protocl"),
            r"judgesmith\.compile: optimizer: expected .* got 'protocl'; did you mean protocol\?",
        ),
        (
            lambda: judgesmith.compile(42),
            r"judgesmith\.compile: data: expected a path, .* or a dict of columns; got int",
        ),
        (
            lambda: judgesmith.compile(judgesmith.read("sample"), scale="1..5"),
            r"judgesmith\.compile: data: they are read already; drop scale",
        ),
        (lambda: judgesmith.compile("sample", lm=3), r"lm: expected a model or its name.*got int"),
        (lambda: judgesmith.compile("sample", lm="gpt-4o"), r"did you mean openai/gpt-4o\?"),
        (
            lambda: judgesmith.compile("sample", sampler=optuna.samplers.RandomSampler()),
            r"a search by effects takes no sampler or pruner; choose optimizer=\"protocol\"",
        ),
        (
            lambda: judgesmith.compile("sample", pruner=optuna.pruners.NopPruner),
            r"judgesmith\.compile: pruner: expected one of Optuna's; got <class",
        ),
        (
            lambda: judgesmith.evaluate(dspy.Predict("a -> b"), "sample"),
            r"judgesmith\.evaluate: expected a judge, the folder of one.*got Predict",
        ),
        (
            lambda: judgesmith.evaluate(judgesmith.ActiveCritic(), "sample", targt=None),
            r"judgesmith\.evaluate\(\) has no argument 'targt'; did you mean targets\?",
        ),
        (lambda: judgesmith.read([1], scale=5), r"two ends, as in \(1, 5\) or 1\.\.5; got \(5,\)"),
        (
            lambda: judgesmith.read({"source": "one text", "response": "another"}),
            r"expected rows, or a list of values by column; got 'one text' of source",
        ),
        (
            lambda: judgesmith.read({"source": ["a"], "response": ["b", "c"]}),
            r"columns of one length; got 1 of source, 2 of response",
        ),
        (
            lambda: judgesmith.score_batch(judgesmith.ActiveCritic(), {"source": 1, "response": 2}),
            r"items: expected rows, or a list of values by column; got 1 of source",
        ),
        (
            lambda: judgesmith.score_batch(
                judgesmith.ActiveCritic(), {"source": ["a"], "response": ["b", "c"]}
            ),
            r"items: expected columns of one length; got 1 of source, 2 of response",
        ),
        (lambda: judgesmith.ActiveCritic()("a", "b"), r"judge\(\): too many positional"),
        (lambda: judgesmith.ActiveCritic()(source="a"), r"judge\(\): missing .*'response'"),
        (lambda: judgesmith.ActiveCritic(varient="fine"), r"varient: .*did you mean variant\?"),
        (
            lambda: judgesmith.score_batch(judgesmith.ActiveCritic(), [{"respons": "a"}]),
            r"dicts with a source and a response; got the fields respons at place 0; .*respons\"}",
        ),
    ],
)
def test_wrong_inputs_are_refused_by_the_public_name(call, said):
    with pytest.raises((ValueError, TypeError, AttributeError), match=said):
        call()


def test_any_sampler_and_pruner_of_optuna_searches_the_protocol_or_is_the_optimizer():
    def compiled(seed, **named):
        sampler = optuna.samplers.RandomSampler(seed=seed)
        named = {name: sampler if one is None else one for name, one in named.items()}
        return judgesmith.compile(FEW, n_trials=2, criteria="given", pruner=pruner, **named)

    pruner = optuna.pruners.ThresholdPruner(lower=0.9)
    first, second = (compiled(seed, optimizer="protocol", sampler=None) for seed in (1, 2))
    assert first.saved.history != second.saved.history
    assert len(first.study.trials) == 2
    assert compiled(1, optimizer=None).saved == first.saved


def test_a_teleprompter_of_dspy_teaches_a_judge():
    examples = judgesmith.to_examples("sample")[:10]
    teacher = dspy.BootstrapFewShot(
        metric=lambda example, said, trace=None: True,
        max_bootstrapped_demos=2,
        max_labeled_demos=0,
    )
    judge = teacher.compile(judgesmith.ActiveCritic(), trainset=examples)
    assert judge.protocol != judgesmith.ActiveCritic().protocol
    assert [len(one.demos) for one in judge.predictors()] == [2, 2]


@pytest.mark.parametrize(
    ("answers", "shown"),
    [("0..100", {0, 50}), ("1..5", {1, 3}), ("bad|fair|good", {"bad", "fair"})],
)
def test_ratings_that_a_teleprompter_shows_are_on_the_scale_of_the_judge(answers, shown):
    table = [{"source": f"text {n}", "response": "short", "score": n} for n in (1, 4)]
    examples = judgesmith.to_examples(table, scale="1..7")
    bare = judgesmith.wrap("source, response -> score: int", scale=answers)
    judge = dspy.LabeledFewShot(k=2).compile(bare, trainset=examples)
    (demonstrations,) = judge.protocol.demonstrations.values()
    assert {one.outputs["score"] for one in demonstrations} == shown
    said = [one.text for one in judge.templates()["whole"].turns if one.role == "assistant"]
    assert all(any(f"\n{one}\n" in text for text in said) for one in shown)
    assert judge.with_protocol(judge.protocol).templates() == judge.templates()


def test_examples_and_what_compile_returned_are_taken_wherever_they_are_at_home(tmp_path):
    examples = judgesmith.to_examples(FEW)
    compiled = judgesmith.compile(examples, **QUICK)
    assert compiled.targets.values.tolist() == [one.score for one in examples]
    assert repr(compiled.judge).endswith(f"; scores on {compiled.judge.scale})")
    asked, said = (
        dspy.Example(question="why?").with_inputs("question"),
        dspy.Prediction(answer="so"),
    )
    judges = compiled, compiled.judge, compiled.save(tmp_path / "judge")
    assert len({judgesmith.as_metric(one)(asked, said) for one in judges}) == 1
    refused = {
        "wrap: this is a judge already": lambda: judgesmith.wrap(compiled.judge, scale="1..5"),
        "forward of a dspy.Module": lambda: judgesmith.wrap(lambda source: 1, scale="1..5"),
        "'trainset'; did you mean dataset": lambda: judgesmith.compile(trainset=FEW),
        "or a mapping; got DataSet": lambda: judgesmith.compile(compiled, FEW),
        "items are 'system', 'sample', 'dataset'": lambda: compiled.heldout.pearson,
        "'test_size'; did you mean holdout": lambda: judgesmith.compile(FEW, test_size=0.2),
        "'rubric'; a judge has it": lambda: judgesmith.compile(FEW, rubric={}),
        "is a judge with criteria": lambda: judgesmith.compile(FEW, criteria={"brevity": "?"}),
        "a rubric has them": lambda: judgesmith.ActiveCritic(criteria={"brevity": "Is it?"}),
        "on answers='1..5'": lambda: judgesmith.ActiveCritic(scale="1..5"),
        "it is verdict.explanation": lambda: compiled.judge(source="a", response="b").reasoning,
        "it is scored.0..score": lambda: judgesmith.score_batch(compiled, FEW).scores,
        "it is result.to_pandas": lambda: compiled.df,
        "holds rows out by source": lambda: FEW.split(0.2),
        "pearson'. has value": lambda: compiled.pearson,
    }
    for message, call in refused.items():
        with pytest.raises((TypeError, ValueError, AttributeError), match=message):
            call()


def test_a_rubric_is_inferred_from_a_table_with_its_scale():
    found = judgesmith.infer(pd.DataFrame(ROWS_OF_GUESSES), scale="1..5")
    assert found.rubric.names


def test_a_table_of_scores_has_the_index_of_the_frame():
    frame = pd.DataFrame(ROWS_OF_GUESSES).set_index(pd.Index(range(100, 120), name="id"))
    scored = judgesmith.score_batch(judgesmith.ActiveCritic(), frame).to_pandas()
    assert list(frame.join(scored["problem"]).index) == list(frame.index)
    assert scored.index.name == "id"
    with pytest.raises(judgesmith.InputError, match=r"'new.csv' is to be read first"):
        judgesmith.score_batch(judgesmith.ActiveCritic(), "new.csv")


def test_guesses_of_a_user_of_dspy_work():
    table = pd.DataFrame(ROWS_OF_GUESSES)
    assert judgesmith.evaluate(judgesmith.ActiveCritic(), table, scale="1..5").n_unseen == 20
    examples = judgesmith.to_examples(table, scale="1..5")
    assert [one.score for one in examples[:3]] == [1, 2, 3]
    assert judgesmith.score_batch(judgesmith.ActiveCritic(), examples[:2]).to_pandas().shape[0] == 2
    metric = judgesmith.as_metric(judgesmith.ActiveCritic(), scale="1..5")
    asked = dspy.Example(question="why?").with_inputs("question")
    assert 1 <= metric(asked, dspy.Prediction(answer="so")) <= 5
    with pytest.raises(TypeError, match="no argument 'scal'; did you mean scale"):
        judgesmith.evaluate(judgesmith.ActiveCritic(), table, scal="1..5")


ROWS_OF_GUESSES = [
    {"source": f"text {n}", "response": f"word {n} " * (n % 5 + 1), "score": n % 5 + 1}
    for n in range(20)
]


def test_an_objective_of_two_arrays_gets_ratings_and_scores_on_their_scale():
    ends = set()

    def near(y, p, *, weight=None):
        ends.update(y.tolist() + p.tolist())
        return -float(abs(y - p).mean())

    def by_name(scores, ratings):
        return near(ratings, scores)

    found = [judgesmith.compile(FEW, objective=one, **QUICK).objective for one in (near, by_name)]
    assert found[0].heldout.value == found[1].heldout.value
    assert 1 <= min(ends) < max(ends) <= 5


def test_a_judge_that_ranks_answers_with_agreement_within_sources():
    ranking = judgesmith.compile("sample", judge="pairs", optimizer="none")
    assert "with human ratings within sources on 48 test rows" in repr(ranking)


def test_rows_with_names_of_their_own_are_scored_beside_them():
    judge = judgesmith.ActiveCritic()
    frame = pd.DataFrame({"text": ["A b c."] * 2, "summary": ["A b.", "C."]}, index=[7, 3])
    named = {"source": "text", "response": "summary"}
    found = judgesmith.score_batch(judge, frame, columns=named)
    plain = frame.rename(columns={"text": "source", "summary": "response"}).to_dict("records")
    assert list(found) == list(judgesmith.score_batch(judge, plain))
    assert list(found.to_pandas().index) == [7, 3]
    with pytest.raises(judgesmith.InputError, match="at place 0 has no 'sumary'; it has text"):
        judgesmith.score_batch(judge, frame, columns={"response": "sumary"})
    for wrong in ({"sorce": "text"}, ["text"]):
        with pytest.raises(judgesmith.InputError, match="expected a dict from context, references"):
            judgesmith.score_batch(judge, frame, columns=wrong)
    frame.loc[3, "summary"] = None
    with pytest.raises(judgesmith.InputError, match="at place 1, response must be a text"):
        judgesmith.score_batch(judge, frame, columns=named)


def test_an_error_is_no_objective_until_it_is_turned():
    def mae(ratings, scores):
        return abs(ratings - scores).mean()

    def far(example, prediction, trace=None):
        return abs(example.score - prediction.score)

    for wrong in (mae, far):
        with pytest.raises(judgesmith.InputError, match=r"is maximized.* return its negative"):
            judgesmith.compile(FEW, objective=wrong, **QUICK)


def test_an_optimizer_of_dspy_is_named_by_ours():
    with pytest.raises(judgesmith.InputError, match="GEPA is optimizer='reflective'"):
        judgesmith.compile("sample", optimizer="gepa")


def test_names_that_are_guessed_say_where_the_thing_is():
    compiled = judgesmith.compile(FEW, **QUICK)
    evaluation = judgesmith.evaluate(compiled, FEW)
    comparison = judgesmith.compare(compiled, judgesmith.ActiveCritic(), FEW)
    guesses = {
        "score_batch.result, rows": lambda: compiled.score,
        "the judge, a dspy.Module, is result.judge": lambda: compiled.as_metric,
        r"result.judge.source=…": lambda: compiled(source="a", response="b"),
        r"result.heldout\['dataset'\]": lambda: compiled["dataset"],
        "judge.as_metric": lambda: compiled.judge.metric,
        "score_batch.judge, rows": lambda: compiled.judge.predict,
        "judgesmith serve FOLDER": lambda: compiled.saved.serve,
        r"found.unseen\['dataset'\]": lambda: evaluation["dataset"],
        "gain has value, low, high, p_value": lambda: comparison.p_value,
        "to_pandas.. is a DataFrame": lambda: evaluation.rows.head,
        "lm_client_of": lambda: judgesmith.model("offline").spent,
        r"score_batch.judge, rows. scores rows": lambda: judgesmith.score,
        "optimizer='reflective'": lambda: judgesmith.GEPA,
        r"judge\(\): too many .* call judge\(source=…, response=…\)": lambda: compiled.judge(
            FEW[0]
        ),
        r"score_batch: expected a judge; got DataSet": lambda: judgesmith.score_batch(FEW, FEW),
    }
    for said, guess in guesses.items():
        with pytest.raises((AttributeError, TypeError), match=said):
            guess()
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        compiled.judge.colour  # noqa: B018
    with pytest.raises(AttributeError, match="colour"):
        compiled.saved.colour  # noqa: B018


def test_an_objective_is_found_by_its_name_and_other_names_are_answered():
    def distance(ratings, scores):
        return -float(abs(ratings - scores).mean())

    compiled = judgesmith.compile(FEW, objective=distance, **QUICK)
    for part in ("uncompiled", "heldout", "gain"):
        assert getattr(compiled, part)["dataset"]["distance"] == getattr(compiled.objective, part)
    assert "distance" not in list(compiled.heldout["dataset"])
    evaluation = judgesmith.evaluate(compiled, FEW)
    guesses = {
        r"\['dataset'\]\['distance'\] is": lambda: compiled.heldout["distance"],
        "'kendal'; did you mean kendall": lambda: compiled.gain["dataset"]["kendal"],
        "there are pearson, spearman, kendall, q, distance": lambda: compiled.heldout["dataset"][
            "f"
        ],
        "there are system, sample, dataset": lambda: evaluation.unseen["f"],
    }
    for said, guess in guesses.items():
        with pytest.raises(KeyError, match=said):
            guess()


def test_a_judges_state_is_a_file_and_a_folder_is_the_matter_of_its_result(tmp_path):
    compiled = judgesmith.compile(FEW, **QUICK)
    judge, state = compiled.judge, tmp_path / "state.json"
    judge.save(state)
    judge.load(state)
    assert judgesmith.programs.load_program(state).protocol == judge.protocol
    with pytest.raises(judgesmith.InputError, match=r"folder.json; .* compiled.save\('.*folder'\)"):
        judge.save(tmp_path / "folder")
    folder = compiled.save(tmp_path / "folder")
    for place in (folder, folder / "judge.json"):
        with pytest.raises(judgesmith.InputError, match=r"opened by judgesmith.load\('.*folder"):
            judge.load(place)
    with pytest.raises(judgesmith.JudgesmithError, match="read a DSPy program with"):
        judgesmith.load(state)
