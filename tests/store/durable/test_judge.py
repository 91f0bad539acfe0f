"""The verdict of a page that is not recorded, in each place."""


def page(text):
    return f"<html><head><title>A title</title></head><body><p>{text}</p></body></html>"


def test_to_judge_a_page_records_nothing(place, article):
    copy = {"html": page(article(1))}
    with place.open() as pages:
        assert pages.judge("https://a.example/1", **copy).outcome == "new"
        assert (len(pages), pages.judge("", text="").reason) == (0, "no_text")
        first = pages.see("https://a.example/1", **copy)
        for url, given, outcome in (
            ("https://a.example/2", copy, "exact"),
            ("https://b.example/", {"text": article(1, edits=1)}, "near"),
            ("https://b.example/", {"text": article(2)}, "new"),
            ("https://b.example/", {"text": "Hello"}, "unjudged"),
        ):
            judged = pages.judge(url, **given)
            assert (judged.outcome, judged.page, len(pages)) == (outcome, None, 1)
            assert pages.judge(url, **given) == judged, "the page was recorded"
            claimed = pages.claim(url, **given)
            pages.release(claimed)
            assert judged == claimed._replace(page=None)
        assert pages.judge("https://c.example/", **copy).original_page == first.page
        assert (pages.conductor.totals() or {"pages": 6}) == {
            "pages": 6,
            **(pages.conductor.totals() or {}),
        }
        pages.check()
