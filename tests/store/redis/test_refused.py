"""Indexes that cannot be opened: one clear sentence each, and nothing of others is touched."""

import json
import logging
import traceback

import pytest
from patience import wait_until
from shared_crawlers import Past

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import SchemeMismatch, StoreAway, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.shared_judge import SharedJudge
from dedup_filter.store.redis.records import FORMAT
from dedup_filter.upkeep.servers import RecordedServers

SECRET = "s3cret-Wörd/+%"
META = "dedup:{pages}:meta"


def refusal(url, kind, **options):
    """Return what is said, after a look at everything that is shown of it."""
    with pytest.raises(kind) as refused:
        NearDuplicateFilter.open(url, **options)
    error = refused.value
    assert type(error) is kind
    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert "s3c" not in shown
    assert "\n" not in str(error)
    return str(error)


@pytest.fixture(autouse=True)
def no_password_in_the_log(caplog):
    caplog.set_level(logging.DEBUG)
    yield
    assert "s3c" not in caplog.text


def test_a_wrong_password_is_named_and_not_shown(start_redis, redis_cluster):
    server = start_redis(password=SECRET)
    logins = ("", "nobody:s3cret-wrong@", "nobody@")
    wrong = [f"redis://{login}{server.address}/0" for login in logins]
    for url in (*wrong, redis_cluster.url.replace("//", "//nobody:s3cret-wrong@")):
        said = refusal(url, StoreError)
        assert "?name=pages: the server refuses the user or the password" in said
    NearDuplicateFilter.open(server.url).close()


def test_nobody_at_the_address(start_redis):
    server = start_redis()
    server.kill()
    url = server.url
    for each in (url, url.replace("redis://", "redis+cluster://").removesuffix("/0")):
        said = refusal(each.replace("://", "://:s3cret@"), StoreAway)
        assert f"the shared index {each.removesuffix('/0')}" in said
        assert "cannot be reached" in said


def test_a_server_that_is_no_cluster_and_a_node_of_one(redis_server, redis_cluster):
    assert "luster" in refusal(f"redis+cluster://{redis_server.address}", StoreAway)
    owner = redis_cluster.master_of("dedup:{pages}:meta")
    other = next(node for node in redis_cluster.masters() if node is not owner)
    said = refusal(other.url, StoreError)
    assert said.endswith("is a node of a cluster: its location begins with redis+cluster://")


def test_a_server_that_takes_no_writes(start_redis):
    server = start_redis(settings={"maxmemory": "100kb", "maxmemory-policy": "noeviction"})
    said = refusal(server.url, StoreAway)
    assert "takes no writes, at present: the server has no memory left: raise its maxmemory" in said
    assert "max_pages or expire_days" in said
    assert server.client().dbsize() == 0
    replica = start_redis(settings={"replicaof": f"127.0.0.1 {server.port}"})
    wait_until(lambda: replica.ask("ROLE")[3] == b"connected", "a replica")
    assert "takes no writes" in refusal(replica.url, StoreAway)


@pytest.mark.parametrize(
    ("servers", "put"),
    [
        ("redis_server", ["SET"]),
        ("redis_server", ["RPUSH"]),
        ("redis_server", ["HSET", "theirs"]),
        ("redis_cluster", ["SET"]),
    ],
    indirect=["servers"],
)
def test_keys_of_another_application_are_not_touched(servers, put):
    client = servers.client()
    for name in "meta length processes totals crawls ids log:0".split():
        key = f"dedup:{{pages}}:{name}"
        client.execute_command(put[0], key, *put[1:], "theirs")
        before = Past(client).keys
        said = refusal(servers.url, ConfigError)
        assert "other keys are there under dedup:{pages}; choose another name (?name=...)" in said
        assert Past(client).keys == before
        NearDuplicateFilter.open(f"{servers.url}?name=mine").close()
        client.delete(key)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (FORMAT, SchemeMismatch, "shingle_size (5 there, 3 here), sketch (minhash 256 there, "),
        (FORMAT + 1, StoreTooNew, f"is of format {FORMAT + 1}, and this version of dedup-"),
        (
            FORMAT - 1,
            ConfigError,
            f"{FORMAT - 1}, and this version of dedup-filter reads format {FORMAT}: export it",
        ),
        ("two", ConfigError, "other keys are there"),
    ],
)
def test_an_index_of_another_scheme_or_format_is_refused_and_left_as_it_was(
    redis_server, number, kind, words
):
    client = redis_server.client()
    NearDuplicateFilter.open(redis_server.url).close()
    other = {"sketch": "minhash 256", "shingle_size": "5"}
    scheme = json.dumps(json.loads(client.hget(META, "scheme")) | other)
    client.hset(META, mapping={"format": number, "scheme": scheme})
    before = Past(client).keys
    said = refusal(redis_server.url, kind)
    assert words in said
    assert "another name (?name=...)" in said
    if kind is SchemeMismatch:
        assert "go back to what it was made with" in said
    else:
        with (
            pytest.raises(kind, match=r"is of format|other keys"),
            RecordedServers.open(redis_server.url),
        ):
            pass
    assert Past(client).keys == before


def test_an_index_with_a_damaged_scheme_is_refused(redis_server):
    NearDuplicateFilter.open(redis_server.url).close()
    for scheme in ("", "{", "[1]", b"\xff"):
        redis_server.client().hset(META, "scheme", scheme)
        assert "damaged" in refusal(redis_server.url, StoreCorrupt)


def test_a_server_that_deletes_keys_is_warned_of_once(start_redis, warnings):
    server = start_redis()
    for policy, maxmemory, days, is_warned in [
        ("allkeys-lru", "64mb", None, True),
        ("volatile-lru", "64mb", 3, True),
        ("volatile-lru", "64mb", None, True),  # what is told of frames
        ("allkeys-lru", "0", None, False),
        ("noeviction", "64mb", 3, False),
    ]:
        server.ask("CONFIG", "SET", "maxmemory", maxmemory, "maxmemory-policy", policy)
        with NearDuplicateFilter.open(server.url, expire_days=days) as pages:
            pages.see("http://a.example", text="one two three " * 20)
        said = warnings()
        assert len(said) == is_warned
        assert all(f"maxmemory-policy {policy}" in each for each in said)


def test_settings_that_may_not_be_read_are_no_reason_to_stop(redis_server, warnings):
    rights = "on", "nopass", "~*", "+@all", "-info", "-config"
    redis_server.ask("ACL", "SETUSER", "crawler", *rights)
    NearDuplicateFilter.open(f"redis://crawler:any@{redis_server.address}").close()
    redis_server.ask("ACL", "DELUSER", "crawler")
    assert not warnings()


def test_options_of_the_client_that_there_are_not_or_that_break_the_index(redis_server):
    said = refusal(f"{redis_server.url}?no_such_option=1", ConfigError)
    assert said.startswith("location: ")
    assert "no_such_option" in said
    for option in ("read_from_replicas", "decode_responses", "retry_on_timeout", "db"):
        said = refusal(f"{redis_server.url}?{option}=1", ConfigError)
        assert said.startswith(f"location: {option} cannot be chosen")


def test_an_opening_that_fails_after_it_joined_leaves_no_process(redis_server, monkeypatch):
    client = redis_server.client()

    def fail(*_):
        raise StoreError("no more calls")

    with monkeypatch.context() as patch:
        patch.setattr(SharedJudge, "_forget_beyond_bounds", fail)
        refusal(redis_server.url, StoreError)
    assert client.hlen("dedup:{pages}:processes") == 0
    NearDuplicateFilter.open(redis_server.url, scope="host").close()


@pytest.mark.parametrize("pages", ["0", "-5", "many", "1e13", "nan"])
def test_a_size_that_no_index_has(redis_server, pages):
    assert "pages is how many pages" in refusal(f"{redis_server.url}?pages={pages}", ConfigError)
    said = refusal(f"{redis_server.url}?tables={pages}5", ConfigError)
    assert said.startswith("location: tables is 3")


@pytest.mark.slow
def test_an_index_of_ten_times_the_pages_it_was_made_for_says_so_once(
    redis_server, warnings, article
):
    url = f"{redis_server.url}?pages=20"
    with NearDuplicateFilter.open(url) as pages:
        for number in range(520):
            pages.see("", text=f"{number} {article(number, words=30)}")
    (said,) = warnings()
    assert "it has room for 17 pages, and 256 pages were judged by now" in said, said
    assert "export it, and import it into one with ?pages=2560" in said
