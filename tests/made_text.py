"""English texts made by chance, for tests."""

import random


def prose(seed: int, edits: int = 0, words: int = 150) -> str:
    """Make English sentences, different for each seed, alike for a few edits."""
    chance = random.Random(seed)
    letters = "abcdefghiklmnoprstuw"
    text: list[str] = []
    while len(text) < words:
        noun = "".join(chance.choices(letters, k=7))
        verb = "".join(chance.choices(letters, k=6))
        text += ["the", noun, "of", "a", verb, "is", "not", "in", "it."]
    for edit in range(edits):
        text[edit * 9 + 1] = f"edited{seed}x{edit}"
    return " ".join(text)
