# SPDX-License-Identifier: Apache-2.0
"""The HTML page, in a browser: nothing is loaded, nothing goes wrong, everything can be found, also by keyboard."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.deviation import Deviation
from harness.errors import UsageError
from harness.report import CaseResult, Header, SubjectRecord
from harness.report.compare import compare
from harness.report.ending import Ending, recorded_ending
from harness.report.page import NAME, embedded, page, write_page
from harness.report.page.data import page_data
from harness.report.saved import Saved
from harness.requirements.catalogue import catalogue
from tests.browser import DRIVER, Browser
from tests.test_report_terminal import HEADER, case

needs_browser = pytest.mark.skipif(DRIVER is None, reason="needs chromedriver")
CONTRAST = "(" + Path(__file__).with_name("page_contrast.js").read_text().partition("\n(")[2]
LOG = (
    "application | clGetPlatformIDs(1, platforms, NULL)",
    "b | loaded",
    "top | clInitLayer(1, target, NULL, NULL)",
    "top | clInitLayer = CL_SUCCESS",
    'a | clIcdGetPlatformIDsKHR(0, NULL, num)  {"in": {}}',
    "a | clIcdGetPlatformIDsKHR = CL_SUCCESS",
    "application | clGetPlatformIDs = CL_SUCCESS",
    "application | clGetPlatformInfo(platform1, CL_PLATFORM_NAME, 0, NULL, NULL)",
)
EVIL = "</script><script>document.title='broken'</script><img src=x onerror=document.title='broken'>"
RED = case(
    "test_red[evil]",
    "crash",
    message=f"It answers {EVIL}.\nSIGSEGV in: clFinish\nthread 7: 0x1 (libc.so.6)\n    f+0x2 (libOpenCL.so.1)",
    log=LOG,
    log_times=(0, 20, 25, 27, 60, 62, 65, 70),
    files=("vendors/a.icd  (3 bytes)",),
    environment={"OCL_ICD_VENDORS": "/v"},
    reproduce="./clharness replay x",
    deviations=(Deviation("clFinish", "SIGSEGV"),),
    status="unexpected",
)
KNOWN = case(
    "test_known", "fail", "DISC-LNX-011", status="expected", reason="opens it", message="S.\nx", expected=("fail",)
)
GREY = case("test_grey", "pass", "DISC-LNX-022", outcome="lost")
OTHER = [case(f"test_other[{n}]", "pass", "DISC-GEN-001", duration=0.5) for n in range(5)]
RESULTS = [RED, KNOWN, GREY, *OTHER]


def ending(results: list[CaseResult] = RESULTS, version: str = "2.3") -> Ending:
    facts = {**HEADER.subject.facts, "version": version}
    return Ending(dataclasses.replace(HEADER, subject=SubjectRecord(facts=facts)), results, 1)


def saved(of: Ending) -> Saved:
    return Saved(Path("x"), of.header, tuple(of.results), footer={"complete": True})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def shots() -> Path:
    """Where screenshots are kept: as results of CI, where that names a folder."""
    return Path(os.environ.get("CLHARNESS_SCREENSHOTS") or build().folder / "screenshots")


def opened(browser: Browser, folder: Path, *endings: Ending, fragment: str = "") -> Browser:
    browser.media()
    browser.open(write_page(folder, endings or [ending()]), fragment)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    return browser


def set_search(browser: Browser, words: str) -> None:
    box = "document.querySelector('#search')"
    browser.run(f"({box}.value = {words!r}, {box}.dispatchEvent(new Event('input')))")


def rows(browser: Browser) -> str:
    return str(browser.run("document.querySelector('#matched').textContent"))


# --- without a browser ---


def test_runs_of_equal_names_are_told_apart_on_the_page() -> None:
    """Two builds of the same version, as a comparison has them."""
    one = ending()
    two = dataclasses.replace(one, header=dataclasses.replace(one.header, started="2027-01-02T03:04:05"))
    text = page([one, two])
    names = [run["title"] for run in page_data([one, two])["runs"]]
    assert names[1].endswith("(2027-01-02)") and len(set(names)) == 2
    assert all(f"<h2>{name}</h2>" in text for name in names)


def test_page_is_whole_by_itself(tmp_path: Path) -> None:
    text = write_page(tmp_path / "new", [ending()]).read_text()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [NAME]
    assert "default-src 'none'" in text
    assert not re.search(r"<(link|script|img|iframe)[^>]+(src|href)=\"(?!data:)", text)
    assert "@import" not in text and "url(" not in text


def test_what_is_unexpected_is_there_without_scripts() -> None:
    text = page([ending()]).partition("<script")[0]
    for words in ("DISC-LNX-013", "SIGSEGV", "./clharness replay x", "opens it", "cl_khr_icd.html"):
        assert words in text, words


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "]]>", "\u2028", "\udc80", "&lt;"])
def test_data_cannot_end_its_element(text: str) -> None:
    shown = embedded({"x": text})
    assert json.loads(shown) == {"x": text}
    assert shown.isascii() and not set("<>&") & set(shown)


def test_folder_that_cannot_be_written_is_a_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(tmp_path / "file", [ending()])


def big(number: int) -> list[CaseResult]:
    """So many cases, a tenth of them red with long logs, of 300 requirements, however many the catalogue has."""
    identifiers = list(catalogue())[:300]
    log = [
        tuple(f"application | clFlush({n * 100 + line:#x}, {line}, 0x7fff12345678)" for line in range(41))
        for n in range(50)
    ]
    return [
        case(
            f"test_with_a_name_of_the_usual_length_{n % 100}[parameter-{n}]",
            "fail" if n % 10 == 0 else "pass",
            identifiers[n % len(identifiers)],
            status="unexpected" if n % 10 == 0 else "ok",
            message=f"What must hold.\nassert {n} == {n + 1}" if n % 10 == 0 else "",
            log=tuple(f"{line} {n}" for line in log[n % 50]) if n % 10 == 0 else (),
            duration=n / 1000,
        )
        for n in range(number)
    ]


def test_5000_cases_are_below_3_megabytes(tmp_path: Path) -> None:
    assert write_page(tmp_path, [ending(big(5000))]).stat().st_size < 3_000_000


# --- in a browser ---


@needs_browser
def test_page_opens_without_errors_and_draws_no_more_than_the_eye_sees(tmp_path: Path) -> None:
    """What takes time to open is what is drawn: it must not grow with the number of cases."""
    elements = "document.getElementsByTagName('*').length"
    with Browser() as fresh:
        opened(fresh, tmp_path / "few", ending(big(500)))
        few = fresh.run(elements)
        opened(fresh, tmp_path / "many", ending(big(5000)))
        many = fresh.run(elements)
        assert fresh.console() == []
        assert rows(fresh).startswith("5000 of 5000 cases")
    assert 200 < few <= many < 2 * few


@needs_browser
def test_texts_of_a_subject_cannot_do_anything(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, fragment="#run=0&case=" + RED.case)
    assert browser.run("document.querySelector('dialog').open") is True
    assert EVIL in browser.run("document.querySelector('dialog').textContent")
    assert browser.run("document.title").startswith("Some 2.3")
    assert browser.console() == []


@needs_browser
def test_search_and_filters_narrow_the_cases(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path)
    assert rows(browser) == "8 of 8 cases, 4 requirements"
    browser.keys("/")
    assert browser.run("document.activeElement.id") == "search"
    for words, number in (("opens it", 1), ("sigsegv", 1), ("GREY lost", 1), ("DISC-GEN", 5), ("nowhere", 0), ("", 8)):
        set_search(browser, words)
        assert rows(browser).startswith(f"{number} of 8"), words
    browser.click("#statuses input[value=expected]")
    assert rows(browser).startswith("1 of 8")
    browser.click("#statuses input[value=ok]")
    assert rows(browser).startswith("7 of 8")
    assert browser.console() == []


@needs_browser
def test_a_case_is_reached_by_keyboard_and_shows_its_timeline(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path)
    browser.run("document.querySelector('#matrix button.row[aria-expanded]').focus()")
    browser.keys("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    browser.run("[...document.querySelectorAll('button.result')].pop().focus()")
    browser.keys("Enter")
    assert browser.run("document.querySelector('dialog').open") is True
    browser.open(tmp_path / NAME, "#run=0&case=" + RED.case)
    lanes = "[...document.querySelectorAll('.timeline .name')].map(n => n.textContent)"
    assert browser.run(lanes) == ["application", "layers", "loader", "vendors"]
    classes = "[...document.querySelectorAll('.timeline .call')].map(n => n.classList[1])"
    assert sorted(browser.run(classes)) == ["l-application"] * 2 + ["l-layers"] + ["l-loader"] * 2 + ["l-vendors"] * 2
    browser.run("document.querySelector('.timeline .call').focus()")
    shown = "document.querySelector('.shown').textContent"
    assert browser.run(shown).startswith("application | clGetPlatformIDs(1, platforms, NULL)")
    browser.keys("Right")
    assert "clGetPlatformIDs" in browser.run(shown) or "loaded" in browser.run(shown)
    before = browser.run("document.querySelector('.timeline svg').getAttribute('width')")
    browser.run("document.querySelector('.timeline .call').focus()")
    browser.keys("+")
    assert float(browser.run("document.querySelector('.timeline svg').getAttribute('width')")) > float(before)
    browser.screenshot(shots() / "case.png")
    places = "['vendors', 'application'].flatMap(n => [...document.querySelectorAll(`.timeline .l-${n}`)])"
    places = f"{places}.map(n => n.x.baseVal.value).filter((_, at) => at !== 2)"
    first, second, last = browser.run(places)
    assert (second - first) / (last - first) == pytest.approx(3 / 6, abs=0.02)  # lines
    browser.click(".tools input[type=checkbox]")
    first, second, last = browser.run(places)
    assert (second - first) / (last - first) == pytest.approx(40 / 50, abs=0.02)  # nanoseconds
    assert browser.run("document.querySelector('.tools small').textContent") == "70 ns from left to right"
    browser.keys("Escape")
    assert browser.run("document.querySelector('dialog').open") is False
    assert browser.console() == []


@needs_browser
def test_several_runs_are_a_matrix_with_their_differences(browser: Browser, tmp_path: Path) -> None:
    fixed = dataclasses.replace(RED, verdict="pass", status="ok", message="", log=())
    other = [fixed, KNOWN, dataclasses.replace(GREY, outcome="found"), *OTHER[:4]]
    opened(browser, tmp_path, ending(), ending(other, "2.4"))
    assert browser.run("[...document.querySelectorAll('#matrix th.run')].map(n => n.textContent.slice(0, 8))") == [
        "Some 2.3",
        "Some 2.4",
    ]
    browser.click("#differences")
    assert rows(browser) == "3 of 8 cases, 3 requirements"
    grey = "[...document.querySelectorAll('#greys tbody tr.differs td a')].map(n => n.textContent)"
    assert browser.run(grey) == ["lost", "found"]
    browser.click("#greys tbody a")
    assert browser.run("document.querySelector('#case-title').textContent").endswith("test_grey")
    assert "found" in browser.run("document.querySelector('dialog table').textContent")
    browser.keys("Escape")
    browser.screenshot(shots() / "matrix.png")
    assert browser.console() == []


@needs_browser
def test_a_comparison_leads_to_its_cases(browser: Browser, tmp_path: Path) -> None:
    fixed = dataclasses.replace(RED, verdict="pass", status="ok", message="", log=())
    before, after = ending([fixed, *OTHER], "2.2"), ending()
    browser.open(write_page(tmp_path, [before, after], compare(saved(before), saved(after))))
    assert browser.run("document.querySelector('.top .verdict').textContent").startswith("1 broken, 0 fixed")
    browser.click(".changes a")
    assert "crash" in browser.run("document.querySelector('dialog .pill').textContent")
    assert browser.console() == []


@needs_browser
def test_everything_that_can_be_used_has_a_name_and_enough_contrast(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path)
    browser.click("#expand")
    unnamed = """[...document.querySelectorAll('button, a, input, select, summary')].filter(n =>
        !(n.textContent.trim() || n.getAttribute('aria-label') || (n.labels && n.labels.length))).length"""
    assert browser.run(unnamed) == 0
    assert browser.run("document.documentElement.lang") == "en"
    assert browser.run(CONTRAST) == []
    browser.screenshot(shots() / "run.png")
    assert browser.console() == []


@needs_browser
def test_dark_mode_has_colours_of_its_own(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path)
    browser.media(dark=True)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 27)"
    assert browser.run(CONTRAST) == []
    browser.screenshot(shots() / "dark.png")
    assert browser.console() == []


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_paper_is_white_and_what_is_on_it_can_be_read(browser: Browser, tmp_path: Path, dark: bool) -> None:
    """Whatever colours the user wants on the screen."""
    opened(browser, tmp_path)
    browser.media("print", dark)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run(CONTRAST) == []
    browser.screenshot(shots() / f"print-{'dark' if dark else 'light'}.png")


def test_recorded_runs_of_different_kinds_stand_side_by_side() -> None:
    icd = Header(SubjectRecord("vulkan-driver", "Vulkan driver", {"path": "/x.so"}))
    text = page([ending(), Ending(icd, [case("test_v", "pass", "VK-DSC-001")], 0)])
    assert "/x.so" in text and "2 runs side by side" in text
    cut_short = dataclasses.replace(saved(ending()), footer=None)
    assert recorded_ending(cut_short).code == 130
