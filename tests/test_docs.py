"""The documentation names everything that there is, and all that it names is there.

Pages that show crawls are followed in `tests/crawl/test_shown_crawls.py`; the site that is made of
them is looked at in `tests/test_site.py`.
"""

import doctest
import re
from dataclasses import fields, is_dataclass
from typing import get_args

import click
import pytest
from command_line import run
from passages import Collector
from scrapy.settings import Settings, default_settings
from scrapy.spiderloader import SpiderLoader
from shown_commands import DOCS, ROOT, blocks, commands

import dedup_filter
from crawler.settings import SPIDER_MODULES
from dedup_filter import FilterConfig, HammingIndex, NearDuplicateFilter, Verdict, errors
from dedup_filter.cli import _cli
from dedup_filter.commands.index import index_command
from dedup_filter.config import _RULES
from dedup_filter.errors import StoreAway
from dedup_filter.hamming.planner import chance_neighbours
from dedup_filter.model import SOURCES, Outcome, Reason, Refusal, Rule
from dedup_filter.review.watch import LAST_PAGES
from dedup_filter.review.watch import TEXTS as WARNINGS
from dedup_filter.scrapy_plugin.settings import _OWN, SETTINGS
from dedup_filter.scrapy_plugin.stats import CrawlStats, figures_of
from dedup_filter.text.selectors import Effect
from dedup_filter.upkeep.parquet import COLUMNS

DOCUMENTS = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
README = TEXTS["README.md"]
COMMANDS_PAGE = TEXTS["docs/command-line.md"]
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
_EXTRAS = PROJECT.partition("[project.optional-dependencies]")[2].partition("[tool.")[0]
EXTRAS = re.findall(r"^(\w+) = \[", _EXTRAS, re.MULTILINE)


def table(name, first_cell):
    """Return the cells of the rows of that table of a document which has this cell first."""
    text = TEXTS[name]
    assert text.count(f"\n| {first_cell} |") == 1
    start = text.rindex("\n\n", 0, text.index(f"\n| {first_cell} |") + 1)
    rows = map(cells, text[start:].strip().partition("\n\n")[0].splitlines())
    return [row for row in rows if "---" not in row[0]]


def cells(row):
    return re.split(r" \| ", row.removeprefix("| ").removesuffix(" |"))


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def shown_commands(program):
    return [
        command for text in TEXTS.values() for command in commands(text) if command[0] == program
    ]


# Settings

_ROWS = re.findall(r"^\| `DEDUP_.*", TEXTS["docs/settings.md"], re.MULTILINE)
DESCRIBED_SETTINGS = [cells(row) for row in _ROWS]
SETTING_ROWS = {names_in(name)[0]: rest for name, *rest in DESCRIBED_SETTINGS}


def test_all_settings_are_documented_and_no_others():
    assert len(SETTING_ROWS) == len(DESCRIBED_SETTINGS)
    assert sorted(SETTING_ROWS) == sorted(SETTINGS)


@pytest.mark.parametrize("option", fields(FilterConfig), ids=lambda option: option.name)
def test_the_default_of_each_option_is_documented(option):
    default, _ = SETTING_ROWS[f"DEDUP_{option.name.upper()}"]
    assert default.strip('`"') == str(option.default)


@pytest.mark.parametrize("name", _OWN)
def test_the_default_of_each_setting_of_the_plugin_is_documented(name):
    default, _ = SETTING_ROWS[name]
    if name == "DEDUP_URL_FIELD":
        assert (default, _OWN[name].default) == ("found by name", None)
    else:
        assert _OWN[name].metadata["read"](default.strip('`"')) == _OWN[name].default


@pytest.mark.parametrize("name", sorted({*SETTINGS} - {"DEDUP_LOG_LEVEL"}))
def test_the_choices_of_each_setting_are_documented(name):
    if name in _OWN:
        meant = _OWN[name].metadata["meant"]
    else:
        meant, _ = _RULES.get(name.removeprefix("DEDUP_").lower(), ("", None))
    choices = set(re.findall(r'"(\w+)"', meant))
    assert choices <= set(re.findall(r"\w+", " ".join(SETTING_ROWS[name])))


@pytest.mark.parametrize("name", TEXTS)
def test_no_document_names_a_setting_that_is_unknown(name):
    assert set(re.findall(r"\bDEDUP_[A-Z_]+\b", TEXTS[name])) <= {*SETTINGS, "DEDUP_"}


def test_what_is_written_of_a_duplicate_is_documented():
    rows = table("docs/settings.md", "`outcome`")
    meanings = {each: meaning for names, meaning in rows[1:] for each in names_in(names)}
    changed = Verdict("new", came=("a line",), went=("another",))
    assert meanings.keys() == {"url", *changed.as_json()}
    assert set(names_in(meanings["outcome"])) == set(get_args(Outcome))


# Statistics

REASONS = get_args(Reason)
NO_TEXT = "no_field"


class _SharedIndex:
    nbytes = capped = forgotten = learnt = 0

    def __len__(self):
        return 0

    def totals(self):
        return {}


def counted_stats():
    """Count whatever can be counted, and return the names of the stats, <so> where there are many.

    What other modules add has its name where it is added.
    """
    counted = Collector()
    stats = CrawlStats(counted)
    for outcome in get_args(Outcome):
        reason = "too_short" if outcome == "unjudged" else None
        verdict = Verdict(outcome, distance=3, language="en", reason=reason)
        stats.page("", verdict, NO_TEXT)
    for source in SOURCES:
        stats.page("", Verdict("near", "http://a/", 20, reason=source), NO_TEXT)
    stats.page("", Verdict("new", refused=Refusal("lines", 2, 0, "Ice", 1, 3)), NO_TEXT)
    stats.page("", Verdict("revisit", change=0.5, reason="again"), NO_TEXT)
    stats.page("", Verdict("new", selected=get_args(Effect)), NO_TEXT)
    for _ in range(LAST_PAGES):
        stats.page("http://a/x", Verdict("near", "http://a/", 0, original_page=1), NO_TEXT)
    stats.fault(StoreAway())
    stats.spent(1.0)
    with NearDuplicateFilter.open() as pages:
        stats.close({**figures_of(pages.conductor), **figures_of(_SharedIndex())})
    names = set(counted)
    for module in (ROOT / "dedup_filter" / "scrapy_plugin").glob("*.py"):
        code = module.read_text("utf-8")
        added = re.findall(r'(?:stats\.(?:add|set)\(|\bstat=)\s*"([\w/]+)"', code)
        names |= {f"dedup/{name}" for name in added}
    many = {"unjudged": "reason", "distance": "bits", "language": "code", "all": "outcome"}
    many |= {"warnings": "kind", "kept": "rule"}
    pattern = rf"/({'|'.join(many)})/\w+$"
    return {re.sub(pattern, lambda of: f"/{of[1]}/<{many[of[1]]}>", name) for name in names}


def documented_stats():
    tables = [table("docs/statistics.md", head)[1:] for head in ("stat", "for a closer look")]
    return {name for rows in tables for row in rows for name in names_in(row[0])}


def test_all_statistics_are_documented_and_no_others():
    assert documented_stats() == counted_stats()


@pytest.mark.parametrize("name", TEXTS)
def test_no_document_names_a_statistic_that_is_unknown(name):
    named = set(re.findall(r"`(dedup/[a-z_]+(?:/[a-z<>_]+)?)`", TEXTS[name]))
    many = ("<", *REASONS, *get_args(Rule))
    known = {re.sub("<.*>", each, stat) for stat in documented_stats() for each in many}
    assert {re.sub("<.*>", "<", each) for each in named} <= known


def test_all_warnings_are_documented_and_no_others():
    rows = table("docs/statistics.md", "warning")[1:]
    assert sorted(each for row in rows for each in names_in(row[0])) == sorted(WARNINGS)


def test_all_rules_for_which_pages_are_kept_are_documented():
    meaning = dict(row[:2] for row in table("docs/statistics.md", "stat"))["`dedup/kept/<rule>`"]
    assert sorted(set(names_in(meaning)) & {*get_args(Rule)}) == sorted(get_args(Rule))


def test_all_reasons_for_no_verdict_are_documented_and_no_others():
    rows = table("docs/troubleshooting.md", "reason")[1:]
    assert sorted(each for row in rows for each in names_in(row[0])) == sorted(REASONS)


@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_for_no_verdict_is_given_somewhere(reason):
    """That no other is given the types see to."""
    modules = (ROOT / "dedup_filter").rglob("*.py")
    given = [path.name for path in modules if f'"{reason}"' in path.read_text("utf-8")]
    assert {*given} - {"model.py"}


# Commands


@pytest.mark.parametrize("name", index_command.list_commands(click.Context(index_command)))
def test_each_command_for_an_index_is_documented(name):
    assert f"| `index {name} " in COMMANDS_PAGE


@pytest.mark.parametrize("name", _cli.list_commands(click.Context(_cli)))
def test_each_command_is_documented(name):
    assert f"dedup-filter {name}" in COMMANDS_PAGE


@pytest.mark.parametrize("name", TEXTS)
def test_commands_and_their_options_are_there(name):
    in_text = re.findall(r"`dedup-filter (?!\.\.\.)([^`]+)`", TEXTS[name])
    lines = [line.split() for line in in_text]
    lines += [each[1:] for each in commands(TEXTS[name]) if each[0] == "dedup-filter"]
    for arguments in lines:
        command, rest = _cli, list(arguments)
        while isinstance(command, click.Group) and rest:
            command = command.get_command(click.Context(command), rest.pop(0))
        assert command is not None, arguments
        there = {option for each in command.params for option in each.opts} | {"--help"}
        given = [each.partition("=")[0] for each in rest if re.match("-.", each)]
        assert set(given) <= there, arguments


def test_readme_shows_the_command_that_tests_and_the_gate_runs_it():
    command = "pip install -e '.[test]' && pytest"
    assert f"$ {command}\n" in "".join(blocks(README, "console"))
    gate = (ROOT / ".ci" / "run").read_text("utf-8")
    assert re.search(rf"# README's test command.*\n +{re.escape(command)} ", gate)


def test_crawls_have_spiders_and_settings_that_are_there():
    spiders = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": SPIDER_MODULES})).list()
    for _, command, spider, *arguments in shown_commands("scrapy"):
        if command == "dedup":
            continue  # tests/test_scrapy_command.py
        assert (command, spider in [*spiders, "news"]) == ("crawl", True)
        for setting in re.findall(r"-s (\w+)=", " ".join(arguments)):
            assert setting in SETTINGS or hasattr(default_settings, setting)


def test_extras_that_are_installed_are_there():
    assert "fast" in EXTRAS
    named = re.findall(r"(?:dedup-filter|\.)\[([\w,]+)\]", "".join(TEXTS.values()))
    assert {extra for each in named for extra in each.split(",")} <= {*EXTRAS}


def test_all_has_every_extra_for_users_but_spark():
    (named,) = re.findall(r'^all = \["dedup-filter\[([\w,]+)\]"\]', PROJECT, re.MULTILINE)
    assert {*named.split(",")} == {*EXTRAS} - {"all", "bench", "docs", "spark", "test"}


@pytest.mark.parametrize(
    "command", [each for each in shown_commands("dedup-filter") if "plan" in each]
)
def test_plans_are_made(command):
    code, out, err = run(*command[1:])
    assert (code, err) == (0, "")
    assert out


# Names of Python


def members(kind):
    """Return the public methods, properties and fields of a class."""
    own = {name for name in vars(kind) if not name.startswith("_")}
    return own | ({each.name for each in fields(kind)} if is_dataclass(kind) else set())


def described(*first_cells):
    """Return the names in the first column of tables in the page on Python."""
    rows = [row for cell in first_cells for row in table("docs/python.md", cell)[1:]]
    return {name for row in rows for name in names_in(row[0]) if not name.startswith("len(")}


def test_every_public_name_exists_and_is_documented():
    assert all(getattr(dedup_filter, name) for name in dedup_filter.__all__)
    assert set(dedup_filter.__all__) <= set(re.findall(r"\w+", TEXTS["docs/python.md"]))


@pytest.mark.parametrize(
    ("kind", "tables", "left_out"),
    [
        (NearDuplicateFilter, ["method", "method for pending pages"], {"open"}),
        (Verdict, ["field"], {"as_unjudged", "named"}),
        (HammingIndex, ["method of `HammingIndex`"], set()),
    ],
)
def test_all_members_are_documented_and_no_others(kind, tables, left_out):
    assert described(*tables) == members(kind) - left_out


def test_all_errors_are_documented_and_no_others():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert described("error") == {k.__name__ for k in kinds if issubclass(k, errors.DedupError)}


def test_all_columns_of_an_exported_table_are_documented_and_no_others():
    described = [name for row in table("docs/sql.md", "column")[1:] for name in names_in(row[0])]
    assert sorted(described) == sorted(COLUMNS)


# Examples and figures


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if "```pycon" in text])
def test_examples_print_what_they_say(name):
    code = "".join(blocks(TEXTS[name], "pycon"))
    example = doctest.DocTestParser().get_doctest(code, {}, name, name, 0)
    assert doctest.DocTestRunner().run(example).failed == 0
    assert example.examples


def test_readme_example_prints_what_it_says(capsys):
    example = re.search(r"```python\n(from dedup_filter import.*?)```", README, re.DOTALL)[1]
    exec(example, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", example)


def test_neighbours_by_chance_are_as_many_as_the_tuning_guide_says():
    units = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
    (_, *distances), *rows = table("docs/tuning.md", "pages stored")
    for stored, *counts in rows:
        number, unit = stored.split()
        for distance, count in zip(distances, counts, strict=True):
            k = int(distance.removeprefix("k = "))
            expected = chance_neighbours(k, int(number) * units[unit])
            assert float(count) == pytest.approx(expected, rel=0.5)


def test_times_of_look_ups_in_the_tuning_guide_are_those_of_the_benchmarks():
    (_, *distances), *rows = table("docs/tuning.md", "look-up of a page, k =")
    measured = {row[0]: row[1] for row in table("docs/benchmarks.md", "stored, k")}
    for stored, *times in rows:
        number = re.search(r"\d+ million", stored)[0]
        assert times == [measured[f"{number}, {distance}"] for distance in distances]


def test_each_benchmark_is_listed_with_its_question():
    programs = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if "\nif __name__ ==" in path.read_text("utf-8")
    }
    rows = table("docs/benchmarks.md", "program in `benchmarks/`")[1:]
    assert {name for row in rows for name in names_in(row[0])} == programs


# Pages and links


def slug(heading):
    """Return the name by which code hosts and the site link to a heading."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower())
    return kept.strip().replace(" ", "-")


def places(text):
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)", prose, re.MULTILINE)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=TEXTS)
def test_links_between_documents_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for file, place in re.findall(r"\]\((?!\w+:)([^)#]*)#?([^)]*)\)", text):
        target = document.parent / file if file else document
        assert target.exists(), file
        if place:
            assert place in places(target.read_text("utf-8")), f"{file}#{place}"


@pytest.mark.parametrize("folder", [DOCS, DOCS / "decisions"], ids=lambda folder: folder.name)
def test_each_page_is_named_on_the_first_of_its_folder(folder):
    linked = set(re.findall(r"\]\(([\w-]+\.md)", (folder / "index.md").read_text("utf-8")))
    assert linked == {page.name for page in folder.glob("*.md")} - {"index.md"}


def test_readme_fits_on_a_few_screens():
    assert len(README.split()) <= 1200


@pytest.mark.parametrize("page", ["quick-start", "how-it-works", "tuning", "troubleshooting"])
def test_readme_leads_to_the_guides(page):
    assert f"](docs/{page}.md" in README
