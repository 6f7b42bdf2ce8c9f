"""Takes one attention score apart: score = Σ over pairs of a source of the query's vector and one of the key's.

Run alone: python score.py FOLDER SENTENCE LAYER.HEAD:QUERY-KEY (counted from 1); without the last, every score of the sentence is checked."""
import sys
import torch
from forward import load, encode, run, norm, rotate


def sources(m, r, place, layer):
    """What the projections of a layer read at a place, as a sum: labels, and a row of D numbers for each.

    Labels: ("word",), ("position",), ("head", layer, head, token), ("feed_forward", layer), ("bias",). All norms between hold their σ."""
    labels, rows = [("word",)], [r.static[place]]
    bias = torch.zeros(m.width)
    held = lambda f, x: f(x[:, None].expand(-1, len(r.static), -1))[:, place]  # σ is that of this place
    if m.kind == "bert":
        labels.append(("position",))
        rows.append(m.P[place])
        stack = held(r.held0, torch.stack([*rows, bias + m.type[0]]))
        rows, bias = list(stack[:-1]), stack[-1] + m.norm0[1]
    through = lambda f, shift: (list(held(f, torch.stack(rows))), held(f, bias[None])[0] + (shift if shift is not None else 0))
    for n in range(layer):
        b, s = m.blocks[n], r.layers[n]
        adds = torch.einsum("ht,htd,hdw->htw", s.weights[:, place], s.v, b.wo)  # what each word adds through each head
        for h in range(m.heads):
            for t in range(len(r.static)):
                labels.append(("head", n, h, t))
                rows.append(adds[h, t])
        bias = bias + b.bo
        if s.held1 is not None:
            rows, bias = through(s.held1, b.norm1[1])
        labels.append(("feed_forward", n))
        rows.append(s.ff[place])
        if m.kind == "bert":
            rows, bias = through(s.held2, b.norm2[1])
    s = r.layers[layer]
    if s.held is not None:
        rows, bias = through(s.held, None)
    return labels + [("bias",)], torch.stack([*rows, bias])


def split(m, r, layer, head, query, key):
    """Labels of both sides, and the table of pairs in units of the score."""
    b, group = m.blocks[layer], m.heads // m.shared
    sides = []
    for place, w, bias in ((query, b.wq[head], b.bq[head, 0]), (key, b.wk[head // group], b.bk[head // group, 0])):
        kept = r.__dict__.setdefault("kept", {})
        if (place, layer) not in kept:
            kept[place, layer] = sources(m, r, place, layer)
        labels, rows = kept[place, layer]
        part = rows @ w
        part[-1] += bias  # the projection's own bias is counted with the biases
        sides.append((labels, rotate(m, part, [place] * len(part))))  # turned by the place of the query or key, not by that of the source
    (left, q), (right, k) = sides
    return left, right, q @ k.T * m.d ** -0.5


def grouped(labels):
    """The groups that are shown first: a head is the sum over its words."""
    key = [label[:3] if label[0] == "head" else label for label in labels]
    names = list(dict.fromkeys(key))
    fold = torch.zeros(len(names), len(labels))
    fold[[names.index(k) for k in key], range(len(labels))] = 1
    return names, fold


def table(m, r, layer, head, query, key):
    left, right, pairs = split(m, r, layer, head, query, key)
    a, fold_a = grouped(left)
    b, fold_b = grouped(right)
    seen = range(query + 1) if m.causal else range(len(r.static))
    # Only differences within a row of scores matter: the same table, minus its mean over all keys that the query sees.
    mean = torch.stack([fold_a @ split(m, r, layer, head, query, j)[2] @ fold_b.T for j in seen]).mean(0)
    grid = fold_a @ pairs @ fold_b.T
    return {"score": float(r.layers[layer].scores[head, query, key]), "weight": float(r.layers[layer].weights[head, query, key]),
            "sources": [list(x) for x in a], "key_sources": [list(x) for x in b], "pairs": grid.tolist(), "relative": (grid - mean).tolist(),
            "query_words": [[list(l), float(v)] for l, v in zip(left, pairs.sum(1))], "key_words": [[list(l), float(v)] for l, v in zip(right, pairs.sum(0))]}


def name(source, pieces=None):
    kind, *rest = source
    if kind == "head":
        return f"head {rest[0] + 1}.{rest[1] + 1}" + (f" from {pieces[rest[2]]}" if len(rest) > 2 else "")
    return f"feed-forward {rest[0] + 1}" if rest else kind


if __name__ == "__main__":
    m = load(sys.argv[1])
    ids, pieces = encode(m, sys.argv[2])
    r = run(m, ids)
    if len(sys.argv) == 3:
        worst = most = 0
        for n in range(m.layers):
            for i in range(0, len(ids), 3):
                for j in range(0, (i + 1) if m.causal else len(ids), 3):
                    for h in range(m.heads):
                        pairs = split(m, r, n, h, i, j)[2]
                        s = r.layers[n].scores[h, i, j]
                        worst = max(worst, float((pairs.sum() - s).abs()))
                        most = max(most, float(pairs.abs().sum() / max(1, s.abs())))
        print(f"largest difference of a sum and its score {worst:.1e}; pairs of a score sum in absolute value to at most {most:.0f} times the score (or 1)")
        sys.exit()
    where, rest = sys.argv[3].split(":")
    layer, head = (int(x) - 1 for x in where.split("."))
    query, key = (int(x) - 1 for x in rest.split("-"))
    t = table(m, r, layer, head, query, key)
    print(f"score {t['score']:.4f} (weight {t['weight']:.3f}) of {pieces[query]} looking at {pieces[key]}; the pairs sum to {sum(map(sum, t['pairs'])):.4f}")
    for title in ("pairs", "relative"):
        flat = sorted(((v, a, b) for a, row in enumerate(t[title]) for b, v in enumerate(row)), key=lambda x: -abs(x[0]))[:12]
        print(title, *(f"\n  {v:8.3f}  {name(t['sources'][a])}  x  {name(t['key_sources'][b])}" for v, a, b in flat))
