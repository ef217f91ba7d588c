"""One run of scoring: from the items of all inputs, through what judges, to all outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from judgesmith.data.problems import nothing_in
from judgesmith.data.reading import ColumnsGiven
from judgesmith.errors import InputError
from judgesmith.experiments.scoring.feed import Feed, Given, Opened, OutputFile, ScoringJob
from judgesmith.experiments.scoring.lines import Scored, Tally
from judgesmith.experiments.scoring.manifest import Manifest
from judgesmith.experiments.scoring.parts import refuse_stopped
from judgesmith.experiments.scoring.resume_check import marks_of, refuse_others
from judgesmith.experiments.scoring.shards import OutputPlace, Shard
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.runner import CONCURRENCY, iter_scores, judges_sources
from judgesmith.programs.lm import AnyModel
from judgesmith.results.progress import OnProgress, tell
from judgesmith.signatures import Judgement, RatedItem

Judging = Callable[[Iterator[RatedItem]], Iterator[tuple[RatedItem, Judgement]]]
"""What judges a stream of items: ``iter_scores`` with its judge and its model.

It reads the items as far as it needs them and yields each of them, the very object that it was
given, with its judgement: once, and in the order of the items unless rows may come as they are
finished.
"""


class RowWatch(Protocol):
    """Looks on while rows are written, for logs and meters."""

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Take note of a row that was judged now.

        Parameters
        ----------
        file : str
            The input as named.
        row : int
            The row's number among those of its input, from 1.
        item : RatedItem
            The texts.
        judgement : Judgement
            What is written of them.
        """

    def kept(self, n_rows: int) -> None:
        """Take note of rows that an earlier run had written and that are not judged again."""


Planned = tuple[OutputPlace, tuple[Shard | Given, ...]]
"""A file to be written, and its inputs."""

_TOLD = 16  # rows between two words about progress


@dataclass(kw_only=True)
class ScoringRun:
    """What is the same for every row."""

    judge: AnySaved
    lm: AnyModel
    manifest: Manifest | None = None
    columns: ColumnsGiven = None
    ordered: bool = True
    overwrite: bool = False
    concurrency: int = CONCURRENCY
    on_progress: OnProgress | None = None
    watch: RowWatch | None = None
    tally: Tally = field(default_factory=Tally)
    _n_done: int = 0
    _n_kept: int = 0
    _n_told: int = 0

    def score(self, planned: Sequence[Planned], judging: Judging | None = None) -> Scored:
        """Write all files; see ``score_shards``."""
        feed = self._feed(planned)
        how: dict[str, Any] = {"concurrency": self.concurrency, "ordered": self.ordered}
        try:
            judged = judging(feed) if judging else iter_scores(self.judge, feed, lm=self.lm, **how)
            for item, judgement in judged:
                place = feed.place_of(item)
                place.output.add(place.number, item, judgement)
                if self.watch is not None:
                    self.watch.judged(place.file, place.row, item, judgement)
                self._n_done += 1
                if self._n_done + feed.n_kept - self._n_told >= _TOLD:
                    self._tell(feed)
                if place.output.whole:
                    self._finish(feed)
            if feed.n_missing:
                raise InputError(f"what judges left out {feed.n_missing} items.")
            self._finish(feed)
        finally:
            for _, output in feed.outputs:
                output.leave()
            if self.manifest is not None:
                self.manifest.close()
        self._tell(feed)
        return self.tally.scored(tuple(feed.notes))

    def left(self, planned: Sequence[Planned]) -> Iterator[RatedItem]:
        """Yield the items that are still to be judged, and write nothing."""
        feed = self._feed(planned)
        try:
            yield from feed
        finally:
            for _, output in feed.outputs:
                output.leave()

    def check(self, planned: Sequence[Planned]) -> None:
        """Refuse what stands in the way of writing all files; nothing is written."""
        for job in self._jobs(planned):
            if not (self.overwrite or judges_sources(self.judge)):
                refuse_stopped(job.target.place, job.marks, ordered=self.ordered)

    def _feed(self, planned: Sequence[Planned]) -> Feed:
        """Return the items that are to be judged, once everything that can be refused is not."""
        return Feed(self._jobs(planned), self._begun, self.columns, ordered=self.ordered)

    def _jobs(self, planned: Sequence[Planned]) -> list[ScoringJob]:
        """Return the files that are to be written, if none is somebody else's."""
        jobs, names = [], []
        for target, sources in planned:
            done = None if self.manifest is None else self.manifest.done(target)
            if done is None:
                job, name = self._job(target, sources)
                jobs.append(job)
                names.append(name)
                continue
            self.tally.add(done)
            self._keep(done.n_rows)
        if not self.tally.n_rows and not any(job.marks["run"] for job in jobs):
            raise nothing_in(names[0])
        return jobs

    def _job(
        self, target: OutputPlace, sources: tuple[Shard | Given, ...]
    ) -> tuple[ScoringJob, str]:
        """Return a file to be written, its first item looked at, and what its input is called."""
        opened: dict[str, Opened] = {}
        name, first = "", None
        for source in sources:
            reader = source.items(self.columns)
            name = name or getattr(reader, "name", source.name)
            first = next(reader, None)
            if source.once:
                items: Iterator[RatedItem] = reader if first is None else chain([first], reader)
                opened[source.name] = Opened(items, reader)
            if first is not None:
                break
        if first is None:
            marks = {"judge": self.judge.fingerprint, "target": self.judge.target, "run": ""}
        else:
            marks = marks_of(self.judge, self.lm, first)
        if target.place.exists() and not self.overwrite:
            refuse_others(target.place, marks)
        return ScoringJob(target=target, sources=sources, opened=opened, marks=marks), name

    def _begun(self, job: ScoringJob) -> OutputFile:
        """Return the file of a job, to be written from now on."""
        return OutputFile(
            job.target.place,
            job.target.ending,
            job.marks,
            ordered=self.ordered,
            overwrite=self.overwrite,
            whole=judges_sources(self.judge),
            n_inputs=len(job.sources),
            labels=self.judge.scale.is_verdict,
        )

    def _finish(self, feed: Feed) -> None:
        """Put every file into its place that is whole."""
        for job, output in [one for one in feed.outputs if one[1].whole]:
            counted = output.finish()
            feed.outputs.remove((job, output))
            self.tally.add(counted)
            if self.manifest is None:
                output.clear()
            else:
                self.manifest.add(job.target, job.marks["run"] or None, counted, output.clear)

    def _tell(self, feed: Feed) -> None:
        """Say how many rows are done since that was last said."""
        if feed.n_kept > self._n_kept and self.watch is not None:
            self.watch.kept(feed.n_kept - self._n_kept)
        self._n_kept = feed.n_kept
        n = self._n_done + feed.n_kept - self._n_told
        if n:
            tell(self.on_progress, n)
        self._n_told += n

    def _keep(self, n_rows: int) -> None:
        """Say that rows of a finished file are not judged again."""
        if self.watch is not None:
            self.watch.kept(n_rows)
        tell(self.on_progress, n_rows)
