"""The five heads of lessons/order.ron in NumPy: trained on 8 positions to look three back, read at 16.

    python tests/lessons/oracle/order.py

Prints the weight on the word three back at positions 4 to 16, for each way of telling positions.
"""
import numpy as np

SEEN, READ, BACK, STEPS, RATE, WAVES = 8, 16, 3, 200, 3.0, 8


def softmax_causal(scores):
    hidden = np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)
    weights = np.exp(hidden - hidden.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def sinusoids():
    angles = np.arange(READ)[:, None] * 10000.0 ** (-np.arange(WAVES) / WAVES)
    return np.stack([np.cos(angles), np.sin(angles)], 2).reshape(READ, 2 * WAVES)


def distances(gradient):
    """One number for each distance."""
    return sum(np.eye(READ, k=-k) * np.trace(gradient, -k) for k in range(READ))


def turns(gradient):
    """Each pair of columns may only be turned and stretched."""
    kept = np.zeros_like(gradient)
    for a in range(0, 2 * WAVES, 2):
        b = a + 1
        kept[a, a] = kept[b, b] = gradient[a, a] + gradient[b, b]
        kept[a, b] = gradient[a, b] - gradient[b, a]
        kept[b, a] = -kept[a, b]
    return kept


def look(positions, allowed):
    matrix = np.zeros((positions.shape[1],) * 2)
    seen, right = positions[:SEEN], np.eye(SEEN, k=-BACK)
    for _ in range(STEPS):
        wrong = (softmax_causal(seen @ matrix @ seen.T) - right) / (SEEN - BACK)
        wrong[:BACK] = 0
        matrix -= RATE * allowed(seen.T @ wrong @ seen)
    return softmax_causal(positions @ matrix @ positions.T).diagonal(-BACK)


FREE, NOTHING = (lambda gradient: gradient), (lambda gradient: 0 * gradient)
for name, positions, allowed in [
    ("none", np.eye(READ), NOTHING),
    ("sinusoids", sinusoids(), FREE),
    ("learned", np.eye(READ), FREE),
    ("distances", np.eye(READ), distances),
    ("rotary", sinusoids(), turns),
]:
    print(name.ljust(10), np.round(look(positions, allowed), 2))
