"""Measures of every head, sinks, and how much each key adds, in NumPy, float64, from the tensors of make.py; independent of attune.

    pip install numpy safetensors
    python tests/pretrained/oracle/heads.py

The patterns are written as whole matrices, as TransformerLens has them in `head_detector.py`, and not as lists of pairs, as
attune does. It writes heads.json beside itself: for each fixture and sentence of ids, by layer and head, the measures in the
order of MEASURES (null where the pattern has no pair); by key, the mean weight over all heads and the queries that see it, and
its share of the lengths of what is added; and by layer, head and query, the lengths |a L(v W_O)| of what each key adds at the
block's output.
"""
import json
import os
import numpy as np
from make import HERE, SENTENCES, models, strip

# The last with tokens that stand twice.
SENTENCES = SENTENCES + [([2, 45, 311, 7, 45, 311, 7, 3], [0] * 8)]
ADDED = (2, 3)
MEASURES = ['previous', 'same', 'next', 'first', 'added', 'duplicate', 'induction', 'entropy', 'distance']


def patterns(ids):
    n = len(ids)
    equal = np.equal.outer(ids, ids) & ~np.eye(n, dtype=bool)
    duplicate = np.tril(equal)
    induction = np.roll(duplicate, 1, axis=1)
    induction[:, 0] = False
    return dict(
        previous=np.eye(n, k=-1), same=np.eye(n), next=np.eye(n, k=1), first=np.arange(n)[None, :].repeat(n, 0) == 0,
        added=np.isin(ids, ADDED)[None, :].repeat(n, 0), duplicate=duplicate, induction=np.tril(induction),
    )


def measures(a, ids):
    share = lambda p: float((a * p).sum() / a.sum()) if np.any(p) else None
    found = {name: share(pattern) for name, pattern in patterns(ids).items()}
    places = np.arange(len(ids))
    with np.errstate(divide='ignore', invalid='ignore'):
        found['entropy'] = float(-np.nansum(a * np.log(a), axis=1).mean())
    found['distance'] = float((a * abs(places[:, None] - places[None, :])).sum() / a.sum())
    return [found[name] for name in MEASURES]


def held(t, gain, whole, epsilon):
    """A norm with the whole's deviation held, of terms (heads, queries, keys, width)."""
    deviation = np.sqrt(whole.var(-1) + epsilon)[None, :, None, None]
    return (t - t.mean(-1, keepdims=True)) / deviation * gain


def lengths(config, tensors, out, layer):
    a, v = out[f'weights.{layer}'], out[f'v.{layer}']
    heads, _, d = v.shape
    if config['model_type'] == 'bert':
        t, p = strip(tensors, 'bert.'), f'encoder.layer.{layer}.'
        w_o = t[p + 'attention.output.dense.weight'].T
    else:
        t, p = strip(tensors, 'transformer.'), f'h.{layer}.'
        w_o = t[p + 'attn.c_proj.weight']
    moved = np.einsum('hjd,hdw->hjw', v, w_o.reshape(heads, d, -1))
    terms = a[..., None] * moved[:, None]
    if config['model_type'] == 'bert':
        eps, linear = config['layer_norm_eps'], lambda x, n: x @ t[p + n + '.weight'].T + t[p + n + '.bias']
        joined = out[f'attended.{layer}'] + linear(out[f'hidden.{layer}'], 'output.dense')
        terms = held(terms, t[p + 'attention.output.LayerNorm.weight'], out[f'summed.{layer}'], eps)
        terms = held(terms, t[p + 'output.LayerNorm.weight'], joined, eps)
    return np.linalg.norm(terms, axis=-1)


found = {}
for name, config, tensors, forward in models():
    found[name] = []
    for ids, types in SENTENCES:
        ids = np.array(ids)
        out = forward(config, tensors, ids, np.array(types))
        layers = config.get('num_hidden_layers') or config['n_layer']
        weights = np.stack([out[f'weights.{layer}'] for layer in range(layers)])
        added = np.stack([lengths(config, tensors, out, layer) for layer in range(layers)])
        sees = np.stack([np.isfinite(out[f'scores.{layer}']) for layer in range(layers)])
        found[name].append(dict(
            ids=ids.tolist(), types=types,
            measures=[[measures(a, ids) for a in layer] for layer in weights],
            mean_weights=(weights.sum((0, 1, 2)) / sees.sum((0, 1, 2))).tolist(),
            shares_added=(added.sum((0, 1, 2)) / added.sum()).tolist(),
            lengths=np.round(added, 7).tolist(),
        ))
with open(os.path.join(HERE, 'heads.json'), 'w') as file:
    json.dump(found, file)
    file.write('\n')
