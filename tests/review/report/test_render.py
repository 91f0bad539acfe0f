"""The file by itself: nothing in it asks for another, and what may run is named by its hash.

It is written over nothing but another report.
"""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest
from report_index import made_report

from dedup_filter.errors import ConfigError
from dedup_filter.review.report import require_free
from dedup_filter.review.report.render import BEGINNING, json_in_script
from dedup_filter.store.sqlite_store import SqliteStore

REPORT = BEGINNING.encode() + b"..."


@pytest.fixture(scope="module")
def html(report):
    return report.read_text("utf-8")


def data_of(html):
    return json.loads(html.partition('id="data">')[2].partition("</script>")[0])


def test_scripts_and_style_are_named_by_their_hashes_and_nothing_else_is(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert "unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    for name, contents in (("script-src", scripts), ("style-src", [style])):
        digests = [b64encode(sha256(each.encode()).digest()).decode() for each in contents]
        assert parts[name].split() == [f"'sha256-{digest}'" for digest in digests]
    assert len(scripts) == 1


def test_the_file_asks_for_no_other(html):
    frame = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"""(src|href|srcset|action)=|url\(|@import""", frame)
    assert "sourceMappingURL" not in html


def test_columns_say_what_the_records_say(html, index):
    data = data_of(html)
    pages, pairs = data["pages"], data["pairs"]
    with SqliteStore.open_to_read(index) as recorded:
        records = {record.page: record for record in recorded.records()}
    assert len(pairs["page"]) == sum(not record.is_kept for record in records.values())
    for at, number in enumerate(pages["number"]):
        record = records[number]
        assert pages["url"][at] == record.url
        assert data["hosts"][pages["host"][at]] == record.host
        assert pages["title"][at] == (record.h1 or record.title)
        bits = pages["fingerprint"][at]
        assert record.fingerprint == (None if bits is None else int(bits, 16))
    for at in range(len(pairs["page"])):
        record = records[pages["number"][pairs["page"][at]]]
        assert pages["number"][pairs["original"][at]] == record.original
        assert pairs["distance"][at] == record.distance
        assert pairs["similarity"][at] == pytest.approx(1_000 * record.similarity, abs=1)
        assert (pairs["similarity"][at] == 1_000) == (record.similarity == 1)
        assert data["kinds"][pairs["kind"][at]] == record.outcome


def test_a_report_without_data_is_small_and_a_duplicate_takes_little_room():
    empty, some = (len(made_report(count)) for count in (10, 10_010))
    assert empty < 100_000
    assert (some - empty) / 10_000 < 250


def test_a_report_is_replaced_only_where_that_is_asked_for(tmp_path):
    path = tmp_path / "r.html"
    require_free(path)
    path.write_bytes(REPORT)
    require_free(path, may_replace_report=True)
    with pytest.raises(ConfigError, match="exists and is not replaced"):
        require_free(path)


@pytest.mark.parametrize("content", [b"", b"<!doctype html>\n<p>mine", REPORT[1:], REPORT[:80]])
def test_a_file_of_somebody_else_is_never_replaced(tmp_path, content):
    path = tmp_path / "r.html"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no report of this program"):
        require_free(path, may_replace_report=True)


@pytest.mark.parametrize("name", ["none/r.html", "file/r.html", ".", "\0"])
def test_a_path_that_can_have_no_file_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        require_free(tmp_path / name)


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", "\ud800", "&amp;"])
def test_json_in_a_script_ends_nothing_and_means_the_same(text):
    written = json_in_script({text: [text]})
    assert written.isascii()
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}
