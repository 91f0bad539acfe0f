"""WARC files, sound and damaged: each kind of record has one outcome, and none ends the reading."""

import gzip
import json
import random
import tracemalloc
import zlib
from collections import Counter

import brotli
import pytest
from backports import zstd
from command_line import scanned
from warc_samples import head, http, page, plain, record, response, write

from dedup_filter.scan.warc import read_warc

LIMIT = 10**6
URL = "http://a.example/x"
HTML = page(7)
PAGE = "page"
"""The outcome of a record whose page is HTML, as it was sent."""
CUT = "the beginning"
SHORTER, LONGER = "is shorter than its Content-Length", "is longer than its Content-Length"
NO_LENGTH, NO_RECORD = "has no Content-Length", "no WARC record begins here"
packed = gzip.compress(HTML)


def chunked(body, extension=b""):
    return b"%x%b\r\n%b\r\n0\r\n\r\n" % (len(body), extension, body)


def raw_deflate(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def answer(body=HTML, *arguments, **headers):
    """A response record with a body that was sent with these headers."""
    return plain("response", http(body, *arguments, **headers), URL)


def bare(content, url=URL, **fields):
    return plain("response", content, url, **fields)


RECORDS = {
    "as it is": (answer(), PAGE),
    "gzip": (answer(packed, Content_Encoding="gzip"), PAGE),
    "x-gzip": (answer(packed, Content_Encoding="x-gzip"), PAGE),
    "gzip in capitals": (answer(packed, Content_Encoding="GZIP"), PAGE),
    "gzip twice": (answer(gzip.compress(packed), Content_Encoding="gzip, gzip"), PAGE),
    "deflate": (answer(zlib.compress(HTML), Content_Encoding="deflate"), PAGE),
    "deflate without head": (answer(raw_deflate(HTML), Content_Encoding="deflate"), PAGE),
    "brotli": (answer(brotli.compress(HTML), Content_Encoding="br"), PAGE),
    "zstd": (answer(zstd.compress(HTML), Content_Encoding="zstd"), PAGE),
    "identity": (answer(Content_Encoding="identity"), PAGE),
    "unknown encoding": (answer(Content_Encoding="rot13"), PAGE),
    "gzip undone already": (answer(Content_Encoding="gzip"), PAGE),
    "brotli undone already": (answer(Content_Encoding="br"), PAGE),
    "gzip cut off": (answer(packed[:-30], Content_Encoding="gzip"), CUT),
    "chunked": (answer(chunked(HTML), Transfer_Encoding="chunked"), PAGE),
    "chunked in capitals": (answer(chunked(HTML), Transfer_Encoding="Chunked"), PAGE),
    "chunks with extension": (answer(chunked(HTML, b";a=b"), Transfer_Encoding="chunked"), PAGE),
    "chunked undone already": (answer(Transfer_Encoding="chunked"), PAGE),
    "chunked cut off": (answer(chunked(HTML)[:-99], Transfer_Encoding="chunked"), CUT),
    "gzip in chunks": (
        answer(chunked(packed), Transfer_Encoding="chunked", Content_Encoding="gzip"),
        PAGE,
    ),
    "wrong length in HTTP": (answer(Content_Length="10"), PAGE),
    "HTTP/2": (bare(head("HTTP/2 200", Content_Type="text/html") + HTML), PAGE),
    "HTTP with bare LF": (bare(http(b"").replace(b"\r", b"") + HTML), PAGE),
    "long header": (answer(X_Long="y" * 100_000), PAGE),
    "folded header": (answer(X_Folded="a\r\n b"), PAGE),
    "header without colon": (answer(HTML, "text/html\r\nnonsense"), PAGE),
    "no content type": (answer(HTML, None), PAGE),
    "UTF-8 in headers": (bare(http(HTML, X_Title="茶"), URL, X_Note="茶"), PAGE),
    "URL in brackets": (bare(http(HTML), f"<{URL}>"), PAGE),
    "another version": (bare(http(HTML), first="WARC/1.1"), PAGE),
    "wrong digest": (bare(http(HTML), WARC_Payload_Digest="sha1:AAAA"), PAGE),
    "no date": (bare(http(HTML), WARC_Date=None), PAGE),
    "resource": (plain("resource", HTML, URL, Content_Type="text/html"), PAGE),
    "conversion": (plain("conversion", HTML, URL, Content_Type="text/plain"), PAGE),
    "empty page": (answer(b""), b""),
    "revisit": (plain("revisit", http(b""), URL), "other_type"),
    "request": (plain("request", b"GET / HTTP/1.1\r\n\r\n", URL), "other_type"),
    "metadata": (plain("metadata", b"a: b", URL), "other_type"),
    "warcinfo": (plain("warcinfo", b"software: x"), "other_type"),
    "unknown type": (plain("strange", b"x", URL), "other_type"),
    "DNS": (bare(b"20240101 127.0.0.1", "dns:a.example"), "no_http_url"),
    "no URL": (bare(http(HTML), None), "no_http_url"),
    "screenshot": (plain("resource", b"\x89PNG", f"urn:view:{URL}"), "no_http_url"),
    "no HTTP": (bare(HTML), "no_http_head"),
    "nothing": (bare(b""), "no_http_head"),
    "not found": (answer(HTML, "text/html", "404 Not Found"), "status"),
    "moved": (answer(b"", "text/html", "301 Moved", Location="/"), "status"),
    "huge": (answer(HTML * 2000), "too_large"),
    "huge when unpacked": (
        answer(gzip.compress(bytes(3 * LIMIT)), Content_Encoding="gzip"),
        "too_large",
    ),
    "no length": (bare(http(HTML), Content_Length=None), NO_LENGTH),
    "length in letters": (bare(http(HTML), Content_Length="ten"), NO_LENGTH),
    "length too large": (bare(http(HTML), Content_Length="9999"), SHORTER),
    "length too small": (bare(http(HTML), Content_Length="200"), LONGER),
    "wrong version line": (bare(http(HTML), first="WARC-one"), NO_RECORD),
    "no fields": (b"WARC/1.0\r\n\r\n", NO_LENGTH),
    "garbage": (b"this is no archive\r\n\r\n", NO_RECORD),
}


def read(path):
    found = list(read_warc(path.open("rb"), LIMIT))
    # Together they are the whole file.
    assert [each.end for each in found[:-1]] == [each.start for each in found[1:]]
    assert not found or found[-1].end == path.stat().st_size
    return found


def urls(path):
    return [each.url for each in read(path) if each.url]


def site(count, start=0):
    return [response(f"http://a/{n}", page(n)) for n in range(start, start + count)]


def unpacked(members):
    return [gzip.decompress(member) for member in members]


def outcome(each):
    assert (each.url == URL) == (each.problem is None and each.not_page is None)
    if each.problem or each.not_page:
        return each.problem or each.not_page
    if each.body == HTML:
        return PAGE
    return CUT if each.body and HTML.startswith(each.body) else each.body


@pytest.mark.parametrize(("made", "expected"), RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_each_kind_of_record_has_its_outcome_and_hides_no_other(tmp_path, made, expected, pack):
    before, after = (plain("response", http(page(n)), f"http://a/{n}") for n in (1, 2))
    path = write(tmp_path / "a.warc", pack(before), pack(made), pack(after))
    first, found, last = read(path)
    assert (first.url, last.url) == ("http://a/1", "http://a/2")
    if found.problem and expected == SHORTER and pack is bytes:
        expected = "the file ends within a record"  # it has no end of its own
    if found.problem:
        assert expected in found.problem
    else:
        assert outcome(found) == expected
    assert found.start == len(pack(before))


def test_a_scan_of_all_of_them_ends_with_each_counted(tmp_path):
    path = write(tmp_path / "a.warc.gz", *(gzip.compress(made) for made, _ in RECORDS.values()))
    output = tmp_path / "u.warc.gz"
    found = scanned(path, "-o", output)
    expected = Counter(wanted for _, wanted in RECORDS.values())
    not_pages = ("other_type", "no_http_url", "no_http_head", "status")
    too_large = expected.pop("too_large")  # for the limit here, not for a scan's
    assert found["pages"] == expected[PAGE] + expected[CUT] + expected[b""] + too_large
    assert found["outcomes"]["exact"] >= expected[PAGE] - 2
    assert found["not_pages"] == {each: expected[each] for each in not_pages}
    assert found["bad"] == sum(expected[each] for each in (SHORTER, LONGER, NO_LENGTH, NO_RECORD))
    again = scanned(output, "-o", tmp_path / "v.warc.gz")
    assert (again["bad"], again["not_pages"]) == (0, found["not_pages"])
    assert again["pages"] == found["kept"] == again["kept"]


WHOLE = {
    "empty": ([b""], []),
    "blank lines": ([b"\r\n" * 40], []),
    "plain, though named .gz": (unpacked(site(2)), ["http://a/0", "http://a/1"]),
    "zeros at the end": ([*site(2), bytes(50)], ["http://a/0", "http://a/1"]),
    "garbage at the end": ([*site(2), b"garbage" * 9], ["http://a/0", "http://a/1", NO_RECORD]),
    "an empty member": (
        [*site(1), gzip.compress(b""), *site(1, 1)],
        ["http://a/0", NO_RECORD, "http://a/1"],
    ),
    "compressed as a whole": (
        [gzip.compress(b"".join(unpacked(site(3))))],
        ["compressed together"],
    ),
    "an ARC file": ([b"filedesc://x.arc 0.0.0.0 2002 text/plain 9\n1 0 x\n\n"], [NO_RECORD]),
}


@pytest.mark.parametrize(("parts", "expected"), WHOLE.values(), ids=WHOLE)
def test_files_of_every_form_are_read(tmp_path, parts, expected):
    found = read(write(tmp_path / "a.warc.gz", *parts)) if any(map(bytes.strip, parts)) else []
    assert len(found) == len(expected)
    for each, part in zip(found, expected, strict=True):
        assert part in (each.problem or each.url)


@pytest.mark.parametrize("pack", [list, unpacked])
def test_a_file_cut_anywhere_gives_the_whole_records_before_the_cut(tmp_path, pack):
    members = pack(site(3))
    whole = b"".join(members)
    ends = [len(b"".join(members[:n])) for n in range(4)]
    for cut in range(0, len(whole), 97):
        found = read(write(tmp_path / "a.warc", whole[:cut]))
        # The blank lines after a plain record may be missing: it is complete without them.
        sound = sum(end <= cut + (4 if pack is unpacked else 0) for end in ends[1:])
        assert len([each for each in found if each.url]) == sound
        if cut not in ends and sound == sum(end <= cut for end in ends[1:]):
            assert found[-1].problem


@pytest.mark.parametrize("length", [200_000, *range(65_530, 65_540)])  # a block is 64 KiB
@pytest.mark.parametrize("pack", [list, unpacked])
def test_garbage_between_records_costs_none_of_them(tmp_path, pack, length):
    first, second, third = pack(site(3))
    garbage = random.Random(length).randbytes(length)
    path = write(tmp_path / "a.warc", garbage, first, garbage, second, third, b"\n" * 9)
    assert urls(path) == [f"http://a/{n}" for n in range(3)]
    assert any(each.problem for each in read(path))


def test_a_damaged_member_costs_that_record_only(tmp_path):
    members = site(5)
    for damage in (slice(len(members[2]) // 2, None), slice(-6, -4)):  # its data; its checksum
        broken = bytearray(members[2])
        broken[damage] = bytes(len(broken[damage]))
        path = write(tmp_path / "a.warc.gz", *members[:2], bytes(broken), *members[3:])
        assert urls(path) == [f"http://a/{n}" for n in (0, 1, 3, 4)]
        assert [bool(each.problem) for each in read(path)] == [False, False, True, False, False]


def test_no_damage_ends_the_reading_with_an_error(tmp_path):
    chance = random.Random(11)
    for pack in (list, unpacked):
        whole = b"".join(pack(site(4)))
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 5)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            assert len(urls(write(tmp_path / "a.warc", bytes(damaged)))) <= 4


def test_memory_stays_small_whatever_the_record_unpacks_to(tmp_path):
    bomb = response("http://a/0", b" " * 50_000_000)
    path = write(tmp_path / "a.warc.gz", bomb, *site(1, start=1))
    tracemalloc.start()
    try:
        found = read(path)
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()
    assert found[0].not_page == "too_large"
    assert found[1].url == "http://a/1"


def test_records_that_come_out_are_those_that_are_kept(tmp_path):
    text = b"Some words of a text that comes twice in an archive of texts, in each of its records."
    made = [
        record(f"http://{n}.example/", "conversion", text * 3, Content_Type="text/plain")
        for n in (1, 2)
    ]
    info = record(None, "warcinfo", b"software: x")
    path = write(tmp_path / "a.warc.wet.gz", info, *made)
    arguments = ["-o", str(tmp_path / "u.warc.gz"), "--duplicates", str(tmp_path / "d.jsonl")]
    found = scanned(path, *arguments)
    assert (found["outcomes"], found["not_pages"]) == ({"new": 1, "exact": 1}, {"other_type": 1})
    assert (tmp_path / "u.warc.gz").read_bytes() == info + made[0]
    assert json.loads((tmp_path / "d.jsonl").read_text())["url"] == "http://2.example/"
