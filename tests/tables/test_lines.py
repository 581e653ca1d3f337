from .test_contract import read, rewrite


def test_txt_keeps_carriage_returns_and_odd_separators():
    content = "one\r\ntwo\u2028still two\x0b\x1e\n\nfour".encode()
    assert read("txt", content) == ["one\r", "two\u2028still two\x0b\x1e", "", "four"]
    assert rewrite("txt", content, str) == content + b"\n"
