"""Types of task as the offline model knows them: what answers what, and which qualities count.

Which qualities count, in which order, is set by hand: it is what people who write such texts
are asked to mind. What the rated examples show moves the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskType:
    """One type of task.

    Attributes
    ----------
    name : str
        What a description calls it.
    source, response : str
        What is answered, and the answer, without an article.
    evaluated : str
        What an evaluation looks at.
    relationship : str
        How a response relates to its source, as a sentence that goes on after "the response".
    aspects : tuple of str
        Keys of ``ASPECTS``, the most important first; ten, more than are asked for at once.
    """

    name: str
    source: str
    response: str
    evaluated: str
    relationship: str
    aspects: tuple[str, ...]


ASPECTS: Mapping[str, str] = {
    "accuracy": "Are the names, numbers and other particulars in the {response} right?",
    "additions": "Is the {response} free of statements that the {source} gives no ground for?",
    "adequacy": "Does the {response} carry over the whole meaning of the {source}?",
    "clarity": "Can a reader understand the {response} at the first reading?",
    "coherence": "Do the sentences of the {response} follow from each other as one ordered whole?",
    "completeness": "Does the {response} leave out nothing that a reader would miss?",
    "conciseness": "Does the {response} say what it says in few words, and nothing twice?",
    "consistency": "Does the {response} agree with itself from beginning to end?",
    "context use": "Does the {response} take up what was said before, and the last turn most?",
    "coverage": "Are all the values and relations of the {source} stated in the {response}?",
    "creativity": "Does the {response} bring events or ideas that are its own?",
    "engagingness": "Does the {response} say something particular that invites an answer?",
    "faithfulness": "Is everything that the {response} states supported by the {source}?",
    "fluency": "Is the {response} correct and natural language, without faults of grammar?",
    "groundedness": "Does the {response} use the material it was given, and use it rightly?",
    "helpfulness": "Is the {response} of use to the person who wrote the {source}?",
    "instruction following": "Does the {response} do what the {source} asks for, in its form?",
    "logic": "Does what happens in the {response} follow from what happened before?",
    "meaning preservation": "Does the {response} mean the same as the {source}?",
    "naturalness": "Would a person have written the {response} this way?",
    "readability": "Is the {response} easy to read, in sentences of a fitting length?",
    "relevance": "Does the {response} keep to what matters in the {source}?",
    "rewording": "Does the {response} find words of its own instead of copying the {source}?",
    "sentence structure": "Are the sentences of the {response} complete, in order and linked?",
    "simplicity": "Is the {response} plainer than the {source}, in its words and its sentences?",
    "specificity": "Does the {response} name particulars rather than what fits any {source}?",
    "style": "Do tone and register of the {response} fit the {source} and its readers?",
    "terminology": "Are names and terms of the {source} rendered rightly and always alike?",
    "understandability": "Does the {response} make sense by itself and where it stands?",
}
"""What each quality asks, by name; ``{source}`` and ``{response}`` are the task's own words."""

TASK_TYPES: Mapping[str, TaskType] = {
    one.name: one
    for one in (
        TaskType(
            name="summarization",
            source="source text",
            response="summary",
            evaluated="how well a shorter text gives what a longer one says",
            relationship="is a shorter text that is to give the main content of a longer one",
            aspects=(
                *("relevance", "faithfulness", "coherence", "fluency", "completeness"),
                *("conciseness", "clarity", "specificity", "consistency", "accuracy"),
            ),
        ),
        TaskType(
            name="dialogue",
            source="conversation",
            response="reply",
            evaluated="how well a turn continues a conversation",
            relationship="is the next turn of a conversation, and may draw on further material",
            aspects=(
                *("context use", "engagingness", "naturalness", "groundedness", "coherence"),
                *("understandability", "fluency", "specificity", "relevance", "consistency"),
            ),
        ),
        TaskType(
            name="data-to-text",
            source="data",
            response="text",
            evaluated="how well sentences put given data into words",
            relationship="puts given data, such as slots or triples, into words",
            aspects=(
                *("coverage", "faithfulness", "fluency", "naturalness", "accuracy"),
                *("additions", "sentence structure", "relevance", "clarity", "conciseness"),
            ),
        ),
        TaskType(
            name="simplification",
            source="original",
            response="simplified text",
            evaluated="how well a text is rewritten to be easier",
            relationship="is a rewritten version that is to say the same in easier language",
            aspects=(
                *("meaning preservation", "simplicity", "fluency", "readability", "clarity"),
                *("faithfulness", "completeness", "sentence structure", "conciseness", "coherence"),
            ),
        ),
        TaskType(
            name="paraphrase",
            source="original",
            response="rewording",
            evaluated="how well a text is said again in other words",
            relationship="is a rewritten version that is to say the same in other words",
            aspects=(
                *("meaning preservation", "fluency", "rewording", "naturalness", "clarity"),
                *("faithfulness", "completeness", "style", "conciseness", "coherence"),
            ),
        ),
        TaskType(
            name="story generation",
            source="beginning",
            response="story",
            evaluated="how well a story goes on from its beginning",
            relationship="is a story that goes on from the beginning it was given",
            aspects=(
                *("coherence", "logic", "relevance", "fluency", "consistency"),
                *("engagingness", "creativity", "naturalness", "specificity", "clarity"),
            ),
        ),
        TaskType(
            name="translation",
            source="original",
            response="translation",
            evaluated="how well a text is rendered in another language",
            relationship="is to say in another language what the source says",
            aspects=(
                *("adequacy", "fluency", "accuracy", "terminology", "additions"),
                *("completeness", "style", "sentence structure", "naturalness", "clarity"),
            ),
        ),
        TaskType(
            name="question answering",
            source="request",
            response="answer",
            evaluated="how well a question is answered or an instruction carried out",
            relationship="answers a question or carries out an instruction",
            aspects=(
                *("instruction following", "accuracy", "helpfulness", "relevance", "completeness"),
                *("clarity", "coherence", "fluency", "specificity", "conciseness"),
            ),
        ),
        TaskType(
            name="textual entailment",
            source="pair of texts",
            response="verdict",
            evaluated="whether the relation between two texts is named rightly",
            relationship="names how two statements relate, in one word or two",
            aspects=(
                *("accuracy", "logic", "consistency", "relevance", "clarity"),
                *("instruction following", "faithfulness", "completeness", "specificity", "style"),
            ),
        ),
        TaskType(
            name="image description",
            source="image",
            response="description",
            evaluated="how well words describe an image",
            relationship="describes an image that the source only names",
            aspects=(
                *("accuracy", "completeness", "fluency", "specificity", "relevance"),
                *("additions", "clarity", "naturalness", "conciseness", "coherence"),
            ),
        ),
        TaskType(
            name="text generation",
            source="source",
            response="response",
            evaluated="how well a text answers what it was written for",
            relationship="was written for the source, in a way that its form does not tell",
            aspects=(
                *("relevance", "fluency", "coherence", "faithfulness", "clarity"),
                *("specificity", "completeness", "naturalness", "consistency", "conciseness"),
            ),
        ),
    )
}
"""The types by name; the last is what is said where the form of the texts decides nothing."""

UNKNOWN = "text generation"
