"""What crawls write: a report when they end, and the text of the page of each item."""

import json


def data_of(path):
    html = path.read_text("utf-8")
    return json.loads(html.partition('id="data">')[2].partition("</script>")[0])


REACTORS = ("asyncioreactor.AsyncioSelectorReactor", "selectreactor.SelectReactor")


def test_each_crawl_writes_its_report_in_place_of_the_one_before(project, site, paragraphs):
    for name, edits in (("a", 0), ("b", 1)):
        site.add(f"/{name}", paragraphs(1, edits=edits))
    project.spider()
    path = project.folder / "made" / "report.html"
    path.parent.mkdir()
    for reactor in REACTORS:  # a duplicate that comes again has one record
        crawl = project.crawl(
            *site.urls("/a", "/b"),
            DEDUP_INDEX="index",
            DEDUP_REPORT=path,
            DEDUP_MAX_DISTANCE=9,
            DEDUP_KEEP_TEXT=True,
            TWISTED_REACTOR=f"twisted.internet.{reactor}",
        )
        assert crawl.exit_code == 0
        (said,) = crawl.lines("Report written")
        assert said.endswith(f"(1 duplicate): {path}")
        data = data_of(path)
        assert "k&nbsp;=&nbsp;9 bits" in path.read_text("utf-8")
        assert len(data["pairs"]["page"]) == 1
        assert data["texts_kept"]
        assert [each.name for each in path.parent.iterdir()] == ["report.html"]


def test_a_report_that_cannot_be_written_is_logged_and_costs_nothing(project, site, paragraphs):
    site.add("/a", paragraphs(1))
    project.spider(parse='yield {"url": response.url}\nopen("r.html", "w").write("mine")')
    crawl = project.crawl(
        *site.urls("/a"), DEDUP_INDEX="index", DEDUP_REPORT="r.html", DEDUP_ON_ERROR="close"
    )
    assert crawl.exit_code == 0
    assert crawl.stats["finish_reason"] == "finished"
    assert "Traceback" not in crawl.log
    assert len(crawl.items) == 1
    (said,) = crawl.lines("The report could not be written (DEDUP_REPORT)")
    assert "'r.html' exists and is no report of this program" in said
    assert crawl.stats["dedup/errors"] == 1
    assert (project.folder / "r.html").read_text() == "mine"


NOTICE = "This site keeps a notice of two sentences. It stands on every page and says nothing new."


def test_kept_items_get_the_text_of_their_page(project, site, paragraphs):
    for name in "abc":
        site.add(f"/{name}", f"<h1>Headline {name}</h1>{paragraphs(name)}<p>{NOTICE}</p>")
    site.add("/twin", f"<h1>Headline a</h1>{paragraphs('a')}<p>{NOTICE}</p>")
    project.spider()
    urls = [f"{site.url}/{name}" for name in ("a", "b", "c", "twin")]
    done = project.crawl_well(*urls, DEDUP_TEXT_OUT="text")
    assert done.stats["dedup/exact"] == 1
    assert [item["url"] for item in done.items] == urls[:3]
    for name, item in zip("abc", done.items, strict=True):
        lines = item["text"].splitlines()
        assert lines[0] == f"Headline {name}"
        assert len(lines) > 1
        assert (NOTICE in lines) is (name != "c")  # the frame is known after two pages
