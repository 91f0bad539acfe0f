from store_pages import NOON, memory_store
from store_pages import new_page as page

from dedup_filter.pages.directory.crawls import Crawl


def test_each_start_without_a_name_is_a_new_crawl():
    with memory_store() as store:
        assert store.crawls.current == 1
        store.insert(page(1))
        assert store.crawls.start(NOON + 9) == store.crawls.current == 2
        store.insert(page(2))
        store.crawls.end(NOON + 20)
        assert [record.crawl for record in store.records()] == [1, 2]
        assert store.crawls.all() == [
            Crawl(1, None, NOON, None),
            Crawl(2, None, NOON + 9, NOON + 20),
        ]


def test_a_name_is_the_same_crawl_resumed():
    with memory_store("job") as store:
        store.crawls.end(NOON + 5)
        assert store.crawls.start(NOON + 9, "another \ud800") == 2
        assert store.crawls.start(NOON + 10, "another \ud800") == 2
        assert store.crawls.start(NOON + 11, "job") == store.crawls.current == 1
        assert store.crawls.all() == [
            Crawl(1, "job", NOON, None),
            Crawl(2, "another \ud800", NOON + 9, None),
        ]


def test_to_end_none_is_no_error():
    with memory_store() as store:
        store.crawls.current = 0
        store.crawls.end(NOON)
        assert store.crawls.all() == [Crawl(1, None, NOON, None)]
