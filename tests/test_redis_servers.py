"""The Redis servers that other tests lean on."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis_nodes import SLOTS
from redis_servers import RedisServer, wait_until

NO_RETRY = Retry(NoBackoff(), 0)
needs_redis = pytest.mark.usefixtures("_redis_program")
A_TEST_WITH_SERVER = f"{__file__}::test_server_when_started_answers_on_loopback_only"


def test_server_when_started_answers_on_loopback_only(start_redis):
    server = start_redis()
    client = server.client()
    assert client.info("server")["process_id"] == server.pid
    assert client.config_get("bind") == {"bind": "127.0.0.1"}
    assert server.port != 6379


def test_url_of_server_with_password_opens_it(start_redis):
    server = start_redis(password="p@ss: wörd")
    with redis.Redis.from_url(server.url) as client:
        assert client.ping()
    with (
        redis.Redis("127.0.0.1", server.port, retry=NO_RETRY) as stranger,
        pytest.raises(redis.AuthenticationError),
    ):
        stranger.ping()


def test_server_with_little_memory_when_full_refuses_writes(start_redis):
    client = start_redis(maxmemory="8mb").client()

    def fill():
        for number in range(1000):
            client.set(f"key{number}", bytes(100_000))

    with pytest.raises(redis.ResponseError, match="maxmemory"):
        fill()
    assert client.dbsize()


def test_settings_when_given_reach_the_server(start_redis):
    master = start_redis()
    replica = start_redis(settings={"replicaof": f"127.0.0.1 {master.port}"})
    with pytest.raises(redis.ReadOnlyError):
        replica.client().set("key", "value")


def test_server_when_killed_and_started_is_empty_at_the_same_address(start_redis):
    server = start_redis()
    client = server.client(retry=NO_RETRY)
    client.set("key", "value")
    before = server.address, server.pid
    server.kill()
    assert not server.running
    with pytest.raises(redis.ConnectionError):
        client.ping()
    server.start()
    assert server.address == before[0]
    assert server.pid != before[1]
    assert client.dbsize() == 0


def test_durable_server_when_killed_keeps_acknowledged_writes(start_redis):
    server = start_redis(durable=True)
    server.client().set("key", "value")
    server.kill()
    assert server.start().client().get("key") == b"value"
    assert server.restart().client().get("key") == b"value"


def test_paused_server_answers_only_when_resumed(start_redis):
    server = start_redis()
    client = server.client(socket_timeout=0.1, retry=NO_RETRY)
    server.pause()
    assert server.running
    assert not server.awake
    with pytest.raises(redis.TimeoutError):
        client.ping()
    server.resume()
    assert server.ask("PING")


@needs_redis
def test_paused_server_when_closed_ends():
    with RedisServer() as server:
        server.pause()
    assert not server.running


@needs_redis
def test_server_when_its_test_fails_ends_and_leaves_nothing():
    with pytest.raises(ZeroDivisionError), RedisServer() as server:
        raise ZeroDivisionError
    assert not server.running
    assert not server.directory.exists()


def test_server_that_cannot_start_says_why(start_redis):
    with pytest.raises(RuntimeError, match="no-such-setting"):
        start_redis(settings={"no-such-setting": "1"})


def test_servers_started_together_have_ports_of_their_own(start_redis):
    servers = [start_redis() for _ in range(5)]
    assert len({server.port for server in servers}) == 5


def test_port_of_a_server_that_is_down_is_not_given_to_another(start_redis, monkeypatch):
    down = start_redis()
    down.kill()
    monkeypatch.setattr("redis_servers.PORTS", [down.port] * 20)
    with pytest.raises(RuntimeError, match="does not start"):
        start_redis()
    assert down.start().ask("PING")


@needs_redis
@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed")
def test_server_when_its_parent_is_killed_ends(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from redis_servers import RedisServer;"
        "server = RedisServer(Path(sys.argv[1])).start();"
        "print(server.port, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    folder = Path(__file__).parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) as parent:
        port = int(parent.stdout.readline())
        with redis.Redis("127.0.0.1", port, retry=NO_RETRY) as client:
            assert client.ping()
            parent.send_signal(signal.SIGKILL)

            def gone():
                try:
                    return not client.ping()
                except redis.RedisError:
                    return True

            wait_until(gone, "the end of the server")


def test_shared_server_is_emptied_between_tests(redis_server):
    assert redis_server.client().dbsize() == 0
    redis_server.client().set("key", "value")


test_shared_server_is_emptied_again = test_shared_server_is_emptied_between_tests


def test_shared_cluster_answers_on_all_slots(redis_cluster):
    client = redis_cluster.client()
    keys = {}
    number = 0
    while len(keys) < SLOTS:
        keys[client.keyslot(number)] = number
        number += 1
    with client.pipeline() as pipe:
        for key in keys.values():
            pipe.set(key, key)
        assert all(pipe.execute())
    sizes = [master.client().dbsize() for master in redis_cluster.masters()]
    assert sum(sizes) == SLOTS
    assert len(sizes) == 3


def test_shared_cluster_is_emptied_between_tests(redis_cluster):
    assert redis_cluster.client().dbsize() == 0


def test_master_of_a_key_holds_it(redis_cluster):
    redis_cluster.client().set("key", "value")
    assert redis_cluster.master_of("key").client().exists("key")


def test_cluster_without_replicas_when_a_node_died_recovers(start_redis_cluster):
    cluster = start_redis_cluster(durable=True)
    client = cluster.client()
    client.set("key", "value")
    cluster.master_of("key").kill()
    cluster.recover()
    assert client.get("key") == b"value"


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_replica_when_its_master_is_lost_takes_over(start_redis_cluster, fault):
    cluster = start_redis_cluster(replicas=True, timeout_ms=1000, password="secret word")
    cluster.client().set("key", "value")
    master = cluster.master_of("key")
    replica = cluster.replica_of(master)
    # Replication is asynchronous: a write may be lost with its master unless it was waited for.
    wait_until(lambda: replica.ask("DBSIZE") == 1, "the replica's copy")
    getattr(master, fault)()
    assert cluster.wait_failover(master) is replica
    assert cluster.client().get("key") == b"value"
    cluster.recover()
    assert cluster.replica_of(replica) is master
    assert cluster.master_of("key") is replica


@pytest.mark.parametrize(("ci", "code", "word"), [("", 0, "SKIPPED"), ("true", 1, "ERROR")])
def test_suite_without_servers_skips_at_home_and_fails_in_ci(tmp_path, ci, code, word):
    options = ["-n0", "--assert=plain", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, A_TEST_WITH_SERVER]
    environment = os.environ | {"PATH": str(tmp_path), "CI": ci}
    done = subprocess.run(
        command,
        cwd=Path(__file__).parent.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    reasons = [line for line in done.stdout.splitlines() if line.startswith(word)]
    assert done.returncode == code
    assert len(reasons) == 1
    assert "redis-server is not on PATH" in done.stdout
