import json
import math

import pytest

from textveil.lab.audit import Audit, Finding, Verdict
from textveil.lab.audit.claims import Claim, Pair

PAIR = Pair("near words", "alpha", "beta")


@pytest.mark.parametrize(
    ("claim", "shown", "verdict"),
    [
        (Claim(2.0), 1.9, Verdict.NOT_REFUTED),
        (Claim(2.0), 2.1, Verdict.VIOLATED),
        (Claim(0.0), 0.0, Verdict.NOT_REFUTED),
        (Claim(2.0, exact=2.001), 0.0, Verdict.NOT_REFUTED),  # a rounding error
        (Claim(2.0, exact=2.1), 0.0, Verdict.VIOLATED),
        (Claim(math.inf), 5.0, Verdict.NO_CLAIM),
        (Claim(math.inf, not_covered="the chunks differ"), None, Verdict.NOT_NEIGHBORS),
    ],
)
def test_verdicts(claim, shown, verdict):
    assert Finding(PAIR, claim, shown).verdict is verdict


def test_an_audit_as_json():
    findings = (
        Finding(PAIR, Claim(2.0, exact=1.0), 2.5, "word 1 is 'alpha'", (90, 2)),
        Finding(PAIR, Claim(math.inf), 0.3),
    )
    found = Audit(findings, draws=200, confidence=0.95, reach=3.0)
    assert found.violations == [findings[0]]
    values = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert values["violations"] == 1
    assert values["reach"] == 3.0
    assert values["pairs"][0] == {
        "kind": "near words",
        "first": "alpha",
        "second": "beta",
        "claimed": 2.0,
        "exact": 1.0,
        "shown": 2.5,
        "event": "word 1 is 'alpha'",
        "counts": [90, 2],
        "verdict": "violated",
        "not_covered": None,
    }
    assert values["pairs"][1]["claimed"] is None
