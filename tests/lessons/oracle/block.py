"""The stacks of lessons/block.ron in NumPy: distance of pear and cat, and the mean length, after 0 to 6 layers; and the
length of the gradient of each layer at the start of training, with post-norm and with pre-norm.

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


def back(g, x):
    """The gradient before a norm of x, from the gradient g after it."""
    y = normed(x)
    return (g - y * (g * y).mean(1, keepdims=True)) / np.sqrt((x * x).mean(1, keepdims=True))


def gradients(rng, layers, pre):
    """The length of the gradient of each layer's table, in one random stack."""
    x, goal = normed(rng.uniform(-1, 1, (6, 16))), rng.uniform(-1, 1, (6, 16)) * np.sqrt(3)
    tape = []
    for _ in range(layers):
        W = rng.uniform(-1, 1, (16, 16)) * np.sqrt(3 / 16)
        read = normed(x) if pre else x
        total = x + read @ W
        tape.append((W, read, x if pre else total))
        x = total if pre else normed(total)
    g = back((normed(x) - goal) / 6, x) if pre else (x - goal) / 6
    found = []
    for W, read, norm_of in reversed(tape):
        g = g if pre else back(g, norm_of)
        found.append(np.linalg.norm(read.T @ g))
        g = g + (back(g @ W.T, norm_of) if pre else g @ W.T)
    return np.array(found[::-1])


# Over 40 seeds, five stacks each: the last gradient of 32 layers, divided by that of 2.
for pre in [False, True]:
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        last = {layers: np.mean([gradients(rng, layers, pre)[-1] for _ in range(5)]) for layers in [2, 32]}
        ratios.append(last[32] / last[2])
    print("pre-norm " if pre else "post-norm", "32 layers over 2:", np.round([min(ratios), np.mean(ratios), max(ratios)], 2))
