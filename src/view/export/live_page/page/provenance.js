// Where a weight comes from: the chosen query, key and head, from their vectors to what the key adds. Its sentences are those
// of the program's own explanations, filled in with the page's numbers.
"use strict";

const Provenance = (() => {
  /** Products of a dot product that are written out, and weights that a sentence names. */
  const TERMS_MAX = 4;
  const NAMED = 3;

  const written = (x) => {
    if (x === -Infinity) return "−∞";
    const size = Math.abs(x);
    const text = size !== 0 && (size < 0.001 || size >= 1e5) ? x.toExponential(2) : x.toFixed(size < 10 ? 3 : 2);
    return text.replace("-", "−");
  };

  /** The steps of a weight as `[title, formula, sentence]`. */
  function steps(state, head, i, j) {
    const { actions, data } = state;
    const found = state.pass.heads[head];
    const { config } = found.step;
    const [SCORES, SCALE, SOFTMAX, , OUTPUT] = State.STEPS.slice(2);
    const say = (name, parts) => data.explanations[name].replace(/\{(\w+)\}/g, (_, part) => parts[part]);
    const [query, keys] = [`“${actions.queriesOf(head)[i]}”`, actions.keysOf(head).map((word) => `“${word}”`)];
    const [key, title] = [keys[j], data.heads[head].title];
    const [scores, weights] = [found.scores, found.weights].map((matrix) => Array.from(Engine.row(matrix, i)));
    const [q, k] = [Engine.row(found.query, i), Engine.row(found.key, j)];
    const product = Engine.dot(q, k);
    const terms = Array.from(q, (x, d) => ({ x, y: k[d] })).sort((a, b) => Math.abs(b.x * b.y) - Math.abs(a.x * a.y));
    const first = terms.slice(0, TERMS_MAX).map(({ x, y }) => `${written(x)} · ${y < 0 ? `(${written(y)})` : written(y)}`).join(" + ").replace(/\+ −/g, "− ");
    const more = terms.length > TERMS_MAX ? ` + … (${terms.length} products, the largest first)` : "";
    const all = [[SCORES, `q · k = ${first}${more} = ${written(product)}`, say("meets")]];
    if (scores[j] === -Infinity) {
      const why = Engine.isRemoved(state.changes, head, i, j) ? "removed" : "hidden";
      return [...all, [SCALE, "s = −∞", say(why, { query, key, mask: "the mask" })]];
    }

    const divisor = found.divisor * found.temperature;
    const divisors = [
      config.scaled && ["by_root", { width: config.d_k }],
      config.score_divisor && ["by_own", { divisor: config.score_divisor }],
      found.temperature !== 1 && ["by_temperature", { temperature: written(found.temperature) }],
    ].filter(Boolean);
    const divided = config.scaled ? "divided_as_wide" : "divided";
    const sentences = [
      divisors.length === 0
        ? say("not_scaled")
        : say(divided, { divisors: divisors.map(([name, parts]) => say(name, parts)).join(", and by ") }),
    ];
    let distance = "";
    if (config.distances != null) {
      const near = scores[j] - product / divisor;
      const bias = written(Math.abs(near));
      distance = ` ${near < 0 ? "−" : "+"} ${bias}`;
      const places = Math.abs(j - i);
      const side = `a word ${places === 1 ? "1 position" : `${places} positions`} to the ${j < i ? "left" : "right"}`;
      const at = places === 0 ? "the word itself" : side;
      sentences.push(say(near < 0 ? "distance_takes_off" : "distance_adds", { head: title, bias, at }));
    }
    sentences.push(`${say("comes_to", { query, key, score: written(scores[j]) })}.`);
    const scaled = `${written(product)} / ${written(divisor)}${distance}`;
    all.push([SCALE, `s = ${scaled} = ${written(scores[j])}`, sentences.join(" ")]);

    const mode = Engine.modeOf(state.changes, head);
    const byHand = mode.Frozen ? "frozen" : found.isSoftmax ? null : mode.toLowerCase();
    if (byHand) {
      all.push([SOFTMAX, `α = ${written(weights[j])}`, say(byHand, { head: title })]);
    } else {
      const largest = Math.max(...scores);
      const powers = scores.map((s) => Math.exp(s - largest));
      const total = powers.reduce((a, b) => a + b, 0);
      const order = weights.map((_, at) => at).sort((a, b) => weights[b] - weights[a]);
      const strongest = order.slice(0, NAMED).map((at) => `${keys[at]} ${written(weights[at])}`).join(", ");
      const formula = `α = e^(s − max) / Σ = ${written(powers[j])} / ${written(total)} = ${written(weights[j])}`;
      const said = `${say("softmax", { largest: written(largest), total: written(total) })} ${say("looks_at", { query, strongest })}.`;
      all.push([SOFTMAX, formula, said]);
    }

    const added = Engine.contribution(found, i, j);
    const length = Math.sqrt(Engine.dot(added, added));
    const why = found.gain === 0 ? say("off", { head: title }) : say("adds", { key });
    all.push([OUTPUT, `‖α · v W_O‖ = ${written(length)}`, why]);
    return all;
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
      const found = state.pass.heads[head];
      const i = Math.min(state.query, found.weights.rows - 1);
      const weights = Engine.row(found.weights, i);
      const j = state.key === null ? weights.reduce((best, x, at) => (x > weights[best] ? at : best), 0) : state.key;
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

  return { create, written };
})();
