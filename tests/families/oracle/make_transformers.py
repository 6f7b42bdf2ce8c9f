"""Tiny models of families for which ref_modern.py has no entry, and what transformers makes of them in float64.

    pip install numpy torch transformers          # 2.4.6, 2.15.0, 5.24.0
    python tests/families/oracle/make_transformers.py > tests/families/oracle/transformers.json

As in make_variants.py, each has a config, the names and shapes of its tensors as transformers writes them, ids, and expected values."""
import json, os, sys, tempfile
import numpy as np, torch
from safetensors import safe_open
from safetensors.numpy import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM
from make_variants import tensors

V, IDS = 31, [0, 5, 30, 5, 9, 7, 12, 1, 8]
BERT = dict(vocab_size=V, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20, max_position_embeddings=40)
GPT2 = dict(vocab_size=V, n_embd=24, n_layer=2, n_head=3, n_positions=40, bos_token_id=0, eos_token_id=0)
PADS = dict(pad_token_id=1, bos_token_id=0, eos_token_id=2)
NONE = dict(pad_token_id=None, bos_token_id=None, eos_token_id=None)

def all_models():
    yield 'camembert', AutoModelForMaskedLM, dict(BERT, model_type='camembert', type_vocab_size=1, **PADS)
    yield 'data2vec', AutoModelForMaskedLM, dict(BERT, model_type='data2vec-text', type_vocab_size=1, **PADS)
    yield 'roberta with norms first', AutoModelForMaskedLM, dict(BERT, model_type='roberta-prelayernorm', **PADS)
    yield 'ernie', AutoModelForMaskedLM, dict(BERT, model_type='ernie')
    yield 'electra', AutoModelForMaskedLM, dict(BERT, model_type='electra', embedding_size=24, hidden_act='relu')
    yield 'mpnet', AutoModelForMaskedLM, dict(BERT, model_type='mpnet', **PADS)
    yield 'nomic_bert', AutoModelForMaskedLM, dict(BERT, model_type='nomic_bert', pad_token_id=0)
    yield 'eurobert', AutoModelForMaskedLM, dict(BERT, model_type='eurobert', num_key_value_heads=1, mask_token_id=3, **PADS)
    yield 'modernbert-decoder', AutoModelForCausalLM, dict(BERT, model_type='modernbert-decoder', num_hidden_layers=3, local_attention=6, pad_token_id=0, bos_token_id=0, eos_token_id=0, cls_token_id=0, sep_token_id=0)
    yield 'openai-gpt', AutoModelForCausalLM, dict(GPT2, model_type='openai-gpt')
    yield 'gpt_bigcode', AutoModelForCausalLM, dict(GPT2, model_type='gpt_bigcode', n_inner=20)
    yield 'biogpt', AutoModelForCausalLM, dict(BERT, model_type='biogpt', **PADS)
    yield 'gptj', AutoModelForCausalLM, dict(GPT2, model_type='gptj', rotary_dim=4, n_inner=20)
    yield 'smollm3', AutoModelForCausalLM, dict(BERT, model_type='smollm3', num_key_value_heads=1, no_rope_layer_interval=2, use_sliding_window=True, sliding_window=4, **NONE)
    yield 'ministral', AutoModelForCausalLM, dict(BERT, model_type='ministral', num_key_value_heads=1, head_dim=6, sliding_window=4, layer_types=['sliding_attention', 'full_attention'], **NONE)
    yield 'ernie4_5', AutoModelForCausalLM, dict(BERT, model_type='ernie4_5', num_key_value_heads=1, head_dim=6, use_bias=True, **NONE)
    yield 'stablelm', AutoModelForCausalLM, dict(BERT, model_type='stablelm', num_key_value_heads=1, use_qkv_bias=True, **NONE)
    yield 'stablelm, parallel', AutoModelForCausalLM, dict(BERT, model_type='stablelm', num_key_value_heads=1, use_parallel_residual=True, **NONE)
    # What the classes of configs rewrite without a word, and other names of keys.
    yield 'gemma, the gelu of its first configs', AutoModelForCausalLM, dict(BERT, model_type='gemma', num_key_value_heads=1, head_dim=6, hidden_act='gelu', hidden_activation='relu', **NONE)
    yield 'gemma2, hidden_act that is not read', AutoModelForCausalLM, dict(BERT, model_type='gemma2', num_key_value_heads=1, head_dim=6, hidden_act='gelu', **NONE)
    yield 'llama, a share of a head that is not read', AutoModelForCausalLM, dict(BERT, model_type='llama', partial_rotary_factor=.5, **NONE)
    yield 'llama, both spellings of its scaling', AutoModelForCausalLM, dict(BERT, model_type='llama', rope_theta=50.0, rope_scaling=dict(type='linear', factor=3.0), rope_parameters=dict(rope_type='default', rope_theta=7.0), **NONE)
    yield 'gpt2 by the names of keys that all models have', AutoModelForCausalLM, dict(model_type='gpt2', vocab_size=V, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, max_position_embeddings=40, n_embd=30, bos_token_id=0, eos_token_id=0)

def made(kind, fields):
    config = AutoConfig.for_model(**fields)
    with tempfile.TemporaryDirectory() as d:
        kind.from_config(config).save_pretrained(d)
        path = os.path.join(d, 'model.safetensors')
        with safe_open(path, 'np') as f: shapes = {n: list(f.get_slice(n).get_shape()) for n in f.keys()}
        drawn = tensors(shapes, fields['model_type'].startswith('gemma'))
        save_file({n: x.astype(np.float32) for n, x in drawn.items()}, path, metadata={'format': 'pt'})
        json.dump(fields, open(os.path.join(d, 'config.json'), 'w'))
        model = kind.from_pretrained(d, dtype=torch.float64, attn_implementation='eager').eval()
        with torch.no_grad(): run = model(torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    last = len(run.attentions) - 1
    expected = {f'input.{last}': run.hidden_states[last], f'weights.{last}': run.attentions[last], 'logits': run.logits}
    short = lambda x: [float(f'{v:.7g}') for v in x.to(torch.float64).numpy().ravel()]
    return dict(shapes=shapes, ids=IDS, expected={k: short(x) for k, x in expected.items()})

if __name__ == '__main__':
    out = [dict(name=name, config=fields, **made(kind, fields)) for name, kind, fields in all_models()]
    print('[\n' + ',\n'.join(json.dumps(v, separators=(',', ':')) for v in out) + '\n]')
