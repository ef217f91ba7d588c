"""What a tracking server is told: within its limits, whatever people write, and no keys."""

import re

import pytest

from judgesmith.experiments.specs import Spec, cells_of
from judgesmith.experiments.tracking import sending as telling

SPEC = {
    "name": "told",
    "data": {"answers": {"path": "sample", "targets": ["overall"]}},
    "judges": {"plain": {"judge": "direct"}},
    "optimizers": {"none": {}},
}


def spec_with(**changes):
    return Spec.model_validate({**SPEC, **changes})


def test_params_stay_within_the_limits_of_the_server_whatever_is_said():
    hostile = "\u202e<script>\x00" + "é😀" * 400
    spec = spec_with(
        judges={"x \u2028 <b>": {"choose": {"evil \u202e key/ü": hostile}}},
        models={"theirs": {"model": "openai/x", "api_base": "http://me:hunter22@127.0.0.1:1/v1"}},
    )
    params = telling.cell_params(spec, cells_of(spec)[0])
    assert all(re.fullmatch(r"[\w./ -]{1,250}", name, re.ASCII) for name in params)
    assert all(
        len(text) <= telling.LONGEST_PARAM and text.isprintable() for text in params.values()
    )
    assert "hunter22" not in str(params)
    assert "127.0.0.1" not in str(params)


def test_what_is_undefined_or_unknown_has_no_metric():
    undefined = {"value": None, "low": None, "high": None, "n": 3, "n_groups": 2}
    defined = {**undefined, "value": 0.5, "low": 0.1, "high": float("nan")}
    heldout = {level: {"q": undefined} for level in ("system", "sample")}
    result = {
        "agreement": {"heldout": heldout | {"dataset": {"q": defined}}, "gain": None},
        "rows": {"heldout": 0, "unscored": 0},
        "per_item": {"calls": None, "usd": None},
        "usage": {"calls": 4, "usd": 0.25},
    }
    assert telling.cell_metrics(result) == {
        "dataset/q": 0.5,
        "dataset/q_low": 0.1,
        "dataset/q_n": 3.0,
        "dataset/q_n_groups": 2.0,
        "rows/heldout": 0.0,
        "rows/unscored": 0.0,
        "usage/calls": 4.0,
        "usage/usd": 0.25,
    }


def test_a_cell_that_failed_before_rows_were_rated_is_of_no_level():
    tags = telling.result_tags({"agreement": {"heldout": None}, "judge": "a", "target": "b"})
    assert (tags["judgesmith.level"], tags["judgesmith.n"]) == ("none", "0")


def test_keys_in_what_people_write_about_an_experiment_are_taken_out():
    spec = spec_with(about="asked with sk-abc123def456ghi\nand " + "more " * 3000)
    note = telling.run_tags(spec)["mlflow.note.content"]
    assert note.startswith("asked with [key] and more")
    assert len(note) == telling.LONGEST_TAG


@pytest.mark.parametrize("changed", ["name", "bytes"])
def test_a_digest_changes_with_name_and_bytes(tmp_path, changed):
    first, second = tmp_path / "a", tmp_path / ("b" if changed == "name" else "a")
    first.write_bytes(b"1")
    before = telling.digest_of(first)
    second.write_bytes(b"1" if changed == "name" else b"2")
    assert telling.digest_of(second) != before
