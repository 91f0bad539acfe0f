"""`dedup-filter index ...` where there is no index, or none that can be read."""

import json

import pytest
from command_line import refused, run
from index_feed import contents, tamper
from shared_crawlers import Past

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep.lines import FORMAT, HEADER_KEY

COMMANDS = ["stats", "stats --check", "export", "forget https://example.com/"]
EXPORT = json.dumps({HEADER_KEY: FORMAT, "scheme": {}, "crawls": []}) + "\n"


def run_at(location, command, text="", run=run):
    name, *options = command.split()
    return run("index", name, str(location), *options, text=text)


def refused_at(location, command, text=""):
    return run_at(location, command, text, refused)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_without_an_index(index, tmp_path, command):
    """Nothing is there, or an index in a folder of it, or something else."""
    assert "\\x1b[31m" in refused_at(tmp_path / "\x1b[31mnone", command)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert f"there is one in {index}" in refused_at(tmp_path, command)
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "letter.txt").write_text("Dear all")
    assert "there is no index at" in refused_at(tmp_path / "mail", command)
    assert contents(tmp_path / "mail") == {"letter.txt": b"Dear all"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_that_cannot_be_read(index, command):
    tamper(index, "PRAGMA user_version = 99")
    assert "format 99" in refused_at(index, command)
    (index / "pages.sqlite3").write_bytes(b"x" * 9000)
    code, out, err = run_at(index, command)
    assert code == (1 if command == "stats --check" else 2)
    assert "SQLite database" in out + err


@pytest.mark.parametrize("command", [*COMMANDS, "import"])
def test_servers_without_an_index_or_with_a_newer_one(redis_server, command):
    client = redis_server.client()
    if command != "import":
        assert "there is no index at" in refused_at(redis_server.url, command)
        assert Past(client).keys == {}
    client.hset("dedup:{pages}:meta", "theirs", "1")
    before = Past(client).keys
    assert "other keys are there" in refused_at(redis_server.url, command, EXPORT)
    assert Past(client).keys == before
    redis_server.flush()
    NearDuplicateFilter.open(redis_server.url).close()
    client.hset("dedup:{pages}:meta", "format", 99)
    before = Past(client).keys
    assert "format 99" in refused_at(redis_server.url, command, EXPORT)
    assert Past(client).keys == before


def test_an_index_of_another_name(servers):
    servers.seeded("index")
    assert "?name=other" in refused_at(servers.new("other"), "stats")


def test_no_password_is_shown_whether_servers_answer_or_not(start_redis):
    server, commands = start_redis(password="sesame"), [*COMMANDS, "import"]
    for command in commands:
        said = refused_at(server.url.replace("sesame", "closed"), command, EXPORT)
        assert "refuses the user or the password" in said
        assert "closed" not in said
    NearDuplicateFilter.open(server.url).close()
    assert not any("sesame" in "".join(run_at(server.url, each)[1:]) for each in commands)
    server.kill()
    for command in commands:
        said = refused_at(server.url, command, EXPORT)
        assert "cannot be reached" in said
        assert "sesame" not in said


@pytest.mark.parametrize(
    ("location", "command", "why"),
    [
        ("memory:", "stats", "is not a folder"),
        ("redis://:secret@host:port/0", "stats", "location"),
    ],
)
def test_a_location_that_cannot_be_meant_is_refused_without_its_password(location, command, why):
    said = refused_at(location, command)
    assert why in said
    assert "secret" not in said
