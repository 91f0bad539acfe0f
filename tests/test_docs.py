"""The documentation names everything that there is, and the commands that it gives are real."""

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

import dedup_filter
from crawler.demo_site.pages import build_pages
from dedup_filter import FilterConfig
from dedup_filter.commands.index import index_command
from dedup_filter.scrapy_plugin.settings import SETTINGS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
COMMANDS_PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_is_documented(name):
    assert f"| `{name}` |" in SETTINGS_PAGE


@pytest.mark.parametrize("option", fields(FilterConfig), ids=lambda option: option.name)
def test_the_default_of_each_option_is_documented(option):
    row = re.search(rf"\| `DEDUP_{option.name.upper()}` \| `([^`]*)` \|", SETTINGS_PAGE)
    assert row
    assert row[1].strip('"') == str(option.default)


@pytest.mark.parametrize("document", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"])
def test_no_document_names_a_setting_that_is_unknown(document):
    named = re.findall(r"\bDEDUP_[A-Z_]+\b", document.read_text("utf-8"))
    assert {*named} <= {*SETTINGS, "DEDUP_"}


@pytest.mark.parametrize("name", index_command.list_commands(click.Context(index_command)))
def test_each_command_for_an_index_is_documented(name):
    assert f"| `index {name} " in COMMANDS_PAGE


def test_every_public_name_exists():
    assert all(getattr(dedup_filter, name) for name in dedup_filter.__all__)


def test_readme_fits_on_a_few_screens():
    assert len(README.split()) <= 1300


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
