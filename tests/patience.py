"""How long tests wait for what happens in another process."""

import time

# Far more than any wait needs; a machine under load must not fail a test.
PATIENCE = 300.0


def wait_until(condition, what, seconds=PATIENCE):
    """Return the first true answer of `condition`, asked again and again. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(0.02)
    return answer
