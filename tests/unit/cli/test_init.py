"""judgesmith init: a specification that can be run as it is written."""

import pytest

from judgesmith.experiments.specs import read_sets, read_spec
from judgesmith.experiments.specs.templates import template_names, template_text


def test_a_specification_is_written_that_can_be_read(run, folder):
    done = run("init", "spec.yaml")
    assert done.status == 0
    assert "spec.yaml: first experiment, 16 cells on sample" in done.out
    assert "judgesmith experiment spec.yaml -o RUN" in done.out
    assert (folder / "spec.yaml").read_text(encoding="utf-8") == template_text()
    assert set(read_sets(read_spec("spec.yaml"))) == {"answers"}


@pytest.mark.parametrize("name", template_names())
def test_every_template_can_be_written(run, name):
    done = run("init", "spec.yaml", "--template", name, "--json")
    assert done.status == 0
    assert done.json["template"] == name
    assert done.json["cells"] > 8
    assert read_spec("spec.yaml").name == done.json["name"]


def test_somebodys_edits_stay_unless_told_otherwise(run, folder):
    (folder / "spec.yaml").write_text("mine")
    done = run("init", "spec.yaml")
    assert done.status == 2
    assert "there already" in done.err
    assert (folder / "spec.yaml").read_text() == "mine"
    assert run("init", "spec.yaml", "--force").status == 0
    assert (folder / "spec.yaml").read_text() != "mine"


def test_help_names_every_template(run):
    shown = " ".join(run("init", "--help").out.split())
    assert all(name in shown for name in template_names())
