"""The console script and `python -m dedup_filter`, as a shell has them.

How they end, what they read and write, and that they say the same when they are called in the
process of the tests, as for all the rest.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, run_process
from command_line import run as run_here
from index_feed import ITEMS

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
    [("--help", 0), ("nothing", 2), ("index stats", 2), ("pairs -d 13", 2), ("pairs", 2)],
)
def test_the_same_is_said_in_the_process_of_the_tests(run, arguments, wanted):
    code, out, err = run(*arguments.split(), text="8\nnine\n")
    assert code == wanted
    assert (code, out, err) == run_here(*arguments.split(), text="8\nnine\n")


def test_an_index(run, tmp_path):
    """Each command finds what another process left."""
    index = str(tmp_path / "index")
    feed = "".join(json.dumps(each) + "\n" for each in ITEMS)
    assert run("index", "import", index, text=feed)[::2] == (0, "")
    code, out, err = run("index", "check", index, "--json")
    assert (code, json.loads(out)["pages"], err) == (0, 25, "")
    assert run("index", "forget", index, "https://none/")[0] == 1
    assert run("index", "stats", str(tmp_path / "elsewhere"))[:2] == (2, "")
