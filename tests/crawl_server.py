"""Crawls and commands in processes that import nothing: forked from a server that has.

A crawl of a few pages spends most of its time on imports, and the tests make a hundred of them; so
does a command. The server only imports, and judges one page, so that the layout of an index is
planned once and the stopwords are read. No reactor is chosen and no setting is read: a crawl does
all else in a process of its own, up to the end of an interpreter, as if a shell had started it.

    python crawl_server.py < orders > answers        # of each a JSON value a line

    {"command": ["scrapy", ...], "folder": "...", "streams": [in, out, err]}   ->   its number
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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from patience import wait_until


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

    def run(self, *command: str, cwd: Path, text: str = "") -> tuple[int, str, str]:
        """Run a command with a text on standard input, as `run_process` does."""
        with TemporaryDirectory() as folder:
            return CommandProcess(self, *command, cwd=cwd, folder=Path(folder), text=text).end()

    def ask(self, order: dict[str, Any]) -> Any:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class Process:
    """A command under way: what it reads, and where it writes, are files."""

    def __init__(self, server: CrawlServer, command: list[str], cwd: Path, *streams: Path) -> None:
        self._server = server
        order = {"command": command, "folder": str(cwd), "streams": [*map(str, streams)]}
        self.pid = server.ask(order)
        self.exit_code: int | None = None

    @property
    def is_running(self) -> bool:
        if self.exit_code is None:
            self.exit_code = self._server.ask({"pid": self.pid})
        return self.exit_code is None

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.is_running:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it as no signal handler can prevent, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; return its exit code."""
        wait_until(lambda: not self.is_running, f"process {self.pid} ends", pause=0.01)
        return self.exit_code


class CommandProcess(Process):
    """A command with files of its own, in a folder."""

    def __init__(
        self, server: CrawlServer, *command: str, cwd: Path, folder: Path, text: str = ""
    ) -> None:
        self._read, self._out, self._err = (folder / name for name in ("in", "out", "err"))
        self._read.write_text(text, "utf-8")
        self._out.touch()
        self._err.touch()
        super().__init__(server, [*command], cwd, self._read, self._out, self._err)

    @property
    def printed(self) -> tuple[str, str]:
        """What it has printed so far, and what of it on standard error."""
        return self._out.read_text("utf-8"), self._err.read_text("utf-8")

    def end(self) -> tuple[int, str, str]:
        """Wait for its end; return its exit code and what it has printed."""
        return self.wait(), *self.printed


class CrawlProcess(Process):
    """A crawl under way."""

    def __init__(self, server: CrawlServer, arguments: list[str], folder: Path, feed: Path) -> None:
        self._feed, self._log = feed, feed.with_suffix(".log")
        self._log.write_text("")
        nothing = Path(os.devnull)
        super().__init__(server, ["scrapy", *arguments], folder, nothing, self._log, self._log)

    def end(self) -> Crawl:
        """Wait for its end."""
        self.wait()
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
                run(**order)
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def import_components() -> None:
    """Import what Scrapy's settings name, the plugin and commands, and what these need later."""
    import scrapy.commands

    needed = "scrapy_plugin.url_rules", "review.report", "store.redis.pages", "scrapy_command"
    commands = (each.name for each in pkgutil.iter_modules(scrapy.commands.__path__))
    names = [f"dedup_filter.{each}" for each in needed]
    names += [f"scrapy.commands.{each}" for each in commands]
    names += [f"dedup_filter.{each}" for each in ("cli", "commands.serve", "service.web")]
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


def run(command: list[str], folder: str, streams: list[str]) -> None:
    """Do in this process what a command does, and leave it by SystemExit."""
    os.chdir(folder)
    sys.path[0] = folder
    for target, path in enumerate(streams):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if target else os.O_RDONLY
        os.dup2(os.open(path, flags), target)
    sys.argv = command
    if command[0] == "scrapy":
        from scrapy.cmdline import execute

        execute()
    else:
        from dedup_filter.cli import main

        main()
    sys.exit()


if __name__ == "__main__":
    serve()
