"""The loss that makes vectors arrive, and the scores that know how far words stand apart, in PyTorch, float64.

    python tests/numerics/oracle/make_arrival.py > tests/numerics/oracle/arrival.json

PyTorch 2.15. One sentence goes through one block of attention over frozen vectors E:

    S_h = Q_h K_hᵀ / (√d_k τ) + B_h[j − i] / τ        Y = X + [M_1 … M_H] W_O + b_O
    L = 1/N [Σ_targets (cross_entropy(y E_Cᵀ + b) + arrive ‖y − e_class‖²) + keep Σ_kept ‖y − e_word‖²]
"""
import json
import torch
import torch.nn.functional as F

torch.manual_seed(1910)
torch.set_default_dtype(torch.float64)
V, D, H, D_K, D_V, T_MAX, TAU, ARRIVE, KEEP = 8, 6, 2, 3, 2, 7, 0.8, 0.3, 0.7
WORDS = [3, None, 0, 5, 2]            # the second is hidden
CANDIDATES = [1, 4, 5]
TARGETS = [(1, 2), (3, 0)]            # row, class: word 5 was hidden; 5 stands in for 1
KEPT = [(0, 3), (2, 0)]               # row, word; the last one is free


def draw(*shape):
    return torch.randn(*shape).mul(1000).round().div(1000)


E = draw(V, D)
p = {name: draw(*shape).requires_grad_() for name, shape in {
    "W_Q": (D, H * D_K), "b_Q": (1, H * D_K), "W_K": (D, H * D_K), "b_K": (1, H * D_K),
    "W_V": (D, H * D_V), "b_V": (1, H * D_V), "W_O": (H * D_V, D), "b_O": (1, D),
    "B": (H, 2 * T_MAX - 1), "b_logits": (1, len(CANDIDATES))}.items()}

x = torch.stack([torch.zeros(D) if w is None else E[w] for w in WORDS])
q, k, v = (x @ p[f"W_{n}"] + p[f"b_{n}"] for n in "QKV")
i = torch.arange(len(WORDS))
distance = i[None, :] - i[:, None] + T_MAX - 1
scores, mixes = [], []
for h in range(H):
    keys, values = slice(h * D_K, (h + 1) * D_K), slice(h * D_V, (h + 1) * D_V)
    s = (q[:, keys] @ k[:, keys].T / D_K ** 0.5 + p["B"][h][distance]) / TAU
    scores.append(s)
    mixes.append(torch.softmax(s, -1) @ v[:, values])
y = x + torch.cat(mixes, 1) @ p["W_O"] + p["b_O"]

centres = E[CANDIDATES]
rows, classes = (list(t) for t in zip(*TARGETS))
asked = y[rows]
loss = F.cross_entropy(asked @ centres.T + p["b_logits"], torch.tensor(classes), reduction="sum")
loss = loss + ARRIVE * ((asked - centres[classes]) ** 2).sum()
loss = loss + KEEP * sum(((y[row] - E[word]) ** 2).sum() for row, word in KEPT)
loss = loss / len(TARGETS)
loss.backward()

print(json.dumps(dict(
    width=D, heads=H, d_k=D_K, d_v=D_V, max_tokens=T_MAX, temperature=TAU, arrive=ARRIVE, keep=KEEP,
    words=WORDS, candidates=CANDIDATES, targets=TARGETS, kept=KEPT, E=E.tolist(), output=y.tolist(),
    scores=[s.tolist() for s in scores], loss=loss.item(),
    parameters={n: t.tolist() for n, t in p.items()}, gradients={n: t.grad.tolist() for n, t in p.items()}),
    ensure_ascii=False))
