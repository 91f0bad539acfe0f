"""Frames of hosts that memory has no room for, in a directory: judged as if there were room."""

import tempfile

from gate import rounds
from hypothesis import given, settings
from hypothesis import strategies as st
from made_text import prose
from site_pages import MENU

from dedup_filter import NearDuplicateFilter

NO_ROOM, ROOM = 1e-6, 400
HOSTS, MENUS = [f"http://{each}.example" for each in "abcd"], [MENU, MENU.upper(), ""]
ENDS = ["commit", "commit", "commit", "release", "later", "release later"]

visits = st.lists(
    st.tuples(
        st.sampled_from(HOSTS),
        st.sampled_from(MENUS),
        st.integers(0, 5),
        st.integers(0, 2),
        st.sampled_from(ENDS),
    ),
    max_size=25,
)


def html_of(menu, article, notice):
    """An article below the menu of its site and above a notice."""
    text = prose(article, words=100)
    note = f"<div><p>{prose(100 + notice, words=120)}</p></div>" if notice else ""
    return f"<ul>{menu}</ul><article><p>{text}</p></article>{note}"


def judged(folder, crawl, memory):
    """The verdicts on pages that are settled at once, at the end, or never; and what is kept."""
    found, ends = [], []
    with NearDuplicateFilter.open(folder, frame_memory=memory) as pages:
        for number, (host, menu, article, notice, end) in enumerate(crawl):
            claimed = pages.claim(f"{host}/{number}", html=html_of(menu, article, notice))
            found.append(claimed)
            if end in {"commit", "release"}:
                getattr(pages, end)(claimed)
            elif end == "release later":
                ends.append(claimed)
        for claimed in ends:
            pages.release(claimed)
        pages.check()
        assert pages.conductor.forgotten == 0
    return found


@settings(max_examples=rounds(4, 25))
@given(first=visits, second=visits)
def test_verdicts_do_not_depend_on_the_memory(first, second):
    """Nor do those of a second crawl, which comes when what was pending is released."""
    found = []
    for memory in (ROOM, NO_ROOM):
        with tempfile.TemporaryDirectory() as folder:
            found.append([judged(folder, crawl, memory) for crawl in (first, second)])
    assert found[0] == found[1]
