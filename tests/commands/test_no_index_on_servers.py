"""`dedup-filter index ...` where no shared index is, or none that can be read."""

import json
import re

import pytest
from command_line import run
from redis_servers import RedisServer

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep.export_lines import FORMAT, HEADER_KEY

COMMANDS = [
    ["stats"],
    ["check"],
    ["export"],
    ["forget", "https://example.com/"],
    ["compact"],
]
IMPORT = ["import"]
EXPORT = json.dumps({HEADER_KEY: FORMAT, "scheme": {}, "crawls": []}) + "\n"


def refused(command, location, text=""):
    """What a command says that is refused, in one line on standard error."""
    ended, out, err = run("index", command[0], location, *command[1:], text=text)
    assert (ended, out) == (2, "")
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", err)
    return err


def contents(client):
    return {key: client.dump(key) for key in client.keys("*")}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
class TestWhatIsNoIndex:
    def test_nothing_at_all(self, redis_server, command):
        assert "there is no index at" in refused(command, redis_server.url)
        assert contents(redis_server.client()) == {}

    def test_keys_of_others(self, redis_server, command):
        client = redis_server.client()
        client.hset("dedup:{pages}:meta", "theirs", "1")
        before = contents(client)
        assert "other keys are there" in refused(command, redis_server.url)
        assert contents(client) == before


def test_an_index_of_a_newer_format(redis_server):
    NearDuplicateFilter.open(redis_server.url).close()
    client = redis_server.client()
    client.hset("dedup:{pages}:meta", "format", 99)
    before = contents(client)
    for command in (["compact"], IMPORT):
        assert "format 99" in refused(command, redis_server.url, EXPORT)
    assert contents(client) == before


def test_an_index_of_another_name(servers):
    servers.seeded("index")
    assert "?name=other" in refused(["stats"], servers.new("other"))


@pytest.mark.parametrize("command", [["stats"], IMPORT], ids=" ".join)
class TestServersThatDoNotAnswer:
    def test_a_wrong_password(self, start_redis, command):
        server = start_redis(password="sesame")
        said = refused(command, server.url.replace("sesame", "closed"), EXPORT)
        assert "refuses the user or the password" in said
        assert "closed" not in said

    def test_nobody(self, command, unused_port):
        said = refused(command, f"redis://:secret@127.0.0.1:{unused_port}/0", EXPORT)
        assert "cannot be reached" in said
        assert "secret" not in said


@pytest.fixture
def unused_port():
    with RedisServer() as server:
        return server.port


@pytest.mark.parametrize("options", [[], ["--fresh"]], ids=" ".join)
def test_a_shared_index_cannot_be_migrated(options):
    said = refused(["migrate", *options], "redis://:secret@127.0.0.1:9/0")
    assert "no texts are kept on servers" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "location", ["redis://:secret@host:port/0", "redis+cluster://:secret@a,b/1", "rdis://:secret@a"]
)
def test_a_wrong_address_is_refused_without_its_password(location):
    said = refused(["stats"], location)
    assert "location" in said
    assert "secret" not in said


def test_an_import_touches_no_keys_of_others(redis_server):
    client = redis_server.client()
    client.set("dedup:{pages}:length", "theirs")
    before = contents(client)
    for text in (EXPORT, '{"url": "https://example.com/", "text": "short"}'):
        assert "other keys are there" in refused(IMPORT, redis_server.url, text)
    assert contents(client) == before


def test_an_import_of_another_scheme_changes_nothing(servers):
    location = servers.seeded()
    before = run("index", "export", location)
    assert "made in another way" in refused(IMPORT, location, EXPORT)
    assert run("index", "export", location) == before


def test_no_output_has_the_password_in_it(start_redis):
    server = start_redis(password="geheim")
    NearDuplicateFilter.open(server.url).close()
    for command in (*COMMANDS, IMPORT, ["stats", "--json"], ["migrate"]):
        assert "geheim" not in "".join(run("index", command[0], server.url, *command[1:])[1:])
