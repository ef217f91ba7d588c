"""A simulated model for a program under optimization: it obeys instructions and demonstrations.

Asked for a summary it gives a fragment of the document, or its first sentence where the prompt
has the word COMPLETE or a demonstration. Asked for anything else, such as an instruction, it
writes one with that word.
"""

import json
import re

import dspy
from dspy import lm15

RULE = "Write one COMPLETE sentence that says what the document says."
_FIELDS = re.compile(r"Your output fields are:\n(.*?)\nAll interactions", re.DOTALL)
_NAME = re.compile(r"^\d+\. `(\w+)`", re.MULTILINE)


def _text(message):
    return "".join(part.text for part in message.parts if hasattr(part, "text"))


class ProgramModel:
    """The engine; ``n_calls`` counts requests."""

    def __init__(self):
        self.n_calls = 0

    def complete(self, request):
        self.n_calls += 1
        system, turns = str(request.system or ""), [_text(one) for one in request.messages]
        found = _FIELDS.search(system)
        names = _NAME.findall(found[1]) if found else []
        values = dict.fromkeys(names, RULE)
        if names[-1:] == ["summary"]:
            document = turns[-1].split("[[ ## document ## ]]\n")[-1].split("\n\nRespond")[0]
            sentence = document.split(". ")[0].rstrip(".") + "."
            whole = "COMPLETE" in system or len(turns) > 1
            values["summary"] = sentence if whole else sentence[: len(sentence) // 3]
        if not names:
            said = f"```\n{RULE}\n```"
        elif "JSON object" in turns[-1]:
            said = json.dumps(values)
        else:
            said = "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in values.items())
            said += "[[ ## completed ## ]]"
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(said),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=1, output_tokens=1),
        )


def program_lm():
    """Return the model as ``dspy.LM``."""
    return dspy.LM("simulated/program", engine=ProgramModel(), cache=False, num_retries=0)
