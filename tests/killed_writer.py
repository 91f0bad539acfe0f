"""A process that writes batches to the store in a folder until it is killed, by a seed.

It dies in the middle of a statement of SQLite, or at any other moment. Pages of even numbers stay
as they were written, and the host's number of pages is the last of these numbers; FOLDER.told gets
them, one a line, as soon as `write` has returned. Pages of odd numbers are rewritten and deleted.
"""

import os
import random
import signal

import numpy as np
from patience import PATIENCE, PROCESSES
from store_pages import HOST, batch, folder_store, measures, near, page

from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import LAST_PAGE, KeptContent, Waiting


def write_and_be_killed(folder, seed):
    """Let a process write to the store; return when it is dead."""
    writer = PROCESSES.Process(target=write, args=(folder, seed))
    writer.start()
    writer.join(PATIENCE)
    died = -writer.exitcode
    assert died in (signal.SIGKILL, signal.SIGALRM), f"it ended by itself: {died}"


def write(folder, seed):
    chance = random.Random(seed)
    store = folder_store(folder)
    if chance.random() < 0.5:
        left = [chance.randrange(2_000)]

        def count_down():
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        store._connection.set_progress_handler(count_down, chance.choice([1, 10, 100]))
    else:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.001, 0.2))  # no handler: it dies
    told = os.open(f"{folder}.told", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        last = int(store.note(LAST_PAGE) or 0)
        records = [record_of(number, chance) for number in range(last + 1, last + 9)]
        even = [each.page for each in records if each.page % 2 == 0]
        kept = [each.page for each in records if each.is_kept]
        old = [number for number in range(max(last - 20, 1), last) if number % 2]
        again = [page(number, **measures(-number)) for number in old if chance.random() < 0.2]
        store.write(
            batch(
                *again,
                *records,
                gone=[number for number in old if chance.random() < 0.2],
                contents={number: KeptContent("text", b"") for number in even},
                hosts={HOST: Host(HOST, max(even), {1: 1})},
                waiting={
                    n: Waiting(n, HOST, 0, np.empty(0, np.uint64), b"form" * 99) for n in kept
                },
                notes={LAST_PAGE: str(last + 8)},
            )
        )
        os.write(told, b"".join(b"%d\n" % number for number in even))


def record_of(number, chance):
    judged = near(number - 1) if number % 2 and number > 1 and chance.random() < 0.5 else {}
    return page(number, {"outcome": "new"} | judged)
