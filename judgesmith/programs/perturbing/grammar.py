"""Perturbations by rule of names, numbers and grammar."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Final

from judgesmith.programs.features.words import word_set
from judgesmith.programs.perturbing.catalogue import (
    Case,
    Change,
    Every,
    Found,
    drawn,
    drawn_order,
    too_few,
)
from judgesmith.programs.perturbing.damage import other_number
from judgesmith.programs.perturbing.passage import FUNCTION_WORDS, Passage, Span

# Capitalised wherever they stand, yet no names.
_NO_NAMES = word_set(
    "however i i'm i've i'd i'll ok mr mrs ms miss dr sir lord lady prof male female neutral"
)
# They open sentences, or what is quoted, so often that a capital there says nothing.
_OPENING = word_set(
    "i my our your then than after before although because however while once yesterday today "
    "tomorrow now here also all both each every many most more another other one two three four "
    "five six seven eight nine ten no nobody nothing never only just even still despite during "
    "since until under over between among about according such how why where former ex police "
    "last next first second third according officials researchers experts young meanwhile "
    "let please yes oh well good very back poor dear thanks thank so if when"
)
_COMMON = _OPENING | FUNCTION_WORDS["English"]
# Parts of names where another part follows at once: New Zealand.
_PARTS = word_set("new old great saint")
_ADVERB = re.compile("[a-z]+(?:ly|ing|ed)")
_POSSESSIVE = re.compile(r"['’]s?$")
_MODALS = frozenset(["may", "will"])
_MOST_CAPITALS = 0.8
_FEW = 3

_passage = lru_cache(maxsize=2)(Passage)


def names_and_numbers(passage: Passage, source: str = "") -> Iterator[Span]:
    text, words = passage.text, passage.words
    are_names = _names(passage, source)
    run: list[Span] = []
    for span in words:
        start, end = span
        if run and not (span in are_names and text[run[-1][1] : start] == " "):
            yield from _trimmed(passage, run)
            run = []
        if text[start].isdigit():
            yield span
        elif span in are_names:
            run.append((start, start + len(_bare(text[start:end]))))
            if run[-1][1] != end:  # a possessive ends a name
                yield from _trimmed(passage, run)
                run = []
    yield from _trimmed(passage, run)


@lru_cache(maxsize=2)
def _names(passage: Passage, source: str) -> Collection[Span]:
    within = [span for span in passage.words if span not in passage.openers]
    capital = {span for span in passage.words if _is_capital(passage.shown(span))}
    cased = [span for span in within if passage.shown(span)[0].isalpha()]
    if len(cased) >= _FEW and len(capital & set(cased)) > _MOST_CAPITALS * len(cased):
        return ()
    given = _passage(source)
    shown_names = _within(given) if not given.may_be_german else set[str]()
    if passage.may_be_german:
        return {
            span
            for span in capital
            if _bare(passage.shown(span)) in shown_names or _is_short_form(passage.shown(span))
        }
    names = _within(passage) | shown_names
    small = {passage.shown(span) for span in passage.words} | _small(given)
    found = {span for span in capital if span not in passage.openers}
    for place, span in enumerate(passage.words):
        if span not in capital or span in found:
            continue
        word = _bare(passage.shown(span))
        lower = word.lower()
        follows = passage.words[place + 1 : place + 2]
        leads = bool(follows) and follows[0] in found and follows[0][0] == span[1] + 1
        if lower in _PARTS:
            is_name = leads
        elif lower in _COMMON or lower in small:
            is_name = False
        else:
            is_name = word in names or (leads and not _ADVERB.fullmatch(lower))
        if is_name:
            found.add(span)
    return found


def _within(passage: Passage) -> set[str]:
    return {
        _bare(passage.shown(span))
        for span in passage.words
        if span not in passage.openers and _is_capital(passage.shown(span))
    }


@lru_cache(maxsize=2)
def _small(passage: Passage) -> frozenset[str]:
    return frozenset(passage.shown(span) for span in passage.words)


def _trimmed(passage: Passage, run: list[Span]) -> Iterator[Span]:
    while run and _is_common(passage, run[0]):
        run = run[1:]
    while run and _is_common(passage, run[-1]):
        run = run[:-1]
    if run:
        yield run[0][0], run[-1][1]


def _is_common(passage: Passage, span: Span) -> bool:
    word = passage.shown(span)
    small = word.lower().replace("’", "'")
    if _is_short_form(word) and small not in _NO_NAMES:
        return False
    if small in _MODALS:
        return False
    own = FUNCTION_WORDS.get(passage.language or "English", FUNCTION_WORDS["English"])
    return small in _NO_NAMES or small in own or small in FUNCTION_WORDS["English"]


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _is_capital(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word.replace("’", "'").lower() not in _NO_NAMES


def _is_short_form(word: str) -> bool:
    return len(word) > 1 and word.isupper()


_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_SERIES = {name: series.split() for series in (_MONTHS, _DAYS) for name in series.split()}
_SYLLABLES = (
    "Bel Cor Dra Fen Gal Hal Jor Kel Lor Mav Nor Ost Pel Quil Ral Sor Tav Ul Vel Wen Zan",
    "a e i o u an er il or un",
    "bek dra fin gard kos lan mir nor rik sen than vik wyn zor",
)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_TRIES = 20


def fictional_entities(case: Case) -> Found:
    """Give k names or numbers, each wherever it stands, the place to invented ones."""
    entities = _entities(case)
    k = case.wanted(len(entities))
    if len(entities) < k:
        return too_few(k, "names and numbers", "name or number")
    taken = {word for name in entities for word in name.split(" ")} | set(entities)
    made: dict[str, str] = {}
    changes = list[Change]()
    for name in drawn(list(entities), k, case.rng):
        for part in (name,) if name[0].isdigit() else name.split(" "):
            if part not in made:
                made[part] = _invented(part, case, taken)
                taken.add(made[part])
        for start, end in entities[name]:
            shown = case.passage.shown((start, end))
            other = made.get(shown) or " ".join(made[part] for part in shown.split(" "))
            changes.append((start, end, other))
    return changes


def number_change(case: Case) -> Found:
    """Give k numbers in digits, each wherever it stands, the place to numbers found nowhere."""
    numbers = {name: spans for name, spans in _entities(case).items() if name[0].isdigit()}
    k = case.wanted(len(numbers))
    if len(numbers) < k:
        return too_few(k, "numbers in digits", "number in digits")
    taken = _given_words(case)
    changes = list[Change]()
    for name in drawn(list(numbers), k, case.rng):
        other = _invented(name, case, taken)
        taken.add(other)
        changes += [(start, end, other) for start, end in numbers[name]]
    return changes


def name_swap(case: Case) -> Found:
    """Give k names, each wherever it stands, the place to other texts' names, or invented ones."""
    names = {name: spans for name, spans in _entities(case).items() if not name[0].isdigit()}
    k = case.wanted(len(names))
    if len(names) < k:
        return too_few(k, "names")
    taken = _given_words(case)
    changes = list[Change]()
    for name in drawn(list(names), k, case.rng):
        other = _foreign_name(case, taken) or _invented(name, case, taken)
        taken.update(other.split(" "))
        changes += [(start, end, other) for start, end in names[name]]
    return changes


def _given_words(case: Case) -> set[str]:
    """Return the words of all texts of an item, whole and without what makes them possessive."""
    texts = (case.item.source, case.item.context or "", case.passage.text)
    words = {passage.shown(span) for passage in map(Passage, texts) for span in passage.words}
    return words | {_bare(word) for word in words}


def _foreign_name(case: Case, taken: set[str]) -> str:
    """Return a name from a text of another source, none of whose words is taken; else nothing."""
    for _ in range(_TRIES if case.donors is not None else 0):
        text = case.donors.other_than(case.item, case.rng) if case.donors else None
        passage = Passage(text or "")
        found = [passage.shown(span) for span in names_and_numbers(passage)]
        free = [one for one in found if one[0].isalpha() and taken.isdisjoint(one.split(" "))]
        if free:
            return free[case.rng.randrange(len(free))]
    return ""


def _entities(case: Case) -> dict[str, list[Span]]:
    """Return where each name and number stands, in order of first appearance."""
    found: dict[str, list[Span]] = {}
    for span in names_and_numbers(case.passage, case.item.source):
        found.setdefault(case.passage.shown(span), []).append(span)
    longer: dict[str, str] = {}
    for name in found:
        parts = name.split(" ")
        if len(parts) > 1:
            for part in parts:
                longer.setdefault(part, name)
    for name in [one for one in found if longer.get(one, one) != one]:
        found[longer[name]] += found.pop(name)
    return found


def _invented(name: str, case: Case, taken: set[str]) -> str:
    for n_more in count():
        # Where so many are taken that none is left of this length, they get longer.
        for _ in range(_TRIES):
            if name[0].isdigit():
                more = (str(case.rng.randrange(10)) for _ in range(n_more))
                other = _ordinal(other_number(name, case) + "".join(more))
            else:
                other = _word(name, case, n_more)
            if other not in taken:
                return other
    raise AssertionError("there is always a longer one")


def _ordinal(number: str) -> str:
    """Return a number with the ending that English has for it, if it has one: 22nd for 22st."""
    found = _ORDINAL.fullmatch(number)
    if found is None:
        return number
    digits = found[1]
    teen = len(digits) > 1 and digits[-2] == "1"
    return digits + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th"))


def _word(word: str, case: Case, n_more: int) -> str:
    series = [other for other in _SERIES.get(word, ()) if other != word]
    if series and not n_more:
        return series[case.rng.randrange(len(series))]
    heads, middles, tails = (syllables.split() for syllables in _SYLLABLES)
    parts = [heads, *[middles] * (n_more + 1), tails]
    invented = "".join(part[case.rng.randrange(len(part))] for part in parts)
    return invented.upper() if word.isupper() else invented


_PAIRS = (
    "is/are was/were has/have does/do this/these that/those a/an he/him she/her they/them we/us "
    "who/which himself/hisself many/much fewer/less"
)
# Tenses: the word on the left stands for its forms on the right.
_TENSES = (
    "says/said goes/went comes/came takes/took gives/gave makes/made gets/got sees/saw tells/told "
    "finds/found leaves/left wins/won loses/lost holds/held meets/met keeps/kept begins/began "
    "becomes/became knows/knew thinks/thought brings/brought buys/bought runs/ran writes/wrote "
    "speaks/spoke falls/fell rises/rose shows/showed plays/played calls/called asks/asked"
)


def _swapped(pairs: str) -> dict[str, str]:
    both = [pair.split("/") for pair in pairs.split()]
    return {**{one: two for two, one in both}, **dict(both)}


WRONG_FORMS: Final[Mapping[str, str]] = _swapped(f"{_PAIRS} {_TENSES}")
"""A form that may be wrong where the one on the left is right: agreement, article or tense."""

_ALWAYS = _swapped("is/are was/were has/have does/do he/him she/her they/them we/us") | {
    "these": "this",
    "himself": "hisself",
    "many": "much",
}
_PAST_AND_PARTICIPLE = (
    "went/going came/coming took/taking gave/giving made/making got/getting saw/seeing "
    "told/telling found/finding won/winning lost/losing held/holding met/meeting kept/keeping "
    "began/beginning became/becoming knew/knowing thought/thinking brought/bringing bought/buying "
    "ran/running wrote/writing spoke/speaking fell/falling said/saying"
)
_PARTICIPLES = dict(pair.split("/") for pair in _PAST_AND_PARTICIPLE.split())
_IDIOMS = frozenset([("as", "many"), ("the", "us")])
_AGREE = word_set("is are was were has have does do")
_MANY = word_set(
    "team club side police staff family government company band group crew army couple pair "
    "majority none"
)
_SUBJECTS = word_set("i he she it we they")
_THIRD = word_set("he she it")
_HAVE = word_set("have has had")
_PAST = re.compile("[a-z]{2,}[a-df-z]ed")
_NO_PAST = word_set("hundred sacred naked hatred kindred wicked infrared")
_PRESENT = re.compile("[a-z]{2,}[a-rt-z]s")
_SHORTER = {"goes": "go", "does": "do", "has": "have", "tries": "try"}
_NO_PRESENT = word_set("is was as its this us his hers yes always perhaps")
# Without "a" these mean something else, and stay English.
_NO_A = word_set("few little lot hundred thousand million number bit while part half dozen")
_NEEDS_THE = word_set("same only rest end beginning fact way whole")
_VOWELS = frozenset("aeiou")
_EITHER = frozenset("heuo")


def wrong_form(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    """Return a wrong form of a word, or what leaves its article out; None where none is sure."""
    start, end = words[place]
    word, small = passage.shown((start, end)), passage.small((start, end))
    if word != small and ((start, end) not in passage.openers or not word.istitle()):
        return None
    text = passage.text
    before = passage.shown(words[place - 1]) if place and _joined(text, words, place - 1) else ""
    after = passage.shown(words[place + 1]) if _joined(text, words, place) else ""
    if _may_go(small, after) and word == small:
        return (start, words[place + 1][0], "")
    wrong = _wrong(small, before, after)
    if wrong is None or wrong == small:
        return None
    return (start, end, wrong.capitalize() if word != small else wrong)


def _joined(text: str, words: Sequence[Span], place: int) -> bool:
    return place + 1 < len(words) and text[words[place][1] : words[place + 1][0]] == " "


def _may_go(article: str, after: str) -> bool:
    if article == "the":
        return after in _NEEDS_THE
    plain = after.islower() and after.isalpha() and after not in _NO_A
    return article in ("a", "an") and plain


def _wrong(word: str, before: str, after: str) -> str | None:
    if word in _ALWAYS and not (word in _AGREE and _may_be_many(before)):
        return None if (before, word) in _IDIOMS else _ALWAYS[word]
    before = before.lower()
    if word in ("a", "an"):
        return _other_article(word, after)
    if word == "this":
        return "these" if after.islower() else None
    if word == "who":
        return "which" if before and after.islower() else None
    if before in _THIRD and word not in _NO_PRESENT and _PRESENT.fullmatch(word):
        return _SHORTER.get(word, word[:-1]) if not word.endswith("ies") else f"{word[:-3]}y"
    if before in _SUBJECTS | _HAVE:
        return _participle(word)
    return None


def _may_be_many(before: str) -> bool:
    return (before[:1].isupper() and before.lower() not in _SUBJECTS) or before in _MANY


def _other_article(word: str, after: str) -> str | None:
    if not after[:1].islower() or after[0] in _EITHER:
        return None
    return "an" if word == "a" and after[0] not in _VOWELS else "a" if word == "an" else None


def _participle(word: str) -> str | None:
    if word in _PARTICIPLES:
        return _PARTICIPLES[word]
    if _PAST.fullmatch(word) and word not in _NO_PAST:
        return f"{word[:-3]}ying" if word.endswith("ied") else f"{word[:-2]}ing"
    return None


# Articles and prepositions, which stand before what they belong to.
_BEFORE = {
    "English": word_set("the a an of to in for at by with from into my your his its our"),
    "German": word_set(
        "der die das den dem des ein eine einen einem einer mit von zu im am für bei"
    ),
    "French": word_set("le la les un une des du de dans pour sur avec au aux"),
    "Spanish": word_set("el la los las un una de del en por con para al su sus"),
    "Italian": word_set("il lo la gli un una di del della dei in per con al alla da"),
    "Portuguese": word_set("o os um uma de do da dos das em no na por com para ao"),
    "Dutch": word_set("de het een van in op te met voor aan bij"),
}


def grammatical_errors(case: Case) -> Found:
    """Make k faults in words drawn at random, or one in every sentence and more as needed."""
    passage = case.passage
    sentences = passage.sentences
    if isinstance(case.amount, Every):
        k = max(-(-len(sentences) // case.amount.step), case.amount.at_least)
        parts = [passage.words_of(sentence) for sentence in sentences[:: case.amount.step]]
    else:
        k, parts = case.amount, []
    changes: list[Change] = []
    used: set[Span] = set()
    for part in parts:
        _add(changes, used, part, case, n=1)
    _add(changes, used, passage.words, case, n=k - len(changes))
    if len(changes) == k:
        return changes
    return too_few(k, "places for faults of grammar", "place for a fault of grammar")


def _add(changes: list[Change], used: set[Span], words: list[Span], case: Case, *, n: int) -> None:
    passage = case.passage
    faults = [wrong_form] if passage.may_be_english else []
    for fault in (*faults, _small_word_late, _order):
        for place in drawn_order(len(words), case.rng):
            if n <= 0:
                return
            touched = words[place : place + 1 if fault is wrong_form else place + 2]
            if not used.isdisjoint(touched):
                continue
            change = fault(passage, words, place)
            if change is not None:
                changes.append(change)
                used.update(touched)
                n -= 1


def _small_word_late(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    small = _BEFORE.get(passage.language or "English", frozenset())
    return _order(passage, words, place) if passage.small(words[place]) in small else None


def _order(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    if place + 1 >= len(words):
        return None
    (start, middle), (after, end) = words[place], words[place + 1]
    between = passage.text[middle:after]
    one, two = passage.text[start:middle], passage.text[after:end]
    if between not in ("", " ") or one == two or (_is_fixed(one) and _is_fixed(two)):
        return None
    return (start, end, two + between + one)


def _is_fixed(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()
