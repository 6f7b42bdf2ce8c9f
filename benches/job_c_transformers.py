"""Job C by transformers: the layers of a real shape, random weights in single precision, nothing kept.

    pip install torch transformers
    python benches/job_c_transformers.py --shape smollm2 --tokens 16 --threads 1

Shapes, sentence and last line are those of `benches/job_c.rs`, which keeps every tensor of the pass. Run the two in turns.
`--model FOLDER` reads a model with an encoder and a decoder in the place of a shape.
"""

import argparse
import json
import statistics
import time

import torch
from transformers import AutoModelForSeq2SeqLM, BertConfig, BertModel, LlamaConfig, LlamaModel, Qwen3Config, Qwen3Model

TODAY = dict(attn_implementation="eager", tie_word_embeddings=True)
SHAPES = {
    "minilm": lambda: BertModel(bert(6, 384, 1536)),
    "bert": lambda: BertModel(bert(12, 768, 3072)),
    "smollm2": lambda: LlamaModel(LlamaConfig(
        hidden_size=576, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, head_dim=64,
        intermediate_size=1536, vocab_size=49152, rms_norm_eps=1e-5, **TODAY,
    )),
    "qwen3": lambda: Qwen3Model(Qwen3Config(
        hidden_size=1024, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
        intermediate_size=3072, vocab_size=151936, rms_norm_eps=1e-5, **TODAY,
    )),
}


def bert(layers, width, hidden):
    return BertConfig(
        num_hidden_layers=layers, hidden_size=width, num_attention_heads=12, intermediate_size=hidden,
        attn_implementation="eager",
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", choices=SHAPES, default="minilm")
    parser.add_argument("--model")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=50)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(7)
    if given.model:
        model = AutoModelForSeq2SeqLM.from_pretrained(given.model, attn_implementation="eager", dtype=torch.float32)
    else:
        model = SHAPES[given.shape]()
    model.eval()
    words = torch.randint(model.config.vocab_size, (1, given.tokens))
    target = dict(decoder_input_ids=words, use_cache=False) if given.model else {}
    seconds = []
    with torch.inference_mode():
        model(words, **target)
        for _ in range(given.repeat):
            begun = time.perf_counter()
            model(words, **target)
            seconds.append(time.perf_counter() - begun)
    print(json.dumps({
        "job": "C", "by": "transformers", "shape": given.model or given.shape, "tokens": given.tokens, "threads": given.threads,
        "seconds_min": min(seconds), "seconds_median": statistics.median(seconds),
    }))


main()
