"""Values and gradients of PyTorch's own layers and optimisers, in float64.

    python tests/numerics/oracle/make_torch.py > tests/numerics/oracle/torch.json

PyTorch 2.15.

The loss is ⟨output, upstream⟩, so that `upstream` is the gradient of the output. PyTorch's weights
are (out, in); they are written transposed and taken apart, as rows-are-tokens code has them: Q = X W_Q + b_Q.
"""
import json
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2017)
torch.set_default_dtype(torch.float64)
T, T_K, D, H, HIDDEN = 5, 3, 6, 2, 7


def draw(*shape):
    return torch.randn(*shape).mul(1000).round().div(1000)


def leaf(*shape):
    return draw(*shape).requires_grad_()


def redraw(module):
    """Every parameter at random, biases and gains too, as short decimals."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(draw(*p.shape) * (0.5 if p.dim() > 1 else 1))
    return module


def attention(block, module):
    """in_proj holds W_Q, W_K and W_V, one below the other."""
    def split(of):
        w = dict(zip(("W_Q", "W_K", "W_V"), of(module.in_proj_weight).chunk(3)))
        b = dict(zip(("b_Q", "b_K", "b_V"), of(module.in_proj_bias).chunk(3)))
        return ({k: m.T for k, m in w.items()} | b
                | dict(W_O=of(module.out_proj.weight).T, b_O=of(module.out_proj.bias)))
    return named(block, split)


def norm(block, which, module):
    return named(block, lambda of: {"γ_" + which: of(module.weight), "β_" + which: of(module.bias)})


def forward(block, first, second):
    return named(block, lambda of: dict(W_1=of(first.weight).T, b_1=of(first.bias),
                                        W_2=of(second.weight).T, b_2=of(second.bias)))


def named(block, tensors):
    values, grads = tensors(lambda p: p.detach()), tensors(lambda p: p.grad)
    return [dict(block=block, name=n, value=values[n], gradient=grads[n]) for n in values]


def run(y, upstream, *modules):
    (y * upstream).sum().backward()


def case(name, x, y, upstream, tensors, z=None, **config):
    return dict(name=name, x=x.detach(), d_x=x.grad, z=None if z is None else z.detach(),
                d_z=None if z is None else z.grad, output=y.detach(), upstream=upstream,
                tensors=tensors, **config)


cases = []

# Multi-head attention, to itself and to another sentence, with and without a causal mask.
for name, cross, causal in [("self", False, False), ("self, causal", False, True), ("cross", True, False)]:
    module = redraw(nn.MultiheadAttention(D, H, batch_first=True))
    x, z, up = leaf(1, T, D), leaf(1, T_K, D), draw(1, T, D)
    mask = torch.triu(torch.ones(T, T, dtype=bool), 1) if causal else None
    y, _ = module(x, z if cross else x, z if cross else x, attn_mask=mask)
    run(y, up)
    cases.append(case(f"MultiheadAttention {name}", x, y, up, attention(0, module), z if cross else None,
                      norm="none", feed_forward=None, residual=False, mask="causal" if causal else "none"))

# A layer of the encoder, the norms behind and before.
for norm_first in (False, True):
    module = redraw(nn.TransformerEncoderLayer(D, H, HIDDEN, dropout=0.0, norm_first=norm_first, batch_first=True))
    x, up = leaf(1, T, D), draw(1, T, D)
    y = module(x)
    run(y, up)
    tensors = (attention(0, module.self_attn) + norm(0, "A", module.norm1)
               + forward(0, module.linear1, module.linear2) + norm(0, "F", module.norm2))
    cases.append(case(f"TransformerEncoderLayer norm_first={norm_first}", x, y, up, tensors,
                      norm="pre" if norm_first else "post", feed_forward=HIDDEN, residual=True, mask="none"))

# A layer of the decoder: a causal block of self-attention, then one of cross-attention with a feed-forward layer.
decoders = []
for norm_first in (False, True):
    module = redraw(nn.TransformerDecoderLayer(D, H, HIDDEN, dropout=0.0, norm_first=norm_first, batch_first=True))
    x, z, up = leaf(1, T, D), leaf(1, T_K, D), draw(1, T, D)
    y = module(x, z, tgt_mask=torch.triu(torch.ones(T, T, dtype=bool), 1))
    run(y, up)
    tensors = (attention(0, module.self_attn) + norm(0, "A", module.norm1)
               + attention(1, module.multihead_attn) + norm(1, "A", module.norm2)
               + forward(1, module.linear1, module.linear2) + norm(1, "F", module.norm3))
    decoders.append(case(f"TransformerDecoderLayer norm_first={norm_first}", x, y, up, tensors, z,
                         norm="pre" if norm_first else "post", feed_forward=HIDDEN))

# Bare attention over given queries, keys and values.
bare = []
for name, kw in [("plain", {}), ("causal", dict(is_causal=True)), ("scale 1", dict(scale=1.0)),
                 ("holes", dict(attn_mask=torch.tensor([[(2 * q + k) % 3 != 1 for k in range(T)] for q in range(T)])))]:
    q, k, v, up = leaf(1, T, 3), leaf(1, T, 3), leaf(1, T, 4), draw(1, T, 4)
    y = F.scaled_dot_product_attention(q, k, v, **kw)
    run(y, up)
    bare.append(dict(name=name, q=q.detach()[0], k=k.detach()[0], v=v.detach()[0], d_q=q.grad[0], d_k=k.grad[0], d_v=v.grad[0],
                     output=y.detach()[0], upstream=up[0]))

x, gain, bias, up = leaf(4, D), leaf(D), leaf(D), draw(4, D)
with torch.no_grad():
    x[2] = 0.5 + 0.001 * x[2]  # hardly any variance: ε counts
y = F.layer_norm(x, (D,), gain, bias)
run(y, up)
layer_norm = dict(x=x.detach(), gain=gain.detach(), bias=bias.detach(), upstream=up, output=y.detach(),
                  d_x=x.grad, d_gain=gain.grad, d_bias=bias.grad)

logits, targets = leaf(4, 7), torch.tensor([0, 6, 3, 3])
loss = F.cross_entropy(logits, targets)
loss.backward()
cross_entropy = dict(logits=logits.detach(), targets=targets, loss=loss.detach(), d_logits=logits.grad)


def descend(make):
    p = nn.Parameter(draw(6))
    start, gradients, steps = p.detach().clone(), draw(5, 6), []
    optimiser = make([p])
    for g in gradients:
        p.grad = g.clone()
        optimiser.step()
        steps.append(p.detach().clone())
    return dict(start=start, gradients=gradients, steps=torch.stack(steps))


optimisers = dict(
    adam=descend(lambda p: torch.optim.Adam(p, lr=0.02)),
    adamw=descend(lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.1)),
    sgd=descend(lambda p: torch.optim.SGD(p, lr=0.1)),
    momentum=descend(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
)


def plain(t):
    t = t.detach()
    return (t[0] if t.dim() == 3 and t.shape[0] == 1 else t).tolist()


print(json.dumps(dict(width=D, heads=H, cases=cases, decoders=decoders, bare=bare, layer_norm=layer_norm,
                      cross_entropy=cross_entropy, optimisers=optimisers), default=plain, ensure_ascii=False))
