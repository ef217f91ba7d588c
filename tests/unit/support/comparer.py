"""Models that compare two texts as a test says."""

from math import log

from judgesmith.programs.lm import LMClient, ModelAnswer, TokenLogprob
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline.requests import read_prefix, read_user

ANSWERS = ("A", "tie", "B")


class Comparer:
    """Answers comparisons with the chances that a function of both texts gives A, tie and B.

    Attributes
    ----------
    asked : list of (str, str)
        The pairs of texts that were shown, in order.
    """

    endpoint = "scripted"

    def __init__(self, chances, *, logprobs=True):
        self.chances = chances
        self.logprobs = logprobs
        self.asked = []

    def answer(self, request):
        fields = read_user(request.user, read_prefix(request.prefix).inputs)
        shown = fields["response_a"], fields["response_b"]
        self.asked.append(shown)
        chances = dict(zip(ANSWERS, self.chances(*shown), strict=True))
        said = max(chances, key=chances.__getitem__)
        parts = ["[[ ## better ## ]]\n", said, "\n\n[[ ## completed ## ]]\n"]
        tokens = None
        if self.logprobs and request.settings.logprobs:
            top = tuple((name, log(max(p, 1e-30))) for name, p in chances.items())
            tokens = (
                TokenLogprob(parts[0], 0.0, ((parts[0], 0.0),)),
                TokenLogprob(said, log(chances[said]), top),
                TokenLogprob(parts[2], 0.0, ((parts[2], 0.0),)),
            )
        return ModelAnswer(text="".join(parts), input_tokens=1, output_tokens=1, logprobs=tokens)

    def lm(self, **stack):
        """Return the model."""
        return ClientLM.over(LMClient(self, **stack), "scripted/m", recipe={}, temperature=0.0)


def by_worth(sure=0.9, place=0.0):
    """Return chances that follow the number in a text, and like the first place by ``place``."""

    def chances(a, b):
        first, second = (int(text.split()[-1]) for text in (a, b))
        lean = 0.5 if first == second else sure if first > second else 1 - sure
        lean = min(max(lean + place, 0.0), 1.0)
        return lean, 0.0, 1 - lean

    return chances
