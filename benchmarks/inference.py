"""What task inference makes of every rated set at hand, offline and with its defaults.

Prints a table: the task as the set's own documentation names it, the inferred type, whether they
agree, batches read, questions asked, and the criteria in order. The set's name and documentation
are never shown to the model. Run it as ``python benchmarks/inference.py [--seed N] [SET …]``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from judgesmith.data import read_items
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric
from judgesmith.programs.families.task_inference import InferenceSettings
from judgesmith.programs.lm import model

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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="default: all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = options.sets or list(SETS)
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    run = InferenceRun(settings=InferenceSettings(seed=options.seed))
    n_right = 0
    print("| set | what it is | inferred type | right | batches | questions | criteria, in order |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        what, right = SETS[name]
        found = infer_rubric(
            read_items(str(folder / f"{name}.jsonl.gz")), run, lm=model("offline", ledger=None)
        )
        learned = found.rubric.provenance
        is_right = found.rubric.task_type in right
        n_right += is_right
        batches = learned["batches"]
        cells = [
            name,
            what,
            found.rubric.task_type,
            "yes" if is_right else "**no**",
            str(len(batches)) if isinstance(batches, list) else "",
            str(learned["questions"]),
            ", ".join(found.rubric.names),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{n_right} of {len(names)} types are named rightly (seed {options.seed}).")


if __name__ == "__main__":
    main()
