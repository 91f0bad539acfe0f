"""A browser, and reports for it to open."""

import pytest
from gate import program
from patience import PATIENCE
from report_index import made_index

from dedup_filter.review.report import Amounts, write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    return program(*BROWSERS, package="chromium")


# Its driver runs a loop in this thread, so that no test beside these may run meanwhile.
@pytest.fixture(scope="module")
def browser(chromium):
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1_000 * PATIENCE)
    with sync_playwright() as driver:
        # Root may not shut itself in; what is opened is our own.
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """An index with texts."""
    return made_index(tmp_path_factory.mktemp("report") / "index")


@pytest.fixture(scope="session")
def report(index, tmp_path_factory):
    """The path of a report on it."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(index, path, {}, Amounts())
    return path


@pytest.fixture
def opened(browser):
    """Open files as pages; all that a page complains of, and all that it asks for, is noted."""
    contexts = []

    def open_file(path, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(1_000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.faults, page.requests = [], []
        page.on("console", lambda said: page.faults.append(said.text))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
