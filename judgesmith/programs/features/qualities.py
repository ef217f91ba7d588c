"""Which quality a criterion asks for, read from its name and its meaning."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Facet = Literal["support", "coverage", "richness", "fluency", "flow", "ease", "brevity"]
FACETS: tuple[Facet, ...] = get_args(Facet)
"""Sides of quality that countable facts speak to, in the order of every vector of facets."""

Kind = Literal["summary", "collection", "rewriting", "translation", "dialogue", "data", "open"]
"""Kinds of task that need clues of their own."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One feature as evidence for one facet."""

    feature: str
    typical: float
    spread: float
    weight: float
    why: str
    low: float = -3.0
    high: float = 3.0


@dataclass(frozen=True, slots=True)
class Family:
    """Criteria that ask for the same quality under different names."""

    name: str
    stems: tuple[str, ...]
    weights: Mapping[Facet, float]
    why: str


# Order breaks ties: the more particular family comes first.
FAMILIES = (
    Family(
        "meaning",
        ("meaning", "adequa", "preserv", "semantic", "equivalen", "bedeutung", "sens", "sentido"),
        {"support": 0.6, "coverage": 0.4},
        "keeping the meaning is adding nothing and losing nothing",
    ),
    Family(
        "simplicity",
        ("simpl", "readab", "easy", "easier", "plain", "lesbar", "einfach", "lisib", "sencill"),
        {"ease": 0.5, "fluency": 0.4, "brevity": 0.1},
        "plain words in short sentences, and nothing broken to stumble over",
    ),
    Family(
        "faithfulness",
        ("faith", "factual", "consisten", "ground", "hallucin", "support", "truth", "accura",
         "correct", "contradict", "invent", "attribut", "knowledge", "treu", "korrekt", "fidel",
         "exactit", "fiel"),
        {"support": 0.8, "fluency": 0.2},
        "what is said is in the material; broken sentences are also read as wrong ones",
    ),
    Family(
        "coherence",
        ("coheren", "structur", "organi", "logic", "flow", "order", "cohesi", "context", "follow",
         "kohären", "aufbau", "cohéren", "cohesión"),
        {"flow": 0.5, "fluency": 0.2, "coverage": 0.3},
        "no circles and no seams; a text that has lost its subject is no whole",
    ),
    Family(
        "conciseness",
        ("concis", "brev", "brief", "succinct", "redundan", "verbos", "repetit", "compact", "terse",
         "knapp", "kürze"),
        {"brevity": 0.8, "flow": 0.2},
        "few words, none of them twice",
    ),
    Family(
        "specificity",
        ("engag", "interest", "specific", "detail", "depth", "insight", "creativ", "original",
         "particular", "worth", "vivid", "divers", "spannend", "interess", "intérêt"),
        {"richness": 0.7, "support": 0.2, "fluency": 0.1},
        "content words and particulars, best if they come from the material",
    ),
    Family(
        "relevance",
        ("relevan", "informati", "coverag", "cover", "complete", "comprehens", "salien", "main",
         "essential", "import", "content", "helpful", "useful", "on-topic", "topic", "recall",
         "vollständ", "pertinen", "relevanc", "integr"),
        {"coverage": 0.6, "support": 0.2, "richness": 0.2},
        "what matters in the source is there",
    ),
    Family(
        "clarity",
        ("clar", "understand", "comprehensib", "intelligib", "unambig", "verständ", "clair"),
        {"fluency": 0.6, "flow": 0.2, "support": 0.2},
        "unbroken sentences whose words are where the material has them are understood at once",
    ),
    Family(
        "fluency",
        ("fluen", "natural", "gramma", "spell", "punctuat", "language", "style", "well-written",
         "linguist", "syntax", "wording", "flüssig", "sprach", "fluid", "estilo"),
        {"fluency": 0.7, "flow": 0.3},
        "surface faults and repetition are what broken language shows",
    ),
)  # fmt: skip

GENERAL = Family(
    "general",
    ("overall", "quality", "good"),
    {"support": 0.25, "coverage": 0.2, "richness": 0.15, "fluency": 0.25, "flow": 0.15},
    "a criterion that names no quality we know is answered by all of them",
)

_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NAME_SAYS = 6


@functools.lru_cache(maxsize=1024)
def quality_of(name: str, definition: str) -> Family:
    """Return the family whose stems the criterion's name and definition hold most often."""
    named = [word.casefold() for word in _WORDS.findall(name.replace("_", " ")[:200])]
    meant = [word.casefold() for word in _WORDS.findall(definition.replace("_", " ")[:2000])]

    def votes(family: Family) -> int:
        in_name = sum(1 for word in named if word.startswith(family.stems))
        in_meaning = len({word for word in meant if word.startswith(family.stems)})
        return _NAME_SAYS * in_name + in_meaning

    best = max(FAMILIES, key=votes)
    return best if votes(best) else GENERAL
