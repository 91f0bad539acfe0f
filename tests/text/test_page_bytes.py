"""A page that was packed and unpacked is as good as the one that was taken apart."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import page_of

from dedup_filter.text import find_content
from dedup_filter.text.page_bytes import pack_page, unpack_page

words = st.lists(
    st.sampled_from(
        ["the", "harbour", "was", "closed", "港口保持开放", "<a href=/>more</a>", "\ud800"]
    ),
    max_size=30,
).map(" ".join)
tags = st.sampled_from(
    "p,div,nav,article,td,li,h1,h2,form,div class=comments,aside,div hidden,template".split(",")
)
markup = st.recursive(
    words,
    lambda inner: st.tuples(tags, st.lists(inner, max_size=6)).map(
        lambda made: f"<{made[0]}>{' '.join(made[1])}</{made[0].split()[0]}>"
    ),
    max_leaves=40,
)


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


@given(markup, st.data())
def test_the_same_content_is_chosen_from_it(html, data):
    page = page_of(f"<html lang=de><title>港 \udfff</title><body>{html}")
    restored = unpack_page(pack_page(page))
    assert list(map(shape, restored.blocks)) == list(map(shape, page.blocks))
    assert (restored.title, restored.language) == (page.title, page.language)
    unread = restored.unread_words, restored.unread_hash, restored.is_by_script
    assert unread == (page.unread_words, page.unread_hash, page.is_by_script)
    # What is left of a page when its host's frame is taken off it must be judged alike, too.
    left = data.draw(st.lists(st.booleans(), min_size=len(page.blocks), max_size=len(page.blocks)))
    own = [block for block, is_left in zip(page.blocks, left, strict=True) if is_left]
    restored_own = [block for block, is_left in zip(restored.blocks, left, strict=True) if is_left]
    assert texts(find_content(restored.blocks).main) == texts(find_content(page.blocks).main)
    for there, here in zip(find_content(restored_own), find_content(own), strict=True):
        assert texts(there) == texts(here)
    restored_text, text = find_content(restored_own).own, find_content(own).own
    assert restored.document(restored_text) == page.document(text)


def test_headings_and_images_stay():
    page = page_of("<h1>head</h1><p>one <img src=/a.png></p><p>two <img src=/b.png>", "http://x/")
    restored = unpack_page(pack_page(page))
    assert page.images
    assert restored.images == page.images
    for count in range(len(page.blocks) + 1):
        document = restored.document(restored.blocks[:count])
        assert document == page.document(page.blocks[:count])


def test_containers_are_shared_as_they_were():
    blocks = unpack_page(pack_page(page_of("<div><p>one<p>two</div><p>three"))).blocks
    around = blocks[0].containers
    assert around.parents[blocks[0].inside] == around.parents[blocks[1].inside]


@pytest.mark.parametrize("html", ["", "<p>", "<div>" * 300 + "deep"])
def test_pages_of_strange_form(html):
    page = page_of(html)
    assert list(map(shape, unpack_page(pack_page(page)).blocks)) == list(map(shape, page.blocks))


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
