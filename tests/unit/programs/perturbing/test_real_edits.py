"""Edits of translations that are known for what they are: which would pass for what was asked."""

import gzip
import json
from collections import Counter

import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every
from judgesmith.programs.perturbing.orders import verified_change
from judgesmith.signatures.perturbation import Perturbed

PER_KIND = 60
ASKED = {
    "entity": (PERTURBATIONS["fictional_entities/minor"], 1),
    "grammar": (PERTURBATIONS["grammatical_errors"], 1),
    "paraphrase": (PERTURBATIONS["paraphrase"], Every()),
}

OF_ENTITIES = ("replace NE with a regard", "numbers changed in a reasonable range")
OF_GRAMMAR = (
    "change the tense of the main verb",
    "change the aspect",
    "change pos without changing the root",
    "two adjacent word swaps",
    "change function word",
    "change the case of a pronoun",
    "conjunction removed",
)
OF_MEANING = (
    "removes adj or adv",
    "removes content verb",
    "remove noun which is not",
    "adding a word that does not break",
    "changing a word to its antonym",
    "affirmative to negation",
    "change affirmative to interrogative",
    "change into hypernym",
    "remove prepositional phrase",
    "remove random named entity",
    "shuffled words",
)
OF_MARKS = ("remove the final punctuation", "randomly insert punctuation", "lowercase")


@pytest.fixture(scope="module")
def shares(data_folder):
    """Return the share of edits of each kind that pass for each order."""
    with gzip.open(data_folder / "demetr.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]

    def source(row):
        return row["source_id"], row["lang"], row["data_source"]

    originals = {source(row): row["response"] for row in rows if row["perturbation"] == "none"}
    tried, passed = Counter(), Counter()
    for row in rows:
        kind = row["perturbation"]
        if kind == "none" or not row["pert_check"] or tried[kind] >= PER_KIND:
            continue
        tried[kind] += 1
        for name, (way, amount) in ASKED.items():
            found = verified_change(row["response"], originals[source(row)], way, amount)
            passed[kind, name] += isinstance(found, Perturbed)
    return {key: n / tried[key[0]] for key, n in passed.items()}


def of(shares, name, *kinds):
    found = [
        share for (kind, asked), share in shares.items() if asked == name and kind.startswith(kinds)
    ]
    assert len(found) >= len(kinds)
    return found


def test_other_names_and_numbers_pass_and_hardly_anything_else(shares):
    assert min(of(shares, "entity", *OF_ENTITIES)) > 0.93
    assert max(of(shares, "entity", *OF_GRAMMAR, *OF_MEANING, *OF_MARKS)) < 0.1


def test_errors_of_grammar_pass_and_few_changes_of_meaning(shares):
    assert min(of(shares, "grammar", *OF_GRAMMAR)) > 0.8
    assert max(of(shares, "grammar", *OF_MEANING, *OF_ENTITIES, *OF_MARKS)) < 0.2


def test_translations_by_others_pass_for_paraphrases_more_than_any_damage(shares):
    whole = of(shares, "paraphrase", "reference as translation")[0]
    assert whole > 0.4
    damage = of(shares, "paraphrase", *OF_GRAMMAR, *OF_MEANING, *OF_ENTITIES, *OF_MARKS)
    assert max(damage) < 0.4
    assert sum(damage) / len(damage) < 0.06
