"""Crawls in processes that need not import Scrapy: forked from a server that has.

A crawl of a few pages spends most of its time on imports, and the tests make a hundred of them.
The server has imported what a crawl takes from other libraries. No reactor is chosen and nothing
of `dedup_filter` is there, so a crawl does all else in a process of its own, up to the end of an
interpreter, as if a shell had started it. Tests of `tests/crawler` have Scrapy started anew.

    python crawl_server.py < orders > answers        # of each a JSON value a line

    {"arguments": ["crawl", ...], "folder": "...", "log": "..."}   ->   number of the process
    {"pid": 123}                                       ->   its exit code, null while it runs
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATIENCE = 300.0
"""Seconds; far more than any crawl takes on a machine under load."""


class CrawlServer:
    """The server, as tests call it; `with CrawlServer(...) as server:` starts it and ends it.

    `bytecode` is a folder where crawls find what others have compiled.
    """

    def __init__(self, environment: Mapping[str, str], bytecode: Path) -> None:
        variables = {**os.environ, **environment, "PYTHONPYCACHEPREFIX": str(bytecode)}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "CrawlServer":
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.stdin.close()

    def start(self, *arguments: str, folder: Path, log: Path) -> "CrawlProcess":
        """Start `scrapy` with some arguments in a folder; what it prints goes to `log`."""
        order = {"arguments": arguments, "folder": str(folder), "log": str(log)}
        return CrawlProcess(self, self.ask(order), log)

    def ask(self, order: dict[str, Any]) -> Any:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class CrawlProcess:
    """A crawl under way."""

    def __init__(self, server: CrawlServer, pid: int, log: Path) -> None:
        self._server, self.pid, self._log = server, pid, log
        self.exit_code: int | None = None

    @property
    def is_running(self) -> bool:
        if self.exit_code is None:
            self.exit_code = self._server.ask({"pid": self.pid})
        return self.exit_code is None

    def kill(self) -> None:
        """Kill it as no signal handler can prevent, unless it has ended."""
        if self.is_running:
            os.kill(self.pid, signal.SIGKILL)

    def log(self) -> str:
        """Wait for its end; return what it printed."""
        end = time.monotonic() + PATIENCE
        while self.is_running:
            if time.monotonic() > end:
                raise TimeoutError(f"a crawl does not end:\n{self._log.read_text()}")
            time.sleep(0.01)
        return self._log.read_text("utf-8", "surrogateescape")


def serve() -> None:
    """Be the server; in the process of a crawl, return when that is done."""
    import_components()
    # The buffer of sys.stdin would be read by crawls, too.
    with os.fdopen(os.dup(0)) as orders:
        for line in orders:
            order = json.loads(line)
            if "pid" in order:
                pid, status = os.waitpid(order["pid"], os.WNOHANG)
                answer = os.waitstatus_to_exitcode(status) if pid else None
            elif not (answer := os.fork()):
                crawl(**order)
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def import_components() -> None:
    """Import whatever Scrapy's own settings name, and what is below this library."""
    for name in ("scrapy.commands.crawl", "scrapy.crawler", "lxml.html", "numpy", "redis.cluster"):
        importlib.import_module(name)
    from scrapy.settings import default_settings

    for setting in vars(default_settings).values():
        entries = [*setting, *setting.values()] if isinstance(setting, dict) else [setting]
        for entry in entries:
            module = entry.rpartition(".")[0] if isinstance(entry, str) else ""
            # That of FTP chooses a reactor in old versions.
            if module.startswith("scrapy.") and not module.endswith(".ftp"):
                importlib.import_module(module)
    assert "twisted.internet.reactor" not in sys.modules
    assert "dedup_filter" not in sys.modules


def crawl(arguments: list[str], folder: str, log: str) -> None:
    """Do in this process what `scrapy` with these arguments does, and leave it by SystemExit."""
    from scrapy.cmdline import execute

    os.chdir(folder)
    sys.path[0] = folder
    with Path(os.devnull).open() as nothing, Path(log).open("w") as output:
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source.fileno(), target)
    execute(["scrapy", *arguments])
    sys.exit()


if __name__ == "__main__":
    serve()
