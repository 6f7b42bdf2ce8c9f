"""Passes with a head off, a head's mean, edges removed, a vector of another sentence, and a temperature, in NumPy, float64;
independent of attune.

    pip install numpy safetensors
    python tests/pretrained/oracle/interventions.py

A head is off where its rows of W_O are zero: the checkpoint is edited, and the pass is as always. The others change a pass of
make.py on its way. It writes interventions.json beside itself: for each fixture and change the outputs of the last layer and
some of the logits, which also say where they lie: every STRIDE-th class.
"""
import json
import os
import numpy as np
from make import HERE, models

FIRST = ([2, 45, 311, 7, 599, 45, 3], [0, 0, 0, 0, 1, 1, 1])
SECOND = ([2, 8, 77, 45, 3], [0, 0, 0, 0, 0])
STRIDE = 50

# Layers, heads and places from 0 on.
CHANGES = [
    dict(off=[[1, 2]]),
    dict(off=[[0, 0], [2, 1]]),
    dict(mean=[[1, 1]]),
    # Layer, head, query, key.
    dict(edges=[[0, 1, 4, 0], [0, 1, 4, 2], [2, 0, 5, 5]]),
    # The last key that a query sees.
    dict(edges=[[1, 0, 0, 0]]),
    # Before this layer, in this place of the first sentence, from that place of the second.
    dict(patch=[1, 2, 3]),
    dict(patch=[0, 5, 1]),
    dict(off=[[1, 0]], mean=[[2, 2]], edges=[[2, 1, 6, 3]], patch=[1, 3, 2]),
    dict(temperature=0.4),
    # GPT-2's `scale_attn_by_inverse_layer_idx`: scores are divided by 1, 2 and 3 as well.
    dict(by_layer=True),
    dict(by_layer=True, temperature=0.4),
    dict(by_layer=True, temperature=2.5, mean=[[1, 1]], patch=[2, 3, 2]),
]


def edited(config, tensors, off):
    tensors = dict(tensors)
    for layer, head in off:
        if config['model_type'] == 'bert':
            name, heads = f'bert.encoder.layer.{layer}.attention.output.dense.weight', config['num_attention_heads']
            weight = tensors[name] = tensors[name].copy()
            width = weight.shape[1] // heads
            weight[:, head * width:(head + 1) * width] = 0
        else:
            name, heads = f'transformer.h.{layer}.attn.c_proj.weight', config['n_head']
            weight = tensors[name] = tensors[name].copy()
            width = weight.shape[0] // heads
            weight[head * width:(head + 1) * width] = 0
    return tensors


def of(model_type, changed, second):
    """The change of a pass; `second` has every tensor of the other sentence."""
    def change(name, values):
        kind, layer = name.split('.')
        layer, values = int(layer), values.copy()
        if kind == 'input' and 'patch' in changed and changed['patch'][0] == layer:
            _, place, source = changed['patch']
            values[place] = second['input' if layer == 0 else f'output.{layer - 1}'][source]
        if kind == 'scores':
            by_layer = model_type == 'gpt2' and changed.get('by_layer')
            values = values / (layer + 1 if by_layer else 1) / changed.get('temperature', 1)
        if kind == 'weights':
            for l, head, query, key in changed.get('edges', []):
                if l == layer:
                    row = values[head, query]
                    row[key] = 0
                    row /= row.sum() or 1
        if kind == 'mix':
            for l, head in changed.get('mean', []):
                if l == layer:
                    values[head] = values[head].mean(0)
        return values
    return change


def passes(config, tensors, forward, changed):
    now = edited(config, tensors, changed.get('off', []))
    array = lambda pair: [np.array(x) for x in pair]
    # The other sentence has what holds for any: heads that are off or have their mean, and the temperature.
    any_sentence = {key: values for key, values in changed.items() if key in ('mean', 'temperature', 'by_layer')}
    second = forward(config, now, *array(SECOND), of(config['model_type'], any_sentence, None))
    return forward(config, now, *array(FIRST), of(config['model_type'], changed, second))


if __name__ == '__main__':
    found = dict(first=FIRST, second=SECOND, stride=STRIDE, changes=CHANGES, models={})
    short = lambda values: [float(f'{x:.8g}') for x in values.ravel()]
    for name, config, tensors, forward in models():
        last = config.get('num_hidden_layers', config.get('n_layer')) - 1
        rows = [passes(config, tensors, forward, changed) for changed in CHANGES]
        found['models'][name] = [
            dict(output=short(out[f'output.{last}']), logits=short(out['logits'][:, ::STRIDE])) for out in rows
        ]
    with open(os.path.join(HERE, 'interventions.json'), 'w') as file:
        json.dump(found, file)
        file.write('\n')
