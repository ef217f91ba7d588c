"""What judges that hold judges ask, and whom they may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.asking import Asker
from judgesmith.programs.families import family_of
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Asked = Iterable[Coroutine[Any, Any, Judgement]]
"""What every member is asked, under way when it is awaited."""


async def at_once(asked: Asked) -> list[Judgement | BaseException]:
    """Return what all members say, or their faults, asked at the same time."""
    return await asyncio.gather(*asked, return_exceptions=True)


async def in_turn(asked: Asked) -> list[Judgement | BaseException]:
    """Return what all members say, or their faults, asked one after the other.

    A fault that ends the run is raised before the next one is asked.
    """
    said: list[Judgement | BaseException] = []
    for one in asked:
        try:
            said.append(await one)
        except Exception as fault:
            if not speaks_of_one_item(fault):
                raise
            said.append(fault)
    return said


Gathered = Callable[[Asked], Coroutine[Any, Any, list[Judgement | BaseException]]]
"""How members are asked."""


class MembersAsker(Asker):
    """Asks all members and makes one judgement of what comes back.

    A call of such a judge and many items go through it alike, so that they come to the same.

    Parameters
    ----------
    askers : dict of str to Asker
        The members, by name.
    combined : callable
        Makes one judgement of theirs.
    gathered : callable
        ``at_once`` or ``in_turn``.
    """

    def __init__(
        self,
        askers: Mapping[str, Asker],
        combined: Callable[[Mapping[str, Judgement]], Judgement],
        gathered: Gathered = at_once,
    ) -> None:
        self._askers = dict(askers)
        self._combined = combined
        self._gathered = gathered

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item; none where no member can be asked."""
        return self._combined(await self.judgements(item))

    async def judgements(self, item: RatedItem) -> dict[str, Judgement]:
        """Return what every member says of one item.

        Raises
        ------
        ModelError
            If no member can be asked, or one says that the set-up is wrong.
        """
        said = await self._gathered(asker.judge(item) for asker in self._askers.values())
        found: dict[str, Judgement] = {}
        faults = []
        for name, one in zip(self._askers, said, strict=True):
            if isinstance(one, Judgement):
                found[name] = one
                continue
            if not speaks_of_one_item(one):
                raise one
            faults.append(one)
            found[name] = Judgement.unscored(f"the model could not be asked: {one}")
        if len(faults) == len(said):
            raise faults[0]
        return found

    async def aclose(self) -> None:
        """Let go of what the members hold."""
        for asker in self._askers.values():
            await asker.aclose()


def refuse_ranks(name: str, member: object) -> None:
    """Refuse to hold a judge that ranks the responses to a source: members are asked one by one.

    Raises
    ------
    ValueError
        If it is such a judge.
    """
    protocol = getattr(member, "protocol", None)
    if isinstance(protocol, JudgeProtocol) and family_of(protocol.judge).ranks:
        raise InputError(
            f"{name} is a {protocol.judge} judge: it ranks the responses to a source, and no panel "
            "or calibration makes points of ranks; leave it out."
        )
