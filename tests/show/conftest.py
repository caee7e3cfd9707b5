"""Pages in a real chromium, each in a window of its own."""

import os
import shutil
import time

import pytest

from artifacts import GOLDEN
from demur import load, report_html

SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no chromium: apt-get install chromium, or say where it is with CHROMIUM=/path/to/it"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def three():
    return load(GOLDEN / "three.json")


class Opened:
    """A report in a window of its own, and whatever went wrong in it."""

    def __init__(self, chromium, folder, results, **how):
        path = folder / f"{time.monotonic_ns()}.html"
        path.write_text(results if isinstance(results, str) else report_html(results), encoding="utf-8")
        self.address = path.as_uri()
        context = chromium.new_context(viewport={"width": how.pop("width", 1200), "height": 900}, **how)
        self.page = context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: request.url == self.address or self.troubles.append(request.url))
        self.page.goto(self.address)
        if how.get("java_script_enabled", True) and 'id="data"' in path.read_text(encoding="utf-8"):
            self.page.wait_for_selector(".ready", state="attached")

    def cells(self, row):
        return self.page.locator(".operating:visible tbody tr").nth(row).locator("td").all_inner_texts()

    def seen(self, selector):
        return self.page.locator(f"{selector}:visible").count()


@pytest.fixture
def opened(chromium, tmp_path):
    made = []

    def of(results, **how):
        made.append(Opened(chromium, tmp_path, results, **how))
        return made[-1]

    yield of
    for one in made:
        assert one.troubles == []
        one.page.context.close()
