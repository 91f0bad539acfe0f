"""What the commands find in a shared index while crawlers change it all the time."""

import random
import threading

from command_line import run
from index_feed import article

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at


def work(location, seed, is_over, errors):
    """Claim, commit, release and forget pages at random."""
    chance = random.Random(seed)
    try:
        with NearDuplicateFilter.open(location) as pages:
            while not is_over.is_set():
                number = chance.randrange(60)
                verdict = pages.claim(f"https://{seed}.example.com/{number}", text=article(number))
                chance.choice([pages.commit, pages.commit, pages.release])(verdict)
                if chance.random() < 0.05:
                    pages.forget(f"https://{seed}.example.com/{number}")
    except Exception as error:
        errors.append(error)


def test_it_is_clean_and_stays_so(servers):
    location, is_over, errors = servers.new("index"), threading.Event(), []
    NearDuplicateFilter.open(location).close()
    crawlers = [
        threading.Thread(target=work, args=(location, seed, is_over, errors)) for seed in range(3)
    ]
    for crawler in crawlers:
        crawler.start()
    try:
        index = index_at(location)
        for number in range(12):
            assert index.check().faults == []
            with index.source() as source:
                assert all(not page.record.is_pending for page in source.pages)
            assert index.figures()["processes"] <= 3
            index.compact()
            index.forget([f"https://{number % 3}.example.com/{number}"])
    finally:
        is_over.set()
        for crawler in crawlers:
            crawler.join()
    assert errors == []
    with NearDuplicateFilter.open(location) as pages:
        pages.check()
    code, out, _ = run("index", "check", location)
    assert code == 0
    assert out.startswith("clean: ")
