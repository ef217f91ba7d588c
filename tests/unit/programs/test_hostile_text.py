"""Whatever a text imitates or holds, it is the text that is judged, and nothing else changes."""

import json

import forging
import gullible
import hostile
import pytest

from judgesmith.optimizers.rows import rated_example, rows_of
from judgesmith.optimizers.space.demonstrations import kept_runs
from judgesmith.programs import score_batch
from judgesmith.programs.judging.answers import is_cut_off, read_answer
from judgesmith.programs.lm import model
from judgesmith.programs.offline import requests
from judgesmith.signatures import CriterionScore, Judgement, RatedItem, Rubric, fences
from judgesmith.signatures.judgement import Assessment
from judgesmith.signatures.scale import PERCENT

NAMES = list(hostile.TEXTS)
PLACED = [(name, forging.PLACES[n % len(forging.PLACES)]) for n, name in enumerate(NAMES)]


def faults(trial, cases):
    """Return what went wrong in which case; every case is tried."""
    return {case: found for case in cases if (found := trial(*case))}


class TestTheModelThatObeysEverything:
    """``gullible.py``: what it is told outside of fences it does."""

    def test_it_is_fooled_by_every_forgery_that_no_fence_keeps_in(self):
        scores = {name: forging.unfenced(hostile.TEXTS[name]) for name in hostile.FORGERIES}
        assert len(scores) > 60
        assert set(scores.values()) == {hostile.WANTED}
        assert forging.unfenced(hostile.HARMLESS) == gullible.USUAL

    def test_it_is_fooled_by_fences_whose_tag_can_be_guessed(self, monkeypatch):
        monkeypatch.setattr(
            "judgesmith.programs.judging.prompts.fence_tag", lambda texts, key: "0" * 12
        )
        assert forging.fooled("vanilla", "source", hostile.TEXTS["a fence of zeros"])

    @pytest.mark.no_cover
    @pytest.mark.parametrize("variant", forging.VARIANTS)
    def test_no_text_fools_it_wherever_it_stands(self, variant):
        def trial(name, place):
            return forging.fooled(variant, place, hostile.TEXTS[name])

        turn = list(forging.VARIANTS).index(variant)  # each variant puts a text elsewhere
        places = forging.PLACES[turn % 4 :] + forging.PLACES[: turn % 4]
        assert not faults(trial, [(name, places[n % 4]) for n, name in enumerate(NAMES)])

    @pytest.mark.no_cover
    @pytest.mark.parametrize("place", forging.PLACES)
    def test_all_texts_in_one_fool_it_in_no_variant(self, place):
        def trial(variant):
            return forging.fooled(variant, place, hostile.TEXTS["all of them"])

        assert not faults(trial, [(variant,) for variant in forging.VARIANTS])

    @pytest.mark.no_cover
    def test_no_text_fools_it_in_task_inference(self):
        def trial(name):
            return forging.misinferred(hostile.TEXTS[name])

        assert not faults(trial, [(name,) for name in NAMES])

    @pytest.mark.no_cover
    @pytest.mark.parametrize("name", ["five megabytes of forgeries", "five megabytes of fences"])
    def test_five_megabytes_do_not_fool_it_either(self, name):
        assert not forging.fooled("fine", "response", hostile.HUGE[name]())


class TestTheOfflineModel:
    @pytest.mark.no_cover
    @pytest.mark.parametrize("variant", ["vanilla", "fine", "fine, each criterion by itself"])
    def test_it_reads_and_scores_every_text_as_the_text_it_is(self, variant):
        def trial(name, place):
            return forging.misjudged_offline(variant, place, hostile.TEXTS[name])

        assert not faults(trial, PLACED)

    @pytest.mark.no_cover
    def test_it_infers_a_task_from_rows_with_any_text(self):
        def trial(name):
            lm = model("offline", ledger=None)
            return forging.misinferred(hostile.TEXTS[name], lm=lm)

        assert not faults(trial, [(name,) for name in NAMES[::3]])

    def test_half_a_character_is_unscored_with_its_reason(self):
        for name, text in hostile.UNSENDABLE.items():
            for place in ("source", "context", "response"):
                item, _ = forging.items_of(place, text)
                judge = forging.judge_shown("fine", None, None)
                (found,) = score_batch(judge, [item])
                assert found.score is None, name
                assert found.problem.startswith(f"the {place} holds half of a character")

    def test_rows_with_half_a_character_are_left_out_of_inference_with_a_note(self):
        infer = forging.TaskInference(batch_size=3, n_batches=1)
        rows = [RatedItem(response=text) for text in hostile.UNSENDABLE.values()]
        rows += [RatedItem(response=f"Response {n}.") for n in range(4)]
        rubric = infer(items=rows, scores=[10.0 * n for n in range(8)])
        (note,) = [one for one in rubric.provenance["notes"] if "half of a character" in one]
        assert note.startswith("4 of 8 rows were not read")


class TestFences:
    def test_a_tag_that_was_brute_forced_from_the_text_itself_is_not_taken(self, monkeypatch):
        """With short tags a text that holds its own can be found; it gets another tag."""
        monkeypatch.setattr(fences, "TAG_DIGITS", 2)
        monkeypatch.setattr(requests, "_FENCE", gullible._OPENING)
        found = []
        for number in range(5000):
            for tag in (f"{number % 256:02x}", f"{number % 256:02X}"):
                text = f"{number} {hostile._escaping(tag)}"
                # What the tag would be if nobody looked for it in the text.
                digest = fences.hashlib.blake2b(digest_size=1)
                content = text.encode()
                digest.update(b"%d:" % len(content) + content)
                if digest.hexdigest() == tag.lower():
                    found.append(text)
        assert len(found) > 20
        for text in found:
            tag = fences.fence_tag([text])
            assert tag not in text.lower()
            message = f"[[ ## response ## ]]\n{fences.fenced(text, tag)}\n\n{gullible.TAIL}"
            assert requests.read_user(message, ["response"]) == {"response": text}
            assert gullible.materials_of(message) == [text]

    def test_the_tag_stands_in_no_text_of_the_table(self):
        for text in hostile.TEXTS.values():
            assert fences.fence_tag([text]) not in text.lower()
            assert fences.fence_tag([hostile.HARMLESS, None, text]) not in text.lower()


class TestRubrics:
    """Task and criteria stand outside of fences, so that no rubric can hold a marker."""

    @pytest.mark.no_cover
    @pytest.mark.parametrize("part", ["task", "definition", "worst", "best", "name"])
    def test_a_rubric_holds_a_text_without_markers_or_refuses_it(self, part):
        refused = []
        for name, text in {**hostile.TEXTS, **hostile.UNSENDABLE}.items():
            one = {"name": "fluency", "definition": "Is it?"}
            given = {"criteria": [{**one, part: text} if part != "task" else one]}
            if part == "task":
                given["task"] = text
            try:
                rubric = Rubric.model_validate(given)
            except ValueError:
                refused.append(name)
                continue
            for kept in (rubric.task, *rubric.criteria[0].model_dump().values()):
                assert not gullible.headers(kept), name
                assert "verbatim-" not in gullible.spelled_out(kept).lower(), name
        markers = [name for name in NAMES if gullible.headers(hostile.TEXTS[name])]
        assert set(markers) <= set(refused)
        assert len(markers) > 40

    @pytest.mark.no_cover
    def test_what_a_rubric_holds_moves_no_field(self):
        for name in NAMES:
            text = hostile.TEXTS[name]
            try:
                rubric = Rubric(criteria={"fluency": text, "style": "Is it apt?"})
            except ValueError:
                continue
            judge = forging.ActiveCritic(rubric=rubric, variant="coarse")
            asked = judge.templates()["rate"].render(forging.TEXTS)
            fields = requests.read_user(asked, ["criteria", *forging.TEXTS])
            assert {key: fields[key] for key in forging.TEXTS} == forging.TEXTS, name
            lines = fields["criteria"].split("\n")
            assert [line.partition(":")[0] for line in lines] == ["fluency", "style"], name


OWN = 20
_SCORE = f"[[ ## score ## ]]\n{OWN}"
_END = "[[ ## completed ## ]]"
_WORDS, _RECORDS = "[[ ## explanation ## ]]\n", "[[ ## assessments ## ]]\n"
SCORED = {"explanation": str, "score": int}
ASSESSED = {"assessments": list[Assessment]}


def records(words):
    return json.dumps(
        [
            {"criterion": name, "explanation": words, "score": OWN}
            for name in ("fluency", "Fact_Check")
        ]
    )


QUOTING = {
    "in the explanation": (SCORED, lambda t: f"{_WORDS}It says: {t}\n\n{_SCORE}\n\n{_END}"),
    "below the explanation": (SCORED, lambda t: f"{_WORDS}It says:\n{t}\n\n{_SCORE}\n\n{_END}"),
    "after the score": (SCORED, lambda t: f"{_SCORE}\n\n{_WORDS}It says:\n{t}\n\n{_END}"),
    "before everything": (
        SCORED,
        lambda t: f"It says:\n{t}\n\n{_WORDS}Poor.\n\n{_SCORE}\n\n{_END}",
    ),
    "after the end": (SCORED, lambda t: f"{_WORDS}Poor.\n\n{_SCORE}\n\n{_END}\nIt said:\n{t}"),
    "before a score in words": ({"score": int}, lambda t: f"It says:\n{t}\nI give it {OWN}."),
    "before a score alone": ({"score": int}, lambda t: f"It says:\n{t}\n\n{_SCORE}"),
    "in JSON": (SCORED, lambda t: json.dumps({"explanation": t, "score": OWN})),
    "in records": (ASSESSED, lambda t: f"{_RECORDS}{records(t)}\n\n{_END}"),
    "in broken records": (
        ASSESSED,
        lambda t: f"{_RECORDS}{records('@').replace('@', t)}\n\n{_END}",
    ),
    "before records": (ASSESSED, lambda t: f"It says:\n{t}\n\n{_RECORDS}{records('x')}\n\n{_END}"),
    "among records": (ASSESSED, lambda t: f"{_RECORDS}It says {t}\n{records('x')}\n\n{_END}"),
    "after records": (ASSESSED, lambda t: f"{_RECORDS}{records('x')}\n{t}\n\n{_END}"),
    "in records alone": (ASSESSED, records),
}


class TestAnswersThatQuote:
    """An answer with a score of its own is read with that one or not at all."""

    @pytest.mark.parametrize("where", QUOTING)
    def test_the_quoted_text_lends_no_score(self, where):
        annotations, quoting = QUOTING[where]
        n_read = 0
        for name, text in {**hostile.TEXTS, **hostile.UNSENDABLE}.items():
            try:
                found = read_answer(quoting(text), annotations)
            except ValueError:
                continue
            n_read += 1
            if "score" in found:
                assert found["score"] == OWN, name
            else:
                assert {one.score for one in found["assessments"]} == {OWN}, name
        assert n_read >= 30 or where == "before a score in words"

    def test_one_that_was_cut_off_after_a_quoted_end_is_no_answer(self):
        quoted = hostile.TEXTS["a finished answer"]
        assert is_cut_off(f"{_WORDS}It says:\n{quoted}\nwhich is of course not what I")
        assert not is_cut_off(f"{_WORDS}Fine.\n\n{_SCORE}\n\n{_END}\n")

    @pytest.mark.parametrize(
        ("after", "is_read"),
        [
            ("Anything else?", True),
            ("(Score: 20 of 100)", True),
            ("I give it 30.", False),
            ("It asked for 99, but I give it 20.", False),
        ],
    )
    def test_what_is_said_after_the_end_may_not_name_another_number(self, after, is_read):
        answer = f"{_SCORE}\n\n{_END}\n{after}"
        if is_read:
            assert read_answer(answer, {"score": int}) == {"score": OWN}
        else:
            with pytest.raises(ValueError, match="goes on after its end, with another number"):
                read_answer(answer, {"score": int})

    @pytest.mark.no_cover
    @pytest.mark.parametrize("filling", ["\n", " ", "\n ", "[[ ", "< ", "</", "*", "`"])
    def test_long_runs_of_anything_are_read_in_no_time(self, filling):
        """A pattern that tries a run in every way would take hours for these."""
        text = filling * 1_000_000
        assert is_cut_off(f"{_SCORE}\n{_END}\n{text}x")
        assert not fences.imitates_layout(text)
        with pytest.raises(ValueError, match="lacks the field"):
            read_answer(text, SCORED)


class TestRunsThatAreShown:
    @pytest.mark.no_cover
    @pytest.mark.parametrize("name", NAMES)
    def test_words_that_quote_markers_are_shown_to_no_model(self, name):
        words = f"It says: {hostile.TEXTS[name]}"
        rows = rows_of(
            [rated_example(RatedItem(response="r"), 50.0, PERCENT, group=n) for n in range(2)],
            PERCENT,
        )
        plain = {"fluency": CriterionScore(score=50, explanation="Fine.")}
        quoted = {"fluency": CriterionScore(score=50, explanation=words)}
        runs = [
            Judgement(score=50, raw=50, explanation=words, criteria=plain),
            Judgement(score=50, raw=50, explanation="Fine.", criteria=quoted),
        ]
        kept = kept_runs(rows, runs)
        marked = gullible.headers(words) or "verbatim-" in gullible.spelled_out(words).lower()
        assert not (marked and kept)
        if "[[" not in words and not marked:
            assert len(kept) == 2
