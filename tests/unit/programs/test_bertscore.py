"""BERTScore: greedy matching of embedded tokens, and the judge that uses it."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs import ReferenceJudge, SavedJudge, SavedJudgeError, load_judge, score_batch
from judgesmith.programs.families import reference as known
from judgesmith.programs.families.reference import PLACES, ReferenceConfig, greedy_matching
from judgesmith.signatures import RatedItem

# BERTScore by weights on this machine: refusals without its libraries, numbers with them.

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "bridge",
    "opened",
    "on",
    "monday",
    "a",
    "cat",
    "##s",
    ".",
    ",",
    "[",
    "]",
    "sep",
]
ITEM = RatedItem(
    response="the bridge opened", references=("on monday the bridge opened .", "a cat", "...")
)


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.delenv(PLACES, raising=False)
    monkeypatch.setattr(known, "_found", {})


@pytest.fixture
def no_model(tmp_path):
    """Return a folder that looks like weights from outside."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def saved(judge):
    return SavedJudge(
        protocol=judge if isinstance(judge, ReferenceConfig) else judge.protocol,
        questions={},
        model="offline",
        target="overall",
        human_scale="1..5",
    )


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_a_missing_library_is_told_by_its_extra(missing, no_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    monkeypatch.setitem(sys.modules, missing, None)
    said = rf"BERTScore needs {missing}: pip install 'judgesmith\[bertscore\]'"
    with pytest.raises(ImportError, match=said):
        ReferenceJudge(metric="bertscore", weights=str(no_model))


@pytest.mark.usefixtures("nothing_known")
def test_a_name_on_a_hub_is_refused_before_any_library_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="there is no folder roberta-large"):
        ReferenceJudge(metric="bertscore", weights="roberta-large")


@pytest.mark.usefixtures("nothing_known")
def test_it_is_not_searched_but_can_be_picked_by_name(no_model, monkeypatch):
    monkeypatch.setenv(PLACES, str(no_model))
    (metric, *_) = ReferenceJudge().space().choices  # loads libraries that look for torch
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "bertscore" not in [one.id for one in metric.options]
    with pytest.raises(ImportError, match="BERTScore needs torch"):
        ReferenceJudge().with_choices({"metric": "bertscore"})
    monkeypatch.delenv(PLACES)
    with pytest.raises(ValueError, match="nothing is downloaded: give weights= or let"):
        ReferenceJudge().with_choices({"metric": "bertscore"})


@pytest.mark.usefixtures("nothing_known")
def test_a_saved_judge_says_which_weights_it_needs(no_model, tmp_path):
    protocol = ReferenceConfig(metric="bertscore", weights=str(no_model))
    saved(protocol).save(tmp_path / "judge")
    written = (tmp_path / "judge" / "judge.json").read_text()
    assert (protocol.weights in written, str(tmp_path) in written) == (True, False)
    known._found.clear()
    with pytest.raises(SavedJudgeError, match=f"the weights {protocol.weights[:19]}… are needed"):
        load_judge(tmp_path / "judge")
    with pytest.raises(ValueError, match=r"let it name the folder that holds them"):
        score_batch(SavedJudge.load(tmp_path / "judge"), [ITEM])


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """Return a folder with a small encoder of random numbers and its tokenizer."""
    torch = pytest.importorskip("torch", reason="pip install 'judgesmith[bertscore]'")
    transformers = pytest.importorskip("transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "weights"
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=24).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def score(weights, response, reference, **choices):
    judge = ReferenceJudge(metric="bertscore", weights=str(weights), **choices)
    (found,) = score_batch(judge, [RatedItem(response=response, references=(reference,))])
    return found


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.bertscore
class TestWithItsLibraries:
    @pytest.mark.parametrize("layer", [1, 2, 3])
    @pytest.mark.parametrize(
        ("response", "reference"),
        [
            ("the bridge opened", "on monday the bridge opened ."),
            ("A cat, unknown words", " the cats "),
            (".", "the bridge"),
        ],
    )
    def test_scores_are_those_of_the_published_implementation(
        self, weights, layer, response, reference
    ):
        theirs = pytest.importorskip("bert_score").score(
            [response], [reference], model_type=str(weights), num_layers=layer
        )
        ours = score(weights, response, reference, layer=layer)
        assert ours.score == pytest.approx(100 * float(theirs[2][0]), abs=2e-3)

    def test_the_last_layer_is_taken_where_none_is_named(self, weights):
        texts = ("the bridge", "a cat")
        assert score(weights, *texts) == score(weights, *texts, layer=3)
        assert score(weights, *texts) != score(weights, *texts, layer=1)

    def test_a_text_is_like_itself_and_an_empty_one_like_nothing(self, weights):
        assert score(weights, "the bridge", "The bridge").score == pytest.approx(100, abs=1e-3)
        assert score(weights, " ", "the bridge").score == 0

    def test_the_names_of_special_tokens_are_words_like_others(self, weights):
        assert score(weights, "[SEP]", "[ sep ]").score == pytest.approx(100, abs=1e-3)

    def test_texts_that_the_weights_cannot_read_whole_are_unscored(self, weights):
        found = score(weights, "cat " * 23, "cat")
        assert found.score is None
        assert found.problem == "the text is too long for BERTScore: 25 tokens; the weights read 24"
        assert score(weights, "cat " * 22, "cat").score is not None

    def test_a_saved_judge_gives_the_same_where_its_weights_are_found(
        self, weights, tmp_path, monkeypatch
    ):
        judge = ReferenceJudge(metric="bertscore", weights=str(weights), several="mean")
        saved(judge).save(tmp_path / "judge")
        known._found.clear()
        monkeypatch.setenv(PLACES, str(weights))
        (first,) = score_batch(judge, [ITEM])
        (again,) = score_batch(SavedJudge.load(tmp_path / "judge"), [ITEM])
        assert first == again
        texts = {"source": "", "response": ITEM.response, "references": ITEM.references}
        assert load_judge(tmp_path / "judge")(**texts).score == first.score

    def test_layers_compete_where_it_was_asked_for(self, weights):
        judge = ReferenceJudge(metric="bertscore", weights=str(weights))
        layers = {one.name: [o.id for o in one.options] for one in judge.space().choices}["layer"]
        assert layers == ["last", "1", "2"]
        assert judge.with_choices({"layer": "2"}).protocol.layer == 2
        with pytest.raises(ValueError, match="the weights have 3 layers; got layer=4"):
            ReferenceJudge(metric="bertscore", weights=str(weights), layer=4)

    def test_what_is_no_model_is_refused(self, no_model):
        pytest.importorskip("transformers")
        with pytest.raises(ValueError, match="cannot load a model from the weights in"):
            ReferenceJudge(metric="bertscore", weights=str(no_model))

    def test_the_command_line_compiles_and_scores_with_it(self, weights, tmp_path):
        rows = [
            {"id": f"{n}", "source": "s", "response": text, "references": ["the bridge opened"]}
            for n, text in enumerate(["the bridge opened", "a cat", "the cats opened", "on monday"])
        ]
        form = {"scale": {"overall": [0, 4]}}
        rated = [
            one | form | {"source_id": f"s{n}", "source": f"s{n}", "human": {"overall": [n % 5]}}
            for n, one in enumerate(rows * 6)
        ]
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rated))
        place = {**os.environ, PLACES: str(weights)}

        def command(*words, env=place):
            whole = [sys.executable, "-m", "judgesmith", *words]
            return subprocess.run(whole, cwd=tmp_path, env=env, capture_output=True, text=True)

        choose = ["--judge", "reference", "--choose", "metric=bertscore", "--optimizer", "none"]
        done = command("compile", "in.jsonl", "-o", "judge", *choose)
        assert done.returncode == 0, done.stderr
        assert str(weights) not in (tmp_path / "judge" / "judge.json").read_text()
        done = command("score", "judge", "in.jsonl", "-o", "out.jsonl")
        assert done.returncode == 0, done.stderr
        nowhere = {name: value for name, value in place.items() if name != PLACES}
        done = command("score", "judge", "in.jsonl", "-o", "other.jsonl", env=nowhere)
        assert (done.returncode, "are needed, and $JUDGESMITH_WEIGHTS" in done.stderr) == (2, True)
        assert not (tmp_path / "other.jsonl").exists()


# BERTScore's matching, against its definition token by token.


def matched(response, reference, said=None, known=None):
    response, reference = np.asarray(response, float), np.asarray(reference, float)
    return greedy_matching(
        response,
        reference,
        response_counts=np.ones(len(response), bool) if said is None else np.asarray(said),
        reference_counts=np.ones(len(reference), bool) if known is None else np.asarray(known),
    )


def cosine(one, other):
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other))


@st.composite
def texts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    counts = [rng.random(n) < 0.7 for n in sizes]
    for one in counts:
        one[0] = True
    return *(rng.normal(size=(n, 3)) for n in sizes), *counts


@pytest.mark.no_cover
@given(texts())
def test_matches_the_definition_counted_token_by_token(drawn):
    response, reference, said, known = drawn
    best = [max(cosine(one, other) for other in reference) for one in response]
    precision = np.mean([one for one, counts in zip(best, said, strict=True) if counts])
    best = [max(cosine(one, other) for other in response) for one in reference]
    recall = np.mean([one for one, counts in zip(best, known, strict=True) if counts])
    both = precision + recall
    f1 = 2 * precision * recall / both if both > 0 else 0
    assert matched(*drawn) == pytest.approx((precision, recall, f1), abs=1e-9, rel=1e-9)


@given(texts(), st.floats(0.1, 10))
def test_turning_the_texts_round_swaps_precision_and_recall_and_lengths_do_not_count(drawn, factor):
    response, reference, said, known = drawn
    precision, recall, f1 = matched(response, reference, said, known)
    turned = matched(factor * reference, response, known, said)
    assert turned == pytest.approx((recall, precision, f1), abs=1e-9, rel=1e-6)


def test_a_worked_value():
    # The response's only token is the reference's first, and 0.6 like its second.
    precision, recall, f1 = matched([[1, 0]], [[5, 0], [3, 4]])
    assert (precision, recall, f1) == pytest.approx((1, 0.8, 1.6 / 1.8))


def test_a_token_that_does_not_count_can_still_be_matched_with():
    without = matched([[1, 0]], [[0, 1]])
    assert without == (0, 0, 0)
    assert matched([[1, 0]], [[0, 1], [1, 0]], known=[True, False])[:2] == (1, 0)


def test_texts_that_point_away_from_each_other_have_no_f1_but_0():
    assert matched([[1, 0]], [[-1, 0]]) == (-1, -1, 0)


@pytest.mark.parametrize(
    ("response", "counts", "said"),
    [
        ([[0, 0]], [True], "without a direction"),
        ([[math.nan, 1]], [True], "without a direction"),
        ([[math.inf, 1]], [True], "without a direction"),
        ([[1, 0]], [False], "no token to match"),
    ],
)
def test_what_cannot_be_matched_is_refused(response, counts, said):
    with pytest.raises(ValueError, match=said):
        matched(response, [[1, 0]], said=counts)
