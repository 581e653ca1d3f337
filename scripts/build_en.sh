#!/bin/sh
# Build the shipped bundle and measure it:
#
#     scripts/build_en.sh ENGLISH.txt.xz BLOGS.txt.xz REVIEWS.jsonl.xz...
#
# ENGLISH.txt.xz has 75,000 film reviews, one per line, and then paragraphs of old novels. BLOGS.txt.xz has a post per line.
# Needs .venv with the extras prepare and neural, and about an hour on two cores. After an interruption, run it again to
# resume. The measurements go to scripts/build_en.log. If they are good, move build/en to src/textveil/bundles/en.
set -eu
cd "$(dirname "$0")/.."
english=$1
blogs=$2
shift 2

for resource in wordnet spacy-en all-minilm-l6-v2; do
    textveil resources install "$resource"
done
mkdir -p build
[ -e build/novels.txt ] || {
    xz -dc "$english" | head -n 75000 >build/reviews.txt
    xz -dc "$english" | tail -n +75001 >build/novels.part
    mv build/novels.part build/novels.txt
}
# Novels are in the background: their words are known, but the bundle writes as people write today. Priors of reviews and
# posts predict held-out texts better than priors of all texts (docs/bundles.md). The paper's --min-count is for 10,000
# million words; for 62 million, 40 is proportionate to the size of the vocabularies. The limits keep the bundle below 60 MB.
[ -e build/en ] || textveil prepare build/reviews.txt "$blogs" --background build/novels.txt --output build/en \
    --name en --bundle-version 2.0 \
    --corpus-label "film reviews (IMDB), blog posts (Blog Authorship Corpus), and known words of Project Gutenberg" \
    --license "MIT for what was computed: vectors, priors, lexicons of collocations. The texts are not part of it; those of the Blog Authorship Corpus (Schler et al. 2006) are free for non-commercial research. WordNet's own for its lexicon: wordnet/lexicon_licence.txt" \
    --min-count 40 --only-attracted --vectors encoder --most-entries 48000 --most-entries words=65000 \
    --most-ngrams 450000
python scripts/measure_bundle.py --bundle build/en --reviews "$@" | tee scripts/build_en.log
