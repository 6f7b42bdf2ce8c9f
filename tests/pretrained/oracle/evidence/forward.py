"""One forward pass of a BERT or a Llama from its folder, in float64, that any step can change: independent of attune.

`run(model, ids, edit)` calls `edit(step, layer, tensor)` at each step and goes on with what it returns; steps are
static (T, D), input (T, D), q, k, v, mix (H, T, d; keys and values that heads share are repeated), feed_forward (T, D). Layers and heads count from 0 here.
Needs torch, safetensors, tokenizers. Run alone, it compares with transformers."""
import json, os, sys
from types import SimpleNamespace as Record
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def norm(x, gain, shift, eps):
    """A layer norm where there is a shift, else RMSNorm. Also what it does to a part of x while σ is held: a function."""
    centred = x - x.mean(-1, keepdim=True) if shift is not None else x
    sigma = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    held = lambda part: gain * ((part - part.mean(-1, keepdim=True)) if shift is not None else part) / sigma
    return held(x) + (shift if shift is not None else 0), held


def load(folder):
    c = json.load(open(os.path.join(folder, "config.json")))
    t = {name: tensor.double() for name, tensor in load_file(os.path.join(folder, "model.safetensors")).items()}
    m = Record(kind=c["model_type"], layers=c["num_hidden_layers"], heads=c["num_attention_heads"], width=c["hidden_size"], blocks=[], config=c)
    m.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    m.shared = c.get("num_key_value_heads") or m.heads
    m.d = c.get("head_dim") or m.width // m.heads
    m.causal = m.kind == "llama"
    m.eps = c.get("layer_norm_eps") or c["rms_norm_eps"]
    split = lambda name, heads: t[name + ".weight"].T.reshape(m.width, heads, m.d).permute(1, 0, 2)  # (heads, D, d)
    bias = lambda name, heads: t[name + ".bias"].reshape(heads, 1, m.d) if name + ".bias" in t else torch.zeros(heads, 1, m.d)
    gains = lambda name: (t[name + ".weight"], t.get(name + ".bias"))
    for n in range(m.layers):
        if m.kind == "bert":
            p = f"bert.encoder.layer.{n}."
            q, k, v, o = (p + f"attention.self.{x}" for x in ("query", "key", "value")), None, None, p + "attention.output.dense"
            q, k, v = q
            b = Record(norm1=gains(p + "attention.output.LayerNorm"), norm2=gains(p + "output.LayerNorm"),
                       w1=t[p + "intermediate.dense.weight"].T, b1=t[p + "intermediate.dense.bias"], w2=t[p + "output.dense.weight"].T, b2=t[p + "output.dense.bias"])
        else:
            p = f"model.layers.{n}."
            q, k, v, o = (p + f"self_attn.{x}_proj" for x in "qkvo")
            b = Record(norm1=gains(p + "input_layernorm"), norm2=gains(p + "post_attention_layernorm"),
                       gate=t[p + "mlp.gate_proj.weight"].T, up=t[p + "mlp.up_proj.weight"].T, down=t[p + "mlp.down_proj.weight"].T)
        b.wq, b.wk, b.wv = split(q, m.heads), split(k, m.shared), split(v, m.shared)
        b.bq, b.bk, b.bv = bias(q, m.heads), bias(k, m.shared), bias(v, m.shared)
        b.wo, b.bo = t[o + ".weight"].T.reshape(m.heads, m.d, m.width), t.get(o + ".bias", torch.zeros(m.width))
        m.blocks.append(b)
    if m.kind == "bert":
        m.E, m.P, m.type = (t[f"bert.embeddings.{x}_embeddings.weight"] for x in ("word", "position", "token_type"))
        m.norm0 = gains("bert.embeddings.LayerNorm")
        m.head = t["cls.predictions.transform.dense.weight"].T, t["cls.predictions.transform.dense.bias"], gains("cls.predictions.transform.LayerNorm"), t["cls.predictions.bias"]
    else:
        m.E, m.norm0, m.final = t["model.embed_tokens.weight"], None, gains("model.norm")
        m.U = t.get("lm_head.weight", m.E)
        m.theta = c.get("rope_theta") or c["rope_parameters"]["rope_theta"]
    return m


def encode(m, text):
    e = m.tokenizer.encode(text)
    return e.ids, e.tokens


def rotate(m, x, places):
    """RoPE: the vector of each place (rows, the axis before the last) is turned by its place; halves, as in the files."""
    if m.kind != "llama":
        return x
    half = x.shape[-1] // 2
    angle = torch.as_tensor(places).reshape(-1, 1).double() * m.theta ** (-torch.arange(half).double() / half)
    a, b, cos, sin = x[..., :half], x[..., half:], angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def feed_forward(m, b, x):
    if m.kind == "bert":
        return torch.nn.functional.gelu(x @ b.w1 + b.b1) @ b.w2 + b.b2
    return (torch.nn.functional.silu(x @ b.gate) * (x @ b.up)) @ b.down


def logits(m, y):
    if m.kind == "bert":
        w, b, gains, last = m.head
        return norm(torch.nn.functional.gelu(y @ w + b), *gains, m.eps)[0] @ m.E.T + last
    return norm(y, *m.final, m.eps)[0] @ m.U.T


def run(m, ids, edit=lambda step, layer, x: x):
    T, group = len(ids), m.heads // m.shared
    r = Record(static=edit("static", None, m.E[ids]), layers=[])
    if m.kind == "bert":
        x, r.held0 = norm(r.static + m.P[:T] + m.type[0], *m.norm0, m.eps)
    else:
        x, r.held0 = r.static, None
    hidden = torch.triu(torch.full((T, T), -torch.inf), 1) if m.causal else torch.zeros(T, T)
    for n, b in enumerate(m.blocks):
        x = edit("input", n, x)
        s = Record(input=x)
        s.read, s.held = norm(x, *b.norm1, m.eps) if m.causal else (x, None)  # what the projections read
        s.q = edit("q", n, rotate(m, s.read @ b.wq + b.bq, range(T)))
        s.k = edit("k", n, rotate(m, s.read @ b.wk + b.bk, range(T)).repeat_interleave(group, 0))  # one for each query head
        s.v = edit("v", n, (s.read @ b.wv + b.bv).repeat_interleave(group, 0))
        s.scores = s.q @ s.k.transpose(1, 2) * m.d ** -0.5 + hidden
        s.weights = s.scores.softmax(-1)
        s.mix = edit("mix", n, s.weights @ s.v)
        s.heads = s.mix @ b.wo  # (H, T, D): what each head adds
        summed = x + s.heads.sum(0) + b.bo
        if m.causal:
            s.held1 = None
            middle, s.held2 = norm(summed, *b.norm2, m.eps)
            s.ff = edit("feed_forward", n, feed_forward(m, b, middle))
            x = summed + s.ff
        else:
            s.middle, s.held1 = norm(summed, *b.norm1, m.eps)
            s.ff = edit("feed_forward", n, feed_forward(m, b, s.middle))
            x, s.held2 = norm(s.middle + s.ff, *b.norm2, m.eps)
        s.output = x
        r.layers.append(s)
    r.logits = logits(m, x)
    return r


def word(m, text):
    i = m.tokenizer.token_to_id(text)
    assert i is not None, f"{text} is not one piece of this model"
    return i


def answer_place(m, pieces):
    """The last [MASK] of an encoder; the last token of a decoder."""
    return len(pieces) - 1 if m.causal else len(pieces) - 1 - pieces[::-1].index("[MASK]")


if __name__ == "__main__":
    import transformers
    for folder, text in zip(sys.argv[1:3], ("the dog could not catch the fox because it was too slow, so it was the [MASK].", "lamp fox green lamp fox green lamp fox")):
        m = load(folder)
        ids, _ = encode(m, text)
        r = run(m, ids)
        theirs = transformers.AutoModelForMaskedLM if m.kind == "bert" else transformers.AutoModelForCausalLM
        model = theirs.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64)
        out = model(torch.tensor([ids]), output_attentions=True)
        print(folder, "weights", max(float((a[0] - s.weights).abs().max()) for a, s in zip(out.attentions, r.layers)), "logits", float((out.logits[0] - r.logits).abs().max()))
