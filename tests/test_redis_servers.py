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
from redis_servers import RedisServer, wait_until

NO_RETRY = Retry(NoBackoff(), 0)
A_TEST_WITH_SERVER = f"{__file__}::test_a_server_answers_on_loopback_to_who_has_its_password"


def test_a_server_answers_on_loopback_to_who_has_its_password(start_redis):
    server = start_redis(password="p@ss: wörd")
    assert server.port != 6379
    assert server.client().config_get("bind") == {"bind": "127.0.0.1"}
    with redis.Redis.from_url(server.url) as client:
        assert client.info("server")["process_id"] == server.pid
    with (
        redis.Redis("127.0.0.1", server.port, retry=NO_RETRY) as stranger,
        pytest.raises(redis.AuthenticationError),
    ):
        stranger.ping()


def test_the_port_of_a_server_that_is_down_is_not_given_to_another(start_redis, monkeypatch):
    down = start_redis()
    down.kill()
    monkeypatch.setattr("redis_servers.PORTS", [down.port] * 20)
    with pytest.raises(RuntimeError, match="does not start"):
        start_redis()
    assert down.start().ask("PING")


@pytest.mark.usefixtures("_redis_program")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed")
def test_a_server_whose_parent_is_killed_ends(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from redis_servers import RedisServer;"
        "server = RedisServer(Path(sys.argv[1])).start();"
        "print(server.port, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    folder = Path(__file__).parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) as parent:
        orphan = RedisServer(tmp_path)
        orphan.port = int(parent.stdout.readline())
        assert orphan.ask("PING")
        parent.send_signal(signal.SIGKILL)

        def gone():
            try:
                return not orphan.ask("PING")
            except redis.RedisError:
                return True

        wait_until(gone, "the end of the server")


@pytest.mark.parametrize(("ci", "code", "word"), [("", 0, "SKIPPED"), ("true", 1, "ERROR")])
def test_suite_without_servers_skips_at_home_and_fails_in_ci(tmp_path, ci, code, word):
    options = ["-n0", "--assert=plain", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, A_TEST_WITH_SERVER]
    environment = os.environ | {"PATH": str(tmp_path), "CI": ci}
    folder = Path(__file__).parent.parent
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    reasons = [line for line in done.stdout.splitlines() if line.startswith(word)]
    assert done.returncode == code
    assert len(reasons) == 1
    assert "redis-server is not on PATH" in done.stdout
