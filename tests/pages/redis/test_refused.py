"""Indexes that cannot be opened: one clear sentence each, and nothing of others is touched."""

import json
import logging
import traceback

import pytest
from redis_servers import wait_until

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import SchemeMismatch, StoreAway, StoreError, StoreTooNew
from dedup_filter.pages.redis import SharedReader
from dedup_filter.pages.redis.records import FORMAT

SECRET = "s3cret-Wörd/+%"


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


def test_a_wrong_password_is_named_and_not_shown(start_redis, start_redis_cluster):
    server, cluster = start_redis(password=SECRET), start_redis_cluster(password=SECRET)
    here, there = f"{server.address}/0", cluster.nodes[0].address
    wrong = [f"redis://{given}{here}" for given in ("", "nobody:s3cret-wrong@", "nobody@")]
    for url in (*wrong, f"redis+cluster://:s3cret-wrong@{there}"):
        said = refusal(url, StoreError)
        assert "?name=pages: the server refuses the user or the password" in said
    for servers in (server, cluster):
        NearDuplicateFilter.open(servers.url).close()


def test_nobody_at_the_address(start_redis):
    server = start_redis()
    url = server.url
    server.stop()
    for each in (url, url.replace("redis://", "redis+cluster://").removesuffix("/0")):
        said = refusal(each.replace("://", "://:s3cret@"), StoreAway)
        assert f"the shared index {each.removesuffix('/0')}" in said
        assert "cannot be reached" in said


def test_a_server_that_is_no_cluster(redis_server):
    said = refusal(f"redis+cluster://{redis_server.address}", StoreAway)
    assert "luster" in said


def test_a_node_of_a_cluster_is_not_a_server_by_itself(redis_cluster):
    owner = redis_cluster.master_of("dedup:{pages}:length")
    other = next(node for node in redis_cluster.masters() if node is not owner)
    said = refusal(other.url, StoreError)
    assert said.endswith("is a node of a cluster: its location begins with redis+cluster://")


def test_a_replica_takes_no_writes(start_redis):
    server = start_redis()
    replica = start_redis(settings={"replicaof": f"127.0.0.1 {server.port}"})
    wait_until(lambda: replica.ask("INFO", "replication")["master_link_status"] == "up", "it")
    assert "takes no writes" in refusal(replica.url, StoreAway)


def test_a_server_without_memory_takes_no_writes(start_redis):
    server = start_redis(maxmemory="100kb", settings={"maxmemory-policy": "noeviction"})
    said = refusal(server.url, StoreAway)
    assert "takes no writes, at present: the server has no memory left: raise its maxmemory" in said
    assert "max_pages or expire_days" in said
    assert server.client().dbsize() == 0


@pytest.mark.parametrize(
    "put", [["SET", "theirs"], ["RPUSH", "theirs"], ["HSET", "theirs", "1"], ["SADD", "theirs"]]
)
@pytest.mark.parametrize(
    "name", ["meta", "length", "flight", "processes", "options", "totals", "crawls", "log:0"]
)
def test_keys_of_another_application_are_not_touched(servers, name, put):
    client, key = servers.client(), f"dedup:{{pages}}:{name}"
    client.execute_command(put[0], key, *put[1:])
    before = client.dump(key)
    said = refusal(servers.url, ConfigError)
    assert "other keys are there under dedup:{pages}; choose another name (?name=...)" in said
    assert client.dump(key) == before
    assert list(client.scan_iter()) == [key.encode()]
    NearDuplicateFilter.open(f"{servers.url}?name=mine").close()
    assert client.dump(key) == before


def test_an_index_of_another_scheme_says_what_differs(redis_server):
    NearDuplicateFilter.open(redis_server.url).close()
    said = refusal(redis_server.url, SchemeMismatch, features="shingles", shingle_size=5)
    assert "features (content there, shingles here)" in said
    assert "shingle_size" in said
    assert said.endswith("go back to what it was made with, or choose another name (?name=...)")
    NearDuplicateFilter.open(redis_server.url).close()


@pytest.mark.parametrize("scheme", ["", "{", "[1]", "\udcff"])
def test_an_index_with_a_damaged_scheme_is_refused(redis_server, scheme):
    NearDuplicateFilter.open(redis_server.url).close()
    client = redis_server.client()
    client.hset("dedup:{pages}:meta", "scheme", scheme.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreError, match="damaged"):
        NearDuplicateFilter.open(redis_server.url)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(FORMAT + 1, StoreTooNew), (FORMAT - 1, ConfigError), ("two", ConfigError)],
)
def test_an_index_of_another_format_is_refused_whatever_its_scheme(redis_server, number, kind):
    """That of format 1 was made with sketches of another kind; nothing in it is changed."""
    NearDuplicateFilter.open(redis_server.url).close()
    client, meta = redis_server.client(), "dedup:{pages}:meta"
    older = {**json.loads(client.hget(meta, "scheme")), "sketch": "minhash 256"}
    client.hset(meta, mapping={"format": number, "scheme": json.dumps(older)})
    before = {key: client.dump(key) for key in client.scan_iter()}
    said = refusal(redis_server.url, kind)
    if number == "two":
        assert "other keys are there" in said
    else:
        assert f"is of format {number}, and this version reads {FORMAT}" in said
    assert said.endswith("choose another name (?name=...)")
    with pytest.raises(kind), SharedReader.open(redis_server.url):
        pass
    assert {key: client.dump(key) for key in client.scan_iter()} == before


@pytest.mark.parametrize(
    ("policy", "maxmemory", "days", "is_warned"),
    [
        ("allkeys-lru", "64mb", None, True),
        ("volatile-lru", "64mb", 3, True),
        ("volatile-lru", "64mb", None, True),  # what is told of frames
        ("allkeys-lru", "0", None, False),
        ("noeviction", "64mb", 3, False),
    ],
)
def test_a_server_that_deletes_keys_is_warned_of_once(
    start_redis, caplog, policy, maxmemory, days, is_warned
):
    server = start_redis(maxmemory=maxmemory, settings={"maxmemory-policy": policy})
    with NearDuplicateFilter.open(server.url, expire_days=days) as pages:
        pages.see("http://a.example", text="one two three " * 20)
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert len(warnings) == is_warned
    assert all(f"maxmemory-policy {policy}" in each for each in warnings)


def test_settings_that_may_not_be_read_are_no_reason_to_stop(redis_server, caplog):
    client = redis_server.client()
    client.acl_setuser(
        "crawler", enabled=True, nopass=True, keys="*", commands=["+@all", "-info", "-config"]
    )
    NearDuplicateFilter.open(f"redis://crawler:any@{redis_server.address}").close()
    client.acl_deluser("crawler")
    assert not [each for each in caplog.records if each.levelno == logging.WARNING]


def test_options_of_the_client_that_there_are_not(redis_server):
    said = refusal(f"{redis_server.url}?no_such_option=1", ConfigError)
    assert said.startswith("location: ")
    assert "no_such_option" in said


@pytest.mark.parametrize(
    "option", ["read_from_replicas=1", "decode_responses=true", "retry_on_timeout=true", "db=1"]
)
def test_options_of_the_client_that_break_the_index(servers, option):
    said = refusal(f"{servers.url}?{option}", ConfigError)
    assert said.startswith(f"location: {option.partition('=')[0]} cannot be chosen")


def test_an_opening_that_fails_after_it_joined_leaves_no_process(redis_server):
    client, log = redis_server.client(), "dedup:{pages}:log:0"
    with NearDuplicateFilter.open(redis_server.url) as pages:
        pages.see("http://a.example", text="one two three " * 20)
    client.rename(log, "aside")
    client.rpush(log, "theirs")
    refusal(redis_server.url, StoreError)
    assert client.zcard("dedup:{pages}:processes") == client.hlen("dedup:{pages}:options") == 0
    client.rename("aside", log)
    NearDuplicateFilter.open(redis_server.url, scope="host").close()
