"""Settings of a benchmark: what cannot be is refused, and every one tells runs apart."""

import hashlib
import json
from importlib.metadata import version

import pytest

from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.signatures.perturbation import SubAspect

GLOBAL = BenchmarkSettings(perspective="global")
MODELS = {"injector": "offline"}


@pytest.mark.parametrize(
    "given",
    [
        {"perspective": "sideways"},
        {"criteria": ()},
        {"n_sources": 0},
        {"per_rating": 0},
        {"spare": -0.1},
        {"pilot": 0},
        {"pilot": 1.1},
        {"stepps": 3},
    ],
)
def test_what_cannot_be_is_refused(given):
    with pytest.raises(InputError):
        BenchmarkSettings(**{"perspective": "local", **given})


def test_a_third_more_than_wanted_is_made():
    made = [GLOBAL.model_copy(update={"per_rating": n}).n_made for n in (1, 2, 3, 6, 9)]
    assert made == [2, 3, 4, 8, 12]
    assert GLOBAL.model_copy(update={"spare": 0.0}).n_made == 3


def test_a_global_benchmark_has_texts_written_unless_said_otherwise():
    local = BenchmarkSettings(perspective="local")
    assert (GLOBAL.n_written, local.n_written) == (20, 0)
    given = [one.model_copy(update={"n_candidates": 3}) for one in (GLOBAL, local)]
    assert [one.n_written for one in given] == [3, 3]


def test_the_pilot_has_a_tenth_of_the_sources_and_three_of_a_few():
    assert [GLOBAL.n_pilot(n) for n in (1, 2, 10, 60, 100)] == [1, 2, 3, 6, 10]


def test_fingerprints_change_with_data_models_sub_aspects_rubric_and_every_setting():
    side = SubAspect(criterion="c", name="n")
    found = {
        GLOBAL.fingerprint("data", MODELS),
        GLOBAL.fingerprint("other", MODELS),
        GLOBAL.fingerprint("data", {"injector": "openai/m"}),
        GLOBAL.fingerprint("data", MODELS, [side]),
        GLOBAL.fingerprint("data", MODELS, rubric="c: Is it?"),
        *(
            GLOBAL.model_copy(update=one).fingerprint("data", MODELS)
            for one in (
                {"perspective": "local"},
                {"criteria": ("c",)},
                {"n_sources": 3},
                {"n_references": 2},
                {"n_candidates": 2},
                {"steps": 3},
                {"per_rating": 2},
                {"spare": 0.5},
                {"n_anchors": 3},
                {"n_samples": 3},
                {"pilot": 0.2},
                {"keep_inverted": True},
                {"n_spot_checks": 7},
                {"seed": 1},
            )
        ),
    }
    assert len(found) == 19
    assert GLOBAL.fingerprint("data", MODELS) == GLOBAL.fingerprint("data", dict(MODELS))


def test_a_fingerprint_holds_what_is_kept_only_where_that_is_said():
    stated = {"perspective": "global", **GLOBAL.model_dump(exclude={"perspective"})}
    assert "keep_inverted" in stated
    whole = {name: value for name, value in stated.items() if name != "keep_inverted"}
    said = [whole, "data", MODELS, None, "", version("judgesmith")]
    before = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]
    assert GLOBAL.fingerprint("data", MODELS) == before
