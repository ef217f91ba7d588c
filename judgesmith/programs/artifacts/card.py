"""The judge card: what a compiled judge is, for people who meet its folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesmith.programs.artifacts.record import (
    Report,
    SavedAgreement,
    SavedDiscernment,
    SavedEstimate,
    SavedVerdicts,
    agreement_text,
    estimate_in,
)
from judgesmith.programs.artifacts.saved import SavedJudge, taken_number
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures.aggregation import Aggregation, Calibration, Decision, PanelRules
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import NEGATIVE, POSITIVE, Scale

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.record import SavedRecord
    from judgesmith.programs.artifacts.saved_ensembles import SavedComposite, SavedPanel


def rows_that_taught(rubric: Rubric) -> frozenset[str]:
    """Return ``RatedItem.key`` of every row that an inferred rubric was made from."""
    batches = rubric.provenance.get("batches")
    words = rubric.provenance.get("guidelines")
    found = set(words) if isinstance(words, dict) else set()
    for batch in batches if isinstance(batches, list) else []:
        # A rubric is a file that people edit; what has another shape names no rows.
        rows = batch.get("rows") if isinstance(batch, dict) else None
        found.update(rows if isinstance(rows, dict) else {})
    return frozenset(found)


def rubric_mark(rubric: Rubric) -> str:
    """Return twelve hex digits that change with anything in a rubric that a model is shown."""
    shown = rubric.model_dump(mode="json", include={"task", "criteria", "guidelines"})
    return fingerprint_of(shown)


def is_edited(rubric: Rubric) -> bool:
    """Return whether a rubric differs from the one that was inferred, as far as it has its mark."""
    mark = rubric.provenance.get("mark")
    return isinstance(mark, str) and mark != rubric_mark(rubric)


_COLUMNS = ("uncompiled", "best_member", "heldout", "gain")
_OVERALL = ("d_min", "d_avg", "false_alarms")


def discernment_lines(found: SavedDiscernment | None) -> Iterator[str]:
    r"""Yield what was found of discernment, in Markdown; nothing where it was not looked at."""
    if found is None:
        return
    yield "## Discernment"
    yield ""
    yield "D is the evidence that originals score higher than changed versions (1: p = .05)."
    yield f"Selected by: {_names(found.kinds)}."
    if found.unseen_kinds:
        yield f"Kept for the report: {_names(found.unseen_kinds)}."
    yield ""
    seen, unseen = found.seen or {}, found.unseen or {}
    columns = {"validation": found.selection}
    if seen:
        columns |= {name: seen[name] for name in _COLUMNS if name in seen}
    rows = list(_rows("kinds of the search", columns))
    if unseen:
        rows += _rows("held-out kinds", {name: unseen.get(name) for name in columns})
    yield from _table(["changes", "D", *columns], rows)
    yield ""


def _rows(which: str, columns: Mapping[str, Report | None]) -> Iterator[list[str]]:
    reports = [(one or {}).get("overall") or {} for one in columns.values()]
    for name in _OVERALL:
        if any(name in report for report in reports):
            cells = (
                agreement_text(report[name], ".2f") if name in report else "" for report in reports
            )
            yield [which, name, *cells]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


def _names(kinds: Any) -> str:
    return ", ".join(one.name for one in kinds or ()) or "none"


def holder_lines(judge: SavedComposite) -> Iterator[str]:
    """Yield what was learned, then every member."""
    from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedPanel

    if isinstance(judge, SavedPanel):
        yield from _weights_lines(judge)
        if start := list(_start_lines(judge)):
            yield from (*start, "")
    elif isinstance(judge, SavedCalibrated):
        yield "## Calibration"
        yield ""
        yield from calibration_lines(judge.calibration, judge.members["judge"].scale)
        yield from report_lines(judge.agreement.calibration)
        yield "- the agreement above is that of the judge before calibration, which keeps the order"
        yield "  of scores, except for ties and abstentions"
        yield ""
    for name, member in judge.members.items():
        yield f"## {name}"
        yield ""
        yield from _member_lines(member)
        yield ""


def _weights_lines(judge: SavedPanel) -> Iterator[str]:
    weights = judge.weights
    yield "## Members"
    yield ""
    total = sum(weights.weights)
    rows = []
    for name, weight in zip(weights.members, weights.weights, strict=True):
        one = judge.members[name]
        share = f"{weight / total:.3f}" if weight else "0, not asked"
        rows.append([name, share, str(one.scale), ", ".join(one.models), f"`{one.fingerprint}`"])
    yield from _table(["member", "weight", "on", "model", "fingerprint"], rows)
    yield ""
    yield (
        f"The score is the weighted {weights.middle} of the members' standardised scores, put back "
        "on a scale."
    )
    yield ""
    if judge.rules is not None:
        yield "## Errors"
        yield ""
        yield from errors_lines(
            judge.rules, None if judge.supervisor is None else judge.supervisor.model
        )
        yield ""


def errors_lines(rules: PanelRules, supervisor: str | None) -> Iterator[str]:
    r"""Yield how the errors that members list become one list."""
    if supervisor is None:
        yield "- merged by rule, where the stretches that two members mark overlap"
    else:
        by = f"the supervisor, `{supervisor}`"
        yield f"- merged by {by}, and held against response and annotations"
    yield {
        "none": "- of every member, wherever its score stands",
        "deviation": "- but for members two standard deviations and a level from the mean",
        "median": "- but for members two levels from the median of the others",
        "auto": "- but for members whose score stands apart: by the median of the others in panels "
        "of less than six, by standard deviation in larger ones",
    }[rules.outliers]
    yield f"- at most {rules.most} of a criterion, the most severe"
    yield f"- a score needs {rules.readable:.0%} of the members"


def calibration_lines(learned: Calibration, scale: Scale) -> Iterator[str]:
    r"""Yield what a calibration promises, and how much it rests on."""
    ends = ", ".join(f"{one:g} becomes {learned.apply(one):.3g}" for one in (scale.low, scale.high))
    n = len(learned.thresholds)
    shape = "line" if n == 2 else f"way with {n} {'corner' if n == 1 else 'corners'}"
    yield (
        f"- a {shape} to {learned.scale}: {ends}; learned from {learned.n_map} rows of "
        f"{learned.n_sources_map} sources"
    )
    behind = f"{learned.n_margin} rows of {learned.n_sources_margin} other sources"
    if learned.margin is None:
        yield f"- interval: the whole scale, as {behind} are too few for {learned.confidence:.0%}"
    else:
        yield (
            f"- interval: ±{learned.margin:.3g} points, which covers the human rating of a "
            f"response to a new source with a probability of at least {learned.confidence:.0%}; "
            f"from {behind}"
        )
    rule = learned.abstention
    if rule is None:
        return
    kept = {"all": "all", "none": "none, as no limit could be certified"}
    limit = f"those whose {rule.doubt} lie less than {rule.limit or 0:.3g} points apart"
    yield (
        f"- kept scores: {kept.get(rule.keeps, limit)}; their mean error is below {rule.wished:g} "
        f"points at {rule.confidence:.0%} confidence; learned from {rule.n} rows of "
        f"{rule.n_sources} sources, {rule.coverage:.0%} of them kept"
    )


def report_lines(report: Any) -> Iterator[str]:
    """Yield how the promises held on rows held out."""
    if not isinstance(report, dict) or not report.get("n"):
        return
    said = [f"{report['n']} test rows of {report.get('n_sources')} sources"]
    for name, text in (
        ("covered", "{:.0%} of human ratings are in the interval"),
        ("kept", "{:.0%} of the scores are kept"),
        ("distance", "the mean error of kept scores is {:.3g} points"),
    ):
        if isinstance(report.get(name), int | float):
            said.append(text.format(report[name]))
    yield f"- on {', '.join(said)}"


def _member_lines(member: SavedRecord) -> Iterator[str]:

    from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedComposite

    if isinstance(member, SavedJudge):
        yield from protocol_lines(member)
    elif isinstance(member, SavedComposite):
        if isinstance(member, SavedCalibrated):
            yield from calibration_lines(member.calibration, member.members["judge"].scale)
        for name, one in member.members.items():
            yield f"- `{name}`:"
            yield from (f"  {line}" for line in _member_lines(one))


def judge_card(judge: SavedRecord) -> str:
    return "\n".join(map(printable, _lines(judge))) + "\n"


def aggregation_text(aggregation: Aggregation) -> str:
    """Return in words how the model's numbers become the score."""
    if aggregation.kind == "overall":
        return "the model's own overall score"
    if aggregation.kind == "mean":
        return "the mean of the criteria"
    strongest = sorted(aggregation.weighed.items(), key=lambda pair: -abs(pair[1]))
    shown = ", ".join(f"{weight:+.3f} {term}" for term, weight in strongest[:8])
    more = f" and {len(strongest) - 8} more" if len(strongest) > 8 else ""
    limit = aggregation.limit
    clipped = "" if limit is None else f" (clipped at ±{limit:g} SD)"
    return f"weighted sum of standardized features{clipped}: {shown}{more}"


def printable(text: str) -> str:
    r"""Return ``text`` with everything that cannot be printed on one line spelled out."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _lines(judge: SavedRecord) -> Iterator[str]:
    from judgesmith.programs.artifacts.saved_ensembles import SavedComposite, SavedPanel

    alone = isinstance(judge, SavedJudge)
    panel = isinstance(judge, SavedPanel)
    yield f"# A {'compiled judge' if alone else 'panel of judges' if panel else 'calibrated judge'}"
    yield ""
    verdicts = judge.agreement.verdicts
    if verdicts is not None:
        said = verdicts_text(verdicts, judge.human_scale)
        yield f"**It {said}.**{useless_text(verdicts.heldout)}"
        yield ""
    if not judge.agreement.is_unrated:
        yield f"Scores `{judge.target}`, which raters gave on {judge.human_scale};"
    elif judge.agreement.discernment is not None:
        yield "Compiled without ratings, by its sensitivity to changes;"
    else:
        yield "Combined without ratings, so nothing was learned;"
    models = ", ".join(f"`{one}`" for one in judge.models)
    many = "models" if len(judge.models) > 1 else "model"
    yield f"its own scale is {judge.scale}. Compiled with the {many} {models}."
    if judge.models == ("offline",):
        yield "The offline model is a classical model of text quality, not a language model."
    yield f"Fingerprint `{judge.fingerprint}`."
    if judge.settings.get("complete") is False:
        yield "**Incomplete**: the budget ended before the compilation did."
    yield ""
    yield "## Agreement with human ratings"
    yield ""
    if verdicts is not None:
        parts = {"uncompiled": verdicts.uncompiled, "heldout": verdicts.heldout}
        rows = [
            [title, *(agreement_text(one.get(name)) for one in parts.values())]
            for name, title in RATE_TITLES.items()
        ]
        yield from _table(["labels", *parts], rows)
        yield ""
    yield from _agreement_table(judge.agreement)
    yield ""
    yield from _criteria_table(judge.agreement)
    yield from discernment_lines(judge.agreement.discernment)
    if judge.rows:
        yield f"Rows: {', '.join(f'{count} {use}' for use, count in judge.rows.items())}."
    if judge.agreement.heldout:
        yield "Held-out rows share no source with the rows that the judge was selected on."
    yield ""
    if isinstance(judge, SavedJudge):
        yield from front_lines(judge)
        yield "## Protocol"
        yield ""
        yield from protocol_lines(judge)
        yield ""
    elif isinstance(judge, SavedComposite):
        yield from holder_lines(judge)
    yield "`judge.json` is the judge; `prompts/` shows every prompt as text. Load it with"
    yield '`judgesmith.load("FOLDER")` or score with `judgesmith score FOLDER INPUT -o OUT.jsonl`.'
    others = [name for name in judge.models if name != "offline"]
    if others:
        yield "Texts leave this machine only for models that you name: `--allow-model NAME`, or"
        yield f"`allow_models=[...]`. This judge calls {', '.join(f'`{name}`' for name in others)}."


def protocol_lines(judge: SavedJudge) -> Iterator[str]:
    """Yield what a judge asks, and how it scores."""
    protocol = judge.protocol
    yield from _family_lines(protocol)
    for role, model in judge.roles.items():
        yield f"- {role}: `{model}`"
    yield f"- score: {score_text(protocol)}"
    if label := label_text(protocol):
        yield f"- label: {_on_one_line(label)}"
    if protocol.weighting == "probabilities":
        yield "- every number is the mean of the possible answers, weighted by their probability"
    if protocol.samples > 1:
        yield f"- {protocol.samples} samples per prompt, reduced by their {protocol.reduction}"
    for name, shown in protocol.demonstrations.items():
        some = "" if protocol.nearest is None else f"the {protocol.nearest} nearest of "
        yield f"- demonstrations in `{name}`: {some}{len(shown)}"
    yield from _start_lines(judge)
    yield from _importance_lines(judge)
    if protocol.tells_rubric:
        yield from _rubric_lines(protocol.rubric)


def _start_lines(judge: SavedRecord) -> Iterator[str]:
    if earlier := judge.settings.get("earlier"):
        yield f"- started from the judge with the fingerprint `{earlier}`"


def _importance_lines(judge: SavedJudge) -> Iterator[str]:
    for one in judge.history:
        shares = one.get("shares") if one.get("stage") == "importances" else None
        if not isinstance(shares, Mapping):
            continue
        known = [(name, v) for name, v in shares.items() if isinstance(v, int | float)]
        if told := ", ".join(f"{name} {share:.0%}" for name, share in known):
            by = _on_one_line(str(one.get("objective", "the objective")))
            yield f"- most important choices of the search for {by} (PED-ANOVA): {told}"


def _rubric_lines(rubric: Rubric) -> Iterator[str]:
    yield f"- task: {_on_one_line(rubric.task) or 'not described'}"
    if origin := _origin_text(rubric):
        yield f"- {origin}"
    for criterion in rubric.criteria:
        ends = [("0", criterion.worst), ("100", criterion.best)]
        means = "; ".join(f"{end} means: {_on_one_line(text)}" for end, text in ends if text)
        definition = _on_one_line(criterion.definition)
        yield f"- **{criterion.name}**: {definition}{f' ({means})' if means else ''}"
    for guideline in rubric.guidelines:
        own = f" ({len(guideline.rows)} rows)" if guideline.rows else ""
        yield f"- guideline{own}: {_on_one_line(guideline.text)}"


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


def _family_lines(protocol: JudgeConfig) -> Iterator[str]:
    if isinstance(protocol, ActiveCriticConfig):
        yield f"- variant: {protocol.variant}{_choices_text(protocol)}"
        return
    yield f"- judge: {protocol.judge}, which {family_of(protocol.judge).about}"
    written = protocol.model_dump()
    for name in type(protocol).model_fields:
        if name in JudgeConfig.model_fields or name not in written:
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


def _choices_text(protocol: ActiveCriticConfig) -> str:
    chosen = []
    if protocol.criteria_calls == "separate":
        chosen.append("one call per criterion")
    if protocol.overall == "mean":
        chosen.append("no overall question")
    if protocol.variant != "vanilla" and protocol.explain != "before":
        chosen.append("no explanations" if protocol.explain == "none" else "explanations last")
    return "".join(f", {one}" for one in chosen)


def decision_text(decision: Decision) -> str:
    """Return from which score on a judge gives the good label, and why, in words."""
    good = str(decision.scale.positive)
    if len(decision.scale.labels) > 2:
        return f"the nearest of {', '.join(decision.scale.labels)}"
    left = ""
    if decision.abstain is not None:
        low, high = (min(max(one, 0.0), 1.0) for one in decision.abstain)
        left = f"; from {low:.3f} to {high:.3f} it abstains"
    why = f", by {decision.why}" if decision.why else ""
    return f"{good} from {decision.threshold:.3f} on{why}{left}"


RATE_TITLES = {"tnr": "TNR", "tpr": "TPR", "balanced_accuracy": "balanced accuracy"}


def rates_text(
    tnr: SavedEstimate,
    tpr: SavedEstimate,
    scale: Scale,
    *,
    n_negative: int,
    n_rows: int,
    rows: str = "test rows",
) -> str:
    """Return the share of bad answers that a judge stops, and of good ones that it passes."""
    bad, good = "bad answers", "good ones"
    positive = str(scale.positive)
    negative = scale.labels[0] if len(scale.labels) == 2 else f"not {positive}"
    n = f"{n_negative} {negative}"
    if len(scale.labels) > 2:
        bad, good = f"answers that are {negative}", f"those that are {positive}"
    elif positive.casefold() not in POSITIVE or negative.casefold() not in NEGATIVE:
        bad, good = f"answers labelled {negative!r}", f"those labelled {positive!r}"
    elif negative.casefold() == "fail" and n_negative != 1:
        n = f"{n_negative} fails"
    return (
        f"stops {tnr.percent} of {bad} (TNR), passes {tpr.percent} of {good} (TPR); {n} among "
        f"{n_rows} {rows}"
    )


def verdicts_text(found: SavedVerdicts, scale: Scale) -> str:
    """Return what a compiled judge does with good and bad answers on test rows."""
    _, n_bad = found.n.values()
    rates = found.heldout["tnr"], found.heldout["tpr"]
    return rates_text(*rates, scale, n_negative=n_bad, n_rows=sum(found.n.values()))


def useless_text(heldout: Mapping[str, SavedEstimate]) -> str:
    """Return that a judge decides nothing, if it does not; a space before it."""
    if heldout["tnr"].value == 0:
        return " It stops no bad answer: such a judge is useless, however many it passes."
    if heldout["tpr"].value == 0:
        return " It passes no good answer: such a judge is useless, however many it stops."
    return ""


def score_text(protocol: JudgeConfig) -> str:
    """Return in words how a judge's score comes about: by itself, or as learned."""
    if protocol.aggregation.kind == "overall":
        return protocol.own_score
    return aggregation_text(protocol.aggregation)


def label_text(protocol: JudgeConfig) -> str:
    """Return in words which label a score becomes, and why; empty where judges give none."""
    rule, labels = protocol.deciding.decision, protocol.scores_on.labels
    if not protocol.scores_on.is_verdict:
        return ""
    likeliest = protocol.judge == "verdict" and protocol.aggregation.decision is None
    if rule is None or (likeliest and len(labels) > 2):
        return f"the likeliest of {', '.join(labels)}"
    return decision_text(rule)


def _agreement_table(agreement: SavedAgreement) -> Iterator[str]:
    parts = agreement.reports
    if not parts and agreement.is_unrated:
        yield "It was made without ratings, so nothing is known of it."
        return
    if not parts:
        yield "No rows were kept for a report."
        return
    rows = []
    for level in ("dataset", "sample", "system"):
        for statistic in ("pearson", "spearman", "kendall", "q"):
            cells = [agreement_text(estimate_in(one, level, statistic)) for one in parts.values()]
            if any(cell != "undefined" for cell in cells):
                rows.append([level, statistic, *cells])
    yield from _table(["level", "statistic", *parts], rows)
    if any(level == "system" for level, *_ in rows):
        yield ""
        yield "System level correlates one mean per system; intervals take the systems as given."
        yield "Fewer than 10 systems tell little."


def _criteria_table(agreement: SavedAgreement) -> Iterator[str]:
    """Yield the agreement on criteria that people rated, over all rows held out."""
    by_criterion = agreement.criteria or {}
    after = by_criterion.get("heldout") or {}
    if not after:
        return
    before = by_criterion.get("uncompiled") or {}
    yield "By criterion, Pearson over all rows held out:"
    yield ""
    rows = []
    for name, report in after.items():
        now = estimate_in(report, "dataset", "pearson")
        then = estimate_in(before.get(name), "dataset", "pearson")
        n = str(0 if now is None or now.n is None else now.n)
        rows.append([_on_one_line(name), n, agreement_text(then), agreement_text(now)])
    yield from _table(["criterion", "n", "uncompiled", "heldout"], rows)
    yield ""


def front_lines(judge: SavedJudge) -> Iterator[str]:
    """Yield the front as a table in Markdown; nothing where it is empty."""
    if not judge.front:
        return
    names = list(judge.front[0].values)
    models = len({one.model for one in judge.front}) > 1
    current = taken_number(judge)
    yield "## Front"
    yield ""
    yield "No other judge that was tried is as good on every objective and better on one. Values"
    yield "are on the validation rows, before scores were learned to be"
    yield "aggregated; `judgesmith compile take FOLDER NUMBER -o OTHER` takes another one."
    yield ""
    heads = ["number", *names, "calls per item", *(["model"] if models else []), "picked"]
    rows = []
    for one in judge.front:
        marks = ["the knee"] * one.knee + ["this judge"] * (one.number == current)
        number = f"{one.number} ({', '.join(marks)})" if marks else str(one.number)
        picked = ", ".join(f"{name} {option}" for name, option in one.picked.items())
        cells = [
            number,
            # Dollars per item are far below one, and 0.000 would say nothing.
            *(agreement_text(one.values.get(n), ".3g" if "usd" in n else ".3f") for n in names),
            f"{one.calls:.3g}",
            *([one.model] if models else []),
            picked or "baseline",
        ]
        rows.append(cells)
    yield from _table(heads, rows)
    yield ""
