"""Every tensor of BERT and GPT-2 in NumPy, float64, straight from a checkpoint's own names; independent of attune and of torch.

    pip install numpy safetensors
    python tests/pretrained/oracle/make.py

reads the folders of tests/fixtures/pretrained, which transformers 5.23 saved (`save_pretrained`; D 24, 3 layers, 3 heads, V 600,
40 positions): *default* as transformers initialises, where biases are zero, and *wild* with standard deviation 0.35, biases
N(0, 0.3) and gains 1 + N(0, 0.3), which show a bias or a gain that is forgotten. Against transformers' own float32 these
functions differ by at most 5.8e-6. It writes NAME.f32 and NAME.json beside itself: all tensors of some sentences of ids, as
little-endian float32 one behind the other, and for each its name, its shape and where it begins.
"""
import json
import math
import os
import numpy as np
from safetensors import safe_open

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, '../../fixtures/pretrained')
# Ids, and the sentence of a pair that each is in. GPT-2 has no pairs.
SENTENCES = [([2, 45, 311, 7, 599, 45, 3], [0, 0, 0, 0, 1, 1, 1]), ([5], [0])]


def load(folder):
    with safe_open(folder + '/model.safetensors', 'numpy') as file:
        tensors = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}
    return json.load(open(folder + '/config.json')), tensors


def strip(tensors, prefix):
    return {name.removeprefix(prefix): values for name, values in tensors.items()}


erf = np.vectorize(math.erf)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_new(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def layer_norm(x, gain, bias, epsilon):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * gain + bias


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def unchanged(_, values):
    """A change of a pass: gets `input.2`, `scores.2`, `weights.2` and `mix.2` of each layer, and returns what goes on in their place."""
    return values


def attend(q, k, v, heads, causal, l, change):
    q, k, v = (x.reshape(len(x), heads, -1).transpose(1, 0, 2) for x in (q, k, v))
    s = change(f'scores.{l}', q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))
    if causal:
        s = np.where(np.tril(np.ones(s.shape[1:])) > 0, s, -np.inf)
    a = change(f'weights.{l}', softmax(s))
    return dict(q=q, k=k, v=v, scores=s, weights=a, mix=change(f'mix.{l}', a @ v))


def bert(config, tensors, ids, types, change=unchanged):
    t, heads, eps = strip(tensors, 'bert.'), config['num_attention_heads'], config['layer_norm_eps']
    act = dict(gelu=gelu, gelu_new=gelu_new)[config['hidden_act']]
    linear = lambda x, name: x @ t[name + '.weight'].T + t[name + '.bias']
    norm = lambda x, name: layer_norm(x, t[name + '.weight'], t[name + '.bias'], eps)
    embeddings = 'embeddings.'
    e = t[embeddings + 'word_embeddings.weight'][ids] + t[embeddings + 'position_embeddings.weight'][:len(ids)]
    e = e + t[embeddings + 'token_type_embeddings.weight'][types]
    x = norm(e, embeddings + 'LayerNorm')
    out = {'embedded': e, 'input': x}
    for l in range(config['num_hidden_layers']):
        p = f'encoder.layer.{l}.'
        x = change(f'input.{l}', x)
        a = attend(*(linear(x, p + 'attention.self.' + n) for n in ('query', 'key', 'value')), heads, False, l, change)
        summed = x + linear(a['mix'].transpose(1, 0, 2).reshape(x.shape), p + 'attention.output.dense')
        attended = norm(summed, p + 'attention.output.LayerNorm')
        hidden = act(linear(attended, p + 'intermediate.dense'))
        x = norm(attended + linear(hidden, p + 'output.dense'), p + 'output.LayerNorm')
        a.update(summed=summed, attended=attended, hidden=hidden, output=x)
        out.update({f'{name}.{l}': values for name, values in a.items()})
    y = norm(act(linear(x, 'cls.predictions.transform.dense')), 'cls.predictions.transform.LayerNorm')
    out['logits'] = y @ t['embeddings.word_embeddings.weight'].T + t['cls.predictions.bias']
    return out


def gpt2(config, tensors, ids, _, change=unchanged):
    t, width, heads = strip(tensors, 'transformer.'), config['n_embd'], config['n_head']
    linear = lambda x, name: x @ t[name + '.weight'] + t[name + '.bias']
    norm = lambda x, name: layer_norm(x, t[name + '.weight'], t[name + '.bias'], config['layer_norm_epsilon'])
    assert config['activation_function'] == 'gelu_new'
    x = t['wte.weight'][ids] + t['wpe.weight'][:len(ids)]
    out = {'input': x}
    for l in range(config['n_layer']):
        p = f'h.{l}.'
        x = change(f'input.{l}', x)
        normed = norm(x, p + 'ln_1')
        qkv = linear(normed, p + 'attn.c_attn')
        a = attend(*np.split(qkv, 3, axis=1), heads, True, l, change)
        summed = x + linear(a['mix'].transpose(1, 0, 2).reshape(x.shape), p + 'attn.c_proj')
        hidden = gelu_new(linear(norm(summed, p + 'ln_2'), p + 'mlp.c_fc'))
        x = summed + linear(hidden, p + 'mlp.c_proj')
        a.update(normed=normed, summed=summed, hidden=hidden, output=x)
        out.update({f'{name}.{l}': values for name, values in a.items()})
    out['final'] = norm(x, 'ln_f')
    out['logits'] = out['final'] @ t['wte.weight'].T
    return out


def models():
    for name in sorted(name for name in os.listdir(FIXTURES) if os.path.isdir(os.path.join(FIXTURES, name))):
        config, tensors = load(os.path.join(FIXTURES, name))
        yield name, config, tensors, dict(bert=bert, gpt2=gpt2)[config['model_type']]


for name, config, tensors, forward in models() if __name__ == '__main__' else ():
    data, sentences, begin = [], [], 0
    for ids, types in SENTENCES:
        entries = {}
        for key, values in forward(config, tensors, np.array(ids), np.array(types)).items():
            entries[key] = dict(shape=values.shape, begin=begin)
            data.append(values.astype('<f4').tobytes())
            begin += values.size
        sentences.append(dict(ids=ids, types=types, tensors=entries))
    with open(os.path.join(HERE, name + '.f32'), 'wb') as file:
        file.write(b''.join(data))
    with open(os.path.join(HERE, name + '.json'), 'w') as file:
        json.dump(dict(sentences=sentences), file)
        file.write('\n')
