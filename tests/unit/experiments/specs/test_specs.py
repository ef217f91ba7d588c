"""Specifications: grid, settings, mistakes and templates."""

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from looping import for_each

from judgesmith.data.samples import sample_path
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.ablate.rows import ROWS, planned_rows
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.settings import settings_without_labels
from judgesmith.experiments.specs import (
    Spec,
    SpecError,
    cells_of,
    read_sets,
    read_spec,
    settings_of,
    spec_of,
)
from judgesmith.experiments.specs.parts import DataSpec, OptimizerSpec
from judgesmith.experiments.specs.templates import START, template_names, template_text
from judgesmith.programs.lm import model
from judgesmith.signatures.plain_data import read_yaml

# The cells of a specification: each once, named for a folder, panels after their members.

SAMPLE = {"answers": {"path": "sample"}}


def spec(**fields):
    return Spec.model_validate(
        {"name": "grid", "data": SAMPLE, "judges": {"fine": {}}, "optimizers": {"none": {}}}
        | fields
    )


def ids(found):
    return [cell.id for cell in cells_of(found)]


def test_everything_meets_everything():
    found = spec(
        data={"a": {"path": "sample", "targets": ["fluency", "overall"]}, "b": {"path": "sample"}},
        judges={"fine": {}, "coarse": {"variant": "coarse"}},
        optimizers={"none": {}, "random": {}},
        models={"offline": {}, "small": {"model": "openai/m"}},
        seeds=[0, 1, 2],
    )
    cells = cells_of(found)
    assert len(cells) == len({cell.id for cell in cells}) == 3 * 2 * 2 * 2 * 3
    assert cells[0].id == "a.fluency.fine.none.offline.0"
    assert cells[-1].id == "b.auto.coarse.random.small.2"


def test_a_judge_on_record_or_with_a_model_meets_no_other():
    found = spec(
        judges={"gpt": {"recorded": "a.jsonl"}}, optimizers={"none": {}, "random": {}}, seeds=[0, 1]
    )
    assert ids(found) == ["answers.auto.gpt.0", "answers.auto.gpt.1"]
    assert {(cell.optimizer, cell.model) for cell in cells_of(found)} == {(None, None)}
    models = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    found = spec(judges={"fine": {}, "own": {"model": "b"}}, models=models)
    assert ids(found) == [
        "answers.auto.fine.none.a.0",
        "answers.auto.fine.none.b.0",
        "answers.auto.own.none.b.0",
    ]


def test_panels_take_their_members_model_or_have_none():
    judges = {"both": {"panel": ["fine", "coarse"]}, "fine": {}, "coarse": {"variant": "coarse"}}
    cells = cells_of(spec(judges=judges, optimizers={"none": {}, "random": {}}, seeds=[0, 1]))
    assert [cell.judge for cell in cells] == ["fine"] * 4 + ["coarse"] * 4 + ["both"] * 4
    assert cells[-1].members == (
        "answers.auto.fine.random.offline.1",
        "answers.auto.coarse.random.offline.1",
    )
    models = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    judges = {"one": {"model": "a"}, "two": {"model": "b"}, "both": {"panel": ["one", "two"]}}
    panel = cells_of(spec(judges=judges, models=models))[-1]
    assert (panel.id, panel.model) == ("answers.auto.both.none.0", None)
    assert panel.members == ("answers.auto.one.none.a.0", "answers.auto.two.none.b.0")
    judges = {
        "gpt": {"recorded": "a.jsonl"},
        "llama": {"recorded": "b.jsonl"},
        "on-record": {"panel": ["gpt", "llama"], "score": "median"},
        "fine": {},
        "all": {"panel": ["on-record", "fine"]},
    }
    cells = {cell.judge: cell for cell in cells_of(spec(judges=judges))}
    assert cells["on-record"].optimizer is None
    assert cells["all"].members == ("answers.auto.on-record.0", "answers.auto.fine.none.offline.0")


def test_what_is_left_out_takes_its_panels_with_it():
    judges = {"fine": {}, "plain": {"judge": "direct"}, "both": {"panel": ["fine", "plain"]}}
    found = spec(judges=judges, seeds=[0, 1], leave_out=[{"judge": "plain", "seed": 1}])
    assert ids(found) == [
        "answers.auto.fine.none.offline.0",
        "answers.auto.fine.none.offline.1",
        "answers.auto.plain.none.offline.0",
        "answers.auto.both.none.offline.0",
    ]


def test_ids_are_names_for_folders_whatever_entries_are_called():
    names = ["a/b", "A b", "../x", "é", "ü", "x" * 80, "x" * 79 + "y", "\u202eevil", "🙂"]
    judges = {name: {"judge": "direct"} for name in names}
    cells = cells_of(spec(judges=judges, data={"d" * 80: {"path": "sample"}}))
    assert len({cell.id for cell in cells}) == len(names)
    for cell in cells:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,119}", cell.id)


def test_panels_of_each_other_are_refused():
    judges = {"a": {"panel": ["b", "b2"]}, "b": {"panel": ["a", "b2"]}, "b2": {}}
    with pytest.raises(ValueError, match="made of each other"):
        cells_of(spec(judges=judges))


def test_panels_of_panels_of_panels_take_no_time():
    judges = {f"p{n}": {"panel": [f"p{m}" for m in range(n + 1, 28)]} for n in range(26)}
    cells = cells_of(spec(judges={**judges, "p26": {}, "p27": {}}))
    assert len(cells) == 28


def test_a_grid_that_nobody_could_run_is_refused():
    with pytest.raises(ValueError, match="up to 200,000 cells"):
        cells_of(spec(seeds=list(range(200_000))))


# Mistakes in specifications: each is answered with its line and the nearest right name.

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


@for_each("mistake", TABLE["mistakes"])
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


@for_each(
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


@for_each(("odd", "said"), ODD)
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


# What a specification says of a cell, as the settings of a compilation.


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
    assert settings({}, {"optimizer": "effects"}) == CompileSettings()


def test_what_a_judge_says_is_not_searched():
    found = settings(
        {"variant": "coarse", "choose": {"answers": "1-5"}, "without": ["explanations"]},
        {"optimizer": "protocol", "trials": 7, "draws": 2},
    )
    assert found.fixed == ("variant", "explain", "answers", "samples")
    assert (found.n_trials, found.n_draws) == (7, 2)
    assert found.protocol.explain == "none"


def test_an_optimizer_may_have_an_objective_of_its_own():
    assert settings({}, {"objective": "spearman"}, objective="q").objective == "spearman"
    assert settings({}, {}, objective="kappa").objective == "kappa"
    assert settings({"judge": "pairs"}, {}).objective == "q@sample"


def test_a_rubric_is_read_from_beside_the_specification(tmp_path):
    (tmp_path / "mine.yaml").write_text("task: Rate.\ncriteria:\n  wit: Is it witty?\n")
    text = "name: a\ndata: {d: {path: sample}}\njudges: {own: {rubric: mine.yaml}}"
    spec = spec_of(text, folder=str(tmp_path))
    found = settings_of(spec, cells_of(spec)[0])
    assert found.protocol.rubric.names == ("wit",)
    assert found.criteria_from == "given"
    with pytest.raises(SpecError, match=r"judges\.own\.rubric: "):
        spec_of(text, folder=str(tmp_path / "elsewhere"))


@for_each(
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


# The fingerprint of a specification, where its files are, and what entries take from others.

TEXT = """
name: one
data: {answers: {path: rows.jsonl, targets: [overall]}}
judges:
  fine: {variant: fine, without: [task]}
  coarse: {from: fine, variant: coarse}
  usual: {from: coarse, variant: null}
models: {offline: {concurrency: 4}}
budget: {calls: 5}
"""


@pytest.fixture
def study_spec(tmp_path):
    """A folder with a specification and its data."""
    rows = sample_path().read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_an_entry_takes_anothers_settings_and_null_takes_none(study_spec):
    judges = read_spec(study_spec / "spec.yaml").judges
    assert judges["coarse"].without == ("task",)
    assert judges["coarse"].variant == "coarse"
    assert judges["usual"].variant == "fine"
    assert "variant" not in judges["usual"].said


@pytest.mark.parametrize(
    "change",
    [("name: one", "name: two"), ("calls: 5", "calls: 50"), ("concurrency: 4", "concurrency: 8")],
)
def test_title_budget_and_speed_decide_nothing(study_spec, change):
    folder = str(study_spec)
    assert spec_of(TEXT.replace(*change), folder=folder).fingerprint == (
        spec_of(TEXT, folder=folder).fingerprint
    )


@pytest.mark.parametrize(
    "change",
    [
        ("variant: coarse", "variant: vanilla"),
        ("[overall]", "[fluency]"),
        ("budget:", "seeds: [1]\nbudget:"),
        ("concurrency: 4", "model: openai/m"),
        ("coarse: {", "rough: {"),
    ],
)
def test_everything_else_changes_the_fingerprint(study_spec, change):
    folder, text = str(study_spec), TEXT.replace(*change).replace("from: coarse, ", "")
    before = TEXT.replace("from: coarse, ", "")
    assert spec_of(text, folder=folder).fingerprint != spec_of(before, folder=folder).fingerprint


def test_the_fingerprint_is_of_what_files_hold_wherever_they_are(
    study_spec, tmp_path_factory, monkeypatch
):
    first = read_spec(study_spec / "spec.yaml").fingerprint
    data = tmp_path_factory.mktemp("data")
    (study_spec / "rows.jsonl").rename(data / "rows.jsonl")
    for refused in (read_sets, lambda spec: spec.fingerprint):
        with pytest.raises(SpecError, match=r":3: data\.answers\.path: there is no file 'rows"):
            refused(read_spec(study_spec / "spec.yaml"))
    monkeypatch.setenv("JUDGESMITH_DATA", str(data))
    found = read_spec(study_spec / "spec.yaml")
    assert found.fingerprint == first
    assert len(read_sets(found)["answers"]) == 6
    with (data / "rows.jsonl").open("a") as rows:
        rows.write("\n")
    assert found.fingerprint != first


def test_the_usual_optimizers_are_part_of_the_fingerprint(study_spec):
    spec = read_spec(study_spec / "spec.yaml")
    usual = Spec.model_fields["optimizers"].get_default(call_default_factory=True)
    bare = spec.model_copy(update={"optimizers": usual})
    named = spec.model_copy(update={"optimizers": {"random": OptimizerSpec()}})
    assert bare.fingerprint != named.fingerprint


def test_data_that_cannot_be_read_are_named_with_their_line(study_spec):
    (study_spec / "rows.jsonl").write_text(
        '{"response": 1, "overall": [[]]}\n{"response": 2, "overall": {}}\n'
    )
    with pytest.raises(
        SpecError, match=r"spec\.yaml:3: data\.answers: rows\.jsonl:1: .* more: see"
    ):
        read_sets(read_spec(study_spec / "spec.yaml"))


def test_kinds_of_change_are_looked_for_in_the_data(study_spec):
    text = TEXT.replace("[overall]", "[overall], kinds: [reorderin]") + "objective: d_min\n"
    spec = spec_of(text, folder=str(study_spec))
    with pytest.raises(SpecError, match=r"data\.answers\.kinds: .*reorderin"):
        read_sets(spec)
    with pytest.raises(SpecError, match="at which no objective looks"):
        spec_of(text.replace("d_min", "q"), folder=str(study_spec))


def test_a_file_without_scores_is_no_judge_on_record(study_spec):
    text = TEXT.replace("  usual:", "  theirs: {recorded: rows.jsonl}\n  usual:")
    spec = spec_of(text, folder=str(study_spec))
    with pytest.raises(
        SpecError, match=r"judges\.theirs\.recorded: expected rows with score"
    ) as told:
        read_sets(spec)
    assert len(told.value.problems) == 1


# The specifications that come with the package: readable, and what they say they are.

PAPERS = [name for name in template_names() if name != START]


def spec_templates(name):
    return spec_of(template_text(name), file=f"{name}.yaml")


@pytest.mark.parametrize("name", template_names())
def test_every_template_is_read_without_any_data(name, monkeypatch):
    monkeypatch.delenv("JUDGESMITH_DATA", raising=False)
    cells = cells_of(spec_templates(name))
    assert len({cell.id for cell in cells}) == len(cells)


@for_each("name", PAPERS)
def test_every_template_of_a_paper_says_what_it_reproduces_and_what_it_cannot(name):
    assert "# Reproduces: " in template_text(name)
    assert "# Cannot: " in template_text(name)
    assert spec_templates(name).about


def test_the_thirteen_rows_of_ablate_are_the_cells_of_active_critic():
    found = spec_templates("active-critic")
    by_judge = {c.judge: settings_of(found, c) for c in cells_of(found) if c.data == "summeval"}
    of_paper = {"holdout": 0.75, "split_rows": True, "percent_of_max": True}
    planned = planned_rows(CompileSettings(target="mean", **of_paper))
    rows = {row.name: row.settings for row in planned if row.block == "paper"}
    assert set(by_judge) == set(rows) == set(ROWS)
    for name, settings in rows.items():
        assert by_judge[name].model_dump() == settings.model_dump(), name


def test_what_the_commented_template_holds_back_is_spelled_right():
    text = template_text()
    _, name, rest = text.partition("name: first")
    whole = OPTIONAL.sub(r"\1\2", name + rest).replace("models: [offline]  ", "models:  ")
    plain = read_yaml(whole)
    assert set(plain) == set(Spec.model_fields) - {"origin"}
    assert set(plain["data"]["answers"]) == set(DataSpec.model_fields)
    gpt_4 = {"recorded": "scores.jsonl", "name": "gpt-4-0314 rts", "scale": "1..5"}
    assert plain["judges"]["gpt-4"] == gpt_4
    with pytest.raises(SpecError) as raised:
        spec_of(whole)
    # Taken together they contradict each other, and there is no such rubric; nothing else.
    assert [one.field for one in raised.value.problems] == ["judges.fine.rubric"]


OPTIONAL = re.compile(r"^( *)# ((?:- )?[\w.-]+:(?: |$)| {2,}| *- )", re.MULTILINE)


def test_the_specification_on_the_page_is_right_and_the_counts_of_cells_too():
    page = (Path(__file__).parents[4] / "docs" / "how-to" / "experiments.md").read_text(
        encoding="utf-8"
    )
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(cells_of(spec_of(shown))) == 10
    for name in PAPERS:
        assert f"| `{name}` | {len(cells_of(spec_templates(name)))} |" in page


# The grids of the papers on small data of the same form: every cell can be made, offline.

SETS = {
    "summeval": ["coherence", "consistency", "fluency", "relevance"],
    "topical_chat": ["naturalness", "coherence", "engagingness", "groundedness", "overall"],
    "sfres": ["informativeness", "naturalness", "overall"],
    "openmeva_roc": ["overall"],
    "qags_cnndm": ["consistency"],
    "wiki_da": ["simplicity", "fluency", "meaning"],
}
RECORDED = {
    "summeval_likert_llms": [
        "gpt-4-0314 rts",
        "gpt-3.5-turbo-0301 rts",
        "llama-2-70b-chat-hf rts",
        "llama-2-7b-chat-hf rts",
    ],
    "topical_chat_chatgpt_20samples": ["gpt-3.5-turbo analyze_rate"],
    "unieval": ["UniEval"],
}
PLACES = ["harbour", "mill", "tower", "garden", "bridge", "market", "station", "library"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder with sets of forty texts, four to a source, and scores of recorded judges."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "recorded").mkdir()
    for name, criteria in SETS.items():
        write(folder / f"{name}.jsonl.gz", [row for n in range(10) for row in rated(n, criteria)])
    write(folder / "bump.jsonl.gz", [row for n in range(10) for row in changed(n)])
    keys = [(row["source_id"], row["system_id"]) for n in range(10) for row in rated(n, [])]
    for name, judges in RECORDED.items():
        said = [
            {"source_id": source, "system_id": system, "criterion": "overall", "judge": judge}
            for judge in judges
            for source, system in keys
        ]
        write(folder / "recorded" / f"{name}.jsonl.gz", [row | {"scores": [3]} for row in said])
    return folder


def write(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def rated(n, criteria):
    place, other = PLACES[n % 8], PLACES[(n + 3) % 8]
    source = f"The old {place} of town {n} was closed in May. Nobody was hurt. The {other} is open."
    texts = [
        f"The {place} of town {n} was closed in May, and nobody was hurt.",
        f"The {place} was closed.",
        f"Ten people were hurt at the {other} in 19{n}9, said Mr. Brown of Paris.",
        f"the the {other}  clossed ,, and and",
    ]
    for system, text in enumerate(texts):
        human = {one: [5 - system, 4 - system + (n + k) % 2] for k, one in enumerate(criteria)}
        yield {
            "source_id": str(n),
            "system_id": str(system),
            "source": source,
            "response": text,
            "human": human,
            "scale": {one: [1, 5] for one in criteria},
        }


def changed(n):
    first, *_ = rated(n, [])
    usual = {"source_id": str(n), "source": first["source"], "human": {}}
    yield usual | {"system_id": "a", "response": first["response"], "level": "none"}
    worse = f"Ten people were hurt in town {n}."
    yield usual | {"system_id": "b", "response": worse, "level": "x", "perturbation": "invented"}


@dataclass(frozen=True)
class Study:
    """A grid, its sets, and the settings of one cell per judge, optimizer and set."""

    sets: dict
    settings: dict


@pytest.fixture(scope="module", params=PAPERS)
def study_templates_offline(request, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGESMITH_DATA", str(small))
        spec = spec_of(template_text(request.param))
        sets = read_sets(spec)
    compiled = [cell for cell in cells_of(spec) if spec.judges[cell.judge].kind == "compiled"]
    found = {cell: settings_of(spec, cell) for cell in compiled}
    for cell, one in found.items():
        if one.minds_versions:
            found[cell] = settings_without_labels(sets[cell.data], one)
    return Study(sets=sets, settings=found)


def test_cells_can_be_estimated(study_templates_offline):
    lm = model("offline", ledger=None)
    for cell, settings in list(study_templates_offline.settings.items())[::4]:
        assert estimate_run(study_templates_offline.sets[cell.data], settings, lm).calls > 0, (
            cell.id
        )
