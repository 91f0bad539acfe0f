"""Crawls in processes that import neither Scrapy nor this library: forked from a server that has.

A crawl of a few pages spends most of its time on imports, and the tests make a hundred of them.
The server only imports, and judges one page, so that the layout of an index is planned once and
the stopwords are read. No reactor is chosen and no setting is read: a crawl does all else in a
process of its own, up to the end of an interpreter, as if a shell had started it.

    python crawl_server.py < orders > answers        # of each a JSON value a line

    {"arguments": ["crawl", ...], "folder": "...", "log": "..."}   ->   number of the process
    {"pid": 123}                                       ->   its exit code, null while it runs
"""

import ast
import gc
import importlib
import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patience import PATIENCE


@dataclass
class Crawl:
    """What is left of a crawl."""

    exit_code: int
    log: str
    feed: str

    @property
    def items(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.feed.split("\n") if line]

    @property
    def stats(self) -> dict[str, Any]:
        """Numbers and texts among the stats that Scrapy writes into the log at the end."""
        dumped = re.findall(r"^[ {]'(\S+)': ([\d.]+|'\w*')[,}]", self.log, re.MULTILINE)
        return {name: ast.literal_eval(value) for name, value in dumped}

    @property
    def urls(self) -> list[str]:
        return [item["url"] for item in self.items]

    @property
    def numbers(self) -> list[int]:
        """Those at the ends of the URLs."""
        return [int(url.rpartition("/")[2]) for url in self.urls]

    def lines(self, part: str) -> list[str]:
        return [line for line in self.log.splitlines() if part in line]


class CrawlServer:
    """The server, as tests call it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        variables = {**os.environ, **environment}
        command, pipe = [sys.executable, __file__], subprocess.PIPE
        self._process = subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, text=True)

    def close(self) -> None:
        with self._process:
            self._process.stdin.close()

    def start(self, spider: str, *arguments: str, folder: Path, feed: Path) -> "CrawlProcess":
        """Start a crawl of the project in a folder; what it prints goes beside its feed."""
        return CrawlProcess(self, ["crawl", spider, "-O", str(feed), *arguments], folder, feed)

    def ask(self, order: dict[str, Any]) -> Any:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class CrawlProcess:
    """A crawl under way."""

    def __init__(self, server: CrawlServer, arguments: list[str], folder: Path, feed: Path) -> None:
        self._server, self._feed, self._log = server, feed, feed.with_suffix(".log")
        self._log.write_text("")  # it may be killed before it writes
        order = {"arguments": arguments, "folder": str(folder), "log": str(self._log)}
        self.pid = server.ask(order)
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

    def end(self) -> Crawl:
        """Wait for its end."""
        until = time.monotonic() + PATIENCE
        while self.is_running:
            assert time.monotonic() < until, f"a crawl does not end:\n{self._log.read_text()}"
            time.sleep(0.01)
        log = self._log.read_text("utf-8", "surrogateescape")
        feed = self._feed.read_text("utf-8") if self._feed.exists() else ""
        return Crawl(self.exit_code, log, feed)


def serve() -> None:
    """Be the server; in the process of a crawl, return when that is done."""
    import_components()
    gc.freeze()  # or each crawl would look for garbage in all that is imported
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
    """Import whatever Scrapy's own settings name, the plugin, and what it imports when needed."""
    import scrapy.commands

    needed = "scrapy_plugin.url_rules", "review.report", "store.redis.pages", "scrapy_command"
    commands = (each.name for each in pkgutil.iter_modules(scrapy.commands.__path__))
    names = [f"dedup_filter.{each}" for each in needed]
    names += [f"scrapy.commands.{each}" for each in commands]
    for name in (*names, "redis.cluster", "stopwordsiso"):
        importlib.import_module(name)
    from scrapy.settings import default_settings

    for setting in vars(default_settings).values():
        entries = [*setting, *setting.values()] if isinstance(setting, dict) else [setting]
        for entry in entries:
            module = entry.rpartition(".")[0] if isinstance(entry, str) else ""
            # That of FTP chooses a reactor in old versions.
            if module.startswith("scrapy.") and not module.endswith(".ftp"):
                importlib.import_module(module)
    from dedup_filter import NearDuplicateFilter

    with NearDuplicateFilter.open() as pages:
        pages.see("http://a/", html="<p>It is the first of the pages, and there is none before it.")
    assert "twisted.internet.reactor" not in sys.modules


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
