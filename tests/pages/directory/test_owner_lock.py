"""Two writers of one index: the second is told who the first is."""

import os
import subprocess
import sys

import pytest
from store_pages import SCHEME, folder_store, page

from dedup_filter.errors import StoreBusy
from dedup_filter.pages.directory.page_store import PageStore

HOLD = """
import sys
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Scheme
store = PageStore.open(sys.argv[1], Scheme.from_json(sys.argv[2]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the index open."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "index"), SCHEME.to_json()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_another_process_is_named_with_what_to_do(tmp_path, other):
    with pytest.raises(StoreBusy) as refused:
        PageStore.open(tmp_path / "index", SCHEME)
    assert f"(pid {other.pid}, since 20" in str(refused.value)
    assert "Redis" in str(refused.value)


def test_the_index_is_free_when_its_holder_was_killed(tmp_path, other):
    other.kill()
    other.wait()
    assert (tmp_path / "index" / "owner.json").exists()
    with folder_store(tmp_path / "index") as store:
        store.insert(page(1))
        store.check()


def test_a_second_opener_in_this_process_is_refused_too(tmp_path):
    with folder_store(tmp_path), pytest.raises(StoreBusy, match=f"this process.*{os.getpid()}"):
        folder_store(tmp_path)
    assert not (tmp_path / "owner.json").exists()
    folder_store(tmp_path).close()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"pid": 1}', "\0"])
def test_a_holder_that_did_not_sign_is_another_process(tmp_path, content):
    with folder_store(tmp_path):
        (tmp_path / "owner.json").write_text(content)
        with pytest.raises(StoreBusy, match="in use by another process"):
            folder_store(tmp_path)
