// The forward pass of one sentence, in plain loops and double precision.
//
// Definitions and names are those of src/engine/numerics/reference in attune's source; rows are tokens:
//
//   X = E[words] + P[positions]
//   S = Q Kᵀ / (√d_k · τ) + B[j − i] / τ     scores: −∞ where query i does not see key j; a bound c holds the first term:
//                                            (c / τ) tanh(Q Kᵀ / (c √d_k))
//   A = softmax(S)                           weights, by rows
//   M = A V                                  the mix of a head
//   Y = X + Σ_h M_h W_O^h + b_O              a block's sum; norms and a feed-forward layer around it as the model has them
//   Z = Y W + b                              logits
//
// A *model* is what `Data.read` returns for the page's data. *Changes* are the reader's interventions, which do not
// modify the model: `{ temperature, scale, mask, heads, edges, patch }`, each null or missing where nothing is changed.
// A head is "Live", "Off", "Uniform", "Mean", `{ Gain: 0.5 }`, `{ Frozen: rows }` or `{ Second: { weights: rows, values } }`.
"use strict";

const Engine = (() => {
  /** Creates a matrix with rows one after another in `data`. `entry(i, j)` returns its numbers. */
  function matrix(rows, cols, entry) {
    const data = new Float64Array(rows * cols);
    if (entry) {
      for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) data[i * cols + j] = entry(i, j);
    }
    return { rows, cols, data };
  }

  const row = (a, i) => a.data.subarray(i * a.cols, (i + 1) * a.cols);
  const get = (a, i, j) => a.data[i * a.cols + j];

  /** a · b = Σ_k a_k b_k */
  function dot(a, b) {
    let sum = 0;
    for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
    return sum;
  }

  /** ‖a‖ */
  const norm = (a) => Math.sqrt(dot(a, a));

  /** Returns the places of numbers, the largest number first. */
  const order = (values) => [...values.keys()].sort((a, b) => values[b] - values[a]);

  /** (A B)_ij = Σ_k a_ik b_kj */
  function product(a, b) {
    const y = matrix(a.rows, b.cols);
    for (let i = 0; i < a.rows; i++) {
      const to = row(y, i);
      for (let k = 0; k < a.cols; k++) {
        const factor = get(a, i, k);
        const from = row(b, k);
        for (let j = 0; j < b.cols; j++) to[j] += factor * from[j];
      }
    }
    return y;
  }

  const sum = (a, b) => matrix(a.rows, a.cols, (i, j) => get(a, i, j) + get(b, i, j));

  /** Returns the columns `first` to `first + count` of a matrix. */
  const columns = (a, first, count) => matrix(a.rows, count, (i, j) => get(a, i, first + j));

  // Superscripts for the symbols of later blocks: W_Q, W_Q⁽²⁾.
  const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const superscript = (block) =>
    block === 0 ? "" : "⁽" + [...String(block + 1)].map((digit) => DIGITS[digit]).join("") + "⁾";

  /** Returns a learned tensor by its symbol and block; undefined if the model has none. */
  const tensor = (model, symbol, block = 0) => model.parameters[symbol + superscript(block)];

  /** Returns Y = X W + b. Without W, X itself is used; without b, nothing is added. */
  function affine(model, weights, bias, block, x) {
    const w = tensor(model, weights, block);
    if (!w) return x;
    const y = product(x, w);
    const b = tensor(model, bias, block);
    return b ? matrix(y.rows, y.cols, (i, j) => get(y, i, j) + b.data[j]) : y;
  }

  /** Returns the mean that a norm subtracts: 0 in an RMSNorm. */
  const meanOf = (form, x) => (form.norm_kind === "rms" ? 0 : x.reduce((total, value) => total + value, 0) / x.length);

  /** Returns γ of a norm; in some models the learned number is γ − 1. */
  const gainAt = (form, gain, j) => gain.data[j] + (form.norm_gain_from_one ? 1 : 0);

  /**
   * Normalizes each row: Y = γ ⊙ (X − μ) / σ + β, with σ² = 1/D Σ_j (x_j − μ)² + ε. An RMSNorm has no μ, and β may be
   * missing. `form` has the settings of the block's or the model's norms.
   */
  function normed(form, gain, shift, x) {
    const epsilon = form.norm_epsilon;
    const y = matrix(x.rows, x.cols);
    const deviations = [];
    for (let i = 0; i < x.rows; i++) {
      const from = row(x, i);
      const mean = meanOf(form, from);
      const variance = from.reduce((total, value) => total + (value - mean) ** 2, 0) / x.cols;
      const deviation = Math.sqrt(variance + epsilon);
      deviations.push(deviation);
      for (let j = 0; j < x.cols; j++) {
        y.data[i * x.cols + j] = (gainAt(form, gain, j) * (from[j] - mean)) / deviation + (shift ? shift.data[j] : 0);
      }
    }
    return { y, deviations };
  }

  // The number of terms in the two series of the error function. It gives full double precision on both sides of the
  // boundary.
  const ERF_TERMS = 60;
  const ERF_BORDER = 2.5;
  const ERF_END = 6;

  /** erf(x) = 2/√π ∫₀ˣ e^(−t²) dt: a power series near 0, a continued fraction beyond. */
  function erf(x) {
    const size = Math.abs(x);
    if (size > ERF_END) return Math.sign(x);
    if (size < ERF_BORDER) {
      let term = x;
      let total = x;
      for (let n = 1; n < ERF_TERMS; n++) {
        term *= (-x * x) / n;
        total += term / (2 * n + 1);
      }
      return (2 / Math.sqrt(Math.PI)) * total;
    }
    let fraction = 0;
    for (let n = ERF_TERMS; n > 0; n--) fraction = n / 2 / (size + fraction);
    return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * (size + fraction)));
  }

  /** The activation functions φ(x) of hidden units. */
  const ACTIVATIONS = {
    relu: (x) => Math.max(0, x),
    gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
    gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    silu: (x) => x / (1 + Math.exp(-x)),
  };

  const activated = (name, x) => matrix(x.rows, x.cols, (i, j) => ACTIVATIONS[name](get(x, i, j)));

  /** Returns p_j = exp(s_j − max s) / Σ_k exp(s_k − max s); in a row that sees nothing, all weights are 0. */
  function softmax(scores) {
    const highest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    if (highest === -Infinity) return Array.from(scores, () => 0);
    const powers = Array.from(scores, (score) => Math.exp(score - highest));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / total);
  }

  /** Returns whether query i sees key j: a mask is "none", "causal", or a table, outside of which everything is visible. */
  function sees(mask, i, j) {
    if (mask === "none") return true;
    if (mask === "causal") return j <= i;
    return mask[i] === undefined || mask[i][j] === undefined || Boolean(mask[i][j]);
  }

  const isWithin = ([before, behind], i, j) => (before == null || i - j <= before) && (behind == null || j - i <= behind);

  /** Returns whether query i sees key j by a layer's own mask and window, [before, behind] in positions; null is unlimited. */
  function seesByItself(config, i, j) {
    const own = config.mask === "custom" ? config.mask_visible : config.mask;
    return sees(own, i, j) && isWithin(config.window || [null, null], i, j);
  }

  /** Returns the first block in which the words of the sentence attend to each other. */
  const firstOf = (model) => {
    const own = model.blocks.slice(model.source_blocks);
    return own.find((config) => config.attends_to !== "source") || own[0];
  };

  /** Returns the masks that the reader's mask starts from: the blocks' own, or those that replace them. */
  const baseOf = (mask) => (mask == null ? "layers" : Array.isArray(mask) ? mask.base || "layers" : mask);

  /**
   * Whether query i sees key j in a block, with the reader's mask where a sentence looks at itself. "none" and "causal" take
   * the place of the blocks' masks, and leave their windows. A table says who sees whom in the first such block; a pair that
   * it changes there, from the masks in its `base`, is changed in all of them, and every other pair is as each block has it.
   */
  function seesIn(model, config, isOfSource, changes, i, j) {
    if (isOfSource || config.attends_to === "source" || changes.mask == null) return seesByItself(config, i, j);
    const { mask } = changes;
    const base = baseOf(mask);
    const unchanged = (of) => {
      if (base === "layers") return seesByItself(of, i, j);
      return base !== "hidden" && sees(base, i, j) && isWithin(of.window || [null, null], i, j);
    };
    if (!Array.isArray(mask)) return unchanged(config);
    const asked = sees(mask, i, j);
    return asked === unchanged(firstOf(model)) ? unchanged(config) : asked;
  }

  /** Returns what hides a key from a query, as the sentences name it. */
  function hiddenBy(config, isOfSource, changes, i, j) {
    const { mask } = changes;
    const isReaders = !isOfSource && config.attends_to !== "source" && mask != null;
    if (isReaders && !Array.isArray(mask)) return sees(mask, i, j) ? "the window" : "your mask";
    if (isReaders && seesByItself(config, i, j)) return "your mask";
    return sees(config.mask === "custom" ? config.mask_visible : config.mask, i, j) ? "the window" : "the mask";
  }

  /** Returns c tanh(z / c) if there is a bound c, or else z. */
  const heldBelow = (cap, z) => (cap == null ? z : cap * Math.tanh(z / cap));

  /**
   * Returns queries or keys as the scores use them: normalized, per head or all at once, and rotated by their
   * positions. Columns i and i + r/2 of a head are rotated together, by t ω_i.
   */
  function placed(model, config, gainName, block, x) {
    let y = x;
    const gain = tensor(model, gainName, block);
    if (config.query_key_norm && gain) {
      const rows = { rows: x.data.length / gain.data.length, cols: gain.data.length, data: x.data };
      y = { ...x, data: normed(config, gain, null, rows).y.data };
    }
    if (!config.rotary) return y;
    const { width, frequencies } = config.rotary;
    const half = width / 2;
    return matrix(y.rows, y.cols, (t, j) => {
      const i = j % config.d_k;
      if (i >= width) return get(y, t, j);
      const angle = t * frequencies[i % half];
      const other = i < half ? -get(y, t, j + half) : get(y, t, j - half);
      return get(y, t, j) * Math.cos(angle) + other * Math.sin(angle);
    });
  }

  /** Returns whether the reader removed an edge; heads are counted over all blocks. */
  const isRemoved = (changes, head, i, j) => (changes.edges || []).some(([h, q, k]) => h === head && q === i && k === j);

  /** Returns the bucket of a distance (Raffel et al. 2020, section 2.1): near distances have one each. */
  function bucket({ count, farthest, both_directions: areBoth }, distance) {
    const own = areBoth ? Math.floor(count / 2) : count;
    const first = areBoth && distance > 0 ? own : 0;
    const size = areBoth ? Math.abs(distance) : Math.max(-distance, 0);
    const exact = Math.floor(own / 2);
    if (size < exact) return first + size;
    const share = Math.log(size / exact) / Math.log(farthest / exact);
    return first + Math.min(own - 1, exact + Math.floor(share * (own - exact)));
  }

  /** Computes one head: scores, weights and mix. `favour` is the head's row of B, which has 2 · T_max − 1 numbers, or one for each bucket. */
  function attention(config, sees, removed, mode, favour, [query, key, value]) {
    const looks = (i, j) => sees(i, j) && !removed(i, j);
    const renormalised = (i, found) => {
      if (!found.some((_, j) => removed(i, j))) return found;
      const rest = found.map((weight, j) => (removed(i, j) ? 0 : weight));
      const total = rest.reduce((a, b) => a + b, 0);
      return rest.map((weight) => (total > 0 ? weight / total : 0));
    };
    const temperature = config.temperature;
    const own = config.score_divisor || 1;
    const divisor = config.scaled ? own * Math.sqrt(config.d_k) : own;
    /** The two terms of a score: that of the product, and that of the distance. */
    const scaled = (i, j) => heldBelow(config.score_cap, dot(row(query, i), row(key, j)) / divisor) / temperature;
    const columnOf = (i, j) => (config.buckets ? bucket(config.buckets, j - i) : config.distances - 1 + j - i);
    const near = (i, j) => (favour ? favour[columnOf(i, j)] / temperature : 0);
    const score = (i, j) => (looks(i, j) ? scaled(i, j) + near(i, j) : -Infinity);
    const scores = matrix(query.rows, key.rows, score);
    const weights = matrix(query.rows, key.rows);
    for (let i = 0; i < query.rows; i++) {
      let found = softmax(row(scores, i));
      if (mode === "Uniform") {
        const seen = found.filter((_, j) => looks(i, j)).length;
        found = found.map((_, j) => (looks(i, j) ? 1 / seen : 0));
      }
      if (givenWeights(mode)) found = renormalised(i, givenWeights(mode)[i]);
      row(weights, i).set(found);
    }
    if (mode === "Mean") {
      const all = Array.from({ length: query.rows }, (_, i) => Array.from(row(weights, i)));
      const mean = all[0].map((_, j) => all.reduce((total, of) => total + of[j], 0) / query.rows);
      all.forEach((_, i) => row(weights, i).set(mean));
    }
    const values = mode.Second ? mode.Second.values : value;
    const mix = product(weights, values);
    const gain = gainOf(mode);
    for (let i = 0; i < mix.data.length; i++) mix.data[i] *= gain;
    return { query, key, value: values, scores, scaled, near, weights, mix, gain, temperature, divisor };
  }

  const modeOf = (changes, head) => (changes.heads && changes.heads[head]) || "Live";

  /** Returns the rows of weights that were copied to a head from another pass, if there are any. */
  const givenWeights = (mode) => mode.Frozen || (mode.Second && mode.Second.weights);

  /** Returns the factor of a head's mix. */
  const gainOf = (mode) => (mode === "Off" ? 0 : mode.Gain === undefined ? 1 : mode.Gain);

  /** Returns X W_O^h, or X in the head's columns if there is no output projection. */
  function throughOutput(model, config, block, own, x) {
    const first = own * config.d_v;
    const w = config.output && tensor(model, "W_O", block);
    if (!w) return matrix(x.rows, model.width, (i, j) => (j >= first && j < first + config.d_v ? get(x, i, j - first) : 0));
    return product(x, matrix(config.d_v, w.cols, (i, j) => get(w, first + i, j)));
  }

  /**
   * Computes a block, each step as in the papers; `firstHead` is the number of heads in all earlier blocks.
   *
   *   no norm     A = X + Attention(X)          Y = A + F(A)
   *   pre-norm    A = X + Attention(norm(X))    Y = A + F(norm(A))
   *   post-norm   A = norm(X + Attention(X))    Y = norm(A + F(A))
   *
   * A branch may have a norm of its own on its result. In parallel branches, F reads X instead of A.
   */
  function blockForward(model, own, number, firstHead, x, source, isOfSource, changes) {
    const config = {
      ...own,
      temperature: changes.temperature == null ? own.temperature : changes.temperature,
      scaled: changes.scale == null ? own.scaled : changes.scale,
    };
    const isPre = config.norm === "pre";
    const isPost = config.norm === "post";
    const isNormed = config.attention_norm !== false;
    const gainAndShift = (place) => [tensor(model, "γ_" + place, number), tensor(model, "β_" + place, number)];
    const normedBy = (place, y) => normed(config, ...gainAndShift(place), y);
    const held = (place, deviations) => ({ form: config, gain: tensor(model, "γ_" + place, number), deviations });
    const step = { config, number, firstHead, input: x, norms: [] };

    const queries = isPre && isNormed ? (step.normed = normedBy("A", x).y) : x;
    const keys = config.attends_to === "source" ? source : queries;
    step.queries = queries;
    step.keys = keys;
    const q = placed(model, config, "γ_q", number, affine(model, "W_Q", "b_Q", number, queries));
    const k = placed(model, config, "γ_k", number, affine(model, "W_K", "b_K", number, keys));
    const v = affine(model, "W_V", "b_V", number, keys);
    // Of layers that share one table, the first has it.
    const favour = tensor(model, "B", number) || tensor(model, "B", isOfSource ? 0 : model.source_blocks);
    step.sees = (i, j) => seesIn(model, config, isOfSource, changes, i, j);
    step.hides = (i, j) => hiddenBy(config, isOfSource, changes, i, j);
    const group = config.heads / (config.key_value_heads || config.heads);
    step.heads = [];
    let added = matrix(x.rows, model.width);
    for (let h = 0; h < config.heads; h++) {
      const shared = Math.floor(h / group);
      const parts = [
        columns(q, h * config.d_k, config.d_k),
        columns(k, shared * config.d_k, config.d_k),
        columns(v, shared * config.d_v, config.d_v),
      ];
      const mode = modeOf(changes, firstHead + h);
      const removed = (i, j) => isRemoved(changes, firstHead + h, i, j);
      const head = attention(config, step.sees, removed, mode, config.distances && favour ? row(favour, h) : null, parts);
      Object.assign(head, { mode, removed, gain: gainOf(mode) });
      // V_hj W_O^h times the head's gain: the contribution of key j through this head, before multiplication by its
      // weight.
      head.moved = throughOutput(model, config, number, h, head.value);
      for (let i = 0; i < head.moved.data.length; i++) head.moved.data[i] *= head.gain;
      added = sum(added, throughOutput(model, config, number, h, head.mix));
      step.heads.push(head);
    }
    const b = tensor(model, "b_O", number);
    let plain = matrix(x.rows, model.width, (i, j) => get(added, i, j) + (b ? b.data[j] : 0));
    if (config.output_norms) {
      const found = normedBy("AO", plain);
      plain = found.y;
      step.norms.push(held("AO", found.deviations));
    }
    step.summed = config.residual ? sum(x, plain) : plain;
    let attended = step.summed;
    if (isPost && isNormed) {
      const found = normedBy("A", step.summed);
      step.attended = attended = found.y;
      step.norms.push(held("A", found.deviations));
    }
    step.output = attended;
    if (config.feed_forward != null) {
      const from = config.branches ? x : attended;
      const input = isPre ? normedBy(config.branches === "parallel, one norm" ? "A" : "F", from).y : from;
      const hidden = affine(model, "W_1", "b_1", number, input);
      const gate = config.gated && activated(config.activation, affine(model, "W_g", "b_g", number, input));
      step.hidden = gate
        ? matrix(hidden.rows, hidden.cols, (i, j) => get(gate, i, j) * get(hidden, i, j))
        : activated(config.activation, hidden);
      let forward = affine(model, "W_2", "b_2", number, step.hidden);
      if (config.output_norms) forward = normedBy("FO", forward).y;
      step.output = config.residual ? sum(attended, forward) : forward;
      if (isPost) {
        const found = normedBy("F", step.output);
        step.output = found.y;
        step.norms.push(held("F", found.deviations));
      }
    }
    return step;
  }

  /** Returns α_ij · V_hj W_O^h: the vector that key j adds to query i through a head. */
  function contribution(head, i, j) {
    const weight = head.gain === 0 ? 0 : get(head.weights, i, j);
    return Array.from(row(head.moved, j), (x) => weight * x);
  }

  /** Returns Σ_j α_ij · V_hj W_O^h: what a head adds to query i. */
  function added(head, i) {
    const terms = Array.from({ length: head.weights.cols }, (_, j) => contribution(head, i, j));
    return terms.reduce((total, term) => total.map((x, d) => x + term[d]));
  }

  /** The numbers of a pass as rules ask for them: entries of heads, and the settings of one of them. */
  function reading(pass, own) {
    const largest = (head, i) => row(head.scores, i).reduce((a, b) => Math.max(a, b), -Infinity);
    const power = (head, i, j) => Math.exp(get(head.scores, i, j) - largest(head, i));
    const entries = {
      Query: (head, i, d) => get(head.query, i, d),
      Key: (head, j, d) => get(head.key, j, d),
      Product: (head, i, j) => dot(row(head.query, i), row(head.key, j)),
      DistanceBias: (head, i, j) => head.near(i, j),
      Score: (head, i, j) => get(head.scores, i, j),
      Exponential: power,
      RowSum: (head, i) => Array.from(row(head.scores, i), (_, j) => power(head, i, j)).reduce((a, b) => a + b, 0),
      Weight: (head, i, j) => get(head.weights, i, j),
      Term: (head, i, j, d) => contribution(head, i, j)[d],
      Arrow: (head, i, j, d) => arrow(head.step, head, i, j)[d],
      HeadLength: (head, i) => norm(added(head, i)),
    };
    const ofBlocks = { Input: ({ input }, i, d) => get(input, i, d), Output: ({ output }, i, d) => get(output, i, d) };
    const found = pass.heads[own];
    const scoresOf = (i) => Array.from(row(found.scores, i));
    const isByHand = () => found.mode === "Uniform" || found.mode === "Mean" || Boolean(givenWeights(found.mode));
    const { config } = found.step;
    const settings = {
      temperature: () => found.temperature,
      keywidth: () => (config.scaled ? config.d_k : 1),
      mask: ({ i, j }) => (get(found.scores, i, j) === -Infinity ? -Infinity : 0),
      gain: () => found.gain,
      seen: ({ i }) => scoresOf(i).filter((score) => score !== -Infinity).length,
      queries: () => found.scores.rows,
      unseen: ({ i }) => scoresOf(i).filter((score) => score === -Infinity).length,
    };
    const facts = {
      hidden: ({ i, j }) => get(found.scores, i, j) === -Infinity,
      removed: ({ i, j }) => found.removed(i, j),
      lacksEdges: ({ i }) => scoresOf(i).some((_, j) => found.removed(i, j)),
      uniform: () => found.mode === "Uniform",
      mean: () => found.mode === "Mean",
      frozen: () => Boolean(givenWeights(found.mode)),
      second: () => Boolean(found.mode.Second),
      seesNothing: ({ i }) => !isByHand() && largest(found, i) === -Infinity,
    };
    return {
      facts,
      words: { mask: ({ i, j }) => found.step.hides(i, j) },
      entry: (quantity, number, index) =>
        quantity in ofBlocks ? ofBlocks[quantity](pass.blocks[number], ...index) : entries[quantity](pass.heads[number], ...index),
      setting: (name, bound) => settings[name](bound),
      // Queries and keys are as many as the sentence has words; what else is counted is the model's.
      count: (letter) => (letter === "q" ? found.scores.rows : "jkl".includes(letter) ? found.scores.cols : null),
    };
  }

  /**
   * Returns the contribution at the block's output: each norm, with its σ held, maps t to γ ⊙ (t − mean t) / σ, or
   * without the mean in an RMSNorm.
   */
  function arrow(step, head, i, j) {
    let term = contribution(head, i, j);
    for (const { form, gain, deviations } of step.norms) {
      const mean = meanOf(form, term);
      term = term.map((x, d) => (gainAt(form, gain, d) * (x - mean)) / deviations[i]);
    }
    return term;
  }

  const BASE = 10000;

  /** Returns P[t]: sin and cos of t / 10000^(2i/D), or a learned row. */
  function position(model, tower, t, j) {
    if (model.positions === "none") return 0;
    if (model.positions === "learned") return get(tensor(model, "P" + tower) || tensor(model, "P"), t, j);
    const sines = Math.ceil(model.width / 2);
    const [wave, isSine] =
      model.position_order === "halves" ? [j % sines, j < sines] : [Math.floor(j / 2), j % 2 === 0];
    const angle = t / Math.pow(BASE, (2 * wave) / model.width);
    return isSine ? Math.sin(angle) : Math.cos(angle);
  }

  /** Returns E: trained with the model, or the word2vec vectors. */
  const embedding = (model) => tensor(model, "E") || model.statics;

  /**
   * Returns X of a sentence. A word of null, which is hidden or not generated yet, has a zero vector. `of` has the
   * segment of each word; without it, all are in the first. `tower` is "_S" for what the source has of its own.
   */
  function embedded(model, words, of = null, tower = "") {
    const table = embedding(model);
    const segments = tensor(model, "E_S");
    const vector = (word, j) => (word === null ? 0 : (model.embedding_scale || 1) * get(table, word, j));
    const x = matrix(words.length, model.width, (t, j) => {
      return vector(words[t], j) + position(model, tower, t, j) + (segments ? get(segments, of ? of[t] : 0, j) : 0);
    });
    const place = tower && tensor(model, "γ_ES") ? "ES" : "E";
    const gain = tensor(model, "γ_" + place);
    return gain ? { summed: x, x: normed(model, gain, tensor(model, "β_" + place), x).y } : { x };
  }

  /** Returns what the logits are computed from: every row, the last one, or the mean of all. */
  function read(model, output) {
    if (model.pooling === "last") return matrix(1, output.cols, (_, j) => get(output, output.rows - 1, j));
    if (model.pooling === "mean") {
      const total = (j) => {
        let found = 0;
        for (let i = 0; i < output.rows; i++) found += get(output, i, j);
        return found;
      };
      return matrix(1, output.cols, (_, j) => total(j) / output.rows);
    }
    return output;
  }

  /** Returns Z = y W + b. If embeddings are tied, the columns of W are the classes' rows of E. */
  function logits(model, output) {
    let y = read(model, output);
    if (model.readout === "transformed") {
      y = activated(model.readout_activation, affine(model, "W_T", "b_T", 0, y));
      const gain = tensor(model, "γ_T");
      if (gain) y = normed(model, gain, tensor(model, "β_T"), y).y;
    }
    const b = tensor(model, "b_logits");
    const bias = (c) => (b ? b.data[c] : 0);
    const held = (z) => heldBelow(model.logit_cap, z);
    if (model.logit_scale != null) y = matrix(y.rows, y.cols, (i, j) => model.logit_scale * get(y, i, j));
    if (model.readout === "linear") {
      const z = product(y, tensor(model, "W_logits"));
      return matrix(z.rows, z.cols, (i, c) => held(get(z, i, c) + bias(c)));
    }
    const table = embedding(model);
    return matrix(y.rows, model.classWords.length, (i, c) => held(dot(row(y, i), row(table, model.classWords[c])) + bias(c)));
  }

  /** Returns what the model reads: the learner's words, or the source and the target that its rule makes of them. */
  function sequences(model, words) {
    if (!model.rewriter) return { tokens: words, source: null };
    const at = (t) => (model.rewriter.reversed ? words.length - 1 - t : t);
    const target = words.map((_, t) => model.rewriter.becomes[words[at(t)]]);
    // The input at each position is the target word before it; at the first position there is none.
    return { tokens: [null, ...target.slice(0, -1)], source: words };
  }

  /** Returns what cross-attention reads of the output of the source's last block. */
  function memory(model, y) {
    const gain = tensor(model, "γ_S");
    return gain ? normed(model, gain, tensor(model, "β_S"), y).y : y;
  }

  /** Runs one sentence through the model: `words` are rows of the vocabulary, `segments` as in `embedded`. */
  function forward(model, words, changes = {}, segments = null) {
    const { tokens, source } = sequences(model, words);
    const start = embedded(model, tokens, segments);
    const pass = { tokens, source, embedded: start.summed, input: start.x, blocks: [] };
    const begin = source && embedded(model, source, null, "_S");
    if (source) [pass.sourceEmbedded, pass.sourceInput] = [begin.summed, begin.x];
    let z = source ? begin.x : null;
    let y = start.x;
    let heads = 0;
    model.blocks.forEach((config, number) => {
      const isOfSource = number < model.source_blocks;
      const { patch } = changes;
      if (patch && patch.block === number) {
        y = matrix(y.rows, y.cols, (i, j) => (i === patch.position ? patch.vector[j] : get(y, i, j)));
      }
      const step = blockForward(model, config, number, heads, isOfSource ? z : y, z, isOfSource, changes);
      step.isOfSource = isOfSource;
      if (isOfSource) z = number + 1 === model.source_blocks ? memory(model, step.output) : step.output;
      else y = step.output;
      heads += config.heads;
      pass.blocks.push(step);
    });
    pass.memory = z;
    const gain = tensor(model, "γ_Y");
    pass.output = gain ? normed(model, gain, tensor(model, "β_Y"), y).y : y;
    pass.logits = logits(model, pass.output);
    pass.heads = pass.blocks.flatMap((step) => step.heads.map((head, own) => ({ ...head, own, step })));
    return pass;
  }

  const rows = (a) => Array.from({ length: a.rows }, (_, i) => Array.from(row(a, i)));
  const shown = (a) => ({ shape: [a.rows, a.cols], rows: rows(a) });

  /** Returns every tensor of a pass, named as by `attune trace`, without contributions for large models. −∞ becomes null in JSON. */
  function tensors(model, pass, hasContributions) {
    const all = {};
    const table = embedding(model);
    const statics = (words) =>
      matrix(words.length, model.width, (t, j) => (words[t] === null ? 0 : get(table, words[t], j)));
    if (pass.source) {
      all["E[source]"] = shown(statics(pass.source));
      if (pass.sourceEmbedded) all["embedded[source]"] = shown(pass.sourceEmbedded);
      all["X[source]"] = shown(pass.sourceInput);
      all["output[source]"] = shown(pass.memory);
    }
    all["E[tokens]"] = shown(statics(pass.tokens));
    if (pass.embedded) all.embedded = shown(pass.embedded);
    all.X = shown(pass.input);
    pass.blocks.forEach((step, b) => {
      for (const name of ["input", "summed", "output", "normed", "attended", "hidden"]) {
        if (step[name]) all[`${name}[block ${b}]`] = shown(step[name]);
      }
    });
    pass.heads.forEach((head, h) => {
      const parts = { Q: head.query, K: head.key, V: head.value, scores: head.scores, weights: head.weights, mix: head.mix };
      for (const name of Object.keys(parts)) all[`${name}[${h}]`] = shown(parts[name]);
      if (!hasContributions) return;
      const { rows: queries, cols: keys } = head.weights;
      all[`contributions[${h}]`] = {
        shape: [queries, keys, model.width],
        rows: Array.from({ length: queries }, (_, i) => Array.from({ length: keys }, (_, j) => contribution(head, i, j))),
      };
    });
    all.output = shown(pass.output);
    all.logits = shown(pass.logits);
    return all;
  }

  return { row, get, dot, norm, order, softmax, seesIn, firstOf, baseOf, modeOf, gainOf, forward, reading, tensors, contribution, added, arrow, rows };
})();
