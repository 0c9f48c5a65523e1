"""Photographs a report down to its throughput curve: `python docs/picture.py REPORT.html PICTURE.png`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH = 1120


def main(report: Path, picture: Path) -> None:
    """Write `picture`, as high as the page down to the caption of its first throughput chart."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        end = page.locator("#throughput figure").first.bounding_box()
        assert end is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": end["y"] + end["height"] + 16}
        page.screenshot(path=str(picture), full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
