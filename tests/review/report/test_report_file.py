"""A report is put in place whole, and over nothing but another report."""

import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.review.report.render import json_in_script
from dedup_filter.review.report.report_file import BEGINNING, require_free, write_whole

REPORT = BEGINNING.encode() + b"..."


def test_a_free_path_may_be_written(tmp_path):
    require_free(tmp_path / "r.html")
    write_whole(tmp_path / "r.html", REPORT)
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    assert (tmp_path / "r.html").read_bytes() == REPORT


def test_a_report_is_replaced_only_where_that_is_asked_for(tmp_path):
    path = tmp_path / "r.html"
    path.write_bytes(REPORT)
    require_free(path, may_replace_report=True)
    with pytest.raises(ConfigError, match="exists and is not replaced"):
        require_free(path)


@pytest.mark.parametrize("content", [b"", b"<!doctype html>\n<p>mine", REPORT[1:], REPORT[:80]])
def test_a_file_of_somebody_else_is_never_replaced(tmp_path, content):
    path = tmp_path / "r.html"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no report of this program"):
        require_free(path, may_replace_report=True)


@pytest.mark.parametrize("name", ["none/r.html", "file/r.html", ".", "\0"])
def test_a_path_that_can_have_no_file_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        require_free(tmp_path / name)


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path):
    (tmp_path / "r.html").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "r.html", REPORT)
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", "\ud800", "&amp;"])
def test_json_in_a_script_ends_nothing_and_means_the_same(text):
    import json

    written = json_in_script({text: [text]})
    assert written.isascii()
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}
