"""Audits: they try to refute what a certificate, or another tool, claims about its answers."""

from textveil.lab.audit.auditing import Audit, Auditee, Command, Finding, Verdict, audit, audit_obfuscator
from textveil.lab.audit.claims import Claim, Claims, Pair, choose_pairs, claim_by_distance, claim_per_word

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
