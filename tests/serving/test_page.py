"""The page, in a real browser: every action that it offers, and that all of it can be reached and read."""

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from server import Server, serving

import treebp
from treebp.pipeline import Pipeline

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, which drives the browser")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the page with")
TEXT = "They saw her duck with a telescope."


@pytest.fixture(scope="module")
def nlp() -> Pipeline:
    return treebp.load("en")


@pytest.fixture(scope="module")
def server():
    with serving("--processes", "1") as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


@pytest.fixture
def page(browser, server: Server):
    """The page with its first tree; in the end it has asked nobody but its server, and no program has failed."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    problems: list[str] = []
    home = f"http://127.0.0.1:{server.port}/"
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on(
        "request", lambda request: request.url.startswith((home, "blob:", "data:")) or problems.append(request.url)
    )
    opened.goto(home)
    opened.wait_for_selector(".main .word")
    yield opened
    context.close()
    assert problems == []


def heads(page) -> list[int]:
    """The heads of the first sentence, as the page has drawn them."""
    arcs = page.locator("#sentence-0 .main svg > g:first-of-type .arc")
    pairs = arcs.evaluate_all("arcs => arcs.map(arc => [Number(arc.dataset.word), Number(arc.dataset.head)])")
    return [head for _, head in sorted(pairs)]


def ours(nlp: Pipeline, **constraints) -> list[int]:
    return nlp(TEXT, **constraints)[0].parse.heads.tolist()


def wait_for_heads(page, expected: list[int]) -> None:
    for _ in range(100):
        if heads(page) == expected:
            return
        page.wait_for_timeout(50)
    assert heads(page) == expected


def drag(page, word: int, to: tuple[float, float]) -> None:
    """Pull the arc of a word to a place."""
    box = page.locator(f'#sentence-0 .main .arc[data-word="{word}"]:not(.other) .point').bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.move(*to, steps=3)
    page.mouse.up()


def middle(page, word: int) -> tuple[float, float]:
    box = page.locator("#sentence-0 .main .word").nth(word - 1).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def accessible(page) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_the_tree_follows_what_is_typed_and_late_answers_are_dropped(page, nlp: Pipeline) -> None:
    assert heads(page) == ours(nlp)
    late = []
    page.route(
        "**/parse", lambda route: late.append(route) if "Birds" in route.request.post_data else route.continue_()
    )
    page.fill("#text", "Birds sing.")
    page.wait_for_timeout(400)
    page.fill("#text", "She sleeps. It rains.")
    page.wait_for_selector("#sentence-1")
    for route in late:
        route.fulfill(status=200, body=json.dumps({"sentences": []}))
    page.wait_for_timeout(200)
    assert len(late) == 1
    assert page.locator(".form").all_text_contents() == ["She", "sleeps", ".", "It", "rains", "."]
    assert page.inner_text("#status") == "2 sentences, 6 words"


def test_other_heads_on_hover_and_on_focus(page, nlp: Pipeline) -> None:
    words, others = page.locator(".main .word"), page.locator(".arc.other")
    assert others.count() == 0
    words.nth(6).hover()
    expected = [f"{belief:.2f}" for belief in candidates(nlp, 7)[1:] if belief >= 0.01][:5]
    assert others.locator(".label").all_text_contents() == expected
    page.mouse.move(5, 5)
    assert others.count() == 0
    words.first.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert others.count() == len(expected)
    assert "telescope, NOUN" in page.evaluate("document.activeElement.getAttribute('aria-label')")


def candidates(nlp: Pipeline, word: int) -> list[float]:
    parse = nlp(TEXT)[0].parse
    return sorted(parse.beliefs[parse.arcs.modifiers == word].tolist(), reverse=True)


def test_an_arc_is_dragged_and_the_rest_follows(page, nlp: Pipeline) -> None:
    start = ours(nlp)
    drag(page, 7, middle(page, 4))
    wait_for_heads(page, ours(nlp, known=[{7: 4}]))
    assert page.locator(".arc.known").count() == 1
    svg = page.locator("#sentence-0 .main svg").bounding_box()
    drag(page, 4, (middle(page, 4)[0], svg["y"] + 8))  # to the top: the root
    wait_for_heads(page, ours(nlp, known=[{7: 4, 4: 0}]))
    page.click("#undo")
    wait_for_heads(page, ours(nlp, known=[{7: 4}]))
    page.click("text=duck → telescope ✕")
    wait_for_heads(page, start)


def test_an_arc_is_forbidden_by_keyboard_and_taken_back(page, nlp: Pipeline) -> None:
    words = page.locator(".main .word")
    words.nth(6).focus()
    page.keyboard.press("Delete")
    wait_for_heads(page, ours(nlp, forbidden=[[(2, 7)]]))
    assert page.locator(".settled button").inner_text() == "not saw → telescope ✕"
    assert "telescope" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Control+z")
    wait_for_heads(page, ours(nlp))
    words.nth(2).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")  # from Settle to Forbid
    page.keyboard.press("Enter")
    wait_for_heads(page, ours(nlp, forbidden=[[(4, 3)]]))
    page.select_option("#any-0", "7")
    wait_for_heads(page, ours(nlp, forbidden=[[(4, 3)]], known=[{3: 7}]))


def test_what_leaves_no_tree_is_taken_back(page, nlp: Pipeline) -> None:
    page.locator(".main .word").nth(3).click()
    page.select_option("#any-0", "3")
    wait_for_heads(page, ours(nlp, known=[{4: 3}]))
    page.locator(".main .word").nth(2).click()
    page.select_option("#any-0", "4")
    page.wait_for_selector("text=No tree is left with that")
    assert heads(page) == ours(nlp, known=[{4: 3}])
    assert page.locator(".settled button").count() == 1


def test_the_best_trees_stand_side_by_side_and_can_be_taken(page, nlp: Pipeline) -> None:
    page.select_option("#kbest", "3")
    page.wait_for_selector(".trees")
    trees = page.locator(".trees > div")
    assert trees.count() == 3
    assert trees.nth(0).bounding_box()["y"] == trees.nth(1).bounding_box()["y"]
    second = nlp(TEXT, kbest=3)[0].parse.alternatives[1][0].tolist()
    assert trees.nth(1).locator(".differs").count() == sum(a != b for a, b in zip(second, ours(nlp), strict=True))
    page.click("[aria-label='Take tree 2']")
    wait_for_heads(page, second)


def test_files_and_a_link(page, nlp: Pipeline, tmp_path: Path, browser) -> None:
    page.locator(".main .word").nth(6).focus()
    page.keyboard.press("Delete")
    wait_for_heads(page, ours(nlp, forbidden=[[(2, 7)]]))
    with page.expect_download() as download:
        page.click("#save-conllu")
    download.value.save_as(tmp_path / "trees.conllu")
    expected = nlp(TEXT, forbidden=[[(2, 7)]]).to_conllu(marginals=True)
    assert (tmp_path / "trees.conllu").read_text() == expected
    with page.expect_download() as download:
        page.click("#save-svg")
    download.value.save_as(tmp_path / "trees.svg")
    drawn = ElementTree.parse(tmp_path / "trees.svg").getroot()
    words = [text.text for text in drawn.findall(".//{*}text") if text.get("class") == "form"]
    assert words == nlp(TEXT)[0].parse.sentence.forms
    assert "light-dark" not in (tmp_path / "trees.svg").read_text()

    page.click("#link")
    page.wait_for_selector("text=The link is copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "#text=They" in link
    other = browser.new_page()
    other.goto(link)
    other.wait_for_selector(".settled")
    wait_for_heads(other, ours(nlp, forbidden=[[(2, 7)]]))
    other.close()


def test_markup_in_a_text_is_text(page) -> None:
    page.fill("#text", "<img src=x onerror=alert(1)> & <b>bold</b>")
    page.wait_for_selector("text=onerror")
    assert page.locator("#trees img, #trees b").count() == 0


def test_dark_light_and_a_phone(page, browser) -> None:
    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.select_option("#kbest", "3")
    page.wait_for_selector(".trees")
    page.locator(".main .word").nth(2).click()
    light = paper()
    accessible(page)
    page.click("#theme")
    assert paper() != light
    accessible(page)
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    accessible(page)


def test_a_token_is_asked_for(browser) -> None:
    with serving("--token", "secret", "--processes", "1") as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        page.wait_for_selector(".main .word")
        assert not page.is_visible("#key")
        page.close()
