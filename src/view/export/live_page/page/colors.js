// Colours by meaning, as in the program. They are taken from the style sheet, which has both themes.
"use strict";

const Colors = (() => {
  /** The number of colours in the style sheet for groups and for heads; further ones repeat them. */
  const [GROUPS, HEADS] = [8, 6];
  /** An exponent that spreads small weights, which the eye must tell apart. */
  const SPREAD = 0.7;
  let found = {};
  let readable = {};
  let fainter = {};

  /** Reads the colours of the style sheet again, after a change of the theme. */
  function refresh() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["stage", "raised", "ink", "ink-soft", "ink-faint", "word", "grid", "axis", "accent", "negative", "positive", "line", "surface", "error", "query", "key", "value"];
    [readable, fainter] = [{}, {}];
    found = Object.fromEntries(names.map((name) => [name, value(name)]));
    for (let i = 0; i < GROUPS; i++) found[`group-${i}`] = value(`group-${i}`);
    for (let i = 0; i < HEADS; i++) found[`head-${i}`] = value(`head-${i}`);
  }

  const of = (name) => found[name];
  const group = (index) => (index === null || index === undefined ? null : found[`group-${index % GROUPS}`]);
  const word = (index) => group(index) || found.word;
  const token = (index) => group(index) || found.ink;
  const head = (index) => found[`head-${index % HEADS}`];

  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  /** Interpolates between two colours. */
  function mix(a, b, share) {
    const [from, to] = [channels(a), channels(b)];
    return "#" + from.map((x, i) => Math.round(x + (to[i] - x) * share).toString(16).padStart(2, "0")).join("");
  }

  /** Returns the colour of a weight in [0, 1], from the surface to the head's hue. */
  const weight = (index, share) => mix(found.raised, head(index), Math.pow(Math.min(Math.max(share, 0), 1), SPREAD));

  /** The least opacity of a vector's cell, so that it is visible even at 0. */
  const FAINTEST = 0.12;
  const cell = (name, share) => mix(found.surface, found[name], FAINTEST + (1 - FAINTEST) * Math.min(share, 1));

  /** Returns the colour of a number in [−1, 1], from purple through the surface to green. */
  const diverging = (x) => mix(found.raised, x < 0 ? found.negative : found.positive, Math.min(Math.abs(x), 1));

  /** Returns the relative luminance, as defined by WCAG. */
  function luminance(hex) {
    const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = channels(hex).map((x) => linear(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  }

  const contrast = (a, b) => Math.max(luminance(a), luminance(b)) / Math.min(luminance(a), luminance(b));

  /** Returns an ink that can be read on a fill. */
  const inkOn = (fill) => (contrast("#ffffff", fill) >= contrast("#161513", fill) ? "#ffffff" : "#161513");

  const [TEXT_CONTRAST, STEPS] = [4.5, 16];
  /** Returns a text colour for the stage, moved towards the ink until it has enough contrast. Cached, for every frame needs it. */
  function legible(color) {
    if (!readable[color]) {
      const all = Array.from({ length: STEPS + 1 }, (_, step) => mix(color, found.ink, step / STEPS));
      readable[color] = all.find((text) => contrast(text, found.stage) >= TEXT_CONTRAST) || found.ink;
    }
    return readable[color];
  }

  const TOWARDS_STAGE = 0.45;
  /** Returns a colour moved towards the stage's. */
  const faint = (color, share = TOWARDS_STAGE) => fainter[color + share] || (fainter[color + share] = mix(color, found.stage, share));

  /** Returns a colour with an opacity. */
  const clear = (color, opacity) => color + Math.round(opacity * 255).toString(16).padStart(2, "0");

  return { HEADS, refresh, of, group, word, token, head, weight, cell, diverging, inkOn, legible, faint, mix, clear };
})();
