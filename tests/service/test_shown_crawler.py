"""What docs/any-crawler.md shows is done: the pipe, curl, and the crawler of some lines."""

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from command_line import run_process
from made_text import prose
from served_index import page
from shown_commands import DOCS, blocks, commands

SHOWN = (DOCS / "any-crawler.md").read_text("utf-8")


@pytest.fixture
def site():
    """The address of a site with two copies of a page, and another page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = f"<html><body><p>{prose(self.path.count('b'))}</p></body></html>".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_pipe(tmp_path):
    (program, *arguments), *_ = commands(SHOWN)
    assert (program, arguments[2:]) == (
        "dedup-filter",
        ["<", "pages.ndjson", ">", "verdicts.ndjson"],
    )
    code, out, err = run_process(*arguments[:2], text=json.dumps(page(1)), cwd=tmp_path)
    assert (code, json.loads(out)["outcome"], err) == (0, "new", "")


def test_curl(serve):
    (command,) = blocks(SHOWN, "sh")
    shown = command.replace("http://127.0.0.1:8077", f"{serve(index='memory:').url}")
    done = subprocess.run(["sh", "-c", shown], check=True, capture_output=True)
    assert json.loads(done.stdout)["outcome"] == "unjudged"  # so few words


def test_the_crawler(serve, site, tmp_path):
    (code,) = blocks(SHOWN, "python")
    (tmp_path / "crawl.py").write_text(code)
    server = serve()
    urls = [f"{site}/{name}" for name in ("a", "ab", "aa")]
    command = [sys.executable, "crawl.py", server.url, *urls]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert sorted(line.split()[0] for line in done.stdout.splitlines()) == ["exact", "new", "new"]
    assert done.stderr == ""
