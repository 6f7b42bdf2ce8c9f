"""Models with other values of config keys than the fixtures have, and what ref_modern.py makes of them in float64.

    pip install numpy
    python tests/families/oracle/make_variants.py tests/fixtures/pretrained > tests/families/oracle/variants.json

Each has a config, the names and shapes of its tensors, whose entries are drawn by their places (`number`), ids, and expected values; masked
scores are null."""
import json, os, sys
from pathlib import Path
import numpy as np
import ref_modern as ref

def number(name, count):
    """Entries from -1 to 1, by a hash of the name and their place: the same in every language."""
    h = 2166136261
    for b in name.encode(): h = (h ^ b) * 16777619 & 0xffffffff
    z = (np.arange(count, dtype=np.uint64) * 0x9e3779b9 + h) & 0xffffffff
    for shift, factor in ((16, 0x85ebca6b), (13, 0xc2b2ae35)): z = (z ^ z >> shift) * factor & 0xffffffff
    z = z ^ z >> 16
    return (z >> 8).astype(np.float64) / 2**23 - 1

def tensors(shapes, unit):
    """Vectors that are weights are gains: around 1, and around 0 where 1 is added."""
    out = {}
    for name, shape in shapes.items():
        gain = len(shape) == 1 and name.endswith('.weight')
        x = number(name, int(np.prod(shape))) * .3 + (1 if gain and not unit else 0)
        out[name] = x.astype(np.float32).astype(np.float64).reshape(shape)
    return out

def base(name, config='config_hub.json', **change):
    d = os.path.join(sys.argv[1], name); c, t = ref.load(d, config)
    c.update(change); c = {k: v for k, v in c.items() if v != 'gone'}
    return c, {n: list(x.shape) for n, x in t.items()}

def biases(shapes, ends):
    new = {n[:-6] + 'bias': [s[0]] for n, s in shapes.items() if any(n.endswith(e + '.weight') for e in ends)}
    return {**shapes, **new}

def without(shapes, *parts): return {n: s for n, s in shapes.items() if not any(p in n for p in parts)}

def all_variants():
    qkvo = ('q_proj', 'k_proj', 'v_proj', 'o_proj')
    c, s = base('llama-wild', attention_bias=True, mlp_bias=True)
    yield 'llama with biases', c, biases(s, qkvo + ('gate_proj', 'up_proj', 'down_proj'))
    yield 'llama, scaled', *base('llama-wild', rope_scaling=dict(type='linear', factor=3))
    yield 'llama, sizes by default', *base('llama-wild', head_dim='gone', rope_theta='gone', rms_norm_eps='gone')
    yield 'qwen2 with a window', *base('qwen2-wild', use_sliding_window=True)
    c, s = base('qwen3-wild', attention_bias=True); yield 'qwen3 with biases', c, biases(s, qkvo)
    yield 'mistral without a window', *base('mistral-window', sliding_window=None)
    yield 'mistral, the window by default', *base('mistral-window', sliding_window='gone')
    c, s = base('neox-wild', use_parallel_residual=False, attention_bias=False, tie_word_embeddings=True)
    yield 'neox, sequential and tied', c, {n: x for n, x in without(s, 'embed_out').items() if not ('attention' in n and n.endswith('bias') and 'layernorm' not in n)}
    c, s = base('gemma2-wild', model_type='gemma', hidden_activation=None, hidden_act='gelu_pytorch_tanh')
    yield 'gemma', c, without(s, 'feedforward_layernorm')
    yield 'gemma2 without bounds', *base('gemma2-wild', attn_logit_softcapping=None, final_logit_softcapping=None)
    yield 'gemma3, a bound of logits, one of scores that is not used', *base('gemma3-wild', final_logit_softcapping=2.5, attn_logit_softcapping=1.5)
    c, s = base('phi-wild', num_key_value_heads=1)
    yield 'phi with shared keys', c, {n: [10] + x[1:] if '.k_proj.' in n or '.v_proj.' in n else x for n, x in s.items()}
    c, s = base('opt-wild', word_embed_proj_dim=28, do_layer_norm_before=False)
    s = without(s, 'project_', 'decoder.final_layer_norm'); s['model.decoder.embed_tokens.weight'] = [131, 28]
    yield 'opt, norms behind', c, s
    c, s = base('opt-wild', word_embed_proj_dim='gone', tie_word_embeddings=False)
    s = without(s, 'project_'); s['model.decoder.embed_tokens.weight'] = s['lm_head.weight'] = [131, 28]
    yield 'opt with a readout of its own', c, s
    c, s = base('modernbert-wild', norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True, decoder_bias=False, classifier_activation='silu')
    yield 'modernbert with biases', c, biases(without(s, 'decoder.bias'), ('norm', 'Wqkv', 'Wo', 'Wi', 'head.dense'))
    yield 'xlm-roberta, another filler', *base('roberta-wild', model_type='xlm-roberta', pad_token_id=5, hidden_act='gelu')
    c, s = base('neo-wild', tie_word_embeddings=False, intermediate_size=None)
    s = {n: [120 if y == 44 and 'mlp' in n else y for y in x] for n, x in s.items()}; s['lm_head.weight'] = [151, 30]
    yield 'neo, hidden units by default', c, s
    yield 'phi3, part of a head', *base('phi3-wild', partial_rotary_factor=.67)
    yield 'olmo2 without shared keys', *[(c, {n: [36] if 'k_norm' in n else [36, 36] if '.k_proj.' in n or '.v_proj.' in n else x for n, x in s.items()}) for c, s in [base('olmo2-wild', num_key_value_heads=None)]][0]

if __name__ == '__main__':
    out = []
    for name, c, shapes in all_variants():
        unit, ids = c['model_type'].startswith('gemma'), [0, 5, 41, 5, 99, 7, 12, 1, 80]
        run = ref.forward(c, tensors(shapes, unit), ids); last = max(int(k.split('.')[1]) for k in run if k.startswith('hidden.'))
        keep = [f'hidden.{last}', 'logits', f'scores.{last - 1}']
        short = lambda x: [None if not np.isfinite(v) else float(f'{v:.7g}') for v in x.ravel()]
        out.append(dict(name=name, config=c, shapes=shapes, ids=ids, expected={k: short(run[k]) for k in keep}))
    print('[\n' + ',\n'.join(json.dumps(v, separators=(',', ':')) for v in out) + '\n]')
