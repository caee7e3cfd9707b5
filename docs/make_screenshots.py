"""Photograph the report of the demo: by day, at night, on a phone and in print. Run by `make screenshots`."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from demur.extensions.lab.demo import demonstrate

FOLDER = Path(__file__).parent
# What is photographed: width and height of the window, the colours or the medium, and where it is scrolled to.
PICTURES = {
    "report.png": ((1160, 1050), "light", "#decision"),
    "report-dark.png": ((1160, 1000), "dark", "#differences"),
    "report-phone.png": ((360, 1500), "light", "#decision"),
    "report-print.png": ((695, 1010), "print", "#decision"),
}


def main() -> None:
    """Write the pictures."""
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = demonstrate(Path(folder)).page.resolve().as_uri()
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for name, ((width, height), look, section) in PICTURES.items():
            colours = "dark" if look == "dark" else "light"
            size = {"width": width, "height": height}
            page = browser.new_context(viewport=size, color_scheme=colours, reduced_motion="reduce").new_page()
            page.goto(page_file if section == "#decision" else f"{page_file}{section}")
            page.wait_for_selector(".ready", state="attached")
            if look == "print":
                page.emulate_media(media="print")
            page.screenshot(path=FOLDER / name)
            print(f"wrote docs/{name}")
        browser.close()


if __name__ == "__main__":
    main()
