"""Values of every form of attention and of blocks, in float64 NumPy, written without a look at the Rust code.

    python tests/numerics/oracle/make_numpy.py > tests/numerics/oracle/numpy.json

Python 3.11, NumPy 2.4.

Rows are tokens: Q = X W_Q + b_Q. Inputs are short decimals, so that all read the same numbers.
"""
import json
import numpy as np

rng = np.random.default_rng(2017)
T, T_K, D = 5, 3, 4
HIDDEN = 3


def draw(*shape, scale=1.0):
    return (rng.normal(size=shape) * scale).round(3)


def softmax(s):
    """By rows; a row that sees nothing has no weights."""
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
        return np.where(np.isneginf(s).all(-1, keepdims=True), 0.0, e / e.sum(-1, keepdims=True))


def layer_norm(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + bias


BASE = dict(heads=2, d_k=3, d_v=2, projected=True, output=True, bias=True, scale=True, temperature=1.0,
            mask="none", cross=False, residual=False, norm="none", feed_forward=False)


def visible(mask, t, t_k):
    if mask == "causal":
        return np.tril(np.ones((t, t_k), bool))
    if mask == "padding":
        return np.arange(t_k)[None, :].repeat(t, 0) < t_k - 1
    if mask == "holes":  # the second query sees nothing
        return np.array([[q != 1 and (2 * q + k) % 3 != 1 for k in range(t_k)] for q in range(t)])
    return np.ones((t, t_k), bool)


def case(name, **change):
    c = BASE | change
    H, d_k, d_v = c["heads"], c["d_k"], c["d_v"]
    p = {}
    for n, rows, cols, there in [("Q", D, H * d_k, c["projected"]), ("K", D, H * d_k, c["projected"]),
                                 ("V", D, H * d_v, c["projected"]), ("O", H * d_v, D, c["output"])]:
        if there:
            p["W_" + n] = draw(rows, cols)
            if c["bias"]:
                p["b_" + n] = draw(1, cols)
    if c["norm"] != "none":
        p |= {"γ_A": 1 + draw(1, D, scale=0.3), "β_A": draw(1, D)}
    if c["feed_forward"]:
        p |= {"W_1": draw(D, HIDDEN), "b_1": draw(1, HIDDEN), "W_2": draw(HIDDEN, D), "b_2": draw(1, D)}
        if c["norm"] != "none":
            p |= {"γ_F": 1 + draw(1, D, scale=0.3), "β_F": draw(1, D)}
    x, z = draw(T, D), draw(T_K, D)

    norm_a = lambda m: layer_norm(m, p["γ_A"], p["β_A"])
    norm_f = lambda m: layer_norm(m, p["γ_F"], p["β_F"])
    queries = norm_a(x) if c["norm"] == "pre" else x
    keys = z if c["cross"] else queries
    affine = lambda m, n: m @ p["W_" + n] + p.get("b_" + n, 0) if "W_" + n in p else m
    q, k, v = affine(queries, "Q"), affine(keys, "K"), affine(keys, "V")
    seen = visible(c["mask"], len(q), len(k))
    weights, mixes = [], []
    for h in range(H):
        s = q[:, h * d_k:(h + 1) * d_k] @ k[:, h * d_k:(h + 1) * d_k].T
        s = s / (np.sqrt(d_k) if c["scale"] else 1) / c["temperature"]
        weights.append(softmax(np.where(seen, s, -np.inf)))
        mixes.append(weights[-1] @ v[:, h * d_v:(h + 1) * d_v])
    mix = np.hstack(mixes)
    a = affine(mix, "O") + (x if c["residual"] else 0)
    a = norm_a(a) if c["norm"] == "post" else a
    y = a
    if c["feed_forward"]:
        inner = norm_f(a) if c["norm"] == "pre" else a
        y = np.maximum(inner @ p["W_1"] + p["b_1"], 0) @ p["W_2"] + p["b_2"] + (a if c["residual"] else 0)
        y = norm_f(y) if c["norm"] == "post" else y
    return dict(name=name, config=c, hidden=HIDDEN if c["feed_forward"] else None, parameters=p, x=x, z=z,
                visible=seen.astype(int), weights=weights, mix=mix, output=y)


free = dict(heads=1, d_k=D, d_v=D, projected=False, output=False, bias=False, scale=False)
forms = {
    "with all": {}, "no bias": dict(bias=False), "no scale": dict(scale=False),
    "sharp": dict(temperature=0.25), "even": dict(temperature=3.0, scale=False),
    "one head": dict(heads=1, d_k=4, d_v=5), "three heads": dict(heads=3, d_k=1, d_v=2),
    "no W_O": dict(output=False), "parameter-free": free, "parameter-free, two heads": free | dict(heads=2, d_k=2, d_v=2),
}
cases = [case(n, **c) for n, c in forms.items()]
cases += [case(f"{n}, {m}", **c, mask=m) for m in ("causal", "padding", "holes")
          for n, c in (("with all", {}), ("parameter-free", free))]
cases += [case(f"cross, {m}", cross=True, mask=m) for m in ("none", "causal", "padding", "holes")]
cases += [case("cross, parameter-free", **free, cross=True)]
cases += [case(f"norm {n}, feed-forward {f}, residual {r}", norm=n, feed_forward=f, residual=r, mask="causal")
          for n in ("none", "pre", "post") for f in (False, True) for r in (False, True)]

T_P, D_P = 4, 5
t, j = np.arange(T_P)[:, None], np.arange(D_P)[None, :]
angle = t / 10000 ** (2 * (j // 2) / D_P)
positions = np.where(j % 2 == 0, np.sin(angle), np.cos(angle))

draw(7, scale=3), draw(8), draw(3, 8)  # The cloud is the next that the generator gives.
cloud = (draw(20, 6) * np.array([5, 3, 2, 1, 0.5, 0.1]) + 4).round(4)
centred = cloud - cloud.mean(0)
_, s, vt = np.linalg.svd(centred, full_matrices=False)
axes = np.array([a * np.sign(a[np.abs(a).argmax()]) for a in vt[:3]])

print(json.dumps(dict(
    cases=cases, positions=positions,
    pca=dict(cloud=cloud, points=centred @ axes.T, explained=(s**2 / (s**2).sum())[:3]),
), default=lambda a: a.round(15).tolist(), ensure_ascii=False))
