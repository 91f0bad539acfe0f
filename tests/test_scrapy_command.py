"""`scrapy dedup ...` is `dedup-filter ...` in a project as Scrapy makes it; others pay nothing.

Scrapy runs in processes of its own. It finds the command by the metadata of the installed package,
so these are made of `pyproject.toml`: the package may have been installed before the command was.
"""

import json
import re
import sys
from functools import partial
from pathlib import Path

import click
import pytest
from command_line import COMMAND, run, run_process
from gate import slow

from dedup_filter import NearDuplicateFilter
from dedup_filter.cli import _cli, main

PYPROJECT = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")


def add_metadata(folder):
    """Put what an installed package says of its commands where Python runs."""
    [entry] = re.findall(r'\[project.entry-points."scrapy.commands"\]\n(.*)\n', PYPROJECT)
    name, module = re.fullmatch('(.*) = "(.*)"', entry).groups()
    metadata = folder / "command_of_the_tests-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: command_of_the_tests\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[scrapy.commands]\n{name} = {module}\n")


@pytest.fixture(scope="module")
def scrapy(crawl_server):
    """Run `scrapy` in a folder."""
    return partial(crawl_server.run, "scrapy")


@pytest.fixture(scope="module")
def project(scrapy, tmp_path_factory):
    """Let Scrapy make a project; return its folder and its settings."""
    folder = tmp_path_factory.mktemp("projects")
    assert scrapy("startproject", "fresh", cwd=folder)[0] == 0
    add_metadata(folder / "fresh")
    return folder / "fresh", folder / "fresh" / "fresh" / "settings.py"


@pytest.fixture
def settings(project):
    """Add lines to the settings of the project for a while."""
    _, path = project
    before = path.read_text("utf-8")
    yield lambda *lines: path.write_text("\n".join((before, *lines, "")), "utf-8")
    path.write_text(before, "utf-8")


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        ("bits pairs --hex --max-distance 3", "8\n11\n4096\n", 0),
        ("bits fingerprint -", "Too short", 1),
        *(
            slow(*others)
            for others in (
                ("index -h", "", 0),
                ("-s LOG_LEVEL=INFO bits", "", 2),
                ("", "", 2),
                ("-- bits pairs --max-distance 13", "", 2),
                ("explain - --json", "<p>a few words", 0),
            )
        ),
    ],
)
def test_the_command_is_dedup_filter(scrapy, project, arguments, text, code):
    given, (folder, _) = arguments.split(), project
    wanted = run(*given, text=text)
    assert wanted[0] == code
    code, *printed = scrapy("dedup", *given, text=text, cwd=folder)
    out, err = (each.replace("scrapy dedup", "dedup-filter") for each in printed)
    assert (code, out, err) == wanted


def test_the_project_names_the_index(scrapy, project, settings):
    folder, _ = project
    for name, line in (
        ("news_index", 'DEDUP_INDEX = "news_index"'),
        ("job/dedup_index", 'JOBDIR = "job"'),
    ):
        with NearDuplicateFilter.open(folder / name) as pages:
            pages.see("https://example.com/a", text="A page of an index has some words. " * 9)
        settings(line)
        code, out, err = scrapy("dedup", "index", "stats", "--json", cwd=folder)
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert (Path(folder, found["index"]), found["pages"]) == (folder / name, 1)
    # One that is given counts.
    assert scrapy("dedup", "index", "check", "nowhere", cwd=folder)[0] == 2
    # Without Scrapy nobody asks for settings of a project.
    code, _, err = run_process("index", "stats", command=COMMAND, cwd=folder)
    assert (code, "Missing argument 'INDEX'" in err) == (2, True)


def test_each_command_on_an_index_has_that_of_the_project_and_no_other_command():
    class AskedError(Exception):
        pass

    def there():
        raise AskedError

    def commands(group, context, *names):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, context, *names, name)
            else:
                _, first, *_ = [*command.collect_usage_pieces(context), ""]
                yield [*names, name], first in ("INDEX", "DIR")

    found = list(commands(_cli, click.Context(_cli)))
    assert {names[-1] for names, has_index in found if has_index} > {"stats", "find", "tune"}
    for names, has_index in found:
        with pytest.raises(AskedError if has_index else SystemExit):
            main(names if has_index else [*names, "--none"], index_location=there)


def test_without_an_index_in_the_settings_one_must_be_given(scrapy, project, settings):
    folder, _ = project
    code, out, err = scrapy("dedup", "index", "stats", cwd=folder)
    assert (code, out) == (2, "")
    assert err == (
        "Error: name an INDEX: the index of the project's settings (DEDUP_INDEX) is in memory and "
        "ends with the crawl\n"
    )
    # What can do without an index is not refused.
    (folder / "page.html").write_text("<p>A page in a file, of some words.</p>")
    code, _, err = scrapy("dedup", "explain", "page.html", cwd=folder)
    assert (code, err) == (0, "")
    settings('DEDUP_ACTION = "tga"')
    code, _, err = scrapy("dedup", "index", "stats", cwd=folder)
    assert (code, err) == (2, 'Error: DEDUP_ACTION must be "drop" or "tag", not \'tga\'\n')


def test_scrapy_lists_the_command_also_outside_of_a_project(scrapy, tmp_path):
    add_metadata(tmp_path)
    code, out, _ = scrapy(cwd=tmp_path)
    assert code == 0
    assert re.search(r"^  dedup +Maintain the index", out, re.MULTILINE)
    assert scrapy("dedup", "bits", "pairs", text="8\n11\n", cwd=tmp_path) == (0, "[8, 11]\n", "")


@pytest.mark.slow
def test_a_crawl_loads_no_package_of_an_extra():
    """Scrapy itself loads brotli and Zstandard where they are installed."""
    code = """
        import sys
        import scrapy
        from scrapy.crawler import CrawlerProcess
        def parse(self, response): yield {"url": response.url}
        given = {"name": "own", "start_urls": ["data:,"], "parse": parse}
        process = CrawlerProcess({"ADDONS": {"dedup_filter.Addon": 500}, "LOG_LEVEL": "ERROR"})
        process.crawl(type("Own", (scrapy.Spider,), given))
        process.start()
        print(*{name.partition(".")[0] for name in sys.modules})
    """
    lines = "\n".join(line.strip() for line in code.splitlines())
    status, out, err = run_process(command=[sys.executable, "-c", lines])
    assert (status, err) == (0, "")
    loaded = {*out.split()}
    assert "dedup_filter" in loaded
    extras = {"duplicate_url_discarder", "fsspec", "pyarrow", "pypdfium2", "pyspark", "redis"}
    assert not loaded & (extras | {"rjieba", "starlette", "uvicorn", "warcio"})


def test_other_projects_load_nothing_for_it():
    code = """
        import json, sys
        import scrapy.cmdline
        before = {*sys.modules}
        from dedup_filter.scrapy_command import Command
        print(json.dumps(sorted({*sys.modules} - before)))
    """
    lines = "\n".join(line.strip() for line in code.splitlines())
    found = run_process(command=[sys.executable, "-c", lines])
    assert found == (0, '["dedup_filter", "dedup_filter.scrapy_command"]\n', "")
