"""`dedup-filter find` and `bits fingerprint`."""

import json

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS
from web_site import served

from dedup_filter import NearDuplicateFilter, fingerprint, hamming_distance

FIRST = ITEMS[0]
REPEAT = next(n for n, item in enumerate(ITEMS) if n and item["text"][:40] == FIRST["text"][:40])


def as_file(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_what_is_like_a_file(place, tmp_path):
    index = place.seeded()
    path = as_file(tmp_path, "page.txt", ITEMS[REPEAT]["text"])
    (found,) = lines("find", index, path, "--json")
    near = found["near"][0]
    assert found["fingerprint"] == f"{fingerprint(ITEMS[REPEAT]['text']):#018x}"
    assert near["url"] == FIRST["url"]
    assert near["distance"] == hamming_distance(
        fingerprint(FIRST["text"]), fingerprint(ITEMS[REPEAT]["text"])
    )
    assert 0.8 < near["similarity"] <= 1
    code, out, _ = run("find", index, path)
    assert code == 0
    assert FIRST["url"] in out
    assert f"{near['distance']:2} bits" in out


def test_a_page_of_the_index_is_looked_up_as_recorded(place):
    """Its host does not exist, so it cannot have been fetched; it is not like itself."""
    code, out, err = run("find", place.seeded(), FIRST["url"], "--json", "--max-distance", "64")
    assert (code, err) == (0, "")
    near = json.loads(out)["near"]
    assert FIRST["url"] not in [each["url"] for each in near]
    assert len(near) == 19
    assert [each["distance"] for each in near] == sorted(each["distance"] for each in near)


def test_a_fingerprint_and_a_page_from_the_web(index, tmp_path):
    value = fingerprint(FIRST["text"])
    with served() as site:
        site.add("/copy", FIRST["text"], "text/plain")
        asked = [f"{value:#x}", site.urls("/copy")[0], "-"]
        found = lines("find", str(index), *asked, "--json", text=FIRST["text"])
    assert [each["asked"] for each in found] == asked
    assert [each["near"][0]["url"] for each in found] == [FIRST["url"]] * 3
    assert [each["near"][0]["similarity"] for each in found] == [None, 1, 1]


def test_nothing_is_changed_and_a_writer_may_be_at_work(index):
    with NearDuplicateFilter.open(index) as writer:
        pending = writer.claim("http://new.example/", text=FIRST["text"] + " And more was said.")
        size = len(writer)
        (found,) = lines("find", str(index), FIRST["url"], "--json", "--max-distance", "64")
        assert "http://new.example/" not in [each["url"] for each in found["near"]]
        writer.release(pending)
        assert len(writer) == size


def test_nothing_near_is_exit_code_1(index, tmp_path):
    far = as_file(tmp_path, "far.txt", "Entirely other words that nobody has ever used here. " * 9)
    code, out, err = run("find", str(index), far)
    assert (code, err) == (1, "")
    assert "no kept page within 12 bits" in out
    short = as_file(tmp_path, "short.txt", "Too short")
    assert run("find", str(index), short)[0] == 1


def test_no_index_and_other_fingerprints(index, tmp_path):
    path = as_file(tmp_path, "page.txt", FIRST["text"])
    assert "no index" in refused("find", str(tmp_path / "none"), path)
    assert "another way" in refused("find", str(index), path, "--set", "features=shingles")
    assert "unknown option" in refused("find", str(index), path, "--set", "feature=shingles")
    assert "standard input" in refused("find", str(index), "-", "-")


def test_hostile_urls_cannot_harm_a_terminal(tmp_path):
    index, url = tmp_path / "index", "http://a.example/\x1b[31m\u202e" + "x" * 10_000
    with NearDuplicateFilter.open(index) as kept:
        kept.see(url, text=FIRST["text"])
    _, out, _ = run("find", str(index), f"{fingerprint(FIRST['text']):#x}")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\u202e" in out


def test_fingerprint_of_pages(tmp_path):
    text = as_file(tmp_path, "a.txt", FIRST["text"])
    html = as_file(tmp_path, "a.html", f"<html><body><p>{FIRST['text']}")
    code, out, err = run("bits", "fingerprint", text, html, "-", text=FIRST["text"])
    assert (code, err) == (0, "")
    assert out.split() == [f"{fingerprint(FIRST['text']):#018x}"] * 3
    (found,) = lines("bits", "fingerprint", text, "--set", "features=shingles", "--json")
    wanted = fingerprint(FIRST["text"], features="shingles")
    assert found == {"asked": text, "fingerprint": f"{wanted:#018x}", "reason": None}


def test_page_without_fingerprint_gets_an_empty_line(tmp_path):
    short = as_file(tmp_path, "short.txt", "Too short")
    code, out, err = run("bits", "fingerprint", short, "-", text=FIRST["text"])
    assert code == 1
    assert out.splitlines() == ["", f"{fingerprint(FIRST['text']):#018x}"]
    assert "too_short" in err
    binary = tmp_path / "program"
    binary.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)
    code, out, err = run("bits", "fingerprint", str(binary))
    assert (code, out, "binary" in err) == (1, "\n", True)
    stopwords = as_file(tmp_path, "stopwords.txt", "it is not that of the " * 9)
    assert run("bits", "fingerprint", stopwords)[:2] == (1, "\n")
    _, out, _ = run("bits", "fingerprint", stopwords, "--json")
    assert json.loads(out) == {"asked": stopwords, "fingerprint": None, "reason": "too_short"}


@pytest.fixture
def one_host(tmp_path):
    """An index of a host whose second page has the text of the first and a line of its own.

    What the first page has shown is left out of the second one's text, and of its fingerprint.
    """
    index, text = tmp_path / "index", "".join(f"<p>{line}" for line in FIRST["text"].split(". "))
    menu = "".join(f"<li><a href=/{n}>Part {n}</a>" for n in range(5))
    page = f"<html><body><ul>{menu}</ul><h1>Ships</h1>{text}{{}}"
    more = "Only this page tells of the storm in which the lighthouse lost its lamp at night."
    with NearDuplicateFilter.open(index, keep_text=True) as kept:
        kept.see("http://a.example/1", html=page.format(""))
        verdict = kept.see("http://a.example/2", html=page.format(f"<p>{more} {more.upper()}"))
        dropped = kept.see("http://a.example/3", html=page.format(""))
    assert (verdict.outcome, dropped.is_duplicate) == ("new", True)
    return index


def test_a_recorded_page_is_found_by_all_of_its_texts(one_host):
    (found,) = lines("find", str(one_host), "http://a.example/2", "--json")
    assert [near["url"] for near in found["near"]] == ["http://a.example/1"]


def test_a_page_that_shares_phrases_is_found_beyond_the_distance(place, tmp_path, article):
    paragraphs = [article(number, words=60) for number in range(8)]
    index = place.new("stories")
    with NearDuplicateFilter.open(index) as pages:
        pages.see("http://a.example/", text="\n\n".join(paragraphs))
    path = as_file(tmp_path, "part.txt", "\n\n".join(paragraphs[2:5]))
    asked = ["find", index, path, "--url"]
    (found,) = lines(*asked, "http://b.example/", "--json")
    [near] = found["near"]
    assert (near["url"], near["source"]) == ("http://a.example/", "shared_phrases")
    assert near["distance"] > 12
    code, out, _ = run(*asked, "http://b.example/")
    assert code == 0
    assert "http://a.example/  (shared phrases)" in out
    for option in "shared_phrases=False", "min_similarity=none", "scope=host":
        assert run(*asked, "http://b.example/", "--set", option)[0] == 1
    (found,) = lines(*asked, "http://a.example/2", "--json", "--set", "scope=host")
    assert [(each["url"], each["source"]) for each in found["near"]] == [
        ("http://a.example/", "shared_phrases")
    ]
