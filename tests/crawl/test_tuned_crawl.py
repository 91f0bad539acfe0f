"""A crawl judged by other settings, against a second crawl of the same sites that has them."""

from command_line import lines
from index_feed import records
from site_pages import MENU, NOTICE, OTHER_MENU

OTHER = {"DEDUP_MAX_DISTANCE": 4, "DEDUP_MIN_SIMILARITY": 0.97}


def sites(make_site, paragraphs):
    """Two sites and a mirror, each with a frame: articles, print views, edited copies."""
    paper, mirror, shop = (make_site() for _ in range(3))
    for number in range(8):
        story = paragraphs(number)
        edited = paragraphs(number, edits=1 + number % 3)
        rewritten = paragraphs(number, edits=5)
        paper.add(f"/{number}", f"<ul>{MENU}</ul><h1>Story {number}</h1>{story}<p>{NOTICE}</p>")
        paper.add(f"/{number}/print", f"<h1>Story {number}</h1><p>Printed today</p>{story}")
        frame = f"<ul>{OTHER_MENU}</ul><h1>Story {number}</h1>"
        mirror.add(f"/{number}", f"{frame}{edited}<div>{NOTICE}</div>")
        shop.add(f"/{number}", f"<h1>Story {number}</h1>{rewritten}<ul>{MENU}</ul>")
    return [*paper.urls(), *mirror.urls(), *shop.urls()]


def recorded(index):
    there = records(index)
    urls = {record.page: record.url for record in there}
    return [
        (each.url, each.outcome, urls.get(each.original), each.distance, each.similarity)
        for each in there
    ]


def test_the_answer_is_what_a_crawl_with_these_settings_finds(
    project, make_site, paragraphs, tmp_path
):
    urls = sites(make_site, paragraphs)
    project.spider(in_turn=True)
    first, second = tmp_path / "first", tmp_path / "second"
    assert project.crawl(*urls, DEDUP_INDEX=first, DEDUP_KEEP_TEXT=True).exit_code == 0
    assert project.crawl(*urls, DEDUP_INDEX=second, **OTHER).exit_code == 0
    options = ["--max-distance", "4", "--min-similarity", "0.97"]
    now, setting = lines("tune", str(first), *options, "--json")
    before, after = recorded(first), recorded(second)
    assert [each[0] for each in before] == [each[0] for each in after] == urls
    expected = {
        new[0]: new[1:]
        for old, new in zip(before, after, strict=True)
        if old[1] != new[1] or old[2] != new[2]
    }
    names = "outcome", "original", "distance", "similarity"
    found = {
        each["url"]: tuple(each["after"][name] for name in names) for each in setting["changes"]
    }
    assert found == expected
    assert len(expected) >= 8
    for effect, records_ in ((now, before), (setting, after)):
        assert effect["dropped"] == sum(each[1] in ("near", "exact") for each in records_)
