"""Makes spm.json: the pieces of texts as SentencePiece and transformers have them, with Marian's and T5's own files.

    pip install transformers==5.24.0 sentencepiece==0.2.3 tokenizers==0.23.3
    python make_spm.py ../fixtures/pretrained COUNT > spm.json

Each row: the text; for Marian the ids of it as a source and as a target (MarianTokenizer), and the text of the former with and without
special tokens; for T5 the ids (SentencePieceProcessor, of a file with the pieces of t5-wild's tokenizer.json and Marian's table of
characters, each stretch between special tokens by itself), and those without add_dummy_prefix, without remove_extra_whitespaces, and
without escape_whitespaces. COUNT random texts: words and pieces of the tables, characters of all of
Unicode, combining marks, blanks of all kinds, codes of languages, and special tokens. SEED changes them."""
import json, os, random, re, struct, sys, warnings
from pathlib import Path
import sentencepiece
from transformers import MarianTokenizer
warnings.filterwarnings('ignore')

FROM, COUNT, SEED = Path(sys.argv[1]), int(sys.argv[2]), int(os.environ.get('SEED', 1))
SPECIAL = ['</s>', '<unk>', '<pad>', '<extra_id_0>', '<extra_id_99>', '<s>', '<mask>']
CODES = ['>>fra<<', '>>deu<<', '>>xxx<<', '>><<', '>>', '<<', ' >>fra<<', '>>fra<', '>>a b<<']
BLANKS = [' ', '  ', '\t', '\n', '\r\n', '\u00a0', '\u3000', '\u200b', '\ufeff', '\u2028', '\u2009', '\u1680', '▁', ' ▁ ', '\x0b', '\x85', '\u202f', '\u180e']
ODD = ['½', '…', 'ｶﾞ', 'カ\u3099', 'ｶ', 'ﷺ', '¨', '´', '№', '™', '①', 'ﬁ', 'Ⅷ', '２', '\u00ad', '\u200d', '\x00', '\x07', '\x1f', '\x7f', '\u0301', 'e\u0301\u0323', 'é', 'Å', 'A\u030a', '\u1100\u1161\u11a8', '각', '👩\u200d👧', '🇩🇪', '❤️', '\U0010ffff', '\ue000', '\ufffd', '\ufdfa', '\u037a', '\u0344', 'ǆ', '\u1fed', '℃', '㍿', '㌔', '„', '“', '‘', '—', '　']

def varint(n):
    out = b''
    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def field(number, kind, content): return varint(number << 3 | kind) + (varint(len(content)) + content if kind == 2 else content)

def fields(b):
    def read(i):
        x = n = 0
        while True:
            x |= (b[i] & 127) << n; n += 7; i += 1
            if b[i - 1] < 128: return x, i
    i = 0
    while i < len(b):
        k, i = read(i); n, j = read(i); kind = k & 7
        if kind == 0: yield k >> 3, n; i = j
        elif kind == 2: yield k >> 3, b[j:j + n]; i = j + n
        else: yield k >> 3, b[i:i + (8 if kind == 1 else 4)]; i += 8 if kind == 1 else 4

def spiece():
    """T5's file: pad, end and unknown, the pieces of tokenizer.json with their scores, and Marian's table of characters."""
    vocab = json.loads((FROM / 't5-wild/tokenizer.json').read_text())['model']['vocab']
    charsmap = dict(fields(dict(fields((FROM / 'marian-wild/source.spm').read_bytes()))[3]))[2]
    kinds = {'<pad>': 3, '</s>': 3, '<unk>': 2}; out = b''
    for piece, score in vocab:
        if piece.startswith('<extra_id_'): continue
        kind = field(3, 0, varint(kinds[piece])) if piece in kinds else b''
        out += field(1, 2, field(1, 2, piece.encode()) + field(2, 5, struct.pack('<f', score)) + kind)
    trainer = field(3, 0, varint(1)) + field(40, 0, varint(2)) + field(41, 0, varint(2 ** 64 - 1)) + field(42, 0, varint(1)) + field(43, 0, varint(0))
    trainer += field(48, 2, b'<pad>')
    return out + field(2, 2, trainer) + field(3, 2, field(1, 2, b'nmt_nfkc') + field(2, 2, charsmap))

def t5_ids(table, count, text):
    special = {'<pad>': 0, '</s>': 1, '<unk>': 2} | {f'<extra_id_{i}>': table.get_piece_size() - 1 + count - i for i in range(count)}; ids = []
    for part in re.split('(' + '|'.join(map(re.escape, special)) + ')', text): ids += [special[part]] if part in special else table.encode(part)
    return ids + [1]

def texts(pieces):
    r = random.Random(SEED)
    def part():
        k = r.random()
        if k < .35: return r.choice(pieces).replace('▁', ' ')
        if k < .5: return r.choice(BLANKS)
        if k < .62: return r.choice(ODD)
        if k < .68: return r.choice(SPECIAL)
        if k < .74: return r.choice(CODES)
        if k < .8: return chr(r.choice([r.randrange(0x20, 0x250), r.randrange(0x250, 0x3100), r.randrange(0xf900, 0xffff), r.randrange(0x3000, 0xd7ff), r.randrange(0x10000, 0x110000)]))
        return ''.join(r.choice('abcdefghijklmnopqrstuvwxyz  ') for _ in range(r.randint(1, 9)))
    out = []
    while len(out) < COUNT:
        text = (r.choice(CODES) if r.random() < .1 else '') + ''.join(part() for _ in range(r.choice([1, 2, 3, 5, 9, 20])))
        if text not in out: out.append(text)
    return out

if __name__ == '__main__':
    marian = MarianTokenizer.from_pretrained(FROM / 'marian-wild')
    # A second normalizer_spec is merged into the first one.
    t5 = [sentencepiece.SentencePieceProcessor(model_proto=spiece() + (field(3, 2, field(flag, 0, b'\0')) if flag else b'')) for flag in (None, 3, 4, 5)]
    pieces = [t.id_to_piece(i) for t in (marian.spm_source, marian.spm_target, t5[0]) for i in range(t.get_piece_size())]
    rows = []
    for text in texts(pieces):
        source, target = marian(text).input_ids, marian(text_target=text).input_ids
        rows.append([text, source, target, marian.decode(source), marian.decode(source, skip_special_tokens=True), *(t5_ids(t, 100, text) for t in t5)])
    print('[\n' + ',\n'.join(json.dumps(row, ensure_ascii=True, separators=(',', ':')) for row in rows) + '\n]')
