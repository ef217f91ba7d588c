"""Judgements of a teacher become training data, and recipes for fine-tuning."""

import json

import hostile
import pytest
from looping import for_each
from students import write_data

from judgesmith.data.items import DataSet, grouped
from judgesmith.experiments.distil import training as adapter
from judgesmith.experiments.distil.chats import Recipe, as_question_and_answer, read_chats
from judgesmith.experiments.distil.examples import (
    CONTRADICTS,
    NOT_ASKED,
    UNGRADED,
    UNREADABLE,
    UNRESOLVED,
    UNSCORED,
    DistilSettings,
    KnownInputs,
    Sampled,
    distillation,
    example_of,
    questions_of,
    rounded,
    sample,
)
from judgesmith.experiments.distil.folder import (
    FILES,
    card_of,
    check_distilled,
    distillation_summary,
    save_distilled,
)
from judgesmith.experiments.distil.training import Trained, finetune, trained_before, training_run
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.forms import DISTILLED
from judgesmith.programs.families.modules import AnnotatorJudge, DistilledJudge
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ErrorSpan, Judgement, RatedItem, Reason, Rubric, Scale

# Judgements of a teacher become training data.

# What a teacher says of texts becomes data that its student is asked in, word for word.

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
    return distillation_summary(made, examples, run="0" * 12, data="notices", excluded=0)


def test_every_output_has_an_annotation_on_every_criterion_it_was_drawn_for(made, examples):
    assert len(examples) == 6 * 2 * 2
    assert [(one.sampled.item.key, one.criterion) for one in examples] == [
        (one.item.key, name) for one in made.sample.outputs for name in one.criteria
    ]
    assert {one.left_out for one in examples} == {""}


def test_only_what_was_drawn_is_asked_and_nothing_again(made, examples, tmp_path):
    lm = model("offline", ledger=str(tmp_path / "ledger.sqlite"))
    assert made.estimate({}, lm).calls == 24
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


# What a judgement is worth as an example, and why some are worth nothing.

TEXT = "The ferry left at ten, and again at ten past ten, with Ms Ito."
SAMPLED = Sampled(
    item=RatedItem(source="s", response=TEXT), source=0, criteria=("truth",), split="train"
)


def at(start, end, severity=3, **more):
    return ErrorSpan(
        **{
            "text": TEXT[start:end],
            "start": start,
            "end": end,
            "severity": severity,
            "explanation": f"Number {start}.",
            "criterion": "truth",
            **more,
        }
    )


LOST = ErrorSpan(text="a balloon", severity=5, located="unresolved", criterion="truth")
MISSING = ErrorSpan(
    text="none", severity=2, explanation="No date.", located="missing", criterion="truth"
)


def of(score, *errors, unresolved=0.25):
    said = Judgement(score=1, criteria={"truth": {"score": score}}, errors=errors)
    return example_of(SAMPLED, "truth", said, scale=Scale(low=1, high=5), unresolved=unresolved)


def test_errors_are_told_in_the_order_of_the_text_and_what_is_missing_last():
    found = of(61.25, MISSING, at(18, 21), at(4, 9, 5))
    assert (found.left_out, found.score, found.n_errors, found.n_dropped) == ("", 60, 3, 0)
    assert found.answer == (
        'Errors:\n1. Location: "ferry"\n   Severity: 5\n   Explanation: Number 4.\n'
        '2. Location: "ten"\n   Severity: 3\n   Explanation: Number 18.\n'
        "3. Location: none\n   Severity: 2\n   Explanation: No date.\n\nOverall score: 60"
    )


@for_each(
    ("score", "errors", "reason"),
    [
        (100, [at(0, 3)], CONTRADICTS),
        (98, [at(0, 3)], CONTRADICTS),
        (80, [], CONTRADICTS),
        (80, [LOST, at(0, 3)], UNRESOLVED),
        (80, [at(0, 999)], UNRESOLVED),
        (80, [at(0, 3, None)], UNGRADED),
        (80, [at(0, 3, explanation="It is. Location: nowhere")], UNREADABLE),
        (None, [], UNSCORED),
    ],
)
def test_what_teaches_nothing_right_is_left_out_with_the_reason(score, errors, reason):
    found = of(score, *errors)
    assert (found.left_out, found.answer) == (reason, "")
    assert found.row()["left_out"] == reason


def test_few_errors_that_are_nowhere_are_dropped_and_counted():
    found = of(20, LOST, *(at(n, n + 2) for n in (0, 4, 10)))
    assert (found.left_out, found.n_errors, found.n_dropped) == ("", 3, 1)
    assert of(20, LOST, at(0, 3), unresolved=0.5).left_out == ""


def test_an_output_without_a_judgement_says_why():
    def why(problem, reason):
        said = Judgement.unscored(problem, reason=reason)
        return example_of(SAMPLED, "truth", said, scale=Scale(low=0, high=1), unresolved=0)

    assert why("max_calls is reached", Reason.OVER_BUDGET).left_out == NOT_ASKED
    found = why("the answer could not be read", Reason.UNREADABLE)
    assert (found.left_out, found.score) == (UNSCORED, None)
    assert found.row()["problem"] == "the answer could not be read"


def test_a_mean_of_five_levels_is_a_multiple_of_five():
    means = [sum((5, 5, 4, 4, n)) / 5 for n in range(1, 6)]
    assert [rounded(100 * (mean - 1) / 4) for mean in means] == [70, 75, 80, 85, 90]
    assert [rounded(one) for one in (0, 2.4, 2.5, 97.4, 97.5, 100)] == [0, 0, 5, 95, 100, 100]


# overlap

ARTICLE = " ".join(f"word{n}" for n in range(60))


@for_each(
    "text",
    [
        ARTICLE,
        ARTICLE.upper(),
        ARTICLE.replace(" ", " ,\n"),
        f"(Reuters) – {ARTICLE}",
        " ".join(ARTICLE.split()[:35]),
        ARTICLE.replace("word30", "other"),
    ],
)
def test_an_input_is_known_in_another_edition(text):
    assert text in KnownInputs([ARTICLE])


@for_each(
    "text",
    [
        "",
        "?!",
        "word1 word2",
        " ".join(f"other{n}" for n in range(60)),
        # A quotation from the article makes no article.
        " ".join([*ARTICLE.split()[:20], *(f"other{n}" for n in range(60))]),
    ],
)
def test_another_input_is_not(text):
    assert text not in KnownInputs([ARTICLE, "", "…"])


# sampling

CRITERIA = ("truth", "wit", "tact", "brevity")


def rows(n_sources=6, systems="abcdef"):
    return [
        RatedItem(source_id=f"{n}", system_id=one, source=f"Text {n}.", response=f"{one} of {n}.")
        for n in range(n_sources)
        for one in systems
    ]


def drawn(items, criteria=CRITERIA, known=None, **settings):
    return sample(items, grouped(items), criteria, DistilSettings(**settings), known=known)


def test_of_every_source_so_many_outputs_are_drawn_on_so_many_criteria():
    found = drawn(rows())
    assert found.n_sources == 6
    by_source = {}
    for one in found.outputs:
        by_source.setdefault(one.source, []).append(one)
    assert [len(several) for several in by_source.values()] == [4] * 6
    assert {len(one.criteria) for one in found.outputs} == {3}
    assert len({one.criteria for one in found.outputs}) > 1
    order = [CRITERIA.index(name) for name in found.outputs[0].criteria]
    assert order == sorted(order)


def test_outputs_are_of_different_systems_where_there_are():
    items = [
        RatedItem(source="s", source_id="1", system_id=system, response=f"{system} {n}")
        for system in "ab"
        for n in range(9)
    ]
    found = drawn(items, outputs=2)
    assert {one.item.system_id for one in found.outputs} == {"a", "b"}
    assert len(drawn(items, outputs=5).outputs) == 5


def test_a_source_is_in_training_or_in_validation_never_in_both():
    found = drawn(rows(20), validation=0.2)
    splits = {}
    for one in found.outputs:
        splits.setdefault(one.split, set()).add(one.source)
    assert not splits["train"] & splits["validation"]
    assert len(splits["validation"]) == 4


def test_the_seed_decides_and_further_sources_change_nothing():
    def picked(items, **settings):
        return [(one.item.key, one.criteria) for one in drawn(items, **settings).outputs]

    few, many = rows(5), rows(9)
    assert picked(few) == picked(few)
    assert picked(few) != picked(few, seed=1)
    assert picked(many)[: len(picked(few))] == picked(few)


# adapter

DONE = Trained(
    n_train=3,
    n_validation=1,
    n_too_long=0,
    steps=1,
    loss=2.0,
    validation_loss=None,
    device="cpu",
    versions={"torch": "2"},
)


@pytest.fixture
def chats(data, monkeypatch):
    def trained(chats, base, recipe, folder, *, on_progress=None):
        (folder / "adapter_model.safetensors").write_bytes(b"numbers")
        return DONE

    monkeypatch.setattr(adapter, "trained", trained)
    return read_chats([data])


def test_an_adapter_says_what_it_was_made_from(chats, tmp_path):
    folder = tmp_path / "adapter"
    summary = finetune(chats, "a`base\n", Recipe(), folder)
    assert json.loads((folder / "finetune.json").read_text()) == summary
    assert summary["data"] == ["0123456789ab"]
    assert summary["recipe"]["rank"] == 16
    card = (folder / "README.md").read_text()
    assert "adapter of `abase` (rank 16, alpha 32" in card
    assert "no validation data" in card


def test_the_same_run_is_found_again_and_others_are_kept(chats, tmp_path):
    folder = tmp_path / "adapter"
    run = training_run(chats, "base", Recipe())
    assert trained_before(folder, run, force=False) is None
    summary = finetune(chats, "base", Recipe(), folder)
    assert trained_before(folder, run, force=False) == summary
    assert trained_before(folder, run, force=True) is None
    with pytest.raises(FileExistsError, match="holds an adapter of another run"):
        trained_before(folder, training_run(chats, "other", Recipe()), force=False)


@pytest.mark.parametrize("content", [None, "[]", "no JSON", '{"kind": "other"}'])
def test_a_folder_of_something_else_is_never_replaced(chats, tmp_path, content):
    folder = tmp_path / "adapter"
    folder.mkdir()
    if content is not None:
        (folder / "finetune.json").write_text(content)
    with pytest.raises(FileExistsError, match="holds no adapter"):
        trained_before(folder, "run", force=True)


def test_training_that_fails_leaves_nothing(chats, tmp_path, monkeypatch):
    def failing(*args, **more):
        raise ValueError("no")

    monkeypatch.setattr(adapter, "trained", failing)
    before = {*tmp_path.iterdir()}
    with pytest.raises(ValueError, match="no"):
        finetune(chats, "base", Recipe(), tmp_path / "adapter")
    assert {*tmp_path.iterdir()} == before


# chats


def test_folders_are_read_one_after_the_other(data, tmp_path):
    other = write_data(tmp_path / "other", ["And?"], run="ba9876543210")
    found = read_chats([data, other])
    assert [chat[1]["content"] for chat in found.train] == ["Is it?", "Was it?", "Will it?", "And?"]
    assert [chat[1]["content"] for chat in found.validation] == ["Can it?"]
    assert found.runs == ("0123456789ab", "ba9876543210")
    assert found.digest != read_chats([data]).digest == read_chats([data]).digest


def test_only_the_answer_is_learned(data):
    parts = as_question_and_answer(read_chats([data]).train[0])
    assert [one["role"] for one in parts["prompt"]] == ["system", "user"]
    assert [one["role"] for one in parts["completion"]] == ["assistant"]


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"messages": 3}',
        '{"messages": [1, 2, 3]}',
        '{"messages": [{"role": "user", "content": "x"}]}',
        '{"messages": [{"role": "system", "content": 1}, {"role": "user", "content": "x"}, '
        '{"role": "assistant", "content": "x"}]}',
    ],
)
def test_a_line_that_is_no_chat_is_named(data, line):
    with (data / "train.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"train\.jsonl:4: expected messages of system, user, as"):
        read_chats([data])


# recipe


def test_a_step_is_made_of_whole_batches():
    assert Recipe(batch=8, at_once=4).at_once == 4
    with pytest.raises(ValueError, match="8 examples per step do not come in batches of 3 at once"):
        Recipe(batch=8, at_once=3)
