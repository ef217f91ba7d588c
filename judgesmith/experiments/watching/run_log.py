"""What happens in a scoring run as log records with structured fields, and no texts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from judgesmith.experiments.run_events import LOGGER, log_event
from judgesmith.experiments.watching.heartbeat import heartbeat
from judgesmith.experiments.watching.pulse import Pulse
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.errors import redacted
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason

EVERY = 10.0
"""Seconds between two words about progress."""

_LONGEST = 200  # characters of a reason
_QUOTED = 16  # characters in a row that make a quotation


class RunLog:
    """Logs a run: that it began, how far it is, each row without a score, and how it ended.

    Records go to the logger ``judgesmith`` with two attributes beside their sentence: ``event``, a
    word, and ``details``, plain data. Rows without a score are warnings, a run that fails is an
    error, everything else is information. No record has a key or a text of the input in it.

    Parameters
    ----------
    pulse : Pulse
        Counts of the run; it must be told of every row before the log is.
    options : mapping
        What the run was started with, as plain data.

    Examples
    --------
    >>> log = RunLog(Pulse([]), {"concurrency": 8})
    >>> with log.told():
    ...     log.judged("rows.jsonl", 3, RatedItem(response="r"), Judgement.unscored("cut off"))
    """

    def __init__(self, pulse: Pulse, options: Mapping[str, Any] | None = None) -> None:
        self._pulse = pulse
        self._options = dict(options or {})
        self._n_retries = 0
        self._spent = False
        self._places: dict[str, int] = {}

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Log a row without a score; of those that a budget does not reach, the first."""
        if judgement.score is not None or not LOGGER.isEnabledFor(logging.WARNING):
            return
        kind = str(judgement.reason)
        if judgement.reason is Reason.OVER_BUDGET:
            if self._spent:
                return
            self._spent = True
        log_event(
            logging.WARNING,
            "unscored",
            f"{_short(file)}, row {row}: no score ({kind})",
            file=_short(file),
            row=row,
            source_id=_short(item.source_id),
            system_id=_short(item.system_id),
            kind=kind,
            reason=_short(without_texts(judgement.problem or "", item)),
        )

    def kept(self, n_rows: int) -> None:
        """Log that rows are there already."""
        log_event(logging.INFO, "kept", f"{n_rows} rows are written already", rows=n_rows)

    @contextmanager
    def told(self, *, every: float = EVERY) -> Iterator[None]:
        """Log the beginning and the end of the block, and every so many seconds how far it is.

        Parameters
        ----------
        every : float
            Seconds between two words about progress.
        """
        began = {**self._options, "models": _models(self._pulse.lms)}
        log_event(logging.INFO, "started", "scoring began", rows=self._pulse.n_expected, **began)
        try:
            with heartbeat(every, self.progressed):
                yield
        except (KeyboardInterrupt, Stopped):
            self._end(logging.WARNING, "stopped", "scoring was stopped")
            raise
        except BaseException as fault:
            # Without its words, which may quote a row or what was asked.
            status = getattr(fault, "status", None)
            kind = type(fault).__name__
            self._end(logging.ERROR, "failed", "scoring failed", fault=kind, status=status)
            raise
        self._end(logging.INFO, "finished", "scoring is finished")

    def progressed(self) -> None:
        """Log how far the run is, and what the gate to a model did since it was last asked."""
        told = self._counts()
        log_event(logging.INFO, "progress", f"{told['rows']} rows", **told)
        retries = int(told.get("retries") or 0)
        places = {
            str(lm.model): n
            for lm in self._pulse.lms
            if (client := lm_client_of(lm)) is not None and (n := client.places) is not None
        }
        fewer = any(n < self._places.get(name, 0) for name, n in places.items())
        if retries > self._n_retries or fewer:
            log_event(
                logging.WARNING,
                "backing_off",
                "requests are sent again, or fewer at the same time",
                retries=retries - self._n_retries,
                places=places,
            )
        self._n_retries, self._places = retries, places

    def _end(self, level: int, event: str, said: str, **more: Any) -> None:
        log_event(level, event, said, **self._counts(), **more)

    def _counts(self) -> dict[str, Any]:
        pulse, left = self._pulse, self._pulse.seconds_left
        use = pulse.usage
        told: dict[str, Any] = {
            "rows": pulse.n_rows,
            "judged": pulse.n_judged,
            "expected": pulse.n_expected,
            "unscored": pulse.unscored_now(),
            "rows_per_second": round(pulse.rate, 3),
            "seconds": round(pulse.seconds, 3),
            "seconds_left": None if left is None else round(left, 1),
        }
        if use is not None:
            told |= {
                "calls": use.calls,
                "hits": use.hits,
                "retries": use.retries,
                "input_tokens": use.input_tokens,
                "output_tokens": use.output_tokens,
                "cost_usd": use.cost_usd,
            }
        return told


def without_texts(reason: str, item: RatedItem) -> str:
    """Return a reason with ``[…]`` where it quotes a text of the item: servers like to.

    Examples
    --------
    >>> item = RatedItem(response="The ferry leaves at nine from the old pier.")
    >>> without_texts("HTTP 400: cannot read 'ferry leaves at nine from the old'.", item)
    "HTTP 400: cannot read '[…]'."
    """
    reason = " ".join(reason[: 2 * _LONGEST].split())
    texts = [" ".join(one.split()) for one in (item.source, item.context, item.response) if one]
    texts += [" ".join(one.split()) for one in item.references]
    said, place = [], 0
    while place < len(reason):
        n = _QUOTED
        if len(reason) - place >= n and any(reason[place : place + n] in one for one in texts):
            while place + n < len(reason) and any(
                reason[place : place + n + 1] in one for one in texts
            ):
                n += 1
            said.append("[…]")
            place += n
        else:
            said.append(reason[place])
            place += 1
    return "".join(said)


def _models(lms: Sequence[Any]) -> list[dict[str, str]]:
    return [{"model": str(lm.model), "endpoint": redacted(endpoint_of(lm))} for lm in lms]


def _short(text: str) -> str:
    line = redacted(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
