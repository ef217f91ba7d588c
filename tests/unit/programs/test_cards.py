"""What is told of a saved judge: its card, its front, and how it differs from another."""

import json

import pytest
from exporting import saved_judge

from judgesmith.programs import ActiveCritic, SavedJudge
from judgesmith.programs.artifacts.card import (
    aggregation_text,
    judge_card,
    rubric_mark,
)
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import SavedEstimate
from judgesmith.programs.artifacts.saved import FrontMember, taken
from judgesmith.signatures import Aggregation, Criterion, Rubric

# The card says what a compiled judge is, and claims nothing that was not measured.


def estimate(value, **more):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 40, **more}


def estimates(value):
    return {"dataset": {"q": estimate(value)}}


def pearson(value):
    return {"dataset": {"pearson": {"value": value, "low": 0.0, "high": 1.0, "n": 7}}}


ENDS = {"definition": "Does it help?", "worst": "of no use", "best": "all one needs"}
ALONE = {"criteria_calls": "separate", "overall": "mean", "explain": "after"}
MEASURED = {"uncompiled": estimates(1.0), "selection": None, "heldout": estimates(1.5)}
OF_CRITERIA = {
    "uncompiled": {"flu|ency": pearson(0.25)},
    "heldout": {"flu|ency": pearson(0.5), "tone": pearson(None), "wit": None},
}
SHARES = {"answers": 0.61, "variant": 0.39, "odd": "none"}
SEARCHED = {"stage": "importances", "objective": "q", "shares": SHARES}
LEARNED = Aggregation(
    kind="linear",
    terms=[f"lexical:{place}" for place in range(10)],
    centers=[0] * 10,
    spreads=[1] * 10,
    weights=[(-1) ** place * place for place in range(10)],
)


@pytest.mark.parametrize(
    ("choices", "parts", "lines"),
    [
        (
            {"shown": "a"},
            {},
            [
                "Scores `overall`, which raters gave on 1..5;\nits own scale is 0..100.",
                "not a language model",
                "- task: Judge a summary. It was written for a newspaper.",
                "- **fluency**: Is it well written?",
                "- demonstrations in `overall`: 2",
                "- variant: fine\n",
                "- score: the model's own overall score",
                "No rows were kept for a report.",
            ],
        ),
        (
            ALONE,
            {},
            [
                "- variant: fine, one call per criterion, no overall question, explanations last\n",
                "- score: the mean of the criteria\n",
            ],
        ),
        ({"variant": "coarse", "explain": "none"}, {}, ["- variant: coarse, no explanations\n"]),
        ({"variant": "vanilla"}, {}, ["- variant: vanilla\n"]),
        ({"rubric": {"criteria": {"use": "?"}}}, {}, ["- task: not described"]),
        (
            {"rubric": {"criteria": {"use": ENDS}}},
            {},
            ["- **use**: Does it help? (0 means: of no use; 100 means: all one needs)"],
        ),
        (
            {"weighting": "probabilities"},
            {},
            ["- every number is the mean of the possible answers, weighted by their probability"],
        ),
        (
            {"samples": 3, "reduction": "median"},
            {},
            ["- 3 samples per prompt, reduced by their median"],
        ),
        (
            {"variant": "vanilla"},
            {"agreement": MEASURED, "rows": {"train": 3, "heldout": 4}},
            [
                "| level | statistic | uncompiled | heldout |",
                "| dataset | q | 1.000 [0.900, 1.100] | 1.500 [1.400, 1.600] |",
                "Rows: 3 train, 4 heldout.",
                "share no source with the rows",
            ],
        ),
        (
            {},
            {"agreement": {"criteria": OF_CRITERIA}},
            [
                "| flu/ency | 7 | 0.250 [0.000, 1.000] | 0.500 [0.000, 1.000] |",
                "| tone | 7 | undefined | undefined |",
                "| wit | 0 | undefined | undefined |",
            ],
        ),
        (
            {},
            {"settings": {"earlier": "0123456789ab"}},
            ["- started from the judge with the fingerprint `0123456789ab`"],
        ),
        (
            {},
            {"history": (SEARCHED, {"stage": "protocol"})},
            ["of the search for q (PED-ANOVA): answers 61%, variant 39%\n"],
        ),
    ],
    ids=[
        *("all", "alone", "coarse", "vanilla", "no task", "ends", "probabilities", "samples"),
        *("measured", "criteria", "earlier", "searched"),
    ],
)
def test_the_card_says_what_the_judge_is_and_what_was_measured(judge_of, choices, parts, lines):
    card = judge_card(saved_judge(judge_of(**choices), **parts))
    assert [line for line in lines if line not in card] == []


def test_the_card_says_where_too_few_sources_or_systems_are_behind_a_number(judge_of):
    few = {"value": 0.9, "low": None, "high": None, "n": 8, "reason": "an interval needs 5 sources"}
    held = {level: {"pearson": few} for level in ("dataset", "system")}
    card = judge_card(saved_judge(judge_of(), agreement={"heldout": held}))
    assert "| dataset | pearson | 0.900 [<5 sources] |" in card
    assert "Fewer than 10 systems tell little." in card


def test_the_card_claims_nothing_of_rows_that_were_not_kept(judge_of):
    card = judge_card(saved_judge(judge_of(), agreement={"selection": estimates(1.0)}))
    for said in ("share no source with the rows", "Rows:", "by probability", "inferred", "Front"):
        assert said not in card


def test_the_strongest_learned_weights_come_first():
    text = aggregation_text(LEARNED)
    assert text.startswith("weighted sum of standardized features: -9.000 lexical:9, +8.000 lex")
    assert text.endswith("and 2 more")
    bent = {"center": 0, "spread": 1, "weight": -20, "second": "lexical:9"}
    products = ({**bent, "first": "lexical:8", "weight": 15}, {**bent, "first": "lexical:9"})
    text = aggregation_text(Aggregation(**{**dict(LEARNED), "products": products}))
    assert ": -20.000 lexical:9², +15.000 lexical:8 × lexical:9, -9.000 lexical:9," in text


BATCHES = [{"rows": {"a": "row 1", "b": "row 2"}}, {"rows": {"b": "row 2", "c": "row 3"}}]
BY_BOTH = {"task": {"batches": [1]}, "criteria": {"fluency": {"batches": [1, 2]}}}


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        ({**BY_BOTH, "batches": BATCHES}, "task and criteria inferred from 3 rated rows in 2 batc"),
        (
            {"task": {"batches": [1]}, "criteria": {"fluency": "general"}, "batches": BATCHES},
            "- task inferred from 3 rated rows in 2 batches;",
        ),
        ({"task": {"batches": [1]}, "batches": BATCHES, "mark": "other"}, "and edited since;"),
        ({"batches": 3}, None),
        ({"task": {"batches": [1]}, "batches": "two"}, None),
        ({}, None),
    ],
    ids=["both", "task", "edited", "odd", "odder", "people's"],
)
def test_an_inferred_rubric_says_from_what(judge_of, rubric, provenance, said):
    whole = rubric.model_copy(update={"provenance": {"mark": rubric_mark(rubric), **provenance}})
    card = judge_card(saved_judge(judge_of(rubric=whole)))
    assert ("inferred" in card) == (said is not None)
    assert (said or "") in card


# A front is kept with the judge: another judge on it can be taken.


def member(number, judge, *, model="openai/m", calls=1.0, q=1.0, knee=False, **picked):
    return FrontMember(
        number=number,
        picked=picked,
        model=model,
        calls=calls,
        values={"q": estimate(q), "-calls": {"value": -calls, "low": None, "high": None}},
        knee=knee,
        agreement={"selection": estimates(q)},
        protocol=judge.protocol,
        questions=judge.templates(),
    )


@pytest.fixture
def saved():
    fine, vanilla = ActiveCritic(), ActiveCritic(variant="vanilla")
    return saved_judge(
        fine,
        model="openai/m",
        agreement={"heldout": estimates(1.2), "gain": None},
        rows={"train": 3},
        seen={"train": ("ab",)},
        settings={"run": "0123456789ab", "complete": True},
        front=(
            member(0, vanilla, model="openai/small", q=0.5),
            member(7, fine, calls=2.0, q=1.2, knee=True, variant="fine"),
        ),
    )


def test_a_front_comes_back_from_its_folder_and_is_on_the_card(saved, tmp_path):
    folder = saved.save(tmp_path / "judge")
    again = SavedJudge.load(folder)
    assert (again, again.fingerprint) == (saved, saved.fingerprint)
    card = (folder / "README.md").read_text()
    assert "| 0 | 0.500 [0.400, 0.600] | -1.000 | 1 | openai/small | baseline |" in card
    assert "| 7 (the knee, this judge) | 1.200 [1.100, 1.300] | -2.000 | 2 |" in card
    assert "front" not in saved.model_copy(update={"front": ()}).model_dump(mode="json")


@pytest.mark.parametrize(
    ("update", "said"),
    [
        (
            {"values": {"-usd": SavedEstimate(value=-0.000381, low=-0.00039, high=-0.00037, n=40)}},
            "| -0.000381 [-0.00039, -0.00037] |",
        ),
        ({"picked": {"variant": "a|b\n# c\x1b[2J"}}, "variant a/b\\n# c\\x1b[2J |"),
    ],
    ids=["dollars far below one", "a name that would leave its line"],
)
def test_the_front_on_the_card_is_readable_whatever_it_holds(saved, update, said):
    front = tuple(one.model_copy(update=update) for one in saved.front)
    assert said in judge_card(saved.model_copy(update={"front": front}))


def test_another_one_is_taken_whole_and_knows_no_agreement_on_rows_held_out(saved, tmp_path):
    other = taken(saved, 0)
    again = SavedJudge.load(other.save(tmp_path / "other"))
    assert again.protocol.variant == "vanilla"
    assert (again.model, again.seen, again.rows) == ("openai/small", saved.seen, saved.rows)
    assert again.agreement.plain["heldout"] is None
    assert again.agreement.plain["selection"]["dataset"]["q"]["value"] == 0.5
    assert again.program().templates() == ActiveCritic(variant="vanilla").templates()
    assert "0 (this judge)" in judge_card(again)
    assert any(line.startswith("protocol.variant") for line in difference(saved, again))


def test_a_run_is_not_mistaken_for_that_of_a_judge_taken_from_it(saved):
    assert taken(saved, 7) is saved
    first = taken(saved, 0)
    assert first.settings["run"] == taken(first, 0).settings["run"] == "0123456789ab, number 0"
    back = taken(first, 7)
    assert (back.settings["run"], back.protocol) == ("0123456789ab, number 7", saved.protocol)
    assert back.agreement.plain["heldout"] is None


def test_what_is_not_on_the_front_is_refused(saved):
    with pytest.raises(ValueError, match="the front holds number 0, 7; got 3"):
        taken(saved, 3)
    with pytest.raises(ValueError, match="has no front to take from"):
        taken(saved.model_copy(update={"front": ()}), 0)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("questions", "the protocol asks grade"),
        ("values", "valid dictionary or instance of SavedEstimate"),
    ],
)
def test_a_front_that_cannot_be_read_is_refused(saved, field, said):
    whole = json.loads(json.dumps(saved.model_dump(mode="json")))
    other = {"questions": whole["front"][1]["questions"], "values": {"q": "much"}}
    whole["front"][0][field] = other[field]
    with pytest.raises(ValueError, match=said):
        SavedJudge.model_validate(whole)


# What differs between two judges is said once, in words a reader can follow.


def lines_of(one, other, **parts):
    """Return the differences of two judges; parts are those of the second."""
    return difference(saved_judge(one), saved_judge(other, **parts))


def test_values_are_shown_before_and_after(judge_of):
    assert lines_of(judge_of(shown="a"), judge_of(shown="a")) == []
    other = judge_of(temperature=0.5)
    assert lines_of(judge_of(), other, target="mean", settings={"a": [1 / 3], "seed": 1}) == [
        "protocol.temperature: 0.0 → 0.5",
        'target: "overall" → "mean"',
        "settings.a: (absent) → [0.3333]",
        "settings.seed: (absent) → 1",
    ]


def test_criteria_are_compared_by_name_and_their_order_counts(judge_of, rubric):
    def changes(*criteria):
        return lines_of(judge_of(), judge_of(rubric=Rubric(task=rubric.task, criteria=criteria)))

    first, second = rubric.criteria
    assert changes(second, first) == [
        'protocol.rubric.criteria: ["fluency", "Fact_Check"] → ["Fact_Check", "fluency"]'
    ]
    assert changes(first.model_copy(update={"definition": "Is it readable?"}), second) == [
        'protocol.rubric.criteria[fluency].definition: "Is it well written?" → "Is it readable?"'
    ]
    assert changes(first, second, Criterion(name="new", definition="Is it short?")) == [
        'protocol.rubric.criteria: ["fluency", "Fact_Check"] → ["fluency", "Fact_Check", "new"]',
        'protocol.rubric.criteria[new].definition: (absent) → "Is it short?"',
    ]


def agreeing(judge, **agreement):
    return saved_judge(judge, agreement=agreement)


def test_agreement_is_compared_as_it_is_printed_one_line_per_statistic(judge_of):
    one, other = (
        agreeing(
            judge_of(),
            heldout={"dataset": {"q": estimate(0.5 + n), "pearson": estimate(0.25 + n / 1e5)}},
            gain=None,
            optimism={"dataset": {"q": 0.1 + n}},
            objective={"name": "q", "heldout": estimate(0.5, p_value=0.01 + n)},
        )
        for n in (0, 1)
    )
    assert difference(one, other) == [
        "agreement.heldout.dataset.q: 0.500 [0.400, 0.600] → 1.500 [1.400, 1.600]",
        "agreement.optimism.dataset.q: 0.100 → 1.100",
    ]


def test_numbers_that_would_look_the_same_are_told_apart(judge_of):
    one, other = (agreeing(judge_of(), heldout=estimates(0.5 + n)) for n in (0, 1e-9))
    said = "agreement: differs in nothing that is shown, such as further decimals"
    assert difference(one, other) == [said]
    one, other = (saved_judge(judge_of(), settings={"b": n}) for n in (0.5, 0.500000001))
    assert difference(one, other) == ["settings.b: 0.5 → 0.500000001"]


def test_what_is_null_is_as_good_as_absent(judge_of):
    first = agreeing(judge_of(), selection=None)
    second = agreeing(judge_of(), selection=None, uncompiled=None)
    third = agreeing(judge_of(), selection=None, optimism={"q": 0.5})
    assert difference(first, second) == difference(second, first) == []
    assert difference(second, third) == ["agreement.optimism.q: (absent) → 0.500"]


def test_of_provenance_single_values_are_shown_and_hashes_are_not(judge_of, rubric):
    learned = {"run": "0123", "mark": "4567", "data": "mine", "batches": [{"rows": {"k": "row 1"}}]}
    one, other = (
        judge_of(rubric=rubric.model_copy(update={"provenance": {**learned, "run": run}}))
        for run in ("0123", "89")
    )
    assert lines_of(judge_of(), one) == ['protocol.rubric.provenance.data: (absent) → "mine"']
    assert len(lines_of(one, other)) == 1


TEXT = "\n".join(f"Line {n} of the instruction." for n in range(9))


@pytest.mark.parametrize(
    ("one", "other", "lines"),
    [
        (
            {"assess": "old " * 20, "overall": "old " * 20},
            {"assess": "new " * 20, "overall": "new " * 20},
            [
                "protocol.instructions.assess:",
                f"    -{'old ' * 20}",
                f"    +{'new ' * 20}",
                "protocol.instructions.overall: as protocol.instructions.assess",
            ],
        ),
        (
            {"overall": "a b"},
            {"overall": "a  b"},
            ['protocol.instructions.overall: "a b" → "a  b"'],
        ),
        (
            {"overall": TEXT},
            {"overall": TEXT.replace("Line 4", "Row 4")},
            ["    -Line 4 of the instruction.", "    +Row 4 of the instruction."],
        ),
    ],
    ids=["repeated", "blanks", "line by line"],
)
def test_long_texts_are_compared_line_by_line_and_once(judge_of, one, other, lines):
    found = lines_of(judge_of(instructions=one), judge_of(instructions=other))
    assert [line for line in lines if line not in found] == []
    assert found[0].startswith(f"protocol.instructions.{min(one)}:")
    assert len(found) <= 6


def test_no_text_of_a_judge_reaches_a_terminal_as_a_command(judge_of):
    lines = lines_of(judge_of(), judge_of(shown="Ann left."))
    start = "protocol.demonstrations.overall[0].inputs.response: (absent)"
    assert any(line.startswith(start) for line in lines)
    long = "\x1b[2J\x1b]0;owned\x07" + "text " * 30
    lines = lines_of(judge_of(shown="\x1b[31m"), judge_of(shown=long))
    assert lines
    assert all(line.isprintable() for line in lines)
