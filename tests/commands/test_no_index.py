"""`dedup-filter index ...` where there is no index, or none that can be read."""

import json
import os
import re

import pytest
from command_line import run
from index_feed import contents, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep.lines import FORMAT, HEADER_KEY

COMMANDS = [
    ["stats"],
    ["check"],
    ["export"],
    ["forget", "https://example.com/"],
    ["compact"],
]
MIGRATE = ["migrate", "-o", "features=words"]
FRESH = ["migrate", "--fresh"]
IMPORT = ["import"]
ITEM = '{"url": "https://example.com/", "text": "short"}'
EXPORT = json.dumps({HEADER_KEY: FORMAT, "scheme": {}, "crawls": []}) + "\n"


def refused(command, location, text=""):
    """What a command says that is refused, in one line and without control characters."""
    code, out, err = run("index", command[0], str(location), *command[1:], text=text)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", err)
    return err


def keys_of(client):
    return {key: client.dump(key) for key in client.keys("*")}


@pytest.mark.parametrize("command", [*COMMANDS, MIGRATE, FRESH], ids=" ".join)
def test_a_folder_without_an_index(index, tmp_path, command):
    """Nothing is there, or an index in a folder of it, or something else."""
    assert "\\x1b[31m" in refused(command, tmp_path / "\x1b[31mnone")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert f"there is one in {index}" in refused(command, tmp_path)
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "letter.txt").write_text("Dear all")
    assert "there is no index at" in refused(command, tmp_path / "mail")
    assert contents(tmp_path / "mail") == {"letter.txt": b"Dear all"}


@pytest.mark.parametrize("command", [*COMMANDS, MIGRATE], ids=" ".join)
def test_a_directory_that_cannot_be_read(index, command):
    """`migrate --fresh` moves it away, whatever it is."""
    tamper(index, "PRAGMA user_version = 99")
    assert "format 99" in refused(command, index)
    (index / "pages.sqlite3").write_bytes(b"x" * 9000)
    if command == ["check"]:
        code, out, _ = run("index", "check", str(index), "--json")
        assert code == 1
        assert "SQLite database" in json.loads(out)["faults"][0]
    else:
        assert "SQLite database" in refused(command, index)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_the_right_to_write_can_be_read(index):
    index.chmod(0o555)
    try:
        assert run("index", "check", str(index))[0] == 0
        assert run("index", "forget", str(index), "https://none/")[0] == 2
    finally:
        index.chmod(0o755)


@pytest.mark.parametrize("command", [*COMMANDS, IMPORT], ids=" ".join)
def test_servers_without_an_index_or_with_a_newer_one(redis_server, command):
    client = redis_server.client()
    if command != IMPORT:
        assert "there is no index at" in refused(command, redis_server.url)
        assert keys_of(client) == {}
    client.hset("dedup:{pages}:meta", "theirs", "1")
    before = keys_of(client)
    for text in (EXPORT, ITEM):
        assert "other keys are there" in refused(command, redis_server.url, text)
    assert keys_of(client) == before
    redis_server.flush()
    NearDuplicateFilter.open(redis_server.url).close()
    client.hset("dedup:{pages}:meta", "format", 99)
    before = keys_of(client)
    assert "format 99" in refused(command, redis_server.url, EXPORT)
    assert keys_of(client) == before


def test_an_index_of_another_name(servers):
    servers.seeded("index")
    assert "?name=other" in refused(["stats"], servers.new("other"))


@pytest.mark.parametrize("command", [*COMMANDS, IMPORT], ids=" ".join)
def test_no_password_is_shown_whether_servers_answer_or_not(start_redis, command):
    server = start_redis(password="sesame")
    said = refused(command, server.url.replace("sesame", "closed"), EXPORT)
    assert "refuses the user or the password" in said
    assert "closed" not in said
    NearDuplicateFilter.open(server.url).close()
    assert "sesame" not in "".join(run("index", command[0], server.url, *command[1:])[1:])
    server.stop()
    said = refused(command, server.url, EXPORT)
    assert "cannot be reached" in said
    assert "sesame" not in said


@pytest.mark.parametrize("options", [[], ["--fresh"]], ids=" ".join)
def test_a_shared_index_cannot_be_migrated(options):
    said = refused(["migrate", *options], "redis://:secret@127.0.0.1:9/0")
    assert "no texts are kept on servers" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("memory:", "is not a folder"),
        ("redis://:secret@host:port/0", "location"),
        ("redis+cluster://:secret@a,b/1", "location"),
        ("rdis://:secret@a", "location"),
    ],
)
def test_a_wrong_location_is_refused_without_its_password(location, why):
    said = refused(["stats"], location)
    assert why in said
    assert "secret" not in said
