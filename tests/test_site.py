"""The site of the documentation is whole, and asks nobody for anything.

It needs the extra `docs`; the gate installs that, and runs this file once more.
"""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from urllib.parse import unquote, urldefrag

import pytest
from lxml import html
from shown_commands import DOCS

pytestmark = pytest.mark.skipif(find_spec("furo") is None, reason="needs dedup-filter[docs]")

LOADED = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "embed": "src",
    "object": "data",
}
LINKS_THAT_LOAD = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch"}
MISTAKES = [
    "[more](no-such-page.md)",
    "[more](settings.md#no-such-heading)",
    "[more](#no-such-place)",
    "![more](pictures/no-such-picture.svg)",
    "[more](../no-such-source.py)",
]


def build(source, target):
    """Build a site as CONTRIBUTING.md says."""
    command = [sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going"]
    return subprocess.run(
        [*command, "-c", str(source / "site"), str(source), str(target)],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    built = build(DOCS, target)
    assert (built.returncode, built.stderr) == (0, "")
    return target


@pytest.fixture(scope="module")
def pages(site):
    return {path: html.parse(path).getroot() for path in site.rglob("*.html")}


def test_each_document_is_a_page_in_the_margin(site, pages):
    first = pages[site / "index.html"]
    in_margin = {link.get("href") for link in first.find_class("sidebar-tree")[0].iter("a")}
    documents = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert {str(path) for path in documents} - {"index.html"} <= in_margin


def test_pages_load_nothing_from_elsewhere(site, pages):
    loaded = [
        (path, element.get(LOADED[element.tag]))
        for path, page in pages.items()
        for element in page.iter(*LOADED)
        if element.get(LOADED[element.tag])
    ]
    loaded += [
        (path, link.get("href"))
        for path, page in pages.items()
        for link in page.iter("link")
        if LINKS_THAT_LOAD & set(link.get("rel", "").split())
    ]
    assert loaded
    for path, address in loaded:
        file = address.partition("?")[0]
        assert re.match(r"(?!//)(?!\w+:)|data:", file), f"{path.name} loads {address}"
        assert file.startswith("data:") or (path.parent / unquote(file)).is_file(), address


def test_styles_and_pictures_load_nothing_from_elsewhere(site):
    styled = [path for path in site.rglob("*") if path.suffix in (".css", ".svg", ".html")]
    for path in styled:
        text = path.read_text("utf-8")
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", text), path
        assert not re.search(r"@import", text), path


def test_links_lead_to_pages_and_places_that_are_there(pages):
    names = {
        path: {*page.xpath("//@id"), *page.xpath("//a/@name"), ""} for path, page in pages.items()
    }
    followed = 0
    for path, page in pages.items():
        for link in page.xpath("//a/@href"):
            if re.match(r"https?:", link):
                continue
            file, place = urldefrag(link)
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path.name}: {link}"
            assert place in names.get(target, {place}), f"{path.name}: {link}"
            followed += 1
    assert followed > 100


def test_site_with_a_mistake_is_refused(tmp_path):
    source = tmp_path / "docs"
    shutil.copytree(DOCS / "site", source / "site")
    for page in DOCS.rglob("*.md"):
        copy = source / page.relative_to(DOCS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(f"# {page.stem}\n", "utf-8")
    (source / "settings.md").write_text("# Settings\n\n## What is judged\n", "utf-8")
    right = "# Tuning\n\n## Here\n\n[there](settings.md#what-is-judged), [here](#here)"
    (source / "tuning.md").write_text("\n\n".join([right, *MISTAKES]), "utf-8")

    built = build(source, tmp_path / "wrong")

    assert built.returncode == 1
    refused = [line for line in built.stderr.splitlines() if "WARNING" in line]
    assert len(refused) == len(MISTAKES)
    assert all("tuning.md:" in line for line in refused)
    for mistake in MISTAKES:
        target = re.search(r"no-such-[a-z]+", mistake)[0]
        assert any(target in line for line in refused)
