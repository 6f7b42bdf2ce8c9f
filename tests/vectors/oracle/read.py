"""Reads the vectors of tests/fixtures/vectors/plain.bin, as attune writes them in every format, with gensim 4.4, NumPy 2 and
safetensors 0.8: the same words, and the same bits.

    for f in word2vec:bin word2vec-text:vec glove:txt npy:npy npz:npz safetensors:safetensors tsv:tsv; do
        attune export tests/fixtures/vectors/plain.bin --to ${f%:*} -o DIR/x.${f#*:}
    done
    attune export lessons/apple.ron --to word2vec --vectors layers -o DIR/layers.bin
    attune export lessons/apple.ron --to npz -o DIR/apple.npz
    venv/bin/python tests/vectors/oracle/read.py DIR tests/fixtures/vectors/plain.bin
"""

import json
import sys
from pathlib import Path

import gensim
import numpy as np
import safetensors
from gensim.models import KeyedVectors
from safetensors.numpy import load_file

folder = Path(sys.argv[1])
plain = KeyedVectors.load_word2vec_format(sys.argv[2], binary=True)
words, rows = plain.index_to_key, plain.vectors


def same(name, found_words, found):
    assert list(found_words) == list(words), name
    assert found.dtype == np.float32 and found.tobytes() == rows.tobytes(), name
    print(name, "ok")


for name, options in [("x.bin", {"binary": True}), ("x.vec", {}), ("x.txt", {"no_header": True})]:
    found = KeyedVectors.load_word2vec_format(folder / name, **options)
    same(name, found.index_to_key, found.vectors)
lines = (folder / "x_metadata.tsv").read_text().splitlines()
same("x.npy", lines, np.load(folder / "x.npy"))
archive = np.load(folder / "x.npz")
same("x.npz", archive["words"], archive["vectors"])
same("x.safetensors", lines, load_file(folder / "x.safetensors")["embeddings"])
same("x.tsv", lines, np.loadtxt(folder / "x.tsv", delimiter="\t", dtype=np.float32))
[table] = json.loads((folder / "x_config.json").read_text())["embeddings"]
assert table["tensorShape"] == list(rows.shape), table
same("x_config.json", lines, np.loadtxt(folder / table["tensorPath"], delimiter="\t", dtype=np.float32))

layers = KeyedVectors.load_word2vec_format(folder / "layers.bin", binary=True)
assert len(set(layers.index_to_key)) == len(layers.index_to_key) and all("@" in word for word in layers.index_to_key)
apple = np.load(folder / "apple.npz")
count = len(apple["vectors"])
assert all(len(apple[name]) == count for name in ["words", "kind", "sentence", "position", "group"])
assert set(apple["kind"]) == {"static", "static in a sentence", "contextual"}
print("layers.bin and apple.npz ok:", len(layers.index_to_key), "and", count, "rows")
print("gensim", gensim.__version__, "NumPy", np.__version__, "safetensors", safetensors.__version__)
