"""Small tokenizers of today's kinds, trained by Hugging Face's `tokenizers` on attune's lessons (vocabulary 600), and what they make of 200 texts.

    pip install tokenizers==0.23.3 sentencepiece protobuf
    python tests/tokenizers/make_today.py lessons tests/fixtures/pretrained/tokenizers > tests/tokenizers/today.json

Each text has its pieces by each tokenizer as [id, first byte, end], with those that the tokenizer adds, whose place is [0, 0]. Places are byte
ranges of the original text by attune's rule: not trimmed of spaces, whole characters; a blank that was put before the text has the place of the
character behind it. `normalised`: the normaliser changed more than blanks; where it made one character of several, the library's ranges have the
first of them only (A + ring: the A), so ranges are only asked to contain these. The lessons have changed since the files were made: made anew,
tokenizers and pieces are others."""
import base64, glob, io, json, os, sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
V = 600

def corpus(folder):
    return [line for f in sorted(glob.glob(folder + '/*.ron')) for line in open(f, encoding='utf8').read().split('\n')]

def byte_level(lines, pre, norm, special, **kw):
    t = Tokenizer(models.BPE(**kw)); t.pre_tokenizer = pre
    if norm: t.normalizer = norm
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=V - len(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.decoder = decoders.ByteLevel(); return t

def llama3(lines):
    special, words = ['<|begin_of_text|>', '<|end_of_text|>', '<|eot_id|>'], ['qux', 'Ġzebra', '777', '123']
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), 'isolated', False), pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)])
    j = json.loads(byte_level(lines, pre, None, special + words, ignore_merges=True).to_str()); vocab = j['model']['vocab']
    for w in words: vocab[w] = len(vocab)                                  # pieces that no merges lead to: ignore_merges finds them
    t = Tokenizer.from_str(json.dumps(j)); t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), processors.TemplateProcessing(single='<|begin_of_text|> $A', pair='<|begin_of_text|> $A <|begin_of_text|>:1 $B:1', special_tokens=[(special[0], t.token_to_id(special[0]))])])
    return t

def qwen2(lines):
    special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2), 'isolated', False), pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    t = byte_level(lines, pre, normalizers.NFC(), special, continuing_subword_prefix='', end_of_word_suffix='', fuse_unk=False, byte_fallback=False)
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special]); t.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False); return t

def smollm2(lines):
    special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<repo_name>']
    t = byte_level(lines, pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)]), None, special)
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special]); return t

def neox(lines):
    """Pythia's and ModernBERT's: NFC, runs of blanks as added tokens that are looked for in the normalised text."""
    special = ['<|endoftext|>', '<|padding|>']; runs = [' ' * n for n in range(8, 1, -1)]
    t = byte_level(lines, pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True), normalizers.NFC(), special + runs)
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special]); t.add_tokens([AddedToken(s, normalized=True, special=False) for s in runs])
    t.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=True); return t

def fallback(lines, special, normalizer, pre, post):
    """A vocabulary as SentencePiece's BPE has it: specials, 256 bytes, merged pieces with runs of blanks, single characters."""
    room = V - len(special) - 256
    t = Tokenizer(models.BPE(unk_token=None)); t.pre_tokenizer = pre_tokenizers.Metaspace(replacement='▁', prepend_scheme='always', split=True)
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=room - 3, limit_alphabet=84, show_progress=False)); j = json.loads(t.to_str())['model']
    pieces = sorted(j['vocab'], key=j['vocab'].get); merges = [tuple(m) if isinstance(m, list) else tuple(m.split(' ')) for m in j['merges']]
    alphabet, merged = [p for p in pieces if len(p) == 1], [p for p in pieces if len(p) > 1]
    runs = [('▁', '▁'), ('▁▁', '▁▁'), ('▁▁▁▁', '▁▁▁▁')]; at = len(merges) // 3                # of middling rank, as in Llama's table
    merges = merges[:at] + runs + merges[at:]; merged = merged[:at] + ['▁▁', '▁▁▁▁', '▁▁▁▁▁▁▁▁'] + merged[at:]
    vocab = {p: i for i, p in enumerate(special + [f'<0x{b:02X}>' for b in range(256)] + merged + alphabet)}
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token='<unk>', fuse_unk=True, byte_fallback=True))
    if normalizer: t.normalizer = normalizer
    if pre: t.pre_tokenizer = pre
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special]); b = post
    t.post_processor = processors.TemplateProcessing(single=f'{b} $A', pair=f'{b} $A {b}:1 $B:1', special_tokens=[(b, t.token_to_id(b))])
    t.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(' ', 1, 0)]); return t

def llama2(lines):
    """Llama 2, TinyLlama, Mistral 7B v0.1: no pre-tokenizer, one word of the whole text."""
    return fallback(lines, ['<unk>', '<s>', '</s>'], normalizers.Sequence([normalizers.Prepend('▁'), normalizers.Replace(' ', '▁')]), None, '<s>')

def llama2_metaspace(lines):
    """The same without the old quirk, as Mistral's later files have it: the blank is put before the first stretch of the text only."""
    return fallback(lines, ['<unk>', '<s>', '</s>', '[INST]', '[/INST]'], None, pre_tokenizers.Metaspace(replacement='▁', prepend_scheme='first', split=False), '<s>')

def gemma(lines):
    """Gemma 1 to 3: no blank before the text; the Split finds nothing, for its blanks are gone by then."""
    t = fallback(lines, ['<pad>', '<eos>', '<bos>', '<unk>', '<start_of_turn>', '<end_of_turn>'], normalizers.Replace(' ', '▁'), pre_tokenizers.Split(' ', 'merged_with_previous', False), '<bos>')
    t.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse()]); return t

def charsmap(lines):
    """SentencePiece's rules nmt_nfkc, as XLM-R and T5 have them."""
    import sentencepiece as spm
    os.environ['PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION'] = 'python'
    from sentencepiece import sentencepiece_model_pb2 as pb
    out = io.BytesIO(); spm.SentencePieceTrainer.train(sentence_iterator=iter(lines[:3000]), model_writer=out, vocab_size=300, normalization_rule_name='nmt_nfkc', minloglevel=2)
    m = pb.ModelProto(); m.ParseFromString(out.getvalue()); return m.normalizer_spec.precompiled_charsmap

def unigram(lines, special, unk, normalizer, mask=None):
    t = Tokenizer(models.Unigram()); pre = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement='▁', prepend_scheme='always', split=True)]); t.pre_tokenizer = pre
    if normalizer: t.normalizer = normalizer
    t.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=V - len(special) + 1, unk_token=unk, special_tokens=[unk], show_progress=False))
    j = json.loads(t.to_str())['model']['vocab']; pieces = [p for p in j if p[0] not in special]
    t = Tokenizer(models.Unigram([(s, 0.) for s in special if s != mask] + [tuple(p) for p in pieces][:V - len(special)] + ([(mask, 0.)] if mask else []), special.index(unk), False)); t.pre_tokenizer = pre
    if normalizer: t.normalizer = normalizer
    t.decoder = decoders.Metaspace(replacement='▁', prepend_scheme='always', split=True)
    t.add_special_tokens([AddedToken(s, normalized=False, special=True, lstrip=s == mask) for s in special]); return t

def t5(lines):
    """T5's pipeline without its charsmap: Unigram and Metaspace alone."""
    t = unigram(lines, ['<pad>', '</s>', '<unk>', '<extra_id_0>', '<extra_id_1>'], '<unk>', None)
    t.post_processor = processors.TemplateProcessing(single='$A </s>', pair='$A </s> $B </s>', special_tokens=[('</s>', 1)]); return t

def xlmr(lines):
    t = unigram(lines, ['<s>', '<pad>', '</s>', '<unk>', '<mask>'], '<unk>', normalizers.Precompiled(charsmap(lines)), '<mask>')
    t.post_processor = processors.TemplateProcessing(single='<s> $A </s>', pair='<s> $A </s> </s> $B </s>', special_tokens=[('<s>', 0), ('</s>', 2)]); return t

KINDS = dict(llama3=llama3, qwen2=qwen2, smollm2=smollm2, neox=neox, llama2=llama2, llama2_metaspace=llama2_metaspace, gemma=gemma, t5=t5, xlmr=xlmr)

def texts(lines):
    """200 texts: words of the lessons, and what is odd."""
    odd = ['', ' ', '  ', '   ', '\n', '\t', '\r\n', '\n\n\n', ' \n ', '\u00a0', '\u3000', 'a', ' a', 'a ', ' a ', '  a', 'a  ', '   a   b   ', 'a\nb', 'a\n\nb', 'a \n b', 'a\r\nb', 'a\r\n\r\n  b', 'a\tb', '\ta\t\tb', 'a\u00a0b', 'a\u2009b', 'a\u200bb', 'a\u3000b', 'a\u0085b', 'a\u2028b', 'a\x0bb\x0cc', '\ufeffbank', 'so\u00adft',
        "I'm you're he's we've they'll I'd can't", "I'M YOU'RE HE'S WE'VE THEY'LL I'D CAN'T", "'S 's'S ''s 'tis o'clock rock'n'roll", 'it’s the river’s bank', "'", "''", "she'sx 'llama 'reveal", "it'\u017f 'ſx 'ſ", '"quoted" and \'quoted\' and ``this\'\'',
        '0', '12', '123', '1234', '12345', '1234567890', '3.14159', '1,000,000', '2024-11-23', '192.168.0.1', 'a1b22c333d4444', ' 123 4567', '٣٤٥', '１２３', '²³', 'Ⅷ ⅷ', '½ ¼', '१२३४५', '1st 22nd 333rd', 'qux 777 zebra 123', '-5 +7 ±3', '10%', '$5.99', '€20',
        'naïve café', 'nai\u0308ve cafe\u0301', 'Ångström', 'A\u030angstro\u0308m', 'Ürün ığdır İstanbul', 'straße STRASSE', 'ﬁnd the ﬂag', 'ＦＵＬＬ　ＷＩＤＴＨ', 'ｶﾞｷﾞ', 'Ελληνικά', 'Русский язык', 'עברית', 'العربية', 'हिन्दी', 'ภาษาไทย', '中文', '河岸', '我喜欢苹果。', '日本語のテキスト', 'カタカナ ひらがな', '한국어', '가각', '\u1100\u1161\u11a8', 'ệ e\u0323\u0302 ê\u0323', 'a\u0301\u0323b', '𝔹𝕒𝕟𝕜', '𐐷', '\U0001f600', '😀😃', '👍🏽', '👩‍👩‍👧‍👦', '🇩🇪', '❤️', '☕ tea', '→ ← ↔', '∑ᵢ αᵢⱼ vⱼ', 'x² + y² ≤ 1', '…', '—', '« bank »', '№ 5 ™ ©',
        '▁', '▁bank', 'a▁b', ' ▁ ', '▁▁▁', '<0x41>', '<0xE2><0x96>', '<unk>', '<s>', '</s>', '<s>bank</s>', 'a <s> b', '<pad>', '<mask>', 'the <mask> of the river', 'the<mask>bank', '<bos>', '<eos>', '<start_of_turn>user', '[INST] hi [/INST]', '[INST]hi[/INST]', '<extra_id_0> bank <extra_id_1>', '<|begin_of_text|>', 'a<|eot_id|>b', 'a <|eot_id|> b', '<|endoftext|>', '<|endoftext|>\n<|endoftext|>', '<|im_start|>user\nhi<|im_end|>', '<|padding|>', '<repo_name>x', '<|eot_id', '<|EOT_ID|>', '[MASK] [CLS]',
        'def f(x):\n    return x ** 2\n', 'for (int i = 0; i < 10; ++i) {\n\tprintf("%d\\n", i);\n}', 'if x:\n        y = [1, 22, 333]\n\n\nelse:\n  pass', '{"a": [1, 2.5e-3], "b": null}', '<html><body class="x">&nbsp;</body></html>', 'let v: Vec<u8> = vec![0; 16]; // bytes', 'snake_case camelCase PascalCase kebab-case', 'a=b;c==d;e!=f;g<=h', 'https://example.org/a?b=c&d=%20#e', 'user@example.com', 'C:\\Users\\x', '# Title\n\n- item\n- item 2\n', '```rust\nfn main() {}\n```', '!!!', '???!!!...', '((((', '-----', '======\n', '/*---*/', '#!@$%^&*()', ',.;:', ' ,', ' .\n', '.\n\n', '...\r\n\r\n', '  .  ',
        'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'antidisestablishmentarianism', 'The bank of the river', 'THE BANK', 'bAnK', ' the', 'the the the', '\x00', 'a\x00b', '\x07\x1b[0m', '\ufffd', 'a\ufffdb', '\ue000', '\U0010ffff', 'e\u0301', '\u0301', ' \u0301', 'a\u200db', '\u200d', '\u2066x\u2069']
    words = sorted({w for l in lines for w in l.replace('"', ' ').split() if w.isalpha()}); import random; r = random.Random(7)
    sentences = [l.strip() for l in lines if l.strip().startswith('"') and 25 < len(l) < 90]
    while len(odd) < 200: odd.append(' '.join(r.sample(words, r.randint(3, 9))) if len(odd) % 2 else r.choice(sentences))
    return odd[:200]

def untrimmed(t):
    """The same tokenizer, with offsets that are not trimmed of spaces."""
    j = json.loads(t.to_str())
    def visit(x):
        if isinstance(x, dict):
            if 'trim_offsets' in x: x['trim_offsets'] = False
            for v in x.values(): visit(v)
        elif isinstance(x, list):
            for v in x: visit(v)
    visit(j['post_processor']); visit(j['pre_tokenizer']); return Tokenizer.from_str(json.dumps(j))

def expected(t, all_texts):
    u, out = untrimmed(t), []
    for s in all_texts:
        e, f = t.encode(s), u.encode(s); assert e.ids == f.ids
        at = [0]
        for ch in s: at.append(at[-1] + len(ch.encode('utf8')))
        spans = [[at[a], at[b]] for a, b in f.offsets]
        same = t.normalizer is None or t.normalizer.normalize_str(s).replace('▁', ' ') in (s.replace('▁', ' '), ' ' + s.replace('▁', ' '))
        out.append(dict(pieces=[[i, *span] for i, span in zip(e.ids, spans)], **({} if same else {'normalised': True})))
    return out

if __name__ == '__main__':
    lines, to = corpus(sys.argv[1]), sys.argv[2]; os.makedirs(to, exist_ok=True); all_texts = texts(lines); assert len(all_texts) == 200 == len(set(all_texts))
    rows = ['"texts":' + json.dumps(all_texts, separators=(',', ':'))]
    for name, kind in KINDS.items():
        kind(lines).save(f'{to}/{name}.json', pretty=False)
        rows.append(f'"{name}":' + json.dumps(expected(Tokenizer.from_file(f'{to}/{name}.json'), all_texts), separators=(',', ':')))
    print('{' + ',\n'.join(rows) + '}')
