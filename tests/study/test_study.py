"""Study files: valid content, and the errors for invalid content."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml

from tests.deadline import deadline
from textveil.errors import InputError, StudyError
from textveil.lab.study.study import Study, Target, load_study, write_value


def write(path: Path, values) -> Path:
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values), encoding="utf-8")
    return path


def test_a_missing_key_has_its_default(tmp_path, values):
    del values["seed"], values["profiles"], values["seeds"]
    study = load_study(write(tmp_path / "study.yaml", values)).study
    assert (study.seed, study.profiles, study.mechanisms, study.seeds) == (
        None,
        ("strict",),
        {"madlib": {}},
        (42, 43, 44),
    )
    assert study.size == 4
    assert study.datasets["reviews"].path == tmp_path / "reviews.jsonl"  # beside the study


@pytest.mark.parametrize("written", [".inf", "inf"])
def test_the_largest_share_can_be_lifted(tmp_path, values, written):
    path = write(tmp_path / "study.yaml", values)
    path.write_text(f"{path.read_text()}\nlargest_share: {written}\n")
    study = load_study(path).study
    assert study.largest_share == math.inf
    assert Study.model_validate_json(study.model_dump_json()) == study  # as workers get it


@pytest.mark.parametrize("written", [".nan", "-.inf", "0", "-1"])
def test_the_largest_share_must_be_positive(tmp_path, values, written):
    path = write(tmp_path / "study.yaml", values)
    path.write_text(f"{path.read_text()}\nlargest_share: {written}\n")
    with pytest.raises(StudyError, match="largest_share"):
        load_study(path)


def test_aliases_are_resolved_and_a_list_is_a_mapping_to_no_options(tmp_path, values):
    values |= {"distributions": ["baseline", "information_content"], "metrics": ["utility", "clear_text"]}
    values |= {"decompositions": ["words", "t_score"]}
    study = load_study(write(tmp_path / "study.yaml", values)).study
    assert study.distributions == {"uniform": {}, "ic": {}}
    assert study.decompositions == {"words": {}, "tscore": {}}
    assert study.metrics == {"downstream": {}, "clear_text": {}}
    assert study.choose_options("downstream") == {"seeds": [42]}


def test_models_in_folders_are_found_beside_the_study(tmp_path, values):
    (tmp_path / "models/mine").mkdir(parents=True)
    values["distributions"] = {"attention": {"model": "models/mine"}, "keybert": {"model": "all-minilm-l6-v2"}}
    study = load_study(write(tmp_path / "study.yaml", values)).study
    assert study.distributions["attention"]["model"] == str((tmp_path / "models/mine").resolve())
    assert study.distributions["keybert"]["model"] == "all-minilm-l6-v2"


def test_decompositions_and_mechanisms_take_options(tmp_path, values):
    values |= {"decompositions": {"pos": {"tagger": "nltk"}, "words": None}, "mechanisms": {"madlib": {}}}
    study = load_study(write(tmp_path / "study.yaml", values)).study
    assert study.decompositions == {"pos": {"tagger": "nltk"}, "words": {}}
    assert study.mechanisms == {"madlib": {}}
    assert study.size == 16
    assert type(study).model_validate_json(study.model_dump_json()) == study  # as a worker receives it


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"dekompositions": ["words"]},
            r"study.yaml', the file: There is no key 'dekompositions'. Did you mean 'decomp",
        ),
        ({"datasets": {"r": {"path": "a", "lable": "x"}}}, "datasets.r: There is no key 'lable'. Did you mean 'label'"),
        ({"datasets": {"r": {"path": "a", "label": {"colum": "x"}}}}, "datasets.r.label: .*Did you mean 'column'"),
        ({"datasets": {"../r": {"path": "a"}}}, r"datasets\.\.\./r: .*pattern"),
        ({"datasets": {"r": "a.csv"}}, r"datasets\.r: "),
        ({"datasets": {"r": {"path": 5}}}, r"datasets\.r\.path: "),
        ({"datasets": {"r": {}}}, r"datasets\.r\.path: .*required"),
        ({"decompositions": "words"}, "decompositions: "),
        ({"levels": [1, 2]}, "levels: "),
        ({"levels": {False: 1}}, "levels.*: .*string"),
        ({"levels": {"high": "much"}}, "levels.high: .*number"),
        ({"metrics": {"attribute": {"classifier": ["linear"]}}}, "There is no classifier"),
        ({"seeds": [42, 42]}, "seeds: 42 is repeated"),
        ({"datasets": {}}, "datasets: .*at least 1"),
        ({"datasets": {"r": {"path": "a", "sample": 0}}}, "datasets.r.sample.size: "),
        (
            {"datasets": {"r": {"path": "a", "label": {"column": "x", "map": {1: "a", 1.5: "b", "1.0": "c"}}}}},
            "same number",
        ),
        *(
            ({"datasets": {"r": {"path": "a", "label": {"column": "x", "map": wrong}}}}, "must be a word or a number")
            for wrong in ({4: None}, {4: ["a"]}, {None: "a"})
        ),
        (
            {"datasets": {"r": {"path": "a", "label": {"column": "x", "map": [1]}}}},
            "datasets.r.label.map: ",
        ),
        ({"decompositions": ["wrods"]}, "decompositions: There is no decomposition 'wrods'. Did you mean 'words'"),
        ({"decompositions": ["words", "words"]}, "decompositions: 'words' is repeated"),
        ({"distributions": ["uniform", "baseline"]}, "distributions: 'uniform' is repeated"),
        (
            {"distributions": {"uniform": {"model": "x"}}},
            "distributions: The distribution 'uniform' has no options",
        ),
        ({"distributions": {"gradients": {"step": 3}}}, "Did you mean 'steps'"),
        ({"distributions": {"gradients": {"steps": 0}}}, "`steps` of gradients must be a whole number of at least 1"),
        ({"decompositions": {"pos": {"tagger": "nlkt"}}}, "no `tagger` of pos 'nlkt'. Did you mean 'nltk'"),
        ({"decompositions": {"words": {"tagger": "nltk"}}}, "The decomposition 'words' has no options"),
        ({"mechanisms": {"madlib": {"scale": 2}}}, "mechanisms: There is no option of the mechanism 'madlib' 'scale'"),
        ({"mechanisms": ["laplace"]}, "mechanisms: There is no mechanism 'laplace'"),
        ({"profiles": ["papr"]}, "profiles: There is no profile 'papr'. Did you mean 'paper'"),
        ({"metrics": {"similarty": {}}}, "metrics: There is no metric 'similarty'. Did you mean 'similarity'"),
        (
            {"metrics": {"perplexity": {"samples": 5}}},
            "metric 'perplexity' 'samples'. Did you mean 'sample'",
        ),
        ({"metrics": {"attribute": {"classifier": "lineal"}}}, "no classifier 'lineal'. Did you mean 'linear'"),
        (
            {"metrics": {"stylometry": {"classifier_options": {"model": "x"}}}},
            "classifier 'stylometry' has no options",  # its own classifier, rather than the linear one
        ),
        ({"metrics": {"stylometry": {"classifier": "linear"}}}, "`classifier` of stylometry must be stylometry"),
        ({"metrics": {"membership": {"classifier": "transformer"}}}, "'transformer' gives no probabilities"),
        ({"metrics": {"membership": {"split": "fixed"}}}, "`split`"),
        (
            {"metrics": {"attribute": {"classifier_options": {"model": "x"}}}},
            "classifier 'linear' has no options",
        ),
        ({"metrics": {"trade_off": {}}}, "computed from identifiers, attribute, downstream, similarity"),
        ({"levels": {"high": 0}}, "levels.high: .*greater than 0"),
        ({"levels": {"high": 1, "low": 1.0}}, "Two levels have the same epsilon"),
        ({"levels": {"high": float("nan")}}, "levels.high: "),
        ({"levels": {"high": {"unchanged": 0}}}, "levels.high.unchanged: .*greater than 0"),
        ({"levels": {"high": {"unchanged": 1}}}, "levels.high.unchanged: .*less than 1"),
        ({"levels": {"high": {"bound": -1}}}, "levels.high.bound: .*greater than 0"),
        ({"levels": {"high": {"unchanged": 0.2, "bound": 20}}}, "levels.high: A level has one key"),
        ({"levels": {"high": {}}}, "levels.high: A level has one key"),
        ({"levels": {"high": {"share": 0.2}}}, "levels.high: .*share"),
        ({"levels": {"high": {"unchanged": 0.2}, "low": {"unchanged": 0.20}}}, "Two levels have the same epsilon"),
        ({"draws": 0}, "draws: "),
        ({"draws": 1.5}, "draws: .*integer"),
        ({"draft_share": 0.2}, "`draft_share` goes with the profile 'proven'"),
        ({"draft_share": 2, "profiles": ["proven"]}, "draft_share.*from 0.01 to 0.99"),
        ({"profiles": ["proven"], "metrics": ["inversion"]}, "Under the profile 'proven', .*yake read a draft"),
        (
            {"profiles": ["proven"], "distributions": ["uniform"], "draft_share": 0.2, "metrics": ["inversion"]},
            "Under the profile 'proven', all methods read a draft",
        ),
        ({"profiles": ["paper"], "stopwords": "perturb"}, "'paper' needs `stopwords` to be 'keep'"),
        ({"seed": -1}, "seed: "),
        ({"seeds": []}, "seeds: "),
    ],
)
def test_an_invalid_value_is_refused_with_its_place(tmp_path, values, change, said):
    with pytest.raises(StudyError, match=said):
        load_study(write(tmp_path / "study.yaml", {**values, **change}))


def test_proven_takes_methods_that_look_at_the_text(tmp_path, values):
    assert "yake" in values["distributions"]
    study = load_study(write(tmp_path / "study.yaml", {**values, "profiles": ["proven"]})).study
    assert study.profiles == ("proven",)


def test_files_that_are_not_a_study(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_study(tmp_path / "none.yaml")
    with pytest.raises(StudyError, match="line 1, column 12: "):
        load_study(write(tmp_path / "a.yaml", "name: [a: b: c"))
    with pytest.raises(StudyError, match="line 2, column 1: the key 'name' is repeated"):
        load_study(write(tmp_path / "b.yaml", "name: a\nname: b\n"))
    with pytest.raises(StudyError, match="a study has keys"):
        load_study(write(tmp_path / "c.yaml", "- a\n- b\n"))
    with pytest.raises(StudyError, match="line 2: "):
        load_study(write(tmp_path / "d.yaml", "b: 1\na: \x00"))
    with pytest.raises(StudyError, match="line 1, .*tag"):  # a tag builds no object
        load_study(write(tmp_path / "e.yaml", "name: !!python/object/apply:os.getcwd []"))


BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
"""Each line repeats the one before it nine times: 9 ** 11 values in eleven lines."""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a0: &a0 [x, x, x]\n" + BOMB, r"line 6, .*: the file has more than 50,000 values, with those that aliases"),
        (f"a0: &a0 {'x' * 500_000}\na: [{'*a0, ' * 50_000}]", "line 2, .* more than 50,000 values"),
        ("a0: &a0 {x: 1}\n" + BOMB.replace("[", "{<<: [").replace("]", "]}"), "more than 50,000 values"),
        ("a: 1\nb: &b [1, *b]", r"line 2, column 11: the alias '\*b' is part of its own value"),
        ("a: &a\n  b: *a", "line 2, column 6: the alias"),
        ("a: 1\nb: " + "[" * 100_000, "is not YAML: maximum recursion depth"),
        ("".join("  " * n + "a:\n" for n in range(400)), "is not YAML: maximum recursion depth"),
        ("a: 1\nb:\n\tc: 1", "line 3, column 1: "),
        ("a:\n  b: 1\n  c: 2\n  b: 3", "line 4, column 3: the key 'b' is repeated"),
        ("a: {<<: {b: 1}, <<: {c: 1}}", "line 1, column 17: the key '<<' is repeated"),
        ("a: {<<: 5}", "line 1, .*for merging"),
        ("a: 1\nb: 2020-99-99", "is not YAML: month must be"),
        ("a: 1\nb: *c", "line 2, column 4: .*undefined alias"),
        ("a: 1\n? [b]\n: 2", "line 2, column 3: .*unhashable key"),
        ("a: 1\n" * 250_000, "more than 1,000,000 bytes"),
    ],
    ids=lambda value: value[:20],
)
def test_yaml_that_is_too_large_or_ambiguous_is_refused_with_its_line(tmp_path, content, said):
    with deadline(), pytest.raises(StudyError, match=said):
        load_study(write(tmp_path / "study.yaml", content))


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_bytes(b"name: a\nbundle: caf\xe9\n")
    with pytest.raises(StudyError, match="line 2: .*Save the file as UTF-8"):
        load_study(path)


def test_aliases_and_merge_keys_repeat_values(tmp_path, values):
    datasets = """
datasets:
  other: &other {<<: *reviews, text: body}
  third: {<<: [*other, *reviews], path: third.jsonl}
"""
    del values["datasets"]
    levels = yaml.safe_dump(values)
    reviews = "datasets:\n  reviews: &reviews {path: reviews.jsonl, label: stars, text: text}"
    study = load_study(write(tmp_path / "study.yaml", levels + datasets.replace("\ndatasets:", reviews))).study
    read = {name: (source.path.name, source.text, source.label.column) for name, source in study.datasets.items()}
    assert read == {
        "reviews": ("reviews.jsonl", "text", "stars"),
        "other": ("reviews.jsonl", "body", "stars"),
        "third": ("third.jsonl", "body", "stars"),
    }


def test_equal_numbers_are_the_same_value():
    target = Target(column="stars", map={1: "bad", 2.5: "so", "x": "other", "True": 7})
    assert target.classify(["1", "1.0", "2.5", "x", "true", "3", None]) == [
        "bad",
        "bad",
        "so",
        "other",
        "7",
        None,
        None,
    ]
    assert Target(column="stars").classify(["1", None]) == ["1", None]
    assert [write_value(value) for value in ("5.00", 5, "05", "nan", "inf", "a")] == ["5", "5", "5", "nan", "inf", "a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": {"perplexity": {"token": 3}}}, "Did you mean 'tokens'"),
        ({"distributions": {"gradients": {"step": 3}}}, "Did you mean 'steps'"),
        ({"distributions": {"gradients": {"steps": "many"}}}, "must be a whole number"),
        ({"metrics": {"downstream": {"classifier": "linear", "classifier_options": {"model": "x"}}}}, "has no options"),
    ],
)
def test_options_are_checked_by_what_methods_declare(tmp_path, change, message):
    values = {"datasets": {"r": {"path": "a.csv"}}, "levels": {"low": 1}, "decompositions": ["words"]}
    study = {**values, "distributions": ["uniform"], "metrics": {"clear_text": {}}, **change}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    with pytest.raises(StudyError, match=message):
        load_study(path)


def test_models_are_named_in_one_place(make_study, tmp_path):
    models = {"attention": "bert-base-uncased", "transformer": "gte-small", "similarity": "gte-small", "keybert": "x/y"}
    metrics = {
        "attribute": {"classifier": "transformer"},
        "downstream": {"classifier": "transformer", "classifier_options": {"epochs": 2, "model": "gpt2"}},
        "similarity": None,
    }
    study = make_study(models=models, metrics=metrics, distributions=["uniform", "attention"]).study
    assert study.distributions == {"uniform": {}, "attention": {"model": "bert-base-uncased"}}
    assert study.metrics["attribute"]["classifier_options"] == {"model": "gte-small"}
    assert study.metrics["downstream"]["classifier_options"] == {"model": "gpt2", "epochs": 2}  # its own comes first
    assert study.metrics["similarity"] == {"models": ["gte-small"]}
    assert type(study).model_validate_json(study.model_dump_json()) == study  # as workers get it
    with pytest.raises(StudyError, match="no method with a model 'atention'. Did you mean 'attention'"):
        make_study(models={"atention": "gte-small"})
    with pytest.raises(StudyError, match="no method with a model 'linear'"):
        make_study(models={"linear": "gte-small"})


def test_a_scale_makes_every_sample_smaller(make_study, values):
    source = values["datasets"]["reviews"]
    for sample in (30, {"size": 30, "seed": 42}):
        study = make_study(scale=0.5, datasets={"reviews": {**source, "sample": sample}}).study
        assert (study.datasets["reviews"].sample.size, study.scale) == (15, 1)
        assert type(study).model_validate_json(study.model_dump_json()) == study  # it is not applied twice
    tiny = make_study(scale=0.001, datasets={"reviews": {**source, "sample": 30}}).study
    assert tiny.datasets["reviews"].sample.size == 1
    with pytest.raises(StudyError, match="`scale` needs a `sample` in every data set. Add one to 'datasets.reviews'"):
        make_study(scale=0.5)
    for wrong, said in ((0, "greater than 0"), (2, "less than or equal to 1"), ("half", "valid number")):
        with pytest.raises(StudyError, match=said):
            make_study(scale=wrong)


def test_a_small_number_may_be_written_without_a_point(make_study):
    path = make_study().file.path
    path.write_text(path.read_text().replace("high: 1", "high: 5e-2\n  higher: 1E-3\n  most: 2.5e-4"), encoding="utf-8")
    assert load_study(path).study.levels == {"high": 0.05, "higher": 0.001, "most": 0.00025, "low": 20}
