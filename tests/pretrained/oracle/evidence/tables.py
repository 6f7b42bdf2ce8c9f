"""What a head compares and what it writes, from the weights alone. Run alone: python tables.py FOLDER LAYER.HEAD [WORD …]"""
import sys
import torch
from forward import load, norm, rotate, word


def centred(m):
    """A layer norm takes the mean off; RMSNorm does not."""
    D = m.width
    return torch.eye(D) - 1 / D if m.blocks[0].norm1[1] is not None else torch.eye(D)


def static(m):
    """Each word as the first block's projections would read it without a position: through the embedding norm, or the first norm."""
    return norm(m.E + m.type[0], *m.norm0, m.eps)[0] if m.kind == "bert" else norm(m.E, *m.blocks[0].norm1, m.eps)[0]


def way(m, start, end):
    """What the norms between do to what layer `start`'s attention adds until layer `end` reads it, up to σ: gains and centring (D, D)."""
    C = centred(m)
    if m.kind != "bert":
        return C @ torch.diag(m.blocks[end].norm1[0])
    W = torch.eye(m.width)
    for n in range(start, end):
        W = W @ C @ torch.diag(m.blocks[n].norm1[0]) @ C @ torch.diag(m.blocks[n].norm2[0])
    return W


def factors(m, layer, head, distance=0):
    """W_Q R_distance, W_K, W_V, W_O of a head: rows are vectors, so x W_Q (y W_K)ᵀ is a score and x W_V W_O what is written."""
    b, group = m.blocks[layer], m.heads // m.shared
    return rotate(m, b.wq[head], [distance] * m.width), b.wk[head // group], b.wv[head // group], b.wo[head]


def composition(m, distance=0):
    """Elhage et al. 2021: for a head 1 before a head 2, ‖OV₁ M‖ / (‖OV₁‖ ‖M‖), Frobenius, with M what head 2 does to the vector that it reads:
    Q: W_Q W_Kᵀ; K: W_K W_Qᵀ; V: W_V W_O. Two unrelated heads give 1/√D on average (in the mean square)."""
    size = lambda x: float(x.square().sum().sqrt())
    found = []
    for l1 in range(m.layers):
        for h1 in range(m.heads):
            _, _, v, o = factors(m, l1, h1)
            for l2 in range(l1 + 1, m.layers):
                first = v @ (o @ way(m, l1, l2))
                for h2 in range(m.heads):
                    q, k, v2, o2 = factors(m, l2, h2, distance)
                    found.append([l1, h1, l2, h2] + [size(first @ M) / (size(first) * size(M)) for M in (q @ k.T, k @ q.T, v2 @ o2)])
    return found


def compared(m, layer, head, distance=0):
    """(query word, key word): the score of the two static vectors, each row minus its mean, since only differences in a row matter."""
    q, k, _, _ = factors(m, layer, head, 0)
    b, group, X = m.blocks[layer], m.heads // m.shared, static(m)
    left, right = rotate(m, X @ q + b.bq[head], [distance] * len(X)), X @ k + b.bk[head // group]
    S = left @ right.T * m.d ** -0.5
    return S - S.mean(1, keepdim=True)


def written(m, layer, head):
    """(word, word): what the head adds when it looks only at the first word, seen through the readout (logits up to σ, each row minus its mean);
    where the readout is not linear, the cosine with the static vectors, both minus the mean word."""
    _, _, v, o = factors(m, layer, head)
    b, group, X = m.blocks[layer], m.heads // m.shared, static(m)
    out = (X @ v + b.bv[head // group]) @ o
    if m.kind != "bert":
        Z = (out * m.final[0]) @ m.U.T
        return Z - Z.mean(1, keepdim=True)
    out = out @ way(m, layer, layer + 1)
    cosine = lambda a: (a - a.mean(0)) / (a - a.mean(0)).norm(dim=1, keepdim=True)
    return cosine(out) @ cosine(X).T


def copying(m, layer, head):
    """Σλ / Σ|λ| over the eigenvalues of the map from words to words through OV: 1 copies, −1 forbids what is read. Decoders only."""
    _, _, v, o = factors(m, layer, head)
    small = o @ torch.diag(m.final[0]) @ m.U.T @ static(m) @ v  # (d, d) has the same eigenvalues, other than 0, as words x words
    e = torch.linalg.eigvals(small)
    return float(e.sum().real / e.abs().sum())


if __name__ == "__main__":
    m = load(sys.argv[1])
    layer, head = (int(x) - 1 for x in sys.argv[2].split("."))
    names = [m.tokenizer.id_to_token(i) for i in range(len(m.E))]
    top = lambda row: ", ".join(f"{names[i]} {float(row[i]):.2f}" for i in row.topk(6).indices)
    S, W = compared(m, layer, head), written(m, layer, head)
    for text in sys.argv[3:]:
        print(f"{text} looks at: {top(S[word(m, text)])}\n{text} makes it write: {top(W[word(m, text)])}")
    best = S.flatten().topk(10).indices
    print("pairs:", ", ".join(f"{names[i // len(names)]} → {names[i % len(names)]} {float(S.flatten()[i]):.1f}" for i in best.tolist()))
    if m.causal:
        print("copying:", " ".join(f"{n + 1}.{h + 1} {copying(m, n, h):+.2f}" for n in range(m.layers) for h in range(m.heads)))
    found = composition(m)
    print(f"composition (chance {m.width ** -0.5:.3f}):")
    for n, part in enumerate("QKV"):
        print(" ", part, ", ".join(f"{a + 1}.{b + 1} → {c + 1}.{d + 1} {x[n]:.3f}" for a, b, c, d, *x in sorted(found, key=lambda row: -row[4 + n])[:6]))
