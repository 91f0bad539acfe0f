"""Servers of their own, as processes, and what a crawler in any language does with one."""

import json
import signal
import socket
from http.client import HTTPConnection

from crawl_server import CommandProcess
from made_text import prose
from patience import PATIENCE, wait_until


def page(number, copy=0):
    """A page: pages of one number are copies of each other, at other URLs."""
    return {"url": f"http://host{copy}.example/{number}", "text": prose(number)}


class Server:
    """`dedup-filter serve` as a process, whose files are in a folder."""

    def __init__(self, crawl_server, folder, index, *options, host="127.0.0.1"):
        command = ["dedup-filter", "serve", str(index), "--port", "0", "--workers", "0", *options]
        self.process = CommandProcess(crawl_server, *command, cwd=folder, folder=folder)
        self.host = host
        wait_until(lambda: self.process.printed[0] or not self.process.is_running, "its address")
        self.url, err = map(str.strip, self.process.printed)
        assert self.url, err
        self.port = int(self.url.rpartition(":")[2])

    def raw(self, sent=b""):
        """Return a connection over which these bytes were sent."""
        connection = socket.create_connection((self.host, self.port), PATIENCE)
        connection.sendall(sent)
        return connection

    def request(self, method, path, body=None, **headers):
        """Return status, headers and JSON of an answer."""
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, json.loads(content)

    def answer(self, path, content, **headers):
        """Return status and JSON of an answer to JSON."""
        kind = {"Content_Type": "application/json"} | headers
        status, _, answer = self.request("POST", path, json.dumps(content), **kind)
        return status, answer

    def post(self, path, content):
        """Return the JSON of an answer that is not a refusal."""
        status, answer = self.answer(path, content)
        assert status == 200, answer
        return answer

    def stats(self):
        return self.request("GET", "/stats")[2]

    def end(self, by=signal.SIGTERM):
        """End the process; return its exit code and what it has written about faults."""
        self.process.send_signal(by)
        code, _, err = self.process.end()
        return code, err
