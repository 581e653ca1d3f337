import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.certificate import Certificate, Tally
from textveil.cli.main import app
from textveil.ledger import Ledger
from textveil.obfuscator import Obfuscator

NOISY = f"{sys.executable} -c 'import sys, random; [print(random.choice([line.strip(), \"x\"])) for line in sys.stdin]'"


def run(*arguments):
    return CliRunner().invoke(app, ["audit", "--quiet", *map(str, arguments)])


@pytest.fixture(scope="module")
def bundle(tiny):
    return tiny.folder


def test_a_table_has_a_line_per_pair(bundle):
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, "--seed", 1)
    assert result.exit_code == 0, result.output
    for word in ("claimed", "exact", "shown", "verdict", "near words", "not refuted", "not neighbors: the kept"):
        assert word in " ".join(result.stdout.split())
    assert "0 of 15 pairs refute the claim: 100 answers to each text" in result.stdout


def test_as_json(bundle):
    options = ("--mechanism", "exponential", "--cap", 1, "--profile", "proven", "--seed", 1)
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, *options, "--json")
    found = json.loads(result.stdout)
    assert found["auditee"] == "Obfuscator('tiny', words, uniform, exponential (cap 1.0), profile 'proven')"
    assert found["violations"] == 0
    assert {pair["verdict"] for pair in found["pairs"]} == {"not refuted"}
    assert all(pair["exact"] <= pair["claimed"] + 0.01 for pair in found["pairs"])
    assert (found["draws"], found["confidence"]) == (100, 0.95)


def test_a_violation_ends_with_code_1(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", 0.5, "--draws", 300)
    assert result.exit_code == 1
    assert "violated" in result.stdout
    assert "near words: word 1 is " in result.stdout
    assert "refute the claim: 300 answers" in result.stdout


def test_a_violation_as_json_ends_with_code_1_too(bundle):
    result = run(
        "--bundle",
        bundle,
        "--command",
        NOISY,
        "--claim",
        "distance",
        "--epsilon-per-word",
        0.1,
        "--draws",
        300,
        "--json",
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["violations"] > 5


def test_a_large_claim_is_not_refuted(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", 50, "--draws", 300)
    assert result.exit_code == 0
    assert "can show a log-ratio of at most" in " ".join(result.stdout.split())


def test_no_claim_at_all_is_shown_as_such(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", "inf", "--draws", 300, "--json")
    assert result.exit_code == 0
    assert {pair["verdict"] for pair in json.loads(result.stdout)["pairs"]} == {"no claim"}


def test_pairs_of_a_file(bundle, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a good film\ta bad film\nalpha\tbeta gamma\n")
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, "--pairs", path, "--json")
    first, second = json.loads(result.stdout)["pairs"]
    assert (first["kind"], first["first"], first["verdict"]) == ("line 1", "a good film", "not refuted")
    assert second["not_covered"] == "the numbers of words differ"


def test_a_certificate_is_audited(tiny, tmp_path):
    obfuscator = Obfuscator(tiny, decomposition="words", mechanism="exponential", profile="proven", seed=1)
    path = tmp_path / "certificate.json"
    obfuscator.obfuscate("alpha beta", epsilon_per_word=0.5).certificate.write(path)
    result = run("--bundle", tiny.folder, "--certificate", path, "--draws", 100, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert "exponential, profile 'proven'" in found["auditee"]
    again = run(
        *("--bundle", tiny.folder, "--mechanism", "exponential", "--profile", "proven"),
        *("--epsilon-per-word", 0.5, "--draws", 100, "--json"),
    )
    claimed = [[pair["claimed"] for pair in audit["pairs"]] for audit in (found, json.loads(again.stdout))]
    assert claimed[0] == claimed[1]


TEXTS = ["alpha beta", "the film was bad", "gamma delta psi omega", "the was", ""]
ISSUED = {
    "capped": (
        {"profile": "proven", "mechanism": "exponential", "mechanism_options": {"cap": 2.0}},
        {"epsilon_per_word": 0.5},
    ),
    "strict": ({"mechanism": "madlib", "distribution": "yake", "seed": 1}, {"epsilon": 6.0}),
    "limited": ({"mechanism": "exponential", "largest_share": 1.0, "form": "keep"}, {"epsilon_per_word": 3.0}),
    "drafted": (
        {"profile": "proven", "mechanism": "exponential", "mechanism_options": {"cap": 0.5}, "draft_share": 0.25},
        {"epsilon": 3.0},
    ),
}
GONE = object()


@pytest.fixture(scope="module")
def issued(tiny, tmp_path_factory):
    """Certificates of a file, by the name of their settings."""
    certificates = {}
    for name, (settings, budget) in ISSUED.items():
        ledger = Ledger(tmp_path_factory.mktemp("ledger") / "spent.db", budget_per_document=50)
        obfuscator = Obfuscator(tiny, **{"decomposition": "words", **settings}, ledger=ledger)
        if name == "capped":
            obfuscator.add_deniability(obfuscator.build_budget(**budget))
        results = list(obfuscator.obfuscate_all(TEXTS, **budget))
        tally = Tally.over(result.certificate.tally for result in results)
        certificate = Certificate(obfuscator.terms, results[0].certificate.budget, tally, other_columns=True)
        certificates[name] = json.loads(certificate.to_json())
    return certificates


def edit(certificate, changes):
    """A certificate with other values at some paths, such as ``bounds.words``."""
    edited = json.loads(json.dumps(certificate))
    for path, value in changes.items():
        *parents, last = path.split(".")
        place = edited
        for parent in parents:
            place = place[int(parent)] if isinstance(place, list) else place[parent]
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return edited


def audit_edited(tiny, tmp_path, certificate):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    return run("--bundle", tiny.folder, "--certificate", path, "--draws", 100)


@pytest.mark.parametrize("name", ISSUED)
def test_a_certificate_as_it_was_issued_is_audited(tiny, issued, tmp_path, name):
    assert "0 of" in audit_edited(tiny, tmp_path, issued[name]).stdout


FORGERIES = [
    # A guarantee that the settings do not give.
    ("capped", {"bounds.words": 0.5}, "in: bounds"),
    ("capped", {"bounds.document": 1.0}, "in: bounds"),
    ("capped", {"bounds": {"words": None, "document": None}}, "in: bounds"),
    ("capped", {"bounds": GONE}, "incomplete or damaged"),
    ("strict", {"bounds": {"words": 1.0, "document": 6.0}}, "in: bounds"),
    ("strict", {"mechanism.cap": 0.1}, "in: mechanism"),
    ("limited", {"mechanism.cap": 0.1, "bounds": {"words": 0.1, "document": 0.4}}, "in: bounds, mechanism"),
    ("capped", {"mechanism.options.cap": 0.1}, "in: bounds, deniability, mechanism"),
    ("strict", {"mechanism.options.cap": 0.1}, "cap"),
    ("strict", {"mechanism.guarantee": "exp(1)"}, "in: mechanism"),
    ("strict", {"mechanism.index": "perfect"}, "in: mechanism"),
    ("strict", {"mechanism.name": "vickrey"}, "has no guarantee"),
    ("strict", {"allocation": "public"}, "in: allocation"),
    ("strict", {"claim": "Nobody learns anything."}, "in: claim"),
    ("strict", {"claim": "Nobody learns anything.", "versions.textveil": "0.9"}, "Audit it with that version"),
    ("strict", {"neighbors": "any two documents"}, "in: neighbors"),
    ("strict", {"not_protected": []}, "in: not_protected"),
    ("strict", {"not_protected": ["the number of words, and so a budget per word"]}, "in: not_protected"),
    ("strict", {"distance.pairs": {"0.5": 0.01}}, "in: distance"),
    ("strict", {"distance.metric": "none"}, "in: distance"),
    ("strict", {"emoji": "keep"}, "in: emoji"),
    ("strict", {"profile": "proven"}, "incomplete or damaged"),
    ("limited", {"form": "plain"}, "in: neighbors, not_protected"),
    ("capped", {"deniability.shares.0.stays.50%": 0.0001}, "in: deniability"),
    ("strict", {"bundle.name": "en"}, "in: bundle"),
    ("strict", {"bundle.sha256": "0" * 64}, "the bundle was"),
    ("strict", {"certified_by": "a notary"}, "in: 'certified_by'"),
    ("strict", {"other_columns": False}, "in: not_protected"),
    ("strict", {"randomness.source": "os", "randomness.predictable": False}, "in: not_protected"),
    ("strict", {"randomness.predictable": False}, "seeded noise is predictable"),
    ("strict", {"randomness.source": "quantum"}, "seeded noise is predictable"),
    ("drafted", {"rounds.0.budget_share": 0.01}, "in: rounds"),
    ("drafted", {"rounds.1.computed_from": "nothing"}, "in: rounds"),
    ("drafted", {"rounds": []}, "in: allocation"),
    # Counts that contradict the settings.
    ("strict", {"words.kept_unknown": 1}, "releases no unknown words in clear"),
    ("strict", {"documents.partly_in_clear": 1}, "releases no unknown words in clear"),
    ("capped", {"words.kept_stopword": 2}, "stopwords are perturbed, but"),
    ("capped", {"documents.only_stopwords": 1}, "stopwords are perturbed, but"),
    ("strict", {"words.redacted": 1}, "identifiers are counted"),
    ("strict", {"symbols_between_words": 3}, "writes no symbols"),
    # Counts that contradict each other.
    ("strict", {"words": dict.fromkeys(["perturbed", "drawn"], 0)}, "words and of documents with words"),
    ("strict", {"documents": {"no_words": 5}}, "words and of documents with words"),
    ("strict", {"returned.words": 1000}, "more words returned"),
    ("strict", {"words_without_score": 1000}, "lacked a score"),
    ("limited", {"words_with_largest_share": 1000}, "had the largest share"),
    ("strict", {"returned.documents": {}}, "documents by returned words"),
    ("strict", {"returned.documents.0%": 1000}, "documents by returned words"),
    ("strict", {"returned": {"words": 0, "documents": {"100%": 3}}}, "documents by returned words"),
    ("strict", {"documents.returned": 2, "returned": {"words": 0, "documents": {"0%": 3}}}, "by returned words"),
    # Budgets that do not fit.
    ("strict", {"budget.epsilon": 0.1}, "does not follow from the epsilon"),
    ("capped", {"budget.epsilon_per_word": 0.3}, "does not follow from the epsilon"),
    ("capped", {"budget.largest_budget": 9.5}, "does not follow from the epsilon"),
    ("strict", {"budget.largest_spent": 9.0}, "the budget do not fit"),
    ("capped", {"budget.largest_spent": 1.0, "bounds.document": 2.0}, "although no share was limited"),
    ("limited", {"budget.largest_chunk": 0.9}, "no chunk has the largest share"),
    ("strict", {"budget.largest_chunk": 7.0}, "the budget do not fit"),
    ("capped", {"budget.largest_chunk": 0.0, "bounds.words": 0.0}, "the budget do not fit"),
    ("limited", {"budget.largest_share": 0.5}, "more than the largest share"),
    ("limited", {"budget.largest_share": None}, "incomplete or damaged"),
    ("capped", {"budget.average_length": 3.0}, "an average length goes with"),
    ("capped", {"ledger.budget_per_document": 0.5}, "more than the ledger allows"),
    ("capped", {"ledger": None, "documents.refused": 1}, "refused without a ledger"),
]


@pytest.mark.parametrize(("name", "changes", "message"), FORGERIES)
def test_a_forged_certificate_is_refused(tiny, issued, tmp_path, name, changes, message):
    result = audit_edited(tiny, tmp_path, edit(issued[name], changes))
    assert result.exit_code in (1, 2), result.stdout
    assert result.stdout == ""
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--level", "hihg"), "There is no level 'hihg'"),
        (("--command", "cat", "--claim", 1, "--epsilon", 3), "It has no --epsilon"),
        (("--epsilon-per-word", -1), "must be positive"),
        (("--epsilon-per-word", 1, "--draws", 5), "--draws must be a whole number of at least 100"),
        (("--epsilon-per-word", 1, "--confidence", 2), "--confidence must be a number between 0 and 1"),
        (("--command", "cat"), "--command needs --claim"),
        (("--command", "cat", "--claim", "much"), "--claim must be a number of at least 0, or distance"),
        (("--command", "cat", "--claim", "-1"), "--claim must be a number of at least 0, or distance"),
        (("--command", "cat", "--claim", "distance"), "--claim distance needs --epsilon-per-word"),
        (("--command", "cat", "--claim", 1), "deterministic"),
        (("--command", "head -n 3", "--claim", 1), "too few answers: 3 to"),
        (("--command", "false", "--claim", 1), "The --command ended with code 1"),
        (("--command", "cat", "--claim", 1, "--largest-share", 1), "--largest-share does not go with"),
        (("--command", "cat", "--claim", 1, "--cap", 1), "--cap does not go with"),
        (("--command", "cat", "--claim", 1, "--certificate", "x.json"), "only one of"),
        (("--certificate", "x.json", "--epsilon", 1), "only one of"),
        (("--epsilon-per-word", 1, "--mechanism", "vickrey"), "has no guarantee"),
        (("--epsilon-per-word", 1, "--cap", 1), "--cap goes with --mechanism exponential or fluent"),
    ],
)
def test_wrong_arguments_end_with_code_2(arguments, message, bundle):
    result = run("--bundle", bundle, *arguments)
    assert message in " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_missing_certificate_or_file_of_pairs(bundle):
    assert "cannot be read" in run("--bundle", bundle, "--certificate", Path("none.json")).stderr
    assert "cannot be read" in run("--bundle", bundle, "--epsilon-per-word", 1, "--pairs", Path("none.tsv")).stderr
