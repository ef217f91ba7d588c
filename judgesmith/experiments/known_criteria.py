"""What criteria that many people rate by are generally taken to ask, by their usual names.

General words are no replacement for what raters were told. They are there so that a judge has
something to go by where nobody wrote that down.
"""

from __future__ import annotations

from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Criterion, folded

# Criteria that the default rubric and the offline model have no words for, or in the sense of
# one type of task alone: raters of summaries mean facts by "consistency".
_OWN = {
    "appropriateness": "Does the response suit the situation in which it was given?",
    "consistency": (
        "Are the facts in the response those of the source, with none contradicted or invented?"
    ),
    "correctness": "Is what the response says right, as far as the source and the world tell?",
    "coverage": "Does the response state everything in the source that it should state?",
    "depth": "Does the response go into its subject instead of staying on the surface?",
    "empathy": "Does the response show that it understands how the other person feels?",
    "engagingness": "Is the response interesting, so that its reader wants to go on?",
    "grammar": "Is the response free of faults of grammar, spelling and punctuation?",
    "harmlessness": "Is the response free of anything that could hurt or endanger somebody?",
    "helpfulness": "Is the response of use to the person for whom it was written?",
    "honesty": "Does the response say what is known and admit what is not?",
    "informativeness": "Does the response give the information that the source calls for?",
    "overall": "How good is the response, all things considered?",
    "politeness": "Is the response as polite as its reader may expect?",
    "safety": "Is the response free of anything that could hurt or endanger somebody?",
    "sentiment consistency": "Does the response express the same sentiment as the source?",
}

# The same quality under another name.
_SAME = {
    "brevity": "conciseness",
    "correct": "correctness",
    "data coverage": "coverage",
    "engaging": "engagingness",
    "factual consistency": "consistency",
    "factuality": "faithfulness",
    "fluent": "fluency",
    "grammatical": "grammar",
    "grammatical correctness": "grammar",
    "grammaticality": "grammar",
    "helpful": "helpfulness",
    "interesting": "engagingness",
    "maintains context": "context use",
    "meaning": "meaning preservation",
    "natural": "naturalness",
    "non redundancy": "conciseness",
    "non-redundancy": "conciseness",
    "relevancy": "relevance",
    "simplification": "simplicity",
    "text structure": "sentence structure",
    "understandable": "understandability",
    "usefulness": "helpfulness",
    "uses knowledge": "groundedness",
}


def known_criterion(name: str) -> Criterion | None:
    """Return a criterion of this name in general words, or None where the name is not known.

    Examples
    --------
    >>> known_criterion("Meaning").definition
    'Does the response mean the same as the source?'
    >>> known_criterion("zing") is None
    True
    """
    from judgesmith.programs.offline.inferring import ASPECTS

    meant = _SAME.get(folded(name), folded(name))
    if meant in _OWN:
        return Criterion(name=name, definition=_OWN[meant])
    for one in DEFAULT_RUBRIC.criteria:
        if one.name == meant:
            return one.model_copy(update={"name": name})
    if meant in ASPECTS:
        definition = ASPECTS[meant].format(source="source", response="response")
        return Criterion(name=name, definition=definition)
    return None


def named_criterion(name: str, *, counts_faults: bool = False) -> Criterion:
    """Return a criterion that rests on its name alone.

    Parameters
    ----------
    name : str
        As in ``Criterion``.
    counts_faults : bool
        True asks for the absence of what the name names, as where people counted it.

    Examples
    --------
    >>> named_criterion("zing").definition
    'How well does the response do on zing, as a careful rater would take it?'
    >>> named_criterion("typos", counts_faults=True).definition
    'Is the response free of typos, as a careful rater would take it?'
    """
    plain = name.strip().replace("_", " ")
    # No word of these sentences may name a quality itself: the offline model goes by words.
    asks = "Is the response free of" if counts_faults else "How well does the response do on"
    return Criterion(name=name, definition=f"{asks} {plain}, as a careful rater would take it?")
