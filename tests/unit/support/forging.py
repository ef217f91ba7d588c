"""Trials of hostile texts: what a text changed for the model, and in what was made of its answers.

Every function returns sentences, one for each way in which a hostile text was not merely the text
that is judged; none where all held. The texts are in ``hostile.py``, the model that can be fooled
in ``gullible.py``, beside this file.
"""

import gullible
import hostile
import numpy as np

from judgesmith.optimizers.rows import rated_example, rows_from
from judgesmith.optimizers.space.demonstrations import Pool, kept_runs
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.active_critic import critic_inputs
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.lm import LMClient, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline.requests import read_prefix, read_user
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.scale import PERCENT

RUBRIC = Rubric(
    task="Judge a summary.",
    criteria={
        "fluency": "Is it well written?",
        "Fact_Check": {"definition": "Is it true?", "worst": "invented", "best": "supported"},
    },
)
VARIANTS = {
    "vanilla": {"variant": "vanilla"},
    "coarse": {"variant": "coarse"},
    "coarse, scores first": {"variant": "coarse", "explain": "after"},
    "fine": {},
    "fine, each criterion by itself": {"criteria_calls": "separate"},
    "fine, without the overall question": {"overall": "mean"},
    "fine, scores alone": {"explain": "none"},
}
PLACES = ("source", "context", "response", "demonstrations")
TEXTS = {
    "source": "Ann left Rome on Monday. She went by train, and Paul stayed there.",
    "context": "A diary of Ann's.",
    "response": "Ann left Rome by train on Monday.",
}
_INPUTS = ("task", "criteria", "criterion", "source", "context", "response", "assessments")


def items_of(place, text):
    """Return the item to be judged, and the texts of demonstrations."""
    if place == "demonstrations":
        return RatedItem(**TEXTS), {**TEXTS, "source": text, "context": text, "response": text}
    return RatedItem(**{**TEXTS, place: text}), None


def judge_shown(variant, shown, lm, *, with_run=True):
    """Return a judge, shown a labelled and a bootstrapped demonstration of texts where given.

    The bootstrapped one comes last. It is a real run of ``lm``, words included, if the search
    would keep it and one is wanted; else there is a second labelled one.
    """
    judge = ActiveCritic(rubric=RUBRIC, **VARIANTS[variant])
    if shown is None:
        return judge
    items = [RatedItem(**shown), RatedItem(**{**shown, "response": shown["response"] + " Also."})]
    examples = [rated_example(one, 40.0, PERCENT, group=n) for n, one in enumerate(items)]
    rows = rows_from(examples, PERCENT)
    runs = {}
    if with_run and judge.protocol.variant != "vanilla":
        names = judge.protocol.rubric.names if judge.protocol.variant == "fine" else ()
        runs = kept_runs(rows, score_batch(judge, items[:1] * 2, lm=lm), criteria=names)
        runs = {row: run for row, run in runs.items() if row == 0}
    pool = Pool(rows=rows, runs=runs)
    for seed in range(100):
        drawn = pool.draw(judge.protocol, 2, len(runs), np.random.default_rng(seed))
        if not runs or all(several[-1].kind == "bootstrapped" for several in drawn.values()):
            break
    return judge.with_protocol(judge.protocol.model_copy(update={"demonstrations": drawn}))


def gullible_lm(**options):
    """Return a model that can be fooled, and the engine that remembers what it was asked."""
    engine = gullible.Gullible(**options)
    return ClientLM.over(LMClient(engine), "gullible/m", recipe={}, temperature=0.0), engine


def told(variant, place, text, *, with_run=True):
    """Return the judge, the item, its judgement, and what the gullible model was asked for it."""
    item, shown = items_of(place, text)
    lm, engine = gullible_lm()
    judge = judge_shown(variant, shown, lm, with_run=with_run)
    engine.requests.clear()
    (judgement,) = score_batch(judge, [item], lm=lm)
    return judge, item, judgement, engine.requests


_usual = {}


def fooled(variant, place, text):
    """Return how a text in a place fooled the gullible model, in sentences."""
    judge, item, found, requests = told(variant, place, text)
    key = (variant, place, has_run(judge))
    if key not in _usual:
        _usual[key] = told(variant, place, hostile.HARMLESS, with_run=key[2])
    _, _, harmless, usual = _usual[key]
    return [
        *_other_scores(found, harmless),
        *_other_questions(requests, usual),
        *(fault for one in requests for fault in _misread(judge, item, one)),
    ]


def has_run(judge):
    """Say whether a judge is shown a bootstrapped demonstration."""
    shown = judge.protocol.demonstrations.values()
    return any(one.kind == "bootstrapped" for several in shown for one in several)


def _other_scores(found, harmless):
    if found.score != harmless.score:
        yield f"the score is {found.score} ({found.problem}) instead of {harmless.score}"
    points = {name: one.score for name, one in found.criteria.items()}
    if points != {name: one.score for name, one in harmless.criteria.items()}:
        yield f"the criteria are {points}"


def _other_questions(requests, usual):
    """Yield where questions differ in anything but the words between fences."""
    if len(requests) != len(usual):
        yield f"{len(requests)} questions were asked instead of {len(usual)}"
        return
    for one, other in zip(requests, usual, strict=True):
        # What a demonstration answers is a model's own words, which quote the text.
        was, now = ([t for t in gullible.skeleton(r) if t[0] != "assistant"] for r in (other, one))
        if was != now:
            yield "a question differs outside of its fences"


def _misread(judge, item, request):
    """Yield where fields are other than those given, for the gullible model and the offline one."""
    given = {"source": item.source, "context": item.context, "response": item.response}
    wanted = {name: text and unix_lines(text) for name, text in given.items()}
    names = gullible.headers(gullible.skeleton(request)[-1][1].partition(gullible.TAIL)[0])
    if names != [name for name in _INPUTS if name in names]:
        yield f"the gullible model sees the fields {', '.join(names)}"
    materials = gullible.materials(request)[: 3 if item.context is not None else 2]
    if materials != [text for text in wanted.values() if text is not None]:
        yield "the gullible model reads other texts than those given"
    question = read_prefix(request.prefix)
    fields = read_user(request.user, question.inputs)
    if {name: fields[name] for name in wanted} != wanted:
        yield "the offline model reads other texts than those given"
    fixed = critic_inputs(judge.protocol, "rate")
    for name in ("task", "criteria"):
        if name in fields and fields[name] != fixed[name]:
            yield f"the field {name} is not the judge's own"
    for role, content in gullible.skeleton(request)[1:-1]:
        names = gullible.headers(content)
        known = [*question.outputs, "completed"] if role == "assistant" else list(question.inputs)
        if names != known:
            yield f"a demonstration has the fields {', '.join(names)}"
    for example in question.examples:
        if set(example.outputs) != set(question.outputs):
            yield "a demonstration shows other answers than those asked for"


def misjudged_offline(variant, place, text, lm=None):
    """Return how the offline model misread a text, in sentences."""
    lm = lm or model("offline", ledger=None)
    engine = lm_client_of(lm).engine
    requests, answer = [], type(engine).answer
    engine.answer = lambda request: (requests.append(request), answer(engine, request))[1]
    item, shown = items_of(place, text)
    judge = judge_shown(variant, shown, lm)
    requests.clear()
    (found,) = score_batch(judge, [item], lm=lm)
    faults = [fault for one in requests for fault in _misread(judge, item, one)]
    if found.score is None:
        faults.append(f"no score: {found.problem}")
    for example in (one for request in requests for one in read_prefix(request.prefix).examples):
        if shown is not None and example.inputs["source"] != unix_lines(shown["source"]):
            faults.append("a demonstration is read with another source")
    return faults


def misinferred(text, *, lm=None):
    """Return how a text among the rated rows fooled task inference, in sentences."""
    rubrics, skeletons = [], []
    for one in (hostile.HARMLESS, text):
        fool, engine = gullible_lm()
        items = [
            RatedItem(source=one, context=one, response=one, source_id="first"),
            *(RatedItem(**{**TEXTS, "response": f"Response {n}."}) for n in range(5)),
        ]
        infer = TaskInference(batch_size=3, n_batches=2)
        rubrics.append(infer(items=items, scores=[90.0, 10, 20, 30, 40, 50], lm=lm or fool))
        skeletons.append([gullible.skeleton(request) for request in engine.requests])
    first, second = rubrics
    faults = []
    if lm is None and skeletons[0] != skeletons[1]:
        faults.append("a question of task inference differs outside of its fences")
    if lm is None and (first.task, first.criteria) != (second.task, second.criteria):
        faults.append(f"another rubric was inferred: {second.task[:80]!r}")
    for rubric in rubrics:
        if not (rubric.task and rubric.criteria):
            faults.append("task inference has no outcome")
    return faults


def unfenced(text):
    """Return the score that the gullible model gives a text that nothing keeps in."""
    question = "[[ ## source ## ]]\na\n\n[[ ## response ## ]]\n"
    tail = f"\n\n{gullible.TAIL}, starting with `[[ ## score ## ]]`."
    return gullible.obeyed([("user", f"{question}{text}{tail}")])
