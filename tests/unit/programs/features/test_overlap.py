import pytest

from judgesmith.programs.features.texts import Text, fragments, overlap_features, unsupported

SOURCE = Text("Ann Lee won the cup in Rome on Monday. Bob came second after a long race.")


def test_a_copy_is_all_known_and_one_run():
    copy = Text("Ann Lee won the cup in Rome on Monday.")
    found = overlap_features(copy, SOURCE)
    assert fragments(copy, SOURCE).lengths == (9,)
    assert found["known_words"] == found["coverage"] == 1.0
    assert found["new_bigrams"] == found["recombined"] == 0.0


def test_words_moved_together_are_recombined_not_new_content():
    found = overlap_features(Text("Bob won the cup."), SOURCE)
    assert found["known_words"] == 1.0
    assert found["recombined"] == found["new_bigrams"] == pytest.approx(1 / 3)


def test_foreign_words_are_new_and_nothing_is_recombined():
    found = overlap_features(Text("Completely different phrases here"), SOURCE)
    assert found["known_words"] == found["recombined"] == found["density"] == 0.0
    assert found["new_bigrams"] == 1.0


def test_density_is_the_mean_squared_run():
    response = Text("Ann Lee won the race")
    found = overlap_features(response, SOURCE)
    assert fragments(response, SOURCE).lengths == (4,)
    assert found["density"] == pytest.approx(1.4350845)  # log(1 + 16 / 5)


def test_lead_and_position_tell_early_from_late():
    early = overlap_features(Text("Ann Lee won the cup"), SOURCE)
    late = overlap_features(Text("after a long race"), SOURCE)
    assert early["position"] < late["position"]


def test_names_and_numbers_found_in_the_context_are_supported():
    response = Text("So Carl met Ann and Dora at 7 or 8.")
    names, numbers = unsupported(response, SOURCE, Text("Carl came at 7."))
    assert (names, numbers) == (["Dora"], ["8"])
