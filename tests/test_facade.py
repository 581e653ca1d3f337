import inspect

import pytest

import textveil
from textveil import Obfuscator, facade
from textveil.errors import BudgetError, ParameterError
from textveil.facade import FileArguments
from textveil.settings import NAMES, Arguments, Settings


@pytest.fixture(autouse=True)
def forget():
    facade._obfuscators.clear()


def test_every_setting_has_its_type_in_calls():
    assert {*Arguments.__annotations__} == {*NAMES}
    own = [
        name
        for name in inspect.signature(Obfuscator.obfuscate_file).parameters
        if name not in ("self", "source", "target", "budget")
    ]
    assert {*FileArguments.__annotations__} == {*NAMES, *own}


def test_settings_are_built_stored_printed_and_compared(tiny):
    settings = Settings(tiny, mechanism="madlib", seed=3, epsilon=5)
    assert Settings.from_dict(settings.as_dict()) == settings.replace(bundle=str(tiny.folder))
    assert repr(Settings(level="high", seed=3)) == "Settings(seed=3, level='high')"
    made = Obfuscator(settings)
    assert (
        made.obfuscate("good film").text
        == Obfuscator(tiny, mechanism="madlib", seed=3, epsilon=5).obfuscate("good film").text
    )
    assert made.settings == settings.complete(tiny).replace(largest_share=made.largest_share)
    with pytest.raises(ParameterError, match="There is no setting 'colour'"):
        Settings.from_dict({"colour": "red"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"profile": "none"},
        {"mechanism": "none"},
        {"stopwords": "none"},
        {"form": "keep", "profile": "proven"},
        {"keep_emoji": True},
        {"identifiers": "none"},
        {"identifiers": "redact", "profile": "proven"},
        {"largest_share": 0},
        {"draft_share": 0.1},
        {"seed": "1"},
        {"epsilon": 1, "level": "high"},
        {"epsilon": -1},
        {"level": "none"},
        {"epsilon_per_word": 1, "length": "average", "profile": "proven"},
    ],
)
def test_wrong_settings_are_refused_at_once(wrong):
    with pytest.raises(ParameterError):
        Settings(**wrong)


def test_the_budget_of_a_call_takes_the_place_of_that_of_the_settings(tiny):
    made = Obfuscator(tiny, epsilon_per_word=3)
    assert made.build_budget().epsilon_per_word == 3
    assert made.build_budget(length="average").length == "average"
    assert made.build_budget(epsilon=7).epsilon == 7
    assert made.build_budget(epsilon=7).epsilon_per_word is None


def test_a_call_has_the_result_of_an_obfuscator(tiny):
    expected = Obfuscator(tiny, seed=3).obfuscate("good film, bad plot", epsilon=5)
    found = textveil.obfuscate("good film, bad plot", epsilon=5, bundle=tiny, seed=3)
    assert found.text == expected.text
    assert textveil.obfuscate("good film, bad plot", epsilon=5, bundle=tiny, seed=3).text == expected.text
    assert found.certificate.terms.randomness["predictable"]
    assert not textveil.obfuscate("good film", epsilon=5, bundle=tiny).certificate.terms.randomness["predictable"]


def test_further_calls_use_the_same_obfuscator(tiny, monkeypatch):
    built = []
    monkeypatch.setattr(facade, "Obfuscator", lambda settings: built.append(settings) or Obfuscator(settings))
    options = {"mechanism": "madlib", "mechanism_options": {"dimensions": 3}, "bundle": str(tiny.folder)}
    for level in ("low", "high"):
        for _ in range(2):
            textveil.obfuscate("good film", level=level, **{**options, "mechanism_options": {"dimensions": 3}})
    assert len(built) == 1
    textveil.obfuscate("good film", level="low", **{**options, "mechanism_options": {"dimensions": 4}})
    assert len(built) == 2
    for seed in range(3):
        textveil.obfuscate("good film", level="low", seed=seed, **options)
    assert len(built) == 2
    for share in range(1, 1 + facade.CACHED):
        textveil.obfuscate("good film", level="low", largest_share=share, **options)
    assert len(facade._obfuscators) == facade.CACHED


def test_unseeded_calls_differ(tiny):
    texts = {textveil.obfuscate("good film bad plot story", epsilon=1, bundle=tiny).text for _ in range(5)}
    assert len(texts) > 1


def test_a_file(tiny, tmp_path):
    (tmp_path / "in.csv").write_text("id,review\n1,good film\n2,bad plot\n")
    job = textveil.obfuscate_file(
        tmp_path / "in.csv", tmp_path / "out.csv", column="review", epsilon=5, bundle=tiny, seed=1
    )
    assert job.documents == 2
    assert (tmp_path / "out.csv").read_text().startswith("id,review,textveil_outcome\n1,")


def test_errors_are_those_of_the_obfuscator(tiny):
    with pytest.raises(BudgetError):
        textveil.obfuscate("film", epsilon=-1, bundle=tiny)
    with pytest.raises(ParameterError, match="A text must be a string"):
        textveil.obfuscate(3, epsilon=1, bundle=tiny)
    with pytest.raises(ParameterError, match="There is no argument 'colour'. Choose from: "):
        textveil.obfuscate("film", colour="red", bundle=tiny)


@pytest.mark.parametrize(("mistyped", "meant"), [("levle", "level"), ("epsilon_per_wrod", "epsilon_per_word")])
def test_a_mistyped_argument_is_recognized(tiny, tmp_path, mistyped, meant):
    with pytest.raises(ParameterError, match=f"There is no argument '{mistyped}'. Did you mean '{meant}'?"):
        textveil.obfuscate("film", **{mistyped: 1}, bundle=tiny)
    with pytest.raises(ParameterError, match="Did you mean 'drop_columns'?"):
        textveil.obfuscate_file(tmp_path / "in.csv", tmp_path / "out.csv", drop_column="id", bundle=tiny)


def test_lists():
    assert textveil.list_distributions()[:2] == ["uniform", "attention"]
    assert textveil.list_mechanisms()[0] == "madlib"
    assert "identifiers" in textveil.list_metrics()
    assert textveil.list_levels() == ["high", "medium", "low"]
