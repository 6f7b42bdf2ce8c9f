"""Values that the numerics are checked against, in float64 NumPy, written without a look at the Rust code.

    python tests/oracle/make.py > tests/oracle/values.json
"""
import json
import numpy as np

rng = np.random.default_rng(2017)
T, D, H, d_k, d_v, C = 5, 6, 2, 3, 2, 7


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


X = rng.normal(size=(T, D))
shapes = dict(
    W_Q=(D, H * d_k), b_Q=(1, H * d_k), W_K=(D, H * d_k), b_K=(1, H * d_k),
    W_V=(D, H * d_v), b_V=(1, H * d_v), W_O=(H * d_v, D), b_O=(1, D),
)
p = {name: rng.normal(size=shape) for name, shape in shapes.items()}


def attention(causal, residual):
    q, k, v = (X @ p["W_" + n] + p["b_" + n] for n in "QKV")
    heads = []
    for h in range(H):
        qh, kh, vh = q[:, h * d_k:(h + 1) * d_k], k[:, h * d_k:(h + 1) * d_k], v[:, h * d_v:(h + 1) * d_v]
        s = qh @ kh.T / np.sqrt(d_k)
        if causal:
            s = np.where(np.tril(np.ones((T, T), bool)), s, -np.inf)
        a = softmax(s)
        heads.append(dict(weights=a, mix=a @ vh))
    y = np.hstack([h["mix"] for h in heads]) @ p["W_O"] + p["b_O"]
    return dict(heads=heads, output=y + X if residual else y)


logits = rng.normal(size=C) * 3
target = 4
loss = -np.log(softmax(logits)[target])

theta, m, v = rng.normal(size=8), np.zeros(8), np.zeros(8)
gradients = rng.normal(size=(3, 8))
start = theta.copy()
for t, g in enumerate(gradients, 1):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g**2
    theta = theta - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)

cloud = rng.normal(size=(20, D)) * np.array([5, 3, 2, 1, 0.5, 0.1]) + 4
centred = cloud - cloud.mean(0)
_, s, vt = np.linalg.svd(centred, full_matrices=False)
axes = np.array([a * np.sign(a[np.abs(a).argmax()]) for a in vt[:3]])

print(json.dumps(dict(
    config=dict(T=T, D=D, H=H, d_k=d_k, d_v=d_v),
    X=X, parameters=p,
    plain=attention(False, False), causal=attention(True, True),
    cross_entropy=dict(logits=logits, target=target, loss=loss),
    adam=dict(start=start, gradients=gradients, end=theta),
    pca=dict(cloud=cloud, points=centred @ axes.T, explained=(s**2 / (s**2).sum())[:3]),
), default=lambda a: a.tolist()))
