"""What differs between two judges is said once, in words a reader can follow."""

from judgesmith.programs import SavedJudge
from judgesmith.programs.artifacts.differences import difference
from judgesmith.signatures import Criterion, Rubric, Scale


def saved(judge, **parts):
    given = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
    }
    return SavedJudge(**{**given, **parts})


def test_equal_judges_do_not_differ(judge_of):
    assert difference(saved(judge_of(shown="a")), saved(judge_of(shown="a"))) == []


def test_values_are_shown_before_and_after(judge_of):
    lines = difference(
        saved(judge_of()), saved(judge_of(temperature=0.5), target="mean", settings={"seed": 1})
    )
    assert lines == [
        "protocol.temperature: 0.0 → 0.5",
        'target: "overall" → "mean"',
        "settings.seed: (absent) → 1",
    ]


def test_criteria_are_compared_by_name_and_their_order_counts(judge_of, rubric):
    first, second = rubric.criteria
    turned = judge_of(rubric=Rubric(task=rubric.task, criteria=(second, first)))
    assert difference(saved(judge_of()), saved(turned)) == [
        'protocol.rubric.criteria: ["fluency", "Fact_Check"] → ["Fact_Check", "fluency"]'
    ]
    worded = first.model_copy(update={"definition": "Is it readable?"})
    other = judge_of(rubric=Rubric(task=rubric.task, criteria=(worded, second)))
    assert difference(saved(judge_of()), saved(other)) == [
        'protocol.rubric.criteria[fluency].definition: "Is it well written?" → "Is it readable?"'
    ]


def estimate(value, **more):
    return {"value": value, "low": value - 0.123456, "high": value + 0.1, "n": 9, **more}


def test_agreement_is_compared_as_it_is_printed_one_line_per_statistic(judge_of):
    one, other = (
        {
            "heldout": {"dataset": {"q": estimate(0.5 + n), "pearson": estimate(0.25 + n / 1e5)}},
            "gain": None,
            "optimism": {"dataset": {"q": 0.1 + n}},
            "objective": {"name": "q", "heldout": estimate(0.5, p_value=0.01 + n)},
        }
        for n in (0, 1)
    )
    assert difference(saved(judge_of(), agreement=one), saved(judge_of(), agreement=other)) == [
        "agreement.heldout.dataset.q: 0.500 [0.377, 0.600] → 1.500 [1.377, 1.600]",
        "agreement.optimism.dataset.q: 0.100 → 1.100",
    ]


def test_judges_that_differ_in_further_decimals_are_not_called_the_same(judge_of):
    one, other = ({"heldout": {"dataset": {"q": estimate(0.5 + n)}}} for n in (0, 1e-9))
    (line,) = difference(saved(judge_of(), agreement=one), saved(judge_of(), agreement=other))
    assert line == "agreement: differs in nothing that is shown, such as further decimals"


def test_learned_numbers_have_four_digits_unless_they_would_look_the_same(judge_of):
    one, other = (saved(judge_of(), settings={"a": 1 / 3, "b": n}) for n in (0.5, 0.500000001))
    assert difference(one, other) == ["settings.b: 0.5 → 0.500000001"]
    lines = difference(saved(judge_of(), settings={"a": [1 / 3]}), saved(judge_of()))
    assert lines == ["settings.a: [0.3333] → (absent)"]


def test_of_provenance_single_values_are_shown_and_hashes_are_not(judge_of, rubric):
    learned = {"run": "0123", "mark": "4567", "data": "mine", "batches": [{"rows": {"k": "row 1"}}]}
    inferred = judge_of(rubric=rubric.model_copy(update={"provenance": learned}))
    lines = difference(saved(judge_of()), saved(inferred))
    assert lines == ['protocol.rubric.provenance.data: (absent) → "mine"']
    other = judge_of(rubric=rubric.model_copy(update={"provenance": {**learned, "run": "89"}}))
    assert len(difference(saved(inferred), saved(other))) == 1


def test_a_criterion_that_was_added_is_its_name_and_what_it_says(judge_of, rubric):
    more = Criterion(name="new", definition="Is it short?")
    other = judge_of(rubric=Rubric(task=rubric.task, criteria=(*rubric.criteria, more)))
    assert difference(saved(judge_of()), saved(other)) == [
        'protocol.rubric.criteria: ["fluency", "Fact_Check"] → ["fluency", "Fact_Check", "new"]',
        'protocol.rubric.criteria[new].definition: (absent) → "Is it short?"',
    ]


def test_a_long_change_that_repeats_is_shown_once(judge_of):
    one, other = (
        judge_of(instructions={"assess": f"{word} " * 20, "overall": f"{word} " * 20})
        for word in ("old", "new")
    )
    assert difference(saved(one), saved(other)) == [
        "protocol.instructions.assess:",
        f"    -{'old ' * 20}",
        f"    +{'new ' * 20}",
        "protocol.instructions.overall: as protocol.instructions.assess",
    ]


def test_a_difference_in_blanks_alone_can_be_seen(judge_of):
    one, other = (judge_of(instructions={"overall": text}) for text in ("a b", "a  b"))
    assert difference(saved(one), saved(other)) == ['protocol.instructions.overall: "a b" → "a  b"']


def test_long_texts_are_compared_line_by_line(judge_of):
    text = "\n".join(f"Line {n} of the instruction." for n in range(9))
    one = judge_of(instructions={"overall": text})
    other = judge_of(instructions={"overall": text.replace("Line 4", "Row 4")})
    lines = difference(saved(one), saved(other))
    assert lines[0] == "protocol.instructions.overall:"
    assert "    -Line 4 of the instruction." in lines
    assert "    +Row 4 of the instruction." in lines
    assert len(lines) == 6


def test_demonstrations_that_were_added_are_shown(judge_of):
    lines = difference(saved(judge_of()), saved(judge_of(shown="Ann left.")))
    assert any(
        line.startswith("protocol.demonstrations.overall[0].inputs.response: (absent)")
        for line in lines
    )


def test_no_text_of_a_judge_reaches_a_terminal_as_a_command(judge_of):
    long = "\x1b[2J\x1b]0;owned\x07" + "text " * 30
    lines = difference(saved(judge_of(shown="\x1b[31m")), saved(judge_of(shown=long)))
    assert lines
    assert all(line.isprintable() for line in lines)


def test_what_is_null_is_as_good_as_absent(judge_of):
    first = saved(judge_of(), agreement={"selection": None})
    second = saved(judge_of(), agreement={"selection": None, "uncompiled": None})
    assert difference(first, second) == difference(second, first) == []
    third = saved(judge_of(), agreement={"selection": None, "optimism": {"q": 0.5}})
    assert difference(second, third) == ["agreement.optimism.q: (absent) → 0.500"]
