"""WARC files, sound and damaged, record by record."""

import gzip
import random
import tracemalloc

import pytest
from warc_samples import page, record, response, write

from dedup_filter.warc.warc_file import read_warc
from dedup_filter.warc.warc_record import ArchivedPage, Damage, Skipped

LIMIT = 10**6


def read(path, limit=LIMIT):
    return list(read_warc(path, limit))


def urls(path):
    return [found.url for found in read(path) if isinstance(found, ArchivedPage)]


def site(count, start=0):
    return [response(f"http://a/{n}", page(n)) for n in range(start, start + count)]


def plain(members):
    return [gzip.decompress(member) for member in members]


@pytest.mark.parametrize("pack", [list, plain, lambda m: [gzip.compress(b"".join(plain(m)))]])
def test_each_record_is_read_however_the_file_is_packed(tmp_path, pack) -> None:
    found = read(write(tmp_path / "a.warc", *pack(site(5))))
    assert found == [
        ArchivedPage(f"http://a/{n}", "text/html; charset=utf-8", page(n)) for n in range(5)
    ]


def test_what_is_no_page_is_skipped_with_a_reason(tmp_path) -> None:
    file = write(
        tmp_path / "a.warc.gz",
        record("http://a/", "request", b"GET / HTTP/1.1\r\n\r\n"),
        record("dns:a", "response", b"20240101 127.0.0.1"),
        response("http://a/1", page(1), status="404 Not Found"),
        response("http://a/2", page(2), status="301 Moved", Location="/1"),
        response("http://a/3", page(3) * 2000),
        response("http://a/4", page(4)),
    )
    *skipped, last = read(file)
    reasons = ["not_a_response", "not_a_response", "status", "status", "too_large"]
    assert skipped == [Skipped(reason) for reason in reasons]
    assert last.url == "http://a/4"


def test_encodings_of_the_transfer_are_undone(tmp_path) -> None:
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (page(1), b"")) + b"\r\n"
    file = write(
        tmp_path / "a.warc.gz",
        response("http://a/1", chunked, Transfer_Encoding="chunked"),
        response("http://a/2", gzip.compress(page(2)), Content_Encoding="gzip"),
    )
    assert [found.body for found in read(file)] == [page(1), page(2)]


@pytest.mark.parametrize("pack", [list, plain])
def test_a_file_cut_anywhere_gives_the_whole_records_before_the_cut(tmp_path, pack) -> None:
    members = pack(site(3))
    whole = b"".join(members)
    ends = [len(b"".join(members[:n])) for n in range(4)]
    for cut in range(0, len(whole), 97):
        found = read(write(tmp_path / "a.warc", whole[:cut]))
        complete = [each for each in found if isinstance(each, ArchivedPage)]
        # The blank lines after a plain record may be missing: it is complete without them.
        sound = sum(end <= cut + (4 if pack is plain else 0) for end in ends[1:])
        assert len(complete) == sound
        if cut not in ends and sound == sum(end <= cut for end in ends[1:]):
            assert isinstance(found[-1], Damage)


@pytest.mark.parametrize("length", [200_000, *range(65_530, 65_540)])  # a block is 64 KiB
@pytest.mark.parametrize("pack", [list, plain])
def test_garbage_between_records_costs_none_of_them(tmp_path, pack, length) -> None:
    first, second, third = pack(site(3))
    garbage = random.Random(length).randbytes(length)
    found = read(write(tmp_path / "a.warc", garbage, first, garbage, second, third, b"\n" * 9))
    assert [each.url for each in found if isinstance(each, ArchivedPage)] == [
        f"http://a/{n}" for n in range(3)
    ]
    assert any(isinstance(each, Damage) for each in found)


def test_a_damaged_member_costs_that_record_only(tmp_path) -> None:
    members = site(5)
    broken = bytearray(members[2])
    broken[len(broken) // 2 :] = bytes(len(broken) - len(broken) // 2)
    members[2] = bytes(broken)
    path = write(tmp_path / "a.warc.gz", *members)
    found = read(path)
    assert [type(each) for each in found] == [ArchivedPage] * 2 + [Damage] + [ArchivedPage] * 2
    assert found[2].offset == len(members[0] + members[1])


@pytest.mark.parametrize(
    "bad",
    [
        gzip.compress(b"WARC/1.0\r\nno headers"),
        gzip.compress(b"this is no archive at all\r\n\r\n"),
        gzip.compress(b""),
        record("http://a/bad", "response", b"\0\1\2 no HTTP here"),
        record("http://a/bad", "response", b""),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/bad\r\n\r\nx"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: ten\r\n\r\nx\r\n\r\n"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999\r\n\r\nx"),
        b"\x1f\x8b\x08\x00",
    ],
    # The bytes would be no names: they tell when they were packed.
    ids="no headers,no archive,empty,no HTTP,no body,no end,no length,long,cut".split(","),
)
def test_a_bad_record_is_no_page_and_hides_no_other(tmp_path, bad) -> None:
    path = write(tmp_path / "a.warc.gz", *site(1), bad, *site(1, start=1))
    assert urls(path) == ["http://a/0", "http://a/1"]


def test_no_damage_ends_the_reading_with_an_error(tmp_path) -> None:
    chance = random.Random(11)
    for pack in (list, plain):
        whole = b"".join(pack(site(4)))
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 5)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            assert len(urls(write(tmp_path / "a.warc", bytes(damaged)))) <= 4


def test_memory_stays_small_whatever_the_record_unpacks_to(tmp_path) -> None:
    bomb = gzip.compress(gzip.decompress(response("http://a/0", b" " * 50_000_000)))
    path = write(tmp_path / "a.warc.gz", bomb, *site(1, start=1))
    tracemalloc.start()
    try:
        found = read(path)
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()
    assert found[0] == Skipped("too_large")
    assert found[1].url == "http://a/1"
