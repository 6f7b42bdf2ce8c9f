"""Parameters, data and float64 losses of job A, forward and backward by hand. Writes job_a.json.

    cd tests/numerics/oracle && python make_job_a.py

Python 3.11, NumPy 2.4.
"""
import json
import numpy as np

C = dict(V=64, T=8, B=32, D=32, H=4, steps=2000, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8)


def start(V, T, B, D, seed=7):
    """Token ids (B, T), targets (B,), and parameters; rows are tokens: Q = X W_Q + b_Q."""
    r = np.random.default_rng(seed)
    ids, target = r.integers(0, V, (B, T)), r.integers(0, V, (B,))
    w = lambda *shape: (r.standard_normal(shape) / np.sqrt(D)).astype(np.float32)
    z = lambda n: np.zeros(n, np.float32)
    return ids, target, dict(E=w(V, D), W_Q=w(D, D), b_Q=z(D), W_K=w(D, D), b_K=z(D), W_V=w(D, D), b_V=z(D),
                             W_O=w(D, D), b_O=z(D), W_out=w(D, V), b_out=z(V))


def loss_and_grads(p, ids, target, H):
    B, T = ids.shape
    D = p["E"].shape[1]
    dk = D // H
    fold = lambda m: m.reshape(B, T, H, dk).transpose(0, 2, 1, 3)
    unfold = lambda m: m.transpose(0, 2, 1, 3).reshape(B, T, D)
    x = p["E"][ids]
    q, k, v = (fold(x @ p["W_" + n] + p["b_" + n]) for n in "QKV")
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(dk)
    a = np.exp(s - s.max(-1, keepdims=True)); a /= a.sum(-1, keepdims=True)
    mix = unfold(a @ v)
    h = (mix @ p["W_O"] + p["b_O"]).mean(1)
    z = h @ p["W_out"] + p["b_out"]
    e = np.exp(z - z.max(-1, keepdims=True)); pr = e / e.sum(-1, keepdims=True)
    loss = -np.log(pr[np.arange(B), target]).mean()
    dz = pr.copy(); dz[np.arange(B), target] -= 1; dz /= B
    g = dict(W_out=h.T @ dz, b_out=dz.sum(0))
    do = np.repeat((dz @ p["W_out"].T)[:, None] / T, T, 1)
    flat = lambda m: m.reshape(B * T, -1)
    g["W_O"], g["b_O"] = flat(mix).T @ flat(do), flat(do).sum(0)
    dmix = fold(do @ p["W_O"].T)
    da, dv = dmix @ v.transpose(0, 1, 3, 2), a.transpose(0, 1, 3, 2) @ dmix
    ds = a * (da - (da * a).sum(-1, keepdims=True)) / np.sqrt(dk)
    dq, dk_ = ds @ k, ds.transpose(0, 1, 3, 2) @ q
    dx = 0
    for n, d in zip("QKV", (dq, dk_, dv)):
        d = unfold(d)
        g["W_" + n], g["b_" + n] = flat(x).T @ flat(d), flat(d).sum(0)
        dx = dx + d @ p["W_" + n].T
    g["E"] = np.zeros_like(p["E"]); np.add.at(g["E"], ids, dx)
    return loss, g


def train(p, ids, target, c):
    p = {k: v.astype(np.float64) for k, v in p.items()}
    m, v = ({k: np.zeros_like(x) for k, x in p.items()} for _ in range(2))
    losses = []
    for t in range(1, c["steps"] + 1):
        loss, g = loss_and_grads(p, ids, target, c["H"]); losses.append(loss)
        for k in p:
            m[k] = c["beta1"] * m[k] + (1 - c["beta1"]) * g[k]
            v[k] = c["beta2"] * v[k] + (1 - c["beta2"]) * g[k] ** 2
            p[k] -= c["lr"] * (m[k] / (1 - c["beta1"] ** t)) / (np.sqrt(v[k] / (1 - c["beta2"] ** t)) + c["eps"])
    return losses


def check_gradients(p, ids, target, H, eps=1e-6):
    p = {k: v.astype(np.float64) for k, v in p.items()}
    r = np.random.default_rng(1); _, g = loss_and_grads(p, ids, target, H)
    for k in p:
        u = r.standard_normal(p[k].shape); base = p[k]
        p[k] = base + eps * u; hi, _ = loss_and_grads(p, ids, target, H)
        p[k] = base - eps * u; lo, _ = loss_and_grads(p, ids, target, H)
        p[k] = base; num, ana = (hi - lo) / (2 * eps), (g[k] * u).sum()
        assert abs(num - ana) <= 1e-7 + 1e-5 * abs(ana), (k, num, ana)


if __name__ == "__main__":
    ids, target, p = start(C["V"], C["T"], C["B"], C["D"])
    check_gradients(p, ids, target, C["H"])
    losses = train(p, ids, target, C)
    at = [0, 1, 2, 5, 10, 20, 50, 100, 150, 200, 500, 1000, 1999]
    json.dump(dict(config=C, ids=ids.tolist(), target=target.tolist(),
                   parameters={k: [[float(f"{x:.9g}") for x in row] for row in np.atleast_2d(v)] for k, v in p.items()},
                   loss_before_step={str(i): losses[i] for i in at}), open("job_a.json", "w"))
    print({i: losses[i] for i in at})
