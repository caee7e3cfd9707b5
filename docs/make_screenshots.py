"""Photograph the demo's report, by day and by night. Run by `make screenshots`."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from demur.simulate.demo import demonstrate

FOLDER = Path(__file__).parent
PICTURES = {
    "report.png": ({"width": 1160, "height": 1000}, "light", "#verdict"),
    "report-dark.png": ({"width": 1160, "height": 1000}, "dark", "#curves"),
}


def main() -> None:
    """Write the pictures."""
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = demonstrate(Path(folder)).page.resolve().as_uri()
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for name, (size, colours, section) in PICTURES.items():
            page = browser.new_context(viewport=size, color_scheme=colours, reduced_motion="reduce").new_page()
            page.goto(page_file if section == "#verdict" else f"{page_file}{section}")
            page.screenshot(path=FOLDER / name)
            print(f"wrote docs/{name}")
        browser.close()


if __name__ == "__main__":
    main()
