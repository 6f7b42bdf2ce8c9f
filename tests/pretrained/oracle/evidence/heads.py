"""All heads over a text file, a sentence on each line. Run alone: python heads.py FOLDER TEXTFILE

Names as HeadVis gives them; everything is exact and the same at each run: no warm-up, no random sample, whole rows of weights."""
import sys
from collections import defaultdict
import torch
from forward import load, encode, run

EDGES = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
INTERVALS, TOP, OTHERS, BINS, THRESHOLD, MOST = 5, 10, 3, 50, 0.01, 50


def induction_pairs(ids):
    """(query, key): the key is the token after an earlier copy of the query's token; and how many queries have such a key."""
    pairs = [(i, j + 1) for i in range(len(ids)) for j in range(i) if ids[j] == ids[i]]
    return pairs, len({i for i, _ in pairs})


def corpus(m, lines):
    texts = [encode(m, line) for line in lines if line.strip()]
    texts = [(ids, pieces) for ids, pieces in texts if len(ids) >= 2]
    L, H, N = m.layers, m.heads, len(texts)
    sums = {name: torch.zeros(L, H) for name in ("self", "prev", "entropy", "distance", "square", "induction")}
    rows = steps = repeats = 0
    largest, bins = torch.zeros(N, L, H), torch.zeros(L, H, len(EDGES) - 1)
    received, looked, count = (defaultdict(lambda: torch.zeros(L, H)) for _ in range(3))
    shares = {name: torch.zeros(N, L, H) for name in ("previous", "first", "entropy", "distance")}  # the distributions of attune's own measures
    for n, (ids, pieces) in enumerate(texts):
        a = torch.stack([s.weights for s in run(m, ids).layers])  # (L, H, T, T)
        T = len(ids)
        i = torch.arange(T)
        d = (i[:, None] - i[None]).abs()
        e = -(a * a.clamp_min(1e-300).log()).sum((2, 3))
        own, before = a.diagonal(dim1=2, dim2=3).sum(-1), a.diagonal(-1, 2, 3).sum(-1)
        pairs, repeated = induction_pairs(ids)
        sums["self"] += own
        sums["prev"] += before
        sums["entropy"] += e
        sums["distance"] += (a * d).sum((2, 3))
        sums["square"] += (a * d * d).sum((2, 3))
        for q, k in pairs:
            sums["induction"] += torch.where(a[:, :, q, k] < THRESHOLD, 0.0, a[:, :, q, k])
        rows, steps, repeats = rows + T, steps + T - 1, repeats + repeated
        largest[n] = a[:, :, 1:, 1:].amax((2, 3))  # without the first query and the first key
        for place in range(len(EDGES) - 1):
            bins[:, :, place] += (a * ((d >= EDGES[place]) & (d < EDGES[place + 1]))).sum((2, 3))
        for t in range(T):
            received[pieces[t]] += a[:, :, :, t].sum(2)
            looked[pieces[t]] += a[:, :, t, 1:].amax(2)
            count[pieces[t]] += 1
        shares["previous"][n], shares["first"][n], shares["entropy"][n], shares["distance"][n] = before / T, a[:, :, :, 0].sum(2) / T, e / T, (a * d).sum((2, 3)) / T
    mean = sums["distance"] / rows
    metrics = {"self_attention_score": sums["self"] / rows, "prev_token_score": sums["prev"] / steps, "pattern_entropy": sums["entropy"] / rows,
               "qk_distance": mean, "qk_distance_variance": sums["square"] / rows - mean * mean, "induction_score": sums["induction"] / repeats if repeats else torch.full((L, H), torch.nan)}
    found = []
    for l in range(L):
        for h in range(H):
            order = sorted(range(N), key=lambda n: (float(largest[n, l, h]), n))
            interval = {n: 1 + rank * INTERVALS // N for rank, n in enumerate(order)}
            chosen = []
            for k in range(1, INTERVALS + 1):
                inside = [n for n in order if interval[n] == k]
                if k == INTERVALS:
                    chosen += [(k, n) for n in reversed(inside[-TOP:])]
                else:  # evenly spaced in rank
                    chosen += [(k, inside[len(inside) * (2 * x + 1) // (2 * OTHERS)]) for x in range(min(OTHERS, len(inside)))]
            quantiles = {name: torch.quantile(values[:, l, h], torch.tensor([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])).tolist() for name, values in shares.items()}
            top = lambda table, per: sorted(({"token": t, "weight": float(v[l, h]), "mean": float(v[l, h] / count[t][l, h]), "count": int(count[t][l, h])} for t, v in table.items()), key=lambda x: (-x[per], x["token"]))[:MOST]
            found.append({"layer": l, "head": h, **{name: None if torch.isnan(v[l, h]) else float(v[l, h]) for name, v in metrics.items()}, "distributions": quantiles,
                          "histogram": torch.bincount((largest[:, l, h] * BINS).long().clamp(0, BINS - 1), minlength=BINS).tolist(), "qk_distance_histogram": bins[l, h].tolist(),
                          "top_key_tokens": top(received, "weight"), "top_query_tokens": top(looked, "mean"), "mean_max_activation": float(largest[:, l, h].mean()),
                          "sequences": [{"sequence_id": n, "interval": k, "max_activation": float(largest[n, l, h])} for k, n in chosen]})
    return {"n_sequences": N, "n_tokens": rows, "n_intervals": INTERVALS, "qk_distance_edges": EDGES, "heads": found}


if __name__ == "__main__":
    m = load(sys.argv[1])
    found = corpus(m, open(sys.argv[2], encoding="utf-8").read().splitlines())
    print(f"{found['n_sequences']} sentences, {found['n_tokens']} tokens")
    names = ("self_attention_score", "prev_token_score", "pattern_entropy", "qk_distance", "qk_distance_variance", "induction_score", "mean_max_activation")
    print("head " + " ".join(f"{n[:10]:>10}" for n in names) + "  key words")
    for x in found["heads"]:
        print(f"{x['layer'] + 1}.{x['head'] + 1:<3}" + " ".join(f"{x[n]:10.3f}" if x[n] is not None else "          " for n in names) + "  " + " ".join(t["token"] for t in x["top_key_tokens"][:5]))
