"""A crawler of tests: claims 40 pages, writes each new one down, then commits it.

If a page is named, the crawler says that it has claimed this page, and does nothing more.
"""

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from made_text import prose


def post(url, content):
    body = json.dumps(content).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
        return {"fate": "gone"}


def crawl(url, copy, out, last):
    for number in range(40):
        page = {"url": f"http://host{copy}.example/{number}", "text": prose(number)}
        while not (verdict := post(f"{url}/claim", page))["is_final"]:
            time.sleep(0.1)
        if verdict["claim"] is not None:
            if number == last:
                print("hangs", flush=True)  # noqa: T201 - for the test
                time.sleep(1_000)
            print(number, file=out, flush=True)
            if post(f"{url}/commit", {"claim": verdict["claim"]})["fate"] == "kept":
                print(f"kept:{number}", file=out, flush=True)


if __name__ == "__main__":
    URL, COPY, OUT, *LAST = sys.argv[1:]
    with Path(OUT).open("w") as file:
        crawl(URL, COPY, file, int(LAST[0]) if LAST else None)
