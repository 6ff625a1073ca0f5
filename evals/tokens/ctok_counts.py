"""Counts texts with ctok.

Reads a JSON array of texts from standard input and writes {"3.0": [...], "4.7": [...], "4.8": [...]} to standard output:
for every text the tokens of a message with that content, without the frame.
"""

import json
import sys

import ctok

# What ctok itself calls the overhead of a message in these versions.
FRAMES = {"3.0": 7, "4.7": 11, "4.8": 6}


def main() -> None:
    texts = json.load(sys.stdin)
    counts = {
        version: [ctok.token_count(text, version) - frame for text in texts]
        for version, frame in FRAMES.items()
    }
    json.dump(counts, sys.stdout)


main()
