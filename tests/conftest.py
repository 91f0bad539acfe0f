"""Settings and articles that all tests share."""

import random
import signal

import pytest
from hypothesis import settings

# Deadlines measure the machine; reproducible examples make a failure everybody's failure.
settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")


@pytest.fixture
def article():
    """Make articles: English sentences, different for each seed, alike for a few `edits`."""

    def make(seed, edits=0, words=150):
        chance = random.Random(seed)
        letters = "abcdefghiklmnoprstuw"
        text = []
        while len(text) < words:
            noun = "".join(chance.choices(letters, k=7))
            verb = "".join(chance.choices(letters, k=6))
            text += ["the", noun, "of", "a", verb, "is", "not", "in", "it."]
        for edit in range(edits):
            text[edit * 9 + 1] = f"edited{seed}x{edit}"
        return " ".join(text)

    return make


@pytest.fixture(scope="session", autouse=True)
def _interruptible_children() -> None:
    """Let children be interrupted: a job in the background ignores SIGINT, and they would, too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
