"""The data sets whose published files can be read, by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from judgesmith.errors import InputError, did_you_mean
from judgesmith.experiments.converting.conversion import Conversion
from judgesmith.experiments.converting.dual_eval import NLG_DUALEVAL
from judgesmith.experiments.converting.hanna import HANNA
from judgesmith.experiments.converting.newsroom import NEWSROOM
from judgesmith.experiments.converting.openmeva import OPENMEVA_ROC, OPENMEVA_WP
from judgesmith.experiments.converting.qags import QAGS_CNNDM, QAGS_XSUM
from judgesmith.experiments.converting.sf_dialogue import BAGEL, SFHOT, SFRES
from judgesmith.experiments.converting.summeval import SUMMEVAL
from judgesmith.experiments.converting.usr import PERSONA_CHAT, TOPICAL_CHAT
from judgesmith.experiments.converting.wiki_da import WIKI_DA
from judgesmith.experiments.converting.wmt_mqm import WMT_MQM

CONVERSIONS = {
    one.name: one
    for one in (
        SUMMEVAL,
        NEWSROOM,
        QAGS_CNNDM,
        QAGS_XSUM,
        TOPICAL_CHAT,
        PERSONA_CHAT,
        OPENMEVA_ROC,
        OPENMEVA_WP,
        HANNA,
        SFRES,
        SFHOT,
        BAGEL,
        WIKI_DA,
        WMT_MQM,
        NLG_DUALEVAL,
    )
}
"""Every conversion by name, in the order in which they are listed."""


def conversion_named(name: str) -> Conversion:
    """Return the conversion of a data set, whether its name is written with - or _.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> conversion_named("topical_chat").files
    'tc_usr_data.json'
    >>> conversion_named("summeva")
    Traceback (most recent call last):
    judgesmith.InputError: there is no conversion summeva; did you mean summeval?
    """
    plain = name.strip().casefold().replace("_", "-")
    if plain in CONVERSIONS:
        return CONVERSIONS[plain]
    others = "choose one that 'judgesmith data list' names."
    raise InputError(
        f"there is no conversion {name}.",
        hint=did_you_mean(plain, CONVERSIONS, cutoff=0.6) or others,
    )


def check_names(conversion: Conversion, paths: Iterable[Path]) -> None:
    """Refuse files whose names are those of another data set, which may have the same form.

    Raises
    ------
    ValueError
        With the set that is published under the name.

    Examples
    --------
    >>> check_names(CONVERSIONS["topical-chat"], [Path("tc_usr_data.json.gz"), Path("my.json")])
    >>> check_names(CONVERSIONS["persona-chat"], [Path("tc_usr_data.json")])
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    judgesmith.InputError: tc_usr_data.json is a file of topical-chat; convert it as that, ...
    """
    for path in paths:
        name = path.name.removesuffix(".gz")
        owners = [one.name for one in CONVERSIONS.values() if name in one.file_names]
        if owners and conversion.name not in owners:
            raise InputError(
                f"{path.name} is a file of {' and '.join(owners)}.",
                hint="convert it as that, or, if it "
                f"is of {conversion.name}, give it another name.",
            )
