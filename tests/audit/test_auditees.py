import sys

import pytest

from textveil.errors import ParameterError
from textveil.lab.audit.auditing import Command, ask, check_noise, draw_samples
from textveil.lab.audit.events import Coder
from textveil.randomness import SeededRandomness


def command(code):
    return Command(f'{sys.executable} -c "{code}"')


ECHO = command("import sys; [print(line.strip().upper()) for line in sys.stdin]")


def noisy(texts, generator=SeededRandomness(2).stream(0)):  # noqa: B008
    return [f"{text} {generator.integers(10)}" for text in texts]


def test_a_command_reads_lines_and_writes_lines():
    assert ECHO(["one word", "", "two"]) == ["ONE WORD", "", "TWO"]


def test_a_command_gets_other_characters_as_utf8():
    run = command("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    assert run(["café", "𝔱ea"]) == ["café", "𝔱ea"]


def test_a_last_line_without_an_end_counts():
    assert command("print('a'); print('b', end='')")(["x", "y"]) == ["a", "b"]


def test_no_shell_runs_a_command():
    assert Command("echo $HOME; ls")(["x"]) == ["$HOME; ls"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "is empty"),
        ("echo 'x", "quote that is not closed"),
        ("/no/such/program", "cannot be started: No such file"),
        ("false", "ended with code 1"),
        (f"{sys.executable} -c 'import os; os.kill(os.getpid(), 9)'", "ended with signal 9"),
    ],
)
def test_a_command_that_fails_is_reported(line, message):
    with pytest.raises(ParameterError, match=message):
        Command(line)(["a text"])


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["a"], "too few answers: 1 to 2 texts"),
        (["a", "b", "c"], "too many answers: 3 to 2 texts"),
        (["a", None], "not a string"),
    ],
)
def test_wrong_answers_are_refused(answers, message):
    with pytest.raises(ParameterError, match=message):
        ask(lambda texts: answers, ["one", "two"])


def test_an_auditee_that_raises_is_reported_without_what_it_says():
    def crash(texts):
        raise KeyError("a secret text")

    with pytest.raises(ParameterError, match=r"failed with a KeyError in test_auditees.py, line \d+") as caught:
        ask(crash, ["one"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("auditee", [ECHO, lambda texts: ["x"] * len(texts)], ids=["echo", "constant"])
def test_a_deterministic_auditee_is_refused(auditee):
    with pytest.raises(ParameterError, match="deterministic"):
        check_noise(auditee, ["one", "two"])


def test_a_command_with_a_fixed_seed_is_refused():
    seeded = command("import sys, random; random.seed(1); [print(random.random()) for line in sys.stdin]")
    with pytest.raises(ParameterError, match="fixed seed"):
        check_noise(seeded, ["one", "two"])
    fresh = command("import sys, random; [print(random.random()) for line in sys.stdin]")
    check_noise(fresh, ["one", "two"])


def test_every_text_is_drawn_as_often(monkeypatch):
    monkeypatch.setattr("textveil.lab.audit.auditing.AT_A_TIME", 7)
    seen, reports = [], []

    def auditee(texts):
        seen.append(list(texts))
        return noisy(texts)

    coder = Coder()
    samples = draw_samples(auditee, ["a", "b", "c"], 5, coder, lambda *report: reports.append(report))
    words = [coder.name(0, coder.look_up(numbers)[:, 0].tolist()) for numbers in samples]
    assert words == [["a"] * 5, ["b"] * 5, ["c"] * 5]
    assert [len(texts) for texts in seen[2:]] == [6, 6, 3]
    assert seen[2] == ["a", "b", "c"] * 2  # they take turns
    assert reports[-1] == ("drawing answers", 15, 1.0)
