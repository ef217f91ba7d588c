"""What a good response is, where nobody has said what is being judged.

Six qualities that raters of summaries, dialogues, descriptions of data, stories and rewritten
sentences ask about under many names. A rubric made for the task says more; this one is the
place to start from.
"""

from judgesmith.signatures.rubric import Criterion, Rubric

DEFAULT_RUBRIC = Rubric(
    task=(
        "The task is to judge a response that was written for a source, such as a summary of a "
        "document, the next turn of a conversation, a description of data, a continuation of a "
        "story or a new wording of a text."
    ),
    criteria=(
        Criterion(
            name="relevance",
            definition=(
                "Does the response give what the source calls for, with what matters in it and "
                "without what does not?"
            ),
            worst="off the point, or the main content is missing",
            best="all that matters, and nothing beside it",
        ),
        Criterion(
            name="faithfulness",
            definition=(
                "Is everything that the response states supported by the source, or by the "
                "further material where there is some?"
            ),
            worst="contradicts the material or invents facts",
            best="every statement is supported",
        ),
        Criterion(
            name="coherence",
            definition=(
                "Do the parts of the response follow from each other, and from what came before, "
                "as one well-ordered whole?"
            ),
            worst="a heap of unrelated parts",
            best="each part follows from the last",
        ),
        Criterion(
            name="fluency",
            definition=(
                "Is the response correct and natural language: grammar, spelling, punctuation, "
                "complete sentences, no needless repetition?"
            ),
            worst="broken or garbled throughout",
            best="reads as a careful writer's own words",
        ),
        Criterion(
            name="clarity",
            definition="Can its readers understand the response at once, in plain and exact words?",
            worst="cannot be understood",
            best="understood at the first reading",
        ),
        Criterion(
            name="specificity",
            definition=(
                "Does the response say something particular and worth reading, rather than what "
                "could be said of anything?"
            ),
            worst="empty phrases that would fit anywhere",
            best="particular and worth reading",
        ),
    ),
)
"""The rubric of a judge that was given none."""
