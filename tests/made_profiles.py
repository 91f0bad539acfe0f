"""Profiles of pages whose measures are chosen: no text has to be read for them."""

import numpy as np

from dedup_filter.fingerprints import sketch
from dedup_filter.fingerprints.profile import (
    MIN_WORDS,
    MeasuredPassages,
    PageProfile,
    Passage,
    Surroundings,
    Text,
)
from dedup_filter.text import Headline


def hashes_of(seed, count=99, most=2**32):
    """Hashes below a bound that nothing chose: those of a page of so many words."""
    return np.unique(np.random.default_rng(seed).integers(0, most, count, np.uint32))


def made_profile(digest, fingerprint, hashes, words=99, headline=Headline()):  # noqa: B008
    """A page of one passage, new on its host; with few words it has no fingerprint."""
    is_long = words >= MIN_WORDS
    text = Text(fingerprint, hashes, words, words, is_own=True)
    passage = Passage("", 0, in_own=True, in_rare=True, in_whole=True)
    return PageProfile(
        digest=digest.to_bytes(16, "big"),
        is_blank=False,
        is_unread=False,
        unread_words=0,
        headline=headline,
        around=Surroundings(),
        texts=(text,) if is_long else (),
        own=hashes,
        not_frame=hashes,
        whole=hashes,
        passages=MeasuredPassages([passage], hashes, np.zeros(len(hashes), np.intp), 1),
        sketch=sketch(hashes),
        word_count=words,
        language="en",
        shingles=words,
        shingles_without_stopword=0,
        was_shown=False,
    )
