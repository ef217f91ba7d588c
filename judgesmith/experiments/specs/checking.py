"""Whether the parts of a specification fit each other, after ``from:`` has been followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgesmith.data.rows import given_scales
from judgesmith.errors import FileError, InputError
from judgesmith.experiments.compile.ablating import ABLATIONS
from judgesmith.experiments.compile.fields import SEARCHES, searches_reading
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.tuning import check_searched
from judgesmith.experiments.specs.faults import meant, unknown_name
from judgesmith.experiments.specs.grid import Cell
from judgesmith.experiments.specs.parts import BY_RULE, MOST_IN_SUBSETS, SAME, JudgeSpec
from judgesmith.experiments.specs.published import read_published
from judgesmith.experiments.specs.settings import MisfitError, combined, protocol_of, said_plainly
from judgesmith.experiments.specs.spec import Spec
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.programs.judging.registry import (
    UnknownJudgeError,
    check_roles,
    family_of,
    known_families,
)
from judgesmith.programs.lm import Price, engine_for
from judgesmith.programs.lm.factory import check_address, check_provider
from judgesmith.signatures.plain_data import Place
from judgesmith.signatures.space import UnknownChoiceError, UnknownOptionError

FROM = "from"

Blame = Callable[[Place, str], None]


def inherited(
    entries: Mapping[str, Any], *, section: str, blame: Blame
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, str]]]:
    """Return entries with what they take from others."""
    whole: dict[str, dict[str, Any]] = {}
    origins: dict[str, dict[str, str]] = {}
    blamed: set[str] = set()
    for name in entries:
        chain = _chain(entries, name, section, blame, blamed)
        if chain is None:
            continue
        whole[name], origins[name] = {}, {}
        for one in reversed(chain):
            own = {field: value for field, value in entries[one].items() if field != FROM}
            whole[name] |= own
            origins[name] |= dict.fromkeys(own, one)
        whole[name] = {field: value for field, value in whole[name].items() if value is not None}
    return whole, origins


def _chain(
    entries: Mapping[str, Any], name: str, section: str, blame: Blame, blamed: set[str]
) -> list[str] | None:
    """Return an entry, the one it takes from, and so on; None behind a mistake."""
    chain = [name]
    while FROM in entries[chain[-1]]:
        last = chain[-1]
        taken = entries[last][FROM]
        place = (section, last, FROM)
        if not isinstance(taken, str) or taken not in entries:
            if last not in blamed:
                others = [one for one in entries if one != last]
                blame(place, unknown_name(f"entry of {section}", taken, others))
            blamed.add(last)
            return None
        if taken in chain:
            circle = [*chain[chain.index(taken) :], taken]
            if not blamed & set(circle):
                blame(
                    place,
                    f"{' takes from '.join(circle)}, which never ends; take one of these out.",
                )
            blamed |= set(circle)
            return None
        chain.append(taken)
    return chain


_OF_SEARCHES = {
    "trials": "n_trials",
    "draws": "n_draws",
    **{name: name for name in ("effort", "calls_per_item", "screen", "vary_samples", "models")},
    "rounds": "n_rounds",
}
"""Fields that are for some searches, and the settings that they are."""

_PROVIDERS = (
    *("openai", "anthropic", "gemini", "mistral", "cohere", "groq", "deepseek", "ollama", "azure"),
    *("bedrock", "vertex_ai", "openrouter", "together_ai", "hosted_vllm", "huggingface"),
)
"""Providers that are most likely meant; there are many more."""


def check_parts(spec: Spec, *, blame: Blame) -> None:
    """Tell of every part that speaks of something that is not there."""
    _check_repeated(spec, blame)
    if spec.published is not None:
        try:
            read_published(spec.published, spec.place(spec.published))
        except (InputError, FileError) as fault:
            blame(("published",), said_plainly(fault))
    _check_models(spec, blame)
    _check_optimizers(spec, blame)
    for name, judge in spec.judges.items():
        _check_judge(spec, name, judge, blame)
    _check_left_out(spec, blame)


def _check_repeated(spec: Spec, blame: Blame) -> None:
    """Tell of what stands twice in a list."""
    lists: dict[Place, Sequence[Any]] = {("seeds",): spec.seeds}
    lists["perspectives",] = spec.perspectives
    lists |= {("data", name, "targets"): one.targets for name, one in spec.data.items()}
    lists |= {("judges", name, "panel"): one.panel for name, one in spec.judges.items()}
    for place, values in lists.items():
        seen: set[Any] = set()
        for number, value in enumerate(values):
            if value in seen:
                blame((*place, number), f"{value} stands twice; keep one of the two.")
            seen.add(value)


def _check_models(spec: Spec, blame: Blame) -> None:
    for name, one in spec.models.items():
        place: Place = ("models", name)
        model = spec.model_name(name)
        _tell(blame, (*place, "model") if one.model else place, _check_model, model)
        _tell(blame, (*place, "api_base"), check_address, one.api_base, model)
        if one.price is not None:
            _tell(blame, (*place, "price"), Price.parse, one.price)


def _check_model(name: str) -> None:
    try:
        check_provider(name)
        engine_for(name)
    except ValueError as fault:
        provider, slash, _ = name.partition("/")
        near = meant(provider, _PROVIDERS) if slash else ""
        if not near:
            raise
        raise InputError(str(fault).rstrip(".") + near) from fault


def _check_supervisor(name: str) -> None:
    try:
        _check_model(name)
    except ValueError as fault:
        raise InputError(f"expected a model, {SAME} or {BY_RULE}; {fault}") from fault


def _check_optimizers(spec: Spec, blame: Blame) -> None:
    if spec.objective is not None:
        _tell(blame, ("objective",), parse_objectives, spec.objective)
    for name, one in spec.optimizers.items():
        place: Place = ("optimizers", name)
        kind = one.optimizer or name
        if kind not in SEARCHES:
            said = unknown_name("optimizer", name, SEARCHES).rstrip(".?")
            blame(place, f"{said}, or say which it is: 'optimizer: random', say.")
            continue
        for field, setting in _OF_SEARCHES.items():
            searches = searches_reading(setting)
            if field in one.said and kind not in searches:
                blame(
                    (*place, field),
                    f"{field} belongs to the optimizer {' or '.join(searches)}, and this is "
                    f"{kind}; leave it out.",
                )
        if one.objective is not None:
            _tell(blame, (*place, "objective"), parse_objectives, one.objective)
        for number, model in enumerate(one.models):
            _tell(blame, (*place, "models", number), _check_model, model)


def _check_judge(spec: Spec, name: str, judge: JudgeSpec, blame: Blame) -> None:
    place: Place = ("judges", name)
    if judge.model is not None and judge.model not in spec.models:
        blame((*place, "model"), unknown_name("model", judge.model, spec.models))
    if judge.kind == "panel":
        _check_panel(spec, name, judge, blame)
    if judge.scale is not None:
        _tell(blame, (*place, "scale"), given_scales, judge.scale)
    if judge.kind != "compiled":
        return
    for role, model in judge.role.items():
        _tell(blame, (*place, "role", role), _check_model, model)
    for number, part in enumerate(judge.without):
        if part not in ABLATIONS:
            blame((*place, "without", number), unknown_name("part", part, ABLATIONS))
    try:
        family = family_of(protocol_of(spec, judge).judge)
    except MisfitError as fault:
        _tell_of_misfit(fault, judge, place, blame)
    except ValueError as fault:
        blame(place, said_plainly(fault))
    else:
        for role in judge.role:
            _tell(blame, (*place, "role", role), check_roles, family, [role])


def _tell_of_misfit(fault: MisfitError, judge: JudgeSpec, place: Place, blame: Blame) -> None:
    """Tell of what a judge cannot be, with the nearest name that is right."""
    cause = fault.__cause__
    if isinstance(cause, UnknownJudgeError) and fault.field == "judge":
        families = (one.name for one in known_families())
        blame((*place, "judge"), unknown_name("kind of judge", judge.judge, families))
    elif isinstance(cause, UnknownChoiceError):
        name = next(one for one in judge.choose if one in cause.unknown)
        blame((*place, "choose", name), unknown_name("choice", name, cause.known))
    elif isinstance(cause, UnknownOptionError):
        near = meant(cause.given, cause.known) or "."
        blame((*place, "choose", cause.choice), str(fault).rstrip(".") + near)
    else:
        blame(place if fault.field is None else (*place, fault.field), str(fault))


def _check_panel(spec: Spec, name: str, judge: JudgeSpec, blame: Blame) -> None:
    place: Place = ("judges", name, "panel")
    if len(judge.panel) < 2:
        blame(place, f"a panel has two judges or more; got {', '.join(judge.panel)}.")
    if judge.at_least is not None and judge.at_least > len(judge.panel):
        blame(
            ("judges", name, "at_least"),
            f"a panel of {len(judge.panel)} has no {judge.at_least} members; give fewer.",
        )
    if judge.supervisor not in (None, SAME, BY_RULE):
        _tell(blame, ("judges", name, "supervisor"), _check_supervisor, judge.supervisor)
    if judge.outliers != "auto" and judge.supervisor is None:
        blame(
            ("judges", name, "outliers"),
            "outliers says whose errors are left out of one list, and none is made; give "
            f"supervisor ({SAME}, {BY_RULE} or a model).",
        )
    if judge.supervisor is not None:
        for number, member in enumerate(judge.panel):
            if member in spec.judges and spec.judges[member].kind not in ("compiled", "saved"):
                blame(
                    (*place, number),
                    f"{member} points at no errors that could be merged; take it out of this "
                    "panel, or leave supervisor out.",
                )
    if judge.subsets and len(judge.panel) > MOST_IN_SUBSETS:
        blame(
            ("judges", name, "subsets"),
            f"{len(judge.panel)} judges have {2 ** len(judge.panel) - 1:,} subsets; at most "
            f"{MOST_IN_SUBSETS} judges are compared so.",
        )
    for number, member in enumerate(judge.panel):
        if member not in spec.judges:
            others = [one for one in spec.judges if one != name]
            blame((*place, number), unknown_name("judge", member, others))
    circle = _circle(spec, name)
    # Told once, where the first of them stands.
    if circle and name == min(circle, key=list(spec.judges).index):
        blame(place, f"{' has '.join((*circle, circle[0]))}, which never ends; take one out.")


def _circle(spec: Spec, start: str) -> tuple[str, ...]:
    """Return the panels that lead from a panel back to itself; none where none do."""
    seen: set[str] = set()
    waiting: list[tuple[str, ...]] = [(start,)]
    while waiting:
        path = waiting.pop()
        for member in spec.judges[path[-1]].panel:
            if member == start:
                return path
            if member in spec.judges and member not in seen:
                seen.add(member)
                waiting.append((*path, member))
    return ()


def _check_left_out(spec: Spec, blame: Blame) -> None:
    """Tell of combinations that name what there is not."""
    # One that is misspelled where it stands is told of there.
    unknown = any((one.optimizer or name) not in SEARCHES for name, one in spec.optimizers.items())
    known: Mapping[str, Sequence[Any]] = {
        "data": tuple(spec.data),
        "target": tuple(dict.fromkeys(t for one in spec.data.values() for t in one.targets)),
        "judge": tuple(spec.judges),
        "optimizer": (*spec.optimizers, *(SEARCHES if unknown else ())),
        "model": tuple(spec.models),
        "seed": spec.seeds,
    }
    for number, one in enumerate(spec.leave_out):
        for field in known:
            for value in getattr(one, field):
                if value not in known[field]:
                    blame(("leave_out", number, field), unknown_name(field, value, known[field]))


def _tell(blame: Blame, place: Place, check: Callable[..., object], *values: Any) -> None:
    """Check values, and tell of what is refused."""
    try:
        check(*values)
    except ValueError as fault:
        blame(place, said_plainly(fault))


_OF_VERSIONS = ("task", "kinds", "holdout_kinds", "versions", "expert_weights")


def check_combinations(spec: Spec, cells: Sequence[Cell], *, blame: Blame) -> None:
    """Tell of judges, optimizers and sets that do not go together in a cell."""
    compiled = [cell for cell in cells if spec.judges[cell.judge].kind == "compiled"]
    protocols = {name: protocol_of(spec, spec.judges[name]) for name in {c.judge for c in compiled}}
    used: dict[str, dict[str, None]] = defaultdict(dict)
    wrong: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    minding: set[str] = set()
    seen: set[tuple[str, str | None, str]] = set()
    for cell in compiled:
        key = (cell.judge, cell.optimizer, cell.data)
        if key in seen or cell.optimizer is None:
            continue
        seen.add(key)
        used[cell.judge][cell.optimizer] = None
        judge = spec.judges[cell.judge]
        try:
            settings = combined(
                spec,
                judge,
                protocols[cell.judge],
                optimizer=(cell.optimizer, spec.optimizers[cell.optimizer]),
                data=spec.data[cell.data],
                targets=cell.targets,
                seed=cell.seed,
            )
            _check_search(settings, judge)
        except (InputError, FileError) as fault:
            wrong[cell.judge, said_plainly(fault)][cell.optimizer] = None
            continue
        if settings.minds_versions:
            minding.add(cell.data)
    for (name, said), optimizers in wrong.items():
        if list(optimizers) == list(used[name]):
            blame(("judges", name), said)
        else:
            with_these = " or ".join(optimizers)
            blame(
                ("judges", name),
                f"with the optimizer {with_these}: {said.rstrip('.')} (or leave the combination "
                "out: see leave_out).",
            )
    if not wrong:
        _check_versions(spec, minding, blame)


def _check_search(settings: CompileSettings, judge: JudgeSpec) -> None:
    """Refuse a search that cannot be made for a judge, or an objective that it does not mind."""
    family = family_of(judge.judge)
    if not family.asks and settings.search.needs_wording:
        raise InputError(
            f"{settings.optimizer} rewrites what a model is asked, and a {family.name} judge asks "
            "none.",
            hint="use protocol, random or none.",
        )
    check_searched(settings)


def _check_versions(spec: Spec, minding: set[str], blame: Blame) -> None:
    """Tell of what is said of changed versions of texts that no objective looks at."""
    for name, one in spec.data.items():
        said = [field for field in _OF_VERSIONS if field in one.said]
        if said and name not in minding and name not in spec.absent:
            blame(
                ("data", name, said[0]),
                f"{said[0]} is about changed versions of texts, at which no objective looks; add "
                "d_min or d_avg to one, or leave it out.",
            )
