"""The playground in a real browser, on a real server."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.service.test_running import TOKEN, Server
from textveil.cli.settings import read_section
from textveil.errors import MissingExtraError, ResourceError
from textveil.text.identifiers import Finder

CHROMIUM = Path(os.environ.get("TEXTVEIL_CHROMIUM", "/usr/bin/chromium"))
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
TEXT = "The film was good and the music bad. The actor was alpha."
SECRET = "grzybowski"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CLIPBOARD = ["clipboard-read", "clipboard-write"]
MILLISECONDS = 60_000
"""The time to wait for anything; the machine may be busy."""

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no browser: set TEXTVEIL_CHROMIUM to a Chromium")


@pytest.fixture(scope="module")
def server(tiny_with_prior, tmp_path_factory):
    token_file = tmp_path_factory.mktemp("token") / "token"
    token_file.write_text(TOKEN)
    server = Server(tiny_with_prior.folder, token_file, "--seconds", "60")
    yield server
    server.process.kill()
    server.wait()


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(server, browser):
    """Opens the playground and waits for the first result. Nothing may be fetched from elsewhere or be refused."""
    contexts, wrong = [], []

    def open_page(link="", **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        context.set_default_timeout(MILLISECONDS)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: "Content Security Policy" in line.text and wrong.append(line.text))
        page.on("request", lambda request: request.url.startswith((server.url, "data:")) or wrong.append(request.url))
        page.goto(f"{server.url}/{link}")
        page.fill("#token", TOKEN)
        page.press("#token", "Enter")
        page.wait_for_selector(".result .chunk")
        page.wait_for_selector(".meaning strong")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def settle(page):
    """Wait until no request is under way."""
    page.wait_for_selector("#columns[aria-busy=false]")


def type_text(page, text):
    with page.expect_response("**/obfuscate"):
        page.fill("#text", text)
    settle(page)


def choose(page, field, value):
    page.select_option(f"#{field}", value)
    settle(page)


def read_column(page, kind):
    return " ".join(page.locator(f".{kind} .line").all_text_contents())


def read_meaning(page):
    stays, guessed = page.locator("#meaning-a strong").all_text_contents()
    return [0 if each == "hardly any" else int(each.removeprefix("about ")) for each in (stays, guessed)]


def find_violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        (each["id"], node["html"][:200], node.get("failureSummary"))
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def test_a_token_is_asked_for_and_a_wrong_one_is_told_there(server, browser):
    page = browser.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(server.url)
    page.fill("#token", "wrong")
    page.press("#token", "Enter")
    page.wait_for_selector("#token-error:not(:empty)")
    assert page.inner_text("#token-error") == "The token is wrong."
    page.close()


def test_an_example_is_already_obfuscated_and_a_typed_text_replaces_it(visit):
    page = visit()
    assert read_column(page, "original") == page.input_value("#text")
    type_text(page, TEXT)
    assert read_column(page, "original") == TEXT
    assert page.locator(".original .line").count() == page.locator(".result .line").count() == 2
    assert page.locator(".original .chunk").count() == page.locator(".result .chunk").count() == 12
    assert page.inner_text(".result .line >> nth=0").startswith("The ")
    assert page.inner_text("#spent").startswith("This result spends ")
    page.click("#again")
    page.wait_for_selector("#spent:has-text('2 results of this text so far')")
    type_text(page, "music")
    assert page.inner_text("#spent").startswith("This result spends ")
    type_text(page, "...")
    assert "The text has no words." in page.inner_text(".result")


def test_the_text_is_kept_nowhere(visit):
    page = visit()
    type_text(page, f"{SECRET} was good")
    choose(page, "mechanism-a", "exponential")
    assert "mechanism=exponential" in page.url
    stored = page.evaluate("JSON.stringify([location.href, {...localStorage}, {...sessionStorage}, document.cookie])")
    assert SECRET not in stored
    taken = [page.locator(f"#panel-{name} pre").text_content() for name in ("command", "python", "configuration")]
    assert SECRET not in "".join(taken)


def test_the_slider_says_what_an_epsilon_means_at_both_ends(visit):
    page = visit()
    slider = page.locator("#epsilon-a")
    slider.press("Home")
    private, low = read_meaning(page), float(page.inner_text(".epsilon-label output"))
    slider.press("End")
    settle(page)
    faithful, high = read_meaning(page), float(page.inner_text(".epsilon-label output"))
    assert low < high
    assert private[0] < faithful[0]
    assert private[1] < faithful[1]
    assert "smaller is more private" in slider.get_attribute("aria-valuetext")
    assert "nothing changes" in page.inner_text("#meaning-a")
    assert page.inner_text(".ends").startswith("← more private")
    assert f"a.epsilon_per_word={high:g}" in page.url


def count_requests(page):
    """The requests for results from now on."""
    asked = []
    page.on("request", lambda request: request.url.endswith("/obfuscate") and asked.append(request.post_data_json))
    return asked


def test_one_request_follows_a_drag_of_the_slider(visit):
    page = visit()
    asked = count_requests(page)
    box = page.locator("#epsilon-a").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(24):
        page.mouse.move(box["x"] + 10 + step * (box["width"] - 20) / 24, box["y"] + box["height"] / 2)
        page.wait_for_timeout(20)
    page.mouse.up()
    settle(page)
    for _ in range(10):
        page.press("#epsilon-a", "ArrowLeft")
    settle(page)
    assert [sorted({"level", "epsilon_per_word"} & set(body)) for body in asked] == [["epsilon_per_word"]] * 2
    assert page.inner_text("#spent").startswith("3 results of this text so far")


def test_a_level_is_chosen_and_its_epsilon_is_shown(visit):
    page = visit()
    asked = count_requests(page)
    assert page.locator(".levels input:checked").input_value() == "medium"
    shown = {}
    for level in ("high", "medium", "low"):
        page.check(f".levels input[value={level}]")
        settle(page)
        shown[level] = float(page.inner_text(".epsilon-label output"))
        assert "linked to their originals" in page.inner_text(".hint.level")
    assert shown["high"] < shown["medium"] < shown["low"]
    assert [(body["level"], "epsilon_per_word" in body) for body in asked] == [(level, False) for level in shown]
    assert "--level low" in page.inner_text("#panel-command pre")
    assert 'level="low"' in page.locator("#panel-python pre").text_content()
    assert "a.level=low" in page.url
    assert visit(page.url[page.url.index("#") :]).locator(".levels input:checked").input_value() == "low"
    page.press("#epsilon-a", "ArrowLeft")
    settle(page)
    assert page.locator(".levels input:checked").input_value() == ""
    assert "--level" not in page.inner_text("#panel-command pre")
    assert page.inner_text(".hint.level") == ""


def test_identifiers_are_redacted(visit):
    try:
        Finder()
    except (MissingExtraError, ResourceError) as error:
        pytest.skip(str(error))
    page = visit()
    type_text(page, "Maria Smith was good.")
    choose(page, "identifiers-a", "redact")
    assert read_column(page, "result").startswith("<PERSON> ")
    page.hover(".result .chunk.redacted")
    assert "identifier, redacted" in page.inner_text("#card")
    assert "no closed form" not in page.inner_text("#card")
    assert "a.identifiers=redact" in page.url
    assert "--identifiers redact" in page.inner_text("#panel-command pre")
    choose(page, "profile-a", "proven")
    assert "proven" in page.inner_text("#profile-error-a") + page.inner_text("#identifiers-error-a")


def test_a_card_explains_a_chunk(visit):
    page = visit()
    type_text(page, TEXT)
    choose(page, "mechanism-a", "exponential")
    page.hover(".result .chunk.perturbed >> nth=1")
    card = page.inner_text("#card")
    assert card.startswith("good →")
    for name in ("Outcome", "Share of the budget", "Score", "Probability of this result", "Probability to stay"):
        assert name in card
    listed = [float(each) for each in re.findall(r"([\d.]+) %", card.partition("Most probable others")[2])]
    assert listed == sorted(listed, reverse=True)
    assert len(listed) == 5
    assert sum(listed) <= 101
    assert page.locator(".original .linked").all_text_contents() == ["good"]
    page.keyboard.press("Escape")
    assert page.is_hidden("#card")
    page.hover(".result .kept_stopword >> nth=0")
    assert "stopword, kept" in page.inner_text("#card")
    choose(page, "mechanism-a", "madlib")
    page.hover(".result .chunk.perturbed >> nth=1")
    assert "madlib has no closed form" in page.inner_text("#card")


def test_profiles_and_forms_change_the_result_and_the_certificate(visit):
    page = visit()
    type_text(page, TEXT)
    choose(page, "form-a", "plain")
    assert page.locator(".result .chunk").count() == 12
    choose(page, "form-a", "")
    choose(page, "profile-a", "proven")
    assert page.locator(".kept_stopword").count() == 0
    assert "the same number of words" in page.inner_text("#panel-words")
    page.click("#tab-json")
    assert json.loads(page.locator("#panel-json pre").text_content())["profile"] == "proven"


def test_an_error_stands_beside_its_control(visit):
    page = visit()
    choose(page, "decomposition-a", "pmi")
    assert "has no" in page.inner_text("#decomposition-error-a")
    assert page.get_attribute("#decomposition-a", "aria-invalid") == "true"
    assert page.locator(".result").count() == 0
    choose(page, "decomposition-a", "words")
    assert page.inner_text("#decomposition-error-a") == ""
    type_text(page, "word " * 5_000)
    assert "too large" in page.inner_text("#text-error")


def test_two_settings_are_compared_and_a_link_restores_them(visit):
    page = visit()
    type_text(page, TEXT)
    page.click("#compare")
    page.wait_for_selector(".column[data-side=b].result")
    choose(page, "mechanism-b", "exponential")
    assert page.locator(".column h3").count() == 3
    assert page.inner_text(".column.result >> nth=1").startswith("Result of setting B")
    page.check("input[value=b]")
    assert "--mechanism exponential" in page.inner_text("#panel-command pre")
    restored = visit(page.url[page.url.index("#") :])
    restored.wait_for_selector(".column[data-side=b].result")
    assert restored.input_value("#mechanism-b") == "exponential"
    assert restored.input_value("#mechanism-a") == page.input_value("#mechanism-a") != "exponential"
    assert restored.input_value("#epsilon-b") == page.input_value("#epsilon-b")
    restored.click("#compare")
    assert "b.mechanism" not in restored.url
    assert restored.locator(".column h3").count() == 2


def test_settings_are_copied_as_a_command_as_python_and_as_configuration(visit, tmp_path):
    page = visit("#a.epsilon_per_word=3.5&a.mechanism=exponential&a.profile=nonsense", permissions=CLIPBOARD)
    page.click("#panel-command .copy")
    page.wait_for_selector("#status:has-text('Copied')", state="attached")
    words = shlex.split(page.evaluate("navigator.clipboard.readText()").replace("\\\n", ""))
    assert words[:2] == ["textveil", "obfuscate"]
    given = dict(zip(words[2::2], words[3::2], strict=True))
    assert (given["--mechanism"], given["--epsilon-per-word"], given["--profile"]) == ("exponential", "3.5", "strict")
    page.click("#tab-python")
    code = page.inner_text("#panel-python pre")
    compile(code, "page", "exec")
    assert 'mechanism="exponential"' in code
    page.press("#tab-python", "ArrowRight")
    configuration = page.inner_text("#panel-configuration pre")
    assert tomllib.loads(configuration)["obfuscate"]["epsilon-per-word"] == 3.5
    (tmp_path / "textveil.toml").write_text(configuration)
    assert read_section(tmp_path / "textveil.toml", "obfuscate")["mechanism"] == "exponential"


def test_the_keyboard_reaches_everything(visit):
    page = visit()
    page.focus("#text")
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    wanted = ["epsilon-a", "profile-a", "mechanism-a", "again", "compare", "link", "tab-words", "tab-command", "copy"]
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted
    page.focus(".original .chunk >> nth=0")
    assert page.inner_text("#card").startswith("The →")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#card").startswith("soup →")
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "card"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.column').classList.contains('result')")


def test_a_phone_has_no_sideways_scrolling_and_shows_a_card_on_a_tap(visit):
    page = visit(**PHONE)
    page.click("#compare")
    page.wait_for_selector(".column[data-side=b].result")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.tap(".result .chunk.perturbed >> nth=0")
    box = page.locator("#card").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_hinders_people_with_disabilities(visit, scheme):
    page = visit(color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(19, 22, 22)"
    assert dark == (scheme == "dark")
    choose(page, "profile-a", "paper")
    page.click("#compare")
    page.wait_for_selector(".column[data-side=b].result")
    choose(page, "decomposition-b", "pmi")
    page.focus(".original .chunk >> nth=1")
    assert find_violations(page) == []
