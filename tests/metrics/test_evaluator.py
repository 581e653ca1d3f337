import json
from importlib.metadata import PackageNotFoundError

import pytest

from textveil.errors import InputError, MissingExtraError, ParameterError, ResourceError, UnknownNameError
from textveil.extras import require_version
from textveil.lab.metrics import METRICS, Dataset, Evaluator, Metric
from textveil.lab.metrics.base import Need
from textveil.lab.metrics.classifiers.linear import Linear
from textveil.lab.metrics.clear_text import ClearText
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome

CHEAP = ["attribute", "downstream", "clear_text", "inversion"]


class Counting(Metric):
    """Counts the words of obfuscated texts."""

    name = "counting"
    needs = (Need.LABEL,)

    def measure(self, case):
        count = sum(len(text.split()) for text in case.obfuscated)
        return self.report(f"{count} words.", {"words": float(count)})


def test_requested_metrics_are_measured(dataset, obfuscations, certificate):
    evaluator = Evaluator(dataset, [*CHEAP, Counting()])
    texts = [result.text for result in obfuscations]
    found = evaluator.measure(texts, certificate=certificate, obfuscations=obfuscations)
    assert list(found.measurements) == [*CHEAP, "counting"]
    assert found.not_measured == {}
    assert (found.texts, found.left_out, found.empty) == (60, 0, 0)
    assert found.value("counting", "words") == sum(len(text.split()) for text in texts)
    assert found.value("similarity", "cosine") is None
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["metrics"]["counting"]["line"].endswith("words.")


def test_the_certificate_of_a_result_can_be_used(rows):
    (result,) = Obfuscator(seed=1).obfuscate_all(rows[0][:1], epsilon=60)
    found = Evaluator(Dataset(rows[0][:1]), ["clear_text"]).measure([result.text], certificate=result.certificate)
    words = result.certificate.tally.words
    assert found.value("clear_text", "kept_stopword") == words[Outcome.KEPT_STOPWORD] / sum(words.values())
    with pytest.raises(ParameterError, match="`certificate` must be a Certificate. Got dict"):
        Evaluator(Dataset(rows[0][:1])).measure([result.text], certificate=result.certificate.as_dict())


def test_the_certificate_of_one_of_many_results_can_be_used(dataset, obfuscations, certificate):
    texts = [result.text for result in obfuscations]
    evaluator = Evaluator(dataset, ["clear_text"])
    whole = evaluator.measure(texts, certificate=certificate, obfuscations=obfuscations)
    for given in (obfuscations[0].certificate, None):
        found = evaluator.measure(texts, certificate=given, obfuscations=obfuscations)
        assert found.measurements["clear_text"].values == whole.measurements["clear_text"].values
    alone = evaluator.measure(texts, certificate=obfuscations[0].certificate).measurements["clear_text"]
    assert alone.values["unchanged"] == whole.value("clear_text", "unchanged")
    assert "kept_stopword" not in alone.values  # those of one text are not those of all


def test_options_may_use_the_alias_of_a_metric(dataset, minilm):
    evaluator = Evaluator(dataset, ["cosine"], {"cosine": {"sample": 2}})
    found = evaluator.measure(list(dataset.originals))
    assert "sample 2" in found.measurements["similarity"].description
    with pytest.raises(UnknownNameError, match="Did you mean 'sample'"):
        Evaluator(dataset, ["similarity"], {"similarity": {"samples": 2}})


def test_values_may_be_found_by_the_alias_of_a_metric(dataset):
    found = Evaluator(dataset, ["attackers"], {"attackers": {"seeds": [7]}}).measure(list(dataset.originals))
    assert found.value("attackers", "adaptive") == found.value("attribute", "adaptive") == 1
    assert set(found.measurements["attribute"].details["seeds"]) == {"7"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pi": {"kind": 1}, "identifiers": {}}, "`options` name the metric 'identifiers' twice"),
        ({"pi": ["kinds"]}, "The `options` of 'pi' must map names to values. Got list instead"),
        ({"pi": {1: 2}}, "The `options` of 'pi' must map names to values"),
        ({"clear_text": {"wrods": 2}}, "no option of the metric 'clear_text' 'wrods'. Did you mean 'words'"),
        ({"clear_txt": {}}, "no metric 'clear_txt'. Did you mean 'clear_text'"),
        ({3: {}}, "`metric` must be a name or a metric. Got int instead"),
        ([("clear_text", {})], "`options` must map the name of a metric to its options. Got list instead"),
    ],
)
def test_wrong_options(dataset, options, message):
    with pytest.raises(ParameterError, match=message):
        Evaluator(dataset, ["clear_text", "pi"], options)


def test_metrics_must_be_a_list(dataset):
    with pytest.raises(ParameterError, match="`metrics` must be a list of names or metrics. Got a single string"):
        Evaluator(dataset, "clear_text")


def test_a_rare_class_stops_only_the_metrics_that_need_it(rows):
    texts, labels, authors = rows
    dataset = Dataset(texts, label=labels, attribute=["nobody", *authors[1:]])
    found = Evaluator(dataset, ["downstream", "clear_text"]).measure(texts)
    assert set(found.measurements) == {"downstream", "clear_text"}
    with pytest.raises(InputError, match="'attribute' cannot be measured. Row 1 is the only one with its attribute"):
        Evaluator(dataset, ["attribute"]).measure(texts)


def test_an_instance_takes_no_options(dataset):
    with pytest.raises(ParameterError, match="this one is built already"):
        Evaluator(dataset, [ClearText()], {"clear_text": {"words": 2}})
    with pytest.raises(ParameterError, match="Got the classifier 'linear'"):
        Evaluator(dataset, [Linear()])


def test_by_default_metrics_that_lack_something_are_listed_with_the_reason(rows, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SMOLLM2", str(tmp_path))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_ALL_MINILM_L6_V2", str(tmp_path))
    found = Evaluator(Dataset(rows[0], label=rows[1], attribute=["nobody", *rows[2][1:]])).measure(rows[0])
    assert list(found.measurements) == ["downstream", "clear_text", "overlap", "linkage", "membership"]
    assert {*found.measurements, *found.not_measured} == set(METRICS)
    assert "TEXTVEIL_RESOURCE_SPACY_EN" in found.not_measured["identifiers"]
    assert found.not_measured["attribute"].startswith("Row 1 is the only one with its attribute.")
    assert "`obfuscations`" in found.not_measured["inversion"]
    assert "identifiers, attribute, similarity" in found.not_measured["trade_off"]


def test_a_requested_metric_that_cannot_be_measured_is_an_error(rows, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path))
    dataset = Dataset(rows[0])
    with pytest.raises(ResourceError, match="SPACY_EN"):
        Evaluator(dataset, ["identifiers"])
    with pytest.raises(ParameterError, match="'attribute' cannot be measured. It needs .*`attribute`"):
        Evaluator(dataset, ["attribute"]).measure(rows[0])
    with pytest.raises(ResourceError, match="no model 'nowhere'"):  # an option asks for it, too
        Evaluator(dataset, options={"similarity": {"models": ["nowhere"]}})
    with pytest.raises(UnknownNameError, match="Did you mean 'identifiers'"):
        Evaluator(dataset, ["identifier"])
    with pytest.raises(ParameterError, match="options for similarity"):
        Evaluator(dataset, ["downstream"], {"similarity": {}})


def test_a_package_that_is_not_installed(rows, monkeypatch, request):
    def version(package):
        if package == "presidio-analyzer":
            raise PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr("importlib.metadata.version", version)
    require_version.cache_clear()  # other tests have read it
    request.addfinalizer(require_version.cache_clear)
    with pytest.raises(MissingExtraError, match=r"'presidio-analyzer'.*textveil\[evaluate\]"):
        Evaluator(Dataset(rows[0]), ["identifiers"])
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SMOLLM2", "/nowhere")
    monkeypatch.setenv("TEXTVEIL_RESOURCE_ALL_MINILM_L6_V2", "/nowhere")
    assert "textveil[evaluate]" in Evaluator(Dataset(rows[0])).measure(rows[0]).not_measured["identifiers"]


def test_chunks_of_rows_without_words_are_skipped(obfuscations, rows):
    texts, labels, authors = rows
    dataset = Dataset(["", *texts, None], label=["x", *labels, None], attribute=["x", *authors, None])
    results = [obfuscations[0], *obfuscations, obfuscations[0]]
    options = {"inversion": {"sample": 200}}
    evaluator = Evaluator(dataset, ["inversion"], options)
    found = evaluator.measure(["a", *[""] * 59, "word", "b"], obfuscations=results)
    assert (found.texts, found.left_out, found.empty) == (60, 2, 59)
    alone = Evaluator(Dataset(texts), ["inversion"], options).measure(texts, obfuscations=obfuscations)
    assert found.measurements["inversion"].values == alone.measurements["inversion"].values


def test_a_different_number_of_texts_is_refused(dataset, obfuscations):
    with pytest.raises(InputError, match="60 originals and 59 obfuscated"):
        Evaluator(dataset, [Counting()]).measure([""] * 59)
    with pytest.raises(ParameterError, match="each of the 60 texts. Got 59 results"):
        Evaluator(dataset, [Counting()]).measure([""] * 60, obfuscations=obfuscations[1:])
