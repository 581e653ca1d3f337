import re

from textveil.cli.distribute import Division, draw_page

WORDS = ["The", "<soup>", "was", "cold"]
TAKES = [False, True, False, True]
EVEN = Division("uniform", "uniform", [1.0] * 4, [0.0, 5.0, 0.0, 5.0])
ODD = Division("yake", "yake & co", [None, 0.25, None, None], [0.0, 2.5, 0.0, 7.5])


def test_words_without_a_score_are_counted_if_they_take_part():
    assert EVEN.count_missing(TAKES) == 0
    assert ODD.count_missing(TAKES) == 1


def test_every_word_is_a_box_with_its_share():
    page = draw_page(WORDS, TAKES, [EVEN, ODD], 10.0)
    assert page.count("<li ") == 8
    assert page.count('<li class="kept">The') == 2
    assert "&lt;soup&gt;<small>5</small>" in page
    assert "<small>7.5</small>" in page
    assert "<h2>yake &amp; co<span> 1 words without a score</span></h2>" in page
    assert "How a budget of 10 is divided" in page


def test_the_largest_share_is_the_darkest_and_its_letters_are_light():
    page = draw_page(WORDS, TAKES, [ODD], 10.0)
    cold = re.search(r'<li class="(\w+)" style="background: rgb\((\d+), (\d+), (\d+)\)"[^>]*>cold', page)
    soup = re.search(r'<li class="(\w+)" style="background: rgb\((\d+), (\d+), (\d+)\)"[^>]*>&lt;soup', page)
    assert (cold[1], soup[1]) == ("dark", "light")
    assert sum(map(int, cold.groups()[1:])) < sum(map(int, soup.groups()[1:]))


def test_the_page_needs_no_other_file():
    page = draw_page(WORDS, TAKES, [EVEN], 10.0)
    assert page.startswith("<!doctype html>")
    assert not re.search(r"https?://|<script|<link|src=", page)


def test_a_text_of_stopwords_has_no_share_to_color():
    nothing = Division("uniform", "uniform", [1.0], [0.0])
    assert "0 <span" in draw_page(["the"], [False], [nothing], 1.0)
