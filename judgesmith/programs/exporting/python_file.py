"""A judge as one Python file: its data as plain literals, and below them the runtime as it is."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from keyword import iskeyword
from pathlib import Path
from pprint import pformat
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.programs.artifacts.record import SavedRecord
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import (
    SavedCalibrated,
    SavedPanel,
    saved_leaves,
    saved_panels,
)
from judgesmith.programs.exporting.export import Form, Row, about, about_lines
from judgesmith.programs.families.pointwise import ChecklistConfig
from judgesmith.programs.families.verdict import VerdictConfig
from judgesmith.programs.judging.logprobs import criterion_term
from judgesmith.programs.judging.prompts import Slot, Template
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import ModelRequest, lm_client_of, request_settings
from judgesmith.programs.lm.errors import (
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
    speaks_of_one_item,
)
from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.signatures.aggregation import LEFT_TO_PEOPLE, Calibration
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig
from judgesmith.signatures.fences import fence_key
from judgesmith.signatures.scale import AROUND, NO_YES, Scale, is_percent

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


class StackAsked:
    """Stands for the ``Server`` of an exported file; its requests are those of the saved judge."""

    model = ""

    def __init__(self, lms: Mapping[str, dspy.LM], fault: Callable[..., Exception]) -> None:
        self._lms = lms
        self._fault = fault

    def completion(
        self, messages: list[dict[str, str]], options: Mapping[str, Any], sample: int
    ) -> SimpleNamespace:
        given = dict(options)
        lm = self._lms[given.pop("model")]
        client = lm_client_of(lm)
        assert client is not None
        *before, last = messages
        turns = [Message(one["role"], one["content"]) for one in before]  # type: ignore[arg-type]
        request = ModelRequest(
            model=str(lm.model),
            prefix=Prefix(turns),
            user=last["content"],
            settings=request_settings(lm, **given),
            sample=sample,
        )
        try:
            answer = client.complete_sync(request)
        except ModelError as fault:
            if not speaks_of_one_item(fault):
                raise
            passing = isinstance(fault, TransientModelError)
            long = isinstance(fault, ContextWindowExceeded)
            raise self._fault(str(fault), fault.status, passing=passing, long=long) from fault
        message = SimpleNamespace(content=answer.text, refusal=None)
        choice = SimpleNamespace(message=message, finish_reason=answer.finish_reason)
        return SimpleNamespace(choices=[choice])


_RUNTIME = Path(__file__).with_name("runtime.py")  # read, not imported: it needs openai
_USE = '''"""A judge of texts by itself: Python and its openai client (pip install openai) suffice.

    from {module} import judge
    judge(source="what was answered", response="the answer")["score"]

    python {file} < items.jsonl > scores.jsonl

An item has "source", "response" and perhaps "context". The key is taken from OPENAI_API_KEY; a
server elsewhere is named with --base-url, another model with --model. A text that cannot be judged
has no score, and its "problem" says why.
"""
'''


class PythonFile(Form):
    """One file: importable, and a program."""

    says: ClassVar[str] = "one Python file that needs only the openai client"
    folder: ClassVar[bool] = False
    suffix: ClassVar[str] = ".py"

    def check(self, saved: AnySaved) -> str | None:
        for panel in saved_panels(saved):
            if panel.rules is not None:
                return "the errors of its members are merged by what only the package has"
            if panel.scale.is_verdict:
                return "its members vote on the label, which the package counts"
            if panel.weights.middle != "mean":
                return "the score of its panel is a median"
        if len({client_name(one) for one in saved.models}) < len(saved.models):
            return "several of its models have one name for the openai client"
        for leaf in saved_leaves(saved):
            protocol = leaf.protocol
            if not family_of(protocol.judge).is_portable:
                return f"judges of the kind {protocol.judge} need more than a file can hold"
            if protocol.weighting != "none":
                return (
                    "its scores are weighed by log-probabilities, which the package does (compile "
                    "with --choose weighting=none)"
                )
            if any(term.startswith("lexical:") for term in protocol.aggregation.terms):
                return (
                    "its score weighs lexical features, which the package counts (compile with "
                    "--no-lexical)"
                )
            if protocol.nearest is not None:
                return "it chooses its demonstrations anew for each text"
            if isinstance(protocol, VerdictConfig) and len(protocol.answers.labels) > 2:
                return "it gives one of three labels or more by how many samples say each"
            if leaf.roles:
                return "other models do a part of its work"
        return None

    def write(self, saved: AnySaved, place: Path) -> None:
        write_synced(place, source_of(saved, place.name))

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        module = loaded(place)
        to = StackAsked({client_name(name): lm for name, lm in lms.items()}, module.ModelError)
        rows: list[Row] = []
        for one in saved.golden:
            texts = one.item.texts
            rows.append(module.row_of(module.JUDGE, texts, to))
        return rows


def source_of(saved: AnySaved, name: str) -> str:
    facts = {"says": f"Score responses with {saved.fingerprint}.", **about(saved)}
    facts["judge"] = facts.pop("fingerprint")
    del facts["agreement"]  # which the comments above the code say
    facts["model"] = ", ".join(client_name(one) for one in saved.models)
    module = name.removesuffix(".py")
    importable = module.isidentifier() and not iskeyword(module)
    use = _USE.format(module=module if importable else "my_judge", file=file_in(name))
    head = "".join(f"# {line}\n" for line in about_lines(saved))
    data = f"ABOUT = {_literal(facts)}\n\nJUDGE = {_literal(runtime_data(saved))}\n"
    return f"{use}\n{head}\n{data}\n{_RUNTIME.read_text(encoding='utf-8')}"


def file_in(name: str) -> str:
    """Return the name of a file as a comment may hold it: another one if it has odd letters."""
    plain = name.replace("_", "").replace("-", "").replace(".", "")
    return name if plain.isascii() and plain.isalnum() else "my_judge.py"


def client_name(model: str) -> str:
    return model.partition("/")[2] or model


def loaded(place: Path) -> ModuleType:
    """Return an exported file as a module that nothing else imports."""
    spec = importlib.util.spec_from_file_location("judgesmith_exported_judge", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _literal(value: Any) -> str:
    return pformat(value, width=100, sort_dicts=False)


def runtime_data(saved: SavedRecord) -> dict[str, Any]:
    if isinstance(saved, SavedCalibrated):
        learned, judge = _calibration(saved.calibration), runtime_data(saved.members["judge"])
        return {"kind": "calibrated", "calibration": learned, "judge": judge}
    if isinstance(saved, SavedPanel):
        weights = saved.weights
        numbers = zip(
            weights.members, weights.centers, weights.spreads, weights.weights, strict=True
        )
        kept = {name: one for name, *one in numbers if one[-1] > 0}
        members = {
            name: {
                "center": c,
                "spread": s,
                "weight": w,
                "judge": runtime_data(saved.members[name]),
            }
            for name, (c, s, w) in kept.items()
        }
        return {
            "kind": "panel",
            "limit": _limits(weights.limit),
            "slope": weights.slope,
            "intercept": weights.intercept,
            "scale": weights.scale.model_dump(mode="json"),
            "members": members,
        }
    assert isinstance(saved, SavedJudge)
    return _leaf(saved)


def _limits(limit: float | None) -> dict[str, float]:
    return {} if limit is None else {"low": -limit, "high": limit}


def _calibration(learned: Calibration) -> dict[str, Any]:
    """Return a calibration as plain data, with the reasons for leaving a text to people."""
    rule = learned.abstention
    told = rule and {
        "doubt": rule.doubt,
        "limit": rule.limit,
        "always": rule.why_not(0.0) if rule.keeps == "none" else None,
        "unknown": rule.why_not(None),
        "above": f"{LEFT_TO_PEOPLE}the {rule.doubt} lie {{:.3g}} points apart, and not below "
        f"{rule.limit or 0:.3g}",
    }
    plain = learned.model_dump(mode="json", include={"thresholds", "values", "scale", "margin"})
    return {**plain, "abstention": told}


def _leaf(saved: SavedJudge) -> dict[str, Any]:
    protocol = saved.protocol
    questions = {name: _question(one) for name, one in saved.questions.items()}
    joint, whole = questions.pop("assess", None), None
    criteria: dict[str, list[dict[str, Any]]] = {}
    if not protocol.scores_criteria:
        ((_, whole),) = questions.items()
    else:
        if isinstance(protocol, ActiveCriticConfig) and protocol.overall == "asked":
            whole = questions["overall"]
        criteria = {name: [] for name in protocol.rubric.names}
        for name, checks, question in _by_criterion(protocol, questions):
            criteria[name].append({**question, "checks": checks})
    options = {"temperature": protocol.temperature, "max_tokens": protocol.max_tokens}
    if protocol.max_tokens is None:
        del options["max_tokens"]
    learned = protocol.deciding
    terms = list(learned.terms) if learned.kind != "mean" else list(map(criterion_term, criteria))
    told = learned.model_dump(mode="json")
    if learned.decision is not None:
        told["decision"]["unsure"] = learned.decision.unsure_text("{:.2f}")
    is_checked = isinstance(protocol, VerdictConfig) and protocol.scores_criteria
    return {
        "kind": "judge",
        "model": client_name(saved.model),
        "options": options,
        "samples": protocol.samples,
        "reduction": protocol.reduction,
        "answers": _answers(NO_YES if is_checked else protocol.answers),
        **({"combine": vars(protocol)["combine"]} if is_checked else {}),
        "tolerant": isinstance(protocol, ActiveCriticConfig),
        "lack": "lack an answer" if isinstance(protocol, ChecklistConfig) else "have none",
        "joint": joint,
        "criteria": criteria,
        "whole": whole,
        "aggregation": {
            **told,
            "terms": terms,
            "limit": _limits(learned.limit),
        },
    }


def _answers(scale: Scale) -> dict[str, Any]:
    """Return the scale of answers, what is said for each label, and how faults call it."""
    number = f"one number from {scale.low:g} to {scale.high:g}"
    said = {"true": "yes", "false": "no"} if sorted(scale.labels) == ["no", "yes"] else {}
    return {
        "low": scale.low,
        "high": scale.high,
        "labels": list(scale.labels),
        "said": {**said, **{one.casefold().strip(AROUND): one for one in scale.labels}},
        "wanted": f"one of {', '.join(scale.labels)}" if scale.labels else number,
        "ends": str(scale),
        "percent": is_percent(scale),
    }


def _by_criterion(
    protocol: JudgeConfig, questions: Mapping[str, dict[str, Any]]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if isinstance(protocol, ChecklistConfig):
        for place, criterion in enumerate(protocol.rubric.criteria, start=1):
            for number, said in enumerate(protocol.questions_for(criterion), start=1):
                yield criterion.name, said, questions[f"check_{place}_{number}"]
        return
    for place, name in enumerate(protocol.rubric.names, start=1):
        for predictor, question in questions.items():
            if predictor.endswith(f"_{place}"):
                yield name, "", question


def _question(question: Template) -> dict[str, Any]:
    """Return a question as plain data; what comes before its first fence is the same for all."""
    last = [[one.name] if isinstance(one, Slot) else one for one in question.question]
    before = takewhile(lambda one: isinstance(one, str), question.question)
    system = question.turns[0].text if question.turns else ""
    return {
        "turns": [{"role": turn.role, "content": turn.text} for turn in question.turns],
        "last": last,
        "key": fence_key(system, "".join(map(str, before))).hex(),
        "fields": dict(question.outputs),
    }
