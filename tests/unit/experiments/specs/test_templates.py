"""The specifications that come with the package: readable, and what they say they are."""

import re
from pathlib import Path

import pytest

from judgesmith.experiments import CompileSettings
from judgesmith.experiments.ablate.rows import ROWS, planned_rows
from judgesmith.experiments.specs import SpecError, cells_of, read_sets, settings_of, spec_of
from judgesmith.experiments.specs.parts import DataSpec
from judgesmith.experiments.specs.spec import Spec
from judgesmith.experiments.specs.templates import START, template_names, template_text
from judgesmith.signatures.plain_data import read_yaml

PAPERS = [name for name in template_names() if name != START]


def spec(name):
    return spec_of(template_text(name), file=f"{name}.yaml")


@pytest.mark.parametrize("name", template_names())
def test_every_template_is_read_without_any_data(name, monkeypatch):
    monkeypatch.delenv("JUDGESMITH_DATA", raising=False)
    cells = cells_of(spec(name))
    assert len({cell.id for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", PAPERS)
def test_every_template_of_a_paper_says_what_it_reproduces_and_what_it_cannot(name):
    assert "# Reproduces: " in template_text(name)
    assert "# Cannot: " in template_text(name)
    assert spec(name).about


def test_the_thirteen_rows_of_ablate_are_the_cells_of_active_critic():
    found = spec("active-critic")
    by_judge = {c.judge: settings_of(found, c) for c in cells_of(found) if c.data == "summeval"}
    planned = planned_rows(CompileSettings(target="mean", holdout=0.75))
    rows = {row.name: row.settings for row in planned if row.block == "paper"}
    assert set(by_judge) == set(rows) == set(ROWS)
    for name, settings in rows.items():
        assert by_judge[name].model_dump() == settings.model_dump(), name


def test_every_set_of_active_critic_has_the_demonstrations_of_the_paper():
    found = spec("active-critic")
    shown = {
        (cell.data, settings_of(found, cell).n_demonstrations)
        for cell in cells_of(found)
        if cell.judge == "fine"
    }
    assert shown == {("summeval", 3), ("topical-chat", 3), ("sfres", 8), ("openmeva", 8)}


def test_panels_are_of_two_to_five_annotators():
    found = spec("openlgauge")
    cells = {cell.id: cell for cell in cells_of(found)}
    sizes = {c.judge: c.members for c in cells.values() if c.members and c.data == "qags"}
    assert [len(members) for members in sizes.values()] == [2, 3, 4, 5]
    assert all(member in cells for members in sizes.values() for member in members)


def test_exemplars_are_two_three_five_and_nine():
    found = spec("exemplars")
    levels = {
        settings_of(found, cell).protocol.levels
        for cell in cells_of(found)
        if found.judges[cell.judge].judge == "exemplar"
    }
    assert levels == {2, 3, 5, 9}


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
        assert f"| `{name}` | {len(cells_of(spec(name)))} |" in page


@pytest.mark.data
@pytest.mark.no_cover
@pytest.mark.parametrize("name", PAPERS)
def test_every_template_of_a_paper_fits_the_data(name, data_folder, monkeypatch):
    monkeypatch.setenv("JUDGESMITH_DATA", str(data_folder))
    found = spec(name)
    assert set(read_sets(found)) == set(found.data)
    assert len(found.fingerprint) == 12
