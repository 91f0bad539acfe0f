"""A page that was packed and unpacked is as good as the one that was taken apart."""

import zlib
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from text_samples import MARKUP, page_of

from dedup_filter.text.content import find_content
from dedup_filter.text.page_bytes import pack_page, unpack_page


def shape(block):
    """A block and all containers around it."""
    columns = block.containers
    around, each = [], block.inside
    while each >= 0:
        frame = columns.frames[each]
        of_frame = frame >= 0 and (columns.firsts[frame], columns.ends[frame], columns.roles[frame])
        around.append((columns.roles[each], columns.firsts[each], columns.ends[each], of_frame))
        each = columns.parents[each]
    measured = block.text, block.hash, block.words, block.link_words
    return *measured, block.position, block.kind, around


def texts(blocks):
    return [block.text for block in blocks]


@example("", Random(1))
@example("<p>", Random(1))
@example("<div>" * 300 + "deep", Random(1))
@given(MARKUP, st.randoms())
def test_the_same_content_is_chosen_from_it(html, chance):
    page = page_of(f"<html lang=de><title>港 \udfff</title><body>{html}", "http://x/")
    restored = unpack_page(pack_page(page))
    assert list(map(shape, restored.blocks)) == list(map(shape, page.blocks))
    assert (restored.title, restored.language) == (page.title, page.language)
    assert restored.images == page.images
    unread = restored.unread_words, restored.unread_hash, restored.is_by_script
    assert unread == (page.unread_words, page.unread_hash, page.is_by_script)
    assert restored.notes_hash == page.notes_hash
    waiting = restored.waiting_words, restored.waiting_hash
    assert waiting == (page.waiting_words, page.waiting_hash)
    # What is left of a page when its host's frame is taken off it must be judged alike, too.
    left = [number for number in range(len(page.blocks)) if chance.random() < 0.5]
    for numbers in (range(len(page.blocks)), left):
        unframed = [[each.blocks[number] for number in numbers] for each in (restored, page)]
        there, here = map(find_content, unframed)
        assert list(map(texts, there[:4])) == list(map(texts, here[:4]))
        assert there.body == here.body
        found, expected = (
            restored.document(there.own),
            page.document(here.own),
        )
        assert found == expected
        assert found.whole_hash == expected.whole_hash


def test_pages_packed_when_blocks_had_other_fields_are_refused(monkeypatch):
    with monkeypatch.context() as other:
        other.setattr("dedup_filter.text.page_bytes._FIELDS", ["text"])
        packed = pack_page(page_of("<p>text"))
    with pytest.raises(ValueError, match="no packed page of format"):
        unpack_page(packed)


@pytest.mark.parametrize("packed", [b"", b"no page", zlib.compress(b"[]"), zlib.compress(b"{}")])
def test_other_bytes_are_refused(packed):
    with pytest.raises(ValueError, match="no packed page"):
        unpack_page(packed)
