"""The judges and models of one test session: loaded once, under one ledger and one budget."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.cli.shared.judge_models import asked_models
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.errors import InputError
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.differences import Expectation
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite, load_saved
from judgesmith.programs.judging.rows import usage_of
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionModel:
    """Which model a session asks, and how much of it."""

    model: str | None = None
    allow_models: str = ""
    api_base: str | None = None
    ledger: str = ".judgesmith/ledger.sqlite"
    max_calls: int | None = None
    max_usd: float | None = None
    run_id: str = field(default_factory=lambda: f"pytest {uuid.uuid4().hex}")


class Judging:
    """Judges texts for a session: one budget, and judges named relative to ``folder``."""

    def __init__(self, asked: SessionModel, folder: Path) -> None:
        self.asked = asked
        self.folder = folder
        self.n_judged = 0
        self._judges: dict[str, tuple[AnySaved, list[dspy.LM]]] = {}

    def judged(
        self, judge: AnySaved | str | Path, items: Sequence[RatedItem], expected: Expectation
    ) -> list[Judgement]:
        """Return the judgement of every item, in order; refuse judges that do not fit."""
        saved, lms = self._judge(judge)
        expected.check_against(saved)
        self.n_judged += len(items)
        return score_batch(saved, items, lm=lms[0])

    def positive_label(self, judge: AnySaved | str | Path) -> str:
        """Return the label that the judge gives good responses; refuse one that gives none."""
        __tracebackhide__ = True
        saved, _ = self._judge(judge)
        if saved.scale.positive is None:
            raise InputError(
                f"assert_passes needs a judge that gives labels such as pass and fail; this one "
                f"scores on {saved.scale}.",
                hint="compile one from labelled rows, or take assert_judged with at_least.",
            )
        return saved.scale.positive

    def usage(self) -> dict[str, float | None]:
        """Return what the session asked so far, by name."""
        every = [lm for _, lms in self._judges.values() for lm in lms]
        used = usage_of(*every)
        assert used is not None
        return {
            "judgements": self.n_judged,
            "calls": used.calls,
            "hits": used.hits,
            "tokens": used.input_tokens + used.output_tokens,
            "usd": used.cost_usd,
        }

    def _judge(self, judge: AnySaved | str | Path) -> tuple[AnySaved, list[dspy.LM]]:
        if isinstance(judge, SavedJudge | SavedComposite):
            name = judge.fingerprint
        else:
            name = str(self._place(Path(judge)).resolve())
        if name not in self._judges:
            saved = judge if isinstance(judge, SavedJudge | SavedComposite) else load_saved(name)
            self._judges[name] = asked_models(saved, self._choice(), run_id=self.asked.run_id)
        return self._judges[name]

    def _place(self, path: Path) -> Path:
        beneath = self.folder / path
        return beneath if not path.exists() and beneath.exists() else path

    def _choice(self) -> ModelChoice:
        from judgesmith.programs.lm.cache.store import check_place, is_postgres

        ledger = self.asked.ledger
        check_place(ledger)
        if not is_postgres(ledger):
            ledger = str(self.folder / Path(ledger).expanduser())
        return ModelChoice(
            model_name=self.asked.model,
            allow_models=tuple(filter(None, map(str.strip, self.asked.allow_models.split(",")))),
            api_base=self.asked.api_base,
            max_calls=self.asked.max_calls,
            max_tokens=None,
            max_usd=self.asked.max_usd,
            max_minutes=None,
            price=(),
            rpm=None,
            tpm=None,
            ledger=ledger,
        )
