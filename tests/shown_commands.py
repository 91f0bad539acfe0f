"""What a page of the documentation shows -> is done, in its order, in a Scrapy project.

python     a spider is put among the project's, anything else at the end of its settings
console    each command is run; "^C" below a crawl interrupts it in its midst
text       each line is one that the commands before it have printed; "…" is whatever stands there
"""

import os
import re
import shlex
import signal
from pathlib import Path

from crawl_server import CrawlProcess

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
_SETTINGS = """\
BOT_NAME = "tutorial"
SPIDER_MODULES = ["tutorial.spiders"]
TELNETCONSOLE_ENABLED = False
ADDONS = {}
# In the order of the links: which of two copies comes first decides which is dropped.
CONCURRENT_REQUESTS = 1
DEPTH_PRIORITY = 1
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
"""


def blocks(text, *languages):
    """Return the blocks of code in some languages, or the language and text of each block."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [body for name, body in found if name in languages] if languages else found


def commands(text):
    """Return the commands of all console blocks, without comments, split as a shell would."""
    shown = re.findall(r"^\$ (.*)", "".join(blocks(text, "console")), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in shown]


def require_printed(shown, printed):
    """Verify that each line that is shown was printed."""
    for line in shown.splitlines():
        parts = map(re.escape, line.split("…"))
        assert re.search(".*".join(parts), printed), f"{line}\n\n{printed}"


class Reader:
    """Somebody who does what a page says, on a site of their own.

    `stand_in` is what the page calls `site`; a crawl that is to be interrupted is so when it asks
    for the path `gate`.
    """

    def __init__(self, project, server, site, stand_in="https://news.example", gate="/news/3"):
        self._project, self._server, self._site, self._stand_in = project, server, site, stand_in
        self._gate = gate
        self._crawls = 0
        self._settings = project.folder / "tutorial" / "settings.py"
        self._settings.write_text(_SETTINGS)
        self.printed = ""
        """By the commands of the last block."""

    def follow(self, page):
        done = {"python": self.write, "console": self.type}
        for language, body in blocks(page):
            if language == "text":
                require_printed(body, self.printed)
            else:
                done[language](body)

    def write(self, code):
        code = code.replace(self._stand_in, self._site.url)
        if "scrapy.Spider" in code:
            self._project.module("spiders/shown", code)
        else:
            with self._settings.open("a") as settings:
                settings.write(code)

    def type(self, shown, exit_code=0):
        self.printed = ""
        for line, below in re.findall(r"^\$ (.*)\n(\^C\n)?", shown, re.MULTILINE):
            there = line.replace(self._stand_in, self._site.url)
            program, *arguments = shlex.split(there, comments=True)
            if program == "scrapy":
                self._crawl(arguments, exit_code, is_interrupted=bool(below))
            elif program == "dedup-filter":
                self._command(program, arguments)
            else:  # it is installed
                assert line == "pip install path/to/clone"

    def _crawl(self, arguments, exit_code, *, is_interrupted):
        self._crawls += 1
        folder = self._project.folder
        before = {path: path.read_text() for path in folder.glob("*.jsonl")}
        record = folder / f"crawl{self._crawls}.record"
        crawl = CrawlProcess(self._server, arguments, folder, record)
        if is_interrupted:
            with self._site.gate(self._gate).when_reached():
                os.kill(crawl.pid, signal.SIGINT)
            self._site.gates.clear()
        done = crawl.end()
        assert done.exit_code == exit_code, done.log
        assert ("(shutdown)" in done.log) == is_interrupted
        assert done.stats.get("dedup/errors", 0) == 0
        feeds = [path for path in folder.glob("*.jsonl") if path.read_text() != before.get(path)]
        told = done.log + "".join(path.read_text() for path in feeds)
        self.printed += told.replace(self._site.url, self._stand_in)

    def _command(self, program, arguments):
        code, out, err = self._server.run(program, *arguments, cwd=self._project.folder)
        assert (code, "arning" in err) == (0, False), err  # it may say what it does
        self.printed += out
