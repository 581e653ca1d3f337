#!/bin/sh
# Build the shipped bundle and measure it:
#
#     scripts/build_en.sh CORPUS.txt.xz REVIEWS.jsonl.xz...
#
# Needs .venv with the extras prepare and neural, and two to three hours on two cores. After an interruption, run it again
# to resume. The measurements go to scripts/build_en.log. If they are good, move build/en to src/textveil/bundles/en.
set -eu
cd "$(dirname "$0")/.."
corpus=$1
shift

for resource in wordnet spacy-en all-minilm-l6-v2; do
    textveil resources install "$resource"
done
# The paper's --min-count is for 10,000 million words. With 64 million, 40 leaves about as many expressions per decomposition
# as fit into a vocabulary of 27,000. Six such vocabularies at one byte per number take 49 MB.
[ -e build/en ] || textveil prepare "$corpus" --output build/en --name en --bundle-version 1.0 \
    --corpus-label "film reviews (IMDB) and English prose (Project Gutenberg)" \
    --license "MIT for the vectors and the lexicons of collocations; the texts they were computed from are not part of them. WordNet's own for its lexicon: wordnet/lexicon_licence.txt" \
    --min-count 40 --only-attracted --most-entries 27000
python scripts/measure_bundle.py --bundle build/en --reviews "$@" | tee scripts/build_en.log
