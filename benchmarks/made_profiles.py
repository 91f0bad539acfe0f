"""Profiles of pages that share no shingle with any other, made without their texts."""

import random

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints import sketch
from dedup_filter.fingerprints.profile import (
    MeasuredPassages,
    PageProfile,
    Passage,
    Surroundings,
    Text,
)
from dedup_filter.text import Headline

__all__ = ["made_profile", "made_sketch"]


def made_sketch(chance: random.Random, words: int) -> bytes:
    """Make the sketch of a page of so many words."""
    return sketch(_hashes(chance, words))


def made_profile(chance: random.Random, words: int, fingerprint: int | None = None) -> PageProfile:
    """Make a page of one passage; equal chances give equal pages."""
    if fingerprint is None:
        fingerprint = chance.getrandbits(64)
    digest = chance.randbytes(16)
    hashes = _hashes(chance, words)
    passage = Passage("", 0, in_own=True, in_rare=True, in_whole=True)
    return PageProfile(
        digest=digest,
        is_blank=False,
        is_unread=False,
        unread_words=0,
        headline=Headline("", digest.hex()),
        around=Surroundings(),
        texts=(Text(fingerprint, hashes, words, words, is_own=True),),
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


def _hashes(chance: random.Random, words: int) -> npt.NDArray[np.uint32]:
    return np.unique(np.frombuffer(chance.randbytes(4 * words), np.uint32))
