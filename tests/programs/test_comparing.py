"""What differs between two judges is said once, in words a reader can follow."""

from judgesmith.programs import SavedJudge
from judgesmith.programs.comparing import difference
from judgesmith.signatures import Rubric, Scale


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
        'target: "overall" → "mean"',
        "protocol.temperature: 0.0 → 0.5",
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
