"""Profiles of pages that share no shingle with any other, made without their texts."""

import random

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from dedup_filter.features.analysis import Words, WordValues
from dedup_filter.features.tokens import Scripts
from dedup_filter.fingerprints.block_columns import BlockColumns
from dedup_filter.fingerprints.places import Places
from dedup_filter.fingerprints.profile import DIGEST_BYTES, PageProfile, Text
from dedup_filter.fingerprints.sketch import UInt32Array, keys_of, row_of, sketch, smallest
from dedup_filter.text.headlines import Headline
from dedup_filter.thresholds import MIN_WORDS

_NO_SLOTS = np.empty(0, np.uint16)
WORDS_A_BLOCK = 16


def made_sketch(chance: random.Random, words: int) -> bytes:
    """Make the sketch of a page of so many words, with the row of its blocks."""
    return sketch(_hashes(chance, words), _row(chance, words))


def made_profile(chance: random.Random, words: int, fingerprint: int | None = None) -> PageProfile:
    """Make a page with a headline; equal chances give equal pages."""
    if fingerprint is None:
        fingerprint = chance.getrandbits(64)
    digest = chance.randbytes(DIGEST_BYTES)
    headline = Headline("", digest.hex())
    count = words // WORDS_A_BLOCK
    blocks = np.frombuffer(chance.randbytes(8 * count), np.uint64)
    return profile_of(digest, fingerprint, _hashes(chance, words), words, headline, blocks)


class _Made(BlockColumns):
    """Blocks whose words stand for their shingles."""

    @property
    def shingles(self) -> UInt32Array:
        """The hashes of its words."""
        return self.words.values.hashes.astype(np.uint32)


def profile_of(
    digest: bytes,
    fingerprint: int,
    hashes: npt.NDArray[np.uint32],
    words: int,
    headline: Headline,
    block_hashes: npt.NDArray[np.uint64] | None = None,
) -> PageProfile:
    """Make a page new on its host, of one paragraph unless hashes of several are given.

    With few words it has no fingerprint.
    """
    if block_hashes is None:
        block_hashes = np.array([xxh3_64_intdigest(digest)], np.uint64)
    count = len(block_hashes)
    is_long = words >= MIN_WORDS
    keys = keys_of([smallest(hashes.astype(np.uint64))]) if is_long else b""
    text = Text("new", fingerprint, hashes, words, keys)
    values = WordValues(hashes.astype(np.uint64), *np.zeros((2, len(hashes)), np.bool_))
    ends = np.arange(count + 1) * len(hashes) // count
    lengths = np.diff(ends).astype(np.int32)
    texts, chosen = [""] * count, np.ones(count, np.bool_)
    of_words = Words(values, lengths, 10 * lengths, Scripts(), "en", "nothing", "xxh3", texts)
    places = Places.of_text(["prose"] * count)
    blocks = _Made(texts, of_words, places, block_hashes, chosen, _NO_SLOTS, 1)
    return PageProfile(
        digest=digest,
        is_blank=False,
        is_unread=False,
        unread_words=0,
        waiting_words=0,
        headline=headline,
        counts=(),
        site_counts=(),
        is_frame_known=False,
        is_view=False,
        texts=(text,) if is_long else (),
        blocks=blocks,
        sketch=sketch(hashes, row_of(block_hashes)),
        keys=keys,
        word_count=words,
        language="en",
        shingles=words,
        shingles_without_stopword=0,
        new_share=1.0,
    )


def _row(chance: random.Random, words: int) -> npt.NDArray[np.uint16]:
    return np.frombuffer(chance.randbytes(2 * (words // WORDS_A_BLOCK)), np.uint16)


def _hashes(chance: random.Random, words: int) -> npt.NDArray[np.uint32]:
    return np.unique(np.frombuffer(chance.randbytes(4 * words), np.uint32))
