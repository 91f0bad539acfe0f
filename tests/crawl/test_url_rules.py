"""Rules that one crawl has proven save the next one its requests, and lose no page."""

import json

import pytest
from command_line import run

from dedup_filter.upkeep import index_at
from dedup_filter.urls.mining import Evidence, Proven
from dedup_filter.urls.rule import Rule
from dedup_filter.urls.rules_file import read_rules, write_rules

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"
        start_urls = ["{start}"]

        def parse(self, response):
            yield {{"url": response.url, "text": response.css("p::text").get()}}
            yield from response.follow_all(css="a")
"""


@pytest.fixture
def linked(site, paragraphs):
    """Twelve stories; each page links to all, with a session of its own and without."""
    for n in range(12):
        links = "".join(f'<a href="/story/{m}?sid={n}x{m}">more</a>' for m in range(12))
        plain = "".join(f'<a href="/story/{m}">more</a>' for m in range(12))
        body = paragraphs(n, link=links if n % 2 else plain)
        site.add(f"/story/{n}", body)
        for m in range(12):
            site.add(f"/story/{n}?sid={m}x{n}", body)
    return site


@pytest.mark.slow
def test_requests_are_saved_and_no_page_is_lost(project, linked):
    project.spider(SPIDER.format(start=f"{linked.url}/story/0"))
    first = project.crawl(DEDUP_INDEX="index")
    downloads = len(linked.asked)
    kept = {item["text"] for item in first.items}
    assert len(kept) == 12
    assert downloads > 40
    index, rules = project.folder / "index", project.folder / "rules.json"
    assert run("rules", str(index), "-o", str(rules))[0] == 0
    linked.asked.clear()
    add_ons = '{"dedup_filter.Addon": 500, "dedup_filter.urls.discarder.Addon": 600}'
    second = project.crawl(ADDONS=add_ons, DUD_LOAD_RULE_PATHS=rules)
    assert {item["text"] for item in second.items} == kept
    assert len(linked.asked) == 13  # the first page is asked for twice: start URLs are not filtered


LISTED = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"
        start_urls = ["{start}"]

        def parse(self, response):
            for place, link in enumerate(response.css("li a")):
                yield response.follow(link, self.parse_story, priority=-place)

        def parse_story(self, response):
            yield {{"url": response.url, "text": response.css("p::text").get()}}
"""


@pytest.fixture
def listed(site, paragraphs):
    """Links in their order: a session matters to none of 40 stories, then to ten others."""
    links = []

    def add(path, seed):
        site.add(path, paragraphs(seed))
        links.append(f'<li><a href="{path}">{seed}</a>')

    for sid in ("", "?sid=x", "?sid=y"):
        for n in range(40):
            add(f"/story/{n}{sid and sid + str(n)}", n)
    for sid in range(6):
        for n in range(10):
            # Scrapy asks for more pages before it has judged those that it has: so many between.
            if n == 0 and sid < 2:
                for more in range(40):
                    add(f"/more/{sid}/{more}", 2_000 + 40 * sid + more)
            add(f"/late/{n}?sid={sid}", 100 + 10 * n + sid)
    add("/end", 1_000)
    site.add("/", "<html><body><ul>" + "".join(links) + "</ul></body></html>")
    return site


@pytest.fixture
def known(project, listed):
    """A file of a rule, without `sid`."""
    file = project.folder / "rules.json"
    write_rules(file, [Proven(Rule(listed.url, "parameters", ("sid",)), Evidence(20))])
    return {"DEDUP_URL_RULES": "apply", "DEDUP_URL_RULES_FILE": file}


def texts(crawl):
    return {item["text"] for item in crawl.items}


@pytest.mark.slow
def test_a_crawl_learns_rules_and_the_next_one_applies_them(project, linked):
    project.spider(SPIDER.format(start=f"{linked.url}/story/0"))
    learning = project.crawl(DEDUP_URL_RULES="learn", DEDUP_INDEX="index")
    assert len(texts(learning)) == 12
    assert learning.stats["dedup/rules/active"] == 1
    assert learning.stats["dedup/rules/requests_saved"] == 0
    assert learning.lines("URL rule found: ")[0].endswith(" without sid, whatever the value")
    downloads = len(linked.asked)
    file = {"DEDUP_URL_RULES_FILE": project.folder / "index" / "url_rules.json"}
    knowing = project.crawl(DEDUP_URL_RULES="learn", DEDUP_INDEX="index1", **file)
    assert texts(knowing) == texts(learning)
    assert len(linked.asked) == 2 * downloads
    assert knowing.stats["dedup/rules/saveable"] > 30
    assert knowing.lines(" could be saved")
    linked.asked.clear()
    applying = project.crawl(DEDUP_URL_RULES="apply", DEDUP_INDEX="index2", **file)
    assert texts(applying) == texts(learning)
    saved, audited = (
        applying.stats[f"dedup/rules/{name}"] for name in ("requests_saved", "audited")
    )
    assert saved > 30
    assert audited >= 1
    assert len(linked.asked) == downloads - saved
    assert applying.lines(f"; {saved} requests saved, {audited} audited, none wrong")
    assert not (project.folder / "index2" / "url_rules.json").exists()
    [rule] = read_rules(file["DEDUP_URL_RULES_FILE"])
    assert rule.evidence.support > 10, "the evidence of the first crawl is lost"


@pytest.mark.slow
def test_crawls_of_a_shared_index_write_reports_and_learn_rules(project, linked, redis_server):
    project.spider(SPIDER.format(start=f"{linked.url}/story/0"))
    shared = {
        "DEDUP_INDEX": redis_server.url,
        "DEDUP_URL_RULES_FILE": project.folder / "rules.json",
    }
    learning = project.crawl(DEDUP_URL_RULES="learn", DEDUP_REPORT="report.html", **shared)
    assert len(texts(learning)) == learning.stats["dedup/new"] == 12
    assert learning.stats["dedup/rules/active"] == 1
    dropped = learning.stats["dedup/near"] + learning.stats["dedup/exact"]
    assert learning.lines("Report written")[0].endswith(f"({dropped} duplicates): report.html")
    with index_at(redis_server.url).recorded() as recorded:
        clusters = {(each.original or each.page, each.url) for each in recorded.records()}
    assert len({kept for kept, _ in clusters}) == 12
    # The first page is fetched twice: start URLs are not filtered.
    assert len(clusters) == 12 + dropped - 1
    applying = project.crawl(DEDUP_URL_RULES="apply", **shared)
    assert texts(applying) == texts(learning)
    assert applying.stats["dedup/rules/requests_saved"] > 30
    assert applying.stats["dedup/rules/contradicted"] == 0


@pytest.mark.slow
def test_a_later_crawl_of_the_same_index_still_gives_each_page(project, site, paragraphs):
    """In the first each story is kept at the URL with a session, which is linked to last then."""

    def link(urls):
        listed = "".join(f'<li><a href="{url}">story</a>' for url in urls)
        site.add("/", f"<html><body><ul>{listed}</ul></body></html>")

    stories, with_sid = ([f"/story/{n}{sid}" for n in range(40)] for sid in ("", "?sid=x"))
    others = [f"/story/{n}?sid=y{n}" for n in range(40)]
    for url in [*stories, *with_sid, *others]:
        site.add(url, paragraphs(int(url.partition("?")[0].rpartition("/")[2])))
    project.spider(LISTED.format(start=site.url))
    link([*with_sid, *stories, *others])
    first = project.crawl(DEDUP_INDEX="index", DEDUP_URL_RULES="learn")
    assert first.stats["dedup/rules/active"] >= 1
    assert len(texts(first)) == 40
    link([*stories, *others, *with_sid])
    second = project.crawl(DEDUP_INDEX="index", DEDUP_URL_RULES="apply")
    assert texts(second) == texts(first)
    assert second.stats["dedup/revisits"] == 40
    link([*with_sid, *stories, *others])
    third = project.crawl(DEDUP_INDEX="index", DEDUP_URL_RULES="apply")
    assert texts(third) == texts(first)
    assert third.stats["dedup/rules/requests_saved"] > 10


@pytest.mark.slow
def test_a_contradicted_rule_is_off_and_the_next_crawl_has_each_page(project, listed, known):
    project.spider(LISTED.format(start=listed.url))
    off = project.crawl()
    on = project.crawl(DEDUP_URL_AUDIT=0.2, DEDUP_INDEX="index", **known)
    assert on.stats["dedup/rules/contradicted"] == 1
    assert on.stats["dedup/rules/active"] == 0
    assert on.stats["dedup/rules/requests_saved"] > 40
    [line] = on.lines("URL rule switched off")
    assert "shows another page" in line
    assert texts(off) - texts(on)  # these requests were saved before
    assert json.loads(known["DEDUP_URL_RULES_FILE"].read_text()) == []
    after = project.crawl(DEDUP_INDEX="index", **known)
    assert after.stats["dedup/rules/requests_saved"] == 0
    assert texts(after) == texts(off)


@pytest.mark.slow
def test_a_page_that_was_not_kept_saves_no_request(project, site, paragraphs, known):
    """robots.txt, another host and an error refuse the first URL of each form."""
    links = [f"/story/{n}{sid}" for sid in ("", "?sid=1", "?sid=2") for n in range(40)]
    for link in links:
        site.add(link, paragraphs(int(link.partition("?")[0].rpartition("/")[2])))
    for n in range(40):
        del site.pages[f"/story/{n}"]
    site.add("/", "<ul>" + "".join(f'<li><a href="{link}">more</a>' for link in links) + "</ul>")
    project.spider(LISTED.format(start=site.url))
    crawl = project.crawl(DEDUP_INDEX="index", DEDUP_URL_AUDIT=0, **known)
    assert len(texts(crawl)) == 40
    assert crawl.stats["dedup/rules/requests_saved"] > 10  # those made after a page was kept


@pytest.mark.slow
def test_a_resumed_job_applies_what_its_first_run_has_proven(project, site, paragraphs):
    links = [
        f"/story/{n}{sid and sid + str(n)}"
        for stories in (range(40), range(40, 80))
        for sid in ("", "?sid=x", "?sid=y")
        for n in stories
    ]
    for link in links:
        site.add(link, paragraphs(int(link.partition("?")[0].rpartition("/")[2])))
    site.add("/", "<ul>" + "".join(f'<li><a href="{link}">more</a>' for link in links) + "</ul>")
    project.spider(LISTED.format(start=site.url))
    job = {"JOBDIR": "job", "DEDUP_URL_RULES": "apply"}
    first = project.crawl(CLOSESPIDER_PAGECOUNT=110, **job)
    assert first.stats["dedup/rules/active"] == 1
    assert first.stats["dedup/rules/requests_saved"] == 0
    second = project.crawl(**job)
    assert second.stats["dedup/rules/requests_saved"] > 40
    assert second.stats["dedup/rules/contradicted"] == 0
    assert len(texts(first) | texts(second)) == 80


@pytest.mark.slow
@pytest.mark.parametrize("names", [True, False], ids=["named", "not named"])
def test_copies_with_a_line_more_are_the_page_that_they_name(project, site, paragraphs, names):
    links = [f"/post/{n}{reply}" for reply in ("", "?reply=1{}", "?reply=2{}") for n in range(40)]
    for place, link in enumerate(links):
        n, path = place % 40, link.format(place)
        # Of the first posts the reply has a name of its own, so the filter keeps those.
        line = f"<p>Leave a reply to Ann the {n}th of York.</p>" if "?" in path and n < 4 else ""
        head = f'<link rel="canonical" href="/post/{n}">' if names else ""
        body = paragraphs(n, link=line).replace("<html>", f"<html><head>{head}</head>")
        site.add(path, body)
        links[place] = f'<li><a href="{path}">{n}</a>'
    site.add("/", "<html><body><ul>" + "".join(links) + "</ul></body></html>")
    project.spider(LISTED.format(start=site.url))
    crawl = project.crawl(DEDUP_URL_RULES="learn", DEDUP_INDEX="index")
    assert len(crawl.items) >= 44
    assert crawl.stats["dedup/rules/active"] == names
    assert run("rules", str(project.folder / "index"))[0] == (0 if names else 1)
    if names:  # the copies that are kept are revisits now
        again = project.crawl(DEDUP_URL_RULES="apply", DEDUP_INDEX="index")
        assert again.stats["dedup/rules/contradicted"] == 0
        assert again.stats["dedup/rules/requests_saved"] > 10
        assert len(again.items) >= 40
