"""Mistakes in specifications: each is answered with its line and the nearest right name."""

import copy
import json
from pathlib import Path

import pytest

from judgesmith.data.samples import sample_path
from judgesmith.experiments.specs import SpecError, read_sets, read_spec, spec_of
from judgesmith.signatures.plain_data import read_yaml

TABLE = read_yaml(Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"))
BASE = TABLE["base"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with rated texts, and scores of two judges."""
    place = tmp_path_factory.mktemp("study")
    rows = sample_path().read_text(encoding="utf-8").splitlines()[:6]
    (place / "answers.jsonl").write_text("\n".join(rows), encoding="utf-8")
    scores = [
        {"source_id": "1", "system_id": "a", "criterion": "overall", "judge": name, "scores": [3]}
        for name in ("gpt-4", "llama")
    ]
    (place / "scores.jsonl").write_text("\n".join(map(json.dumps, scores)), encoding="utf-8")
    return place


def said_of(text, folder):
    """Return what is said of a specification, without the name of the file."""
    with pytest.raises(SpecError) as raised:
        read_sets(spec_of(text, file="spec.yaml", folder=str(folder)))
    assert "None" not in str(raised.value)
    return [str(one).removeprefix("spec.yaml:") for one in raised.value.problems]


def test_the_specification_that_mistakes_are_made_in_has_none(folder):
    assert set(read_sets(spec_of(BASE, folder=str(folder)))) == {"answers"}


def test_there_are_more_than_twenty():
    assert len(TABLE["mistakes"]) > 20
    assert len({one["what"] for one in TABLE["mistakes"]}) == len(TABLE["mistakes"])


@pytest.mark.parametrize("mistake", TABLE["mistakes"], ids=lambda one: one["what"])
def test_a_mistake_is_answered_with_its_line_and_the_nearest_name(mistake, folder):
    before, after = mistake["change"]
    assert BASE.count(before) == 1
    said = said_of(BASE.replace(before, after), folder)
    if mistake.get("among"):
        assert mistake["says"] in said
    else:
        assert said == [mistake["says"]]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(folder):
    text = BASE
    for what in ("a typo in a key", "an unknown kind of judge", "no budget at all"):
        (one,) = (one for one in TABLE["mistakes"] if one["what"] == what)
        text = text.replace(*one["change"])
    assert [line.partition(":")[0] for line in said_of(text, folder)] == ["6", "7", "16"]


def test_what_is_wrong_once_is_not_told_of_all_that_takes_it(folder):
    said = said_of(BASE.replace("variant: fine}", "variant: fin}"), folder)
    assert said == [
        "5: judges.fine.variant: expected one of vanilla, coarse, fine; got 'fin'; did you mean "
        "fine?"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a",
        "42",
        "name: [",
        "a: &a [*a]",
        "name: !!python/name:os.system x",
        "\x00",
        "? [a]: 1",
    ],
)
def test_what_is_no_specification_at_all_is_told_in_a_line(text):
    with pytest.raises(SpecError) as raised:
        spec_of(text, file="spec.yaml")
    assert raised.value.problems[0].where.startswith("spec.yaml:")


def test_files_that_are_no_text_or_too_large_are_refused(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9")
    (tmp_path / "large.yaml").write_text("#" * 1_000_001)
    with pytest.raises(ValueError, match="no text in UTF-8"):
        read_spec(tmp_path / "latin.yaml")
    with pytest.raises(ValueError, match="at most 1,000,000 bytes"):
        read_spec(tmp_path / "large.yaml")


def test_an_error_keeps_its_mistakes_in_another_process():
    with pytest.raises(SpecError) as raised:
        spec_of("name: 3")
    again = copy.copy(raised.value)  # as other processes are sent it
    assert again.problems == raised.value.problems


MESSY = """
name: [a]
data: {answers: sample, more: {path: sample, targets: [], scale: {fluency: 1}}}
judges:
  a: {answer_tokens: 0, partial_demos: maybe, explain: no}
  b: {choose: [1], model: small}
  " c": {judge: direct}
  d: {name: gpt}
  e: {recorded: x.jsonl, model: offline}
optimizers: [none, none, {a: b}]
models: {small: {model: openai/m, api_base: localhost:8000, price: cheap}, offline: {rpm: .inf}}
seeds: []
split_rows: 1
leave_out: [{}, 3, {seed: x}, {optimizer: random}]
extra: 1
"""

ODD = [
    ("data: 3", "data: expected entries by name; got a number."),
    ("judges: [a]", "judges: expected entries by name; got a list."),
    ("judges: {a: 3}", "judges.a: expected fields by name; got a number."),
    ("models: {}", "models: expected entries by name; got nothing."),
    (
        "judges: {a: {judge: exemplar, role: {writer: opnai/m}}}",
        "judges.a.role.writer: no provider is called opnai",
    ),
    (
        "judges: {a: {judge: exemplar, role: {writer: opnai/m}}}",
        "or openai and an address; did you mean openai?",
    ),
    ("optimizers: {a: {optimizer: protocol, models: [b]}}", "optimizers.a.models.0: a model is"),
    ("data: {a: {path: sample, scale: 5}}", "data.a.scale: expected a text; got 5."),
    ("leave_out: {judge: a}", "leave_out: expected a list; got {'judge': 'a'}."),
    (
        "judges: {a: {choose: {rules: off}, judge: annotator}}",
        "yes or no, true or false: put it in",
    ),
]


@pytest.mark.parametrize(("odd", "said"), ODD)
def test_what_is_of_another_kind_is_told_so(odd, said, folder):
    usual = {"data": "{a: {path: sample}}", "judges": "{a: {}}"}
    whole = [f"{name}: {value}" for name, value in usual.items() if not odd.startswith(name)]
    (told,) = said_of("\n".join(["name: odd", *whole, odd]), folder)
    assert said in told


def test_nothing_is_so_wrong_that_the_rest_is_not_told(folder):
    said = said_of(MESSY, folder)
    assert [line.split(":")[1].strip() for line in said] == [
        *("name", "data.answers", "data.more.targets", "data.more.scale.fluency"),
        *("judges.a.answer_tokens", "judges.a.partial_demos", "judges.a.explain"),
        *("judges.b.choose", "judges.c", "judges.d", "judges.e"),
        *("optimizers.1", "optimizers.2", "models.offline.rpm"),
        *("models.small.api_base", "models.small.price", "seeds", "split_rows"),
        *("leave_out.0", "leave_out.1", "leave_out.2.seed", "extra"),
    ]
