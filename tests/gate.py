"""The gate has all programs that tests start; elsewhere a test that lacks one is skipped.

With its newest versions it tries the most: as many cases as hypothesis has examples of a property.
"""

import os
import shutil

import pytest
from hypothesis import settings

IS_GATE = os.environ.get("CI", "false") not in ("", "0", "false")


def program(*names, package):
    """Return the path of the first of these programs that is there."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        (pytest.fail if IS_GATE else pytest.skip)(
            f"{names[0]} is not on PATH (on Debian: apt-get install {package})"
        )
    return found


def rounds(few, many):
    """Return how many cases to try: `many` where a property is tried with 100 examples."""
    return many if settings.default.max_examples >= 100 else few


def slow(*values, **named):
    """Make a case of a parametrized test slow."""
    return pytest.param(*values, marks=pytest.mark.slow, **named)


CLUSTER_TOO = ["redis_server", slow("redis_cluster")]
"""The servers of a test that a cluster of several repeats: few of them differ there."""
