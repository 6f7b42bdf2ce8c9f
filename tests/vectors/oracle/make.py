"""Makes tests/fixtures/vectors with the programs that own the formats: gensim 4.4 and NumPy 2.

    python3 -m venv venv && venv/bin/pip install gensim numpy
    venv/bin/python tests/vectors/oracle/make.py tests/fixtures/vectors

answers.json has gensim's neighbours and analogies of the same vectors.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

WORDS = "king queen man woman apple pear paris france berlin germany bank river".split()
WIDTH = 5

folder = Path(sys.argv[1])
vectors = np.random.default_rng(7).normal(size=(len(WORDS), WIDTH)).astype(np.float32)
keyed = KeyedVectors(WIDTH)
keyed.add_vectors(WORDS, vectors)
keyed.save_word2vec_format(folder / "plain.bin", binary=True)
keyed.save_word2vec_format(folder / "plain.vec", binary=False)
lines = "".join(f"{word} {' '.join(str(x) for x in row)}\n" for word, row in zip(WORDS, vectors))
(folder / "glove.txt").write_text(lines)
(folder / "glove.txt.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
np.save(folder / "plain.npy", vectors)
np.save(folder / "turned.npy", np.asfortranarray(vectors.astype(">f8")))
np.savez_compressed(folder / "plain.npz", words=np.array(WORDS), vectors=vectors)
np.save(folder / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)

spaced = KeyedVectors(WIDTH)
spaced.add_vectors(WORDS[:3] + ["New York", "a b c"] + WORDS[3:], np.concatenate([vectors[:3], vectors[:2] + 1, vectors[3:]]))
spaced.save_word2vec_format(folder / "spaced.bin", binary=True)

answers = {
    "vectors": vectors.tolist(),
    "king": keyed.most_similar("king", topn=5),
    "king - man + woman": keyed.most_similar(positive=["king", "woman"], negative=["man"], topn=5),
}
(folder / "answers.json").write_text(json.dumps(answers) + "\n")
