"""Profiles of pages whose measures are chosen: no text has to be read for them."""

from dataclasses import replace

import numpy as np

from benchmarks.made_profiles import profile_of
from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.text.headlines import Headline


def hashes_of(seed, count=99, most=2**32):
    """Hashes below a bound that nothing chose: those of a page of so many words."""
    return np.unique(np.random.default_rng(seed).integers(0, most, count, np.uint32))


def made_digest(number):
    """Digests of two numbers differ in all that two pages can be equal in."""
    return number.to_bytes(16, "big") + bytes(DIGEST_BYTES - 16)


def made_profile(digest, fingerprint, hashes, words=99, headline=Headline()):  # noqa: B008
    """A page of one passage, new on its host; with few words it has no fingerprint."""
    return profile_of(made_digest(digest), fingerprint, hashes, words, headline)


def said_profile(text):
    """What the text "DIGEST FINGERPRINT SHINGLES WORDS" says: its shingles are made of a number.

    With a fifth word it has no keys, as a page of a crawler without `shared_phrases`.
    """
    digest, fingerprint, shingles, words, *without_keys = map(int, text.split())
    page = made_profile(digest, fingerprint, hashes_of(shingles), words)
    if not without_keys:
        return page
    return replace(page, keys=b"", texts=tuple(text._replace(keys=b"") for text in page.texts))


def profile_of_said(page, *_):
    """Stand for `profile.profile_of`: a page is what its text says."""
    return said_profile(page.content.text)
