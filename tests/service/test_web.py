"""One server, many crawlers: what they are answered, whoever of them is slow, wrong or killed."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import wrap
from threading import Event

import pytest
from command_line import refused, run
from made_text import prose
from patience import PATIENCE, wait_until
from pdf_samples import pdf
from served_index import Server, page

from dedup_filter import NearDuplicateFilter
from dedup_filter.service.web import Service

CLAIMER = Path(__file__).with_name("claimer.py")


@pytest.fixture(scope="module")
def in_memory(crawl_server, tmp_path_factory):
    """A server for all that only asks for what is refused."""
    server = Server(crawl_server, tmp_path_factory.mktemp("served"), "memory:")
    yield server
    server.process.kill()
    server.process.wait()


def test_verdicts_are_the_ones_of_the_library(serve, tmp_path):
    server = serve()
    pages = [page(1), page(1, copy=1), page(2), {"url": "http://a.example/", "text": "short"}]
    with NearDuplicateFilter.open() as library:
        expected = [library.see(**each).as_json() for each in pages]
    found = [server.post("/see", each) for each in pages]
    for verdict in (*expected, *found):
        del verdict["cluster"]  # the number of a record; in memory duplicates have none
    assert found == expected
    assert [verdict["outcome"] for verdict in found] == ["new", "exact", "new", "unjudged"]
    stats = server.stats()
    assert (stats["pages"], stats["claims"], stats["queue"]) == (3, 0, 0)
    assert stats["outcomes"] == {"new": 2, "exact": 1, "unjudged": 1}
    assert server.end() == (0, "")


def test_a_page_may_be_html_in_a_string_or_in_base64(serve):
    server = serve()
    html = f"<html><title>Page</title><body><p>{page(1)['text']} caf\u00e9</p></body></html>"
    assert server.post("/see", {"url": "http://a.example/", "html": html})["outcome"] == "new"
    latin = {
        "url": "http://b.example/",
        "html_base64": b64encode(html.encode("latin-1")).decode(),
        "content_type": "text/html; charset=latin-1",
    }
    assert server.post("/see", latin)["original"] == "http://a.example/"


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        (["--set", "payloads=none"], ["unjudged", "unjudged", "unjudged"]),
        ([], ["unjudged", "exact", "unjudged"]),
        (["--set", "read_pdf=true"], ["new", "exact", "exact"]),
    ],
)
def test_a_pdf_is_judged_as_the_options_say(serve, options, outcomes):
    """Two equal files, and one with the same text."""
    server = serve(*options, index="memory:")
    lines = wrap(prose(1), 80)
    files = [pdf([lines]), pdf([lines]), pdf([lines]) + b"\n"]
    found = [
        server.post(
            "/see",
            {
                "url": f"http://a.example/{number}",
                "html_base64": b64encode(body).decode(),
                "content_type": "application/pdf",
            },
        )["outcome"]
        for number, body in enumerate(files)
    ]
    assert found == outcomes


def test_a_lone_surrogate_in_a_url_is_no_error(serve):
    server = serve(index="memory:")
    url = "http://a.example/\ud800"
    assert server.post("/see", {**page(1), "url": url})["outcome"] == "new"
    assert server.post("/see", page(1))["original"] == url


def test_what_is_kept_is_found(serve):
    server = serve()
    verdict = server.post("/see", page(1))
    for query in (
        page(1, copy=1),
        {"text": page(1)["text"]},
        {"fingerprint": verdict["fingerprint"]},
    ):
        assert [near["url"] for near in server.post("/find", query)["near"]] == [page(1)["url"]]
    assert server.post("/find", page(2)) == {"near": []}
    assert server.stats()["pages"] == 1


def test_a_claim_is_committed_or_released(serve):
    server = serve()
    claim = server.post("/claim", page(1))["claim"]
    waiting = server.post("/claim", page(1, copy=1))
    assert (waiting["outcome"], waiting["is_final"], waiting["claim"]) == ("exact", False, None)
    assert server.post("/release", {"claim": claim}) == {"fate": "gone"}
    assert server.answer("/commit", {"claim": claim})[0] == 409
    second = server.post("/claim", page(1, copy=1))
    assert (second["outcome"], second["is_final"]) == ("new", True)
    for _ in range(2):  # the first answer may have been lost
        assert server.post("/commit", {"claim": second["claim"]}) == {"fate": "kept"}
    assert server.post("/release", {"claim": second["claim"]}) == {"fate": "kept"}
    third = server.post("/claim", page(1, copy=2))
    assert (third["original"], third["claim"]) == (page(1, copy=1)["url"], None)


def test_a_claim_is_released_after_its_time_and_the_page_that_waited_is_kept(serve):
    server = serve("--lease", "1")
    claim = server.post("/claim", page(1))["claim"]
    assert server.post("/see", page(1, copy=1))["outcome"] == "new"
    assert server.answer("/commit", {"claim": claim})[0] == 409


def test_a_page_waits_until_its_original_is_committed(serve):
    server = serve()
    claim = server.post("/claim", page(1))["claim"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.post, "/see", page(1, copy=1))
        wait_until(lambda: server.stats()["queue"] == 1, "a page that waits")
        server.post("/commit", {"claim": claim})
        assert waiting.result()["original"] == page(1)["url"]


def test_pages_that_wait_are_read_together():
    class Waiting:
        def __init__(self, number):
            self.headers = {"content-type": "application/json"}
            self.body = json.dumps(page(number)).encode()

        async def stream(self):
            yield self.body

    async def seen(pages):
        service, index_is_free = Service(pages, 60, 9), Event()
        busy = asyncio.create_task(service._ask(index_is_free.wait))
        requests = [asyncio.create_task(service.see(Waiting(number))) for number in range(5)]
        while len(service._waiting) < len(requests):
            await asyncio.sleep(0.01)
        index_is_free.set()
        await busy
        outcomes = [(await each)["outcome"] for each in requests]
        service.close()
        return outcomes

    with NearDuplicateFilter.open() as pages:
        together = []
        pages.conductor.read_ahead = lambda waiting: together.append(len([*waiting]))
        assert asyncio.run(seen(pages)) == ["new"] * 5
    assert together == [5, 4, 3, 2, 1]


# Clients that end


@pytest.mark.slow
def test_nothing_is_lost_if_one_of_four_clients_is_killed(serve, tmp_path):
    """Each page has a copy at each client; a client writes a page down before it commits it."""
    server = serve("--lease", "2")
    outs = [tmp_path / f"client{number}" for number in range(4)]
    commands = [
        [sys.executable, str(CLAIMER), server.url, str(number), str(out)]
        for number, out in enumerate(outs)
    ]
    with subprocess.Popen([*commands[0], "20"], stdout=subprocess.PIPE) as killed:
        assert killed.stdout.readline() == b"hangs\n"
        others = [subprocess.Popen(command) for command in commands[1:]]
        killed.kill()
    assert [other.wait(PATIENCE) for other in others] == [0, 0, 0]
    written = [line for out in outs for line in out.read_text().split()]
    committed = [line.removeprefix("kept:") for line in written if line.startswith("kept:")]
    assert {*written} >= {str(number) for number in range(40)}
    assert sorted(committed, key=int) == [str(number) for number in range(40)]
    assert outs[0].read_text().split()[-1] == "kept:19"
    assert server.stats()["claims"] == 0


def test_a_hundred_clients_at_once_keep_each_page_once(serve):
    server = serve()
    pages = [page(number, copy) for copy in range(10) for number in range(10)]
    with ThreadPoolExecutor(100) as pool:
        outcomes = list(pool.map(lambda each: server.post("/see", each)["outcome"], pages))
    assert outcomes.count("new") == 10
    assert outcomes.count("exact") == 90
    assert server.stats()["pages"] == 10


def test_slow_clients_and_half_requests_hold_up_no_other(serve):
    server = serve("--queue", "1")
    head = b"POST /see HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    half = [server.raw(sent) for sent in (b"POST /see", head, head + b"Content-Length: 9\r\n\r\n{")]
    half += [server.raw() for _ in range(50)]
    started = time.monotonic()
    assert server.post("/see", page(1))["outcome"] == "new"
    assert time.monotonic() - started < 20
    for each in half:
        each.close()
    assert server.post("/see", page(1, copy=1))["outcome"] == "exact"
    assert server.end() == (0, "")


def test_if_too_many_pages_wait_others_are_to_come_again(serve):
    server = serve("--queue", "1")
    claim = server.post("/claim", page(1))["claim"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.post, "/see", page(1, copy=1))
        wait_until(lambda: server.stats()["queue"] == 1, "a page that waits")
        kind = {"Content_Type": "application/json"}
        status, headers, _ = server.request("POST", "/see", json.dumps(page(2)), **kind)
        assert (status, headers["Retry-After"]) == (503, "1")
        server.post("/commit", {"claim": claim})  # which makes room
        assert waiting.result()["outcome"] == "exact"
    assert server.post("/see", page(2))["outcome"] == "new"


# What clients can take of the server

_HEAD = b"POST /see HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_a_head_that_is_too_long_is_refused(serve):
    server = serve(index="memory:")
    slow = server.raw(_HEAD + b"X: " + b"a" * 2**15)
    assert slow.recv(99).startswith(b"HTTP/1.1 400 ")
    assert server.end() == (0, "")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"["),
        (400, b"\xff"),
        (400, b"[" * 100_000),
        (422, b"[]"),
        (422, b"{}"),
        (422, b'{"url": 1, "text": "a"}'),
        (422, b'{"url": "http://a/"}'),
        (422, b'{"url": "http://a/", "text": "a", "html": "b"}'),
        (422, b'{"url": "http://a/", "text": "a", "body": "b"}'),
        (422, b'{"url": "http://a/", "html_base64": "?"}'),
        (413, b" " * (16 * 2**20 + 1)),
    ],
    ids=lambda value: str(value if isinstance(value, int) else value[:40]),
)
def test_bodies_that_are_refused(in_memory, status, body):
    found, _, answer = in_memory.request("POST", "/see", body, Content_Type="application/json")
    assert (found, [*answer]) == (status, ["error"])
    assert in_memory.post("/see", page(1))["outcome"] in ("new", "exact")


def test_a_body_whose_length_is_not_given_is_refused_as_soon_as_it_is_too_long(serve):
    server = serve(index="memory:")
    chunk = b"100000\r\n" + b" " * 2**20 + b"\r\n"
    connection = server.raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + 16 * chunk)
    connection.sendall(b"1\r\n \r\n")
    assert connection.recv(2**16).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("status", "path", "content"),
    [
        (422, "/commit", {}),
        (422, "/commit", {"claim": 1}),
        (409, "/commit", {"claim": "none"}),
        (200, "/release", {"claim": "none"}),
        (404, "/nothing", {}),
        (405, "/stats", {}),
        (422, "/find", {}),
        (422, "/find", {"fingerprint": "0x" + "1" * 17}),
        (422, "/find", {"fingerprint": "0x1", "text": "a"}),
    ],
)
def test_other_requests_that_are_refused(in_memory, status, path, content):
    found, answer = in_memory.answer(path, content)[:2]
    assert found == status
    assert status == 200 or answer["error"]


def test_only_a_program_that_means_it_can_post(serve):
    """A site that is open in a browser of this machine can send other types and names."""
    server = serve(index="memory:")
    assert server.answer("/see", page(1), Content_Type="text/plain")[0] == 415
    assert (
        server.raw(b"GET /stats HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        .recv(99)
        .startswith(b"HTTP/1.1 400 ")
    )
    assert server.stats()["pages"] == 0


def test_with_a_token_no_request_is_answered_without_it(serve):
    server = serve("--token", "a secret", "--host", "0.0.0.0", index="memory:")
    for headers in ({}, {"Authorization": "Bearer a secret2"}, {"Authorization": "Basic a secret"}):
        status, found, _ = server.request("GET", "/stats", **headers)
        assert (status, found["WWW-Authenticate"]) == (401, "Bearer")
    assert server.answer("/see", page(1))[0] == 401
    right = {"Authorization": "Bearer a secret"}
    assert server.answer("/see", page(1), **right)[0] == 200
    assert server.request("GET", "/stats", **right)[2]["pages"] == 1
    assert server.request("GET", "/healthz")[0] == 200


def test_other_machines_need_a_token(tmp_path):
    for host in ("0.0.0.0", "::", "db.example"):
        assert "--token" in refused("serve", str(tmp_path / "index"), "--host", host)
    assert not (tmp_path / "index").exists()


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    for name in [each for each in sys.modules if each.startswith("dedup_filter.service.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "with its extra 'serve' (import of uvicorn" in refused("serve", str(tmp_path / "index"))


def test_a_port_that_is_taken_is_named(serve, tmp_path):
    server = serve()
    code, out, err = run("serve", str(tmp_path / "other"), "--port", str(server.port))
    assert (code, out) == (2, "")
    assert "in use" in err


# The end of the server


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_finishes_its_requests_and_goes_on_with_its_index(serve, by, code):
    first = serve()
    assert first.post("/see", page(1))["outcome"] == "new"
    claim = first.post("/claim", page(2))["claim"]
    body = json.dumps(page(3)).encode()
    begun = first.raw(_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-1])
    assert first.stats()["claims"] == 1  # a later connection: the half request has arrived
    first.process.send_signal(by)
    time.sleep(0.5)
    begun.sendall(body[-1:])
    assert begun.recv(2**16).startswith(b"HTTP/1.1 200 ")
    assert first.end(by=0) == (code, "")
    second = serve()
    assert second.post("/see", page(1, copy=1))["original"] == page(1)["url"]
    assert second.post("/see", page(3, copy=1))["original"] == page(3)["url"]
    assert second.answer("/commit", {"claim": claim})[0] == 409
    assert second.post("/see", page(2, copy=1))["outcome"] == "new"


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_page_that_waits_for_a_claim_is_to_come_again_if_the_server_ends(serve, by, code):
    server = serve()
    server.post("/claim", page(1))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.answer, "/see", page(1, copy=1))
        wait_until(lambda: server.stats()["queue"] == 1, "a page that waits")
        server.process.send_signal(by)
        assert waiting.result()[0] == 503
    assert server.end(by=0) == (code, "")


def test_what_was_answered_outlives_a_kill(serve):
    first = serve()
    first.post("/see", page(1))
    first.post("/commit", {"claim": first.post("/claim", page(2))["claim"]})
    first.post("/claim", page(3))
    first.process.kill()
    first.process.wait()
    second = serve()
    found = [second.post("/see", page(number, copy=1))["outcome"] for number in (1, 2, 3)]
    assert found == ["exact", "exact", "new"]
