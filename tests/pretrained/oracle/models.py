"""The pieces and the logits that transformers gives for the encoder and the writer of the course, in double precision.

    pip install torch transformers
    python tests/pretrained/oracle/models.py

It writes encoder.json and writer.json beside itself: for each text its ids, the likeliest id at each piece, the place of the
hidden word or else of the last piece, and there the logits of the first few pieces of the vocabulary and the attention weights
in the last layer.
"""
import json
import os

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
LOGITS = 100
WRITER = [
    'the dogs that the king saw in the garden',
    'the trophy did not fit in the suitcase because it was too big, so it was the',
    'ristor saw jepak in the garden. then jepak sold the lamp to ristor.',
]
ENCODER = [
    'the dogs that the king saw in the garden [MASK] tired.',
    'yesterday the trophy did not fit in the suitcase because it was too big. we saw that the [MASK] was too big.',
    'we sat on the bank of the river.',
]

for name, folder, form, texts in [
    ('encoder', 'depth', AutoModelForMaskedLM, ENCODER),
    ('writer', 'writer', AutoModelForCausalLM, WRITER),
]:
    folder = os.path.join(HERE, '../../../lessons', folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model, loaded = form.from_pretrained(
        folder, dtype=torch.float64, attn_implementation='eager', output_loading_info=True
    )
    assert not any(loaded.values()), loaded
    assert type(model).__name__ in ['EuroBertForMaskedLM', 'LlamaForCausalLM']
    found = []
    for text in texts:
        ids = tokenizer(text)['input_ids']
        with torch.no_grad():
            out = model.eval()(torch.tensor([ids]), output_attentions=True)
        logits = out.logits[0]
        at = ids.index(tokenizer.mask_token_id) if tokenizer.mask_token_id in ids else len(ids) - 1
        found.append(dict(text=text, ids=ids, next=logits.argmax(dim=1).tolist(), at=at, logits=logits[at, :LOGITS].tolist(),
                          weights=out.attentions[-1][0, :, at].tolist()))
        print(tokenizer.convert_ids_to_tokens(ids), '->', tokenizer.convert_ids_to_tokens([found[-1]['next'][at]]))
    json.dump(found, open(os.path.join(HERE, f'{name}.json'), 'w'))
