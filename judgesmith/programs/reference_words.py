"""What reference metrics take for a word: any script's, and exactly rouge-score's in ASCII."""

from __future__ import annotations

import functools
import unicodedata

_WITHOUT_SPACES = (
    *("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA"),
    *("THAI", "LAO ", "KHMER", "MYANMAR", "TIBETAN"),
)
_INSIDE = {"L", "N", "M"}  # general categories: letters, numbers, marks on them


@functools.lru_cache(maxsize=64)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, without anything between them.

    Scripts that are written without spaces give a word per character, with the marks on it.

    Examples
    --------
    >>> words_of("<b>Été</b>, 2nd-best!")
    ('b', 'été', 'b', '2nd', 'best')
    >>> words_of("橋は開いた。")
    ('橋', 'は', '開', 'い', 'た')
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    spaced = "".join(map(_spaced, plain))
    return tuple(spaced.split())


@functools.lru_cache(maxsize=50_000)
def _spaced(character: str) -> str:
    """Return a character as it stands in a word, or the space that ends one."""
    kind = unicodedata.category(character)[0]
    if kind not in _INSIDE:
        # What cannot be seen, such as a soft hyphen, parts no words.
        return "" if unicodedata.category(character) == "Cf" else " "
    if kind == "L" and unicodedata.name(character, "").startswith(_WITHOUT_SPACES):
        return f" {character}"
    return character
