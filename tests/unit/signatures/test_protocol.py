"""A protocol is a whole judge as one value: read, edited, compared and put back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures import ActiveCriticConfig, Aggregation, Demonstration, Rubric

LEARNED = {
    "kind": "linear",
    "terms": ("overall", "criterion:fluency", "lexical:copying"),
    "centers": (50, 60, 0.5),
    "spreads": (20, 10, 0.1),
    "weights": (1, 0.5, -0.25),
    "intercept": 3,
    "scale": "1..5",
}
finite = st.floats(-1e6, 1e6)


class TestAggregation:
    @given(
        st.lists(st.tuples(finite, finite, st.floats(0.1, 1e3), finite), min_size=1, max_size=3),
        finite,
    )
    def test_a_linear_one_is_the_sum_of_standardised_terms(self, rows, intercept):
        values, centers, spreads, weights = zip(*rows, strict=True)
        aggregation = Aggregation(
            kind="linear",
            terms=[f"criterion:{place}" for place in range(len(rows))],
            centers=centers,
            spreads=spreads,
            weights=weights,
            intercept=intercept,
            scale=(-1e12, 1e12),
        )
        total = intercept
        for value, center, spread, weight in rows:
            total += weight * (value - center) / spread
        limited = max(-1e12, min(1e12, total))
        assert aggregation.apply(values) == pytest.approx(limited, rel=1e-9, abs=1e-6)

    def test_the_score_stays_on_the_scale(self):
        aggregation = Aggregation(**LEARNED)
        assert aggregation.apply([1e9, 60, 0.5]) == 5
        assert aggregation.apply([-1e9, 60, 0.5]) == 1

    def test_one_value_per_term_is_needed(self):
        with pytest.raises(ValueError, match="argument"):
            Aggregation(**LEARNED).apply([50, 60])

    def test_it_comes_back_from_json(self):
        aggregation = Aggregation(**LEARNED)
        assert Aggregation.model_validate_json(aggregation.model_dump_json()) == aggregation

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"weights": (1,)}, "must be of one length; got 3, 3, 3, 1"),
            ({"kind": "overall"}, "a linear aggregation needs terms, and others cannot"),
            ({"spreads": (20, 0, 1)}, "spreads must be above zero"),
            ({"spreads": (20, math.nan, 1)}, "finite"),
            ({"centers": (20, math.inf, 1)}, "finite"),
            ({"intercept": math.nan}, "finite"),
            ({"terms": ("overall", "overall", "lexical:a")}, "terms must not repeat"),
            ({"terms": ("overall", "fluency", "lexical:a")}, "criterion:NAME or lexical:NAME"),
            ({"terms": ("overall", "criterion:", "lexical:a")}, "criterion:NAME or lexical:NAME"),
            ({"kind": "median"}, "Input should be 'overall', 'mean' or 'linear'"),
            ({"bias": 1}, "Extra inputs"),
        ],
    )
    def test_numbers_that_do_not_fit_are_refused(self, change, said):
        with pytest.raises(ValueError, match=said):
            Aggregation(**{**LEARNED, **change})

    def test_a_linear_one_needs_terms(self):
        with pytest.raises(ValueError, match="a linear aggregation needs terms"):
            Aggregation(kind="linear")

    def test_the_criteria_among_the_terms_are_named(self):
        aggregation = Aggregation(**{**LEARNED, "terms": ("overall", "criterion:a", "criterion:b")})
        assert aggregation.criteria == ("a", "b")


class TestProtocol:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"samples": 0}, "samples"),
            ({"temperature": -0.1}, "temperature"),
            ({"temperature": math.inf}, "temperature"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"variant": "finer"}, "variant"),
            ({"variants": "fine"}, "variants"),
            ({"variant": "vanilla", "aggregation": {"kind": "mean"}}, "asks for none"),
            ({"rubric": Rubric(task="t"), "aggregation": {"kind": "mean"}}, "asks for none"),
            (
                {"aggregation": {**LEARNED, "terms": ("overall", "criterion:joy", "lexical:a")}},
                "weighs joy; this judge asks for relevance, ",
            ),
            ({"variant": "vanilla", "aggregation": LEARNED}, "weighs fluency; .* no criteria"),
            ({"variant": "coarse", "aggregation": {"kind": "mean"}}, "asks for none"),
            ({"variant": "coarse", "aggregation": LEARNED}, "weighs fluency; .* no criteria"),
            (
                {"variant": "coarse", "overall": "mean"},
                "overall=mean needs the fine variant; the coarse variant does not score criteria",
            ),
            (
                {"variant": "vanilla", "criteria_calls": "separate"},
                "criteria_calls=separate needs the fine variant; the vanilla",
            ),
            ({"explain": "later"}, "Input should be 'before', 'after' or 'none'"),
            ({"criteria_calls": "each"}, "Input should be 'joint' or 'separate'"),
            ({"overall": "median"}, "Input should be 'asked' or 'mean'"),
        ],
    )
    def test_a_judge_that_cannot_be_is_refused(self, fields, said):
        with pytest.raises(ValueError, match=said):
            ActiveCriticConfig(**fields)

    def test_the_fingerprint_changes_with_every_part(self):
        shown = Demonstration(inputs={"source": "s", "response": "r"}, outputs={"score": 1})
        changed = [
            ActiveCriticConfig(),
            ActiveCriticConfig(variant="vanilla"),
            ActiveCriticConfig(variant="coarse"),
            ActiveCriticConfig(criteria_calls="separate"),
            ActiveCriticConfig(overall="mean"),
            ActiveCriticConfig(explain="after"),
            ActiveCriticConfig(explain="none"),
            ActiveCriticConfig(rubric=Rubric(task="t", criteria={"a": "b"})),
            ActiveCriticConfig(rubric=Rubric(criteria={"a": "b"})),
            ActiveCriticConfig(instructions={"overall": "Score it."}),
            ActiveCriticConfig(demonstrations={"overall": (shown,)}),
            ActiveCriticConfig(demonstrations={"overall": (shown, shown)}),
            ActiveCriticConfig(demonstrations={"assess": (shown,)}),
            ActiveCriticConfig(samples=2),
            ActiveCriticConfig(temperature=0.5),
            ActiveCriticConfig(max_tokens=64),
            ActiveCriticConfig(aggregation=Aggregation(kind="mean")),
            ActiveCriticConfig(aggregation=Aggregation(**LEARNED)),
        ]
        assert len({one.fingerprint for one in changed}) == len(changed)

    def test_the_order_in_which_parts_are_given_makes_no_difference(self):
        one = ActiveCriticConfig(instructions={"assess": "A", "overall": "B"})
        other = ActiveCriticConfig(instructions={"overall": "B", "assess": "A"})
        assert one.fingerprint == other.fingerprint
        assert one == other

    def test_it_comes_back_from_json(self):
        shown = Demonstration(
            inputs={"source": "s", "context": None, "response": "r"},
            outputs={"assessments": [{"criterion": "a", "explanation": "b", "score": 85}]},
            kind="bootstrapped",
        )
        protocol = ActiveCriticConfig(
            demonstrations={"assess": (shown,)},
            aggregation=LEARNED,
            criteria_calls="separate",
            overall="mean",
            explain="after",
        )
        again = ActiveCriticConfig.model_validate_json(protocol.model_dump_json())
        assert again == protocol
        assert again.fingerprint == protocol.fingerprint

    def test_records_in_demonstrations_keep_the_order_of_their_keys(self):
        record = {"criterion": "a", "score": 85, "explanation": "b"}
        shown = Demonstration(inputs={}, outputs={"assessments": [record]})
        protocol = ActiveCriticConfig(demonstrations={"assess": (shown,)}, explain="after")
        again = ActiveCriticConfig.model_validate_json(protocol.model_dump_json())
        (found,) = again.demonstrations["assess"][0].outputs["assessments"]
        assert list(found) == ["criterion", "score", "explanation"]

    def test_lone_surrogates_in_texts_have_a_fingerprint_too(self):
        shown = Demonstration(inputs={"source": "\ud800", "response": "r"}, outputs={"score": 1})
        assert len(ActiveCriticConfig(demonstrations={"overall": (shown,)}).fingerprint) == 12


def test_only_learned_weights_answer_on_another_scale():
    with pytest.raises(ValueError, match=r"overall is on 0\.\.100; only a linear one has another"):
        Aggregation(scale="1..5")
