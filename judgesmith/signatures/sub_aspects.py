"""The question that takes a criterion apart: sides in which a text can fail by itself.

A signature's docstring is sent to the model: it is the first instruction an optimizer edits.
Notes for developers therefore live here or in comments, never in the class docstring.
"""

from __future__ import annotations

import dspy

FEWEST, MOST = 2, 4
"""How many sides a criterion is taken apart into."""


class NameSubAspects(dspy.Signature):
    """Take the criterion apart: name the two to four sides of it in which a text can fail.

    Each side is so narrow that one single error in a text can be put down to it alone, and so
    general that almost any text could have such an error. No two sides overlap, and together they
    cover what the criterion asks. You do not see a text now; the same sides will serve for many.
    """

    task: str = dspy.InputField(desc="what the texts were written for")
    criterion: str = dspy.InputField(desc="the one quality to take apart, as name: meaning")

    sub_aspects: str = dspy.OutputField(
        desc="one side per line, as its name in a few words, a colon, and in one sentence what a "
        "good text does in this respect"
    )
