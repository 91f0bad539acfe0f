"""WARC files in and out: dropped records become revisit records, which warcio reads."""

import gzip

import pytest
from command_line import lines, run
from warc_samples import http, plain, write
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord
from warcio.utils import Digester

from dedup_filter.scan.revisits import EQUAL_PROFILE, NEAR_PROFILE

DATE, LATER = "2026-01-02T03:04:05Z", "2026-02-03T04:05:06Z"
PDF = b"%PDF-1.7" + bytes(range(256))
NAMES = ("WARC-Profile", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")


def made(url, body, kind="text/html", date=LATER, **headers):
    ident = f"<urn:uuid:{url}>"
    fields = {"WARC_Date": date, "WARC_Record_ID": ident, "WARC_Concurrent_To": "<urn:uuid:q>"}
    return plain("response", http(body, kind, **headers), url, **fields)


def scanned(folder, members, *arguments, pack=gzip.compress, code=0):
    """Scan a WARC file of some records, and return the records of the output, as warcio has it."""
    output = folder / "u.warc.gz"
    write(folder / "a.warc.gz", *map(pack, members))
    found, _, err = run("scan", str(folder / "a.warc.gz"), "-o", str(output), *arguments)
    assert found == code, err
    return read(output)


def read(path) -> list[tuple[ArcWarcRecord, bytes]]:
    with path.open("rb") as file:
        return [(each, each.content_stream().read()) for each in ArchiveIterator(file)]


@pytest.fixture
def members(article):
    page, near = (f"<p>{article(1, edits)}</p>".encode() for edits in (0, 1))
    return [
        made("http://a/1", page, date=DATE, X_Own="1"),
        plain("request", b"GET / HTTP/1.1\r\n\r\n", "http://b/1"),
        made("http://b/1", page, X_Own="2"),
        made("http://c/1", near),
        made("http://d/1", gzip.compress(page), Content_Encoding="gzip"),
        made("http://e/1.pdf", PDF, "application/pdf", date=DATE),
        made("http://f/1.pdf", PDF, "application/pdf"),
        plain("revisit", http(b""), "http://g/1", WARC_Profile=EQUAL_PROFILE),
    ]


def test_dropped_pages_become_revisits_that_name_their_originals(tmp_path, members):
    found = scanned(tmp_path, members, "--revisits", "--set", "payloads=documents")
    assert [each.rec_type for each, _ in found] == [
        *("response", "request", "revisit", "revisit"),
        *("revisit", "response", "revisit", "revisit"),
    ]
    fields = [[each.rec_headers.get_header(name) for name in NAMES] for each, _ in found]
    assert fields[2:5] == [
        [profile, "http://a/1", DATE] for profile in (EQUAL_PROFILE, NEAR_PROFILE, NEAR_PROFILE)
    ]
    assert fields[6] == [EQUAL_PROFILE, "http://e/1.pdf", DATE]
    equal, near = found[2][0], found[3][0]
    for record, url in ((equal, "http://b/1"), (near, "http://c/1")):
        header = record.rec_headers.get_header
        assert (header("WARC-Target-URI"), header("WARC-Date")) == (url, LATER)
        assert header("WARC-Record-ID") == f"<urn:uuid:{url}>"
        assert header("WARC-Concurrent-To") == "<urn:uuid:q>"
        assert record.rec_headers.protocol == "WARC/1.1"
    assert equal.http_headers.get_header("X-Own") == "2"
    assert (near.http_headers, near.rec_headers.get_header("Content-Length")) == (None, "0")
    assert all(not body for each, body in found if each.rec_type == "revisit")


def test_the_digest_of_equal_payloads_is_warcios_own(tmp_path, members):
    found = scanned(tmp_path, members, "--revisits")
    digest = found[2][0].rec_headers.get_header("WARC-Payload-Digest")
    assert found[3][0].rec_headers.get_header("WARC-Payload-Digest") is None
    body = next(body for each, body in found if each.rec_type == "response")
    own = Digester("sha1")
    own.update(body)
    assert digest == str(own)


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_what_is_kept_stays_byte_for_byte(tmp_path, members, pack):
    packed = [*map(pack, members)]
    path = write(tmp_path / "a.warc", *packed)
    name = "u.warc.gz" if pack is gzip.compress else "u.warc"
    code, _, err = run("scan", str(path), "-o", str(tmp_path / name), "--revisits")
    assert code == 0, err
    content = (tmp_path / name).read_bytes()
    kept = [each for place, each in enumerate(packed) if place not in (2, 3, 4)]
    assert content.startswith(b"".join(kept[:2]))
    assert content.endswith(b"".join(kept[2:]))
    assert [each.rec_type for each, _ in read(tmp_path / name)].count("revisit") == 4


def test_the_best_copy_is_named_wherever_it_stands(tmp_path, article):
    page = f'<link rel="canonical" href="http://b/"><p>{article(1)}</p>'.encode()
    members = [
        made(f"http://{site}/", page, date=date)
        for site, date in (("a", DATE), ("b", LATER), ("c", DATE))
    ]
    found = scanned(tmp_path, members, "--revisits", "--keep", "canonical")
    fields = [[each.rec_headers.get_header(name) for name in NAMES] for each, _ in found]
    assert fields == [
        [EQUAL_PROFILE, "http://b/", LATER],
        [None] * 3,
        [EQUAL_PROFILE, "http://b/", LATER],
    ]


def test_an_original_of_an_earlier_scan_is_named_without_its_date(tmp_path, article):
    page = f"<p>{article(1)}</p>".encode()
    index = ["--index", str(tmp_path / "index"), "--revisits"]
    scanned(tmp_path, [made("http://a/", page)], *index)
    [(again, _)] = scanned(tmp_path, [made("http://b/", page)], *index, "--force")
    assert [again.rec_headers.get_header(name) for name in NAMES] == [
        NEAR_PROFILE,
        "http://a/",
        None,
    ]


def test_its_output_can_be_scanned_again(tmp_path, members):
    scanned(tmp_path, members, "--revisits")
    output = tmp_path / "v.warc.gz"
    [found] = lines("scan", str(tmp_path / "u.warc.gz"), "-o", str(output), "--revisits", "--json")
    assert (found["outcomes"], found["bad"], found["not_pages"]["other_type"]) == ({"new": 1}, 0, 5)
    assert output.read_bytes() == (tmp_path / "u.warc.gz").read_bytes()


def test_documents_stay_unless_payloads_are_to_be_judged(tmp_path, members):
    found = scanned(tmp_path, members[5:7])
    assert [each.rec_type for each, _ in found] == ["response"] * 2
    found = scanned(tmp_path, members[5:7], "--set", "payloads=documents", "--force")
    assert [each.rec_type for each, _ in found] == ["response"]


def test_revisits_are_for_warc_files_that_are_written(tmp_path, members):
    write(tmp_path / "a.warc", *members)
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    for name, option in (("a.warc", "--mark"), ("a.jsonl", "-o")):
        arguments = [str(tmp_path / name), option, str(tmp_path / "u.jsonl"), "--revisits"]
        code, _, err = run("scan", *arguments)
        assert code == 2
        assert "--revisits is for WARC files" in err
