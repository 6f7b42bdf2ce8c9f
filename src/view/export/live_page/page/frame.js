// The frame around the parts of a page: its theme, its tabs and its time line.
"use strict";

const Frame = (() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  /** Handles the theme: the system's, until the reader chooses one. */
  function themes(redraw) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    let chosen = null;
    const show = () => {
      root.dataset.theme = chosen || (dark.matches ? "dark" : "light");
      $("lab-theme").textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
      Colors.refresh();
      redraw();
    };
    $("lab-theme").addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      show();
    });
    dark.addEventListener("change", show);
    return { show, choose: (theme) => { chosen = theme; show(); } };
  }

  /** The width up to which the model stands above the text, as in the style sheet. */
  const NARROW = "(max-width: 59.99rem)";

  /** Handles the button that folds the model down to its picture, as it is at first above the text and beside a single cell. */
  function folds() {
    const fold = $("lab-fold");
    const narrow = window.matchMedia(NARROW);
    const show = (isFolded) => {
      fold.setAttribute("aria-expanded", String(!isFolded));
      $("lab").classList.toggle("folded", isFolded);
      $("lab").dispatchEvent(new Event("fold"));
    };
    const follow = () => show(alone !== null || narrow.matches);
    fold.addEventListener("click", () => show(!$("lab").classList.contains("folded")));
    // A wide page has no button to unfold it, and a frame that is out of sight gets its width only later.
    narrow.addEventListener("change", follow);
    follow();
  }

  /**
   * Shows only the cell that the address names, `lesson.html?cell=ID`, for a frame in another page, with a link to the whole page.
   * Returns its section; null for the whole page.
   */
  function onlyCell() {
    const id = new URLSearchParams(location.search).get("cell");
    if (id === null) return null;
    const section = document.getElementById(`cell-${id.replace(/\s/g, "-")}`);
    if (!section) {
      document.querySelector("main").prepend(Dom.element("p", `This page has no cell “${id.slice(0, 40)}”. This is the whole page.`, "wrong"));
      return null;
    }
    root.classList.add("alone");
    const whole = Object.assign(Dom.element("a", document.title), { href: `${location.href.split(/[?#]/)[0]}#${section.id}`, target: "_top" });
    const from = Dom.element("p", "From the lesson ", "from");
    from.append(whole);
    section.classList.add("shown");
    section.append(from);
    return section;
  }
  const alone = onlyCell();

  /**
   * Reads the step to which a link leads, `lesson.html?step=5&head=2#cell-ID`, counted from 0, with the section of its cell. Returns
   * null without a step.
   */
  function linkedStep() {
    const given = new URLSearchParams(location.search);
    const [step, head] = ["step", "head"].map((name) => Number(given.get(name)) - 1);
    if (!Number.isInteger(step) || step < 0) return null;
    return { step, head, section: document.getElementById(location.hash.slice(1)) };
  }
  const linked = linkedStep();

  /** Handles tabs by click, and by arrow keys as in the ARIA pattern of tabs. */
  function tabs(opened) {
    const all = [...document.querySelectorAll("#lab [role=tab]:not([hidden])")];
    const open = (tab) => {
      all.forEach((other) => {
        const isOpen = other === tab;
        other.setAttribute("aria-selected", String(isOpen));
        other.tabIndex = isOpen ? 0 : -1;
        $(other.getAttribute("aria-controls")).hidden = !isOpen;
      });
      opened();
    };
    all.forEach((tab, index) => {
      tab.addEventListener("click", () => open(tab));
      tab.addEventListener("keydown", (event) => {
        const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!way) return;
        event.preventDefault();
        const next = all[(index + way + all.length) % all.length];
        open(next);
        next.focus();
      });
    });
    // What is folded away is not kept up to date.
    $("lab").addEventListener("fold", opened);
    return (name) => open($(`tab-${name}`));
  }

  /** The step of a walk, in words. */
  const stepSaid = (step, steps) => `step ${step + 1} of ${steps.length}, ${steps[step]}`;

  /** Handles the time line; `said` names the steps of a layer. */
  function timeline(state, stage, said = stepSaid) {
    const { actions } = state;
    const line = $("time-line");
    line.max = actions.end;
    const stops = Array.from({ length: actions.end + 1 }, (_, place) => Dom.element("i", "", place % state.steps.length === 0 ? "first" : ""));
    $("time-marks").append(...stops);
    line.addEventListener("input", () => actions.walkTo(Number(line.value)));
    $("time-static").addEventListener("click", () => stage.glideToTime(0));
    $("time-contextual").addEventListener("click", () => stage.glideToTime(1));
    $("time-on").addEventListener("click", () => stage.glideToPlace(actions.stopAfter(actions.placeNow())));
    $("time-back").addEventListener("click", () => stage.glideToPlace(actions.stopBefore(actions.placeNow())));
    const show = () => {
      const place = actions.placeNow();
      line.value = place;
      stops.forEach((mark, at) => mark.classList.toggle("reached", place >= at));
      const { layer, step } = actions.walked();
      const title = state.data.heads.find(({ block }) => block === layer).title.replace(/,? ?[Hh]ead \d+$/, "");
      const text = state.isWalked
        ? `${title ? `${title}: ` : ""}${said(step, state.steps)}`
        : state.time === 0 ? "static: before attention" : state.time === 1 ? "contextual: after attention" : "between static and contextual";
      line.setAttribute("aria-valuetext", text);
      $("time-said").textContent = text;
      // The walk shows a head of the layer that it has reached.
      if (state.isWalked && state.pass.heads[state.head].step.number !== layer) {
        actions.look({ head: state.pass.heads.findIndex((head) => head.step.number === layer) });
      }
    };
    actions.on("view", show);
    actions.on("pass", show);
    show();
  }

  /** Begins a page: the model appears, with the stage if the page has points, and its theme. */
  function begin(data, hasStage) {
    root.classList.add("live");
    $("lab").hidden = false;
    folds();
    Colors.refresh();
    const state = State.create(data);
    const redraws = [];
    const theme = themes(() => redraws.forEach((redraw) => redraw()));
    theme.show();
    const stage = hasStage && Stage.create($("lab-stage"), state, (isFlat) => $("stage-flat").setAttribute("aria-pressed", String(isFlat)));
    if (stage) {
      $("stage-flat").addEventListener("click", stage.flat);
      $("stage-home").addEventListener("click", stage.home);
      $("stage-in").addEventListener("click", () => stage.zoom(90));
      $("stage-out").addEventListener("click", () => stage.zoom(-90));
      redraws.push(stage.redraw);
    }
    const sentence = Sentence.create($("lab-sentence"), state);
    redraws.push(sentence.look);
    document.fonts.ready.then(() => redraws.forEach((redraw) => redraw()));
    return { state, stage, theme, redraws, say: (text) => ($("lab-said").textContent = text) };
  }

  return { $, root, alone, linked, begin, tabs, timeline };
})();
