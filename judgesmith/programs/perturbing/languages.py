"""Which language and script a text is in, as far as its commonest words and letters tell."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        language: frozenset(words.split())
        for language, words in {
            "English": "the a an this that these those some any each every either neither no all "
            "both few fewer many more most much other another several such and or nor but so yet "
            "although because if unless while whereas whether though than of to in for on as at by "
            "with from into onto about above across after against along among around before "
            "behind below beneath beside besides between beyond despite down during except inside "
            "like near off out outside over past since through throughout toward towards under "
            "until up upon within i me my mine myself you your yours yourself he him his himself "
            "she her hers herself it its itself we us our ours ourselves they them their theirs "
            "themselves one who whom whose which what when where why how there here then be am is "
            "are was were been being have has had having do does did doing done will would can "
            "could shall should may might must not",
            "German": "der die das den dem des ein eine einen einem einer und ist war sind waren "
            "nicht mit von zu im am auf für sich er sie es wir ich auch als bei nach wurde wird "
            "hat haben dass aber oder",
            "French": "le la les un une des du de et est était sont dans que qui ne pas pour sur "
            "avec au aux ce cette ces il elle ils nous vous par plus se sa son ses a été ont mais "
            "ou où",
            "Spanish": "el la los las un una unos unas de del y es era son en que no por con para "
            "al se su sus lo como más este esta fue han ha pero o muy hay también",
            "Italian": "il lo la gli le un una di del della dei e è era sono in che non per con si "
            "al alla da nel nella come più questo questa ha hanno ma o anche",
            "Portuguese": "o a os as um uma de do da dos das e é era são em no na nos nas que não "
            "por com para se ao à seu sua como mais este esta foi têm mas ou também",
            "Dutch": "de het een van en is was zijn waren in op te dat die niet met voor aan er "
            "hij zij wij ik ook als bij naar door om maar of wordt werd heeft hebben",
        }.items()
    }
)
"""Words so common in a language that a few sentences of it hold several of them."""

_LANGUAGES = {
    word: tuple(one for one, others in FUNCTION_WORDS.items() if word in others)
    for common in FUNCTION_WORDS.values()
    for word in common
}
_TELLING = 3  # function words of one language that a text holds at least, to be taken for it
_FOREIGN_LETTERS = 0.2
_ENGLISH_SHARE = 0.25  # of the words of a text, beyond the first few, that are common in English


def word_set(words: str) -> frozenset[str]:
    """Return the words of a line of words."""
    return frozenset(words.split())


def language_of(words: Iterable[str]) -> str | None:
    """Return the language whose commonest words a text holds most, if that is clear.

    Parameters
    ----------
    words : iterable of str
        In lower case.

    Examples
    --------
    >>> language_of("der hund ist nicht im haus".split())
    'German'
    >>> language_of("dog bites man".split()) is None
    True
    """
    hits = Counter(dict.fromkeys(FUNCTION_WORDS, 0))
    for word, n in Counter(words).items():
        for language in _LANGUAGES.get(word, ()):
            hits[language] += n
    (first, n), (_, n_second) = hits.most_common(2)
    return first if n >= _TELLING and 2 * n >= 3 * n_second else None


def may_be_english(words: Sequence[str]) -> bool:
    """Say whether rules that know English words may be let loose on a text.

    Parameters
    ----------
    words : sequence of str
        All of the text, in lower case.

    Returns
    -------
    bool
        False if its commonest words are of another language, or if it is long enough to have
        common English words and has hardly any.

    Examples
    --------
    >>> may_be_english("dog bites man".split())
    True
    >>> may_be_english("der hund ist nicht im haus".split())
    False
    >>> may_be_english("pies wyszedł rano z domu i nie wrócił aż do samego wieczora".split())
    False
    """
    if language_of(words) not in (None, "English"):
        return False
    common = FUNCTION_WORDS["English"]
    return sum(word in common for word in words) >= _ENGLISH_SHARE * (len(words) - _TELLING)


def may_be_german(words: Sequence[str]) -> bool:
    """Say whether nouns may be written with capitals, so that a capital makes no name.

    Parameters
    ----------
    words : sequence of str
        All of the text, in lower case.

    Examples
    --------
    >>> may_be_german("ich habe mit fachleuten geredet".split()), may_be_german(["rome"])
    (True, False)
    """
    told = language_of(words)
    if told is not None:
        return told == "German"
    german, english = (
        sum(word in FUNCTION_WORDS[language] for word in words)
        for language in ("German", "English")
    )
    return german > english


def scripts_of(text: str) -> Counter[str]:
    """Return how many letters of each script a text has.

    Examples
    --------
    >>> sorted(scripts_of("Ann 走 走").items())
    [('CJK', 2), ('LATIN', 3)]
    """
    if text.isascii():
        return Counter(LATIN=n) if (n := sum(map(str.isalpha, text))) else Counter()
    letters = Counter(sign for sign in text if sign.isalpha())
    found: Counter[str] = Counter()
    for sign, n in letters.items():
        found[unicodedata.name(sign, "UNKNOWN").split()[0].split("-")[0]] += n
    return found


def is_foreign(added: str, original: str) -> bool:
    """Say whether what was added is written in letters that the original does not know.

    Examples
    --------
    >>> is_foreign("Ульяна", "Ann left."), is_foreign("Bob", "Ann left.")
    (True, False)
    """
    letters = scripts_of(added)
    if not letters:
        return False
    known = scripts_of(original)
    strange = sum(n for script, n in letters.items() if script not in known)
    return strange > _FOREIGN_LETTERS * letters.total()
