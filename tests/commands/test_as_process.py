"""The console script and `python -m dedup_filter`, as a shell has them.

How they end, what they read and write, and that they say the same when they are called in the
process of the tests, as for all the rest.
"""

import shutil
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, run_process
from command_line import run as run_here

SCRIPT = shutil.which("dedup-filter", path=Path(sys.executable).parent)


@pytest.fixture(
    params=[
        pytest.param(COMMAND, marks=pytest.mark.slow),
        pytest.param(
            [SCRIPT],
            marks=pytest.mark.skipif(SCRIPT is None, reason="the package is not installed"),
        ),
    ],
    ids=["module", "script"],
)
def run(request):
    def run(*arguments, **options):
        return run_process(*arguments, command=request.param, **options)

    return run


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [("--help", 0), ("index check INDEX", 0), ("index stats", 2), ("pairs", 2)],
)
def test_the_same_is_said_in_the_process_of_the_tests(run, index, arguments, wanted):
    command = arguments.replace("INDEX", str(index)).split()
    code, out, err = run(*command, text="8\nnine\n")
    assert code == wanted
    assert (code, out, err) == run_here(*command, text="8\nnine\n")
