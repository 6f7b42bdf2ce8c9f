// What the stage comes to, in one line, and where a weight comes from: the chosen query, key and head, from their vectors to
// what the key adds. Its equations are the program's rules, and its sentences those of the program's explanations, both filled in
// with the page's numbers.
"use strict";

const Provenance = (() => {
  /** Weights that a sentence names. */
  const NAMED = 3;
  const { written, plain } = Rules;

  /** The steps of a weight as `[title, formula, sentence]`. */
  function steps(state, head, i, j) {
    const { actions, data } = state;
    const found = state.pass.heads[head];
    const { config } = found.step;
    const [SCORES, SCALE, SOFTMAX, , OUTPUT] = State.STEPS.slice(2);
    const say = sayings(data);
    const [query, keys] = [`“${actions.queriesOf(head)[i]}”`, actions.keysOf(head).map((word) => `“${word}”`)];
    const [key, title] = [keys[j], data.heads[head].title];
    const [scores, weights] = [found.scores, found.weights].map((matrix) => Array.from(Engine.row(matrix, i)));
    const [rules, of] = [data.rules[head], Engine.reading(state.pass, head)];
    const equation = (name) => Rules.equation(rules[name], { i, j }, of);
    const all = [[SCORES, equation("Product"), say("meets")]];
    const mode = Engine.modeOf(state.changes, head);
    const isHidden = scores[j] === -Infinity;
    if (isHidden) {
      // The weights of such a head are not those of its scores.
      const isOther = mode === "Mean" || mode.Frozen;
      const isRemoved = Engine.isRemoved(state.changes, head, i, j);
      const why = (isRemoved ? "removed" : "hidden") + (isOther ? "_score" : "");
      all.push([SCALE, equation("Score"), say(why, { query, key, mask: found.step.hides(i, j) })]);
      if (!isOther) return all;
    } else {
      all.push([SCALE, equation("Score"), scoreSaid(state, head, i, j)]);
    }

    const hasRemoved = keys.some((_, at) => Engine.isRemoved(state.changes, head, i, at));
    const byHand = mode.Frozen ? (hasRemoved ? "frozen_without" : "frozen") : found.isSoftmax ? null : mode.toLowerCase();
    if (byHand) {
      all.push([SOFTMAX, `α = ${written(weights[j])}`, say(byHand, { head: title })]);
    } else {
      const largest = Math.max(...scores);
      const powers = scores.map((s) => Math.exp(s - largest));
      const total = powers.reduce((a, b) => a + b, 0);
      const order = weights.map((_, at) => at).sort((a, b) => weights[b] - weights[a]);
      const strongest = order.slice(0, NAMED).map((at) => `${keys[at]} ${written(weights[at])}`).join(", ");
      const said = `${say("softmax", { largest: written(largest), total: written(total) })} ${say("looks_at", { query, strongest })}.`;
      all.push([SOFTMAX, equation("Weight"), said]);
    }

    const why = found.gain === 0 ? say("off", { head: title }) : config.output ? say("adds", { key }) : "";
    all.push([OUTPUT, equation("TermLength"), why]);
    return all;
  }

  /** The sentences of a score. */
  function scoreSaid(state, head, i, j) {
    const [say, found] = [sayings(state.data), state.pass.heads[head]];
    const { config } = found.step;
    const score = written(Engine.get(found.scores, i, j));
    const sentences = scalingSaid(config, found, say);
    if (config.distances != null) {
      const near = found.near(i, j);
      const bias = written(Math.abs(near));
      const places = Math.abs(j - i);
      const side = `a word ${places === 1 ? "1 position" : `${places} positions`} to the ${j < i ? "left" : "right"}`;
      const at = places === 0 ? "the word itself" : side;
      sentences.push(say(near < 0 ? "distance_takes_off" : "distance_adds", { head: `Head ${found.own + 1}`, bias, at }));
    }
    const [query, key] = [state.actions.queriesOf(head)[i], state.actions.keysOf(head)[j]].map(quoted);
    sentences.push(`${say("comes_to", { query, key, score })}.`);
    return sentences.join(" ");
  }

  /** What makes scores of the products, in its order. */
  function scalingSaid(config, { temperature }, say) {
    const [root, own, heat] = [
      config.scaled && say("by_root", { width: config.d_k }),
      config.score_divisor && say("by_own", { divisor: config.score_divisor }),
      temperature !== 1 && say("by_temperature", { temperature: plain(temperature) }),
    ];
    const divided = (...by) => {
      const divisors = by.filter(Boolean).join(", and by ");
      return divisors === "" ? [] : [say(by[0] && by[0] === root ? "divided_as_wide" : "divided", { divisors })];
    };
    const { score_cap: cap } = config;
    const all = cap == null ? divided(root, own, heat) : [...divided(root, own), say("held_below", { cap: plain(cap) }), ...divided(heat)];
    return all.length === 0 ? [say("not_scaled")] : all;
  }

  /** A sentence of the program with its parts filled in. */
  const sayings = (data) => (name, parts) => data.explanations[name].replace(/\{(\w+)\}/g, (_, part) => parts[part]);

  const quoted = (word) => `“${word}”`;
  const fixed = (x) => x.toFixed(3).replace("-", "−");
  const norm = (x) => Math.sqrt(Engine.dot(x, x));
  /** Places of numbers, the largest first. */
  const order = (values) => [...values.keys()].sort((a, b) => values[b] - values[a]);

  /** A share in per cent; one that is nearly all, or nearly nothing, is not rounded to it. */
  function percent(share) {
    const [rounded, ROUNDING] = [Math.round(share * 100), 1e-5];
    const shown = rounded === 100 && share < 1 - ROUNDING ? ">99" : rounded === 0 && share > ROUNDING ? "<1" : rounded;
    return `${shown}\u00a0%`;
  }

  /** The query, head and key of the walk. */
  function walked(state) {
    const found = state.pass.heads[state.head];
    const i = Math.min(state.query, found.weights.rows - 1);
    const weights = Array.from(Engine.row(found.weights, i));
    const j = state.key === null ? order(weights)[0] : state.key;
    const [queries, keys] = [state.actions.queriesOf(state.head), state.actions.keysOf(state.head)].map((all) => all.map(quoted));
    return { found, i, j, weights, query: queries[i], key: keys[j], keys };
  }

  /** How far a word is moved by a block. */
  function moved(state, block, i, word) {
    const { input, output } = state.pass.blocks[block];
    const [from, to] = [Engine.row(input, i), Engine.row(output, i)];
    const length = norm(from.map((x, d) => to[d] - x));
    const say = sayings(state.data);
    const said = length < 0.0005 ? say("stays_in_place", { word }) : say("moves_by", { word, length: fixed(length) });
    return state.pass.blocks.length > 1 ? `${said} in this layer` : said;
  }

  /** The word of the vocabulary whose vector has the least angle with another, and the cosine. */
  function nearest({ statics }, vector, except = null) {
    const own = norm(vector);
    let best = { row: null, cosine: -Infinity };
    for (let row = 0; row < statics.rows; row++) {
      const other = Engine.row(statics, row);
      const cosine = Engine.dot(other, vector) / (norm(other) * own) || 0;
      if (row !== except && cosine > best.cosine) best = { row, cosine };
    }
    return best;
  }

  /** Below this cosine the first of the neighbours is no nearer than chance has it. */
  const NEAR = 0.01;
  const isNear = ({ cosine }) => cosine >= NEAR;

  /** What a token is nearest to, before attention and after it. */
  function near(state, i) {
    const word = state.pass.tokens[i];
    if (word === null) return null;
    return { before: nearest(state.model, Engine.row(state.model.statics, word), word), now: nearest(state.model, Engine.row(state.pass.output, i)) };
  }

  function nearestSaid(state, i) {
    // The contextual vectors of a model that was read lie far from its table.
    const found = state.data.pieces ? null : near(state, i);
    if (!found) return null;
    const { before, now } = found;
    const [say, word] = [sayings(state.data), quoted(state.labels[i])];
    const name = ({ row }) => quoted(state.data.vocabulary[row]);
    if (now.row === state.pass.tokens[i] && isNear(now)) return say("nearest_is_own", { word, cosine: fixed(now.cosine) });
    if (before.row === now.row && isNear(before) && isNear(now)) {
      return say("nearest_stays", { word, nearest: name(now), before: fixed(before.cosine), now: fixed(now.cosine) });
    }
    const after = { word, now: name(now), cosine: fixed(now.cosine) };
    if (isNear(now)) return isNear(before) ? say("nearest_changes", { ...after, before: name(before) }) : say("nearest_comes", after);
    return isNear(before) ? say("nearest_goes", { word, before: name(before) }) : say("nearest_none", { word });
  }

  /** A word that the model does not see. */
  const isHidden = (data, word) => word === null || data.hidden.includes(data.vocabulary[word]);

  /** The answer at a word, where the model says more than which word it sees there. */
  function answerSaid(state, i) {
    const { data, pass } = state;
    const isTold = data.asked !== "here" || isHidden(data, pass.tokens[i]);
    if (data.asked === null || !isTold) return null;
    const shares = Array.from(Engine.softmax(Engine.row(pass.logits, pass.logits.rows === 1 ? 0 : i)));
    const best = order(shares)[0];
    const answer = state.keepers.length > 0 ? "?" : `${quoted(data.classes[best])} ${percent(shares[best])}`;
    const parts = { word: quoted(state.labels[i]), answer };
    return sayings(data)({ here: "answers_at", next: "answers_after", whole: "answers_all" }[data.asked], parts);
  }

  const looksAt = (state, { weights, keys, query }) =>
    sayings(state.data)("looks_at", { query, strongest: order(weights).slice(0, NAMED).map((at) => `${keys[at]} ${fixed(weights[at])}`).join(", ") });

  /** The results of the steps of a walk. */
  function resultOfStep(state, step) {
    const [say, parts] = [sayings(state.data), walked(state)];
    const { found, i, j, weights, query, key, keys } = parts;
    const scores = Array.from(Engine.row(found.scores, i));
    const byStep = {
      1: () => {
        const width = found.query.cols;
        return found.step.config.projections ? say("asks", { query, width }) : say("own_roles", { width });
      },
      2: () => {
        const products = keys.map((_, at) => Engine.dot(Engine.row(found.query, i), Engine.row(found.key, at)));
        const [product, largest] = [fixed(products[j]), order(products)[0]];
        if (largest === j) return say("product_is_largest", { query, key, product });
        return say("product_is", { query, key, product, largest: fixed(products[largest]), other: keys[largest] });
      },
      3: () => (scores[j] === -Infinity ? "" : say("comes_to", { query, key, score: fixed(scores[j]) })),
      4: () => (found.isSoftmax && scores.every((score) => score === -Infinity) ? "" : looksAt(state, parts)),
      5: () => {
        const terms = order(weights).slice(0, NAMED).map((at) => `${fixed(weights[at])} v(${keys[at]})`);
        const sum = [...terms, ...(keys.length > NAMED ? ["…"] : [])].join(" + ");
        const { gain } = found;
        return say("mix_is", { query, terms: gain === 0 ? "0" : gain === 1 ? sum : `${gain} · (${sum})` });
      },
      6: () => {
        const lengths = found.step.heads.map((head) => {
          const all = keys.map((_, at) => Engine.contribution(head, i, at));
          return norm(all.reduce((total, term) => total.map((x, d) => x + term[d])));
        });
        const others = lengths.map((length, h) => say("another_head", { head: h + 1, length: fixed(length) })).filter((_, h) => h !== found.own);
        const own = { head: found.own + 1, query, length: fixed(lengths[found.own]) };
        return say(found.step.config.residual ? "adds_arrow" : "brings_vector", own) + others.slice(0, NAMED - 1).join("");
      },
      7: () => {
        const { number } = found.step;
        const end = number === state.pass.blocks.length - 1 ? answerSaid(state, i) || nearestSaid(state, i) : null;
        return end || moved(state, number, i, query);
      },
    };
    return byStep[step] ? byStep[step]() : "";
  }

  /** What has become of a word where no step is walked. */
  function resultAtRest(state) {
    const { data, model, pass, query: i, labels } = state;
    const [say, isChosen] = [sayings(data), i !== state.followed];
    const name = ({ row }) => quoted(data.vocabulary[row]);
    const start = () => {
      const found = near(state, i);
      const word = data.vocabulary[pass.tokens[i]];
      return found && isNear(found.before) ? say("nearest_at_start", { word: quoted(word), nearest: name(found.before), cosine: fixed(found.before.cosine) }) : "";
    };
    if (state.time === 0) return start();
    const hidden = pass.tokens.findIndex((word) => isHidden(data, word));
    const asked = data.asked === "here" ? (hidden < 0 ? i : hidden) : pass.tokens.length - 1;
    const answer = answerSaid(state, isChosen ? i : asked);
    if (answer) return answer;
    const alike = pass.tokens.map((_, at) => at).filter((at) => pass.tokens[at] === pass.tokens[i]);
    const found = isChosen || data.pieces || alike.length === 1 || alike.length > NAMED ? [] : alike.map((at) => ({ at, ...near(state, at) }));
    if (found.length > 0 && found.every(({ now }) => now && isNear(now)) && found.some(({ now }) => now.row !== found[0].now.row)) {
      const [first, ...others] = found.map(({ at, now }) => ({ word: quoted(labels[at]), nearest: name(now) }));
      return say("nearest_now", first) + others.map((one) => say("another_now", one)).join("");
    }
    const [output, own] = [Engine.row(pass.output, i), pass.tokens[i]];
    const isAtRest = own !== null && Engine.row(model.statics, own).every((x, d) => Math.abs(x - output[d]) < 1e-6);
    if (isAtRest && start()) return start();
    const last = pass.blocks.length - 1;
    const heads = pass.heads.map((head, at) => ({ head, at })).filter(({ head }) => head.step.number === last);
    const now = nearest(model, output);
    if (heads.length === 1 && now.row === own && isNear(now)) {
      return looksAt(state, walked({ ...state, head: heads[0].at, key: null }));
    }
    return nearestSaid(state, i) || moved(state, last, i, quoted(labels[i]));
  }

  /** Tells the result of what the stage shows; nothing while the words are on their way. */
  function tell(line, state) {
    const { actions } = state;
    const moment = () => (state.isWalked ? actions.walked().step : state.time === 0 || state.time === 1 ? state.time : null);
    const seen = () => [state.pass, state.isWalked, moment(), state.head, state.query, state.key, state.keepers];
    const show = State.whenChanged(seen, () => {
      const isOnItsWay = !state.isWalked && moment() === null;
      line.textContent = isOnItsWay ? "" : state.isWalked ? resultOfStep(state, moment()) : resultAtRest(state);
    });
    actions.on("pass", show);
    actions.on("view", show);
    show();
  }

  function create(root, state) {
    const { data, actions } = state;
    const element = (name, text, className = "") => {
      const found = document.createElement(name);
      found.textContent = text;
      if (className) found.className = className;
      return found;
    };

    function show() {
      const head = state.head;
      const { found, i, j } = walked(state);
      const [query, key] = [actions.queriesOf(head)[i], actions.keysOf(head)[j]];
      const parts = [element("h3", `${data.heads[head].title}: how much does ${query} look at ${key}?`)];
      for (const [title, formula, said] of steps(state, head, i, j)) {
        const step = element("div", "", "worked");
        step.append(element("h4", title), element("code", formula));
        if (said) step.append(element("p", said));
        parts.push(step);
      }
      const config = found.step.config;
      if (!found.step.isOfSource && config.attends_to !== "source") {
        const isSeen = Engine.get(found.scores, i, j) !== -Infinity;
        const button = element("button", isSeen ? `Hide ${key} from ${query}` : `Show ${key} to ${query}`);
        button.type = "button";
        button.addEventListener("click", () => actions.toggleMask(i, j));
        parts.push(button);
      }
      const isIn = root.contains(document.activeElement);
      root.replaceChildren(...parts);
      if (isIn && root.querySelector("button")) root.querySelector("button").focus();
    }

    // Worked out only where it is looked at.
    const showIfSeen = () => root.offsetParent !== null && show();
    actions.on("pass", showIfSeen);
    actions.on("view", showIfSeen);
    return { show };
  }

  return { create, tell, written };
})();
