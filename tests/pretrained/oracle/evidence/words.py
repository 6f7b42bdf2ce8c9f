"""How much each word counts for one answer, by ten measures that need not agree. Run alone:
python words.py FOLDER SENTENCE [ANSWER AGAINST]

m = logit of the answer minus logit of the other word, at the answer's place p. A row for each word j that p can see."""
import sys
import torch
from forward import load, encode, run, word, answer_place, feed_forward, norm

MEASURES = ("attention_last", "attention", "rollout", "lengths", "direct", "value_zeroing", "gradient_input", "integrated", "cut", "blank")
STEPS = 64


def layer_output(m, b, x, heads):
    """The rest of a layer after its heads, from the layer's input."""
    summed = x + heads.sum(0) + b.bo
    if m.causal:
        return summed + feed_forward(m, b, norm(summed, *b.norm2, m.eps)[0])
    middle = norm(summed, *b.norm1, m.eps)[0]
    return norm(middle + feed_forward(m, b, middle), *b.norm2, m.eps)[0]


def chain(grids):
    """The product of all layers' grids, each row of which sums to 1: from the last layer's words to the first's."""
    product = torch.eye(len(grids[0]))
    for grid in grids:
        product = (grid / grid.sum(-1, keepdim=True).clamp_min(1e-300)) @ product
    return product


def integrated(m, ids, ask, start, steps):
    """Integrated gradients along the straight line from `start` to the static vectors, at the middles of equal steps."""
    end, total = m.E[ids], torch.zeros(len(ids), m.width)
    for n in range(steps):
        x = (start + (end - start) * ((n + 0.5) / steps)).requires_grad_()
        total += torch.autograd.grad(ask(run(m, ids, lambda step, _, t: x if step == "static" else t)), x)[0]
    return ((end - start) * total / steps).sum(-1)


def table(m, sentence, answer=None, against=None, at=None):
    ids, pieces = encode(m, sentence)
    T, p = len(ids), answer_place(m, pieces) if at is None else at
    r = run(m, ids)
    best = r.logits[p].topk(2).indices
    a, b = int(best[0]) if answer is None else word(m, answer), int(best[1]) if against is None else word(m, against)
    ask = lambda run_: run_.logits[p, a] - run_.logits[p, b]
    whole = ask(r)
    seen = p + 1 if m.causal else T
    out = {"attention_last": r.layers[-1].weights[:, p].mean(0), "attention": torch.stack([s.weights[:, p].mean(0) for s in r.layers]).mean(0)}
    out["rollout"] = chain([s.weights.mean(0) / 2 + torch.eye(T) / 2 for s in r.layers])[p]
    lengths, direct, rest = [], torch.zeros(T), whole.clone()
    for s, block in zip(r.layers, m.blocks):
        adds = torch.einsum("ht,htd,hdw->htw", s.weights[:, p], s.v, block.wo)  # (H, T, D): what word t adds to p through head h
        if s.held1 is not None:
            adds = s.held1(adds.reshape(-1, 1, m.width).expand(-1, T, -1))[:, p].reshape(adds.shape)
        lengths.append(adds.norm(dim=-1).mean(0))
        if m.causal:  # the readout sees what is added through the final norm, its σ held
            _, held = norm(r.layers[-1].output, *m.final, m.eps)
            seen_by = held(adds.reshape(-1, 1, m.width).expand(-1, T, -1))[:, p].reshape(adds.shape)
            direct += (seen_by @ (m.U[a] - m.U[b])).sum(0)
    out["lengths"] = torch.stack(lengths).mean(0)
    if m.causal:
        out["direct"] = direct
    grids = []
    for s, block in zip(r.layers, m.blocks):
        grid = torch.zeros(T, T)
        for j in range(T):  # without the value of word j, in this layer alone
            heads = (s.weights * (torch.arange(T) != j)) @ s.v @ block.wo
            unit = lambda y: y / y.norm(dim=-1, keepdim=True)
            grid[:, j] = (unit(layer_output(m, block, s.input, heads)) - unit(s.output)).square().sum(-1) / 2  # 1 − cosine, without cancellation
        grids.append(grid)
    out["value_zeroing"] = chain(grids)[p]
    x = m.E[ids].clone().requires_grad_()
    gradient = torch.autograd.grad(ask(run(m, ids, lambda step, _, t: x if step == "static" else t)), x)[0]
    out["gradient_input"] = (gradient * m.E[ids]).sum(-1)
    mean = m.E.mean(0).expand(T, -1)
    out["integrated"] = integrated(m, ids, ask, mean, STEPS)
    nothing = ask(run(m, ids, lambda step, _, t: mean if step == "static" else t))
    out["cut"] = torch.stack([whole - ask(run(m, ids, lambda step, _, t: torch.where((torch.arange(T) == j)[None, :, None], 0.0, t) if step == "v" else t)) for j in range(T)])
    out["blank"] = torch.stack([whole - ask(run(m, ids, lambda step, _, t: torch.where((torch.arange(T) == j)[:, None], mean, t) if step == "static" else t)) for j in range(T)])
    out = {name: out[name][:seen].detach() for name in MEASURES if name in out}
    text = [j for j in range(seen) if pieces[j] not in ("[CLS]", "[SEP]", "<s>")]  # ranks are compared without the words that the tokenizer adds
    ranks = {name: ranked(values[text].abs()) for name, values in out.items()}
    agree = [[correlation(ranks[x], ranks[y]) for y in ranks] for x in ranks]
    found = {"tokens": pieces[:seen], "place": p, "answer": m.tokenizer.id_to_token(a), "against": m.tokenizer.id_to_token(b), "difference": float(whole), "nothing": float(nothing),
             "measures": {name: values.tolist() for name, values in out.items()}, "ranked": text, "spearman": agree}
    if m.causal:
        found["direct_rest"] = float(whole - direct.sum())
    return found


def ranked(values):
    """Ranks from 1 for the smallest; equal values share the mean of their ranks. Numbers that differ by less than 1e-9 count as equal."""
    v = torch.round(values * 1e9)
    return torch.stack([((v < x).sum() + ((v == x).sum() + 1) / 2).double() for x in v])


def correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    size = (a.square().sum() * b.square().sum()).sqrt()
    return None if size == 0 else float((a * b).sum() / size)


if __name__ == "__main__":
    m = load(sys.argv[1])
    if "--steps" in sys.argv:
        sys.argv.remove("--steps")
        ids, pieces = encode(m, sys.argv[2])
        p = answer_place(m, pieces)
        r = run(m, ids)
        a, b = (word(m, x) for x in sys.argv[3:5])
        ask = lambda run_: run_.logits[p, a] - run_.logits[p, b]
        for title, start in (("mean word", m.E.mean(0).expand(len(ids), -1)), ("zero", torch.zeros(len(ids), m.width))):
            base = ask(run(m, ids, lambda step, _, t: start if step == "static" else t))
            for steps in (8, 16, 32, 64, 128, 256):
                total = integrated(m, ids, ask, start, steps).sum()
                print(f"{title}, {steps} steps: {float(total):.4f} for {float(ask(r) - base):.4f}, off by {float(total - (ask(r) - base)):+.4f}")
        sys.exit()
    found = table(m, *sys.argv[2:5])
    print(f"{found['answer']} against {found['against']} at token {found['place'] + 1}: {found['difference']:.3f}; without any word {found['nothing']:.3f}; integrated gradients sum to {sum(found['measures']['integrated']):.3f}")
    names = list(found["measures"])
    print(f"{'':10}" + " ".join(f"{n[:9]:>9}" for n in names))
    for j, token in enumerate(found["tokens"]):
        print(f"{token:10}" + " ".join(f"{found['measures'][n][j]:9.3f}" for n in names))
    print("Spearman")
    for n, row in zip(names, found["spearman"]):
        print(f"{n[:9]:10}" + " ".join("         " if x is None else f"{x:9.2f}" for x in row))
