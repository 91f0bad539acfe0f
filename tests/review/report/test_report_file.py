"""A report is put in place whole, and over nothing but another report."""

import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.review.report import require_free
from dedup_filter.review.report.render import BEGINNING, json_in_script

REPORT = BEGINNING.encode() + b"..."


def test_a_report_is_replaced_only_where_that_is_asked_for(tmp_path):
    path = tmp_path / "r.html"
    require_free(path)
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


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", "\ud800", "&amp;"])
def test_json_in_a_script_ends_nothing_and_means_the_same(text):
    import json

    written = json_in_script({text: [text]})
    assert written.isascii()
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}
