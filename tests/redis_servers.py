"""Private Redis servers for tests: started in a directory of their own, gone with their test.

Turns settings into a running `redis-server` on loopback that can be killed, paused and started
again on its port. It never uses a server that it did not start: whoever answers is asked for its
process, and the default port is out of range. The child dies with its parent. Knows nothing of
pytest: benchmarks start their servers with it as well.
"""

import random
import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import redis
from patience import PATIENCE, wait_until
from redis.backoff import NoBackoff
from redis.retry import Retry

LOOPBACK = "127.0.0.1"
# Below the ports that systems give to outgoing connections, so that a server which was killed finds
# its port free. Each stands for the three that a server may take: the next one is for TLS, the one
# 10,000 higher for the nodes of a cluster.
PORTS = range(12_000, 22_000, 2)
BUS = 10_000
# Nothing kept on disk. A replica fed over a disk follows at once, one fed over the socket up to a
# second later.
SETTINGS = {"save": '""', "appendonly": "no", "repl-diskless-sync": "no"}
DURABLE = {"appendonly": "yes", "appendfsync": "always"}


def redis_program(name):
    """Return the path of `redis-server` or `redis-cli`. Raises FileNotFoundError."""
    program = shutil.which(name)
    if program is None:
        raise FileNotFoundError(f"{name} is not on PATH (on Debian: apt-get install redis-server)")
    return program


class RedisServer:
    """One `redis-server`; `with RedisServer() as server:` starts it and ends it.

    `durable` keeps every acknowledged write over a kill. `settings` are lines of redis.conf, as
    `{"maxmemory": "2mb"}`. `tls` is a folder with ca-cert.pem, cert.pem and key.pem: then it
    listens at `tls_port` as well, and asks nobody for a certificate.
    """

    def __init__(self, *, password=None, durable=False, settings=None, tls=None):
        self._opened = ExitStack()
        self._folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="redis-")))
        self.password = password
        self.port = 0
        self._settings = SETTINGS | {"dir": f'"{self._folder}"'} | (DURABLE if durable else {})
        if password:
            self._settings |= {"requirepass": f'"{password}"', "masterauth": f'"{password}"'}
        self._has_tls = tls is not None
        if tls:
            for name in ("cert", "key", "ca-cert"):
                self._settings[f"tls-{name}-file"] = f'"{tls / name}.pem"'
            self._settings["tls-auth-clients"] = "no"
        self._settings |= settings or {}
        self._process = None
        self._is_paused = False

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def address(self):
        return f"{LOOPBACK}:{self.port}"

    @property
    def url(self):
        """Return redis://[:password@]127.0.0.1:port/0."""
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{secret}{self.address}/0"

    @property
    def tls_port(self):
        return self.port + 1

    @property
    def runs(self):
        return self._process is not None and self._process.poll() is None

    @property
    def is_awake(self):
        return self.runs and not self._is_paused

    def client(self, **options):
        """Return a new client of this server, closed with it."""
        options = {"password": self.password, "socket_timeout": PATIENCE, **options}
        return self._opened.enter_context(redis.Redis(LOOPBACK, self.port, **options))

    def start(self):
        """Start it, on the port that it had if it had one, and wait until it answers."""
        if self.runs:
            return self
        for port in [self.port] if self.port else random.SystemRandom().sample(PORTS, 20):
            if self._reserve(port):
                self.port = port
                self._launch()
                wait_until(self._settled, f"an answer of redis-server on port {port}")
                if self.runs:
                    return self
        log = self._folder / "redis.log"
        said = log.read_text(errors="replace")[-2000:] if log.exists() else "no port is free"
        self.close()
        raise RuntimeError(f"redis-server does not start: {said}")

    def kill(self):
        """Kill it (kill -9): it has no chance to save anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
        self._is_paused = False

    def pause(self):
        """Let it hang: connections are accepted, nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)
        self._is_paused = True

    def resume(self):
        """Let it go on after `pause`."""
        self._process.send_signal(signal.SIGCONT)
        self._is_paused = False

    def flush(self):
        """Empty it: all databases and scripts."""
        self.ask("FLUSHALL")
        self.ask("SCRIPT FLUSH")

    def close(self):
        """Kill it, close the clients that it gave out, and remove its directory."""
        self.kill()
        self._opened.close()

    def ask(self, *command):
        """Return the answer to one command, on a connection of its own."""
        # Each version of redis-py has other defaults for retries.
        options = {"password": self.password, "retry": Retry(NoBackoff(), 0)}
        with redis.Redis(LOOPBACK, self.port, socket_timeout=PATIENCE, **options) as client:
            return client.execute_command(*command)

    def _reserve(self, port):
        """Tell whether `port` is free, and keep servers of other tests, in any process, off it.

        Its UDP port is held for that until this one is closed: a server that is down holds nothing.
        """
        try:
            if port != self.port:
                held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self._opened.enter_context(held).bind((LOOPBACK, port))
            for each in (port, port + 1, port + BUS):
                socket.create_server((LOOPBACK, each)).close()
        except OSError:
            return False
        return True

    def _launch(self):
        lines = {"bind": LOOPBACK, "port": str(self.port), "daemonize": "no", **self._settings}
        if self._has_tls:
            lines["tls-port"] = str(self.tls_port)
        config = self._folder / "redis.conf"  # a password as an argument shows in `ps`
        config.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        command = [redis_program("redis-server"), str(config)]
        if guard := shutil.which("setpriv"):  # a killed test run leaves no server behind
            command = [guard, "--pdeathsig", "KILL", *command]
        with (self._folder / "redis.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def _settled(self):
        """Tell whether it has ended, or answers."""
        try:
            return not self.runs or self.ask("INFO")["process_id"] == self._process.pid
        except redis.RedisError:  # not listening yet, or reading its file
            return False
