// The interactive cells of the page: stage cells, sliders and predictions.
"use strict";

const Cells = (() => {
  const { element, button } = Dom;

  const wordsOf = (cell, { data }) => data.rowsOf(data.sentences[cell.sentence].join(" "));
  const isShown = (cell, state) => wordsOf(cell, state).join() === state.words.join();

  /** Shows a stage cell's sentence. */
  function showSentence(cell, state) {
    const words = wordsOf(cell, state);
    const isSame = isShown(cell, state);
    state.isOwn = false;
    state.actions.look({ lit: cell.words });
    state.actions.show(isSame ? state.words : words, cell);
  }

  /** Shows a stage cell's sentence, and plays its movement once. */
  function showStage(cell, state, stage) {
    const { actions } = state;
    showSentence(cell, state);
    if (cell.plays > 0) actions.look({ isWalked: false, time: 0 });
    stage.glideToTime(cell.time, cell.plays > 0 ? 2 : undefined);
  }

  function stageCell(cell, section, state, stage, say) {
    const shows = () => {
      showStage(cell, state, stage);
      say(`The stage shows: ${state.labels.join(" ")}.`);
    };
    const caption = element("p", cell.caption, "stage-caption");
    const box = element("div", "", "on-stage");
    box.append(element("span", state.data.sentences[cell.sentence].join(" "), "on-stage-words"), caption, button("Show on the stage", shows, "show-stage"));
    section.append(box);
  }

  /** Makes the stage follow the reader: it shows the last stage cell that has passed the middle of the window. */
  function follow(cells, state, stage) {
    if (!("IntersectionObserver" in window)) return;
    let shown = cells[0];
    const seen = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          const found = cells.find(({ section }) => section === target);
          // The reader's own sentence stays until the reader asks for another.
          if (!isIntersecting || found === shown || state.isOwn) continue;
          shown = found;
          showStage(found.cell, state, stage);
        }
      },
      { rootMargin: "-35% 0px -45% 0px" },
    );
    cells.forEach(({ section }) => seen.observe(section));
  }

  const ofMask = (mask) => (mask === "causal" ? 1 : 0);

  function sliderCell(cell, section, state, stage) {
    const { data, actions } = state;
    const { bind } = cell;
    const still = section.querySelector(".slider");
    if (!still) return;
    if (bind.to === "variable") {
      still.append(element("small", "It sets a variable of the code below, which runs in attune itself.", "aside"));
      return;
    }
    const own = data.model.blocks[data.model.source_blocks];
    const [least, most] = bind.to === "mask" ? [0, 1] : cell.range;
    const tensor = () => data.model.parameters[bind.symbol];
    const bound = {
      temperature: [() => (state.changes.temperature === null ? own.temperature : state.changes.temperature), (x) => actions.change({ temperature: x })],
      time: [() => state.time, (x) => actions.look({ isWalked: false, time: x })],
      mask: [() => (Array.isArray(state.changes.mask) ? 0 : ofMask(state.changes.mask || own.mask)), (x) => actions.change({ mask: x ? "causal" : "none" })],
      weight: [() => Engine.get(tensor(), bind.row, bind.col), (x) => actions.setWeight(bind.symbol, bind.row, bind.col, x)],
    }[bind.to];
    const [read, set] = bound;
    const label = element("label", "", "slider live");
    const value = element("output");
    const input = Object.assign(element("input"), { type: bind.to === "mask" ? "checkbox" : "range" });
    if (bind.to === "mask") {
      input.addEventListener("change", () => set(input.checked ? 1 : 0));
    } else {
      [input.min, input.max, input.step] = [least, most, cell.step || (most - least) / 200];
      input.addEventListener("input", () => set(Number(input.value)));
    }
    const name = still.querySelector("code").textContent.split(" = ")[0];
    label.append(element("span", cell.caption), element("code", name), input, value);
    still.after(label);
    still.classList.add("still");
    const show = () => {
      const x = read();
      if (bind.to === "mask") input.checked = x === 1;
      else if (document.activeElement !== input || Number(input.value) !== x) input.value = x;
      value.textContent = bind.to === "mask" ? (x === 1 ? "causal" : "none") : Rules.written(x);
    };
    actions.on("pass", show);
    actions.on("view", show);
    show();
  }

  /** Creates a prediction, which shows the model's answer after the reader has chosen one. */
  function predictCell(cell, section, state, say) {
    const answer = section.querySelector("template");
    const list = section.querySelector("ul.choices");
    if (!answer || !list) return;
    const right = Number(answer.dataset.right);
    let chosen = null;
    const group = element("div", "", "choices live");
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", "Your prediction");
    const reveal = button("Show the model’s answer", show);
    reveal.disabled = true;
    const boxes = cell.choices.map((choice, index) => {
      const label = element("label");
      const box = Object.assign(element("input"), { type: "radio", name: section.id });
      box.addEventListener("change", () => {
        chosen = index;
        reveal.disabled = false;
      });
      label.append(box, element("span", choice));
      group.append(label);
      return { box, label };
    });
    function show() {
      boxes.forEach(({ box, label }, index) => {
        box.disabled = true;
        const said = [index === chosen && "your answer", index === right && "the model’s answer"].filter(Boolean).join(", and ");
        if (said) label.append(element("small", said));
        label.classList.toggle("right", index === right);
      });
      const shown = element("div", "", "revealed");
      shown.append(answer.content.cloneNode(true));
      shown.querySelectorAll("[data-choice]").forEach((reason) => Number(reason.dataset.choice) !== chosen && reason.remove());
      reveal.replaceWith(shown);
      state.actions.look({ keepers: state.keepers.filter((id) => id !== section.id) });
      say(chosen === right ? "Right." : `The model’s answer is ${cell.choices[right]}.`);
    }
    list.after(group, reveal);
    list.classList.add("still");
  }

  /** Formats a value beside a check. */
  function told(x) {
    if (typeof x === "number") return Rules.written(x);
    if (Code.isTensor(x)) return Array.from(x.data.slice(0, 8), Rules.written).join(", ");
    return x === undefined || x === null ? "" : String(x);
  }

  /** Creates an exercise that is solved by changing the model, and checked after every change. */
  function exerciseCell(cell, section, state, say) {
    const box = element("div", "", "checked");
    box.setAttribute("aria-label", "The state of the exercise");
    section.append(box);
    let wasRight = null;
    const show = () => {
      let cases;
      try {
        cases = Code.tried(cell, state);
      } catch (fault) {
        box.replaceChildren(element("p", `This sentence or model cannot be checked: ${fault.message}.`, "note"));
        box.dataset.right = "false";
        return;
      }
      const isRight = cases.every((found) => found.isRight);
      const lines = cases.map(({ isRight: fits, value, expected }, at) => {
        const name = cases.length > 1 ? `Case ${at + 1}: ` : "";
        const wanted = told(expected) ? `, expected ${told(expected)}` : "";
        return element("p", `${fits ? "✓" : "○"} ${name}${told(value)}${wanted}`, "line");
      });
      box.replaceChildren(element("p", isRight ? "Right." : "Not yet right.", "verdict"), ...lines);
      box.dataset.right = String(isRight);
      if (isRight && wasRight === false) say("The exercise is right.");
      wasRight = isRight;
    };
    state.actions.on("pass", show);
    show();
  }

  function create(state, stage, say) {
    const stages = [];
    for (const cell of state.data.cells) {
      const section = document.getElementById(cell.section);
      if (!section) continue;
      if (cell.kind === "stage") {
        stageCell(cell, section, state, stage, say);
        stages.push({ cell, section });
      }
      if (cell.kind === "slider") sliderCell(cell, section, state, stage);
      if (cell.kind === "exercise") exerciseCell(cell, section, state, say);
      if (cell.kind === "predict") predictCell(cell, section, state, say);
    }
    const { alone } = Frame;
    if (alone) state.actions.look({ keepers: state.keepers.filter((id) => id === alone.id) });
    else if (!document.querySelector(".slide")) follow(stages, state, stage);
    // A single cell, or one to which a link with a step leads, begins with the stage that the reader sees beside it.
    const asked = alone || Frame.linked?.section;
    const isBefore = ({ section }) => section === asked || section.compareDocumentPosition(asked) & Node.DOCUMENT_POSITION_FOLLOWING;
    const begins = (asked && stages.findLast(isBefore)) || stages[0];
    return { showSentence: (cell) => showSentence(cell, state), showStage: (cell) => showStage(cell, state, stage), isShown: (cell) => isShown(cell, state), begins };
  }

  return { create };
})();
