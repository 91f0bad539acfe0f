"""`scrapy crawl site` on small sites: what is asked for, and what is yielded."""

import pytest


def page(*links: str, text: str = "", title: str = "A page") -> str:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"


@pytest.fixture
def manual(make_site):
    """A manual below /docs/ with 12 pages, and links that lead to no page of it."""
    chapters = [f"/docs/{number}.html" for number in range(1, 12)]
    astray = [
        "/docs/missing.html",
        "/docs/data",
        "/docs/moved",
        "/docs/twin",
        "/blog/",
        "/docsother",
        "http://127.0.0.2:1/docs/elsewhere.html",
        "http://[1/",
        "http://127.0.0.1:port/docs/",
        "mailto:someone@example.com",
    ]
    pages = {
        "/docs/": page(*astray, *chapters, title=" The\n manual "),
        "/docs/data": (200, {"Content-Type": "application/octet-stream"}, b"\0\1\2"),
        "/docs/moved": (302, {"Location": "/blog/"}, b""),
        "/docs/twin": (302, {"Location": "/docs/1.html"}, b""),
        "/blog/": page("/docs/1.html"),
        "/docsother": page(),
    }
    pages |= {path: page("/docs/#top", "/docs/?", "/docs/1.html#a") for path in chapters}
    return make_site(pages)


def paths(done, site) -> list[str]:
    return sorted(url.removeprefix(site.url) for url in done.urls)


def test_all_pages_below_the_address_are_yielded_once(crawl, manual) -> None:
    done = crawl("site", "DEDUP_ENABLED=False", url=f"{manual.url}/docs/")
    assert paths(done, manual) == sorted(["/docs/", *(f"/docs/{n}.html" for n in range(1, 12))])
    assert "/docsother" not in manual.asked
    assert done.items[0]["title"] == "The manual"
    assert done.items[0]["html"] == manual.pages["/docs/"]
    assert "log_count/ERROR" not in done.stats


def test_crawl_ends_after_so_many_responses_and_a_job_goes_on_from_there(
    crawl, make_site, tmp_path
) -> None:
    chapters = [f"/{number}" for number in range(1, 40)]
    site = make_site({"/": page(*chapters), **dict.fromkeys(chapters, page("/", *chapters))})
    job = ("DEDUP_ENABLED=False", f"JOBDIR={tmp_path}")
    first = crawl("site", *job, url=f"{site.url}/", max_pages=5)
    assert 5 <= len(site.asked) < len(chapters)  # some were under way
    second = crawl("site", *job, url=f"{site.url}/")
    assert len(first.items) + len(second.items) == len(site.asked) == 40


def test_several_sites_share_one_index(crawl, make_site) -> None:
    """An address that is no folder stands for its host."""
    article = " ".join(f"The {n}th lamp was lit in the harbour at dusk." for n in range(40))
    first = make_site({"/d/1.html": page("/a"), "/a": page(text=article)})
    second = make_site(
        {"/m/": page("/m/a", "/secret"), "/m/a": page(text=article), "/secret": page()}
    )
    done = crawl("site", url=f"{first.url}/d/1.html, {second.url}/m/")
    assert done.stats.get("dedup/near", 0) + done.stats.get("dedup/exact", 0) >= 1
    assert len([url for url in done.urls if url.endswith("/a")]) == 1
    assert "/secret" not in second.asked
