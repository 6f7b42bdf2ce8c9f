// Starts a page that shows one pass whose numbers are given: a recording, or what a large model computed in attune. It
// computes nothing.
"use strict";

(() => {
  const { $, root } = Frame;
  const WIDTH = 3;
  /** How far a patch of a picture is covered that has no weight. */
  const COVER = 0.9;

  /** The step of a walk, in words. */
  const stepSaid = (step, steps) => (step === 0 ? "what goes in" : step < steps.length - 1 ? "where each token looks" : "what comes out");

  /** Returns a block in the engine's form. */
  function stepOf({ weights, shape, hidden, arrows, ...block }, number, firstHead, points) {
    const [heads, rows, cols] = shape;
    const all = Data.numbers(weights);
    const matrices = Array.from({ length: heads }, (_, h) => ({ rows, cols, data: all.subarray(h * rows * cols, (h + 1) * rows * cols) }));
    const scores = { rows, cols, data: new Float64Array(rows * cols) };
    hidden.forEach(([begin, end]) => scores.data.fill(-Infinity, begin, end));
    const added = arrows && Data.numbers(arrows);
    const arrowsOf = (h) => added && { rows, cols: WIDTH, data: added.subarray(h * rows * WIDTH, (h + 1) * rows * WIDTH) };
    const [input, output] = points;
    return { number, firstHead, input, output, config: block, isOfSource: block.is_of_source, heads: matrices.map((matrix, h) => ({ weights: matrix, scores, arrows: arrowsOf(h) })) };
  }

  /** Returns what draws the weights of the chosen token over the patches: the picture is seen where the token looks. */
  function patchesOf(canvas, state) {
    const { rows, columns, tokens, picture } = state.data.grid;
    const pixels = picture && Uint8ClampedArray.from(atob(picture.pixels), (letter) => letter.charCodeAt(0));
    const context = canvas.getContext("2d");
    canvas.hidden = false;
    [canvas.width, canvas.height] = picture ? [picture.width, pixels.length / 4 / picture.width] : [columns, rows];
    const [width, height] = [canvas.width / columns, canvas.height / rows];
    return () => {
      const { weights, step } = state.pass.heads[state.head];
      const looked = tokens.map((token) => Engine.get(weights, state.query, token));
      const full = Math.max(...looked, Number.MIN_VALUE);
      context.globalAlpha = 1;
      if (picture) context.putImageData(new ImageData(pixels, picture.width), 0, 0);
      looked.forEach((weight, at) => {
        if (picture) context.globalAlpha = COVER * (1 - weight / full);
        context.fillStyle = picture ? Colors.of("raised") : Colors.weight(state.head - step.firstHead, weight / full);
        context.fillRect((at % columns) * width, Math.floor(at / columns) * height, width, height);
      });
    };
  }

  /** Reads the page's data in the form of a live page's, with the tokens as the vocabulary and their points as its vectors. */
  function read(text) {
    const data = JSON.parse(text);
    const count = data.tokens.length;
    const at = (place) => ({ rows: count, cols: WIDTH, data: data.points.length > 0 ? Data.numbers(data.points[place]) : new Float64Array(count * WIDTH) });
    const last = Math.max(data.points.length - 1, 0);
    /** The steps of a layer at which the walk stops: when all weights are drawn, and when the points have arrived. */
    const stops = [data.steps.indexOf("mix"), data.steps.length - 1];
    const source = data.source && data.source.map((_, i) => count + i);
    const given = { tokens: data.tokens.map((_, i) => i), source, input: at(0), output: at(last), blocks: [] };
    let firstHead = 0;
    data.blocks.forEach((block, number) => {
      const own = Math.max(number - data.source_blocks, 0);
      given.blocks.push(stepOf(block, number, firstHead, [at(Math.min(own, last)), at(Math.min(own + 1, last))]));
      firstHead += block.shape[0];
    });
    given.heads = given.blocks.flatMap((step) => step.heads.map((head, own) => ({ ...head, own, step })));
    const vocabulary = [...data.tokens, ...(data.source || [])];
    const places = data.source_points ? [Data.numbers(data.source_points)] : [];
    const statics = { rows: vocabulary.length, cols: WIDTH, data: Float64Array.from([...given.input.data, ...places.flatMap((all) => [...all])]) };
    const model = { width: WIDTH, blocks: data.blocks, source_blocks: data.source_blocks, parameters: {}, statics };
    const axes = { rows: WIDTH, cols: WIDTH, data: Float64Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1]) };
    return {
      ...data,
      given,
      model,
      trained: model,
      vocabulary,
      sentence: given.tokens,
      group_of: vocabulary.map(() => null),
      pieces: true,
      rewriter: source,
      keepers: [],
      cells: [],
      changes: {},
      radius: 1,
      projection: { ...data.projection, mean: new Float64Array(WIDTH), axes },
      stops: [0, ...data.blocks.flatMap((_, block) => stops.map((step) => block * data.steps.length + step))],
      segmentsOf: () => null,
    };
  }

  /** Shows the moment that the page's address names, `#walk=13&word=4&head=2&key=1&theme=dark`, all counted from 0. */
  function fromAddress(state, theme, open) {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (name, most) => {
      const found = Number(asked.get(name));
      return asked.has(name) && Number.isInteger(found) && found >= 0 && found <= most ? found : null;
    };
    const [head, word] = [number("head", state.data.heads.length - 1), number("word", state.labels.length - 1)];
    if (head !== null) state.actions.look({ head });
    if (word !== null) state.actions.look({ query: word });
    const key = number("key", state.actions.keysOf(state.head).length - 1);
    if (key !== null) state.actions.look({ key });
    const walk = number("walk", state.actions.end);
    if (walk !== null) state.actions.walkTo(walk);
    if (["dark", "light"].includes(asked.get("theme"))) theme.choose(asked.get("theme"));
    if (["maps", "attention"].includes(asked.get("tab"))) open(asked.get("tab"));
  }

  /** Returns the address of what is shown, for a link. */
  function addressOf({ query, head, key, isWalked, place }) {
    const parts = { ...(isWalked ? { walk: Math.round(place) } : {}), word: query, head, ...(key === null ? {} : { key }) };
    return "#" + new URLSearchParams(parts);
  }

  function begin() {
    const data = read($("attune-data").textContent);
    root.classList.add("given");
    const hasPoints = data.points.length > 0;
    document.querySelectorAll("#lab .of-points").forEach((part) => (part.hidden = !hasPoints));
    const { state, stage, theme, redraws, say } = Frame.begin(data, hasPoints);
    const { actions } = state;
    const maps = Maps.create($("panel-maps"), state);
    const attention = Attention.create($("panel-attention"), state);
    if (stage) Frame.timeline(state, stage, stepSaid);
    const open = Frame.tabs(() => $("panel-attention").hidden || attention.build());
    const drawPatches = data.grid ? patchesOf($("lab-patches"), state) : () => {};
    redraws.push(maps.redraw, attention.build, drawPatches);
    const tell = () => {
      const { query, key, weight } = actions.chosen();
      const most = state.key === null ? " most" : "";
      const told = Number.isFinite(weight) ? weight.toFixed(3) : "which could not be read";
      $("lab-result").textContent = `${data.heads[state.head].title}: ${query} looks${most} at ${key}, ${told}`;
      say($("lab-result").textContent);
      $("lab-link").href = addressOf(state);
      const head = state.pass.heads[state.head];
      const answers = (!head.step.isOfSource && data.answers[Math.min(state.query, data.answers.length - 1)]) || [];
      $("lab-answers").hidden = answers.length === 0;
      $("lab-answers").textContent = `Answers: ${answers.map(([name, share]) => `“${name}” ${Math.round(100 * share)} %`).join(", ")}`;
      drawPatches();
    };
    actions.on("view", State.whenChanged(() => [state.query, state.head, state.key, state.isWalked, Math.round(state.place)], tell));
    tell();
    fromAddress(state, theme, open);
  }

  begin();
})();
