"""Inputs in a WACZ file, and on file systems of fsspec: what a scan of local files gives."""

import gzip
import io
import json
import sys
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import lines, refused, run, scanned
from gate import slow
from index_feed import article, item, write_jsonl
from killed_scan import scan_and_be_killed
from warc_samples import page, response

from dedup_filter.errors import ConfigError
from dedup_filter.scan.files import format_of, input_files, open_input
from dedup_filter.scan.scan import scan
from dedup_filter.scan.warc import read_warc
from dedup_filter.scan.work import Scan

MEMBERS = [response(f"http://a/{n}", f"<p>{article(n % 30)}".encode()) for n in range(40)]
FIRST, SECOND = b"".join(MEMBERS[:25]), b"".join(MEMBERS[25:])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wacz(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


WHOLE = {
    "pages/pages.jsonl": '{"format": "json-pages-1.0", "id": "pages"}\n',
    "archive/b.warc.gz": SECOND,
    "archive/a.warc.gz": FIRST,
    "indexes/index.cdx.gz": gzip.compress(b"com,example)/ 20260101000000 {}\n"),
    "datapackage.json": "{}",
}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_archives_of_a_wacz_file_are_scanned_in_the_order_of_their_names(here, compression):
    wacz(here / "a.wacz", WHOLE, compression)
    (here / "a.warc.gz").write_bytes(FIRST + SECOND)
    arguments = ["--duplicates", "d.jsonl", "--revisits", "--json"]
    (expected,) = lines("scan", "a.warc.gz", "-o", "u.warc.gz", *arguments)
    dropped = (here / "d.jsonl").read_text()
    (found,) = lines("scan", "a.wacz", "-o", "v.warc.gz", *arguments, "--force")
    assert found["outcomes"] == expected["outcomes"] == {"new": 30, "exact": 10}
    assert (here / "v.warc.gz").read_bytes() == (here / "u.warc.gz").read_bytes()
    for line, other in zip(
        (here / "d.jsonl").read_text().splitlines(), dropped.splitlines(), strict=True
    ):
        mark, wanted = json.loads(line), json.loads(other)
        assert mark["dedup"] == wanted["dedup"]
        # The name of the file opens it, also by fsspec.
        for opener in (open_input, fsspec.open):
            with opener(mark["file"]) as file:
                file.seek(mark["start"])
                member = gzip.decompress(file.read(mark["end"] - mark["start"]))
            assert mark["url"].encode() in member


@pytest.mark.parametrize("compression", [slow(zipfile.ZIP_STORED), zipfile.ZIP_DEFLATED])
def test_a_killed_scan_of_a_wacz_file_is_continued(tmp_path, compression):
    wacz(tmp_path / "a.wacz", WHOLE, compression)
    job = Scan([str(tmp_path / "a.wacz")], tmp_path / "u.warc.gz", options={"workers": 0})
    whole = replace(job, output=tmp_path / "whole.warc.gz")
    summary = scan(whole)
    assert scan_and_be_killed(job, 150)
    assert scan(job) == summary
    assert job.output.read_bytes() == whole.output.read_bytes()
    # Written anew, it is another input.
    other = replace(job, output=tmp_path / "other.warc.gz")
    assert scan_and_be_killed(other, 150)
    wacz(tmp_path / "a.wacz", {**WHOLE, "datapackage.json": "{ }"}, compression)
    with pytest.raises(ConfigError, match="with other inputs"):
        scan(other)


def without(*starts):
    return {name: each for name, each in WHOLE.items() if not name.startswith(starts)}


def test_a_wacz_file_may_lack_all_but_its_archives(here):
    wacz(here / "a.wacz", without("indexes", "pages", "datapackage"))
    found = scanned("a.wacz", "-o", "u.warc.gz")
    assert (found["pages"], found["bad"]) == (40, 0)
    wacz(here / "a.wacz", without("archive"))
    error = refused("scan", "a.wacz", "-o", "u.warc.gz", "--force")
    assert "a.wacz has no WARC file in its folder archive" in error


def test_of_a_wacz_file_that_is_cut_off_the_whole_records_are_read(here):
    content = wacz(here / "a.wacz", WHOLE).read_bytes()
    second = content.index(SECOND)  # it is the first in the file
    cut = second + sum(map(len, MEMBERS[25:30])) + 100
    (here / "a.wacz").write_bytes(content[:cut])
    code, _, err = run("scan", "a.wacz", "-o", "u.warc.gz")
    assert code == 2
    assert err.splitlines()[0] == "a.wacz is no whole ZIP file: records are looked for in its bytes"
    assert "a.wacz, byte 0: no WARC record begins here" in err
    assert (here / "u.warc.gz").read_bytes() == b"".join(MEMBERS[25:30])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive at all" * 999])
def test_what_is_no_wacz_file_has_no_pages(here, content):
    (here / "a.wacz").write_bytes(content)
    code, _, err = run("scan", "a.wacz", "-o", "u.warc.gz")
    assert (code, "no page is in the input" in err) == (2 if content else 0, True)
    assert (here / "u.warc.gz").read_bytes() == b""


def test_a_damaged_compressed_member_ends_where_its_damage_begins(here):
    path = wacz(here / "a.wacz", WHOLE, zipfile.ZIP_DEFLATED)
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        about = archive.getinfo("archive/a.warc.gz")
    middle = about.header_offset + about.compress_size // 2
    whole[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(whole)
    found = scanned("a.wacz", "-o", "u.warc.gz")
    assert 15 < found["pages"] < 40
    assert found["bad"] > 0


def test_an_encrypted_member_is_refused(here):
    path = wacz(here / "a.wacz", WHOLE)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    while at >= 0:  # the flag of encryption, of each member in the list
        content[at + 8] |= 1
        at = content.find(b"PK\x01\x02", at + 4)
    path.write_bytes(content)
    assert "password required" in refused("scan", "a.wacz", "-o", "u.warc.gz")


@pytest.fixture
def memory():
    """The file system of fsspec that is in memory, empty."""
    system = fsspec.filesystem("memory")
    if system.ls("/"):
        system.rm("/", recursive=True)
    return system


def outcomes(*arguments):
    (found,) = lines("scan", *arguments, "--force", "--json")
    return found["outcomes"]


def test_files_elsewhere_are_scanned_like_local_ones(here, memory):
    write_jsonl(here / "a.jsonl", [item(n % 20) for n in range(30)])
    (here / "b.jsonl.gz").write_bytes(gzip.compress((here / "a.jsonl").read_bytes()))
    wacz(here / "c.wacz", WHOLE)
    pq.write_table(pa.Table.from_pylist([item(n % 20) for n in range(30)]), "d.parquet")
    for path in here.iterdir():
        memory.pipe(f"/crawl/{path.name}", path.read_bytes())
    for name, output in [
        ("a.jsonl", "u.jsonl"),
        ("b.jsonl.gz", "u.jsonl"),
        ("c.wacz", "u.warc.gz"),
        ("d.parquet", "u.parquet"),
    ]:
        expected = outcomes(name, "-o", output)
        content = (here / output).read_bytes()
        for url in (
            f"memory://crawl/{name}",
            f"file://{here}/{name}",
            f"simplecache::memory://crawl/{name}",
        ):
            assert outcomes(url, "-o", output) == expected
            assert (here / output).read_bytes() == content


def test_patterns_and_folders_elsewhere_name_files(memory):
    for name in ("a.jsonl", "b.jsonl.gz", "notes.txt", "more/c.jsonl"):
        memory.pipe(f"/crawl/{name}", b"")
    assert input_files(["memory://crawl/*.jsonl*"]) == [
        "memory://crawl/a.jsonl",
        "memory://crawl/b.jsonl.gz",
    ]
    inside = ["memory://crawl/a.jsonl", "memory://crawl/b.jsonl.gz", "memory://crawl/more/c.jsonl"]
    assert input_files(["memory://crawl/"]) == inside
    assert input_files(["simplecache::memory://crawl/*/*"]) == [f"simplecache::{inside[2]}"]
    for missing in ("memory://crawl/none.jsonl", "memory://crawl/*.parquet", "memory://none/"):
        with pytest.raises(ConfigError, match=r"there is no file|cannot be read"):
            input_files([missing])


def test_the_format_of_a_file_elsewhere_is_of_its_own_name():
    assert format_of("https://a.example/b.JSONL.gz?key=x.parquet") == "lines"
    assert format_of("zip://archive/a.warc.gz::s3://b/c.zip") == "warc"
    assert format_of("simplecache::s3://b/c.parquet") == "parquet"
    assert format_of("https://a.example/") is None


def test_a_killed_scan_of_a_file_elsewhere_is_continued(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [item(n % 40) for n in range(60)])
    wacz(tmp_path / "a.zip", {"a.jsonl": (tmp_path / "a.jsonl").read_bytes()})
    for name in (f"zip://a.jsonl::{tmp_path}/a.zip", f"simplecache::file://{tmp_path}/a.jsonl"):
        job = Scan([name], tmp_path / "u.jsonl", options={"workers": 0}, force=True)
        assert scan_and_be_killed(job, 150)
        assert scan(job).outcomes == {"new": 40, "exact": 20}


class _Parts(SimpleHTTPRequestHandler):
    """Serves files, with ranges."""

    def send_head(self):
        wanted = self.headers.get("Range")
        file = super().send_head() if wanted is None else None
        if wanted is None:
            return file
        content = Path(self.translate_path(self.path)).read_bytes()
        start, _, end = wanted.removeprefix("bytes=").partition("-")
        part = content[int(start) : int(end or len(content)) + 1]
        self.send_response(206)
        self.send_header(
            "Content-Range", f"bytes {start}-{int(start) + len(part) - 1}/{len(content)}"
        )
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        return io.BytesIO(part)

    def log_message(self, *_):
        pass


class _Whole(_Parts):
    """Serves whole files only, whatever part is wanted."""

    def send_head(self):
        del self.headers["Range"]
        return super().send_head()


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """Say nothing of a client that reads no further."""


@contextmanager
def served(folder, handler):
    with _Server(("127.0.0.1", 0), partial(handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_files_of_a_web_server_are_scanned_if_it_serves_parts(here):
    pytest.importorskip("aiohttp")
    # They are longer than what is read at once.
    filler = {"raw": "x" * 700_000}
    write_jsonl(here / "a.jsonl", [item(n % 9, **filler) for n in range(12)])
    wacz(here / "b.wacz", {**WHOLE, "archive/0.warc": page(3) * 2_000})
    with served(here, _Parts) as url:
        assert outcomes(f"{url}/a.jsonl?key=1", "-o", "u.jsonl") == {"new": 9, "exact": 3}
        assert input_files([f"{url}/b.wacz"])[0] == f"zip://archive/0.warc::{url}/b.wacz"
        with open_input(f"zip://archive/b.warc.gz::{url}/b.wacz") as file:
            assert len([*read_warc(file, 10**6, len(MEMBERS[25]))]) == 14
        refusal = refused("scan", f"{url}/none.jsonl", "-o", "v.jsonl")
        assert "none.jsonl cannot be read: 404" in refusal
    with served(here, _Whole) as url:
        code, _, err = run("scan", f"{url}/a.jsonl", "-o", "v.jsonl")
    assert (code, len(err.splitlines())) == (1, 1)
    assert f"{url}/a.jsonl" in err


def test_files_are_fetched_through_the_proxy_of_the_environment(here, monkeypatch):
    pytest.importorskip("aiohttp")
    place = here / "http:" / "shop.invalid"  # a proxy is asked for the whole URL
    place.mkdir(parents=True)
    (place / "a.jsonl").write_text("proxied")
    (here / "a.jsonl").write_text("direct")
    with served(here, _Parts) as url:
        monkeypatch.setenv("http_proxy", url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        for name, text in (("http://shop.invalid", b"proxied"), (url, b"direct")):
            with open_input(f"{name}/a.jsonl") as file:
                assert file.read() == text


def test_what_is_missing_is_named(here, monkeypatch):
    assert "Protocol not known" in refused("scan", "nosuch://a/b.jsonl", "-o", "u.jsonl")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    assert "s3fs" in refused("scan", "s3://bucket/a.warc.gz", "-o", "u.warc.gz")
    for module in [name for name in sys.modules if name.startswith("fsspec")]:
        monkeypatch.setitem(sys.modules, module, None)
    error = refused("scan", "memory://a.jsonl", "-o", "u.jsonl")
    assert "needs another package: install dedup-filter with its extra 'remote'" in error
    assert list(here.iterdir()) == []


def test_a_field_within_a_list_is_no_field(here):
    pages = [{"url": item(n)["url"], "parts": [{"text": item(n)["text"]}]} for n in range(3)]
    write_jsonl(here / "a.jsonl", pages)
    for name in ("parts.text", "parts.0.text"):
        error = refused("scan", "a.jsonl", "-o", "u.jsonl", "--text-fields", name)
        assert f"has a field '{name}'; they have 'url', 'parts'" in error
    # A field that holds a list of objects is there, but is no text.
    error = refused("scan", "a.jsonl", "-o", "u.jsonl", "--text-fields", "parts")
    assert "no page is in a.jsonl (looked for: parts)" in error
    assert [path.name for path in here.iterdir()] == ["a.jsonl"]
