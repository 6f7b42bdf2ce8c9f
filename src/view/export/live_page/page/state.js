// The state of the page: the reader's choices, and the forward pass that results from them.
//
// Parts that draw subscribe to "pass", sent when numbers have changed, or to "view", sent when only the view has
// changed.
"use strict";

const State = (() => {
  /** Returns a listener that runs only if these values have changed, because the view changes with every frame of the time line. */
  function whenChanged(values, listener) {
    let before = [];
    return () => {
      const now = values();
      if (now.every((value, i) => value === before[i])) return;
      before = now;
      listener();
    };
  }

  const nothing = () => ({ temperature: null, scale: null, mask: null, heads: null, edges: null, patch: null });

  /** Returns labels of words; one that occurs twice is numbered: apple₁, apple₂. */
  function labels(texts) {
    const subscript = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
    return texts.map((text, i) => {
      if (texts.indexOf(text) === texts.lastIndexOf(text)) return text;
      return text + subscript(texts.slice(0, i + 1).filter((other) => other === text).length);
    });
  }

  function create(data) {
    const { model, trained, steps } = data;
    const last = steps.length - 1;
    const listeners = { pass: [], view: [] };
    const state = {
      data,
      model,
      /** The names of the steps of the walk through a layer, and the last step. */
      steps,
      last,
      words: data.sentence,
      changes: { ...nothing(), ...data.changes },
      /** Whether the points walk through the steps instead of moving directly from static to contextual. */
      isWalked: false,
      time: 1,
      place: 0,
      query: 0,
      /** The query that is used while the reader has not chosen one. */
      followed: 0,
      key: null,
      head: 0,
      /** Whether the sentence is the reader's choice instead of the visible cell's. */
      isOwn: false,
      /** The words that the shown cell highlights; empty for all words. */
      lit: [],
      /** The pairs of words between which the cell draws lines. */
      lines: [],
      /** The goals: pairs of a word of the sentence and the word whose vector it should reach. */
      goals: [],
      /** The sections of predictions that keep results hidden until they are answered. */
      keepers: data.keepers,
      /** `{ side, position }` of a hovered token, or `{ word }` of the vocabulary. */
      hovered: null,
      pass: null,
      trainedPass: null,
    };

    const tell = (what) => listeners[what].forEach((listener) => listener(state));

    const isChanged = () =>
      Object.keys(model.parameters).some((symbol) => model.parameters[symbol] !== trained.parameters[symbol]) ||
      Object.values(state.changes).some((change) => change !== null);

    const segments = () => data.segmentsOf(state.words);
    const forward = () => data.given || Engine.forward(model, state.words, state.changes, segments());

    /** Makes a pass of the model the current one. A chosen word or head that no longer exists is dropped. */
    function run(pass = forward()) {
      state.pass = pass;
      state.isChanged = isChanged();
      state.trainedPass = state.isChanged ? Engine.forward(trained, state.words, {}, segments()) : state.pass;
      const text = (word) => (word === null ? "[start]" : data.vocabulary[word]);
      state.labels = labels(state.pass.tokens.map(text));
      state.sourceLabels = state.pass.source ? labels(state.pass.source.map(text)) : [];
      state.query = Math.min(state.query, state.labels.length - 1);
      if (state.key !== null && state.key >= keysOf(state.head).length) state.key = null;
      tell("pass");
    }

    /** Returns the labels of the words that are queries in a head. */
    const queriesOf = (head) => (state.pass.heads[head].step.isOfSource ? state.sourceLabels : state.labels);
    /** Returns the labels of the words that are keys in a head. */
    const keysOf = (head) => {
      const { step } = state.pass.heads[head];
      return step.isOfSource || step.config.attends_to === "source" ? state.sourceLabels : state.labels;
    };

    /** Returns the highlighted words of the first stage cell with this sentence, or else of the first one with any. */
    function spokenOf() {
      const cells = data.cells.filter(({ kind, words }) => kind === "stage" && words.length > 0);
      const isOfThis = ({ sentence }) => data.rowsOf(data.sentences[sentence].join(" ")).join() === state.words.join();
      return (cells.find(isOfThis) || cells[0] || { words: [] }).words;
    }

    /**
     * Chooses as query the first word that the cell highlights or the lesson names; of several occurrences, the one
     * that moves furthest.
     */
    function chooseQuery() {
      const all = state.pass.tokens.map((_, i) => i);
      const places = (text) => all.filter((i) => data.vocabulary[state.pass.tokens[i]] === text);
      const among = [...state.lit, ...spokenOf()].map(places).find((found) => found.length > 0) || all;
      const length = (i) => {
        const [from, to] = [Engine.row(state.pass.input, i), Engine.row(state.pass.output, i)];
        return from.reduce((total, x, d) => total + (to[d] - x) ** 2, 0);
      };
      // If a word is listed n times, its nth occurrence is meant.
      const count = state.lit.filter((text) => text === data.vocabulary[state.pass.tokens[among[0]]]).length;
      const furthest = () => among.reduce((best, i) => (length(i) > length(best) ? i : best), among[0]);
      state.query = count > 1 ? (among[count - 1] ?? among[0]) : furthest();
      state.followed = state.query;
      state.key = null;
    }

    const actions = {
      on(what, listener) {
        listeners[what].push(listener);
      },
      queriesOf,
      keysOf,
      get end() {
        return (model.blocks.length - 1) * steps.length + last;
      },
      /** Shows a sentence. Frozen weights, exchanged heads, a drawn mask, removed edges and a patch belonged to the previous one and are dropped. */
      show(words, { words: lit = [], lines = [], goals = [] } = {}) {
        const { heads, mask } = state.changes;
        const isOther = words !== state.words;
        Object.assign(state, { words, lit, lines, goals });
        if (heads && isOther) state.changes.heads = heads.map((mode) => (mode.Frozen || mode.Second ? "Live" : mode));
        if (isOther) Object.assign(state.changes, { edges: null, patch: null });
        if (Array.isArray(mask) && isOther) state.changes.mask = null;
        if (isOther || !state.pass) state.pass = forward();
        chooseQuery();
        run(state.pass);
      },
      /**
       * Changes the pass, and with it entries `{ symbol, row, col, value }` of the weights. If the model's numbers
       * would not be finite, it changes nothing and returns false.
       */
      change(changes, entries = []) {
        const before = [{ ...state.changes }, { ...model.parameters }];
        Object.assign(state.changes, changes);
        const symbols = new Set(entries.map(({ symbol }) => symbol));
        symbols.forEach((symbol) => {
          const from = model.parameters[symbol];
          model.parameters[symbol] = { ...from, data: from.data.slice() };
        });
        entries.forEach(({ symbol, row, col, value }) => {
          const { cols, data: numbers } = model.parameters[symbol];
          numbers[row * cols + col] = value;
        });
        // A tensor that was not changed is the trained one itself.
        symbols.forEach((symbol) => {
          const own = trained.parameters[symbol];
          if (model.parameters[symbol].data.every((x, i) => x === own.data[i])) model.parameters[symbol] = own;
        });
        const pass = forward();
        const numbers = [entries.map(({ value }) => value), pass.output.data, pass.logits.data];
        const isFinite = numbers.every((all) => all.every((x) => Number.isFinite(x)));
        if (isFinite) run(pass);
        else [state.changes, model.parameters].forEach((now, i) => Object.assign(now, before[i]));
        return isFinite;
      },
      /** Returns the modes of all heads with the chosen ones switched on or off; null if every head is live. */
      modes(chosen, isOn) {
        const heads = state.changes.heads || data.heads.map(() => "Live");
        const now = heads.map((mode, h) => (chosen.has(h) ? (isOn ? "Live" : "Off") : mode));
        return now.every((mode) => mode === "Live") ? null : now;
      },
      setHead: (head, isOn) => actions.change({ heads: actions.modes(new Set([head]), isOn) }),
      isOn: (head) => Engine.gainOf(Engine.modeOf(state.changes, head)) !== 0,
      /** Hides a key from a query, or shows it again. */
      toggleMask(query, key) {
        const before = (i, j) => Engine.seesIn(model, Engine.firstOf(model), false, state.changes, i, j);
        const all = state.labels.map((_, i) => i);
        const turned = (i, j) => (i === query && j === key) !== before(i, j);
        const table = all.map((i) => all.map((j) => turned(i, j)));
        actions.change({ mask: Object.assign(table, { base: Engine.baseOf(state.changes.mask) }) });
      },
      setWeight: (symbol, row, col, value) => actions.change({}, [{ symbol, row, col, value: Math.fround(value) }]),
      reset() {
        Object.assign(model.parameters, trained.parameters);
        state.changes = nothing();
        run();
      },
      look(view) {
        Object.assign(state, view);
        tell("view");
      },
      walkTo(place) {
        actions.look({ isWalked: true, place: Math.min(Math.max(place, 0), actions.end) });
      },
      /** Returns the next place at which the walk stops, and the one before. */
      stopAfter: (place) => (data.stops ? (data.stops.find((stop) => stop > place) ?? actions.end) : Math.floor(place) + 1),
      stopBefore: (place) => (data.stops ? (data.stops.findLast((stop) => stop < place) ?? 0) : Math.ceil(place) - 1),
      /**
       * Returns the chosen query and key of a head with their labels, by default the key that weighs most. A weight that could
       * not be read is not a number.
       */
      chosen(head = state.head) {
        const { weights } = state.pass.heads[head];
        const [queries, keys] = [queriesOf(head), keysOf(head)];
        const i = Math.min(state.query, weights.rows - 1);
        const row = Engine.row(weights, i);
        const strongest = row.reduce((best, weight, at) => (Number.isFinite(weight) && !(weight <= row[best]) ? at : best), 0);
        const j = state.key !== null && state.key < keys.length ? state.key : strongest;
        return { i, j, strongest, queries, keys, query: queries[i], key: keys[j], weight: row[j] };
      },
      /** Returns the layer and the step that the walk is at or moving to, and the share of the step that is shown. */
      walked() {
        const layer = Math.min(Math.floor(Math.ceil(state.place) / steps.length), model.blocks.length - 1);
        const at = state.place - layer * steps.length;
        const step = Math.ceil(at);
        return { layer, step, grown: at - step + 1 };
      },
      /** Returns the place on the time line, in either mode. */
      placeNow() {
        if (state.isWalked) return state.place;
        return state.time === 0 ? 0 : actions.end - 1 + state.time;
      },
    };
    const first = data.cells.find((cell) => cell.kind === "stage");
    actions.show(state.words, first);
    return Object.assign(state, { actions });
  }

  return { create, whenChanged };
})();
