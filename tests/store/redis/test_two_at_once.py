"""Two crawlers that meet copies beyond k bits at once: one is kept, as they share phrases."""

import pytest

from dedup_filter.store.redis.pages import SharedPages

WHOLE, PART = "http://a.example/whole", "http://b.example/part"


@pytest.mark.parametrize("whole_is_pending", [False, True])
def test_a_page_is_compared_with_what_came_while_it_was(
    servers, crawler, article, monkeypatch, whole_is_pending
):
    """Between its look-up and its record another crawler keeps the page that it repeats."""
    one, other = crawler(servers), crawler(servers)
    paragraphs = [article(number, words=60) for number in range(8)]
    claim, came = SharedPages.claim, []

    def after_another(pages, record, *arguments, **options):
        if record.url == PART and not came:
            way = other.claim if whole_is_pending else other.see
            came.append(way(WHOLE, text="\n\n".join(paragraphs)))
        return claim(pages, record, *arguments, **options)

    monkeypatch.setattr(SharedPages, "claim", after_another)
    verdict = one.claim(PART, text="\n\n".join(paragraphs[2:5]))
    assert (verdict.outcome, verdict.original) == ("near", WHOLE)
    assert verdict.reason == "shared_phrases"
    assert one.conductor.fate(verdict.original_page) == ("pending" if whole_is_pending else "kept")
    assert len(one) == len(other) == 1
    if whole_is_pending:
        other.commit(came[0])
    one.check()
