"""What a teacher says of texts becomes data that its student is asked in, word for word."""

import json

import hostile
import pytest

from judgesmith.data.items import DataSet
from judgesmith.experiments.distil.examples import distillation, questions_of
from judgesmith.experiments.distil.folder import (
    FILES,
    card_of,
    check_distilled,
    save_distilled,
    summary_of,
)
from judgesmith.experiments.distil.sampling import DistilSettings
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.forms import DISTILLED
from judgesmith.programs.families.modules import AnnotatorJudge, DistilledJudge
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric

RUBRIC = Rubric(
    task="Judge a notice.",
    criteria={"faithfulness": "Is it true?", "fluency": "Is it well written?", "brevity": "Short?"},
)
TEXTS = (
    "Ann left Rome in May.",
    "Then Bob left Rome. Then Bob left Rome.",
    "ann left the the rome",
)


def teacher(**choices):
    judge = AnnotatorJudge(rubric=RUBRIC, **choices)
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


@pytest.fixture(scope="module")
def dataset():
    items = [
        RatedItem(
            source_id=f"{n}",
            system_id=f"{at}",
            source=f"Ann left Rome in {n}.",
            response=f"{one} In {n}.",
        )
        for n in range(6)
        for at, one in enumerate(TEXTS)
    ]
    return DataSet(name="notices", items=tuple(items))


@pytest.fixture(scope="module")
def made(dataset):
    return distillation(teacher(), dataset, DistilSettings(outputs=2, aspects=2, validation=0.2))


@pytest.fixture(scope="module")
def examples(made):
    return made.examples(concurrency=3)


def summary(made, examples):
    return summary_of(made, examples, run="0" * 12, data="notices", excluded=0)


def test_every_output_has_an_annotation_on_every_criterion_it_was_drawn_for(made, examples):
    assert len(examples) == 6 * 2 * 2
    assert [(one.sampled.item.key, one.criterion) for one in examples] == [
        (one.item.key, name) for one in made.sample.outputs for name in one.criteria
    ]
    assert {one.left_out for one in examples} == {""}


def test_only_what_was_drawn_is_asked_and_nothing_again(made, examples, tmp_path):
    lm = model("offline", ledger=str(tmp_path / "ledger.sqlite"))
    assert made.calls == 24
    assert made.examples(lm=lm, concurrency=1) == examples
    assert lm_client_of(lm).usage.calls == 24
    again = model("offline", ledger=str(tmp_path / "ledger.sqlite"))
    assert made.examples(lm=again) == examples
    assert lm_client_of(again).usage.calls == 0


def test_where_the_budget_ends_what_is_missing_is_counted_and_asked_later(made, examples, tmp_path):
    lm = model("offline", ledger=str(tmp_path / "ledger.sqlite"), max_calls=10)
    few = made.examples(lm=lm)
    counts = summary(made, few)["left_out"]
    assert counts == {"not asked, as the budget was spent": 14}
    rest = model("offline", ledger=str(tmp_path / "ledger.sqlite"))
    assert made.examples(lm=rest) == examples
    assert lm_client_of(rest).usage.calls == 14


def test_a_student_is_asked_what_it_was_taught(made, examples):
    questions = questions_of(made.rubric)
    student = DistilledJudge(rubric=made.rubric).templates()
    for one in examples:
        chat = one.messages(questions[one.criterion])["messages"]
        assert [turn["role"] for turn in chat] == ["system", "user", "assistant"]
        place = RUBRIC.names.index(one.criterion) + 1
        item = one.sampled.item
        texts = {"source": item.source, "context": None, "response": item.response}
        assert chat[1]["content"] == student[f"one_{place}"].render(texts)
        assert DISTILLED.read(chat[2]["content"])["score"] == one.score


def test_the_folder_is_whole_and_the_same_every_time(made, examples, tmp_path):
    for name in ("a", "b"):
        save_distilled(tmp_path / name, examples, made.rubric, summary(made, examples))
    first, second = (
        {one.name: one.read_bytes() for one in (tmp_path / name).iterdir()} for name in ("a", "b")
    )
    assert first == second
    assert set(first) == set(FILES)
    n_train, n_held = (len(first[f"{one}.jsonl"].splitlines()) for one in ("train", "validation"))
    assert (n_train, n_held) == (20, 4)
    assert json.loads(first["distilled.json"])["examples"] == {"train": 20, "validation": 4}
    rows = [json.loads(line) for line in first["examples.jsonl"].splitlines()]
    assert {row["source_id"] for row in rows if row["split"] == "train"}.isdisjoint(
        row["source_id"] for row in rows if row["split"] == "validation"
    )
    assert Rubric.load(tmp_path / "a" / "rubric.yaml") == made.rubric


def test_a_folder_of_something_else_or_of_another_run_is_kept(made, examples, tmp_path):
    folder = tmp_path / "data"
    check_distilled(folder, "run", force=False)
    save_distilled(folder, examples, made.rubric, summary(made, examples))
    check_distilled(folder, "0" * 12, force=False)
    check_distilled(folder, "run", force=True)
    with pytest.raises(FileExistsError, match="data of another run"):
        check_distilled(folder, "run", force=False)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        check_distilled(folder, "0" * 12, force=True)


def test_the_card_shows_names_as_they_are(made, examples):
    counts = summary(made, examples) | {"data": "a|b\n# <script>"}
    assert "a\\|b \\# \\<script\\>" in card_of(counts)
    assert card_of(summary(made, [])).count("| nothing | 0 |") == 1


def test_a_judge_of_the_whole_teaches_overall_quality(dataset):
    found = distillation(teacher(asks="overall"), dataset.subset([0, 1, 2, 3]))
    examples = found.examples()
    assert {one.criterion for one in examples} == {""}
    chat = examples[0].messages(questions_of(found.rubric)[""])["messages"]
    assert "## Respect\noverall quality: " in chat[1]["content"]
    assert list(summary(found, examples)["criteria"]) == ["overall quality"]


def test_excluded_inputs_are_left_out_and_if_none_is_left_it_says_so(dataset):
    some = distillation(teacher(), dataset, excluded=["ANN left Rome in 3"])
    assert (some.sample.n_shared, some.sample.n_sources) == (1, 5)
    every = {item.source for item in dataset}
    with pytest.raises(ValueError, match="6 of 6 sources are excluded; give data about others"):
        distillation(teacher(), dataset, excluded=every)
    empty = DataSet(name="x", items=(RatedItem(source="s", response=" "),))
    with pytest.raises(ValueError, match="every output is empty"):
        distillation(teacher(), empty)


def test_hostile_texts_stay_what_they_are(tmp_path):
    items = [
        RatedItem(source_id=f"{at}", system_id=f"\x1b|{at}", source=one, response=f"{one} x {one}")
        for at, one in enumerate(hostile.TEXTS.values())
        if len(one) < 20_000
    ]
    made = distillation(teacher(), DataSet(name="| <b>", items=tuple(items)))
    examples = made.examples()
    save_distilled(tmp_path / "data", examples, made.rubric, summary(made, examples))
    lines = (tmp_path / "data" / "train.jsonl").read_bytes().splitlines()
    held = (tmp_path / "data" / "validation.jsonl").read_bytes().splitlines()
    assert len(lines) + len(held) == sum(not one.left_out for one in examples) > 0
    responses = {one.item.response for one in made.sample.outputs}
    for line in (*lines, *held):
        _, asked, answer = json.loads(line)["messages"]
        assert any(response in asked["content"] for response in responses)
        DISTILLED.read(answer["content"])
    rows = (tmp_path / "data" / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(examples)
