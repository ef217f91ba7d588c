"""Names, numbers and negations of a text: what a change may touch alone, or has to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from judgesmith.programs.perturbing.differences import Token
from judgesmith.programs.perturbing.languages import FUNCTION_WORDS

_FUNCTION = frozenset().union(*FUNCTION_WORDS.values())


def _all(*words: str) -> frozenset[str]:
    return frozenset(word for several in words for word in several.split())


# Opens sentences so often that a capital there says nothing.
_OPENING = _FUNCTION | _all(
    "i my our your me him them if so then than after before although because however while once "
    "yesterday today tomorrow now here also all both each every many most more another other one "
    "two three four five six seven eight nine ten no nobody nothing never only just even still "
    "despite during since until under over between among about according such how why where"
)
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        start=2,
    )
}
_NEGATIONS = _all(
    "not no never none nobody nothing neither nor nowhere without cannot",
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder",
    "ne pas jamais aucun aucune rien personne sans non mai nessuno nessuna niente senza",
    "nunca nadie nada ningún ninguna tampoco não nenhum nenhuma niet geen nooit niets не нет ни",
    "不 没 沒 無 无 非 未",
)
_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f:\"'\u201c\u201d\u2018([-\u2013\u2014\u2022*")
_MOST_CAPITALS = 0.8


def capitals_tell(tokens: Sequence[Token]) -> bool:
    """Say whether names can be told from other words by their capitals.

    They cannot in scripts without capitals, nor where more than four of five words within sentences
    have one.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.differences import tokens_of
    >>> [capitals_tell(tokens_of(text)) for text in ("Then Ann left.", "ANN LEFT ROME", "她走了")]
    [True, False, False]
    """
    words = [pair for pair in _opening(tokens) if pair[0].text[0].isalpha()]
    cased = [pair for pair in words if pair[0].text[0].lower() != pair[0].text[0].upper()]
    if 2 * len(cased) < len(words):
        return False
    within = [token for token, opens in cased if not opens]
    return sum(is_capital(one) for one in within) <= _MOST_CAPITALS * len(within)


def mentions(tokens: Sequence[Token], *, sure: bool = False) -> frozenset[int]:
    """Return the places of words that are names or numbers.

    Parameters
    ----------
    tokens : sequence of Token
        A text in parts.
    sure : bool
        Whether a word with a capital at the beginning of a sentence counts only if it has one
        within a sentence as well. Otherwise it does unless such words often stand there.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.differences import tokens_of
    >>> tokens = tokens_of("Trains left. The 7 Romans met Ann, and Ann ran. Ann hid.")
    >>> [tokens[place].text for place in sorted(mentions(tokens))]
    ['Trains', '7', 'Romans', 'Ann', 'Ann', 'Ann']
    >>> [tokens[place].text for place in sorted(mentions(tokens, sure=True))]
    ['7', 'Romans', 'Ann', 'Ann', 'Ann']
    """
    opening = {id(token): opens for token, opens in _opening(tokens)}
    within = {
        token.key
        for token in tokens
        if token.is_word and is_capital(token) and not opening[id(token)]
    }
    found = set()
    for place, token in enumerate(tokens):
        if is_number(token):
            found.add(place)
        elif token.is_word and is_capital(token):
            opens = opening[id(token)]
            doubtful = opens and token.key not in within
            if not doubtful or not (sure or plain(token) in _OPENING):
                found.add(place)
    return frozenset(found)


def is_number(token: Token) -> bool:
    """Say whether a word holds a digit."""
    return token.is_word and any(map(str.isdigit, token.text))


def names_number(token: Token) -> bool:
    """Say whether a word is a number, in digits or in English words from two to twelve."""
    return is_number(token) or plain(token) in _NUMBER_WORDS


def is_capital(token: Token) -> bool:
    """Say whether a word may be a name: it has a capital, and is more than one letter."""
    text = token.text
    return text[0].isupper() and not (len(text) == 1 or text.startswith(("I'", "I\u2019")))


def plain(token: Token) -> str:
    """Return a word without capitals and without what an apostrophe appends to it."""
    word = token.key.casefold()
    for ending in ("'s", "'"):
        word = word.removesuffix(ending)
    return word


def numbers_in(tokens: Sequence[Token]) -> Counter[str]:
    """Return the numbers of a text, those from two to twelve in English words as well.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.differences import tokens_of
    >>> dict(numbers_in(tokens_of("Two of 1,500 left, 2 came back.")))
    {'2': 2, '1500': 1}
    """
    counts: Counter[str] = Counter()
    for token in tokens:
        if is_number(token):
            counts[token.key.replace(",", "")] += 1
        elif (word := plain(token)) in _NUMBER_WORDS:
            counts[_NUMBER_WORDS[word]] += 1
    return counts


def negations_in(tokens: Sequence[Token]) -> int:
    """Return how many words of a text deny something, in some European languages and Chinese.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.differences import tokens_of
    >>> negations_in(tokens_of("Ann didn’t leave, and nobody could not see it."))
    3
    """
    words = [token.key.casefold() for token in tokens if token.is_word]
    return sum(word in _NEGATIONS or word.endswith("n't") for word in words)


def _opening(tokens: Sequence[Token]) -> list[tuple[Token, bool]]:
    """Return all words, and whether each may begin a sentence."""
    found, opens = [], True
    for token in tokens:
        if token.is_word:
            found.append((token, opens))
            opens = False
        elif token.text in _ENDS:
            opens = True
    return found
