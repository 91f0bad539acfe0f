"""A process that writes to the store in a folder until it is killed, by a seed.

It dies in the middle of a statement of SQLite, or at any other moment. Pages of even numbers are
left as they are once they are settled, and the record of their host's frame is the last of their
numbers; FOLDER.told gets these, one a line, as soon as `flush` has returned. All else happens to
the others.
"""

import os
import random
import signal

from patience import PATIENCE, PROCESSES
from store_pages import HOST, NOON, folder_store, measures, near, page, revisit

from dedup_filter.frames.host_frames import ChangedHost
from dedup_filter.store.sqlite.frame_store import FrameStore, ProvisionalForm


def write_and_be_killed(folder, seed):
    """Let a process write to the store; return when it is dead."""
    writer = PROCESSES.Process(target=write, args=(folder, seed))
    writer.start()
    writer.join(PATIENCE)
    died = -writer.exitcode
    assert died in (signal.SIGKILL, signal.SIGALRM), f"it ended by itself: {died}"


def write(folder, seed):
    chance = random.Random(seed)
    store = folder_store(folder, "the crawl" if chance.random() < 0.5 else None)
    if chance.random() < 0.5:
        left = [chance.randrange(2_000)]

        def count_down():
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        store.connection.set_progress_handler(count_down, chance.choice([1, 10, 100]))
    else:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.001, 0.2))  # no handler: it dies
    told = os.open(f"{folder}.told", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    settled = []
    while True:
        settled += step(store, chance, store.last_page + 1)
        if chance.random() < 0.2:
            store.flush()
            os.write(told, b"".join(b"%d\n" % number for number in settled))
            settled = []


def step(store, chance, number):
    """Record a page and do one thing to it, or to another; return the pages that stay as is."""
    text = "text" if chance.random() < 0.5 else None
    if number % 2 == 0:
        store.insert(page(number, is_pending=text is not None), text)
        store.commit(number)
        store.changed_frames[HOST] = ChangedHost(NOON, str(number).encode)
        return [number]
    old = chance.randrange(max(number - 20, 1), number + 1) | 1
    action = chance.choice(["claim", "wait", "release", "repeat", "revisit", "replace", "delete"])
    if action in ("repeat", "revisit") and old < number and store.fate(old) == "kept":
        judged = near(old) if action == "repeat" else revisit(old)
        store.insert(page(number, judged, is_pending=True))
        store.commit(number)
        return []
    with store.transaction():
        store.insert(page(number, is_pending=True), text)
        if action == "wait":
            store.commit(number)
            FrameStore(store).wait(HOST, ProvisionalForm(number, b"form" * 500, b"note"))
    if action == "release":
        store.release(number)
    elif action == "replace":
        store.replace(old, measures(-old))
    elif action == "delete":
        store.delete([old])
    return []
