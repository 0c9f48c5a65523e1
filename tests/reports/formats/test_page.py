"""The page in a real browser: what it draws, asks for, runs, and how it works by mouse and by keyboard."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reports.formats import html
from reports.report import Report, report_of
from tests.reports.conftest import bank_items, write_run
from tests.reports.formats.conftest import BREAKOUT, GOLDEN

pytestmark = pytest.mark.browser
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SIZES = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


@dataclass
class Seen:
    """What a page did beside showing itself."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI must have Chromium: without it the page is not tested")
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., tuple[Any, Seen]]]:
    contexts = []

    def opened_page(path: Path, width: int = 1280, scheme: str = "light") -> tuple[Any, Seen]:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page, seen = context.new_page(), Seen()
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("dialog", lambda dialog: seen.complaints.append(dialog.message) or dialog.dismiss())
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        return page, seen

    yield opened_page
    for context in contexts:
        context.close()


def written(report: Report, folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text(html.render(report), "utf-8")
    return path


@pytest.fixture(scope="module")
def golden_page(golden: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(golden, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def hostile_page(hostile: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(hostile, tmp_path_factory.mktemp("hostile-page"))


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_page_draws_its_charts_complains_of_nothing_and_asks_nobody(
    opened: Any, golden_page: Path, width: int, scheme: str
) -> None:
    page, seen = opened(golden_page, width, scheme)
    shown = page.locator("figure svg:visible")
    assert shown.count() == 6
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.requests == [golden_page.as_uri()]
    assert seen.complaints == []


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_axe_finds_no_serious_fault(opened: Any, golden_page: Path, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, _ = opened(golden_page, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found = Axe().run(page).response["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    assert not grave, [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in grave]


def test_sections_stand_in_reading_order(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page)
    ids = page.evaluate("[...document.querySelectorAll('main section')].map((each) => each.id)")
    assert ids == ["verdict", "identity", "scores", "grid", "throughput", "ratio", "transcripts", "method", "reproduce"]


def test_a_cell_opens_its_transcript(opened: Any, golden_page: Path, golden: Report) -> None:
    page, _ = opened(golden_page)
    page.locator("tr[data-i='reasoning-02'] td[data-s='1'][data-r='2']").click()
    assert page.locator("#reading h3").inner_text() == "reasoning-02"
    run = golden.configurations[1].quality
    assert run
    [trial] = [each for each in run.trials() if (each.item_id, each.repeat) == ("reasoning-02", 2)]
    assert trial.exchange.response
    answer = page.locator("#reading .answer").nth(1)
    assert answer.locator("pre").first.text_content() == trial.exchange.response.text
    assert "unscorable" in answer.inner_text() and "truncated" in answer.inner_text()
    raw = answer.locator("details pre").last
    assert raw.text_content() == trial.exchange.raw or "left out" in raw.text_content()


def test_the_grid_works_by_keyboard(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page)
    assert page.locator("#cells td[tabindex]").count() == 1
    first = page.locator("#cells td[tabindex='0']")
    first.focus()
    item = first.evaluate("(cell) => cell.parentNode.dataset.i")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "End", "ArrowRight", "Home", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.evaluate("({i: document.activeElement.parentNode.dataset.i, r: document.activeElement.dataset.r})")
    assert focused == {"i": item, "r": "2"}
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "reading"
    assert page.locator("#reading h3").inner_text() == item
    assert page.locator("#reading .answer select").nth(1).input_value() == "2"


def test_skip_link_comes_first_and_leads_to_the_verdict(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "verdict"


def wait_for_entries(page: Any, count: int) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#list li")).to_have_count(count, timeout=30_000)


def listed(page: Any) -> list[str]:
    names: list[str] = page.locator("#list li button span:first-child").all_inner_texts()
    return names


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("outcome", "unscorable", ["reasoning-02 · 2"]),
        ("reason", "truncated", ["reasoning-02 · 2"]),
        ("defect", "control_token", ["reasoning-03 · 1"]),
        ("dimension", "fidelity", [f"fidelity-01 · {repeat}" for repeat in (1, 2, 3)]),
        (
            "flip",
            "lost in every repeat",
            [f"classification-0{number} · {repeat}" for number in (1, 2, 3) for repeat in (1, 2, 3)],
        ),
    ],
)
def test_filters_find(opened: Any, golden_page: Path, name: str, value: str, expected: list[str]) -> None:
    page, _ = opened(golden_page)
    assert len(listed(page)) == 21
    page.locator(f"#f-{name}").select_option(value)
    wait_for_entries(page, len(expected))
    assert listed(page) == expected
    page.locator("#filters button").click()
    wait_for_entries(page, 21)


def test_text_filter_and_list_work_by_keyboard(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page)
    page.locator("#f-text").focus()
    page.keyboard.type("<|IM_END|>")
    wait_for_entries(page, 1)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#list') !== null")
    page.keyboard.press("Enter")
    assert page.locator("#reading h3").inner_text() == "reasoning-03"
    assert "<|im_end|>" in page.locator("#reading .answer").nth(1).locator("dl").inner_text()


def test_side_by_side_marks_the_first_difference(opened: Any, golden_page: Path, golden: Report) -> None:
    page, _ = opened(golden_page)
    page.locator("tr[data-i='classification-01'] td[data-s='1'][data-r='1']").click()
    texts = []
    for configuration in golden.configurations:
        assert configuration.quality
        [trial] = [t for t in configuration.quality.trials() if (t.item_id, t.repeat) == ("classification-01", 1)]
        assert trial.exchange.response
        texts.append(trial.exchange.response.text)
    place = next(i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    assert page.locator(".difference").inner_text() == f"First difference at character {place + 1}, marked."
    for side in (0, 1):
        before = (
            page.locator(".answer pre mark")
            .nth(side)
            .evaluate(
                "(mark) => { const range = document.createRange(); range.selectNodeContents(mark.parentNode);"
                " range.setEndBefore(mark); return range.toString(); }"
            )
        )
        assert before == texts[side][:place]
    second = page.locator("#reading .answer").nth(1).locator("select").first
    second.select_option("0")
    assert "equal" in page.locator(".difference").inner_text()


def test_theme_can_be_chosen(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page, scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark, light) == ("rgb(20, 23, 27)", "rgb(255, 255, 255)")
    label = page.locator("figure svg text:visible").first
    assert label.evaluate("(text) => getComputedStyle(text).fill") != "rgb(255, 255, 255)"


def test_hostile_transcripts_run_nothing(opened: Any, hostile_page: Path) -> None:
    page, seen = opened(hostile_page)
    for row in range(9):
        page.locator("#list li button").nth(3 * row).click()
        for fold in page.locator("#reading details summary").all():
            fold.click()
    page.wait_for_timeout(200)
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("main img, header img").count() == 0
    assert page.evaluate("document.scripts.length") == 2
    assert seen.requests == [hostile_page.as_uri()] and seen.complaints == []
    assert BREAKOUT.split("\u2028")[0] in page.locator("h1").inner_text().replace("\n", " ")


def test_hidden_characters_are_shown(opened: Any, hostile_page: Path) -> None:
    page, _ = opened(hostile_page)
    page.locator("#f-text").fill("gnp.exe")
    wait_for_entries(page, 3)
    page.locator("#list li button").first.click()
    answer = page.locator("#reading .answer pre").first.inner_text()
    assert answer.startswith("U+202Egnp.exeU+2066U+200BU+FEFF")


def test_a_line_of_a_megabyte_is_shown_in_part_until_asked_for(opened: Any, hostile_page: Path) -> None:
    page, _ = opened(hostile_page)
    page.locator("#f-text").fill("x" * 100)
    wait_for_entries(page, 3)
    page.locator("#list li button").first.click()
    pre = page.locator("#reading .answer pre").first
    assert len(pre.text_content()) == 20_000
    page.locator("#reading .answer button").first.click()
    assert len(pre.text_content()) > 190_000


def test_ladders_alone_make_a_page_without_transcripts(opened: Any, tmp_path: Path) -> None:
    page, seen = opened(written(report_of(sorted(GOLDEN.glob("*/*-ladder"))), tmp_path))
    assert page.locator("#transcripts, #grid, #scores").count() == 0
    assert page.locator("figure svg:visible").count() == 4
    assert page.locator(".card").count() == 2 and seen.complaints == []


def test_a_page_that_is_printed_hides_its_controls(opened: Any, golden_page: Path) -> None:
    page, _ = opened(golden_page)
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and not page.locator("#theme").is_visible()
    assert page.locator("#verdict .badge").is_visible()
    assert page.pdf()[:4] == b"%PDF"


@pytest.mark.long
def test_94_items_10_repeats_2_sides_stay_small_and_open_fast(opened: Any, tmp_path: Path) -> None:
    import random

    words = [f"{chr(97 + number % 26)}{number * 7919 % 9973:x}" for number in range(2000)]
    items = bank_items()

    def text(item: str, repeat: int, side: int) -> str:
        chosen = random.Random(f"{item}{repeat}{side}")
        return " ".join(chosen.choice(words) for _ in range(600))

    runs = [
        write_run(tmp_path, name, ["p" * 10] * 94, items=items, texts=lambda i, r, side=side: text(i, r, side))
        for side, name in enumerate(("incumbent", "candidate"))
    ]
    path = written(report_of([run.path for run in runs]), tmp_path)
    assert path.stat().st_size < 12_000_000
    page, _ = opened(path)
    page.reload()
    start = time.perf_counter()
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert time.perf_counter() - start < 6.0, "2 s on an idle machine, measured by tests/bench/reports.py"
    assert page.locator("#cells td").count() == 1880
