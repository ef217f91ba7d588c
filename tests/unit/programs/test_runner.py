"""The runner: concurrency, order of rows, interrupts and batches."""

import asyncio
import gc
import json
import signal
import subprocess
import sys
import threading
import time
import warnings
from statistics import fmean

import dspy
import pytest
from looping import for_each

from judgesmith.programs import DirectJudge, iter_scores, score_batch
from judgesmith.programs.families.modules import ChecklistJudge, GEvalJudge
from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import ModelReply, PromptRequest, gather
from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    LMClient,
    ModelAnswer,
    ModelError,
    TransientModelError,
    lm_client_of,
    model,
)
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason, Rubric

# Many items: in order, a bounded number at a time, read as needed, none lost to another.

SPENT = BudgetSpent(
    "max_calls is reached", ceiling="max_calls", calls=1, tokens=1, usd=0, minutes=0
)


def items(n):
    return [RatedItem(source="s", response=str(number)) for number in range(n)]


INTERRUPTED = """
import asyncio
from judgesmith.programs import score_batch
from judgesmith.programs.judging.executors import Executor
from judgesmith.signatures import RatedItem

class Forever(Executor):
    closed = 0
    async def judge(self, item):
        if item.response == "3":
            print("begun", flush=True)
        await asyncio.sleep(60)
    async def aclose(self):
        self.closed += 1

executor = Forever()
def work():
    score_batch(executor, [RatedItem(source="s", response=str(n)) for n in range(9)])
async def notebook():
    work()
try:
    asyncio.new_event_loop().run_until_complete(notebook()) if INSIDE else work()
except KeyboardInterrupt:
    print("interrupted, closed", executor.closed)
"""


class Clock(Executor):
    """Judges after a while; remembers how many it judged at a time."""

    def __init__(self, wait=lambda number: 0.001, faults=None, until=0):
        self.wait = wait
        self.until = until  # so many are begun the first one does not end
        self.faults = faults or {}
        self.begun_at_end_of = {}
        self.busy = self.most = self.begun = self.closed = self.cancelled = 0

    async def judge(self, item):
        number = int(item.response)
        self.begun += 1
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            while number == 0 and self.begun < self.until:
                await asyncio.sleep(0.001)
            await asyncio.sleep(self.wait(number))
            if number in self.faults:
                raise self.faults[number]
            return Judgement(score=number)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.busy -= 1
            self.begun_at_end_of[number] = self.begun

    async def aclose(self):
        self.closed += 1


class Slow:
    """An engine that takes its time; remembers how many requests were in flight at a time."""

    endpoint = route = "slow"

    def __init__(self, script, *, tokens=1):
        self.script = script
        self.tokens = tokens
        self.busy = self.most = 0

    async def complete(self, request):
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0.002)
        self.busy -= 1
        return ModelAnswer(text=self.script(request), input_tokens=self.tokens, output_tokens=1)

    async def aclose(self):
        pass


class TestOrderAndNumber:
    def test_results_come_in_the_order_of_the_items(self):
        executor = Clock(wait=lambda number: 0.01 if number % 7 == 0 else 0.0)
        scores = [one.score for one in score_batch(executor, items(100), concurrency=8)]
        assert scores == list(range(100))

    @pytest.mark.parametrize("concurrency", [1, 3, 16])
    def test_never_more_than_asked_for_are_under_way(self, concurrency):
        executor = Clock()
        score_batch(executor, items(60), concurrency=concurrency)
        assert executor.most == concurrency

    def test_a_slow_item_holds_up_nobody_before_results_pile_up(self):
        executor = Clock(wait=lambda number: 0.1 if number == 0 else 0.0, until=4 * 4)
        score_batch(executor, items(100), concurrency=4)
        assert executor.begun_at_end_of[0] == 4 * 4

    def test_out_of_order_each_is_handed_out_once_when_it_is_finished(self):
        executor = Clock(wait=lambda number: 0.001 * (number % 3), until=100)
        judged = iter_scores(executor, items(200), concurrency=4, ordered=False)
        scores = [judgement.score for item, judgement in judged if item.response]
        assert sorted(scores) == list(range(200))
        assert scores.index(0) >= 100 - 4
        assert executor.most == 4

    def test_at_least_one_at_a_time(self):
        with pytest.raises(ValueError, match="concurrency must be 1 or more; got 0"):
            iter_scores(Clock(), items(1), concurrency=0)

    def test_no_items_no_judgements(self):
        executor = Clock()
        assert score_batch(executor, []) == []
        assert executor.closed == 1

    def test_progress_adds_up(self):
        told = []
        score_batch(Clock(), items(150), concurrency=4, on_progress=told.append)
        assert sum(one.n for one in told) == told[-1].done == told[-1].total == 150
        assert min(one.n for one in told) >= 1


class TestReading:
    def test_items_are_read_only_as_far_as_needed(self):
        read = 0

        def endless():
            nonlocal read
            while True:
                read += 1
                yield RatedItem(source="s", response=str(read))

        judged = iter_scores(Clock(), endless(), concurrency=4)
        for _ in range(50):
            next(judged)
        judged.close()
        assert read <= 50 + 64 + 4 * 4

    def test_an_input_that_fails_ends_the_run_with_its_own_error(self):
        def failing():
            yield from items(5)
            raise OSError("disk gone")

        executor = Clock()
        with pytest.raises(OSError, match="disk gone"):
            score_batch(executor, failing(), concurrency=2)
        assert executor.closed == 1


class TestFaults:
    def test_the_failure_of_one_leaves_the_others_scored(self):
        faults = {
            3: TransientModelError("HTTP 503", status=503),
            5: ModelError("content refused", status=400),
            6: ModelError("too large", status=413),
        }
        found = score_batch(Clock(faults=faults), items(10), concurrency=2)
        assert [one.score for one in found] == [0, 1, 2, None, 4, None, None, 7, 8, 9]
        assert found[3].problem == "the model could not be reached: HTTP 503"
        assert found[5].problem == "the model refused the request: content refused"

    def test_what_the_budget_does_not_reach_is_not_asked(self):
        found = score_batch(Clock(faults=dict.fromkeys(range(4, 10), SPENT)), items(10))
        assert [one.score is None for one in found] == [False] * 4 + [True] * 6
        assert found[9].problem == "not asked: max_calls is reached"
        assert found[9].reason is Reason.OVER_BUDGET

    @for_each("status", [401, 402, 403, 404, 405, 407, None])
    def test_a_fault_of_the_set_up_is_raised(self, status):
        executor = Clock(faults={2: ModelError("wrong key", status=status)})
        with pytest.raises(ModelError, match="wrong key"):
            score_batch(executor, items(50), concurrency=4)
        assert executor.busy == 0
        assert executor.begun < 50

    def test_what_was_finished_before_a_fault_is_handed_out_first(self):
        executor = Clock(wait=lambda _: 0, faults={7: ModelError("wrong key", status=401)})
        scores = []
        with pytest.raises(ModelError):
            scores.extend(one.score for _, one in iter_scores(executor, items(20), concurrency=1))
        assert scores == list(range(7))

    @pytest.mark.parametrize(
        "fault", [ModelError("no such setting", status=400), TransientModelError("no server")]
    )
    def test_nothing_but_refusals_from_the_start_is_a_fault_of_the_set_up(self, fault):
        executor = Clock(faults=dict.fromkeys(range(500), fault))
        with pytest.raises(ModelError, match=str(fault)):
            score_batch(executor, items(500), concurrency=4)
        assert executor.begun < 50

    def test_a_few_refusals_are_not(self):
        fault = ModelError("refused", status=400)
        found = score_batch(Clock(faults=dict.fromkeys(range(10), fault)), items(10))
        assert {one.problem for one in found} == {"the model refused the request: refused"}

    def test_an_error_nobody_expected_is_raised_as_it_is(self):
        with pytest.raises(ZeroDivisionError):
            score_batch(Clock(faults={3: ZeroDivisionError()}), items(10))


class Garbled(Clock):
    """Reads nothing in the answers about some items."""

    def __init__(self, garbled, **options):
        super().__init__(**options)
        self.garbled = garbled

    async def judge(self, item):
        found = await super().judge(item)
        if found.score not in self.garbled:
            return found
        call = f"{int(found.score):032x}"
        why = "the model's answer could not be read: <html>"
        return Judgement.unscored(why, reason=Reason.UNREADABLE, calls=(call,))


class TestGarbage:
    def test_nothing_but_garbage_ends_the_run_early_with_an_example(self):
        executor = Garbled(range(500))
        with pytest.raises(ModelError, match=r"nothing that the model answered.*<html>"):
            score_batch(executor, items(500), concurrency=4)
        assert executor.begun <= 20 + 4 * 4  # what may be begun ahead of the first one

    def test_what_was_unread_before_is_handed_out(self):
        found = []
        with pytest.raises(ModelError):
            found.extend(iter_scores(Garbled(range(500)), items(500), concurrency=1))
        assert len(found) == 19

    def test_some_garbage_at_the_start_does_not(self):
        found = score_batch(Garbled(range(19)), items(100), concurrency=1)
        assert [one.score for one in found] == [None] * 19 + list(range(19, 100))

    def test_nor_does_much_of_it_later(self):
        found = score_batch(Garbled(range(1, 100)), items(100), concurrency=4)
        assert sum(one.score is None for one in found) == 99

    def test_a_model_that_was_read_once_is_not_given_up_for_another_prompt(
        self, judge_of, scripted, answered
    ):
        garbage = False
        lm, _ = scripted(lambda _: "<html>" if garbage else answered(score=70))
        assert score_batch(judge_of("vanilla"), items(1), lm=lm)[0].score == 70
        garbage = True
        found = score_batch(judge_of("vanilla"), items(60)[1:], lm=lm)
        assert [one.score for one in found] == [None] * 59

    def test_a_model_is_given_up_over_several_runs(self, judge_of, scripted):
        lm, _ = scripted(lambda _: "<html>")
        for _ in range(2):  # the same answers again are no more answers
            score_batch(judge_of("vanilla"), items(15), lm=lm)
        with pytest.raises(ModelError, match="20 judgements in a row"):
            score_batch(judge_of("vanilla"), items(30)[15:], lm=lm)

    def test_scores_off_the_scale_on_every_criterion_are_nothing_read(self, scripted, answered):
        lm, _ = scripted(lambda _: answered(score=230))
        with pytest.raises(ModelError, match=r"20 judgements in a row .* outside 0\.\.100"):
            score_batch(DirectJudge(asks="criteria"), items(40), lm=lm)


GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
SIX = {"criteria": {f"criterion {n}": "Is it?" for n in "abcdef"}}


class TestRequestsOfOneItem:
    @pytest.mark.parametrize(
        ("n_items", "concurrency", "most"), [(1, 32, 18), (9, 32, 32), (9, 4, 4)]
    )
    def test_all_that_wait_for_no_other_are_under_way_at_once(self, n_items, concurrency, most):
        engine = Slow(lambda request: GRADE)
        lm = ClientLM.over(LMClient(engine), "scripted/m", recipe={})
        judge = DirectJudge(rubric=SIX, asks="criteria", samples=3, temperature=1.0)
        found = score_batch(judge, items(n_items), lm=lm, concurrency=concurrency)
        assert [one.score for one in found] == [70] * n_items
        assert engine.most == most

    def test_those_of_earlier_items_go_first(self):
        asked = []
        engine = Slow(lambda request: asked.append(request.user) or GRADE)
        lm = ClientLM.over(LMClient(engine), "scripted/m", recipe={})
        score_batch(DirectJudge(rubric=SIX, asks="criteria"), items(9), lm=lm, concurrency=6)
        rows = [next(n for n in range(9) if f"\n{n}\n" in one) for one in asked]
        assert rows == sorted(rows)


class TestSmallBudgets:
    @pytest.mark.parametrize(("max_calls", "n_scored"), [(1, 0), (2, 1), (7, 3), (30, 15)])
    def test_calls_go_to_finish_what_was_begun(self, judge_of, good, max_calls, n_scored):
        lm = ClientLM.over(
            LMClient(Slow(good), budget=Budget(max_calls=max_calls)), "scripted/m", recipe={}
        )
        found = score_batch(judge_of("fine"), items(60), lm=lm, concurrency=32)
        assert sum(one.score is not None for one in found) == n_scored
        assert lm_client_of(lm).usage.calls == max_calls

    @pytest.mark.parametrize("ceiling", [{"max_calls": 32}, {"max_tokens": 40_000}])
    def test_rows_whose_answers_are_asked_for_twice_are_finished_too(self, ceiling):
        asked = []

        def faulty(request):
            asked.append(request.user)
            return "?" if request.sample == 0 and len(asked) % 3 == 0 else GRADE

        engine = Slow(faulty, tokens=500)
        lm = ClientLM.over(LMClient(engine, budget=Budget(**ceiling)), "scripted/m", recipe={})
        found = score_batch(
            DirectJudge(rubric=SIX, asks="criteria"), items(100), lm=lm, concurrency=32
        )
        n_scored = sum(one.score is not None for one in found)
        n_asked = len({next(n for n in range(100) if f"\n{n}\n" in one) for one in asked})
        assert n_scored in (n_asked, n_asked - 1)
        assert n_scored >= 3

    def test_a_large_one_slows_nothing_down(self, judge_of, good):
        engine = Slow(good)
        lm = ClientLM.over(LMClient(engine, budget=Budget(max_calls=900)), "scripted/m", recipe={})
        score_batch(judge_of("fine"), items(60), lm=lm, concurrency=16)
        assert engine.most == 16


class TestPlaces:
    def test_inside_a_running_event_loop(self):
        async def notebook():
            return score_batch(Clock(), items(20))

        assert [one.score for one in asyncio.run(notebook())] == list(range(20))

    def test_begun_outside_a_loop_and_ended_inside(self):
        judged = iter_scores(Clock(), items(200), concurrency=4)
        first = next(judged)

        async def rest():
            return list(judged)

        found = [first, *asyncio.run(rest())]
        assert [one.score for _, one in found] == list(range(200))

    def test_one_run_inside_another(self, judge_of, item):
        judge = judge_of("vanilla")
        lm = model("offline", ledger=None)
        first = (one for one, _ in iter_scores(judge, [item] * 5, lm=lm))
        assert len(score_batch(judge, first, lm=lm)) == 5

    def test_an_asker_can_be_used_again(self, judge_of, item, scripted, good):
        foreign = dspy.utils.DummyLM([{"score": "70"}] * 4)
        for lm in (scripted(good)[0], foreign):
            executor = Executor.of(judge_of("vanilla"), lm)
            assert [score_batch(executor, [item])[0].score for _ in range(2)] == [70, 70]

    def test_in_several_threads_at_once(self):
        found = {}

        def work(name):
            found[name] = [one.score for one in score_batch(Clock(), items(40), concurrency=4)]

        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {name: list(range(40)) for name in range(6)}


class TestEndingEarly:
    def end(self, how):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            executor = Clock(wait=lambda number: 0 if number < 3 else 3600)
            judged = iter_scores(executor, items(40), concurrency=8)
            next(judged)
            how(judged)
            del judged
            gc.collect()
        assert [str(one.message) for one in caught] == []
        return executor

    def stumble(judged):
        with pytest.raises(KeyError):
            judged.throw(KeyError("mine"))

    @pytest.mark.no_cover
    @pytest.mark.parametrize(
        "how",
        [lambda judged: judged.close(), lambda judged: None, stumble],
        ids=["closed", "forgotten", "an error of the caller"],
    )
    def test_what_is_under_way_is_cancelled_and_nobody_waits_for_it(self, how):
        executor = self.end(how)
        assert (executor.busy, executor.closed) == (0, 1)
        assert executor.cancelled >= 1

    @pytest.mark.no_cover
    def test_an_interrupt_leaves_nothing_under_way(self, caplog):
        code = INTERRUPTED.replace("INSIDE", "True")
        call = [sys.executable, "-c", code]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(call, **pipes) as process:
            try:
                assert process.stdout.readline() == "begun\n"
                time.sleep(0.5)  # the first of them has begun: let the caller wait for them
                process.send_signal(signal.SIGINT)
                assert process.communicate(timeout=120) == ("interrupted, closed 1\n", "")
            finally:
                process.kill()

    @pytest.mark.no_cover
    def test_an_exception_under_way_is_not_mourned_when_nobody_asks_for_it(self, caplog):
        faults = {n: ValueError("later") for n in range(1, 8)}
        judged = iter_scores(Clock(wait=lambda n: 0, faults=faults), items(8), concurrency=8)
        next(judged)
        judged.close()
        gc.collect()
        assert caplog.records == []


class TestAnyModel:
    def test_a_judge_and_a_model_are_those_of_the_moment_of_the_call(
        self, judge_of, item, scripted, good, answered
    ):
        judge = judge_of("vanilla")
        lm, engine = scripted(good)
        with dspy.context(lm=lm):
            judged = iter_scores(judge, [item])
        judge.grade.signature = judge.grade.signature.with_instructions("Another.")
        assert next(judged)[1].score == 70
        assert "Another." not in engine.requests[0].prefix.messages[0].text

    def test_a_model_of_somebody_else_is_asked_through_dspy(self, judge_of, rubric):
        answers = [{"score": str(10 * number)} for number in range(8)]
        lm = dspy.utils.DummyLM(answers)
        found = score_batch(judge_of("vanilla"), items(8), lm=lm, concurrency=1)
        assert [one.score for one in found] == [10 * number for number in range(8)]
        assert found[0].calls == ()

    def test_a_foreign_model_is_asked_by_so_many_threads_and_no_more(self, judge_of, answered):
        lock, busy, most = threading.Lock(), 0, 0

        class Slow:
            def complete(self, request):
                nonlocal busy, most
                with lock:
                    busy += 1
                    most = max(most, busy)
                time.sleep(0.01)
                with lock:
                    busy -= 1
                return dspy.lm15.Response(
                    id=None,
                    model=request.model,
                    message=dspy.lm15.Message.assistant(answered(score=70)),
                    finish_reason="stop",
                    usage=dspy.lm15.Usage(input_tokens=1, output_tokens=1),
                )

        lm = dspy.LM("foreign/slow", engine=Slow(), cache=False, num_retries=0)
        found = score_batch(judge_of("vanilla"), items(20), lm=lm, concurrency=5)
        assert [one.score for one in found] == [70] * 20
        assert 1 < most <= 5

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (dspy.lm15.RateLimitError, "the model could not be reached"),
            (dspy.lm15.ServerError, "the model could not be reached"),
            (dspy.lm15.InvalidRequestError, "the model refused the request"),
            (dspy.lm15.ContextLengthError, "the texts are longer than the model reads"),
        ],
    )
    def test_faults_of_a_foreign_model_mean_what_they_mean_for_ours(self, judge_of, fault, said):
        class Failing:
            def complete(self, request):
                raise fault("it went wrong")

        lm = dspy.LM("foreign/failing", engine=Failing(), cache=False, num_retries=0)
        (found,) = score_batch(judge_of("vanilla"), items(1), lm=lm)
        assert found.score is None
        assert found.problem.startswith(said)

    def test_a_wrong_key_of_a_foreign_model_is_raised(self, judge_of):
        class Locked:
            def complete(self, request):
                raise dspy.lm15.AuthError("no")

        lm = dspy.LM("foreign/locked", engine=Locked(), cache=False, num_retries=0)
        with pytest.raises(dspy.LMAuthError):
            score_batch(judge_of("vanilla"), items(3), lm=lm)


# Steps and questions that a model writes: side by side, and nothing that is on its way is lost.

FOUR = Rubric(criteria={name: f"How {name} is it?" for name in ("short", "clear", "true", "kind")})


class Waiting:
    """An engine that answers steps after a moment, and counts what it has on its hands."""

    endpoint = "waiting"

    def __init__(self, begun=lambda n: None):
        self.busy = self.most = self.n = self.answered = 0
        self.begun = begun

    async def complete(self, request):
        self.n += 1
        self.busy += 1
        self.most = max(self.most, self.busy)
        self.begun(self.n)
        await asyncio.sleep(0.02)
        self.busy -= 1
        self.answered += 1
        text = f"[[ ## steps ## ]]\n1. Look at it.\n2. Note {self.n}.\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)

    async def aclose(self):
        """Nothing is open."""


def waiting(begun=lambda n: None, **options):
    engine = Waiting(begun)
    return ClientLM.over(
        LMClient(engine, **options), "waiting/m", recipe={}, temperature=0.0
    ), engine


@pytest.mark.parametrize(("concurrency", "most"), [(32, 4), (1, 1)])
def test_steps_of_all_criteria_are_asked_for_at_once(concurrency, most):
    lm, engine = waiting()
    judge, problems = GEvalJudge(rubric=FOUR).prepared(lm, concurrency=concurrency)
    assert (engine.most, engine.n, problems) == (most, 4, ())
    assert [name.partition(":")[0] for name in judge.protocol.steps] == list(FOUR.names)


def test_what_is_on_its_way_is_answered_before_a_stop():
    def begun(n):
        if n == 2:
            STOPPING.request()

    lm, engine = waiting(begun)
    try:
        with pytest.raises(Stopped):
            GEvalJudge(rubric=FOUR).prepared(lm, concurrency=2)
    finally:
        STOPPING.reset()
    assert engine.n == engine.answered == 2


def test_a_spent_budget_ends_it_and_is_said():
    lm, engine = waiting(budget=Budget(max_calls=3))
    with pytest.raises(BudgetSpent, match="budget of 3 calls"):
        GEvalJudge(rubric=FOUR).prepared(lm)
    assert engine.n == engine.answered == 3


LISTS = (
    '["Read it.", "Note faults."]',
    '[\n  "1. Read it.",\n  "2. Note faults."\n]',
    '```json\n["Read it.", "Note faults."]\n```',
    '{"steps": ["Read it.", "Note faults."]}',
)


@pytest.mark.parametrize("text", LISTS)
def test_a_json_list_is_read_as_a_list(text):
    assert STEPS.read(text) == ("Read it.", "Note faults.")


def test_a_json_list_of_questions_is_one_question_each(scripted):
    said = json.dumps(["Is it funny?", "Is there a pun?"])
    lm, engine = scripted(lambda _: f"[[ ## questions ## ]]\n{said}\n\n[[ ## completed ## ]]")
    judge, problems = ChecklistJudge(
        rubric=Rubric(criteria={"wit": "it makes one laugh"})
    ).prepared(lm)
    assert problems == ()
    assert list(judge.protocol.questions.values()) == [("Is it funny?", "Is there a pun?")]
    assert len(engine.requests) == 1


@pytest.mark.parametrize("text", ['["Read it.", 2]', "[Read it.", '{"a": ["b"], "c": ["d"]}'])
def test_what_is_no_list_of_texts_stays_text(text):
    assert STEPS.read(text) == (text,)


@pytest.mark.parametrize("text", ["[]", '["", " "]'])
def test_a_list_of_nothing_is_refused(text):
    with pytest.raises(ValueError, match=r"expected 1 to 12|got \[\]|question mark"):
        QUESTIONS.read(text)


# Questions that do not wait for each other go out at the same time, whoever asks them.

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


class TwoAtOnce(DirectJudge):
    """Asks the same question twice in one round, the second time warm."""

    def steps(self, item):
        ask = PromptRequest(predictor="whole", inputs=item.texts)
        warm = PromptRequest(predictor="whole", inputs=ask.inputs, sample=1, temperature=1.0)
        replies = yield (ask, warm)
        score = fmean(one.fields["score"] for one in replies)
        return Judgement(score=score, raw=score, calls=tuple(one.call for one in replies))


class SlowTogether:
    """Answers after both questions have come, and keeps what it was asked."""

    endpoint = "slow"

    def __init__(self, answer=lambda request: "60"):
        self.asked = []
        self.under_way = self.most = 0
        self.said = answer

    async def complete(self, request):
        self.asked.append(request)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        return ModelAnswer(text=f"[[ ## score ## ]]\n{self.said(request)}")

    async def aclose(self):
        pass


def lm_over(engine, name="slow/m"):
    return ClientLM.over(LMClient(engine), name, recipe={}, temperature=0.0)


def test_both_questions_are_under_way_at_once():
    engine = SlowTogether()
    (judgement,) = score_batch(TwoAtOnce(), [ITEM], lm=lm_over(engine))
    assert (judgement.score, engine.most) == (60, 2)
    assert [one.settings.temperature for one in engine.asked] == [0.0, 1.0]


def test_all_ways_to_ask_come_to_the_same():
    judge = TwoAtOnce()
    texts = {"source": ITEM.source, "response": ITEM.response, "context": None}
    (fast,) = score_batch(judge, [ITEM])
    slow = judge(**texts)
    with dspy.context(lm=model("offline", ledger=None)):
        waiting = asyncio.run(judge.acall(**texts))
    assert (fast.score, fast.calls) == (slow.score, slow.calls) == (waiting.score, waiting.calls)
    assert len(set(fast.calls)) == 2


def test_a_predictor_with_a_model_of_ours_is_asked_through_its_stack():
    engine, other = SlowTogether(), SlowTogether(lambda request: "90")
    judge = DirectJudge()
    judge.whole.lm = lm_over(other, "other/m")
    (judgement,) = score_batch(judge, [ITEM], lm=lm_over(engine))
    assert (judgement.score, len(engine.asked), len(other.asked)) == (90, 0, 1)
    assert type(Executor.of(judge, lm_over(engine))).__name__ == "ClientExecutor"
    judge.whole.config = {"temperature": 0.5}
    assert type(Executor.of(judge, lm_over(engine))).__name__ == "DSPyExecutor"


def test_courses_of_rounds_are_courses_themselves():
    def course(n):
        found = []
        for place in range(n):
            reply = yield PromptRequest(predictor=f"{n}.{place}", inputs={})
            found.append(reply.call)
        return found

    steps = gather([gather([course(2), course(1)]), course(0), course(1)])
    rounds, asked = [], next(steps)
    try:
        while True:
            rounds.append([one.predictor for one in asked])
            asked = steps.send(tuple(ModelReply(call=one.predictor) for one in asked))
    except StopIteration as end:
        found = end.value
    assert found == [[["2.0", "2.1"], ["1.0"]], [], ["1.0"]]
    assert rounds == [["2.0", "1.0", "1.0"], ["2.1"]]
