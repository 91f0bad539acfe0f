"""A wrong setting stops a crawl at its start, with one sentence."""

import pytest


@pytest.mark.parametrize(
    ("of_command", "of_spider", "sentence"),
    [
        (
            {"DEDUP_MAX_DISTNCE": "6"},
            {},
            "dedup_filter: unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?",
        ),
        ({}, {"DEDUP_ACTION": "delete"}, 'DEDUP_ACTION must be "drop" or "tag", not \'delete\''),
    ],
)
def test_wrong_setting_stops_the_crawl_at_its_start(project, site, of_command, of_spider, sentence):
    project.spider(settings=of_spider)

    crawl = project.crawl(site.url, **of_command)

    assert crawl.exit_code == 1
    assert crawl.log.rstrip().endswith(sentence)
    assert len(crawl.log.splitlines()) == 1 or not of_command
    assert (site.asked, crawl.items, crawl.stats) == ([], [], {})
