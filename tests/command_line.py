"""The command as a user has it: arguments and standard input -> exit code and what it prints.

`run` calls it in the process of the tests, which spares the second that a start takes, and with
their warnings as errors. `run_process` starts it; for locks between processes, the exit code that
a shell sees, and what else only a process has. `start` lets a test send it signals, and read what
it writes while it works.
"""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from functools import partial
from io import BytesIO, TextIOWrapper
from unittest.mock import patch

from dedup_filter.cli import main

with suppress(ImportError):  # on Windows
    import resource

COMMAND = [sys.executable, "-m", "dedup_filter"]


def run(*arguments, text=""):
    """Run the command with a text on standard input, and no terminal."""
    out, err = BytesIO(), BytesIO()
    streams = {"stdin": _stream(BytesIO(text.encode())), "stdout": _stream(out)}
    # As the interpreter's own: what the encoding does not have must not hide an error.
    streams["stderr"] = _stream(err, errors="backslashreplace", write_through=True)
    with patch.multiple(sys, argv=["dedup-filter", *arguments], **streams):
        code = _exit_code()
        sys.stdout.flush()
    return code, out.getvalue().decode(), err.getvalue().decode()


def run_process(*arguments, text="", command=COMMAND, **options):
    """Run the command as a process, with a text on standard input."""
    finished = subprocess.run(
        [*command, *arguments], check=False, input=text.encode(), capture_output=True, **options
    )
    return finished.returncode, finished.stdout.decode(), finished.stderr.decode()


def run_with_small_files(most, *arguments, **options):
    """Run the command as a process that can write no file of more bytes.

    Nor does it compile: Python would leave modules cut short to all that import them later.
    """
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return run_process(*arguments, preexec_fn=limit, env=environment, **options)


def start(*arguments):
    """Start the command as a process, with pipes."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *arguments], **pipes)


def lines(*arguments, text="", run=run):
    code, out, err = run(*arguments, text=text)
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def scanned(*arguments, text="", run=run):
    """Run a scan; return what it has counted."""
    code, out, err = run("scan", *map(str, arguments), "--json", text=text)
    found = json.loads(out)
    assert (code, err) == (2 if found["bad"] else 0, "")
    return found


def refused(*arguments, text="", run=run):
    """Run a command that is refused: with one line that cannot harm a terminal. Return that."""
    code, out, err = run(*arguments, text=text)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("Error: ")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", err)
    assert len(err) < 600
    return err


def _stream(file, **options):
    return TextIOWrapper(file, encoding="utf-8", **options)


def _exit_code():
    """Call the command; an exception that it lets pass is the test's."""
    try:
        main()
    except SystemExit as end:
        if end.code == 130:  # nobody but who runs the tests can have done it
            raise KeyboardInterrupt from end
        return end.code
    raise AssertionError("the command ended without an exit code")
