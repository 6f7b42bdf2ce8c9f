"""Losses of 200 steps of Adam in PyTorch, float64, from given parameters on given data: training.json.

    python tests/numerics/oracle/make_training.py > tests/numerics/oracle/training.json

PyTorch 2.15.

Two trainings: the start and data of job_a.json, which lies beside this file, with attention by
`scaled_dot_product_attention`; and a language model of two pre-norm blocks with feed-forward layers, causal, with
learned positions and trained embeddings, to which the readout is tied. Parameters are rounded to what float32 holds.
"""
import json
import pathlib
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2017)
torch.set_default_dtype(torch.float64)
STEPS = 200


def train(parameters, rate, loss_of):
    optimiser = torch.optim.Adam(parameters, lr=rate)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = loss_of()
        loss.backward()
        losses.append(loss.item())
        optimiser.step()
    return losses


def job_a():
    given = json.loads((pathlib.Path(__file__).parent / "job_a.json").read_text())
    c = given["config"]
    # What the float32 of the engine reads.
    p = {k: torch.tensor(v, dtype=torch.float32).double().requires_grad_() for k, v in given["parameters"].items()}
    ids, target = torch.tensor(given["ids"]), torch.tensor(given["target"])
    fold = lambda m: m.view(c["B"], c["T"], c["H"], -1).transpose(1, 2)

    def loss():
        x = p["E"][ids]
        q, k, v = (fold(x @ p["W_" + n] + p["b_" + n]) for n in "QKV")
        mix = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(c["B"], c["T"], c["D"])
        out = (mix @ p["W_O"] + p["b_O"]).mean(1)
        return F.cross_entropy(out @ p["W_out"] + p["b_out"], target)

    return dict(losses=train(list(p.values()), c["lr"], loss))


V, D, H, HIDDEN, LONGEST, BLOCKS, RATE = 17, 12, 3, 20, 9, 2, 0.01
LENGTHS = [9, 2, 7, 5, 8, 3, 9, 4]


def language_model():
    sentences = [torch.randint(0, V, (n,)) for n in LENGTHS]
    layers = nn.ModuleList(
        nn.TransformerEncoderLayer(D, H, HIDDEN, dropout=0.0, norm_first=True, batch_first=True) for _ in range(BLOCKS))
    embedding, positions = nn.Parameter(torch.randn(V, D) * 0.5), nn.Parameter(torch.randn(LONGEST, D) * 0.5)
    bias = nn.Parameter(torch.zeros(V))
    parameters = [embedding, positions, bias, *layers.parameters()]
    with torch.no_grad():
        for p in parameters:
            p.copy_(p.mul(1000).round().div(1000).float())

    def tensors():
        shared = {"E": embedding, "P": positions, "b_logits": bias}
        out = [dict(block=0, name=n, value=p.detach().clone()) for n, p in shared.items()]
        for i, l in enumerate(layers):
            a = l.self_attn
            w, b = a.in_proj_weight.chunk(3), a.in_proj_bias.chunk(3)
            of = dict(W_Q=w[0].T, b_Q=b[0], W_K=w[1].T, b_K=b[1], W_V=w[2].T, b_V=b[2], W_O=a.out_proj.weight.T,
                      b_O=a.out_proj.bias, W_1=l.linear1.weight.T, b_1=l.linear1.bias, W_2=l.linear2.weight.T,
                      b_2=l.linear2.bias)
            of |= {"γ_A": l.norm1.weight, "β_A": l.norm1.bias, "γ_F": l.norm2.weight, "β_F": l.norm2.bias}
            out += [dict(block=i, name=n, value=p.detach().clone()) for n, p in of.items()]
        return out

    def loss():
        total, count = 0, 0
        for s in sentences:
            n = len(s)
            x = (embedding[s] + positions[:n])[None]
            mask = torch.triu(torch.ones(n, n, dtype=bool), 1)
            for layer in layers:
                x = layer(x, src_mask=mask)
            logits = x[0, :-1] @ embedding.T + bias
            total, count = total + F.cross_entropy(logits, s[1:], reduction="sum"), count + n - 1
        return total / count

    start = tensors()
    return dict(config=dict(V=V, D=D, H=H, hidden=HIDDEN, max_tokens=LONGEST, rate=RATE), sentences=sentences,
                tensors=start, losses=train(parameters, RATE, loss))


def plain(t):
    """The shortest decimals that are the same float32."""
    return json.loads(json.dumps(t.tolist()), parse_float=lambda s: float(f"{float(s):.9g}"))


print(json.dumps(dict(job_a=job_a(), language_model=language_model()), default=plain, ensure_ascii=False))
