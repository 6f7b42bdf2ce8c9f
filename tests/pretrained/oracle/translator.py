"""What transformers writes with the translator of the course, in double precision.

    pip install torch transformers
    python tests/pretrained/oracle/translator.py

It writes translator.json beside itself: for each text its ids, the start token, the words of greedy search and of searches
with two and four beams (without a length penalty), and the logits behind the last word.
"""
import json
import os

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, '../../../lessons/translator')
TEXTS = [
    'the hungry bat does not see the broken crane',
    'the sailor repaired the bat today',
    'the king saw the white horse because the wolves woke the cow yesterday',
    'some nurses near the lake built this wooden tower but the young fox likes the tame seals now',
    'horse the not again bat bat red lamp the',
]

tokenizer = AutoTokenizer.from_pretrained(FOLDER)
model, info = AutoModelForSeq2SeqLM.from_pretrained(FOLDER, dtype=torch.float64, attn_implementation='eager',
                                                    output_loading_info=True)
assert type(model).__name__ == 'T5ForConditionalGeneration'
assert not any(info.values()), info
model.eval()
end, start = model.config.eos_token_id, model.config.decoder_start_token_id
found = []


def written(ids, beams):
    out = model.generate(torch.tensor([ids]), max_new_tokens=61, do_sample=False, num_beams=beams, length_penalty=0.0,
                         early_stopping=False)[0].tolist()[1:]
    return out[:out.index(end)] if end in out else out


for text in TEXTS:
    ids = tokenizer(text)['input_ids']
    with torch.no_grad():
        greedy, beams = written(ids, 1), [written(ids, 2), written(ids, 4)]
        logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([[start, *greedy]])).logits[0, -1]
    found.append(dict(text=text, ids=ids, start=[start], greedy=greedy, beams=beams, logits=logits.tolist()))
    for words in [greedy, *beams]:
        print(text, '->', ' '.join(tokenizer.convert_ids_to_tokens(words)))
json.dump(found, open(os.path.join(HERE, 'translator.json'), 'w'))
