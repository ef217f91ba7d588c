"""The grids of the papers on small data of the same form: every cell can be made, offline."""

import gzip
import json
from dataclasses import dataclass

import pytest

from judgesmith.experiments import compile_judge
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.settings import settings_without_labels
from judgesmith.experiments.specs import cells_of, read_sets, settings_of, spec_of
from judgesmith.experiments.specs.templates import START, template_names, template_text
from judgesmith.programs.lm import model

PAPERS = [name for name in template_names() if name != START]
SETS = {
    "summeval": ["coherence", "consistency", "fluency", "relevance"],
    "topical_chat": ["naturalness", "coherence", "engagingness", "groundedness", "overall"],
    "sfres": ["informativeness", "naturalness", "overall"],
    "openmeva_roc": ["overall"],
    "qags_cnndm": ["consistency"],
    "wiki_da": ["simplicity", "fluency", "meaning"],
}
RECORDED = {
    "summeval_likert_llms": [
        "gpt-4-0314 rts",
        "gpt-3.5-turbo-0301 rts",
        "llama-2-70b-chat-hf rts",
        "llama-2-7b-chat-hf rts",
    ],
    "topical_chat_chatgpt_20samples": ["gpt-3.5-turbo analyze_rate"],
    "unieval": ["UniEval"],
}
PLACES = ["harbour", "mill", "tower", "garden", "bridge", "market", "station", "library"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder with sets of forty texts, four to a source, and scores of recorded judges."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "recorded").mkdir()
    for name, criteria in SETS.items():
        write(folder / f"{name}.jsonl.gz", [row for n in range(10) for row in rated(n, criteria)])
    write(folder / "bump.jsonl.gz", [row for n in range(10) for row in changed(n)])
    keys = [(row["source_id"], row["system_id"]) for n in range(10) for row in rated(n, [])]
    for name, judges in RECORDED.items():
        said = [
            {"source_id": source, "system_id": system, "criterion": "overall", "judge": judge}
            for judge in judges
            for source, system in keys
        ]
        write(folder / "recorded" / f"{name}.jsonl.gz", [row | {"scores": [3]} for row in said])
    return folder


def write(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def rated(n, criteria):
    place, other = PLACES[n % 8], PLACES[(n + 3) % 8]
    source = f"The old {place} of town {n} was closed in May. Nobody was hurt. The {other} is open."
    texts = [
        f"The {place} of town {n} was closed in May, and nobody was hurt.",
        f"The {place} was closed.",
        f"Ten people were hurt at the {other} in 19{n}9, said Mr. Brown of Paris.",
        f"the the {other}  clossed ,, and and",
    ]
    for system, text in enumerate(texts):
        human = {one: [5 - system, 4 - system + (n + k) % 2] for k, one in enumerate(criteria)}
        yield {
            "source_id": str(n),
            "system_id": str(system),
            "source": source,
            "response": text,
            "human": human,
            "scale": {one: [1, 5] for one in criteria},
        }


def changed(n):
    first, *_ = rated(n, [])
    usual = {"source_id": str(n), "source": first["source"], "human": {}}
    yield usual | {"system_id": "a", "response": first["response"], "level": "none"}
    worse = f"Ten people were hurt in town {n}."
    yield usual | {"system_id": "b", "response": worse, "level": "x", "perturbation": "invented"}


@dataclass(frozen=True)
class Study:
    """A grid, its sets, and the settings of one cell per judge, optimizer and set."""

    sets: dict
    settings: dict


@pytest.fixture(scope="module", params=PAPERS)
def study(request, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGESMITH_DATA", str(small))
        spec = spec_of(template_text(request.param))
        sets = read_sets(spec)
    compiled = [cell for cell in cells_of(spec) if spec.judges[cell.judge].kind == "compiled"]
    found = {cell: settings_of(spec, cell) for cell in compiled}
    for cell, one in found.items():
        if one.minds_versions:
            found[cell] = settings_without_labels(sets[cell.data], one)
    return Study(sets=sets, settings=found)


def test_every_cell_can_be_estimated(study):
    lm = model("offline", ledger=None)
    for cell, settings in study.settings.items():
        assert estimate_run(study.sets[cell.data], settings, lm).calls > 0, cell.id


@pytest.mark.no_cover
def test_one_cell_of_each_is_compiled(study):
    cell, settings = list(study.settings.items())[-1]
    found = compile_judge(
        study.sets[cell.data],
        settings.model_copy(update={"n_rounds": 2}),
        lm=model("offline", ledger=None),
    )
    assert found.complete
    assert found.saved.rows["unscored"] == 0
