import pytest

from dedup_filter.errors import StoreError
from dedup_filter.scrapy_plugin.job import crawl_name, index_of_job


def test_name_is_given_once_and_kept(tmp_path):
    folder = tmp_path / "jobs" / "one"

    name = crawl_name(str(folder))

    assert crawl_name(str(folder)) == name
    assert [path.name for path in folder.iterdir()] == ["dedup_filter.crawl"]


def test_every_job_has_a_name_of_its_own(tmp_path):
    assert crawl_name(str(tmp_path / "a")) != crawl_name(str(tmp_path / "b"))


def test_name_whose_writing_was_cut_short_is_given_anew(tmp_path):
    (tmp_path / "dedup_filter.crawl.new").write_text("0123")

    assert len(crawl_name(str(tmp_path))) == 32
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"my notes", b"\xff\xfe", b"0123"])
def test_file_that_holds_no_name_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "dedup_filter.crawl"
    path.write_bytes(content)

    with pytest.raises(StoreError, match=str(path)):
        crawl_name(str(tmp_path))

    assert path.read_bytes() == content


def test_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="file"):
        crawl_name(str(tmp_path / "file"))


def test_index_of_a_job_is_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert index_of_job("jobs/one") == str(tmp_path / "jobs" / "one" / "dedup_index")
    assert index_of_job("~/one") == str(tmp_path / "~" / "one" / "dedup_index")
