"""The pieces and the logits that transformers gives for the writer of the course, in double precision.

    pip install torch transformers
    python tests/pretrained/oracle/writer.py

It writes writer.json beside itself: for each text its ids, the likeliest next id at each piece, the logits of the first
few pieces of the vocabulary after the last one, and the attention weights of the last piece in the last layer.
"""
import json
import os

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, '../../../lessons/writer')
LOGITS = 100
TEXTS = [
    'the dogs that the king saw in the garden',
    'the trophy did not fit in the suitcase because it was too big, so it was the',
    'ristor saw jepak in the garden. then jepak sold the lamp to ristor.',
]

tokenizer = AutoTokenizer.from_pretrained(FOLDER)
model = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float64, attn_implementation='eager').eval()
assert type(model).__name__ == 'LlamaForCausalLM'
found = []
for text in TEXTS:
    ids = tokenizer(text)['input_ids']
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=True)
    logits = out.logits[0]
    found.append(dict(text=text, ids=ids, next=logits.argmax(dim=1).tolist(), logits=logits[-1, :LOGITS].tolist(),
                      weights=out.attentions[-1][0, :, -1].tolist()))
    print(tokenizer.convert_ids_to_tokens(ids), '->', tokenizer.convert_ids_to_tokens([found[-1]['next'][-1]]))
json.dump(found, open(os.path.join(HERE, 'writer.json'), 'w'))
