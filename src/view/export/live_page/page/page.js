// Starts the page: reads its data, creates the state, and passes it to the parts that draw.
"use strict";

(() => {
  const { $ } = Frame;

  /** The number of likelihoods that are listed. */
  const ANSWERS = 5;

  function answers(state) {
    const panel = $("panel-answers");
    const show = () => {
      if (panel.hidden) return;
      const { logits } = state.pass;
      const body = Dom.element("table", "", "answers");
      for (let i = 0; i < logits.rows; i++) {
        const shares = Engine.softmax(Engine.row(logits, i));
        const best = shares.map((share, c) => ({ share, name: state.data.classes[c] })).sort((a, b) => b.share - a.share);
        const row = body.insertRow();
        row.append(Dom.heading("row", logits.rows === 1 ? "the sentence" : state.labels[i]));
        best.slice(0, ANSWERS).forEach(({ share, name: word }) => {
          const cell = row.insertCell();
          cell.textContent = `${word} ${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
          cell.style.setProperty("--share", `${share * 100}%`);
        });
      }
      const about = "The model's answers at each position, with the likeliest first. The percentages are the softmax of the logits.";
      panel.replaceChildren(Dom.element("p", about, "said"), body);
    };
    state.actions.on("pass", show);
    return show;
  }

  /** Creates the controls of the pass: sentence, temperature, mask, scaling. */
  function change(state, say) {
    const { data, actions } = state;
    const [sentences, text, wrong] = [$("lab-sentences"), $("lab-text"), $("lab-wrong")];
    const rowsOf = (words) => data.rowsOf(words.join(" "));
    data.sentences.forEach((words, index) => sentences.add(new Option(words.join(" "), index)));
    sentences.add(new Option("your own", "own"));
    $("lab-words").append(...(data.pieces ? [] : data.vocabulary).map((value) => Object.assign(Dom.element("option"), { value })));
    sentences.addEventListener("change", () => {
      if (sentences.value === "own") return;
      state.isOwn = true;
      actions.show(rowsOf(data.sentences[Number(sentences.value)]));
    });
    const own = (written) => {
      const read = Sentence.read(written, data);
      wrong.textContent = read.wrong || "";
      if (!read.words) return false;
      actions.show(read.words);
      state.isOwn = true;
      say(`The stage shows: ${state.labels.join(" ")}.`);
      return true;
    };
    $("lab-own").addEventListener("submit", (event) => {
      event.preventDefault();
      own(text.value);
    });
    const [least, most] = data.temperature_range.map(Math.log10);
    const temperature = $("lab-temperature");
    [temperature.min, temperature.max] = [least, most];
    const first = data.model.blocks[data.model.source_blocks];
    const lessons = first.temperature;
    temperature.addEventListener("input", () => {
      const value = Number(Math.pow(10, Number(temperature.value)).toPrecision(3));
      actions.change({ temperature: value === lessons ? null : value });
    });
    $("lab-mask").addEventListener("change", ({ target }) => actions.change({ mask: target.value === "own" ? null : target.value }));
    $("lab-scale").addEventListener("change", ({ target }) => actions.change({ scale: target.checked === first.scaled ? null : target.checked }));
    $("lab-reset").addEventListener("click", () => {
      actions.reset();
      say("Everything is reset to the lesson's values.");
    });
    const show = () => {
      const { changes } = state;
      const value = changes.temperature === null ? lessons : changes.temperature;
      temperature.value = Math.log10(value);
      $("lab-temperature-said").textContent = Rules.written(value);
      $("lab-mask").value = changes.mask === null ? "own" : Array.isArray(changes.mask) ? "" : changes.mask;
      $("lab-scale").checked = changes.scale === null ? first.scaled : changes.scale;
      $("lab-reset").disabled = !state.isChanged;
      const index = data.sentences.findIndex((words) => rowsOf(words).join() === state.words.join());
      sentences.value = index < 0 ? "own" : index;
    };
    actions.on("pass", show);
    show();
    return own;
  }

  /** Shows all numbers as text, which is made on request. */
  function numbers(state, stage) {
    const details = $("lab-numbers");
    const fill = () => {
      const { changes, labels, sourceLabels, pass, model } = state;
      const all = { tokens: labels, source: sourceLabels, changes, canvas: stage.measured(), tensors: Engine.tensors(model, pass, !state.data.pieces) };
      details.querySelector("pre").textContent = JSON.stringify(all, (_, x) => (x === -Infinity ? null : x));
    };
    details.addEventListener("toggle", () => details.open && fill());
    state.actions.on("pass", () => details.open && fill());
    return () => {
      details.open = true;
      fill();
    };
  }

  /** The largest number of characters of an address that are read, enough for thousands of weights. More would take seconds. */
  const ADDRESS_MAX = 2 ** 19;

  /**
   * Reads a state from the page's address, so that links can lead to it:
   * `#sentence=an+apple&temperature=0.5&off=1,2&mask=causal&W_Q[0,3]=1.5&time=0&theme=dark&tab=weights&numbers`
   */
  function fromAddress(state, parts) {
    const { actions, data } = state;
    const [least, most] = data.temperature_range;
    const isTooLong = location.hash.length > ADDRESS_MAX;
    const given = new URLSearchParams(isTooLong ? "" : location.hash.slice(1));
    // An address may have thousands of parts. All are read, the last of each kind counts, and the model runs only once.
    const [changes, entries, off] = [{}, [], new Set()];
    let [view, theme, tab] = [null, null, null];
    for (const [name, value] of given) {
      const weight = /^(.+)\[(\d+),\s*(\d+)\]$/.exec(name);
      if (name === "temperature" && Number(value) > 0) changes.temperature = Math.min(Math.max(Number(value), least), most);
      if (name === "mask" && ["none", "causal"].includes(value)) changes.mask = value;
      if (name === "scale") changes.scale = value !== "0";
      if (name === "off") value.split(",").map(Number).filter((head) => head in data.heads).forEach((head) => off.add(head));
      if (name === "time" && Number(value) >= 0 && Number(value) <= 1) view = () => actions.look({ isWalked: false, time: Number(value) });
      if (name === "walk" && Number(value) >= 0) view = () => actions.walkTo(Number(value));
      if (name === "theme" && ["dark", "light"].includes(value)) theme = value;
      if (name === "tab" && $(`tab-${value}`) && !$(`tab-${value}`).hidden) tab = value;
      if (weight) {
        const [, code, row, col] = weight;
        const found = data.parameters.find((tensor) => tensor.code === code);
        if (found && row < found.shape[0] && col < found.shape[1] && Number.isFinite(Number(value))) {
          entries.push({ symbol: found.symbol, row: Number(row), col: Number(col), value: Math.fround(Number(value)) });
        }
      }
    }
    if (given.has("sentence")) parts.own(given.getAll("sentence").pop());
    if (off.size > 0) changes.heads = actions.modes(off, false);
    const isChanged = Object.keys(changes).length + entries.length > 0;
    const isTooLarge = isChanged && !actions.change(changes, entries);
    const wrong = isTooLarge ? "This link has numbers too large to compute with; the model is unchanged." : isTooLong ? "This link is too long to be read; the model is unchanged." : "";
    if (view) view();
    if (theme) parts.theme.choose(theme);
    if (tab) parts.open(tab);
    if (given.has("numbers")) parts.numbers();
    return { given, wrong };
  }

  /** Shows the step to which a link leads, on the sentence of its cell, which then stays until the reader asks for another. */
  function showStep({ step, head, section }, cells, state) {
    const { data, actions } = state;
    if (cells.begins) cells.showSentence(cells.begins.cell);
    if (data.heads[head]) actions.look({ head });
    actions.walkTo(data.heads[state.head].block * state.steps.length + Math.min(step, state.last));
    state.isOwn = true;
    section?.scrollIntoView();
  }

  function begin() {
    const { state, stage, theme, redraws, say } = Frame.begin(Data.read($("attune-data").textContent), true);
    const attention = Attention.create($("panel-attention"), state);
    const provenance = Provenance.create($("panel-number"), state);
    Provenance.tell($("lab-result"), state);
    const weights = Weights.create($("panel-weights"), state);
    $("tab-weights").hidden = state.data.parameters.length === 0;
    const showAnswers = answers(state);
    Frame.timeline(state, stage);
    const ribbons = Ribbons.create($("lab-ribbons"), state);
    const own = change(state, say);
    const showNumbers = numbers(state, stage);
    const cells = Cells.create(state, stage, say);
    Prose.create(document.querySelector("main"), state);
    const shows = { "panel-attention": attention.build, "panel-number": provenance.show, "panel-weights": weights.show, "panel-answers": showAnswers };
    const open = Frame.tabs(() => Object.keys(shows).forEach((id) => $(id).hidden || shows[id]()));
    redraws.push(attention.build, weights.show, ribbons.redraw);
    /** The last announcement about the chosen word, for screen readers. */
    let told = "";
    state.actions.on("view", () => {
      const { query, keys, strongest } = state.actions.chosen();
      const text = `${query} looks most at ${keys[strongest]} in ${state.data.heads[state.head].title}.`;
      if (text !== told) say((told = text));
    });
    const { given, wrong } = fromAddress(state, { own, theme, open, numbers: showNumbers });
    const isElsewhere = ["time", "walk", "sentence", "numbers"].some((name) => given.has(name));
    // A page that was exported with another sentence or a changed model starts with that.
    const first = cells.begins;
    if (Frame.linked) showStep(Frame.linked, cells, state);
    else if (first && !isElsewhere && !state.isChanged && cells.isShown(first.cell)) cells.showStage(first.cell);
    else state.isOwn = true;
    if (wrong) say(wrong);
  }

  begin();
})();
