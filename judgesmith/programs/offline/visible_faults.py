"""Single faults that show when a text is held against its material: strays and misspelt words.

The clues behind the offline model's scores look at a text as a whole, where one error more is lost
among what its content adds. What is counted here is one sentence, or one word, at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgesmith.programs.features.words import Text, TextCache

_CACHE = TextCache(max_characters=2_000_000)  # sources recur, responses do not
_FEW_STEMS = 3  # content stems below which a sentence is too short to be about anything
_STRAY = 0.25  # share of a sentence's content known from the material, at most
_AT_HOME = 0.5  # share of the other sentences' content known from it, at least
_LETTERS = 5  # words shorter than this are one letter apart by chance


def straying_sentences(source: str, context: str | None, response: str) -> int:
    """Return how many sentences are about something else than the material and the other ones.

    Texts of which most is not in the material, such as translations and stories, have none: they
    are not made of it.

    Examples
    --------
    >>> source = "The bridge in Ghent opened on Monday after nine years of work."
    >>> straying_sentences(source, None, "The bridge opened after nine years. Penguins swim fast.")
    1
    >>> straying_sentences(source, None, "Penguins swim fast underwater. Whales swim deeper still.")
    0
    """
    material = _stems(source, context)
    own = Text(response)
    known: list[tuple[int, int]] = []
    for start, end in own.sentences:
        stems = {stem for stem in own.stems[start:end] if stem}
        known.append((len(stems & material), len(stems)))
    strays = [n >= _FEW_STEMS and found <= _STRAY * n for found, n in known]
    home = [pair for pair, stray in zip(known, strays, strict=True) if not stray]
    n_home = sum(n for _, n in home)
    if not n_home or sum(found for found, _ in home) < _AT_HOME * n_home:
        return 0
    return sum(strays)


def misspelt_words(source: str, context: str | None, response: str) -> int:
    """Return how many words are one letter off a word of the material and are not in it.

    Endings may differ, for a word may be bent another way, and names are left alone.

    Examples
    --------
    >>> source = "The bridge opened on Monday."
    >>> misspelt_words(source, None, "The brigde opned, said all bridges.")
    2
    """
    own = Text(response)
    known = _CACHE.read(source).word_set | (_CACHE.read(context).word_set if context else set())
    spelt = [word for word in known if len(word) >= _LETTERS - 1]
    strange = {
        word
        for word, written in zip(own.words, own.originals, strict=True)
        if len(word) >= _LETTERS and word not in known and written == word and word.isalpha()
    }
    return sum(any(one_letter_off(word, other) for other in spelt) for word in strange)


def one_letter_off(word: str, other: str) -> bool:
    """Say whether words with the same ending differ by one letter, or two that changed places.

    Examples
    --------
    >>> [one_letter_off(one, "bridge") for one in ("brigde", "brdge", "bridgge", "brudge")]
    [True, True, True, True]
    >>> [one_letter_off(one, "bridge") for one in ("bridge", "bridges", "fridges", "ridges")]
    [False, False, False, False]
    """
    n, m = len(word), len(other)
    if word[-1] != other[-1] or not -1 <= n - m <= 1 or word == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(n, m))
    if n < m:
        return word[at:] == other[at + 1 :]
    if n > m:
        return word[at + 1 :] == other[at:]
    swapped = word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    return swapped or word[at + 1 :] == other[at + 1 :]


def _stems(*texts: str | None) -> frozenset[str]:
    def found() -> Iterator[Iterable[str]]:
        for text in texts:
            if text:
                yield _CACHE.read(text).stem_counts

    return frozenset().union(*found())
