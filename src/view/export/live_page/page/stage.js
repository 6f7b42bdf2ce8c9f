// The stage: words as points in 3D on a canvas, moving from static to contextual. It is drawn only when something has
// changed.
"use strict";

const Stage = (() => {
  // Sizes in CSS pixels, the same as on the program's stage.
  const [WORD_RADIUS, QUIET_RADIUS, TOKEN_RADIUS, LEAST_RADIUS] = [4.6, 3.2, 7.6, 2.5];
  const [ARROW_HEAD, ARROW_SLOPE] = [10, 0.42];
  const [LINE, WEIGHT_WIDTH] = [1.2, 7];
  const CELL_LINE = 1.4;
  /** The largest number of points at which every one shows its name. */
  const ALL_LABELLED = 60;
  const LABEL_GAP = 3;
  const LABEL_GAPS = [LABEL_GAP, 9, 18, 34];
  const FONT = '13px Inter, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
  const LINE_HEIGHT = 16;
  /** The largest distance from a point at which the pointer picks it. */
  const PICK = 10;
  /** The largest spread of a glow, as a share of the picture's smaller side, and the least radius of its rim, in pixels and as such a share. */
  const [CROWD_SPREAD, CROWD_RIM, CROWD_RIM_SHARE] = [0.14, 34, 0.1];
  /** A word has reached a group that is nearer than this share of the distance from which it came. */
  const REACHED = 0.5;
  /** The number of keys that a walk shows beside its word; the others are quiet. */
  const PARTNERS = 3;
  /** How far what is quiet is moved towards the stage's colour: words of no group, and words that a walk does not need. */
  const QUIET = 0.75;
  const [GROUND, GRID_STEP, GRID_HALF] = [-1, 0.25, 4];
  const DRAG_MIN = 4;
  const KEY_TURN = 24;
  const KEY_ZOOM = 60;
  const GLIDE_SECONDS = 0.7;

  const ease = (share) => share * share * (3 - 2 * share);
  const between = (a, b, share) => a.map((x, axis) => (1 - share) * x + share * b[axis]);

  /** Returns the projection point = (x − mean) · axes, divided by the picture's radius. */
  function projector({ projection, radius }) {
    const { mean, axes } = projection;
    const along = (vector, centre) =>
      [0, 1, 2].map((axis) => {
        const direction = Engine.row(axes, axis);
        let sum = 0;
        for (let d = 0; d < direction.length; d++) sum += (vector[d] - (centre ? mean[d] : 0)) * direction[d];
        return sum / radius;
      });
    return { point: (vector) => along(vector, true), arrow: (vector) => along(vector, false) };
  }

  /** Creates the stage. `showFlat` is called whenever the view becomes flat or stops being flat, with the new state. */
  function create(canvas, state, showFlat) {
    const { data, actions } = state;
    const context = canvas.getContext("2d");
    const { point, arrow } = projector(data);
    const { model } = data;
    const words = data.vocabulary.map((text, index) => ({
      text,
      index,
      group: data.group_of[index],
      at: point(Engine.row(model.statics, index)),
    }));
    const crowds = (data.groups || []).map((name, group) => ({ name, group, members: words.filter((word) => word.group === group) })).filter(({ members }) => members.length > 0);
    /** Returns the words that are drawn as points; if the vocabulary consists of pieces, only those of the sentence. */
    const shownWords = () => (data.pieces ? words.filter(({ index }) => scene.inSentence.has(index)) : words);
    const zero = new Float64Array(model.width);
    const motion = window.matchMedia("(prefers-reduced-motion: reduce)");

    let scene = null;
    let pose = null;
    let isTouched = false;
    /** The layer that the camera was moved to, null at rest. `shown` has the positions that it covers. */
    let framedLayer = null;
    let shown = [];
    let isFlat = false;
    let size = { width: 0, height: 0, ratio: 1 };
    let frame = 0;
    let glide = null;
    /** The marks of the last frame, for picking and for tests. */
    let drawn = [];
    /** The groups that are compact in the last frame, each with its glow. */
    let glows = [];

    /** Returns the group that a word reaches, by the nearest words of the groups; null for none. */
    function reachedBy(start, end) {
      const nearest = (place, { members }) => Math.min(...members.map(({ at }) => Math.hypot(...at.map((x, axis) => x - place[axis]))));
      const away = crowds.map((crowd) => nearest(end, crowd));
      const at = away.indexOf(Math.min(...away));
      return at >= 0 && away[at] < REACHED * nearest(start, crowds[at]) ? crowds[at].group : null;
    }

    /** Builds the points of the current pass: each token's positions before and after each layer. */
    function build() {
      const { pass } = state;
      const blocks = pass.blocks.length;
      const places = (of, tokens) =>
        tokens.map((word, i) => {
          const start = word === null ? point(zero) : words[word].at;
          return Array.from({ length: blocks + 1 }, (_, b) => {
            if (b <= model.source_blocks) return start;
            // A norm after the last block is not part of the picture.
            return b === blocks ? point(Engine.row(of.blocks[b - 1].output, i)) : point(Engine.row(of.blocks[b].input, i));
          });
        });
      const now = places(pass, pass.tokens);
      const trained = state.isChanged ? places(state.trainedPass, pass.tokens) : now;
      const tokens = pass.tokens.map((word, i) => ({
        position: i,
        word,
        label: state.labels[i],
        group: word === null ? null : data.group_of[word],
        stops: now[i],
        start: now[i][0],
        end: now[i][blocks],
        reached: reachedBy(now[i][0], now[i][blocks]),
        ghost: state.isChanged ? trained[i][blocks] : null,
      }));
      const inSentence = new Set(pass.tokens);
      const sources = (pass.source || []).map((word, i) => ({ label: state.sourceLabels[i], group: data.group_of[word], at: words[word].at }));
      const named = words.filter((word) => word.group !== null || inSentence.has(word.index)).map((word) => word.at);
      // In pretrained models, the first token is often far away between the layers.
      const isFar = (token, stop) => data.pieces && token.position === 0 && stop > 0 && stop < blocks;
      const framed = (stops) => {
        const certain = [...named, ...tokens.flatMap(stops)];
        return certain.length > 0 ? certain : words.map((word) => word.at);
      };
      const atRest = framed((token) => [token.start, token.end]);
      const through = (layer) => framed((token) => [layer, layer + 1].filter((stop) => !isFar(token, stop)).map((stop) => token.stops[stop]));
      scene = { tokens, inSentence, sources, atRest, walked: Array.from({ length: blocks }, (_, layer) => through(layer)) };
      if (!isTouched) goHome();
      request();
    }

    /** Moves the camera so that it shows the points at rest or, during a walk, the positions before and after the layer. */
    function goHome() {
      framedLayer = shownLayer();
      shown = framedLayer === null ? scene.atRest : scene.walked[framedLayer];
      pose = Camera.home(shown, size.width / Math.max(size.height, 1), isFlat);
    }

    /** Moves the camera if it does not cover the walked layer's positions. It does not come closer between two layers. */
    function follow() {
      const layer = shownLayer();
      if (isTouched || layer === framedLayer) return;
      if (layer === null || framedLayer === null || !Camera.holds(shown, scene.walked[layer])) goHome();
      framedLayer = layer;
    }

    /** Returns the layer that is walked through. */
    const layer = () => Math.min(Math.floor(state.place / state.steps.length), model.blocks.length - 1);
    const shownLayer = () => (state.isWalked ? layer() : null);
    const within = () => Math.min(state.place - layer() * state.steps.length, state.last);
    function placeOf(token) {
      if (!state.isWalked) return between(token.start, token.end, state.time);
      const share = Math.min(Math.max(within() - (state.last - 1), 0), 1);
      return between(token.stops[layer()], token.stops[layer() + 1], share);
    }

    /** Returns the colour of a token on its way: it takes the hue of the group that it reaches. */
    function tokenColor({ group, reached }, share) {
      const own = Colors.token(group);
      return reached === null ? own : Colors.mix(own, Colors.group(reached), share);
    }
    const shareOf = () => (state.isWalked ? Math.max(actions.placeNow() - actions.end + 1, 0) : state.time);

    const isLitWord = (word) => state.lit.length === 0 || state.lit.includes(word.text);
    const isLitToken = (token) => state.lit.length === 0 || state.lit.includes(token.word === null ? "" : data.vocabulary[token.word]);
    const isHovered = (mark) => {
      const { hovered } = state;
      if (!hovered) return false;
      if (hovered.word !== undefined) return mark.word === hovered.word;
      return mark.position === hovered.position && hovered.side === "sentence" && mark.position !== undefined;
    };

    /** Returns the tokens whose moves are drawn as arrows. */
    const moved = () => (state.isWalked ? [] : scene.tokens.filter(isLitToken));
    const isChosen = (mark) => isHovered(mark) || (mark.position !== undefined && mark.position === state.query);
    /** Returns the radius of a mark with the ring of the chosen one. */
    const reach = (mark) => mark.radius + (isChosen(mark) ? 4 : 0);

    /** Draws a line in one colour, or from one to another. */
    function line(project, from, to, color, width, first = color) {
      const [a, b] = [project(from), project(to)];
      if (!a || !b) return null;
      context.strokeStyle = color;
      if (first !== color) {
        const way = context.createLinearGradient(a.x, a.y, b.x, b.y);
        [first, color].forEach((stop, end) => way.addColorStop(end, stop));
        context.strokeStyle = way;
      }
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(a.x, a.y);
      context.lineTo(b.x, b.y);
      context.stroke();
      return [a, b];
    }

    function arrowLine(project, from, to, color, width, first) {
      const ends = line(project, from, to, color, width, first);
      if (!ends) return;
      const [a, b] = ends;
      const length = Math.hypot(b.x - a.x, b.y - a.y);
      if (length < 2) return;
      const head = Math.min(ARROW_HEAD, length);
      const [x, y] = [(b.x - a.x) / length, (b.y - a.y) / length];
      const side = head * ARROW_SLOPE;
      context.fillStyle = color;
      context.beginPath();
      context.moveTo(b.x, b.y);
      context.lineTo(b.x - x * head - y * side, b.y - y * head + x * side);
      context.lineTo(b.x - x * head + y * side, b.y - y * head - x * side);
      context.fill();
    }

    function space(project) {
      const end = GRID_HALF * GRID_STEP;
      if (pose.perspective > 0) {
        for (let i = -GRID_HALF; i <= GRID_HALF; i++) {
          const x = i * GRID_STEP;
          line(project, [x, GROUND, -end], [x, GROUND, end], Colors.of("grid"), 1);
          line(project, [-end, GROUND, x], [end, GROUND, x], Colors.of("grid"), 1);
        }
      }
      data.projection.names.slice(0, data.projection.shares.length).forEach((_, axis) => {
        const tip = [0, 1, 2].map((i) => (i === axis ? 1 : 0));
        line(project, tip.map((x) => -x), tip, Colors.of(data.projection.ends[axis] ? "ink-faint" : "axis"), 1.4);
      });
    }

    /** Draws the groups that are compact in this view; one that is spread over the picture is no crowd. */
    function paintGlows(project) {
      const side = Math.min(size.width, size.height);
      const seen = crowds.map(({ name, group, members }) => ({ name, group, places: members.map(({ at }) => project(at)) }));
      const fitted = seen.filter(({ places }) => !places.includes(null)).map(({ places, ...crowd }) => ({ ...crowd, glow: Glow.of(places, Math.min(CROWD_RIM, CROWD_RIM_SHARE * side)) }));
      glows = fitted.filter(({ glow }) => glow.long <= CROWD_SPREAD * side);
      glows.forEach(({ group, glow }) => Glow.paint(context, glow, Colors.group(group)));
    }

    /** Names the glows in capitals, beside their rims. */
    const crowdNames = () =>
      glows.map(({ name, group, glow: { x, y, rim } }) => ({ x, y, depth: 0, radius: rim, label: name.toUpperCase(), color: Colors.group(group), priority: 2, isCrowd: true }));

    /** Draws the stage cell's lines between words, at their static points. */
    function cellLines(project) {
      for (const pair of state.lines) {
        const [from, to] = pair.map((word) => words[data.rowOf.get(word)].at);
        line(project, from, to, Colors.of("ink-faint"), CELL_LINE);
      }
    }

    /** Returns arrows to the goals: minus the gradient of each goal's loss, half the squared distance, at the word's contextual point. */
    function goals() {
      // Goals appear as the words arrive at their contextual points.
      const time = shareOf();
      const found = state.goals.map(([from, to]) => {
        const token = time > 0 && scene.tokens.find(({ word }) => data.vocabulary[word] === from);
        if (!token) return null;
        const goal = data.rowOf.get(to);
        const [y, wanted] = [Engine.row(state.pass.output, token.position), Engine.row(model.statics, goal)];
        const loss = y.reduce((total, x, d) => total + (x - wanted[d]) ** 2, 0) / 2;
        return { from: token.end, to: words[goal].at, label: `−∂L/∂y, L = ${loss.toFixed(2)}`, time };
      });
      return found.filter(Boolean);
    }

    function goalArrows(project) {
      for (const { from, to, time } of goals()) {
        context.globalAlpha = time;
        arrowLine(project, from, to, Colors.of("error"), 2.2);
      }
      context.globalAlpha = 1;
    }

    /** Places the names of the goals' arrows to the right of each arrow's middle. */
    function goalNames(project) {
      const arrived = goals().filter(({ time }) => time === 1);
      return arrived.flatMap(({ from, to, label }) => {
        const [a, b] = [project(from), project(to)];
        const length = a && b && Math.hypot(b.x - a.x, b.y - a.y);
        if (!length) return [];
        const side = b.y > a.y ? -1 : 1;
        const [right, down] = [((a.y - b.y) / length) * side, ((b.x - a.x) / length) * side];
        const half = widthOf(label) / 2;
        const away = half * right + (LINE_HEIGHT / 2) * Math.abs(down) + ARROW_HEAD;
        const [x, y] = [(a.x + b.x) / 2 + right * away - half - LABEL_GAP, (a.y + b.y) / 2 + down * away];
        return [{ x, y, depth: 0, radius: 0, label, color: Colors.of("error"), priority: 0 }];
      });
    }

    /** Returns the head that is walked through, if it is one of the shown layer and of the sentence. */
    function walkedHead() {
      const head = state.pass.heads[state.head];
      return state.isWalked && head && head.step.number === layer() && !head.step.isOfSource ? head : null;
    }

    /** Returns the positions of the walk's word and of the words at which it looks most; null where all count alike. */
    function partners() {
      const head = walkedHead();
      if (!head || within() === 0 || within() === state.last || head.step.config.attends_to === "source") return null;
      return new Set([state.query, ...Engine.order(Engine.row(head.weights, state.query)).slice(0, PARTNERS)]);
    }

    /** Draws the walk of the chosen word: lines to its keys, and then their contributions, tip to tail. */
    function walk(project) {
      const head = walkedHead();
      if (!head) return;
      const share = (index) => Math.min(Math.max(within() - index + 1, 0), 1);
      // Scores and weights come of the query; what is mixed are values.
      const hue = Colors.of(share(5) > 0 ? "value" : "query");
      const token = scene.tokens[state.query];
      const here = token.stops[layer()];
      const isSource = head.step.config.attends_to === "source";
      const placeOfKey = (j) => (isSource ? scene.sources[j].at : scene.tokens[j].stops[layer()]);
      const weights = Engine.row(head.weights, state.query);
      const scores = Engine.row(head.scores, state.query);
      const near = partners();
      const opacity = share(2) * (1 - QUIET * share(6));
      if (share(2) > 0) {
        weights.forEach((weight, j) => {
          if ((!isSource && j === state.query) || (scores[j] === -Infinity && share(3) === 1)) return;
          context.globalAlpha = opacity * (!near || near.has(j) ? 1 : 1 - QUIET);
          line(project, placeOfKey(j), here, hue, LINE + WEIGHT_WIDTH * weight * share(4));
        });
      }
      context.globalAlpha = 1;
      if (share(6) > 0 && (head.moved || head.arrows)) {
        // The arrows start at the word, or at zero if the block has no residual connection.
        let from = head.step.config.residual ? here : point(zero);
        head.step.heads.forEach((own, h) => {
          // A page that computes nothing has one arrow of each head, and not one of each key.
          const parts = own.arrows ? [Engine.row(own.arrows, state.query)] : [...weights.keys()].map((j) => Engine.arrow(head.step, own, state.query, j));
          for (const part of parts) {
            const moved = arrow(part).map((x) => x * share(6));
            const to = from.map((x, axis) => x + moved[axis]);
            arrowLine(project, from, to, Colors.head(h), 2.2);
            from = to;
          }
        });
      }
    }

    function marks(project) {
      const shown = shownWords();
      const isSmall = shown.length + scene.tokens.length <= ALL_LABELLED;
      const all = [];
      for (const word of shown) {
        const at = project(word.at);
        if (!at) continue;
        const isRing = scene.inSentence.has(word.index);
        const isQuiet = word.group === null && !isRing && !isSmall;
        const color = isRing ? Colors.token(word.group) : isQuiet ? Colors.faint(Colors.of("word"), QUIET) : Colors.word(word.group);
        // A glow with its name stands for its words.
        const isNamed = !isSmall && glows.some(({ group }) => group === word.group);
        all.push({
          ...at,
          word: word.index,
          label: word.text,
          color: isLitWord(word) ? color : Colors.faint(color),
          radius: Math.max((isRing ? TOKEN_RADIUS : isQuiet ? QUIET_RADIUS : WORD_RADIUS) * at.scale, LEAST_RADIUS),
          isRing,
          priority: isRing ? Infinity : isLitWord(word) && state.lit.length > 0 ? 2 : word.group !== null && !isNamed ? 4 : isSmall ? 5 : Infinity,
        });
      }
      const near = partners();
      for (const token of scene.tokens) {
        if (token.ghost) {
          const at = project(token.ghost);
          if (at) all.push({ ...at, label: "", color: Colors.faint(Colors.token(token.group)), radius: TOKEN_RADIUS * at.scale, isRing: true, isDashed: true, priority: Infinity });
        }
        const at = project(placeOf(token));
        if (!at) continue;
        const isQuiet = near && !near.has(token.position);
        const color = isQuiet ? Colors.faint(tokenColor(token, 0), QUIET) : tokenColor(token, shareOf());
        all.push({
          ...at,
          word: token.word === null ? undefined : token.word,
          position: token.position,
          label: token.label,
          color: isLitToken(token) ? color : Colors.faint(color),
          radius: (isLitToken(token) ? TOKEN_RADIUS : WORD_RADIUS) * at.scale,
          priority: token.position === state.query ? 0 : isLitToken(token) ? 1 : 3,
        });
      }
      return all.sort((a, b) => b.depth - a.depth);
    }

    function paint(mark) {
      context.beginPath();
      context.arc(mark.x, mark.y, mark.radius, 0, 2 * Math.PI);
      context.setLineDash(mark.isDashed ? [3, 3] : []);
      if (mark.isRing) {
        context.strokeStyle = mark.color;
        context.lineWidth = 1.6;
        context.stroke();
      } else {
        context.fillStyle = mark.color;
        context.fill();
        context.strokeStyle = Colors.of("stage");
        context.lineWidth = 1;
        context.stroke();
      }
      context.setLineDash([]);
      if (isChosen(mark)) {
        context.beginPath();
        context.arc(mark.x, mark.y, reach(mark) - 1, 0, 2 * Math.PI);
        context.strokeStyle = Colors.of(isHovered(mark) ? "ink" : "accent");
        context.lineWidth = 2;
        context.stroke();
      }
    }

    // Measuring a text costs more than drawing it, and every frame draws the same names.
    const widths = new Map();
    function widthOf(text) {
      if (!widths.has(text)) widths.set(text, context.measureText(text).width);
      return widths.get(text);
    }

    /** Returns whether a line from `a` to `b` crosses a box. */
    function crosses([a, b], [left, top, right, bottom]) {
      let [from, to] = [0, 1];
      for (const [start, end, least, most] of [[a.x, b.x, left, right], [a.y, b.y, top, bottom]]) {
        const [one, other] = [least, most].map((side) => (side - start) / (end - start || Number.EPSILON));
        [from, to] = [Math.max(from, Math.min(one, other)), Math.min(to, Math.max(one, other))];
      }
      return from <= to;
    }

    /** Draws names beside their points without overlaps, the important ones first, and if there is room not on arrows. */
    function names(all, project) {
      const taken = [];
      const lines = moved().map((token) => [token.start, placeOf(token)].map(project)).filter((ends) => ends.every(Boolean));
      const around = ({ x, y }, radius) => [x - radius, y - radius, x + radius, y + radius];
      const isFree = (box) => taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
      const isInside = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= size.width && box[3] <= size.height;
      const write = (text, box, color) => {
        taken.push([box[0] - 3, box[1], box[2] + 3, box[3]]);
        context.fillStyle = color;
        context.fillText(text, box[0], box[3] - 4);
      };
      const wanted = all.filter((mark) => mark.label && (mark.priority < Infinity || isHovered(mark)));
      wanted.forEach((mark) => (mark.order = isHovered(mark) ? -1 : mark.priority));
      wanted.sort((a, b) => a.order - b.order || a.depth - b.depth);
      const discs = all.filter((mark) => mark.position !== undefined || mark.isRing).map((mark) => around(mark, reach(mark)));
      taken.push(...discs);
      for (const mark of wanted) {
        const width = widthOf(mark.label);
        for (const gap of mark.order < 4 ? LABEL_GAPS : LABEL_GAPS.slice(0, 2)) {
          const away = reach(mark) + gap;
          const [x, y, h] = [mark.x, mark.y, LINE_HEIGHT / 2];
          const corners = [
            [x + away, y - h],
            [x - away - width, y - h],
            [x - width / 2, y - away - 2 * h],
            [x - width / 2, y + away],
            [x + away * 0.7, y - away * 0.7 - 2 * h],
            [x - away * 0.7 - width, y - away * 0.7 - 2 * h],
            [x + away * 0.7, y + away * 0.7],
            [x - away * 0.7 - width, y + away * 0.7],
          ];
          let place = null;
          for (const [left, top] of corners) {
            const box = [left, top, left + width, top + LINE_HEIGHT];
            if (!isInside(box) || !isFree(box)) continue;
            const isClear = !lines.some((line) => crosses(line, box));
            if (isClear || !place) place = box;
            if (isClear) break;
          }
          if (!place) continue;
          write(mark.label, place, Colors.legible(mark.color));
          break;
        }
      }
      data.projection.names.slice(0, data.projection.shares.length).forEach((name, axis) => {
        const ends = data.projection.ends[axis];
        const percent = `${Math.round(data.projection.shares[axis] * 100)} %`;
        const isNamed = (end) => glows.some(({ name }) => name === end);
        const tips = ends ? [[-1, ends[0]], [1, `${ends[1]} ${percent}`]] : [[1, `${name} ${percent}`]];
        for (const [sign, text] of tips) {
          const at = project([0, 1, 2].map((i) => (i === axis ? sign : 0)));
          if (!at || (ends && ends.every(isNamed))) continue;
          const width = context.measureText(text).width;
          const left = Math.min(Math.max(at.x - width / 2, 2), size.width - width - 2);
          const box = [left, at.y - LINE_HEIGHT - 2, left + width, at.y - 2];
          if (isInside(box) && isFree(box)) write(text, box, Colors.of("ink-soft"));
        }
      });
    }

    function draw() {
      const { width, height, ratio } = size;
      if (width === 0 || height === 0) return;
      const project = Camera.view(pose, width, height);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = Colors.of("stage");
      context.fillRect(0, 0, width, height);
      context.font = FONT;
      context.textBaseline = "alphabetic";
      paintGlows(project);
      space(project);
      cellLines(project);
      for (const token of moved()) arrowLine(project, token.start, placeOf(token), tokenColor(token, shareOf()), 3, tokenColor(token, 0));
      walk(project);
      goalArrows(project);
      drawn = marks(project);
      drawn.forEach(paint);
      names([...goalNames(project), ...crowdNames(), ...drawn], project);
    }

    function request() {
      if (!frame) frame = requestAnimationFrame(step);
    }

    function step() {
      frame = 0;
      if (glide) advance();
      follow();
      draw();
    }

    /** Moves points over time, or at once with reduced motion. `set` receives the share of the movement, from 0 to 1. */
    function glideBy(set, seconds = GLIDE_SECONDS) {
      if (motion.matches) {
        glide = null;
        set(1);
        return;
      }
      glide = { set, seconds, begun: null };
      request();
    }

    function advance() {
      const now = performance.now() / 1000;
      if (glide.begun === null) glide.begun = now;
      const share = Math.min((now - glide.begun) / glide.seconds, 1);
      const { set } = glide;
      if (share === 1) glide = null;
      set(ease(share));
      // `set` has requested a frame, but this frame already draws the change.
      cancelAnimationFrame(frame);
      frame = 0;
      if (glide) request();
    }

    const glideToTime = (to, seconds) => {
      const from = state.isWalked ? (state.place >= actions.end ? 1 : 0) : state.time;
      glideBy((share) => actions.look({ isWalked: false, time: from + (to - from) * share }), seconds);
    };
    const glideToPlace = (to) => {
      const from = actions.placeNow();
      const goal = Math.min(Math.max(to, 0), actions.end);
      glideBy((share) => actions.walkTo(from + (goal - from) * share));
    };

    function resize() {
      const box = canvas.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      size = { width: box.width, height: box.height, ratio };
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
      // Resizing clears the canvas; drawing at once avoids flicker.
      if (!scene) return;
      if (!isTouched) goHome();
      draw();
    }

    const turn = (next) => {
      pose = next;
      isTouched = true;
      setFlat(pose.perspective === 0);
      request();
    };

    /** Returns the point nearest to a position on the canvas; tokens take precedence. */
    function pick(x, y) {
      let best = null;
      for (const mark of drawn) {
        if (mark.isDashed) continue;
        const distance = Math.hypot(mark.x - x, mark.y - y) - mark.radius - (mark.position === undefined ? 0 : 4);
        if (distance < PICK && (!best || distance < best.distance)) best = { mark, distance };
      }
      return best && best.mark;
    }

    const hoverOf = (mark) => {
      if (!mark) return null;
      return mark.position === undefined ? { word: mark.word } : { side: "sentence", position: mark.position };
    };

    function listen() {
      const pointers = new Map();
      let moved = 0;
      const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      canvas.addEventListener("pointerdown", (event) => {
        pointers.set(event.pointerId, at(event));
        moved = 0;
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        const [x, y] = at(event);
        const before = pointers.get(event.pointerId);
        if (!before) {
          const mark = pick(x, y);
          canvas.style.cursor = mark ? "pointer" : "grab";
          actions.look({ hovered: hoverOf(mark) });
          return;
        }
        const [dx, dy] = [x - before[0], y - before[1]];
        moved += Math.abs(dx) + Math.abs(dy);
        if (pointers.size === 2) {
          const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
          const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
          const ratio = apart([x, y]) / Math.max(apart(before), 1);
          const middle = [(((x + other[0]) / 2) / size.width) * 2 - 1, 1 - (((y + other[1]) / 2) / size.height) * 2];
          const zoomed = Camera.zoom(pose, Math.log(Math.max(ratio, 0.01)) * 300, middle, size.width / size.height);
          turn(Camera.pan(zoomed, dx / 2, dy / 2, size.width, size.height));
        } else if (moved > DRAG_MIN) {
          const isPan = event.buttons > 1 || event.shiftKey;
          turn(isPan ? Camera.pan(pose, dx, dy, size.width, size.height) : Camera.orbit(pose, dx, dy));
        }
        pointers.set(event.pointerId, [x, y]);
      });
      const up = (event) => {
        pointers.delete(event.pointerId);
        if (event.type !== "pointerup" || moved > DRAG_MIN) return;
        const mark = pick(...at(event));
        if (mark && mark.position !== undefined) actions.look({ query: mark.position, key: null, hovered: hoverOf(mark) });
        else actions.look({ hovered: hoverOf(mark) });
      };
      canvas.addEventListener("pointerup", up);
      canvas.addEventListener("pointercancel", up);
      canvas.addEventListener("pointerleave", () => actions.look({ hovered: null }));
      canvas.addEventListener("contextmenu", (event) => event.preventDefault());
      canvas.addEventListener("dblclick", home);
      canvas.addEventListener(
        "wheel",
        (event) => {
          event.preventDefault();
          const [x, y] = at(event);
          const cursor = [(x / size.width) * 2 - 1, 1 - (y / size.height) * 2];
          turn(Camera.zoom(pose, -event.deltaY, cursor, size.width / size.height));
        },
        { passive: false },
      );
      canvas.addEventListener("keydown", (event) => {
        const aspect = size.width / size.height;
        const keys = {
          ArrowLeft: () => turn(Camera.orbit(pose, -KEY_TURN, 0)),
          ArrowRight: () => turn(Camera.orbit(pose, KEY_TURN, 0)),
          ArrowUp: () => turn(Camera.orbit(pose, 0, -KEY_TURN)),
          ArrowDown: () => turn(Camera.orbit(pose, 0, KEY_TURN)),
          "+": () => turn(Camera.zoom(pose, KEY_ZOOM, [0, 0], aspect)),
          "=": () => turn(Camera.zoom(pose, KEY_ZOOM, [0, 0], aspect)),
          "-": () => turn(Camera.zoom(pose, -KEY_ZOOM, [0, 0], aspect)),
          Home: home,
          2: flat,
          " ": () => glideToPlace(actions[event.shiftKey ? "stopBefore" : "stopAfter"](actions.placeNow())),
        };
        if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
      });
    }

    function home() {
      isTouched = false;
      goHome();
      request();
    }

    function setFlat(flat) {
      if (flat === isFlat) return;
      isFlat = flat;
      showFlat(isFlat);
    }

    function flat() {
      setFlat(!isFlat);
      home();
    }

    listen();
    state.actions.on("pass", build);
    state.actions.on("view", request);
    build();
    resize();
    new ResizeObserver(resize).observe(canvas);
    return {
      home,
      flat,
      zoom: (scroll) => turn(Camera.zoom(pose, scroll, [0, 0], size.width / size.height)),
      /** Draws again after a change of the theme or the font, and measures names again. */
      redraw() {
        widths.clear();
        request();
      },
      glideToTime,
      glideToPlace,
      /** Returns positions on the canvas, for comparison with the program's. */
      measured() {
        draw();
        const at = ({ x, y }) => [x, y];
        const tokens = drawn.filter((mark) => mark.position !== undefined).sort((a, b) => a.position - b.position);
        const table = drawn.filter((mark) => mark.position === undefined && !mark.isDashed).sort((a, b) => a.word - b.word);
        const reached = scene.tokens.map((token) => token.reached);
        return { width: size.width, height: size.height, tokens: tokens.map(at), words: table.map(at), goals: goals().map(({ label }) => label), glows: glows.map(({ name }) => name), reached };
      },
    };
  }

  return { create };
})();
