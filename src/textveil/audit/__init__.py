"""Audits: they try to refute what a certificate, or another tool, claims about its answers."""

from textveil.audit.auditees import Auditee, Command
from textveil.audit.auditing import audit, audit_obfuscator
from textveil.audit.claims import Claim, Claims, claim_by_distance, claim_per_word
from textveil.audit.findings import Audit, Finding, Verdict
from textveil.audit.pairs import Pair, choose_pairs

__all__ = [
    "Audit",
    "Auditee",
    "Claim",
    "Claims",
    "Command",
    "Finding",
    "Pair",
    "Verdict",
    "audit",
    "audit_obfuscator",
    "choose_pairs",
    "claim_by_distance",
    "claim_per_word",
]
