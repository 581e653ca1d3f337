"""Certificates: changed JSON, of the current format and of the first."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import mutate_bytes, mutate_json, randoms
from soak.tiny import build_tiny
from textveil import Certificate, Obfuscator
from textveil.cli.reporting import list_warnings
from textveil.summary import summarize


class Certificates(Part):
    """Loads changed certificates, and shows those that load."""

    name = "certificates"
    quotes_settings = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        bundle = build_tiny(folder / "tiny")
        made = [
            Obfuscator(bundle, profile=profile, seed=1).obfuscate("The good film of New York", epsilon=9).certificate
            for profile in ("strict", "paper", "proven")
        ]
        current = [json.loads(certificate.to_json()) for certificate in made]
        self._intact = [*current, _write_format_1(current[0])]

    def strategy(self, marker: str) -> st.SearchStrategy[bytes]:
        """Changed certificates, and drawn JSON."""
        nested = st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.just(marker)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)
            ),
        )
        whole = nested.map(lambda values: json.dumps({"certificate": 2, marker: values}).encode())
        member = st.builds(
            lambda intact, key, value: json.dumps({**intact, key: value, marker: marker}).encode(),
            st.sampled_from(self._intact),
            st.sampled_from(sorted(self._intact[0])),
            nested,
        )
        return st.one_of(whole, member, st.builds(self.draw, randoms(), st.just(marker)))

    def draw(self, random: Random, marker: str) -> bytes:
        """A certificate with other values or other bytes."""
        intact = {**random.choice(self._intact), "note": marker}
        if random.random() < 0.2:
            return mutate_bytes(random, json.dumps(intact).encode())
        return json.dumps(mutate_json(random, intact, (marker, f"my {marker} text"))).encode()

    def use(self, given: bytes, marker: str) -> None:
        """Load the certificate and write it again."""
        path = self.folder / "certificate.json"
        path.write_bytes(given)
        certificate = Certificate.load(path)
        _ = certificate.not_protected, certificate.as_dict()
        summarize(certificate, 1.0)
        list_warnings(certificate)


def _write_format_1(values: dict[str, Any]) -> dict[str, Any]:
    """The certificate as the first format wrote it."""
    return {
        **{
            key: value
            for key, value in values.items()
            if key not in ("neighbors", "decomposition", "distribution", "returned")
        },
        "certificate": 1,
        "neighbours": values["neighbors"],
        "budget": 9.0,
        "largest_total_of_shares": 9.0,
        "mechanism": {"name": "madlib", "guarantee": "metric", "index": "exact"},
        "allocation": {
            "type": "data-dependent",
            "decomposition": "pos (tagger crf)",
            "distribution": "gradients (all-minilm-l6-v2 53aa51172d14, 50 steps)",
            "stopwords": "keep",
        },
    }
