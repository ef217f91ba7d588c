"""The judge card: what a compiled judge is, for people who meet its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgesmith.programs.discernment_card import discernment_lines
from judgesmith.programs.families import family_of
from judgesmith.programs.front import front_lines
from judgesmith.programs.holder_card import holder_lines, holder_title
from judgesmith.programs.taught import is_edited, rows_that_taught
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    from judgesmith.programs.saved import SavedJudge
    from judgesmith.programs.saved_record import SavedRecord


def judge_card(judge: SavedRecord) -> str:
    """Return the judge card in Markdown, with nothing in it that a terminal obeys."""
    return "\n".join(map(printable, _lines(judge))) + "\n"


def agreement_text(estimate: Mapping[str, Any] | None, digits: str = ".3f") -> str:
    """Return an estimate with its interval as text, ``undefined`` where there is none.

    Examples
    --------
    >>> agreement_text({"value": 0.5, "low": 0.41, "high": 0.6, "confidence": 0.95})
    '0.500 [0.410, 0.600]'
    """
    if estimate is None or estimate.get("value") is None:
        return "undefined"
    value, low, high = (_without_noise(estimate.get(name)) for name in ("value", "low", "high"))
    if low is None or high is None:
        return f"{value:{digits}}"
    return f"{value:{digits}} [{low:{digits}}, {high:{digits}}]"


def _without_noise(value: float | None) -> float | None:
    """Return 0 for what differs from it by rounding alone, which would show as -0.000."""
    return 0.0 if value is not None and abs(value) < 1e-12 else value


def aggregation_text(aggregation: Aggregation) -> str:
    """Return in words how the score is made of the model's numbers."""
    if aggregation.kind == "overall":
        return "the model's own overall score"
    if aggregation.kind == "mean":
        return "the mean of the criteria"
    strongest = sorted(
        zip(aggregation.terms, aggregation.weights, strict=True), key=lambda pair: -abs(pair[1])
    )
    shown = ", ".join(f"{weight:+.3f} {term}" for term, weight in strongest[:8])
    more = f" and {len(strongest) - 8} more" if len(strongest) > 8 else ""
    limit = aggregation.limit
    within = "" if limit is None else f" (counted up to {limit:g} of them)"
    return f"learned weights per standard deviation{within}: {shown}{more}"


def printable(text: str) -> str:
    r"""Return ``text`` with everything that cannot be printed on one line spelled out.

    Examples
    --------
    >>> printable("clear the screen: \x1b[2J")
    'clear the screen: \\x1b[2J'
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _lines(judge: SavedRecord) -> Iterator[str]:
    from judgesmith.programs.saved import SavedJudge
    from judgesmith.programs.saved_kinds import SavedHolder

    alone = isinstance(judge, SavedJudge)
    yield "# A compiled judge" if alone else f"# {holder_title(judge)}"
    yield ""
    if judge.agreement.get("selection", True) is not None:
        yield f"Judges `{judge.target}`, rated by people on {judge.human_scale};"
    elif judge.agreement.get("discernment"):
        yield "Made from texts that nobody rated, by what it notices when they are changed;"
    else:
        yield "Put together without ratings, so that nothing was learned;"
    models = ", ".join(f"`{one}`" for one in judge.models)
    many = "models" if len(judge.models) > 1 else "model"
    yield f"answers on {judge.scale}. Compiled with the {many} {models}."
    if judge.models == ("offline",):
        yield "The offline model is a classical model of text quality, not a language model."
    yield f"Fingerprint `{judge.fingerprint}`."
    if judge.settings.get("complete") is False:
        yield "**Incomplete**: the budget ended before the run that made this judge did."
    yield ""
    yield "## Agreement with people"
    yield ""
    yield from _agreement_table(judge.agreement)
    yield ""
    yield from _criteria_table(judge.agreement.get("criteria") or {})
    yield from discernment_lines(judge.agreement.get("discernment") or {})
    if judge.rows:
        yield f"Rows: {', '.join(f'{count} {use}' for use, count in judge.rows.items())}."
    if judge.agreement.get("heldout"):
        yield "Sources of held-out rows were not used to choose; those of selection rows were."
    yield ""
    if isinstance(judge, SavedJudge):
        yield from front_lines(judge)
        yield "## Protocol"
        yield ""
        yield from protocol_lines(judge)
        yield ""
    elif isinstance(judge, SavedHolder):
        yield from holder_lines(judge)
    yield "`judge.json` is the judge; `prompts/` shows every question as text. Load it with"
    yield '`judgesmith.load("FOLDER")` or score with `judgesmith score FOLDER INPUT -o OUT.jsonl`.'
    others = [name for name in judge.models if name != "offline"]
    if others:
        yield "Texts go to a model with a network only if you name it: `--allow-model NAME`, or"
        yield f"`allow_models=[...]`. This judge asks {', '.join(f'`{name}`' for name in others)}."


def protocol_lines(judge: SavedJudge) -> Iterator[str]:
    """Yield what a judge asks, and how its score is made."""
    protocol = judge.protocol
    yield from _family_lines(protocol)
    for role, model in judge.roles.items():
        yield f"- {role}: `{model}`"
    yield f"- score: {score_text(protocol)}"
    if protocol.weighting == "probabilities":
        yield "- its numbers are means of all that the model might have answered, by probability"
    if protocol.samples > 1:
        yield f"- every question is asked {protocol.samples} times: the {protocol.reduction} counts"
    for name, shown in protocol.demonstrations.items():
        some = "" if protocol.nearest is None else f"the {protocol.nearest} nearest of "
        yield f"- demonstrations in `{name}`: {some}{len(shown)}"
    if judge.settings.get("earlier"):
        yield f"- started from the judge with the fingerprint `{judge.settings['earlier']}`"
    yield from _importance_lines(judge)
    if protocol.tells_rubric:
        yield from _rubric_lines(protocol.rubric)


def _importance_lines(judge: SavedJudge) -> Iterator[str]:
    """Yield which choices told good judges from others, where a search took note of it."""
    for one in judge.history:
        shares = one.get("shares") if one.get("stage") == "importances" else None
        if not isinstance(shares, Mapping):
            continue
        known = [(name, v) for name, v in shares.items() if isinstance(v, int | float)]
        if told := ", ".join(f"{name} {share:.0%}" for name, share in known):
            by = _on_one_line(str(one.get("objective", "the objective")))
            yield f"- what told judges of the search apart by {by}, by PED-ANOVA: {told}"


def _rubric_lines(rubric: Rubric) -> Iterator[str]:
    """Yield what the model is told of task and criteria, and where it comes from."""
    yield f"- task: {_on_one_line(rubric.task) or 'not described'}"
    if origin := _origin_text(rubric):
        yield f"- {origin}"
    for criterion in rubric.criteria:
        ends = [("0", criterion.worst), ("100", criterion.best)]
        means = "; ".join(f"{end} means: {_on_one_line(text)}" for end, text in ends if text)
        definition = _on_one_line(criterion.definition)
        yield f"- **{criterion.name}**: {definition}{f' ({means})' if means else ''}"


def _origin_text(rubric: Rubric) -> str:
    """Return which part of a rubric was inferred, and from what; empty where nothing was."""
    learned = rubric.provenance
    parts = [name for name in ("task", "criteria") if _is_taught(learned.get(name))]
    batches = learned.get("batches")
    if not parts or not isinstance(batches, list):
        return ""
    n_rows = len(rows_that_taught(rubric))
    edited = " and edited since" if is_edited(rubric) else ""
    return (
        f"{' and '.join(parts)} inferred from {n_rows} rated rows in {len(batches)} batches"
        f"{edited}; `judge.json` names the rows under `provenance`"
    )


def _is_taught(learned: Any) -> bool:
    entries = [learned, *(learned.values() if isinstance(learned, dict) else ())]
    return any(isinstance(one, dict) and "batches" in one for one in entries)


def _family_lines(protocol: JudgeProtocol) -> Iterator[str]:
    """Yield what kind of judge it is, and what is particular to its family."""
    if isinstance(protocol, Protocol):
        yield f"- variant: {protocol.variant}{_choices_text(protocol)}"
        return
    yield f"- judge: {protocol.judge}, which {family_of(protocol.judge).about}"
    for name in type(protocol).model_fields:
        if name in JudgeProtocol.model_fields:
            continue
        value = getattr(protocol, name)
        if not isinstance(value, Mapping):
            yield f"- {name.replace('_', ' ')}: {_on_one_line(str(value))}"
            continue
        yield f"- {name.replace('_', ' ')}:{'' if value else ' none'}"
        for key, several in value.items():
            yield f"  - {_on_one_line(str(key).partition(':')[0])}:"
            for place, line in enumerate(several, start=1):
                yield f"    {place}. {_on_one_line(str(line))}"


def _choices_text(protocol: Protocol) -> str:
    """Return what of the variant was chosen otherwise than usual."""
    chosen = []
    if protocol.criteria_calls == "separate":
        chosen.append("every criterion in a call of its own")
    if protocol.overall == "mean":
        chosen.append("no overall question")
    if protocol.variant != "vanilla" and protocol.explain != "before":
        chosen.append("no explanations" if protocol.explain == "none" else "explanations last")
    return "".join(f", {one}" for one in chosen)


def score_text(protocol: JudgeProtocol) -> str:
    """Return in words how a judge's score comes about: by itself, or as it was learned."""
    if protocol.aggregation.kind == "overall":
        return protocol.own_score
    return aggregation_text(protocol.aggregation)


def _agreement_table(agreement: Mapping[str, Any]) -> Iterator[str]:
    known = ("uncompiled", "best_member", "selection", "heldout")
    parts = [part for part in known if agreement.get(part)]
    if not parts and agreement.get("selection", True) is None:
        yield "It was made without ratings, so nothing is known of it."
        return
    if not parts:
        yield "No rows were kept for a report."
        return
    yield "| level | statistic | " + " | ".join(parts) + " |"
    yield "| --- | --- | " + " | ".join("---" for _ in parts) + " |"
    for level in ("dataset", "sample", "system"):
        for statistic in ("pearson", "spearman", "kendall", "q"):
            cells = [
                agreement_text((agreement[part].get(level) or {}).get(statistic)) for part in parts
            ]
            if any(cell != "undefined" for cell in cells):
                yield f"| {level} | {statistic} | " + " | ".join(cells) + " |"


def _criteria_table(by_criterion: Mapping[str, Any]) -> Iterator[str]:
    """Yield the agreement on criteria that people rated, over all rows held out."""
    after = by_criterion.get("heldout") or {}
    if not after:
        return
    before = by_criterion.get("uncompiled") or {}
    yield "By criterion, Pearson over all rows held out:"
    yield ""
    yield "| criterion | n | uncompiled | heldout |"
    yield "| --- | --- | --- | --- |"
    for name, report in after.items():
        now = ((report or {}).get("dataset") or {}).get("pearson")
        then = ((before.get(name) or {}).get("dataset") or {}).get("pearson")
        cells = [_on_one_line(name).replace("|", "/"), str((now or {}).get("n", 0))]
        yield f"| {' | '.join([*cells, agreement_text(then), agreement_text(now)])} |"
    yield ""
