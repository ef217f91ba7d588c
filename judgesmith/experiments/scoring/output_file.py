"""One file of scores while it comes about: what is there already, what came out, the whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from judgesmith.drafts import draft_beside, put
from judgesmith.experiments.scoring.formats import write_scores
from judgesmith.experiments.scoring.lines import ScoreLine, Tally, note_of
from judgesmith.experiments.scoring.marks import Marks, refuse_others
from judgesmith.experiments.scoring.parts import PartFiles
from judgesmith.experiments.scoring.resume_check import Beside, EarlierRow, refuse_loss
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures import Judgement, RatedItem
from judgesmith.signatures.plain_data import json_line


class OutputFile:
    """A file of scores in the making."""

    def __init__(
        self,
        place: Path,
        ending: str,
        marks: Marks,
        *,
        ordered: bool,
        overwrite: bool,
        whole: bool,
        n_inputs: int,
    ) -> None:
        self.place = place
        self.ending = ending
        self.marks = marks
        self.ordered = ordered
        self.n_inputs = n_inputs
        self._beside: Beside | None = None
        self._replaces = place.exists() and not overwrite
        if self._replaces:
            refuse_others(place, marks)
            self._beside = Beside(place, marks["run"])
        self.parts = PartFiles(place, marks, ordered=ordered, fresh=overwrite or whole)
        self._earlier = self.parts.earlier()
        self._files: list[str] = []
        self._starts: list[int] = []
        self.n_read = 0
        self.n_under_way = 0
        self.n_kept = 0
        self.all_read = False

    def begin(self, file: str) -> None:
        """Say that the items which come now are of another input."""
        self._files.append(file)
        self._starts.append(self.n_read)

    def wants(self, item: RatedItem) -> bool:
        """Say whether the next item is still to be judged."""
        self.n_read += 1
        if self._beside is not None:
            self._beside.check(item, self._files[-1] if self.n_inputs > 1 else "", self.row)
        if self._earlier.any and self._earlier.has(self.n_read, item.key):
            self.n_kept += 1
            return False
        self.n_under_way += 1
        return True

    @property
    def row(self) -> int:
        """The number of the item that came last, in its input."""
        return self.n_read - self._starts[-1]

    def end(self) -> None:
        """Say that there are no items any more."""
        self.all_read = True
        self._earlier.refuse_rest(self.n_read)

    @property
    def whole(self) -> bool:
        """Whether every item is judged."""
        return self.all_read and not self.n_under_way

    def add(self, number: int, item: RatedItem, judgement: Judgement) -> None:
        """Take what became of an item."""
        row = {**score_row(item, judgement), **self.marks}
        self.parts.add(ScoreLine(number, row["key"], note_of(judgement), json_line(row)[:-1]))
        self.n_under_way -= 1

    def finish(self) -> Tally:
        """Put the file into its place; what was kept meanwhile stays until ``clear``."""
        tally = Tally()
        if self._replaces and self.place.exists():
            refuse_loss(self.place, self._new_rows(), self.marks["run"])
        with draft_beside(self.place) as draft:
            write_scores(self._rows(tally), draft, self.ending, placed=not self.ordered)
            put(draft, self.place)
        return tally

    def _new_rows(self) -> Iterator[EarlierRow]:
        for line in self.parts.lines():
            place = None if self.ordered else ("", line.number)
            yield EarlierRow(line=line.number, key=line.key, scored=line.scored, place=place)

    def _rows(self, tally: Tally) -> Iterator[str]:
        for line in self.parts.lines():
            tally.count(line.note)
            yield line.row if self.ordered else self._placed(line)

    def _placed(self, line: ScoreLine) -> str:
        """Return a row that says which row of which input it is."""
        n = bisect_left(self._starts, line.number) - 1
        named = json_line({"file": self._files[n]})[1:-2] + ", " if self.n_inputs > 1 else ""
        return f'{{"row": {line.number - self._starts[n]}, {named}{line.row[1:]}'

    def clear(self) -> None:
        """Remove what was kept until the file is there."""
        self.parts.remove()

    def leave(self) -> None:
        """Let another process continue."""
        self.parts.leave()
