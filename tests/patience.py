"""Other processes of tests, and how long tests wait for what happens in them."""

import multiprocessing
import time

# A copy of this process would share its clients. What all import is imported once, for all tests.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["dedup_filter.filter", "redis.cluster", "stopwordsiso"])
# Far more than any wait needs; a machine under load must not fail a test.
PATIENCE = 300.0


def wait_until(condition, what, seconds=PATIENCE, pause=0.02):
    """Return the first true answer of `condition`, asked again and again. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(pause)
    return answer
