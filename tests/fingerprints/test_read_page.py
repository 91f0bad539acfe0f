"""A page as it was read: the same wherever it was, and made of its blocks alone."""

import dataclasses
import pickle
from itertools import compress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_pages import Alone
from site_pages import framed
from text_samples import FIRST, MARKUP, SECOND, page_of

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.places import Places
from dedup_filter.fingerprints.profile import profile_of
from dedup_filter.fingerprints.read_page import ReadPage, read_page
from dedup_filter.model import Document
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.plain_text import normalize

CONFIG = FilterConfig()
GERMAN = (
    "Der Ausschuss beriet am Dienstag darüber, wie der Hafen in den Wintermonaten offen gehalten"
    " werden kann, nachdem ihn das Eis in drei der letzten fünf Jahre verschlossen hatte."
)


def measures(page, times):
    """All that is measured of a page, in values that can be compared."""
    are_frame = [number > 1 for number in times]
    are_learnt = [number % 7 == 3 for number in times]
    found = profile_of(page, Alone(Alone().headline, (), times, are_frame, are_learnt), CONFIG)
    blocks = found.blocks
    return (
        *(found.digest, found.language, found.word_count, found.sketch, found.keys, found.text),
        [(text.name, text.fingerprint) for text in found.texts],
        *(blocks.texts, blocks.hashes.tolist(), blocks.ends.tolist(), blocks.shingles.tolist()),
        [getattr(blocks.places, each.name).tolist() for each in dataclasses.fields(Places)],
    )


@given(MARKUP, st.randoms())
def test_it_is_the_same_when_it_was_sent_or_stored(html, chance):
    page = ReadPage.of(page_of(f"<html lang=de><title>港</title><body>{html}"), CONFIG)
    times = [chance.randrange(3) for _ in page.content.blocks]
    expected = measures(page, times)

    assert measures(pickle.loads(pickle.dumps(page, protocol=5)), times) == expected
    assert measures(ReadPage.unpacked(page.pack(), CONFIG), times) == expected


@given(MARKUP, st.randoms())
def test_the_normal_forms_of_blocks_are_that_of_their_text(html, chance):
    page = ReadPage.of(page_of(html), CONFIG)
    chosen = [chance.random() < 0.5 for _ in page.normal]
    text = "\n".join(block.text for block in compress(page.content.blocks, chosen))

    assert " ".join(filter(None, compress(page.normal, chosen))) == normalize(text)


def test_the_words_of_parts_are_those_of_their_text_alone():
    page = ReadPage.of(page_of(framed(f"<p>{FIRST}<p>{SECOND}", 3)), CONFIG)
    texts = [page.words.texts[number] for number in range(0, len(page.normal), 2)]
    chosen = np.arange(len(page.normal)) % 2 == 0
    alone = ReadPage.of(Document("\n\n".join(texts), language="en"), CONFIG).words

    part = page.words.part(chosen)

    assert part.values.hashes.tolist() == alone.values.hashes.tolist()
    assert (part.count, part.texts) == (alone.count, texts)


@pytest.mark.parametrize(("text", "language"), [(FIRST + SECOND, "en"), (GERMAN * 2, "de")])
def test_the_main_content_tells_the_language_whatever_stands_around(text, language):
    footer = "<footer>" + "<p>Alle Rechte an dem Text und an den Bildern sind vorbehalten." * 20
    page = ReadPage.of(page_of(f"<html lang=en><p>{text}</p>{footer}"), CONFIG)

    assert page.words.language == language


def test_only_what_is_kept_whatever_becomes_of_it_is_packed_at_once():
    page, here = PageText(html=framed(f"<p>{FIRST}", 2)), Place.of("http://a.example/")

    read = read_page(page, here, CONFIG)

    assert read.form is None
    assert read_page(page, here, FilterConfig(keep_text=True)).form == read.pack()
