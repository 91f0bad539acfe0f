"""The documentation names everything that there is, and the commands that it gives are real."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from crawler.demo_site.pages import build_pages
from dedup_filter import FilterConfig
from dedup_filter.scrapy_plugin.settings import SETTINGS
from dedup_filter.scrapy_plugin.stats import STATS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETTINGS)
def test_readme_documents_each_setting(name):
    assert f"| `{name}` |" in README


@pytest.mark.parametrize("name", STATS)
def test_readme_documents_each_stat(name):
    assert f"`{name}`" in README


@pytest.mark.parametrize("option", fields(FilterConfig), ids=lambda option: option.name)
def test_readme_gives_the_default_of_each_option(option):
    row = re.search(rf"\| `DEDUP_{option.name.upper()}` \| `([^`]*)` \|", README)
    assert row
    assert row[1].strip('"') == str(option.default)


def test_readme_names_no_setting_that_is_unknown():
    assert set(re.findall(r"DEDUP_[A-Z_]+", README)) <= set(SETTINGS)


def test_readme_fits_on_a_few_screens():
    assert len(README.splitlines()) <= 250


@pytest.mark.parametrize("document", [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"])
def test_links_between_documents_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [t for t in targets if not (document.parent / t).exists()] == []


def test_readme_example_prints_what_it_says(capsys):
    example = re.search(r"```python\n(from dedup_filter import.*?)```", README, re.DOTALL)[1]
    pages = build_pages()
    names = {
        "page": pages["/north-post/fresnel-lens.html"].body,
        "same_article_elsewhere": pages["/river-gazette/lens.htm"].body,
    }
    exec(example, names)
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", example)
