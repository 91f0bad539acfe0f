"""A process that writes to a store until it is killed, again and again.

    python killed_writer.py FOLDER < seeds

For each seed a forked process works on the store in the folder and dies by SIGKILL: in the
middle of a statement of SQLite, or at any other moment. To FOLDER.told it writes, one JSON
value a line: null when it starts, the number of a page before it changes that, and as soon
as `flush` has returned an object of all pages that were settled since the last one.
"""

import json
import os
import random
import signal
import sys
from pathlib import Path

from store_pages import HOST, folder_store, measures, near, page, revisit

from dedup_filter.pages.directory.frame_store import EarlyForm


def write(folder, seed):
    chance = random.Random(seed)
    store = folder_store(folder, "the crawl" if chance.random() < 0.5 else None)
    if chance.random() < 0.5:
        left = [chance.randrange(2_000)]

        def count_down():
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        store.database.connection.set_progress_handler(count_down, chance.choice([1, 10, 100]))
    else:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.001, 0.1))  # no handler: it dies
    told = os.open(f"{folder}.told", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tell(value):
        os.write(told, json.dumps(value).encode() + b"\n")

    tell(None)
    news = {}
    while True:
        step(store, chance, news, tell)
        if chance.random() < 0.1:
            store.flush()
            tell(news)
            news = {}


def step(store, chance, news, tell):
    """Do one thing; note of each page that is settled what it was given, None if it is gone."""
    number = store.last_page + 1
    kept = [n for n in range(max(number - 20, 1), number) if is_kept(store, n)]
    action = chance.choice(["see", "see", "claim", "repeat", "revisit", "replace", "delete"])
    if action == "see":
        store.insert(page(number))
        news[number] = number
    elif action == "claim":
        with store.database:
            store.insert(page(number, is_pending=True), "text")
            store.frames.learn(HOST, number, b"lesson")
            store.frames.wait(EarlyForm(number, HOST, b"form" * 500, b"note"))
        if chance.random() < 0.3:
            store.frames.save(HOST, b"state" * chance.randrange(1_000))
        if chance.random() < 0.4:
            store.commit(number)
            news[number] = number
        elif chance.random() < 0.4:
            store.release(number)
            news[number] = None
    elif kept:
        old = chance.choice(kept)
        tell(old)
        act_on(store, action, old, number, news)


def act_on(store, action, old, number, news):
    if action == "repeat":
        store.insert(page(number, near(old)))
    elif action == "revisit":
        store.insert(page(number, revisit(old), is_pending=True))
        store.commit(number)
        news[old], news[number] = number, None
    elif action == "replace":
        store.replace(old, measures(-old))
        news[old] = -old
    elif action == "delete":
        store.delete([old])
        news[old] = None


def is_kept(store, number):
    sql = "SELECT is_kept AND NOT is_pending FROM pages WHERE id=?"
    return bool(store.database.value(sql, (number,)))


if __name__ == "__main__":
    index = Path(sys.argv[1])
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                write(index, int(line))
            finally:
                os._exit(1)
        sys.stdout.write(f"{os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()
