"""gensim and NumPy on the files of benches/vectors.rs, for its table in docs/measurements.md.

    python3 -m venv venv && venv/bin/pip install gensim numpy
    venv/bin/python benches/vectors.py vectors
"""

import sys
import time
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

folder = Path(sys.argv[1])


def timed(name, work, times=3):
    fastest = None
    for _ in range(times):
        begun = time.perf_counter()
        made = work()
        seconds = time.perf_counter() - begun
        fastest = seconds if fastest is None else min(fastest, seconds)
    print(f"{name}: fastest {1e3 * fastest:.1f} ms of {times}", flush=True)
    return made


timed("GloVe", lambda: KeyedVectors.load_word2vec_format(folder / "glove.txt", binary=False, no_header=True), 1)
vectors = timed("word2vec", lambda: KeyedVectors.load_word2vec_format(folder / "word2vec.bin", binary=True))
vectors.fill_norms()
timed("neighbours of a word, norms known", lambda: vectors.most_similar("word7", topn=10), 10)
rows = vectors.vectors


def components():
    centred = rows - rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    values, axes = np.linalg.eigh(centred.T @ centred / len(rows))
    return axes[:, ::-1][:, :3]


timed("the matrix times a vector", lambda: rows @ rows[7], 10)
timed("principal components", components)
