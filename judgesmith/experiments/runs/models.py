"""The models of a run: one ledger, one budget, each made once however many cells ask it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.specs.parts import BY_RULE, SAME
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, load_saved

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm.cache.recordings import Recording


class RunModels:
    """Makes the models of a specification when they are first needed.

    Parameters
    ----------
    spec : Spec
        Says which there are, how they are asked, and what all may take together.
    ledger : Path or None
        Where answers and the budget are kept; None keeps neither.
    replay : bool
        Whether no model is asked: a request that is not recorded is an error that names it.
    recording : Recording or None
        Notes what became of every request, and plays those that failed when it was recorded.
    allow_models : collection of str
        Models of saved judges that may be asked beside those that the specification names.
    only_hosts : collection of str
        Where models may be; empty for everywhere.

    Examples
    --------
    >>> from judgesmith.experiments.specs import cells_of
    >>> spec = Spec.model_validate({
    ...     "name": "one",
    ...     "data": {"answers": {"path": "sample"}},
    ...     "judges": {"plain": {"judge": "direct"}},
    ... })
    >>> models = RunModels(spec, None)
    >>> models.of(cells_of(spec)[0]) is models.named("offline")
    True
    """

    def __init__(
        self,
        spec: Spec,
        ledger: Path | None,
        *,
        replay: bool = False,
        recording: Recording | None = None,
        allow_models: Collection[str] = (),
        only_hosts: Collection[str] = (),
    ) -> None:
        self.spec = spec
        self.ledger = ledger
        self.replay = replay
        self.recording = recording
        self.allow_models = frozenset(allow_models)
        self.only_hosts = tuple(only_hosts)
        self._told: Callable[[dspy.LM], None] | None = None
        self.run = f"experiment {spec.fingerprint}"
        self._made: dict[str, dspy.LM] = {}
        self._saved: dict[str, AnySaved] = {}
        self._entries = {spec.model_name(name): name for name in reversed(spec.models)}

    def of(self, cell: Cell) -> dspy.LM:
        """Return the model that judges in a cell.

        Raises
        ------
        ValueError
            If there is a ceiling in dollars and no price is known.
        """
        assert cell.model is not None  # only compiled cells ask
        return self._lm(self.spec.model_name(cell.model), entry=cell.model)

    def named(self, name: str, *, like: str | None = None) -> dspy.LM:
        """Return a model by its provider's name.

        Parameters
        ----------
        name : str
            Where the specification has no entry for it, it is asked as one that has.
        like : str or None
            The name of that entry.
        """
        return self._lm(name, entry=self._entries.get(name, like))

    def competing(self, cell: Cell, settings: CompileSettings) -> dict[str, dspy.LM]:
        """Return the models that compete with that of a cell, by name."""
        return {name: self.named(name, like=cell.model) for name in settings.models}

    def roles(self, cell: Cell, settings: CompileSettings) -> dict[str, dspy.LM]:
        """Return the models that do other work in a cell, by role."""
        return {role: self.named(name, like=cell.model) for role, name in settings.roles.items()}

    def saved(self, judge: str) -> AnySaved:
        """Return a saved judge by its name in the specification, read once."""
        if judge not in self._saved:
            path = self.spec.judges[judge].saved
            assert path is not None  # which is what makes it saved
            self._saved[judge] = load_saved(self.spec.place(path))
        return self._saved[judge]

    def bound(self, saved: AnySaved, cell: Cell) -> tuple[AnySaved, list[dspy.LM]]:
        """Return a saved judge with its models, or with that of the cell, and the models."""
        if cell.model is None:
            self.check_named(saved)
            lms = {name: self.named(name) for name in saved.models}
        else:
            lms = dict.fromkeys(saved.models, self.of(cell))
        return saved.with_models(lms), list(lms.values())

    def check_named(self, saved: AnySaved) -> None:
        """Refuse models of a saved judge that neither the specification nor the user names.

        Raises
        ------
        InputError
            If there is one.
        """
        from judgesmith.programs.lm import engine_for
        from judgesmith.programs.lm.factory import refusal, unnamed

        others = unnamed(saved.models, self.allow_models | self._entries.keys())
        if others:
            raise refusal(
                {name: engine_for(name).endpoint for name in others},
                f"Name it under models, or with --allow-model {others[0]}.",
            )

    @property
    def made(self) -> tuple[dspy.LM, ...]:
        """All models that were needed so far."""
        return tuple(self._made.values())

    def tell(self, told: Callable[[dspy.LM], None]) -> None:
        """Call ``told`` with each model that is made, those made so far included."""
        self._told = told
        for lm in self.made:
            told(lm)

    def check(self, cells: Sequence[Cell]) -> list[dspy.LM]:
        """Return the models that judge in some cells, if each of them may be asked.

        Raises
        ------
        ValueError
            If one is not named, has no known price under a ceiling in dollars, or is at a host
            that is left out.
        """
        asked = {cell.model: cell for cell in cells if cell.model is not None}
        lms = [self.of(cell) for cell in asked.values()]
        for judge in {cell.judge for cell in cells if cell.model is None}:
            if self.spec.judges[judge].saved is not None:
                saved = self.saved(judge)
                self.check_named(saved)
                lms += map(self.named, saved.models)
        lms += [self.named(one) for cell in cells if (one := self.supervisor(cell))]
        return lms

    def supervisor(self, cell: Cell) -> str | None:
        """Return the model that merges the errors of a panel's members; None where none does."""
        named = self.spec.judges[cell.judge].supervisor
        if named != SAME:
            return None if named == BY_RULE else named
        if cell.model is None:
            raise InputError(
                f"the members of {cell.judge} have no model in common.",
                hint="name the supervisor's.",
            )
        return self.spec.model_name(cell.model)

    def check_keys(self, cells: Sequence[Cell]) -> None:
        """Refuse models that need a key and have none, unless there are answers to go by.

        Raises
        ------
        ModelError
            If the provider of one needs a key, and none is in the environment.
        """
        from judgesmith.programs.lm import lm_client_of

        if self.replay or (self.ledger is not None and self.ledger.exists()):
            return
        for lm in self.check(cells):
            client = lm_client_of(lm)
            check = getattr(client.engine if client else None, "check_key", None)
            if check is not None:
                check()

    def _lm(self, name: str, *, entry: str | None) -> dspy.LM:
        key = entry if entry is not None and self.spec.model_name(entry) == name else name
        if key not in self._made:
            self._made[key] = self._new(name, entry)
            if self._told is not None:
                self._told(self._made[key])
        return self._made[key]

    def _new(self, name: str, entry: str | None) -> dspy.LM:
        from judgesmith.programs.lm import model
        from judgesmith.programs.lm.factory import check_host

        one = self.spec.models[entry] if entry is not None else None
        own = one is not None and entry is not None and self.spec.model_name(entry) == name
        budget = self.spec.budget
        if budget.usd is not None and (one is None or not own or one.price is None):
            _check_priced(name, entry)
        # A model of another provider than the entry's has that server, but not its price.
        api_base = None if one is None or name == "offline" else one.api_base
        check_host(name, api_base, self.only_hosts)
        return model(
            name,
            ledger=self.ledger,
            api_base=api_base,
            price=one.price if one is not None and own else None,
            rpm=one.rpm if one is not None and own else None,
            tpm=one.tpm if one is not None and own else None,
            max_calls=budget.calls,
            max_tokens=budget.tokens,
            max_usd=budget.usd,
            max_minutes=budget.minutes,
            run_id=self.run,
            replay=self.replay,
            recording=self.recording,
        )


def _check_priced(name: str, entry: str | None) -> None:
    """Refuse a ceiling in dollars for a model of unknown price."""
    from judgesmith.programs.lm import model

    try:
        model(name, ledger=None, max_usd=1.0)
    except ValueError:
        raise InputError(
            f"budget.usd needs the price of {name}, and none is known.",
            hint=f"give models.{entry or name}.price as IN,OUT, in dollars per million tokens.",
        ) from None
