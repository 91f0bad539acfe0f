"""Equal bytes that are no page: which are copies of one another, and which never are."""

import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.text.payloads import LEAST_BYTES

REST = bytes(range(256)) * 8
DATA = b'{"comments": ["the first of many", "the second of many", "and the last of them"]}'
DOCUMENTS = {
    "pdf": (b"%PDF-1.7" + REST, "application/pdf"),
    "zip": (b"PK\x03\x04" + REST, "application/zip"),
    "old office": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + REST, "application/msword"),
    "gzip": (b"\x1f\x8b\x08" + REST, "application/gzip"),
    "pdf called HTML": (b"%PDF-1.7" + REST, "text/html"),
}
OTHERS = {
    "image": (b"\x89PNG\r\n" + REST, "image/png"),
    "program": (b"\x7fELF" + REST, "application/octet-stream"),
    "bytes of unknown form": (REST, None),
}


def outcomes(bodies, content_type=None, **options):
    """Return reason or outcome of bodies at different URLs."""
    with NearDuplicateFilter.open(**options) as pages:
        found = [
            pages.see(f"http://a/{n}", html=body, content_type=content_type)
            for n, body in enumerate(bodies)
        ]
        pages.check()
    return [verdict.reason or verdict.outcome for verdict in found]


@pytest.mark.parametrize(("body", "kind"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_equal_documents_are_exact_and_others_unjudged(body, kind):
    bodies = [body, body, body + b".", body]
    assert outcomes(bodies, kind) == ["binary", "exact", "binary", "exact"]
    assert outcomes(bodies, kind, payloads="none") == ["binary"] * 4


@pytest.mark.parametrize(("body", "kind"), OTHERS.values(), ids=OTHERS)
def test_other_bytes_are_compared_only_if_all_are(body, kind):
    assert outcomes([body, body], kind) == ["binary", "binary"]
    assert outcomes([body, body, body[1:]], kind, payloads="all") == ["binary", "exact", "binary"]


def test_data_is_compared_as_bytes_only_if_all_payloads_are():
    bodies = [DATA, DATA, DATA.replace(b"first", b"1st")]
    kind = "application/json"
    assert outcomes(bodies, kind, payloads="all") == ["not_html", "exact", "not_html"]
    for payloads in ("none", "documents"):  # it is a page, as it was given as one
        assert outcomes(bodies, kind, payloads=payloads) == ["too_short", "exact", "too_short"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b"%PDF-1.7", b"\0" * (LEAST_BYTES - 1)]
)
def test_tiny_bodies_are_no_copies_of_one_another(body):
    verdicts = outcomes([body, body], "application/json", payloads="all")
    assert verdicts == [verdicts[0]] * 2 != ["exact"] * 2


def test_a_page_keeps_its_verdict_whatever_is_said_of_payloads(article):
    page = f"<p>{article(1)}</p>".encode()
    for payloads in ("none", "documents", "all"):
        assert outcomes([page, page], "text/html", payloads=payloads) == ["new", "exact"]


def test_a_document_of_an_earlier_crawl_is_a_revisit_at_its_url_and_exact_elsewhere(tmp_path):
    body, _ = DOCUMENTS["pdf"]
    with NearDuplicateFilter.open(tmp_path / "index", keep_text=True) as pages:
        assert pages.see("http://a/1", html=body).outcome == "unjudged"
    with NearDuplicateFilter.open(tmp_path / "index", keep_text=True) as pages:
        found = [pages.see(f"http://a/{n}", html=body) for n in (2, 1)]
        changed = pages.see("http://a/1", html=body + b".")
        pages.check()
    assert [each.outcome for each in found] == ["exact", "revisit"]
    assert (changed.outcome, changed.reason) == ("unjudged", "binary")
