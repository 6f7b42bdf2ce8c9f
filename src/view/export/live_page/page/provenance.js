// What the stage comes to, in one line, and where a weight comes from: the chosen query, key and head, from their vectors to
// what the key adds. Its equations are the program's rules, and its sentences those of the program's explanations, both filled in
// with the page's numbers.
"use strict";

const Provenance = (() => {
  /** Weights that a sentence names. */
  const NAMED = 3;
  const { written } = Rules;

  /** Returns a function that fills the slots of a sentence of the program. */
  const sayings = (data) => (name, parts) => data.explanations[name].replace(/\{(\w+)\}/g, (_, part) => parts[part]);

  const { dot, norm, order } = Engine;
  const quoted = (word) => `“${word}”`;
  const fixed = (x) => x.toFixed(3).replace("-", "−");

  /** A share in per cent; one that is nearly all, or nearly nothing, is not rounded to it. */
  function percent(share) {
    const [rounded, ROUNDING] = [Math.round(share * 100), 1e-5];
    const shown = rounded === 100 && share < 1 - ROUNDING ? ">99" : rounded === 0 && share > ROUNDING ? "<1" : rounded;
    return `${shown}\u00a0%`;
  }

  /** Returns a query and a key in a head, with what is told of them: by default the chosen ones, or the key that weighs most. */
  function place(state, head = state.head) {
    const { data, actions } = state;
    const found = state.pass.heads[head];
    const i = Math.min(state.query, found.weights.rows - 1);
    const [weights, scores] = [found.weights, found.scores].map((matrix) => Array.from(Engine.row(matrix, i)));
    const j = state.key === null ? order(weights)[0] : state.key;
    const [queries, keys] = [actions.queriesOf(head), actions.keysOf(head)].map((all) => all.map(quoted));
    const [say, of] = [sayings(data), Engine.reading(state.pass, head)];
    const entry = (quantity, ...index) => of.entry(quantity, head, index);
    const rule = (quantity, own = head) => data.rules[own][quantity];
    return { state, say, of, entry, rule, head, found, config: found.step.config, i, j, weights, scores, query: queries[i], key: keys[j], keys, title: data.heads[head].title };
  }

  /** Returns the keys with the largest weights, each as `tell` writes it. */
  const strongest = ({ weights, keys }, tell) => order(weights).slice(0, NAMED).map((at) => tell(keys[at], fixed(weights[at])));

  const looksAt = (at) => at.say("looks_at", { query: at.query, strongest: strongest(at, (key, weight) => `${key} ${weight}`).join(", ") });

  /** The sentences that name the divisors of scores, by the settings that they are. */
  const DIVISORS = { keywidth: "by_root", temperature: "by_temperature" };

  /** Says what makes scores of the products, in the order of the rule: a bound holds before the temperature divides. */
  function scaling({ say, config, rule, of }) {
    const divisors = rule("Scale")[1].quotient[1].product.filter((divisor) => !Rules.isNeutral(divisor, {}, of));
    const numberOf = ({ number, apply }) => number || apply[1].number;
    const settingOf = (divisor) => numberOf(divisor).setting;
    const divided = (by) => {
      const names = by.map((divisor) => {
        const value = Rules.plain(Rules.value({ number: numberOf(divisor) }, {}, of));
        return say(DIVISORS[settingOf(divisor)] || "by_own", { width: value, temperature: value, divisor: value });
      });
      const isWide = by.some((divisor) => settingOf(divisor) === "keywidth");
      return by.length === 0 ? [] : [say(isWide ? "divided_as_wide" : "divided", { divisors: names.join(", and by ") })];
    };
    const isHeat = (divisor) => settingOf(divisor) === "temperature";
    const { score_cap: cap } = config;
    const [before, after] = cap == null ? [divisors, []] : [divisors.filter((divisor) => !isHeat(divisor)), divisors.filter(isHeat)];
    const held = cap == null ? [] : [say("held_below", { cap: Rules.plain(cap) })];
    const all = [...divided(before), ...held, ...divided(after)];
    return all.length === 0 ? [say("not_scaled")] : all;
  }

  function distance({ say, found, entry, i, j }) {
    const bias = entry("DistanceBias", i, j);
    const places = Math.abs(j - i);
    const side = `a word ${places === 1 ? "1 position" : `${places} positions`} to the ${j < i ? "left" : "right"}`;
    const at = places === 0 ? "the word itself" : side;
    return say(bias < 0 ? "distance_takes_off" : "distance_adds", { head: `Head ${found.own + 1}`, bias: fixed(Math.abs(bias)), at });
  }

  /** The sentences on each quantity: what happens, its result in one line, which the stage shows too, and what is special. */
  const TOLD = {
    Query: ({ say, config, query, found }) => {
      const width = found.query.cols;
      return { result: config.projections ? say("asks", { query, width }) : say("own_roles", { width }) };
    },
    Product: ({ say, entry, i, j, query, key, keys }) => {
      const products = keys.map((_, at) => entry("Product", i, at));
      const [product, largest] = [fixed(products[j]), order(products)[0]];
      const parts = { query, key, product, largest: fixed(products[largest]), other: keys[largest] };
      return { happens: [say("meets")], result: say(largest === j ? "product_is_largest" : "product_is", parts) };
    },
    Score: (at) => {
      const { say, state, head, found, i, j, query, key, scores } = at;
      if (scores[j] === -Infinity) {
        const why = (Engine.isRemoved(state.changes, head, i, j) ? "removed" : "hidden") + (isOfScores(at) ? "" : "_score");
        return { notes: [say(why, { query, key, mask: found.step.hides(i, j) })] };
      }
      const happens = [...scaling(at), ...(at.config.distances == null ? [] : [distance(at)])];
      return { happens, result: say("comes_to", { query, key, score: fixed(scores[j]) }) };
    },
    Weight: (at) => {
      const { say, entry, state, head, found, i, keys, scores, title } = at;
      const mode = Engine.modeOf(state.changes, head);
      const hasRemoved = keys.some((_, key) => Engine.isRemoved(state.changes, head, i, key));
      const byHand = mode.Frozen ? (hasRemoved ? "frozen_without" : "frozen") : found.isSoftmax ? null : mode.toLowerCase();
      const largest = Math.max(...scores);
      if (byHand) return { result: looksAt(at), notes: [say(byHand, { head: title })], isGiven: true };
      if (largest === -Infinity) return {};
      return { happens: [say("softmax", { largest: fixed(largest), total: fixed(entry("RowSum", i)) })], result: looksAt(at) };
    },
    Mix: (at) => {
      const terms = [...strongest(at, (key, weight) => `${weight} v(${key})`), ...(at.keys.length > NAMED ? ["…"] : [])].join(" + ");
      const { gain } = at.found;
      return { result: at.say("mix_is", { query: at.query, terms: gain === 0 ? "0" : gain === 1 ? terms : `${gain} · (${terms})` }) };
    },
    TermLength: ({ say, found, config, key, title }) => {
      return { happens: found.gain === 0 ? [say("off", { head: title })] : config.output ? [say("adds", { key })] : [] };
    },
    HeadLength: ({ say, rule, of, found, config, i, query }) => {
      const lengths = found.step.heads.map((_, own) => fixed(Rules.value(rule("HeadLength", found.step.firstHead + own)[1], { i }, of)));
      const others = lengths.map((length, h) => say("another_head", { head: h + 1, length })).filter((_, h) => h !== found.own);
      const own = say(config.residual ? "adds_arrow" : "brings_vector", { head: found.own + 1, query, length: lengths[found.own] });
      return { result: own + others.slice(0, NAMED - 1).join("") };
    },
    MoveLength: ({ state, found, i, query }) => {
      const { number } = found.step;
      const end = number === state.pass.blocks.length - 1 ? answerSaid(state, i) || nearestSaid(state, i) : null;
      return { result: end || moved(state, number, i, query) };
    },
  };

  /** Whether the weights of a head are 0 where its scores are −∞. */
  const isOfScores = ({ state, head }) => {
    const mode = Engine.modeOf(state.changes, head);
    return mode !== "Mean" && !mode.Frozen;
  };

  /** The quantities of the card, by the steps of the walk. */
  const CARD = [["Product", 2], ["Score", 3], ["Weight", 4], ["TermLength", 6]];
  /** The quantities whose results the steps of the walk tell. */
  const RESULTS = [null, "Query", "Product", "Score", "Weight", "Mix", "HeadLength", "MoveLength"];

  /** The steps of a weight as `[title, formula, sentence]`: up to the score, where that hides it. */
  function steps(state) {
    const at = place(state);
    const isHidden = at.scores[at.j] === -Infinity && isOfScores(at);
    return CARD.slice(0, isHidden ? 2 : CARD.length).map(([quantity, step]) => {
      const { happens = [], result, notes = [], isGiven } = TOLD[quantity](at);
      const formula = isGiven ? `α = ${written(at.weights[at.j])}` : Rules.equation(at.rule(quantity), { i: at.i, j: at.j }, at.of);
      return [state.steps[step], formula, [...happens, ...(result ? [`${result}.`] : []), ...notes].join(" ")];
    });
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
      return looksAt(place(state, heads[0].at));
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
      const quantity = state.isWalked && RESULTS[moment()];
      line.textContent = isOnItsWay ? "" : state.isWalked ? (quantity && TOLD[quantity](place(state)).result) || "" : resultAtRest(state);
    });
    actions.on("pass", show);
    actions.on("view", show);
    show();
  }

  function create(root, state) {
    const { actions } = state;
    const { element } = Dom;

    function show() {
      const { head, found, i, j, title: ofHead } = place(state);
      const [query, key] = [actions.queriesOf(head)[i], actions.keysOf(head)[j]];
      const parts = [element("h3", `${ofHead}: how much does ${query} look at ${key}?`)];
      for (const [title, formula, said] of steps(state)) {
        const step = element("div", "", "worked");
        step.append(element("h4", title), element("code", formula));
        if (said) step.append(element("p", said));
        parts.push(step);
      }
      const config = found.step.config;
      if (!found.step.isOfSource && config.attends_to !== "source") {
        const isSeen = Engine.get(found.scores, i, j) !== -Infinity;
        parts.push(Dom.button(isSeen ? `Hide ${key} from ${query}` : `Show ${key} to ${query}`, () => actions.toggleMask(i, j)));
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

  return { create, tell };
})();
