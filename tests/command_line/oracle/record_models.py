"""Records random tiny models of many architectures, and the two that are shipped, with the recorder that the program prints.

    PYTHONPATH=FOLDER_OF_RECORD_PY python record_models.py OUT LESSONS

OUT gets a recording of each model, and expected.json: the weights that the model itself gives (its own `output_attentions`, or for modules of
torch the softmax written out), by the names of the tensors. LESSONS is the folder with the models `depth` and `writer`."""
import json, math, os, sys
import torch, transformers as tf
from torch import nn
from record import record, save

out, lessons = sys.argv[1:]
expected = {}


def wild(model, size=0.25):
    """Weights, gains and biases far from their usual start, so that a mistake shows."""
    torch.manual_seed(11)
    with torch.no_grad():
        for name, p in model.named_parameters():
            gain = "norm" in name.lower() and name.endswith("weight")
            p.copy_(1 + 0.3 * torch.randn_like(p) if gain else torch.randn_like(p) * (size if p.dim() > 1 else 0.3))
    return model.eval()


def path(name):
    return os.path.join(out, f"{name}.safetensors")


def keep(name, layers):
    """Keeps what a recording must hold: lists over layers, as transformers gives them."""
    expected[name] = {f"{kind}attentions.{layer}": weights.tolist()
                      for kind, all in layers.items() for layer, weights in all.items()}


def given(weights):
    return {layer: one[0] for layer, one in enumerate(weights or ()) if one is not None}


def recorded(name, model, inputs, tokens, layers=None, **about):
    """Records a model of transformers, and runs it again as transformers does without a recorder."""
    record(path(name), model, inputs, tokens, model=f"a random {name}", **about)
    if model.config._attn_implementation != "eager":
        model.set_attn_implementation("eager")
    with torch.no_grad():
        result = model(**inputs, output_attentions=True)
    kinds = {"encoder_": "encoder_attentions", "decoder_": "decoder_attentions", "cross_": "cross_attentions"} if model.config.is_encoder_decoder else {"": "attentions"}
    found = {kind: given(getattr(result, of)) for kind, of in kinds.items()}
    if layers is not None:  # a hybrid gives the weights of its layers with attention alone
        found = {"": dict(zip(layers, found[""].values()))}
    keep(name, found)


def ids(count, seed=0):
    return torch.randint(5, 100, (1, count), generator=torch.Generator().manual_seed(seed))


small = dict(vocab_size=100, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=48, max_position_embeddings=64)
shared = small | dict(num_attention_heads=4, num_key_value_heads=2, head_dim=10, pad_token_id=0)
tokens = ["the", "bank", "of", "the", "riv", "##er", "saw", "the", "bank"]
one = torch.tensor([[10, 11, 12, 10, 13, 14, 15, 10, 11]])
text = dict(input_ids=one)

recorded("bert", wild(tf.BertForMaskedLM(tf.BertConfig(**small))), text, tokens, words=[0, 1, 2, 3, 4, 4, 5, 6, 7])
recorded("albert", wild(tf.AlbertModel(tf.AlbertConfig(**small, embedding_size=24))), text, tokens)  # one layer, run three times
recorded("gpt2", wild(tf.GPT2LMHeadModel(tf.GPT2Config(vocab_size=100, n_embd=24, n_layer=3, n_head=3, n_positions=64, bos_token_id=0, eos_token_id=0))), text, tokens)
recorded("llama", wild(tf.LlamaForCausalLM(tf.LlamaConfig(**shared))), text, tokens)
recorded("gemma2", wild(tf.Gemma2ForCausalLM(tf.Gemma2Config(**shared, sliding_window=4, attn_logit_softcapping=3.0, query_pre_attn_scalar=7))), text, tokens)
recorded("mixtral", wild(tf.MixtralForCausalLM(tf.MixtralConfig(**shared, num_local_experts=4, num_experts_per_tok=2))), text, tokens)
recorded("gpt_oss", wild(tf.GptOssForCausalLM(tf.GptOssConfig(**shared, num_local_experts=2, num_experts_per_tok=1, sliding_window=4, rope_parameters={"rope_type": "default", "rope_theta": 1e4}))), text, tokens)
hybrid = tf.Qwen3NextConfig(**shared | dict(num_hidden_layers=4), linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
                            num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16, decoder_sparse_step=2,
                            layer_types=["linear_attention", "full_attention", "linear_attention", "full_attention"])
recorded("qwen3_next", wild(tf.Qwen3NextForCausalLM(hybrid), 0.1), text, tokens, layers=[1, 3])
deberta = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, max_relative_positions=16, type_vocab_size=0)
recorded("deberta", wild(tf.DebertaV2ForMaskedLM(tf.DebertaV2Config(**small, **deberta))), text, tokens)
recorded("t5", wild(tf.T5ForConditionalGeneration(tf.T5Config(vocab_size=100, d_model=24, num_layers=2, num_decoder_layers=3, num_heads=3, d_kv=10, d_ff=48, decoder_start_token_id=0))),
         dict(input_ids=ids(8), decoder_input_ids=torch.tensor([[0, 20, 21, 20, 22, 23]])), ["<pad>", "der", "Hund", "der", "Katze", "sah"],
         source_tokens=["the", "dog", "saw", "the", "cat", "there", ".", "</s>"], source_special=[7], special=[0])
whisper = tf.WhisperConfig(vocab_size=100, d_model=24, encoder_layers=2, decoder_layers=3, encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=48, decoder_ffn_dim=48,
                           num_mel_bins=8, max_source_positions=12, max_target_positions=32, decoder_start_token_id=1, pad_token_id=0, bos_token_id=0, eos_token_id=2)
recorded("whisper", wild(tf.WhisperForConditionalGeneration(whisper)),
         dict(input_features=torch.randn(1, 8, 24, generator=torch.Generator().manual_seed(2)), decoder_input_ids=torch.tensor([[1, 20, 21, 20, 22]])),
         ["<|start|>", "der", "Hund", "der", "Katze"], special=[0], source_tokens=[f"{n / 50:.2f} s" for n in range(12)])
picture = torch.rand(1, 3, 40, 40, generator=torch.Generator().manual_seed(1))
patches = ["[CLS]"] + [f"{row + 1},{column + 1}" for row in range(5) for column in range(5)]
recorded("vit", wild(tf.ViTModel(tf.ViTConfig(hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=48, image_size=40, patch_size=8))),
         dict(pixel_values=picture), patches, special=[0], grid="5x5", picture=255 * picture[0].permute(1, 2, 0))


def softmax_of(module, queries, keys, mask=None):
    """The weights of an nn.MultiheadAttention, written out."""
    (of_q, of_k, _), (q_bias, k_bias, _) = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    split = lambda vectors: vectors.unflatten(-1, (module.num_heads, -1)).transpose(0, 1)
    q, k = split(queries @ of_q.T + q_bias), split(keys @ of_k.T + k_bias)
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    return (scores if mask is None else scores + mask).softmax(-1)


# A plain nn.TransformerEncoder with a causal mask; with norms in front, so that a layer's attention reads its normed input.
encoder = wild(nn.TransformerEncoder(nn.TransformerEncoderLayer(24, 3, 48, batch_first=True, norm_first=True), 3, enable_nested_tensor=False))
x, mask = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(3)), nn.Transformer.generate_square_subsequent_mask(9)
record(path("encoder"), encoder, dict(src=x, mask=mask, is_causal=True), tokens, model="a random nn.TransformerEncoder")
with torch.no_grad():
    state, layers = x, {}
    for number, layer in enumerate(encoder.layers):
        normed = layer.norm1(state)[0]
        layers[number], state = softmax_of(layer.self_attn, normed, normed, mask), layer(state, src_mask=mask)
keep("encoder", {"": layers})

# An nn.Transformer has two towers. Its mask adds a number for the distance, too.
pair = wild(nn.Transformer(24, 3, 2, 2, 48, batch_first=True))
source, target = (torch.randn(1, count, 24, generator=torch.Generator().manual_seed(count)) for count in (5, 4))
distances = -0.3 * (torch.arange(4)[:, None] - torch.arange(4)).abs().float() + nn.Transformer.generate_square_subsequent_mask(4)
record(path("transformer"), pair, dict(src=source, tgt=target, tgt_mask=distances), ["der", "Hund", "sah", "ihn"], source_tokens=["the", "dog", "saw", "it", "."])
with torch.no_grad():
    memory, first = pair.encoder(source), pair.decoder.layers[0]
    after = first.norm1(target + first.self_attn(target, target, target, attn_mask=distances)[0])
    keep("transformer", {"encoder_": {0: softmax_of(pair.encoder.layers[0].self_attn, source[0], source[0])},
                         "decoder_": {0: softmax_of(first.self_attn, target[0], target[0], distances)},
                         "cross_": {0: softmax_of(first.multihead_attn, after[0], memory[0])}})


class Own(nn.Module):
    """A module with attention of its own, which returns its weights."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(24, 12) for _ in range(3))

    def forward(self, x):
        q, k, v = (of(x).unflatten(-1, (3, 4)).transpose(0, 1) for of in (self.q, self.k, self.v))
        weights = (q @ k.transpose(1, 2) / 2).softmax(-1)
        return (weights @ v).transpose(0, 1).flatten(1), weights, q, k


own = wild(Own())
with torch.no_grad():
    _, attention, q, k = own(x[0])
save(path("own"), tokens, {"attentions.0": attention, "queries.0": q, "keys.0": k})
keep("own", {"": {0: attention}})

# The arguments of BertViz, lists over layers of (1, heads, queries, keys), saved as docs/recordings.md says.
bertviz = nn.ModuleList([wild(nn.MultiheadAttention(24, 3, batch_first=True)) for _ in range(2)])
with torch.no_grad():
    seen = lambda queries, keys: [module(queries, keys, keys, average_attn_weights=False)[1] for module in bertviz]
    attention, encoder_attention, decoder_attention, cross_attention = seen(x, x), seen(source, source), seen(target, target), seen(target, source)
decoder_tokens, encoder_tokens = ["der", "Hund", "sah", "ihn"], ["the", "dog", "saw", "it", "."]
save(path("bertviz"), tokens, {f"attentions.{layer}": weights[0] for layer, weights in enumerate(attention)})
kinds = {"encoder": encoder_attention, "decoder": decoder_attention, "cross": cross_attention}
save(path("bertviz_pair"), decoder_tokens, {f"{kind}_attentions.{n}": a[0] for kind, all in kinds.items() for n, a in enumerate(all)}, source_tokens=encoder_tokens)
keep("bertviz", {"": given(attention)})
keep("bertviz_pair", {f"{kind}_": given(all) for kind, all in kinds.items()})

# The models of the course, as transformers runs them.
for name, sentence in (("depth", "the king saw the dogs in the garden"), ("writer", "the dogs that the king saw in the garden")):
    folder = os.path.join(lessons, name)
    tokenizer = tf.AutoTokenizer.from_pretrained(folder)
    model = (tf.AutoModelForMaskedLM if name == "depth" else tf.AutoModelForCausalLM).from_pretrained(folder)
    enc = tokenizer(sentence, return_tensors="pt")
    record(path(name), model, dict(input_ids=enc["input_ids"]), tokenizer.convert_ids_to_tokens(enc["input_ids"][0]), text=sentence, words=enc.word_ids(), model=name)

# What cannot be recorded is said.
faults = {}
for name, attempt in {
    "no attention": lambda: record(path("nothing"), nn.Linear(24, 2), x, tokens),
    "other tokens": lambda: record(path("nothing"), encoder, x, tokens[:3]),
    "a batch": lambda: save(path("nothing"), tokens, {"attentions.0": attention[0][None]}),
}.items():
    try:
        attempt()
    except (RuntimeError, ValueError) as fault:
        faults[name] = str(fault)
json.dump(dict(weights=expected, faults=faults), open(os.path.join(out, "expected.json"), "w"))
