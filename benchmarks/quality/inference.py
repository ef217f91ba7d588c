"""What task inference makes of every rated set at hand, offline and with its defaults.

The columns are the task as the set's own documentation names it, the inferred type, whether they
agree, batches read, questions asked, and the criteria in order. The set's name and documentation
are never shown to the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import Row, benchmark, rated
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric
from judgesmith.programs.lm import model
from judgesmith.signatures.config import InferenceSettings

# What each set is, as its origin describes it, and the types that name it rightly.
SETS = {
    "summeval": ("news summaries", {"summarization"}),
    "newsroom": ("news summaries", {"summarization"}),
    "realsumm": ("news summaries", {"summarization"}),
    "qags_cnndm": ("news summaries, one system", {"summarization"}),
    "summeval_op": ("summaries of reviews", {"summarization"}),
    "opinsummeval": ("summaries of reviews", {"summarization"}),
    "topical_chat": ("dialogue with facts", {"dialogue"}),
    "openmeva_roc": ("stories from a first sentence", {"story generation"}),
    "sfres": ("text from dialogue acts", {"data-to-text"}),
    "bagel": ("text from dialogue acts", {"data-to-text"}),
    "webnlg2020_en": ("text from triples", {"data-to-text"}),
    "wiki_da": ("simplified sentences", {"simplification"}),
    "simpeval_past": ("simplified sentences", {"simplification"}),
    "simpeval_2022": ("simplified sentences", {"simplification"}),
    "mqm_ted_ende": ("English to German", {"translation"}),
    "mqm_ted_zhen": ("Chinese to English", {"translation"}),
    "wmt23_dasqm_ende": ("English to German", {"translation"}),
    "wmt23_dasqm_zhen": ("Chinese to English", {"translation"}),
    "pandalm": ("answers to instructions", {"question answering"}),
}


@benchmark(quick={"sets": ("topical_chat",)})
def inference(*, sets: tuple[str, ...] = tuple(SETS), seed: int = 0) -> Iterator[Row]:
    """What task inference makes of every rated set at hand, offline and with its defaults."""
    run = InferenceRun(settings=InferenceSettings(seed=seed))
    for name in sets:
        what, right = SETS[name]
        rubric = infer_rubric(rated(name), run, lm=model("offline", ledger=None)).rubric
        batches = rubric.provenance["batches"]
        yield {
            "set": name,
            "what it is": what,
            "inferred type": rubric.task_type,
            "right": rubric.task_type in right,
            "batches": len(batches) if isinstance(batches, list) else None,
            "questions": rubric.provenance["questions"],
            "criteria, in order": ", ".join(rubric.names),
        }
