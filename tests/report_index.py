"""An index for tests of the report: pages near and far, exact copies, hostile ones.

`made_index` is judged by the filter. `made_report` draws a report on pairs that are only said, for
what an index would take long to be filled with.
"""

from collections import Counter

from made_text import prose

from dedup_filter import FilterConfig, NearDuplicateFilter
from dedup_filter.review.report.collect import ReportData
from dedup_filter.review.report.render import render
from dedup_filter.store.records import PageRecord

ADVERT = "Buy cheap phones laptops cameras watches today! Free shipping worldwide offer discount."
LONG = "x" * 10_000
HOSTILE = {
    "markup": "https://evil0.example/</script><script>window.hacked=1</script><img src=x "
    "onerror=window.hacked=2>",
    "script": "javascript:window.hacked=3",
    "turned": "https://evil2.example/\u202egnp.exe\u2066\u200b",
    "controls": "https://evil3.example/\x00\x1b[31m\x7f\u2028\u2029\ud800",
    "long": f"https://evil4.example/{LONG}",
}
TITLE = '</title><script>window.hacked=4</script>\u202e\u2067 & "quotes" \'\u2028'


def made_index(folder, *, keep_text=True):
    """Fill an index; return the folder.

    Ten stories at ten sites with more and more edits, of which those with many are kept; an exact
    copy with an emoji; Chinese; a page that came twice; hostile pages, each dropped for one
    of harmless looks.
    """
    chinese = "据新华社报道，昨天下午在北京举行的会议上，代表们讨论了城市的交通问题。" * 8
    with NearDuplicateFilter.open(folder, keep_text=keep_text) as pages:
        for seed in range(10):
            for edits in (0, 1, 2, 4, 5, 6, 8, 10, 11):
                pages.see(f"https://site{edits}.example/{seed}", text=prose(seed, edits))
        # A character of two UTF-16 units.
        long = f"\U0001f600 {prose(50)}\n{ADVERT * 2}\n{prose(51)}"
        pages.see("https://shop.example/1", text=long)
        pages.see("https://shop.example/2", text=long)
        pages.see("https://zh.example/1", text=f"{chinese}第一版。")
        pages.see("https://zh.example/2", text=f"{chinese}第二版。")
        for _ in range(2):
            pages.see("https://twice.example/", text=prose(55))
        for number, url in enumerate(HOSTILE.values()):
            body = (
                f"<h1>{_escaped(TITLE)}</h1><p>{_escaped('<img src=x onerror=window.hacked=5>')} "
            )
            body += f"{prose(60 + number)}</p>"
            pages.see(f"https://good{number}.example/", html=body)
            pages.see(url, html=body.replace("</p>", " \u202e and so on</p>"))
        pages.see("https://short.example/1", text="two words")
    return folder


def made_report(duplicates):
    """Draw a report on so many duplicates of a tenth as many pages; return HTML."""
    found = ReportData(
        made=1_700_000_000,
        config=FilterConfig(),
        hosts=50,
        outcomes=Counter(near=duplicates, new=duplicates // 10),
    )
    kept = duplicates // 10
    for page in range(1, kept + 1):
        found.add(_record(page, "new"))
    for page in range(kept + 1, kept + duplicates + 1):
        measured = {"distance": page % 13, "similarity": 0.8 + page % 200 / 1_000}
        record = _record(page, "near")._replace(original=page % kept + 1, **measured)
        found.add(record)
        found.pairs.append(record)
    return render("made", found)


def _record(page, outcome):
    return PageRecord(
        page=page,
        url=f"https://host{page % 50}.example/articles/{page:07}.html",
        host=f"host{page % 50}.example",
        url_key=page,
        digest=b"",
        fingerprint=page * 0x9E3779B97F4A7C15 % 2**64,
        sketch=b"",
        words=300,
        language="en",
        first_seen=1_700_000_000 + page,
        last_seen=1_700_000_000 + page,
        first_crawl=1,
        crawl=1,
        is_pending=False,
        outcome=outcome,
        h1=f"Headline {page}",
    )


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
