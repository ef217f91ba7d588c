"""Probabilities of answers, against numbers worked out by hand."""

import math
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.programs.judging.logprobs import AnswerProbabilities, answer_probabilities
from judgesmith.programs.lm import TokenLogprob

VERDICTS = ("Better", "Worse", "Similar")
PERCENTS = tuple(map(str, range(101)))
TEN = tuple(map(str, range(1, 11)))


def listed(chances):
    """Return the first of these tokens as written, with the whole list."""
    ranked = sorted(chances.items(), key=lambda pair: -pair[1])
    written = next(iter(chances))
    return TokenLogprob(written, log(chances[written]), tuple((t, log(p)) for t, p in ranked))


def found(tokens, answers, start=0):
    return answer_probabilities(tokens, start, answers)


def shares(result):
    """Return what is above zero, as it was before it was made to sum to 1."""
    assert result.mode == "probabilities"
    return {a: pytest.approx(p * result.mass) for a, p in result.values.items() if p}


class TestOneToken:
    def test_each_answer_has_the_share_that_its_token_has_of_those_listed(self):
        result = found(
            [listed({"Better": 0.5, "Worse": 0.2, "Similar": 0.1, "The": 0.1})], VERDICTS
        )
        assert shares(result) == {"Better": 0.5, "Worse": 0.2, "Similar": 0.1}
        assert list(result.values) == list(VERDICTS)
        assert math.fsum(result.values.values()) == pytest.approx(1)
        assert result.mass == pytest.approx(0.8)

    def test_case_blanks_quotes_and_markdown_make_no_difference(self):
        spelled = {"Better": 0.3, " better": 0.1, '"Better': 0.1, "**BETTER": 0.1, "\n“Worse": 0.1}
        assert shares(found([listed(spelled)], VERDICTS)) == {"Better": 0.6, "Worse": 0.1}

    def test_what_ends_an_answer_may_stand_in_its_token(self):
        spelled = {"Better.": 0.3, 'Worse"': 0.1, "Similar\n\n": 0.2, "Betterment": 0.2}
        assert shares(found([listed(spelled)], VERDICTS)) == {
            "Better": 0.3,
            "Worse": 0.1,
            "Similar": 0.2,
        }

    def test_wide_digits_and_other_forms_of_a_letter_are_the_same(self):
        scale = ("1", "2", "3")
        assert shares(found([listed({"３": 0.4, "3": 0.3, "２分": 0.2})], scale)) == {
            "3": 0.7,
            "2": 0.2,
        }
        words = ("café", "thé")
        assert shares(found([listed({"café": 0.6, "the\u0301": 0.3})], words)) == {
            "café": 0.6,
            "thé": 0.3,
        }
        assert shares(found([listed({"好": 0.6, "坏的": 0.3, "坏": 0.1})], ("好", "坏"))) == {
            "好": 0.6,
            "坏": 0.1,
        }

    def test_ties_stay_ties(self):
        result = found([listed({"No": 0.4, "Yes": 0.4})], ("Yes", "No"))
        assert result.values == {"Yes": pytest.approx(0.5), "No": pytest.approx(0.5)}

    def test_an_answer_that_is_not_listed_has_none(self):
        result = found([listed({"Better": 0.9})], VERDICTS)
        assert result.values == {"Better": 1, "Worse": 0, "Similar": 0}
        assert result.mass == pytest.approx(0.9)

    def test_the_token_that_was_written_counts_once_whether_or_not_it_is_listed(self):
        alone = TokenLogprob("Yes", log(0.6), (("No", log(0.3)),))
        both = TokenLogprob("Yes", log(0.6), (("Yes", log(0.6)), ("No", log(0.3))))
        for one in (alone, both):
            assert shares(found([one], ("Yes", "No"))) == {"Yes": 0.6, "No": 0.3}

    def test_two_tokens_that_are_spelled_alike_count_both(self):
        twice = TokenLogprob("Yes", log(0.5), (("Yes", log(0.5)), ("Yes", log(0.2))))
        assert found([twice], ("Yes", "No")).mass == pytest.approx(0.7)


class TestSeveralTokens:
    def test_a_beginning_that_only_one_answer_has_counts_for_it(self):
        result = found([listed({"Better": 0.6, "Wor": 0.2, "Sim": 0.1})], VERDICTS)
        assert shares(result) == {"Better": 0.6, "Worse": 0.2, "Similar": 0.1}

    def test_what_was_written_is_followed(self):
        tokens = [listed({"Bet": 0.8, "Wor": 0.2}), listed({"ter": 0.5, "ting": 0.5})]
        assert shares(found(tokens, VERDICTS)) == {"Better": 0.4, "Worse": 0.2}

    def test_answers_with_a_shared_beginning_part_where_it_ends(self):
        tokens = [listed({"very": 0.5, "poor": 0.3}), listed({" good": 0.75, " poor": 0.25})]
        answers = ("very poor", "poor", "good", "very good")
        assert shares(found(tokens, answers)) == {
            "very good": 0.375,
            "very poor": 0.125,
            "poor": 0.3,
        }

    def test_a_beginning_of_several_answers_that_was_not_written_counts_for_none(self):
        tokens = [listed({"poor": 0.6, "very": 0.4})]
        result = found(tokens, ("very poor", "poor", "very good"))
        assert shares(result) == {"poor": 0.6}

    def test_quotes_may_be_a_token_of_their_own(self):
        tokens = [listed({'"': 0.5, "Yes": 0.25, "No": 0.25}), listed({"Yes": 0.8, "No": 0.2})]
        result = found(tokens, ("Yes", "No"))
        assert shares(result) == {"Yes": 0.25 + 0.4, "No": 0.25 + 0.1}

    def test_the_answer_may_begin_inside_a_token(self):
        tokens = [listed({"score: ": 1.0}), listed({': "Yes': 0.5, ': "No': 0.3, "Yes": 0.1})]
        result = found(tokens, ("Yes", "No"), start=len('score: : "'))
        assert shares(result) == {"Yes": 0.6, "No": 0.3}


class TestNumbers:
    def test_where_the_model_writes_whole_numbers_a_short_one_is_whole(self):
        tokens = [listed({"85": 0.5, "80": 0.2, "8": 0.1, "100": 0.1, "10": 0.05})]
        assert shares(found(tokens, PERCENTS)) == {
            "85": 0.5,
            "80": 0.2,
            "8": 0.1,
            "100": 0.1,
            "10": 0.05,
        }

    def test_where_it_writes_single_digits_only_what_was_written_is_followed(self):
        tokens = [listed({"8": 0.8, "7": 0.2}), listed({"5": 0.5, "0": 0.25, "\n": 0.25})]
        result = found(tokens, PERCENTS)
        assert shares(result) == {"85": 0.4, "80": 0.2, "8": 0.2}
        assert result.mass == pytest.approx(0.8)

    def test_one_is_told_from_ten_by_what_follows(self):
        ten = [listed({"1": 0.6, "9": 0.4}), listed({"0": 0.9, "\n": 0.1})]
        assert shares(found(ten, TEN)) == {"10": 0.54, "1": 0.06, "9": 0.4}
        one = [listed({"1": 0.6, "10": 0.4}), listed({"\n\n": 0.9, "/": 0.1})]
        assert shares(found(one, TEN)) == {"1": 0.6, "10": 0.4}

    def test_a_hundred_in_three_tokens(self):
        digits = [listed({"1": 1.0}), listed({"0": 0.9, "5": 0.1}), listed({"0": 0.5, "\n": 0.5})]
        assert shares(found(digits, PERCENTS)) == {"100": 0.45, "10": 0.45, "15": 0.1}

    def test_where_the_model_ends_the_number_ends(self):
        assert shares(found([listed({"1": 0.6, "2": 0.4})], TEN)) == {"1": 0.6, "2": 0.4}
        assert shares(found([listed({"1": 0.6, "2": 0.4}), listed({".": 1.0})], TEN)) == {
            "1": 0.6,
            "2": 0.4,
        }

    def test_a_decimal_is_none_of_the_whole_numbers(self):
        tokens = [listed({"4.5": 0.6, "4": 0.3, "5": 0.1})]
        result = found(tokens, ("1", "2", "3", "4", "5"))
        assert result.mode == "none"
        assert result.mass == pytest.approx(0.4)

    def test_negative_numbers_keep_their_sign(self):
        result = found([listed({"-1": 0.5, "1": 0.3, "-2": 0.1})], ("-2", "-1", "0", "1", "2"))
        assert shares(result) == {"-1": 0.5, "1": 0.3, "-2": 0.1}


class TestNoProbabilities:
    def test_when_less_than_half_is_listed(self):
        result = found([listed({"Maybe": 0.55, "Yes": 0.3, "No": 0.1})], ("Yes", "No"))
        assert (result.mode, result.values) == ("none", {})
        assert result.mass == pytest.approx(0.4)
        assert result.reason == (
            "the answers that are listed hold 0.40 of the probability, less than 0.5"
        )

    def test_when_just_half_is_listed_there_are(self):
        assert found([TokenLogprob("Yes", log(0.5), (("No", -99.0),))], ("Yes", "No")).mode == (
            "probabilities"
        )

    def test_when_the_tokens_end_before_the_answer(self):
        result = found([listed({"score: ": 1.0})], VERDICTS, start=7)
        assert result.reason == "the log-probabilities end before the answer"

    def test_when_no_alternatives_were_listed(self):
        result = found([TokenLogprob("Yes", -0.1)], ("Yes", "No"))
        assert result.reason == "there are log-probabilities, but of no other answers"

    def test_when_the_lists_end_inside_the_answer(self):
        result = found([listed({"Bet": 0.9, "Wor": 0.1})], VERDICTS)
        assert (result.mode, result.mass) == ("none", pytest.approx(0.1))

    def test_when_they_are_no_numbers(self):
        odd = TokenLogprob("Yes", math.nan, (("No", -1.0),))
        assert found([odd], ("Yes", "No")).reason == "the log-probabilities are no numbers"

    def test_a_server_may_say_minus_infinity_or_more_than_certain(self):
        odd = TokenLogprob("Yes", 0.5, (("No", -math.inf), ("no", -9999.0)))
        assert found([odd], ("Yes", "No")).values == {"Yes": 1.0, "No": 0.0}


@pytest.mark.parametrize("answers", [(), ("Yes", " yes"), ("",), ("**", "*")])
def test_answers_that_cannot_be_told_apart_are_refused(answers):
    with pytest.raises(ValueError, match=r"expected at least one answer|differ by more than"):
        found([listed({"Yes": 1.0})], answers)


def test_a_record_without_probabilities_says_why():
    assert AnswerProbabilities.none("no server").reason == "no server"


PIECES = st.text(alphabet="01258.Yesno \n\"'*é８", max_size=4)
CHANCES = st.floats(allow_nan=True, allow_infinity=True)
TOKENS = st.lists(
    st.builds(TokenLogprob, PIECES, CHANCES, st.lists(st.tuples(PIECES, CHANCES)).map(tuple)),
    max_size=5,
)


@pytest.mark.no_cover
@settings(max_examples=40)
@given(TOKENS, st.integers(min_value=0, max_value=12), st.sampled_from([PERCENTS, ("Yes", "No")]))
def test_whatever_a_server_lists_the_shares_sum_to_one_or_there_are_none(tokens, start, answers):
    result = found(tokens, answers, start)
    assert 0 <= result.mass <= 1
    if result.mode == "none":
        assert result.reason
        assert result.values == {}
    else:
        assert result.mass >= 0.5
        assert math.fsum(result.values.values()) == pytest.approx(1)
        assert min(result.values.values()) >= 0
