"""Values and gradients of blocks in the forms of today's models, by PyTorch's autograd in float64.

    python tests/numerics/oracle/make_today.py > tests/numerics/oracle/today.json

PyTorch 2.15.

Written from the papers and from the forward passes of transformers, head by head and token by token, so that it shares no
shortcut with the engine. The loss is ⟨output, upstream⟩, so that `upstream` is the gradient of the output.
"""
import json
import math
import torch

torch.manual_seed(2017)
torch.set_default_dtype(torch.float64)
T, D = 7, 6

USUAL = dict(heads=2, key_value_heads=2, key_width=4, value_width=3, bias=True, output_bias=True, query_key_norm=None,
             rotary=None, scale=True, score_divisor=1.0, score_cap=None, causal=True, window=[None, None], residual=True,
             norm="none", attention_norm=True, output_norms=False, norm_kind="layer", gain_from_one=False, shift=True,
             epsilon=1e-3, branches="sequential", feed_forward=None, activation="gelu", gated=False, forward_bias=True)

CASES = [
    dict(name="Llama", heads=4, key_value_heads=2, bias=False, output_bias=False, rotary=dict(theta=100.0, width=4),
         norm="pre", norm_kind="rms", shift=False, feed_forward=7, activation="silu", gated=True, forward_bias=False),
    dict(name="Gemma 2", heads=2, key_value_heads=1, bias=False, output_bias=False, rotary=dict(theta=50.0, width=4),
         scale=False, score_divisor=1.7, score_cap=0.8, window=[2, None], norm="pre", output_norms=True, norm_kind="rms",
         gain_from_one=True, shift=False, feed_forward=5, activation="gelu_tanh", gated=True, forward_bias=False),
    dict(name="Qwen 3", heads=4, key_value_heads=2, bias=False, output_bias=False, query_key_norm="heads",
         rotary=dict(theta=1000.0, width=4), norm="pre", norm_kind="rms", shift=False, feed_forward=7, activation="silu",
         gated=True, forward_bias=False),
    dict(name="Qwen 2", heads=3, key_value_heads=1, output_bias=False, rotary=dict(theta=10.0, width=4), norm="pre",
         norm_kind="rms", shift=False, feed_forward=4, activation="silu", gated=True, forward_bias=False),
    dict(name="OLMo 2", bias=False, output_bias=False, query_key_norm="whole", rotary=dict(theta=100.0, width=4),
         output_norms=True, norm_kind="rms", shift=False, feed_forward=7, activation="silu", gated=True, forward_bias=False),
    dict(name="Pythia", rotary=dict(theta=100.0, width=2), norm="pre", branches="parallel", feed_forward=7),
    dict(name="Phi", rotary=dict(theta=100.0, width=2), norm="pre", branches="parallel, one norm", feed_forward=7,
         activation="gelu_tanh"),
    dict(name="GPT-Neo", bias=False, scale=False, window=[3, None], norm="pre", feed_forward=7, activation="gelu_tanh"),
    dict(name="ModernBERT, layer 0", causal=False, window=[1, 1], bias=False, output_bias=False,
         rotary=dict(theta=100.0, width=4), norm="pre", attention_norm=False, shift=False, feed_forward=7, gated=True,
         forward_bias=False),
    dict(name="everything behind the sums", norm="post", output_norms=True, query_key_norm="heads", score_cap=0.5,
         feed_forward=5, activation="silu", gated=True),
]


def draw(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).mul(1000).round().div(1000)


def phi(name, x):
    if name == "silu":
        return x / (1 + torch.exp(-x))
    if name == "gelu":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def block(c, w, x):
    def norm(place, v):
        if c["norm_kind"] == "layer":
            v = v - v.mean()
        v = v / torch.sqrt((v * v).mean() + c["epsilon"])
        gain = w["γ_" + place] + (1 if c["gain_from_one"] else 0)
        return v * gain + w.get("β_" + place, 0.0)

    def affine(v, weights, bias):
        return v @ w[weights] + w.get(bias, 0.0)

    def turned(v, place):
        if c["rotary"] is None:
            return v
        r, half, v = c["rotary"]["width"], c["rotary"]["width"] // 2, list(v)
        turned = list(v)
        for i in range(half):
            angle = place * c["rotary"]["theta"] ** (-2 * i / r)
            turned[i] = v[i] * math.cos(angle) - v[i + half] * math.sin(angle)
            turned[i + half] = v[i + half] * math.cos(angle) + v[i] * math.sin(angle)
        return torch.stack(turned)

    def heads_of(v, count, width, place, gain):
        """Of one row: normed, each head for itself or all at once, and turned."""
        if c["query_key_norm"] == "whole":
            v = norm(gain, v)
        heads = [v[h * width:(h + 1) * width] for h in range(count)]
        if c["query_key_norm"] == "heads":
            heads = [norm(gain, head) for head in heads]
        return [turned(head, place) for head in heads]

    pre, post = c["norm"] == "pre", c["norm"] == "post"
    at_attention = c["attention_norm"]
    read = torch.stack([norm("A", row) if pre and at_attention else row for row in x])
    H, K, dk, dv = c["heads"], c["key_value_heads"], c["key_width"], c["value_width"]
    q = [heads_of(row, H, dk, t, "q") for t, row in enumerate(affine(read, "W_Q", "b_Q"))]
    k = [heads_of(row, K, dk, t, "k") for t, row in enumerate(affine(read, "W_K", "b_K"))]
    v = affine(read, "W_V", "b_V")
    scale = (1 / math.sqrt(dk) if c["scale"] else 1.0) / c["score_divisor"]
    before, after = c["window"]
    mixes = []
    for i in range(T):
        mix = []
        for h in range(H):
            g = h // (H // K)
            seen = [j for j in range(T) if (not c["causal"] or j <= i)
                    and (before is None or i - j <= before) and (after is None or j - i <= after)]
            scores = torch.stack([q[i][h] @ k[j][g] * scale for j in seen])
            if c["score_cap"] is not None:
                scores = c["score_cap"] * torch.tanh(scores / c["score_cap"])
            weights = torch.softmax(scores, 0)
            mix.append(sum(a * v[j][g * dv:(g + 1) * dv] for a, j in zip(weights, seen)))
        mixes.append(torch.cat(mix))
    branch = affine(torch.stack(mixes), "W_O", "b_O")
    if c["output_norms"]:
        branch = torch.stack([norm("AO", row) for row in branch])
    attended = x + branch
    if post and at_attention:
        attended = torch.stack([norm("A", row) for row in attended])
    if c["feed_forward"] is None:
        return attended
    source = attended if c["branches"] == "sequential" else x
    place = "A" if c["branches"] == "parallel, one norm" else "F"
    inside = torch.stack([norm(place, row) if pre else row for row in source])
    hidden = affine(inside, "W_1", "b_1")
    hidden = phi(c["activation"], affine(inside, "W_g", "b_g")) * hidden if c["gated"] else phi(c["activation"], hidden)
    forward = affine(hidden, "W_2", "b_2")
    if c["output_norms"]:
        forward = torch.stack([norm("FO", row) for row in forward])
    output = attended + forward
    return torch.stack([norm("F", row) for row in output]) if post else output


def tensors(c):
    H, K, dk, dv, hidden = c["heads"], c["key_value_heads"], c["key_width"], c["value_width"], c["feed_forward"]
    shapes = dict(W_Q=(D, H * dk), W_K=(D, K * dk), W_V=(D, K * dv), W_O=(H * dv, D))
    if c["bias"]:
        shapes |= dict(b_Q=(H * dk,), b_K=(K * dk,), b_V=(K * dv,))
    if c["output_bias"]:
        shapes |= dict(b_O=(D,))
    if c["query_key_norm"]:
        each = c["query_key_norm"] == "heads"
        shapes |= {"γ_q": (dk if each else H * dk,), "γ_k": (dk if each else K * dk,)}
    places = []
    if c["norm"] != "none" and c["attention_norm"]:
        places.append("A")
    if c["norm"] != "none" and hidden and c["branches"] != "parallel, one norm":
        places.append("F")
    if c["output_norms"]:
        places += ["AO", "FO"] if hidden else ["AO"]
    for place in places:
        shapes["γ_" + place] = (D,)
        if c["shift"]:
            shapes["β_" + place] = (D,)
    if hidden:
        shapes |= dict(W_1=(D, hidden), W_2=(hidden, D))
        if c["gated"]:
            shapes |= dict(W_g=(D, hidden))
        if c["forward_bias"]:
            shapes |= dict(b_1=(hidden,), b_2=(D,))
            if c["gated"]:
                shapes |= dict(b_g=(hidden,))
    return {name: draw(*shape, scale=0.6 if len(shape) > 1 else 1.0).requires_grad_() for name, shape in shapes.items()}


def rows(m):
    m = m.detach()
    return (m if m.dim() > 1 else m[None]).tolist()


cases = []
for given in CASES:
    c = USUAL | given
    w, x, upstream = tensors(c), draw(T, D).requires_grad_(), draw(T, D)
    y = block(c, w, x)
    (y * upstream).sum().backward()
    cases.append(c | dict(x=rows(x), output=rows(y), upstream=rows(upstream), d_x=rows(x.grad), tensors=[
        dict(block=0, name=name, value=rows(t), gradient=rows(t.grad)) for name, t in w.items()]))
print(json.dumps(dict(width=D, cases=cases), ensure_ascii=False, separators=(",", ":")))
