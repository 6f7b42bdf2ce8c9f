"""The three stacks of lessons/block.ron in NumPy: distance of pear and cat, and the mean length, after 0 to 6 layers.

    python tests/lessons/oracle/block.py
"""
import numpy as np

WORDS = np.array([[1.5, 0.2, 0.1], [1.3, -0.3, 0.4], [1.4, 0.1, -0.5], [-1.2, 1.1, 0.2], [-1.4, 0.7, -0.4], [-1.0, 1.3, 0.5]])
PEAR, CAT = 1, 4


def attend(x):
    scores = x @ x.T / np.sqrt(x.shape[1])
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ x


def normed(x):
    return x / np.sqrt((x * x).mean(1, keepdims=True))


for name, layer in [
    ("attention alone", attend),
    ("with residual", lambda x: x + attend(x)),
    ("with residual and norm", lambda x: normed(x + attend(x))),
]:
    x, apart, long = WORDS, [], []
    for _ in range(7):
        apart.append(np.linalg.norm(x[PEAR] - x[CAT]))
        long.append(np.linalg.norm(x, axis=1).mean())
        x = layer(x)
    print(name.ljust(24), np.round(apart, 4), np.round(long, 2))
