import pytest

from textveil.errors import ContractError
from textveil.lab.metrics import Metric
from textveil.testing import metrics


class Indiscreet(Metric):
    """Quotes a text, and ends no sentence."""

    name = "indiscreet"
    after = ("no_such_metric",)

    def measure(self, case):
        return self.report(" ".join(case.originals), {"size": len(case.originals)})


def test_texts_are_predictable():
    texts, labels, authors = metrics.make_rows(8)
    assert (len(texts), set(labels), set(authors)) == (8, {"good", "bad"}, {"anna", "ben"})
    assert texts == metrics.make_rows(8)[0]


def test_breaches_are_found(case):
    metric = Indiscreet()
    with pytest.raises(ContractError, match="`after` a metric"):
        metrics.check_its_place_among_metrics(metric)
    Indiscreet.after = ()
    with pytest.raises(ContractError, match="quotes a text"):
        metrics.check_no_text_is_quoted(metric, case)
    with pytest.raises(ContractError, match="not a finite float"):
        metrics.check_a_measurement_is_complete(metric, case)


@pytest.fixture(scope="module")
def case():
    return metrics.build_case()
