"""Texts that rules changed, and a judge that is planted beside them: it marks what it is told."""

import json

from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.errors.gold import changed_texts
from judgesmith.experiments.robustness.perturbed_rows import rows_of
from judgesmith.experiments.robustness.perturbed_set import perturbed_set
from judgesmith.programs.perturbing import PERTURBATIONS, Donors, perturb
from judgesmith.signatures import RatedItem

TEXT = (
    "Maria Rossi won {n}4 of the 20 races in Turin. She did not stop for a long time. "
    "The rain was heavy."
)
KINDS = ("character_typos/minor", "word_deletions/minor", "negation", "padding")


def changed_items(n_sources=6):
    """Return texts, each with its versions below it; that of padding is no worse."""
    items = [
        RatedItem(source_id=str(n), system_id="m", source=f"Source {n}.", response=TEXT.format(n=n))
        for n in range(n_sources)
    ]
    donors = Donors(items)
    changed = {
        PERTURBATIONS[name]: [
            perturb(item, PERTURBATIONS[name], donors=donors, seed=0) for item in items
        ]
        for name in KINDS
    }
    rows = json.loads(json.dumps(list(rows_of(perturbed_set(items, changed, name="toy")))))
    fields = ("source_id", "system_id", "source", "response")
    extra = ("perturbation", "level", "degree", "method", "lowers", "original", "edits", "skipped")
    return tuple(
        RatedItem(
            **{name: row[name] for name in fields},
            extra={name: row[name] for name in extra if name in row},
        )
        for row in rows
    )


def changed_set(n_sources=6):
    """Return the same as a data set."""
    return DataSet(name="toy", items=changed_items(n_sources))


def places_in(dataset):
    """Return where each version was changed, by source and system."""
    kinds, _ = changed_texts(dataset)
    return {
        (one.version.source_id, one.version.system_id): one.places
        for kind in kinds
        for one in kind.texts
    }


def marked(text, *places, severity=4.0):
    """Return places of a text as the errors of a row of scores."""
    return [
        {
            "text": text[start:end],
            "start": start,
            "end": end,
            "severity": severity,
            "explanation": f"Number {number} is wrong.",
            "located": "exact",
        }
        for number, (start, end) in enumerate(places, start=1)
    ]


def score_row(item, errors, **fields):
    """Return a row of scores, with a score of 40, that states ``errors``."""
    return {
        "source_id": item.source_id,
        "system_id": item.system_id,
        "key": item.key,
        "score": 40.0,
        "explanation": "There it is.",
        "criteria": {},
        "errors": errors,
        "problem": None,
        "judge": "planted",
        "run": "0123456789ab",
    } | fields


def write_lines(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
