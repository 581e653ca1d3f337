from textveil.lab.report.pages import details, element, figure, paragraph, section, table


def test_text_and_attributes_are_escaped():
    assert paragraph("<script>&") == "<p>&lt;script&gt;&amp;</p>"
    assert element("a", "x", href='"><b>') == '<a href="&quot;&gt;&lt;b&gt;">x</a>'
    assert element("td", ["1", "2"], class_="best") == '<td class="best">12</td>'


def test_a_table_scrolls_and_has_a_head():
    found = table(["<a>", "b"], [["<td>1</td>", "<td>2</td>"]], class_="pairs")
    assert found.startswith('<div class="scroll" tabindex="0"><table class="pairs"><thead>')
    assert '<th scope="col">&lt;a&gt;</th>' in found
    assert "<tbody><tr><td>1</td><td>2</td></tr></tbody>" in found


def test_what_unfolds_is_folded_unless_told_otherwise():
    assert details("<s>", "x") == "<details><summary>&lt;s&gt;</summary>x</details>"
    assert details("s", "x", unfolded=True).startswith("<details open>")


def test_captions_and_titles_are_escaped():
    assert "<figcaption>&lt;</figcaption>" in figure("<svg></svg>", "<")
    assert section("<", "x", name="n") == '<section id="n"><h2>&lt;</h2>x</section>'
