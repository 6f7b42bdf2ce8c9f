"""A few steps of word2vec in float64 NumPy, written without a look at the Rust code.

    python tests/numerics/oracle/make_word2vec.py > tests/numerics/oracle/word2vec.json

Python 3.11, NumPy 2.4.
"""
import json
import numpy as np

rng = np.random.default_rng(2013)
V, D, rate = 8, 21, 0.5
v, u = rng.normal(size=(V, D)), rng.normal(size=(V, D))
start = dict(v=v.copy(), u=u.copy())


def step(inputs, targets, mean):
    """The gradient of the whole loss at one point, and one step along it. The first target is near."""
    h = v[inputs].mean(0, keepdims=True) if mean else v[inputs]
    scores = h @ u[targets].T
    label = np.arange(len(targets)) == 0
    loss = np.log1p(np.exp(np.where(label, -scores, scores))).sum()
    d_scores = 1 / (1 + np.exp(-scores)) - label
    d_h, d_u = d_scores @ u[targets], d_scores.T @ h
    d_v = np.repeat(d_h / len(inputs), len(inputs), 0) if mean else d_h
    np.subtract.at(v, inputs, rate * d_v)
    np.subtract.at(u, targets, rate * d_u)
    return dict(inputs=inputs, targets=targets, mean=mean, loss=loss, v=v.copy(), u=u.copy())


steps = [
    step([3], [1, 6, 0, 2], False),
    step([3], [5, 6, 3], False),
    step([1, 4, 7, 1], [3, 0, 2, 5, 6], False),
    step([1, 4, 7, 2, 1], [3, 0, 2], True),
    step([6], [6], True),
]
print(json.dumps(dict(rate=rate, **start, steps=steps), default=lambda a: a.tolist()))
