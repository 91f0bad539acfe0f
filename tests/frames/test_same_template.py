"""`same_template`: a limit for pages of a host that have next to no text beside its frame."""

import pytest
from made_text import prose

from dedup_filter import NearDuplicateFilter

MOST = 3


def menu(name):
    return "".join(f'<a href="/{name}{n}">{name} link {n}</a> | ' for n in range(6))


FRAME = f"<p>{prose('frame', words=80)}</p>"


def thin(n, name="shop"):
    """A page of a template, with a number of its own."""
    return f"<title>Item {n}</title><div>{menu(name)}</div><p>Item {n}</p>{FRAME}"


def long(n):
    return f"<title>Long {n}</title><div>{menu('shop')}</div><p>{prose(n, words=90)}</p>{FRAME}"


def outcomes(pages, bodies, host="a.example", first=0):
    return [
        pages.see(f"http://{host}/{number}", html=body).outcome
        for number, body in enumerate(bodies, first)
    ]


@pytest.fixture(params=["memory", "directory"])
def reopen(request, tmp_path):
    """Open an index anew each time; in memory there is one."""
    location = "memory:" if request.param == "memory" else tmp_path / "index"
    open_ones = []

    def opened():
        if open_ones and request.param == "memory":
            return open_ones[-1]
        for each in open_ones:
            each.close()
        open_ones.append(NearDuplicateFilter.open(location, same_template=MOST, crawl="c"))
        return open_ones[-1]

    yield opened
    open_ones[-1].close()


def dropped(found):
    return [outcome == "same_template" for outcome in found]


def test_further_pages_are_dropped_and_not_recorded(reopen):
    pages = reopen()
    # Thin pages are known once the frame is: after two pages.
    found = outcomes(pages, map(thin, range(MOST + 6)))
    assert dropped(found) == [False] * (2 + MOST) + [True] * 4
    count = len(pages)
    pages = reopen()  # a restart, for an index in a directory
    assert dropped(outcomes(pages, [thin(90)], first=90)) == [True]
    assert len(pages) == count
    pages.check()
    verdict = pages.judge("http://a.example/91", html=thin(91))
    assert (verdict.outcome, verdict.page, verdict.cluster, verdict.reason) == (
        "same_template",
        None,
        None,
        None,
    )


def test_pages_with_text_other_menus_and_other_hosts_are_kept(reopen):
    pages = reopen()
    outcomes(pages, map(thin, range(MOST + 3)))
    assert dropped(outcomes(pages, map(long, range(100, 105)), first=100)) == [False] * 5
    others = [thin(n, "other") for n in range(200, 200 + MOST + 4)]
    found = dropped(outcomes(pages, others, first=200))
    assert not any(found[:MOST])
    assert found[-1]
    found = outcomes(pages, map(thin, range(300, 302)), host="b.example", first=300)
    assert not any(dropped(found))


def test_claimed_pages_count_until_they_are_released():
    with NearDuplicateFilter.open(same_template=MOST) as pages:
        outcomes(pages, map(thin, range(2)))
        claimed = [pages.claim(f"http://a.example/{n}", html=thin(n)) for n in range(2, 8)]
        over = [False] * MOST + [True] * (6 - MOST)
        assert dropped(each.outcome for each in claimed) == over
        pages.release(claimed[0])
        for each in claimed[1:]:
            pages.commit(each)
        again = pages.claim("http://a.example/9", html=thin(9))
        assert again.outcome != "same_template"


def test_without_a_limit_all_are_kept():
    with NearDuplicateFilter.open() as pages:
        assert not any(dropped(outcomes(pages, map(thin, range(12)))))
