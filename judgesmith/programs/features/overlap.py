"""What a response shares with its source: copied runs, new words, order, names and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p

from judgesmith.programs.features.words import Text


@dataclass(frozen=True, slots=True)
class Fragments:
    """Runs of three or more words that a response has taken over.

    Attributes
    ----------
    lengths : tuple of int
        In words, in the order of the response.
    """

    lengths: tuple[int, ...]

    @property
    def longest(self) -> int:
        """The length of the longest run; 0 without one."""
        return max(self.lengths, default=0)


def fragments(response: Text, source: Text) -> Fragments:
    """Return the runs of the response whose every three neighbouring words stand in the source.

    Close to the extractive fragments of Grusky, Naaman and Artzi (2018), "Newsroom", found in
    linear time: a run may change between places of the source that share two words.

    Examples
    --------
    >>> fragments(Text("He won the cup in Rome."), Text("She won the cup, he said.")).lengths
    (3,)
    """
    known = source.trigrams
    words = response.words
    lengths: list[int] = []
    run = 0
    for triple in zip(words, words[1:], words[2:], strict=False):
        if triple in known:
            run = run + 1 if run else 3
        elif run:
            lengths.append(run)
            run = 0
    if run:
        lengths.append(run)
    return Fragments(tuple(lengths))


def overlap_features(response: Text, source: Text) -> dict[str, float]:
    """Return what the response shares with the source; shares are fractions of 0 to 1.

    Coverage and density after Grusky, Naaman and Artzi (2018), "Newsroom". Every share of
    nothing is 0.
    """
    words = response.words
    n = len(words)
    n_source = len(source.words)
    bigrams = list(pairwise(words))
    n_bigrams, n_trigrams = len(bigrams), max(n - 2, 0)
    in_source = [word in source.word_set for word in words]
    new_bigrams = recombined = 0
    places = 0.0
    first = source.first_places
    for place, pair in enumerate(bigrams):
        where = first.get(pair)
        if where is not None:
            places += where
        else:
            new_bigrams += 1
            recombined += in_source[place] and in_source[place + 1]
    n_known_bigrams = n_bigrams - new_bigrams
    known = source.trigrams
    n_known_trigrams = sum(
        triple in known for triple in zip(words, words[1:], words[2:], strict=False)
    )
    copied = fragments(response, source)
    mine, theirs = response.stem_counts, source.stem_counts
    shared = mine.keys() & theirs.keys()
    n_mine = sum(mine.values())
    dot = sum(mine[stem] * theirs[stem] for stem in shared)
    n_shared_bigrams = len(response.bigrams & source.bigrams)
    n_all_bigrams = len(response.bigrams) + len(source.bigrams)
    ratio = max(min(log((n + 1) / (n_source + 1)), 3.0), -6.0)
    return {
        "ratio": ratio,
        "length_gap": abs(ratio),
        "known_words": _share(sum(in_source), n),
        "known_content": _share(sum(mine[stem] for stem in shared), n_mine),
        "new_bigrams": _share(new_bigrams, n_bigrams),
        "new_trigrams": _share(n_trigrams - n_known_trigrams, n_trigrams),
        "recombined": _share(recombined, n_bigrams),
        "coverage": _share(sum(copied.lengths), n),
        "density": log1p(_share(sum(length * length for length in copied.lengths), n)),
        "longest_copy": log1p(copied.longest),
        "pieces": log1p(len(copied.lengths)),
        "recall_content": _share(len(shared), len(theirs)),
        "recall_bigrams": _share(n_shared_bigrams, len(source.bigrams)),
        "similarity": _share(2 * n_shared_bigrams, n_all_bigrams),
        "centrality": dot / (response.norm * source.norm) if dot else 0.0,
        "salient_recall": _share(sum(s in mine for s in source.salient), len(source.salient)),
        "lead": _share(sum(count for stem, count in mine.items() if stem in source.lead), n_mine),
        "position": _share(places, n_known_bigrams * max(n_source - 1, 1))
        if n_known_bigrams
        else 0.5,
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def unsupported(response: Text, source: Text, context: Text) -> tuple[list[str], list[str]]:
    """Return the names, and the numbers, of the response that neither text holds, as written.

    A name is a capitalised word inside a sentence; it is held if any word of the texts starts
    with the same letters, so that an inflected form counts as the same name.

    Examples
    --------
    >>> unsupported(Text("So Ann paid 7 to Bob."), Text("Ann pays 8."), Text(""))
    (['Bob'], ['7'])
    """
    names = []
    for place in response.names:
        word = response.words[place]
        stem = response.stems[place]
        if stem:
            held = stem in source.stem_counts or stem in context.stem_counts
        else:
            held = word in source.word_set or word in context.word_set
        if not held:
            names.append(response.originals[place])
    numbers = [
        word
        for word in response.words
        if word[0].isdigit() and word not in source.numbers and word not in context.numbers
    ]
    return names, numbers
