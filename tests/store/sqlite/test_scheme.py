"""Schemes, and a watch on what belongs to them without being an option."""

import pytest
import xxhash

from dedup_filter.config import FilterConfig
from dedup_filter.errors import SchemeMismatch
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.judge import Judge
from dedup_filter.store import records
from dedup_filter.store.records import Scheme
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.decode import parse
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import read_page

PAGE = """<html lang="en"><title>Harbour</title><nav><a href="/">All the news of the day</a></nav>
<h1>Harbour to stay open</h1><p>The committee met on Tuesday to discuss how the harbour could be
kept open during the winter months, when ice had closed it in three of the last five years.</p>
<p>Several members said that an icebreaker would cost more than it saved, but the captain of the
ferry told them that two farms on the island had run out of fodder in March.</p>
<p>委员会星期二开会，讨论怎样让港口在冬季保持开放，因为过去五年里有三年港口被冰封住。</p></html>"""


def test_what_shapes_fingerprints_has_the_version_that_it_had():
    # Where this fails, some page's fingerprint is not what it was: raise TEXT_VERSION, then put
    # the new values here. An index made before must not be compared with pages from now on.
    with SqliteStore.in_memory(Scheme.of()) as store:
        page = ReadPage.of(read_page(parse(PAGE)), FilterConfig())
        record = Judge(FilterConfig(), store).claim(Place.of("https://example.com/"), page).record
    found = (
        records.TEXT_VERSION,
        f"{record.fingerprint:016x}",
        record.digest.hex(),
        xxhash.xxh3_64_hexdigest(record.sketch),
        record.headline,
        record.words,
    )
    assert found == (
        8,
        "2d2d8e7cc1dbea98",
        "8a761ae6f939ca8a1982e3a7bb241055",
        "56455f54157e3c7e",
        ("Harbour to stay open", "Harbour"),
        88,
    )


def test_parts_that_one_of_two_schemes_lacks_are_named():
    with pytest.raises(SchemeMismatch, match=r"index here .* new \(none there, 1 here\)"):
        Scheme({"a": "1", "new": "1"}).require(Scheme({"a": "1"}), "here")
    with pytest.raises(SchemeMismatch, match=r"old \(1 there, none here\)"):
        Scheme({"a": "1"}).require(Scheme({"a": "1", "old": "1"}), "here")


def test_a_dictionary_that_is_not_installed_by_name_has_no_version(monkeypatch):
    def absent(name):
        raise records.PackageNotFoundError(name)

    monkeypatch.setattr(records, "version", absent)
    monkeypatch.setattr(records, "_installed", records._installed.__wrapped__)  # no cache
    assert Scheme.of().parts["jieba"] == "unknown"
