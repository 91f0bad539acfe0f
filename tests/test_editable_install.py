"""A clone named as the package, in a Scrapy project named as the crawler: both are found.

Python takes the clone's folder for a namespace package unless it finds the package itself on its
path. Installed for real, in an environment that has the dependencies of this one and not its own
install.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from command_line import run_process
from shown_commands import ROOT

pytestmark = pytest.mark.slow

_CLONED = ("pyproject.toml", "README.md", "LICENSE", "scrapy.cfg", ".ci", "crawler", "dedup_filter")
_SETTINGS = """\
ADDONS = {"dedup_filter.Addon": 500}
SPIDER_MODULES = ["crawler"]
TELNETCONSOLE_ENABLED = False
"""
_SPIDER = """\
import scrapy

class Own(scrapy.Spider):
    name = "own"
    start_urls = ["data:,"]
    def parse(self, response):
        yield {"url": "https://example.com/"}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editable") / "project"
    (folder / "crawler").mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = crawler.settings\n")
    (folder / "crawler" / "__init__.py").touch()
    (folder / "crawler" / "settings.py").write_text(_SETTINGS)
    (folder / "crawler" / "spider.py").write_text(_SPIDER)
    clone = folder / "dedup_filter"
    clone.mkdir()
    for name in _CLONED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, clone / name)
    return folder


@pytest.fixture(scope="module")
def python(project):
    """Install the clone, and run the environment's Python in a folder below the project."""
    builder, where = venv.EnvBuilder(), project.parent / "venv"
    builder.create(where)
    program = builder.ensure_directories(where).env_exe
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments, where="."):
        command = [program, *arguments]
        code, out, err = run_process(command=command, cwd=project / where, env=environment)
        assert code == 0, err
        return out, err

    packages, _ = run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    dependencies = Path(packages.strip(), "_dependencies.pth")
    dependencies.write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", program, "install", "--no-index", "--no-deps"]
    clone = ["--no-build-isolation", "-e", str(project / "dedup_filter")]
    subprocess.run([*pip, *clone], check=True, env=environment)
    return run


@pytest.mark.parametrize("where", [".", "crawler"])
def test_the_package_is_imported_from_the_folder_above_the_clone_too(project, python, where):
    shown = "[d.__file__, *d.__path__, d.Addon.__module__]"
    code = f"import json, dedup_filter as d; print(json.dumps({shown}))"
    package = project / "dedup_filter" / "dedup_filter"
    found = [str(package / "__init__.py"), str(package), "dedup_filter.scrapy_plugin"]
    assert json.loads(python("-c", code, where=where)[0]) == found


def test_a_project_that_holds_the_clone_crawls(python):
    _, log = python("-m", "scrapy", "crawl", "own")
    assert "'dedup/pages': 1" in log


def test_the_crawler_of_the_clone_is_found_within_the_clone_only(python):
    assert "demo\n" in python("-m", "scrapy", "list", where="dedup_filter")[0]
    names = ["crawler", "tests", "docs", "benchmarks"]
    code = f"from importlib.util import find_spec; print({{*map(find_spec, {names})}})"
    assert python("-c", code, where="dedup_filter/dedup_filter")[0] == "{None}\n"
