"""Time and memory of building a page of 10 configurations x 30 repeats, and of opening one of 94 items x 10 x 2."""

import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from reports.formats import html
from reports.report import report_of
from tests.reports.conftest import bank_items, write_run

BUILD_S, BUILD_MB = 10.0, 1024
OPEN_S, OPEN_MB = 2.0, 12.0
WORDS = [f"{chr(97 + number % 26)}{number * 7919 % 9973:x}" for number in range(2000)]


def runs(root: Path, configurations: int, repeats: int, words: int) -> list[Path]:
    """Run folders whose answers are random words; items pass 85 times of 100."""
    items = bank_items()
    made = []
    for side in range(configurations):
        chosen = random.Random(side)
        rows = ["".join("p" if chosen.random() < 0.85 else "f" for _ in range(repeats)) for _ in items]
        run = write_run(
            root,
            f"configuration-{side}",
            rows,
            items=items,
            texts=lambda item, repeat, chosen=chosen: " ".join(chosen.choices(WORDS, k=words)),
        )
        made.append(run.path)
    return made


def opening(page: Path) -> float | None:
    """Seconds from the request to a page that works; None without Chromium."""
    program = shutil.which("chromium")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page()
        shown.goto("about:blank")
        start = time.perf_counter()
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-ready=yes]")
        seconds = time.perf_counter() - start
        browser.close()
    return seconds


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        pair = runs(Path(folder, "pair"), 2, 10, 600)
        page = Path(folder, "page.html")
        page.write_text(html.render(report_of(pair)), "utf-8")
        size = page.stat().st_size / 1e6
        seconds = opening(page)
        print(
            f"94 x 10 x 2: {size:.1f} MB (limit {OPEN_MB}), opens in {seconds and round(seconds, 2)} s (limit {OPEN_S})"
        )
        many = runs(Path(folder, "many"), 10, 30, 120)
        start, cpu = time.perf_counter(), time.process_time()
        text = html.render(report_of(many))
        built, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
        print(
            f"10 x 30 x 94: built in {built:.1f} s, {cpu:.1f} s of one core (limit {BUILD_S}); {peak:.0f} MB at most "
            f"(limit {BUILD_MB}); {len(text) / 1e6:.1f} MB"
        )
    missed = size > OPEN_MB or (seconds or 0) > OPEN_S or min(built, cpu) > BUILD_S or peak > BUILD_MB
    return int(missed)
