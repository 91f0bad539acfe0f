"""Private Redis servers for tests: started in a directory of their own, gone with their test.

Turns a directory and settings into a running `redis-server` on loopback that can be stopped,
killed, paused and started again on its port. It never uses a server that it did not start: whoever
answers is asked for its process, and the default port is out of range. The child dies with its
parent. Knows nothing of pytest: benchmarks start their servers with it as well.
"""

import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

LOOPBACK = "127.0.0.1"
# Below the ports that systems give to outgoing connections, so that a server which was killed finds
# its port free. Each stands for the three that a server may take: the next one is for TLS, the one
# 10,000 higher for the nodes of a cluster.
PORTS = range(12_000, 22_000, 2)
BUS = 10_000
# Far more than any wait needs; a machine under load must not fail a test.
PATIENCE = 300.0
# Old clients wait for a hanging server without end.
FOR_TESTS = {"socket_timeout": PATIENCE}
# Nothing kept on disk. A replica fed over a disk follows at once, one fed over the socket up to a
# second later.
SETTINGS = {"save": '""', "appendonly": "no", "repl-diskless-sync": "no"}
TLS_FILES = ("cert", "key")
DURABLE = {"appendonly": "yes", "appendfsync": "always"}


def redis_server_program() -> str:
    """Return the path of `redis-server`.

    Raises:
        FileNotFoundError: it is not on PATH.
    """
    program = shutil.which("redis-server")
    if program is None:
        raise FileNotFoundError(
            "redis-server is not on PATH (on Debian: apt-get install redis-server)"
        )
    return program


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Return the first true answer of `condition`, asked again and again.

    Raises:
        TimeoutError: none came within `seconds`; `what` names it.
    """
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(0.02)
    return answer


class RedisServer:
    """One `redis-server`; `with RedisServer() as server:` starts it and ends it.

    `durable` keeps every acknowledged write over a kill. `settings` are lines of redis.conf, as
    `{"maxmemory": "2mb"}`. `directory` must exist; without one, a temporary directory is used.
    `tls` is a folder with ca.pem, cert.pem and key.pem: then it listens at `tls_port` as well.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        password: str | None = None,
        maxmemory: str | None = None,
        durable: bool = False,
        settings: dict[str, str] | None = None,
        tls: Path | None = None,
    ) -> None:
        self._own = None if directory else tempfile.TemporaryDirectory(prefix="redis-")
        self.directory = directory or Path(self._own.name)  # type: ignore[union-attr]
        self.password = password
        self.port = 0
        self._settings = SETTINGS | (DURABLE if durable else {})
        if password:
            self._settings |= {"requirepass": f'"{password}"', "masterauth": f'"{password}"'}
        if maxmemory:
            self._settings["maxmemory"] = maxmemory
        self.has_tls = tls is not None
        if tls:
            self._settings |= {f"tls-{name}-file": f'"{tls / name}.pem"' for name in TLS_FILES}
            self._settings["tls-ca-cert-file"] = f'"{tls / "ca"}.pem"'
        self._settings |= settings or {}
        self._reservation: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False
        self._clients: list[Any] = []

    def __enter__(self) -> "RedisServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def url(self) -> str:
        """Return redis://[:password@]127.0.0.1:port/0."""
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{secret}{self.address}/0"

    @property
    def tls_port(self) -> int:
        return self.port + 1

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """Tell whether the process lives, paused or not."""
        return self._process is not None and self._process.poll() is None

    @property
    def awake(self) -> bool:
        """Tell whether it runs and is not paused."""
        return self.running and not self._paused

    def client(self, **options: Any) -> redis.Redis:
        """Return a new client of this server, closed with it."""
        made = redis.Redis(LOOPBACK, self.port, password=self.password, **FOR_TESTS | options)
        self._clients.append(made)
        return made

    def start(self) -> "RedisServer":
        """Start it, on the port that it had if it had one, and wait until it answers."""
        if self.running:
            return self
        ports = [self.port] if self.port else random.SystemRandom().sample(PORTS, 20)
        for port in ports:
            if not self._reserve(port) or not all(map(_is_free, (port, port + 1, port + BUS))):
                continue
            self.port = port
            self._launch()
            if wait_until(self._settled, f"an answer of redis-server on port {port}") == "answers":
                return self
        words = self._last_words()
        self.close()
        raise RuntimeError(f"redis-server does not start on ports {ports}:\n{words}")

    def stop(self) -> None:
        """Ask it to end (SIGTERM), and wait for that."""
        self.resume()
        self._end_by(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it (kill -9): it has no chance to save anything."""
        self._end_by(signal.SIGKILL)

    def pause(self) -> None:
        """Let it hang (SIGSTOP): connections are accepted, nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        self._paused = True

    def resume(self) -> None:
        """Let it go on after `pause`."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
        self._paused = False

    def flush(self) -> None:
        """Empty it: all databases and scripts."""
        with self._prober() as prober:
            prober.flushall()
            prober.script_flush()

    def close(self) -> None:
        """Kill it, close the clients that it gave out, and remove its temporary directory."""
        self.kill()
        while self._clients:
            self._clients.pop().close()
        self._give_up_port()
        if self._own is not None:
            self._own.cleanup()

    def ask(self, *command: object) -> Any:
        """Return the raw answer to one command, on a connection of its own."""
        with self._prober() as prober:
            return prober.execute_command(*command)

    def _prober(self) -> redis.Redis:
        # Each version of redis-py has other defaults for waits and retries.
        retry = Retry(NoBackoff(), 0)
        return redis.Redis(
            LOOPBACK, self.port, password=self.password, socket_timeout=PATIENCE, retry=retry
        )

    def _reserve(self, port: int) -> bool:
        """Keep servers of other tests, in whatever process, off `port` until this one is closed.

        Its UDP port is held for that: a server that is down holds nothing itself.
        """
        if self._reservation is not None and port == self.port:
            return True
        self._give_up_port()
        held = self._reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            held.bind((LOOPBACK, port))
        except OSError:
            return False
        return True

    def _give_up_port(self) -> None:
        if self._reservation is not None:
            self._reservation.close()
        self._reservation = None

    def _launch(self) -> None:
        lines = {"bind": LOOPBACK, "port": str(self.port), "dir": f'"{self.directory}"'}
        if self.has_tls:
            lines["tls-port"] = str(self.tls_port)
        lines |= {"logfile": '"redis.log"', "daemonize": "no", **self._settings}
        config = self.directory / "redis.conf"  # a password on the command line shows in `ps`
        config.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        command = [redis_server_program(), str(config)]
        if guard := shutil.which("setpriv"):  # a killed test run leaves no server behind
            command = [guard, "--pdeathsig", "KILL", *command]
        with (self.directory / "printed.log").open("wb") as printed:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
            )

    def _settled(self) -> str | None:
        """Return "ended" or "answers" once that is so."""
        if not self.running:
            return "ended"
        try:
            with self._prober() as prober:
                ours = prober.info("server")["process_id"] == self.pid
                return "answers" if ours and prober.ping() else None
        except redis.RedisError:  # not listening yet, or reading its file
            return None

    def _end_by(self, name: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(name)
            self._process.wait(PATIENCE)
        self._paused = False

    def _last_words(self) -> str:
        """Return the end of the log, or of what was printed before there was a log."""
        files = [self.directory / name for name in ("redis.log", "printed.log")]
        return "".join(file.read_text(errors="replace") for file in files if file.exists())[-2000:]


def _is_free(port: int) -> bool:
    """Tell whether nobody listens on `port`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
