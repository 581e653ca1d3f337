import pytest

from textveil import errors
from textveil.errors import BudgetError, MissingExtraError, ParameterError, TextveilError, TextveilWarning, describe_bug

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
KINDS.remove(TextveilWarning)  # a warning, and no error


def test_every_error_has_one_root():
    assert all(issubclass(kind, TextveilError) for kind in KINDS)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(MissingExtraError, ImportError)


def test_the_tree_shows_every_error_below_its_parent():
    depths = {}
    for line in errors.__doc__.splitlines():
        for kind in KINDS:
            if f" {kind.__name__} " in f"{line} ":
                depths[kind] = line.index(kind.__name__)
    assert set(depths) == set(KINDS)
    for kind in set(KINDS) - {TextveilError}:
        parent = next(base for base in kind.__mro__[1:] if base in depths)
        assert depths[kind] == depths[parent] + 4


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Nothing to change.", ()),
        ("Set `epsilon` or `epsilon_per_word`, not both.", ("epsilon", "epsilon_per_word")),
        ("Set `overwrite=True`, and `overwrite` again.", ("overwrite",)),
        ("Not a parameter: `a b`.", ()),
    ],
)
def test_an_error_knows_the_parameters_it_mentions(message, names):
    assert BudgetError(message).parameters == names


def test_parameters_can_be_spelled_in_another_way():
    error = ParameterError("Lower `min_count=40`, or set `overwrite`.")
    assert error.spell(lambda name, value: f"<{name}|{value}>") == "Lower <min_count|40>, or set <overwrite|None>."


def test_a_bug_is_described_without_what_it_says():
    try:
        raise ZeroDivisionError("a private text")
    except ZeroDivisionError as error:
        described = describe_bug(error)
    assert described.startswith("a ZeroDivisionError in test_errors.py, line ")
    assert "private" not in described


def test_a_message_quotes_no_more_than_anybody_reads():
    message = str(ParameterError(f"There is no profile {'x' * 100_000!r}. Choose from: strict."))
    assert len(message) < 3_000
    assert message.startswith("There is no profile 'xxx")
    assert message.endswith("xxx'. Choose from: strict.")
