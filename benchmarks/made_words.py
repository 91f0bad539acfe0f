"""A size of vocabulary -> English-like words, lines and paragraphs, drawn by a Zipf law.

Vocabularies are the same in each run; what is drawn from them depends on the given generator.
A thousand words take 0.3 ms, so that texts can be made again whenever they are needed.
"""

from itertools import accumulate, pairwise
from random import Random

import numpy as np

__all__ = ["FUNCTION_WORDS", "Words"]

FUNCTION_WORDS = (
    "the of and to in is for on that by with as at from it was are be this which".split()
)
SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "or", "un")]
FUNCTION_SHARE = 0.4
"""Of all words."""


class Words:
    """Draws words as texts have them: many are function words, few of the others are frequent.

    A small vocabulary makes formulaic texts.
    """

    def __init__(self, vocabulary: int) -> None:
        chance = Random(1)
        made = [
            "".join(chance.choices(SYLLABLES, k=chance.choice((2, 3, 3, 4))))
            for _ in range(vocabulary)
        ]
        self._words = [*FUNCTION_WORDS, *made]
        functions = np.full(len(FUNCTION_WORDS), FUNCTION_SHARE / len(FUNCTION_WORDS))
        law = 1 / (np.arange(vocabulary) + 10)
        self._ends = np.cumsum([*functions, *law / law.sum() * (1 - FUNCTION_SHARE)])

    def draw(self, chance: np.random.Generator, count: int) -> list[str]:
        """Draw so many words."""
        drawn = np.searchsorted(self._ends, chance.random(count) * self._ends[-1])
        return [self._words[each] for each in drawn]

    def line(self, chance: np.random.Generator, count: int) -> str:
        """Write so many words that begin with a capital."""
        return " ".join(self.draw(chance, count)).capitalize()

    def paragraphs(self, chance: np.random.Generator, count: int) -> tuple[str, ...]:
        """Write so many words in sentences of 8 to 24, and these in paragraphs of 2 to 5."""
        words, sentences = self.draw(chance, count), []
        ends = [*accumulate(chance.integers(8, 25, count // 8 + 1).tolist())]
        for start, end in zip([0, *ends], ends, strict=False):
            if start < count:
                sentences.append(" ".join(words[start:end]).capitalize() + ".")
        cuts = [0, *accumulate(chance.integers(2, 6, len(sentences) // 2 + 1).tolist())]
        pairs = pairwise(cuts)
        return tuple(" ".join(sentences[a:b]) for a, b in pairs if a < len(sentences))
