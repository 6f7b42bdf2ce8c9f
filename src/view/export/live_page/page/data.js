// The page's data: JSON texts, with numbers as `numbers.rs` writes them.
"use strict";

const Data = (() => {
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%()*+,-./:;=?@[]^_`{";
  const VALUES = new Uint8Array(128);
  [...DIGITS].forEach((digit, value) => (VALUES[digit.charCodeAt(0)] = value));

  /** Returns a function that takes the next bits of a text, whose five digits are 32 bits. */
  function bitsOf(text) {
    const words = new DataView(new ArrayBuffer((text.length / 5) * 4));
    for (let at = 0; at < text.length; at += 5) {
      let word = 0;
      for (let i = at; i < at + 5; i++) word = word * DIGITS.length + VALUES[text.charCodeAt(i)];
      words.setUint32((at / 5) * 4, word);
    }
    let [held, bits, next] = [0, 0, 0];
    return (count) => {
      for (; bits < count; bits += 8) held = (held << 8) | words.getUint8(next++);
      bits -= count;
      return (held >>> bits) & ((1 << count) - 1);
    };
  }

  /** Reads the numbers of a text, in double precision. */
  function numbers(text) {
    const take = bitsOf(text);
    const all = new Uint32Array(take(24));
    const frequent = Array.from({ length: 7 }, () => take(8));
    for (let i = 0; i < all.length; i++) {
      const place = take(3);
      const exponent = place < frequent.length ? frequent[place] : take(8);
      const [sign, fraction] = [take(1), take(23)];
      all[i] = (sign << 31) | (exponent << 23) | fraction;
    }
    return new Float64Array(new Float32Array(all.buffer));
  }

  const matrixOf = ({ shape, numbers: text }) => ({ rows: shape[0], cols: shape[1], data: numbers(text) });

  /** A mask as rows of 0 and 1, with the masks that it changes where they are not the blocks' own. */
  function tableOf(written) {
    const rows = written.rows || written;
    return Object.assign(rows.map((row) => Array.from(row, Number)), { base: written.base || "layers" });
  }

  /**
   * Converts the learner's changes from the program's saved form to the engine's: a mask is "none", "causal" or a
   * table, frozen weights are rows of numbers, and what is unchanged is null.
   */
  function changesOf({ heads, mask, edges, patch, ...rest }) {
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const all = (list) => (typeof list === "string" ? Array.from(new Float32Array(bytes(list.slice("f32:".length)).buffer)) : list);
    const rowsOf = ({ rows, weights }) => {
      const entries = all(weights);
      const cols = entries.length / rows;
      return Array.from({ length: rows }, (_, i) => entries.slice(i * cols, (i + 1) * cols));
    };
    const mode = (of) => {
      if (of.Frozen) return { Frozen: rowsOf(of.Frozen) };
      if (!of.Second) return of;
      const values = rowsOf(of.Second.values);
      const matrix = { rows: values.length, cols: values[0].length, data: new Float64Array(values.flat()) };
      return { Second: { weights: rowsOf(of.Second.weights), values: matrix } };
    };
    return {
      ...rest,
      heads: heads.every((of) => of === "Live") ? null : heads.map(mode),
      mask: mask && (mask.Custom ? tableOf(mask.Custom) : mask.toLowerCase()),
      edges: edges || null,
      patch: patch ? { ...patch, vector: all(patch.vector) } : null,
    };
  }

  /** The settings that the trace leaves out if they have these usual values. */
  const USUAL_EPSILON = 1e-5;

  /** Returns a part of the data, which is in the page or in a file that pages of a site share. */
  const part = (name) => window[`attune_${name}`] || JSON.parse(document.getElementById(`attune-${name}`).textContent);

  /** Returns a function for the cards of a head, which are completed when they are first asked for. Those that resemble another head's are written as the leaves of its JSON that differ. */
  function cardsOf(heads) {
    const isLeaf = (value) => value === null || typeof value !== "object";
    const whole = ([quantity, card]) => {
      if (!card.except) return [quantity, card];
      let leaf = -1;
      const own = (_, value) => (isLeaf(value) && ++leaf in card.except ? card.except[leaf] : value);
      return [quantity, JSON.parse(JSON.stringify(heads[card.like][quantity]), own)];
    };
    const known = [];
    return (head) => (known[head] ||= Object.fromEntries(Object.entries(heads[head]).map(whole)));
  }

  /** Reads the page's data, with the model in the engine's form. */
  function read(text) {
    const data = JSON.parse(text);
    const [{ config }, parameters] = [data, part("parameters")];
    const blocks = config.blocks.map((block, b) => ({
      ...block,
      scaled: data.scaled[b],
      temperature: data.temperatures[b],
      activation: block.activation || "relu",
      norm_epsilon: block.norm_epsilon || USUAL_EPSILON,
    }));
    const tensors = (from) => {
      const all = {};
      for (const { symbol, ...tensor } of from) all[symbol] = matrixOf(tensor);
      return all;
    };
    const rowOf = new Map(data.vocabulary.map((word, index) => [word, index]));
    const rowOfWord = (word) => (rowOf.has(word) ? rowOf.get(word) : rowOf.get(word.toLowerCase()));
    const pieces = data.pieces && Pieces.reader(data.pieces, data.pair_mark, rowOf);
    /** The segments of the sentences that were read, by their arrays of rows. */
    const segments = new WeakMap([[data.sentence, data.segments]]);
    const segmentsOf = (words) => segments.get(words) || null;
    /** Returns the vocabulary rows of a text's words or pieces; undefined for a word that the model does not know. */
    function rowsOf(text) {
      if (!pieces) return text.split(/\s+/).filter(Boolean).map(rowOfWord);
      const found = pieces(text);
      segments.set(found.rows, found.segments);
      return found.rows;
    }
    const isEmpty = (text) => (pieces ? pieces(text).isEmpty : text.trim() === "");
    const model = {
      ...config,
      norm_epsilon: config.norm_epsilon || USUAL_EPSILON,
      blocks,
      statics: matrixOf(part("statics")),
      parameters: tensors(parameters),
      classWords: data.classes.map((name) => rowOf.get(name)),
      rewriter: data.rewriter,
    };
    // The values for a reset. Editing a tensor copies only that tensor.
    const trained = { ...model, parameters: { ...model.parameters } };
    Object.assign(model.parameters, tensors(data.changed));
    const projection = {
      ...data.projection,
      mean: numbers(data.projection.mean),
      axes: matrixOf(data.projection.axes),
    };
    return { ...data, cardsOfHead: cardsOf(data.cards), parameters, changes: changesOf(data.changes), model, trained, projection, rowOf, rowOfWord, rowsOf, segmentsOf, isEmpty };
  }

  return { read, numbers, matrixOf };
})();
