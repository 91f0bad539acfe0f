"""DEDUP_TEXT_OUT in a crawl: kept items get the text of their page."""

NOTICE = "This site keeps a notice of two sentences. It stands on every page and says nothing new."


def test_kept_items_get_the_text_of_their_page(project, site, paragraphs):
    for name in "abc":
        site.add(f"/{name}", f"<h1>Headline {name}</h1>{paragraphs(name)}<p>{NOTICE}</p>")
    site.add("/twin", f"<h1>Headline a</h1>{paragraphs('a')}<p>{NOTICE}</p>")
    project.spider()
    urls = [f"{site.url}/{name}" for name in ("a", "b", "c", "twin")]
    done = project.crawl(*urls, DEDUP_TEXT_OUT="text")
    assert done.exit_code == 0, done.log
    assert done.stats["dedup/exact"] == 1
    assert [item["url"] for item in done.items] == urls[:3]
    for name, item in zip("abc", done.items, strict=True):
        lines = item["text"].splitlines()
        assert lines[0] == f"Headline {name}"
        assert len(lines) > 1
        assert (NOTICE in lines) is (name != "c")  # the frame is known after two pages

    plain = project.crawl(*urls)
    assert all("text" not in item for item in plain.items)
