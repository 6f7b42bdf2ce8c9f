// Where a weight comes from, in words: the chosen query, key and head, worked from their vectors to what the key adds.
"use strict";

const Provenance = (() => {
  /** Products of a dot product that are written out. */
  const TERMS_MAX = 4;

  const written = (x) => {
    if (x === -Infinity) return "−∞";
    const size = Math.abs(x);
    const text = size !== 0 && (size < 0.001 || size >= 1e5) ? x.toExponential(2) : x.toFixed(size < 10 ? 3 : 2);
    return text.replace("-", "−");
  };

  /** The steps of a weight as `[title, formula, sentence]`. */
  function steps(state, head, i, j) {
    const { actions } = state;
    const found = state.pass.heads[head];
    const { config } = found.step;
    const [query, key] = [actions.queriesOf(head)[i], actions.keysOf(head)[j]];
    const [q, k] = [Engine.row(found.query, i), Engine.row(found.key, j)];
    const product = Engine.dot(q, k);
    const score = Engine.get(found.scores, i, j);
    const scores = Engine.row(found.scores, i);
    const weight = Engine.get(found.weights, i, j);
    const all = [];
    const terms = Array.from(q, (x, d) => ({ d, x, y: k[d] })).sort((a, b) => Math.abs(b.x * b.y) - Math.abs(a.x * a.y));
    const first = terms.slice(0, TERMS_MAX).map(({ x, y }) => `${written(x)} · ${y < 0 ? `(${written(y)})` : written(y)}`).join(" + ").replace(/\+ −/g, "− ");
    const more = terms.length > TERMS_MAX ? ` + … (${terms.length} products, the largest first)` : "";
    all.push([`The query of ${query} meets the key of ${key}`, `q · k = ${first}${more} = ${written(product)}`]);
    if (score === -Infinity) {
      if (Engine.isRemoved(state.changes, head, i, j)) {
        all.push(["This edge is removed", "s = −∞", `${query} does not look at ${key} in this head, so the weight is exactly 0.`]);
        return all;
      }
      all.push(["The mask hides the key", "s = −∞", `${query} does not see ${key}, so the weight is exactly 0.`]);
      return all;
    }
    const root = config.scaled ? `√${config.d_k}` : "";
    const temperature = found.temperature === 1 && root ? "" : written(found.temperature);
    const own = config.score_divisor ? written(config.score_divisor) : "";
    const divisor = [root, own, temperature].filter(Boolean).join(" · ");
    const near = score - product / (found.divisor * found.temperature);
    const distance = config.distances == null ? "" : near < 0 ? ` − ${written(-near)}` : ` + ${written(near)}`;
    all.push([
      config.distances != null ? "Scaled, and distance adds its share" : "Scaled",
      `s = q·k / (${divisor})${distance} = ${written(product)} / ${written(found.divisor * found.temperature)}${distance} = ${written(score)}`,
      [root && `√d_k is the root of the width of a key, ${config.d_k}.`, own && `The model divides the scores of this layer by ${own}.`, `The temperature is ${written(found.temperature)}.`].filter(Boolean).join(" "),
    ]);
    const highest = Math.max(...scores);
    const powers = Array.from(scores, (s) => Math.exp(s - highest));
    const total = powers.reduce((a, b) => a + b, 0);
    if (!found.isSoftmax) {
      all.push(["The weight is set by hand", `α = ${written(weight)}`, "Scores do not count in this head."]);
    } else {
      all.push([
        "Softmax over the row",
        `α = e^(s − max) / Σ = ${written(powers[j])} / ${written(total)} = ${written(weight)}`,
        `The largest score of ${query} is ${written(highest)}. Its weights sum to 1.`,
      ]);
    }
    const added = Engine.contribution(found, i, j);
    const length = Math.sqrt(Engine.dot(added, added));
    const off = found.gain === 0 ? " The head is off, so it adds nothing." : "";
    all.push([
      `What ${key} adds to ${query}`,
      `‖α · v W_O‖ = ${written(length)}`,
      `The value of ${key}, through this head's rows of W_O, times the weight: an arrow of this length in ${added.length} dimensions.${off}`,
    ]);
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

  return { create, steps, written };
})();
