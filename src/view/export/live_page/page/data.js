// The page's data: one JSON text in the page, with numbers as Base64 of little-endian 32-bit floats.
"use strict";

const Data = (() => {
  /** Decodes the numbers of a Base64 text, in double precision. */
  function numbers(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    // Browsers run only on little-endian machines.
    return new Float64Array(new Float32Array(bytes.buffer));
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
    const all = (list) => (typeof list === "string" ? Array.from(numbers(list.slice("f32:".length))) : list);
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

  /** Returns the trained model's numbers, which are in the page or in a file that pages of a site share. */
  const modelOf = () => window.attuneModel || JSON.parse(document.getElementById("attune-model").textContent);

  /** Reads the page's data, with the model in the engine's form. */
  function read(text) {
    const data = { ...JSON.parse(text), ...modelOf() };
    const { config } = data;
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
      statics: matrixOf(data.statics),
      parameters: tensors(data.parameters),
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
    return { ...data, changes: changesOf(data.changes), model, trained, projection, rowOf, rowOfWord, rowsOf, segmentsOf, isEmpty };
  }

  return { read, numbers, matrixOf };
})();
