"""Judges that say what a test plants: scores and errors in one short report, without a model."""

from judgesmith.programs import DirectJudge
from judgesmith.programs.families.ensemble.judges import CompositeJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.signatures import ErrorSpan, Judgement, Scale

FIVE = Scale(low=1, high=5)
REPORT = "The ferry left at ten. Its captain, Ms Ito, sang. It was raining in Oslo."


def error(words, severity=3, why="It is wrong.", *, text=REPORT, **more):
    """Return an error at the words, which a text has; unresolved where it has none such."""
    start = text.find(words)
    if start < 0:
        return ErrorSpan(
            text=words, severity=severity, explanation=why, located="unresolved", **more
        )
    end = start + len(words)
    fields = {"located": "exact", **more}
    return ErrorSpan(text=words, start=start, end=end, severity=severity, explanation=why, **fields)


def missing(why, severity=3):
    """Return an error that is nowhere in the text."""
    return ErrorSpan(text="none", severity=severity, explanation=why, located="missing")


def judged(score, *errors, **more):
    """Return a judgement on 1 to 5."""
    return Judgement(score=score, errors=errors, **more)


class Planted(CompositeJudge):
    """Says of a response what a function says of it."""

    def __init__(self, says):
        super().__init__({"own": DirectJudge()})
        self.says = says
        self.n_asked = 0

    scale = FIVE
    asked = ("own",)

    def combined(self, judgements):
        """Return nothing that a test would look at."""
        raise AssertionError

    def settings(self):
        """Return nothing learned."""
        return {}

    def adopt(self, settings):
        """Take over nothing."""

    def bound_to(self, lm):
        """Return what asks the function."""
        return _Saying(self)

    def forward(self, *, source, response, context=None, references=()):
        """Judge one response."""
        self.n_asked += 1
        return self._prediction(self.says(response))

    async def aforward(self, **texts):
        """Judge one response without blocking."""
        return self.forward(**texts)


class _Saying(Executor):
    def __init__(self, planted):
        self.planted = planted

    async def judge(self, item):
        self.planted.n_asked += 1
        return self.planted.says(item.response)


def planted(**judgements):
    """Return a judge by name for each judgement, which it gives every response."""
    return {name: Planted(lambda text, one=one: one) for name, one in judgements.items()}


CAREFUL = (error("ten", 4, "It left at nine."), error("Oslo", 2, "It was Bergen."))
"""What a careful annotator finds in the report."""

INVENTED = (
    error("a red balloon", 5, "No balloon was there."),
    error("Ms Ito", 5, "Nobody has that name."),
)
"""What one that invents finds: words that are not there, and a fault that is none."""


def five():
    """Return four careful annotators and one that invents."""
    careful = {name: judged(4, *CAREFUL) for name in ("ada", "ben", "cho", "dee")}
    return planted(**careful, eve=judged(1, *INVENTED))


def three():
    """Return two careful annotators and one that invents."""
    return planted(ada=judged(4, *CAREFUL), ben=judged(4, *CAREFUL), eve=judged(1, *INVENTED))
