"""Words and sentences in English and Chinese, drawn at random.

Sentences have function words and lengths as real ones have; two of them are hardly ever equal.
"""

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any


def read_texts(path: Path) -> SimpleNamespace:
    """Read a file of the form of `words.txt`."""
    read = {
        "words": str.split,
        "phrases": lambda body: [" ".join(phrase.split()) for phrase in body.split("|")],
        "text": str,
    }
    texts: dict[str, Any] = {}
    for block in path.read_text("utf-8").strip().split("\n\n"):
        if block.startswith("#"):
            continue
        head, _, body = block.partition("\n")
        name, *language, form = head.split()
        if language:
            texts.setdefault(name, {})[language[0]] = read[form](body)
        else:
            texts[name] = read[form](body)
    return SimpleNamespace(**texts)


TEXTS = read_texts(Path(__file__).with_name("words.txt"))
NOTICE = dict(notice.split(": ") for notice in TEXTS.NOTICE)


class Writer:
    def __init__(self, seed: str | int, language: str = "en") -> None:
        chance = Random(seed)
        self._is_chinese = language == "zh"
        self.choice, self.sample, self.randbytes = chance.choice, chance.sample, chance.randbytes
        self.randrange, self.uniform = chance.randrange, chance.uniform

    def thing(self) -> str:
        return f"{self.choice(TEXTS.ADJECTIVES)} {self.choice(TEXTS.NOUNS)}"

    def clause(self) -> str:
        """Who did what, and where or with whom."""
        choice = self.choice
        if self._is_chinese:
            one, other = (
                f"{choice(TEXTS.ZH_ADJECTIVES)}的{choice(TEXTS.ZH_NOUNS)}" for _ in range(2)
            )
            place = f"在{choice(TEXTS.ZH_TOWNS)}的{choice(TEXTS.ZH_NOUNS)}"
            return f"{one}{place}{choice(TEXTS.ZH_VERBS)}了{other}"
        one, other = self.thing(), self.thing()
        of = choice(["", f" of {choice(TEXTS.TOWNS)}", f" and {self.person()}"])
        place = f"{choice(TEXTS.PLACES)} the {choice(TEXTS.NOUNS)}"
        return f"the {one}{of} {choice(TEXTS.VERBS)} {choice(['a', 'the'])} {other} {place}"

    def headline(self) -> str:
        return _with_capital(self.clause())

    def sentence(self) -> str:
        """When it was, and two clauses: some 28 words."""
        phrases = TEXTS.ZH_WHEN if self._is_chinese else TEXTS.WHEN
        when = self.choice(phrases).format(self.randrange(1890, 2024))
        one, other = self.clause(), self.clause()
        if self._is_chinese:
            return f"{when}，{one}，{self.choice(TEXTS.ZH_LINKS)}{other}。"
        return f"{_with_capital(when)} {one}, {self.choice(TEXTS.LINKS)} {other}."

    def text(self, sentences: int) -> str:
        blank = "" if self._is_chinese else " "
        return blank.join(self.sentence() for _ in range(sentences))

    def paragraphs(self, count: int) -> str:
        return "".join(f"<p>{self.text(self.randrange(3, 6))}</p>" for _ in range(count))

    def article(self, paragraphs: int = 5) -> str:
        return f"<h1>{self.headline()}</h1>{self.paragraphs(paragraphs)}"

    def person(self) -> str:
        return f"{self.choice(TEXTS.FIRST)} {self.choice(TEXTS.LAST)}"

    def day(self) -> str:
        month = self.choice("January March April June July September October December".split())
        return f"{self.randrange(1, 29)} {month} {self.randrange(2001, 2025)}"

    def price(self) -> str:
        return f"{self.randrange(10, 2000)}.{self.randrange(10, 100)}"


def _with_capital(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}"


def shared(seed: str | int, sentences: int, language: str = "en") -> str:
    """A text that is the same on all pages that ask for it."""
    return Writer(seed, language).text(sentences)


def ware(number: int) -> str:
    """The name of something for sale, that nothing else has."""
    thing = TEXTS.THINGS[(number // 10 + number) % 12]
    return f"{TEXTS.KINDS_OF_WOOD[number % 10]} {thing}".capitalize()
