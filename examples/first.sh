#!/bin/sh
# The first part of `make demo`: one text at several levels. It needs the package without extras.
set -eu
. "$(dirname "$0")/common.sh"

say "One text, three levels of protection"
echo "  original: $text"
for level in high medium low; do
    printf '  %8s: %s\n' "$level" "$(textveil obfuscate "$text" --level "$level")"
done

say "The same levels, with a guarantee for every word and for the form of the text"
for level in high medium low; do
    printf '  %8s: %s\n' "$level" "$(textveil obfuscate "$text" --level "$level" --profile proven)"
done

say "The outcome of every word"
show "textveil obfuscate TEXT --explain"
textveil obfuscate "$text" --explain
