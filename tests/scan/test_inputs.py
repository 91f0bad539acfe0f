"""Files in any condition -> their records, against a reading that splits the bytes itself."""

import bz2
import gzip
import json
import lzma
import zlib

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.errors import ConfigError
from dedup_filter.scan import inputs, json_text
from dedup_filter.scan.files import input_files
from dedup_filter.scan.inputs import records_in
from dedup_filter.text.page_fields import FieldNames

NAMES = FieldNames("html", ("text",), "url")
ITEMS = [
    {"url": "http://a/1", "text": "one two"},
    {"url": " http://a/2 ", "html": "<p>three\n</p>", "text": "no"},
    {"text": "no URL", "more": [1, None, {"a": "\ud800"}]},
    {"url": 7, "text": ["a", "b"]},
    {"url": "http://a/3", "text": 5},
    {"url": "http://a/4"},
]
LINE = st.one_of(
    st.sampled_from([json.dumps(item).encode() for item in ITEMS]),
    st.sampled_from([b"", b" \t", b"\r", b"[1]", b"{", b'{"a": 1,}', b"\xff", b"null", b"{}{}"]),
    st.sampled_from([b"[" * 5000, b'{"a":' * 5000, b'{"text": ' + b"9" * 5000 + b"}"]),
    st.binary(max_size=12).map(lambda line: b"." + line.replace(b"\n", b"")),
)


def read_by_hand(content):
    """Return line number, position and meaning of each line that is not blank."""
    found, start = [], 0
    for number, line in enumerate(content.split(b"\n"), 1):
        end = min(start + len(line) + 1, len(content))
        if line.strip(b" \t\r\n\v\f"):
            try:
                item = json.loads(line)
            except (ValueError, RecursionError):
                item = None
            if isinstance(item, dict):
                url = item.get("url")
                found.append((start, end, number, url.strip() if isinstance(url, str) else ""))
            else:
                found.append((start, end, number, None))
        start = end
    return found


PACKED = {
    "": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


def compressed(content, kind, cuts):
    """Compress the parts of some bytes one by one."""
    ends = sorted({cut % (len(content) + 1) for cut in cuts} | {len(content)})
    pack = PACKED[kind]
    parts = zip([0, *ends], ends, strict=False)
    return b"".join(pack(content[start:end]) for start, end in parts)


def records(path, start=0, number=1):
    return list(records_in(str(path), "lines", NAMES, start, number))


def essence(found):
    return [
        (each.start, each.end, each.number, None if each.problem else each.url) for each in found
    ]


@given(
    st.lists(LINE, max_size=12),
    st.booleans(),
    st.sampled_from([*PACKED]),
    st.lists(st.integers(0, 10**6), max_size=3),
)
def test_lines_are_read_however_they_are_compressed(tmp_path_factory, lines, ends, kind, cuts):
    content = b"\n".join(lines) + b"\n" * ends
    path = tmp_path_factory.getbasetemp() / "lines"
    packed = compressed(content, kind, cuts)
    path.write_bytes(packed)
    found = records(path)
    assert essence(found) == read_by_hand(content)
    for place, each in enumerate(found):
        rest = records(path, each.end, each.number + 1)
        assert [one._replace(passed=0) for one in rest] == [
            one._replace(passed=0) for one in found[place + 1 :]
        ]


@pytest.mark.parametrize("kind", [*PACKED][1:])
def test_a_compressed_file_that_is_cut_off_is_read_up_to_there(tmp_path, kind):
    lines = [json.dumps({"url": f"http://a/{n}", "text": f"{n * 7919} words"}) for n in range(300)]
    content = "".join(line + "\n" for line in lines).encode()
    packed = compressed(content, kind, [4000, 9000])
    path = tmp_path / "lines"
    whole = essence(read_by_hand_records(content))
    for cut in range(7, len(packed), 61):
        path.write_bytes(packed[:cut])
        *sound, last = records(path) or [None]
        if last is not None and last.problem:
            assert "cannot be read from here on: Compressed file ended" in last.problem
            assert essence(sound) == whole[: len(sound)]
        else:  # just between two members
            assert essence([*sound, last]) == whole[: len(sound) + 1]
    path.write_bytes(packed + b"garbage")
    found = [each for each in records(path) if not each.problem]
    assert essence(found) == whole


def test_all_lines_before_a_cut_are_read(tmp_path):
    content = "".join(
        json.dumps({"text": f"{n * 7919} words"}) + "\n" for n in range(9_000)
    ).encode()
    packed = gzip.compress(content)
    for cut in range(20_000, len(packed), 7_919):
        (tmp_path / "lines").write_bytes(packed[:cut])
        there = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(packed[:cut])
        *sound, last = records(tmp_path / "lines")
        assert len(sound) == there.count(b"\n")
        assert last.problem


def read_by_hand_records(content):
    return [
        inputs.Record(start, end, number, url, "error")
        for start, end, number, url in read_by_hand(content)
    ]


def test_damage_in_the_midst_ends_a_compressed_file(tmp_path):
    content = b'{"url": "http://a/", "text": "the same"}\n' * 1000
    first, second = gzip.compress(content), bytearray(gzip.compress(content))
    second[30:40] = b"\xff" * 10
    (tmp_path / "lines").write_bytes(first + second)
    *sound, last = records(tmp_path / "lines")
    assert len(sound) >= 1000
    assert not any(each.problem for each in sound)
    assert "cannot be read from here on: Error" in last.problem


def test_a_line_that_is_too_long_is_one_bad_record(tmp_path, monkeypatch):
    monkeypatch.setattr(json_text, "LONGEST_LINE", 50)
    good = b'{"url": "http://a/", "text": "short"}\n'
    for length in (49, 50, 51, 99, 100, 101, 1000):
        long = b'{"text": "' + b"x" * (length - 12) + b'"}'
        content = good + long + b"\n" + good + long + b"\n"
        (tmp_path / "lines").write_bytes(content)
        found = records(tmp_path / "lines")
        assert [each.start for each in found] == [0, 38, 39 + length, 77 + length]
        assert found[-1].end == len(content)
        is_long = length > 50
        assert [bool(each.problem) for each in found] == [False, is_long, False, is_long]


def test_files_are_those_in_folders_and_of_patterns_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "crawl"
    (folder / "more").mkdir(parents=True)
    for name in ("b.jsonl", "a.jsonl.gz", "more/c.jl", "notes.txt", "unique.jsonl.part"):
        (folder / name).touch()
    wanted = [str(folder / name) for name in ("a.jsonl.gz", "b.jsonl", "more/c.jl")]
    assert input_files([str(folder)]) == wanted
    assert input_files(["crawl"]) == [path.removeprefix(f"{tmp_path}/") for path in wanted]
    assert input_files(["crawl/**/*.j*l*"]) == sorted(
        [*input_files(["crawl"]), "crawl/unique.jsonl.part"]
    )
    assert input_files(["-", str(folder / "*.jsonl"), "crawl/notes.txt"]) == [
        "-",
        str(folder / "b.jsonl"),
        "crawl/notes.txt",
    ]
    for missing in ("none.jsonl", "crawl/*.parquet"):
        with pytest.raises(ConfigError, match="there is no file"):
            input_files([missing])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no file in empty"):
        input_files(["empty"])
