"""Blocks that are marked as frame of a host: by most of its pages, or by what repeats show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_stories import HEADS, HOST, MARKUP, crawl, page, paragraph, paragraphs, plain, story

from dedup_filter.frames.host_frames import Host, frame_mark
from dedup_filter.thresholds import FRAME_TIMES

BLOCKS = st.lists(st.integers(0, 4), max_size=5)
NOTICE = f"<div><p>{paragraph('notice')}</p></div>"
HEADLINES = [f"Story of winter {name} upon the sea" for name in "one two three four five".split()]


def marked(host: Host) -> set[int]:
    return {n for n in range(5) if host.sightings.get(frame_mark(n), 0) >= FRAME_TIMES}


def show(host: Host, *shown: int, is_kept: bool = True, evidence: tuple[int, ...] = ()) -> None:
    update = host.update_of(shown, is_kept=is_kept)
    update.shown.extend(map(frame_mark, evidence))
    host.add_page(update)


@given(st.lists(st.tuples(BLOCKS, st.booleans()), max_size=14))
def test_marks_are_of_what_most_kept_pages_show_and_stay(pages):
    """Against lists: a block is marked when a kept page shows it that most pages have shown."""
    host, kept, times, expected = Host("a"), 0, [0] * 5, set()
    for shown, is_kept in pages:
        show(host, *shown, is_kept=is_kept)
        for block in set(shown):
            times[block] += is_kept or not times[block]
        kept += is_kept
        if is_kept and kept > FRAME_TIMES:
            expected |= {block for block in shown if times[block] > kept / 2}
        assert marked(host) == expected
    assert marked(Host.from_bytes("a", host.to_bytes())) == expected


def test_a_mark_stays_although_few_pages_show_the_block_any_more():
    host = Host("a")
    for _ in range(3):
        show(host, 1)
    for _ in range(50):
        show(host, 2)
    assert marked(host) == {1, 2}
    # What only few of many pages have shown is no frame.
    for _ in range(3):
        show(host, 3)
    assert marked(host) == {1, 2}


def test_two_pages_that_show_a_block_beyond_what_they_repeat_mark_it():
    host = Host("a")
    for number in range(9):
        show(host, 0, is_kept=number < 4)
    show(host, 0, 4, evidence=(4,))
    assert marked(host) == {0}
    show(host, 0, 4, evidence=(4,))
    assert marked(host) == {0, 4}


def outcomes(*pages: str) -> list[str]:
    return [
        each.outcome for each in crawl(*((f"{HOST}{chr(97 + n)}", p) for n, p in enumerate(pages)))
    ]


def versions(notice: str, make=page, more: str = "") -> tuple[list[str], list[str]]:
    """Stories of a host, and the same stories with a notice."""
    texts = [paragraphs(story(head)) + more for head in HEADLINES]
    both = list(zip(texts, HEADLINES, strict=True))
    return [make(*each) for each in both], [
        make(*each).replace("</body>", f"{notice}</body>") for each in both
    ]


class TestALateNotice:
    @pytest.mark.parametrize("make", [page, plain])
    def test_is_frame_after_two_pages(self, make):
        before, after = versions(NOTICE, make)
        assert outcomes(*before, *after) == ["new"] * 7 + ["near"] * 3

    def test_stays_frame(self):
        """Pages that were recorded with it hold no block of it, and still are found."""
        before, after = versions(NOTICE)
        found = outcomes(*before, *after, *after, *before)
        assert found[7:10] == ["near"] * 3
        assert all(each in ("near", "exact") for each in found[10:])

    def test_is_counted_only_if_nothing_else_is_missing(self):
        """Each page shows another paragraph, too: what is new on each are two texts."""
        before, after = versions(NOTICE)
        after = [
            each.replace("</article>", f"<p>{paragraph(n)}</p></article>")
            for n, each in enumerate(after)
        ]
        assert outcomes(*before, *after) == ["new"] * 10

    @pytest.mark.parametrize("value", ["26.90 euros", "Sold out", "Size 40"])
    @pytest.mark.parametrize("markup", ["p", "table", "dl", "ul"])
    def test_is_no_line(self, markup, value):
        """The same price on all pages of a shop is a price."""
        before, _ = versions("")
        values = MARKUP[markup]([value])
        after = [each.replace("</article>", f"{values}</article>") for each in before]
        assert outcomes(*before, *after) == ["new"] * 10


@pytest.mark.parametrize("markup", ["table", "dl", "ul"])
@pytest.mark.parametrize("make", [page, plain])
def test_a_value_that_most_pages_show_tells_pages_apart(make, markup):
    """On nine of ten pages the size is 40, and one of two pages of one text has size 39."""
    sizes = [MARKUP[markup]([f"Size {size}", "Red oak"]) for size in (39, 40)]
    others = [make(paragraphs(story(head)) + sizes[1], head) for head in HEADLINES]
    text = paragraphs(story("chair"))
    one, other = (make(text + each, HEADS["en"]) for each in sizes)
    assert outcomes(*others, one, other)[5:] == ["new", "new"]
    assert outcomes(*others, other, one)[5:] == ["new", "new"]
