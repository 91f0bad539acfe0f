"""`dedup-filter text`: the text of pages, without the frame that the index knows."""

import pytest
from command_line import lines, run
from index_feed import article

from dedup_filter import NearDuplicateFilter

NOTICE = "This site keeps a notice of two sentences. It stands on every page and says nothing new."


def html(n):
    return f"<h1>Headline {n}</h1><p>{article(n)}</p><p>{NOTICE}</p>"


def own(n):
    return f"Headline {n}\n{article(n).strip()}"


@pytest.fixture(params=[True, False], ids=["kept", "not kept"])
def index(tmp_path, request):
    with NearDuplicateFilter.open(tmp_path / "index", keep_text=request.param) as pages:
        for n in range(3):
            pages.see(f"http://a.example/{n}", html=html(n))
    (tmp_path / "new.html").write_text(html(7))
    return str(tmp_path / "index"), request.param


def test_recorded_pages_and_files(index, tmp_path):
    folder, is_kept = index
    file = str(tmp_path / "new.html")
    code, out, err = run("text", folder, "http://a.example/0", file, "--url", "http://a.example/7")
    if is_kept:
        assert (code, out, err) == (0, f"{own(0)}\n{own(7)}\n", "")
    else:
        assert (code, out) == (1, f"{own(7)}\n")
        assert err == "http://a.example/0: its text was not kept, or cannot be read\n"
    found = lines("text", folder, file, "--json")
    assert found == [{"page": file, "text": f"{own(7)}\n{NOTICE}"}]  # a file without a host
