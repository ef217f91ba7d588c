"""Good texts that a model writes for sources, several each, none of them a remark or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.asking import Asker, current_lm
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.constructing import without_untold
from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import AnySteps, Ask, Calls, Steps, asked
from judgesmith.programs.perturbing.wrapping import spoken_around, unwrapped
from judgesmith.programs.rewriting import Written
from judgesmith.programs.running import CONCURRENCY, Work, beginning, work_each
from judgesmith.signatures.direct import DirectProtocol
from judgesmith.signatures.reference_writing import WriteReference
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    from judgesmith.signatures.rated import RatedItem

TEMPERATURE = 1.0
"""Of every call: texts are to differ."""


class ReferenceWriter(AskingModule):
    """The DSPy program that writes one good text.

    Parameters
    ----------
    rubric : Rubric
        What texts are written for, and what makes them good; each as far as it is there.

    Examples
    --------
    >>> writer = ReferenceWriter(Rubric(criteria={"brevity": "Is it short?"}))
    >>> writer(source="The bridge opened on Monday. It rained.", number=2).text
    'It rained.'
    """

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(DirectProtocol(rubric=rubric, temperature=TEMPERATURE))
        self.write = dspy.Predict(without_untold(WriteReference, self.fixed_inputs("write")))

    @property
    def protocol(self) -> DirectProtocol:
        """Task and criteria, and what the calls are made with."""
        own = self._settings
        assert isinstance(own, DirectProtocol)
        return own

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as there are any."""
        rubric = self.protocol.rubric
        lines = criteria_text(rubric, self.protocol.answers)
        told = {"task": rubric.task, "criteria": lines}
        return {name: text for name, text in told.items() if text}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what writes texts judges none.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a writer of references judges no text; use write_references.")

    def forward(self, *, source: str, number: int = 1, context: str | None = None) -> Written:
        """Write one text, asked through DSPy's current model."""
        return self.taken(writing_steps(source, context, number))


def writing_steps(source: str, context: str | None, number: int) -> AnySteps[Written]:
    """Ask for one text, and once more where the answer is not a text alone.

    Parameters
    ----------
    source, context : str
        What is answered, and what else there is to draw on.
    number : int
        Which text of the source it is, from 1.
    """

    def read(fields: Mapping[str, object]) -> Written:
        text = unwrapped(str(fields["reference"] or ""), source).strip()
        if not any(map(str.isalnum, text)):
            raise InputError("an empty text")
        if problem := spoken_around(text, source):
            raise InputError(problem)
        return Written(text=text)

    inputs = {"number": str(number), "source": source, "context": context}
    ask = Ask(predictor="write", inputs=inputs)
    found = yield from asked(ask, read, again=1, calls=Calls())
    return Written(problem=found) if isinstance(found, str) else found


def write_references(
    items: Sequence[RatedItem],
    rubric: Rubric,
    n: int,
    lm: dspy.LM | None = None,
    *,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> tuple[tuple[Written, ...], ...]:
    """Return ``n`` texts for each item's source, as a model writes them.

    Parameters
    ----------
    items : sequence of RatedItem
        Of which source and context count.
    rubric : Rubric
        What texts are written for, and what makes them good.
    n : int
        How many for each; one call each if every answer can be used, and the same ones are the
        first of any larger number.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model, which puts sentences of
        the source together.
    concurrency : int
        Texts asked for at the same time.
    progress : callable or None
        Told the number of texts finished since it was last told.

    Returns
    -------
    tuple of tuple of Written
        ``n`` for each item, in order. What the model could not be asked for says so.

    Raises
    ------
    ValueError
        If ``n`` is negative.
    ModelError, LedgerError, Stopped
        See ``judge_items``.

    Examples
    --------
    >>> from judgesmith.signatures.rated import RatedItem
    >>> item = RatedItem(source="Ann left Rome. It rained. Bob saw her go.", response="")
    >>> [one.text for one in write_references([item], Rubric(), 2)[0]]
    ['Ann left Rome. It rained.', 'It rained. Bob saw her go.']
    """
    if n < 0:
        raise InputError(f"write zero texts or more for each source; got {n}.")
    lm = lm or current_lm()
    work = _Writing(Asker.of(ReferenceWriter(rubric), lm))
    units = ((item, number) for item in items for number in range(1, n + 1))
    texts = [
        written
        for _, written in work_each(
            work, units, concurrency=concurrency, may_begin=beginning(1, lm), progress=progress
        )
    ]
    return tuple(tuple(texts[place * n : (place + 1) * n]) for place in range(len(items)))


class _Writing(Work["tuple[RatedItem, int]", Written]):
    """Sources with numbers, for each of which a text is written."""

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker)

    async def done(self, unit: tuple[RatedItem, int]) -> Written:
        """Return one text, or why there is none."""
        item, number = unit
        return await self.asker.taken(writing_steps(item.source, item.context, number))

    def undone(self, unit: tuple[RatedItem, int], problem: str) -> Written:
        """Return why the model could not be asked."""
        return Written(problem=problem)
