// Where a number comes from, and the line of what the stage comes to: the program's rules and sentences, filled in with the page's
// numbers.
"use strict";

const Provenance = (() => {
  const { order, row } = Engine;
  const quoted = (word) => `“${word}”`;

  /** A share in per cent; one that is nearly all, or nearly nothing, is not rounded to it. */
  function percent(share) {
    const [rounded, ROUNDING] = [Math.round(share * 100), 1e-5];
    const shown = rounded === 100 && share < 1 - ROUNDING ? ">99" : rounded === 0 && share > ROUNDING ? "<1" : rounded;
    return `${shown}\u00a0%`;
  }

  function distance({ i, j }) {
    const places = Math.abs(j - i);
    return places === 0 ? "the word itself" : `a word ${places} position${places === 1 ? "" : "s"} to the ${j < i ? "left" : "right"}`;
  }

  /** The word of the vocabulary whose vector has the least angle with another, and the cosine. */
  function nearest({ statics }, vector, except = null) {
    const own = Engine.norm(vector);
    let best = { row: null, cosine: -Infinity };
    for (let word = 0; word < statics.rows; word++) {
      const other = row(statics, word);
      const cosine = Engine.dot(other, vector) / (Engine.norm(other) * own) || 0;
      if (word !== except && cosine > best.cosine) best = { row: word, cosine };
    }
    return best;
  }

  /** Below this cosine the first of the neighbours is no nearer than chance has it. */
  const NEAR = 0.01;

  /** Whether a word is one that the model does not see. */
  const isHidden = (data, word) => word === null || data.hidden.includes(data.vocabulary[word]);

  /** What is known of a word: what it is nearest to, before attention and after it, and the model's answer. */
  function aboutWords(state) {
    const { data, model, pass } = state;
    const found = new Map();
    const near = ({ i }) => {
      const word = pass.tokens[i];
      if (word === null) return null;
      if (!found.has(i)) found.set(i, { before: nearest(model, row(model.statics, word), word), now: nearest(model, row(pass.output, i)) });
      return found.get(i);
    };
    const isNear = (at, moment) => near(at) !== null && near(at)[moment].cosine >= NEAR;
    const name = (at, moment) => quoted(data.vocabulary[near(at)[moment].row]);
    const cosine = (at, moment) => Rules.rounded(near(at)[moment].cosine);
    const answer = ({ i }) => {
      const shares = Array.from(Engine.softmax(row(pass.logits, pass.logits.rows === 1 ? 0 : i)));
      const best = order(shares)[0];
      return state.keepers.length > 0 ? "?" : `${quoted(data.classes[best])} ${percent(shares[best])}`;
    };
    const facts = {
      answers: ({ i }) => data.asked !== null && (data.asked !== "here" || isHidden(data, pass.tokens[i])),
      neighbours: (at) => near(at) !== null,
      nearBefore: (at) => isNear(at, "before"),
      nearNow: (at) => isNear(at, "now"),
      sameNearest: (at) => near(at).before.row === near(at).now.row,
      ownNearest: (at) => isNear(at, "now") && near(at).now.row === pass.tokens[at.i],
    };
    const words = {
      answer,
      word: ({ i }) => quoted(data.vocabulary[pass.tokens[i]]),
      before: (at) => name(at, "before"),
      now: (at) => name(at, "now"),
      cosineBefore: (at) => cosine(at, "before"),
      cosineNow: (at) => cosine(at, "now"),
    };
    return { facts, words };
  }

  /** Returns a head's cards, the chosen query and key, by default the key that weighs most, and what rules are filled in with. */
  function place(state, head = state.head) {
    const { i, j, query, key, queries, keys } = state.actions.chosen(head);
    const [numbers, about] = [Engine.reading(state.pass, head), aboutWords(state)];
    const facts = { ...numbers.facts, ...about.facts };
    const words = { ...numbers.words, ...about.words, query: ({ i }) => quoted(queries[i]), key: ({ j }) => quoted(keys[j]), distance };
    const of = { ...numbers, fact: (name, at) => facts[name](at), word: (name, at) => words[name](at) };
    return { cards: state.data.cardsOfHead(head), at: { i, j }, of, query: quoted(query), key: quoted(key) };
  }

  function result(state, quantity, head) {
    const { cards, at, of } = place(state, head);
    return Rules.spoken(cards[quantity].result, at, of).join("");
  }

  /** The steps of a weight: for each the title, the formula, the formula with its numbers in, and what is said. */
  function steps(state) {
    const { cards, at, of } = place(state);
    return state.data.whole.map(([quantity, step]) => {
      const card = cards[quantity];
      const [happens, results, notes] = [card.happens, card.result, card.notes].map((clauses) => Rules.spoken(clauses, at, of));
      const equation = Rules.equation(card, at, of, () => of.entry(quantity, state.head, [at.i, at.j]));
      const formula = state.data.formulas[Rules.chosen(card.formulas, at, of)];
      const outcome = results.length > 0 ? [`${results.join("")}.`] : [];
      return { title: state.steps[step], formula, equation, said: [...happens, ...outcome, ...notes].join(" ") };
    });
  }

  /** The most occurrences of a word that fit into one line. */
  const OCCURRENCES = 3;

  /** What has become of a word where no step is walked. */
  function resultAtRest(state) {
    const { data, model, pass, query: i } = state;
    const last = pass.heads.findIndex(({ step }) => step.number === pass.blocks.length - 1);
    const { of } = place(state, last);
    const say = (clause, i) => Rules.spoken([clause], { i, j: 0 }, of).join("");
    const { start, first, another, answer } = data.rest;
    if (state.time === 0) return say(start, i);
    const isChosen = i !== state.followed;
    const hidden = pass.tokens.findIndex((word) => isHidden(data, word));
    const asked = data.asked === "here" ? (hidden < 0 ? i : hidden) : pass.tokens.length - 1;
    const told = answer && say(answer, isChosen ? i : asked);
    if (told) return told;
    const alike = pass.tokens.map((_, at) => at).filter((at) => pass.tokens[at] === pass.tokens[i]);
    const isTold = !isChosen && !data.pieces && alike.length <= OCCURRENCES && alike.every((i) => of.fact("nearNow", { i }));
    if (isTold && new Set(alike.map((i) => of.word("now", { i }))).size > 1) {
      return alike.map((at, nth) => say(nth === 0 ? first : another, at)).join("");
    }
    const [output, own] = [row(pass.output, i), pass.tokens[i]];
    const isAtRest = own !== null && row(model.statics, own).every((x, d) => Math.abs(x - output[d]) < 1e-6);
    const looks = () => pass.heads[last].step.heads.length === 1 && of.fact("ownNearest", { i }) && result(state, "Weight", last);
    return (isAtRest && say(start, i)) || looks() || result(state, "MoveLength", last);
  }

  /** Tells the result of what the stage shows; nothing while the words are on their way. */
  function tell(line, state) {
    const { actions, data } = state;
    const quantities = new Map(data.results.map(([quantity, step]) => [step, quantity]));
    const moment = () => (state.isWalked ? actions.walked().step : state.time === 0 || state.time === 1 ? state.time : null);
    const seen = () => [state.pass, state.isWalked, moment(), state.head, state.query, state.key, state.keepers];
    const show = State.whenChanged(seen, () => {
      const quantity = state.isWalked && quantities.get(moment());
      if (state.isWalked) line.textContent = quantity ? result(state, quantity) : "";
      else line.textContent = moment() === null ? "" : resultAtRest(state);
    });
    actions.on("pass", show);
    actions.on("view", show);
    show();
  }

  function create(root, state) {
    const { actions, data } = state;
    const { element } = Dom;

    function show() {
      const { at, of, query, key } = place(state);
      const parts = [element("h3", `${data.heads[state.head].title}: how much does ${query} look at ${key}?`)];
      for (const { title, formula, equation, said } of steps(state)) {
        const [step, symbols] = [element("div", "", "worked"), element("div", "", "formula")];
        symbols.innerHTML = formula;
        step.append(element("h4", title), symbols, element("code", equation));
        if (said) step.append(element("p", said));
        parts.push(step);
      }
      const { step } = state.pass.heads[state.head];
      if (!step.isOfSource && step.config.attends_to !== "source") {
        const label = of.fact("hidden", at) ? `Show ${key} to ${query}` : `Hide ${key} from ${query}`;
        parts.push(Dom.button(label, () => actions.toggleMask(at.i, at.j)));
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
