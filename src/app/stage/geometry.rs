//! Points and lines of the stage, for the render pass: the points' instance buffer; arrows from each ghost to its live point;
//! the axes and, as long as the view has depth, the ground with a line from each token down to it; the lines of the stage cell
//! between words; and those of the walk, from the query to its keys.

use std::sync::LazyLock;

use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::Quantity;
use attune_ui::theme::{Palette, Role, weight_line};
use attune_ui::ui_state::search::{Emphasis, Visibility};
use attune_ui::ui_state::walk::ease;
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::explain::walk::{NumberRow, Step, WalkModel};
use attune_view::view_model::features::{Levels, Scale};
use attune_view::view_model::labels::Side;
use attune_view::view_model::stage::{GhostPoint, Goal, SecondKind, StageModel, TokenPoint};
use bevy::math::Vec3;
use egui::Color32;
use egui::ecolor::linear_f32_from_gamma_u8;

use super::content::Content;

/// Radii in points on the screen at the target's depth: zooming in parts the points instead of inflating them.
pub const WORD_RADIUS: f32 = 4.6;
/// Radius of a word without a group among many: visible, but it does not compete.
pub const QUIET_RADIUS: f32 = 2.2;
pub const TOKEN_RADIUS: f32 = 7.6;
/// No point is drawn smaller than this.
pub const LEAST_RADIUS: f32 = 1.8;
/// Radius of a word with the greatest number, where sizes are numbers.
pub const LARGEST_WORD_RADIUS: f32 = 7.6;

/// Numbers of one instance: start, end, colour, size, kind. The shader's `Instance`.
pub const INSTANCE_FLOATS: usize = 12;

/// All points are labelled when there are no more than this.
const ALL_LABELLED: usize = 60;

pub const DISC: f32 = 0.0;
pub const RING: f32 = 1.0;
/// Rings in strokes, as many as the shader draws.
const DASHED: f32 = 3.0;
const DOTTED: f32 = 4.0;
/// Added to a kind, takes the fog away. The shader's too.
const CLEAR: f32 = 16.0;
pub const DASHES: usize = 4;
pub const DOTS: usize = 8;

/// One point or line as the shader reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    pub start: [f32; 3],
    pub end: [f32; 3],
    pub color: Color32,
    /// Radius or width, in points.
    pub size: f32,
    pub kind: f32,
}

impl Instance {
    /// The same before all fog: what the picture is about keeps its hue however far away it is.
    #[must_use]
    pub fn clear(self) -> Self {
        Self { kind: self.kind + CLEAR, ..self }
    }

    /// Whether the point has a finite place; one without cannot be drawn.
    pub fn has_place(&self) -> bool {
        has_place(self.start) && has_place(self.end)
    }

    fn floats(&self) -> [f32; INSTANCE_FLOATS] {
        let ([a, b, c], [d, e, f]) = (self.start, self.end);
        // Without its opacity first: the hue of what is faint stays.
        let [red, green, blue, alpha] = self.color.to_srgba_unmultiplied();
        let light = |channel: u8| LINEAR[usize::from(channel)];
        let alpha = f32::from(alpha) / f32::from(u8::MAX);
        [a, b, c, d, e, f, light(red), light(green), light(blue), alpha, self.size, self.kind]
    }
}

/// The light of each value of a channel: to work it out for each of very many points would take longer than a frame.
static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|channel| linear_f32_from_gamma_u8(channel as u8)));

/// The buffer's bytes.
pub fn bytes(instances: impl IntoIterator<Item = Instance>) -> Vec<u8> {
    let instances = instances.into_iter();
    let mut bytes = Vec::with_capacity(instances.size_hint().0 * size_of::<[f32; INSTANCE_FLOATS]>());
    for instance in instances {
        let mut floats = [[0; size_of::<f32>()]; INSTANCE_FLOATS];
        for (bytes, float) in floats.iter_mut().zip(instance.floats()) {
            *bytes = float.to_ne_bytes();
        }
        bytes.extend_from_slice(floats.as_flattened());
    }
    bytes
}

/// Model coordinates to scene coordinates: one isotropic scale, fixed for the lesson.
pub fn scaled(model: &StageModel, at: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = at;
    let radius = model.radius.max(f32::MIN_POSITIVE);
    [x / radius, y / radius, z / radius]
}

/// The colour of a word or token, stepped back when others are lit.
pub fn shade(palette: &Palette, color: Color32, shown: Visibility) -> Color32 {
    if shown == Visibility::Faded { palette.dimmed(color) } else { color }
}

/// A point that has no place cannot be drawn.
pub fn has_place(at: [f32; 3]) -> bool {
    let [x, y, z] = at;
    x.is_finite() && y.is_finite() && z.is_finite()
}

/// So few points that all of them are labelled.
pub fn is_small(model: &StageModel) -> bool {
    model.words.len() + model.tokens.len() <= ALL_LABELLED
}

/// A lesson's own corpus has fewer words.
const MANY: usize = 1000;

/// Very many words, all of them drawn: the picture is about their cloud.
pub fn is_cloud(model: &StageModel) -> bool {
    !model.hides_table && model.words.len() > MANY
}

/// Every disc and ring of the scene; `old`: those of the picture before this one too.
pub fn instances(model: &StageModel, emphasis: &Emphasis, old: bool, palette: &Palette) -> Vec<Instance> {
    let colors = word_colors(model, emphasis, palette);
    // Words that step back come first, under all others, and chosen ones last: see `count_under`.
    let [mut under, mut among, mut over] = [const { Vec::new() }; 3];
    for (index, shown) in emphasis.shown_words(model) {
        // Beside chosen words, the places that the others have left say nothing.
        if shown == Visibility::Faded && model.is_in_sentence(index) {
            continue;
        }
        let drawn = match Depth::of(model, emphasis, (index, shown)) {
            Depth::Under => &mut under,
            Depth::Among => &mut among,
            Depth::Over => &mut over,
        };
        drawn.push(word_point(model, emphasis, (index, shown), &colors, palette));
    }
    let in_sight = || model.tokens.iter().filter(|token| emphasis.token(token.position) != Visibility::Hidden);
    let ghosts =
        in_sight().filter(|token| token.end != token.trained_end).map(|token| trained_ghost(model, token, palette));
    let tokens = in_sight().map(|token| token_point(model, token, emphasis.token(token.position), palette));
    let old =
        model.ghosts.iter().filter(|_| old && !emphasis.is_isolated()).map(|ghost| old_ghost(model, ghost, palette));
    let split = in_sight().filter(|token| token.pieces > 1);
    let split = split.map(|token| static_place(model, token, emphasis.token(token.position), palette));
    let begun = in_sight().filter(|token| token.start != token.static_at).map(|token| beginning(model, token, palette));
    let mut all = under;
    all.append(&mut among);
    all.extend(old);
    all.append(&mut over);
    all.extend(split.chain(ghosts).chain(begun).chain(tokens));
    all.retain(Instance::has_place);
    all
}

/// Words of a sheer cloud that step back behind others: the first of [`instances`], so many. Whatever else there is is drawn over
/// them, as none of them hides what lies behind it.
pub fn count_under(model: &StageModel, emphasis: &Emphasis) -> usize {
    if !may_step_back(model, emphasis) {
        return 0;
    }
    let is_under = |word: &(usize, Visibility)| {
        Depth::of(model, emphasis, *word) == Depth::Under && has_place(model.words[word.0].at)
    };
    emphasis.shown_words(model).filter(is_under).count()
}

/// How a word of the table lies to the others in the order of drawing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Under,
    Among,
    Over,
}

impl Depth {
    fn of(model: &StageModel, emphasis: &Emphasis, (index, shown): (usize, Visibility)) -> Self {
        match emphasis.is_chosen(shown) {
            true => Self::Over,
            false if may_step_back(model, emphasis) && !model.is_in_sentence(index) => Self::Under,
            false => Self::Among,
        }
    }
}

/// Words of a sheer cloud step back where some are searched, or go from one file to another.
fn may_step_back(model: &StageModel, emphasis: &Emphasis) -> bool {
    opacity(model) < 1.0 && (emphasis.is_searched() || model.second_kind == SecondKind::Spaces)
}

/// Whether a word is one of many that mean nothing by themselves: it has no group, or nearly all have one.
pub fn is_quiet(model: &StageModel, index: usize) -> bool {
    let is_grouped = model.words[index].group.is_some() && model.words.grouped().len() <= MANY;
    !is_grouped && !is_small(model)
}

/// The opacity of a word's disc: very many are sheer, so that it shows where they crowd.
fn opacity(model: &StageModel) -> f32 {
    const OPAQUE: f32 = 10_000.0;
    const LEAST: f32 = 0.2;
    (OPAQUE / model.words.len().max(1) as f32).clamp(LEAST, 1.0)
}

/// The colours of a word: plain and stepped back, each where it stands out and where it is quiet.
type WordColors = [[Color32; 2]; 2];

/// The colours of words without a group, and then of those of each group, or those of each level of a feature: for each of
/// very many words they would be worked out for longer than a frame.
fn word_colors(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<WordColors> {
    /// How far a sheer cloud steps back into the ground, so that the chosen words over it are seen.
    const STEP_BACK: f32 = 0.6;
    let sheer = opacity(model);
    let back = if sheer < 1.0 { STEP_BACK } else { 0.0 };
    let of = |own: Option<Color32>| {
        let quiet = own.unwrap_or_else(|| palette.dimmed(palette.word));
        [(Visibility::Lit, 0.0), (Visibility::Faded, back)].map(|(shown, back)| {
            let of = |color: Color32| shade(palette, color, shown).lerp_to_gamma(palette.stage, back);
            [of(own.unwrap_or(palette.word)), of(quiet).gamma_multiply(sheer)]
        })
    };
    if let Some(levels) = &emphasis.by_feature.colors {
        return (0..levels.scale.levels()).map(|level| of(level_color(&levels.scale, level as u8, palette))).collect();
    }
    let groups = model.words.grouped().iter().filter_map(|word| model.words[*word].group).max();
    let groups = (0..groups.map_or(0, |last| last + 1)).map(|group| of(Some(palette.group(group))));
    std::iter::once(of(None)).chain(groups).collect()
}

/// The colour of a level of a feature; none of a row without an entry, and of values that have no colour of their own.
pub fn level_color(scale: &Scale, level: u8, palette: &Palette) -> Option<Color32> {
    let own = usize::from(level.checked_sub(1)?);
    match scale {
        Scale::Values { names, .. } => (own < names.len()).then(|| palette.group(own)),
        Scale::Numbers { .. } => Some(palette.ramp(Scale::share(level))),
    }
}

/// The colour of a word, at rest and not chosen: of its level of a feature, or else its group.
pub fn word_color(model: &StageModel, emphasis: &Emphasis, index: usize, palette: &Palette) -> Color32 {
    match &emphasis.by_feature.colors {
        Some(levels) => level_color(&levels.scale, levels.of(index), palette).unwrap_or(palette.word),
        None => palette.word_of(model.words.get(index).and_then(|word| word.group)),
    }
}

/// The radius of a word: of its number, where sizes are numbers.
pub fn word_radius(model: &StageModel, emphasis: &Emphasis, index: usize, is_chosen: bool) -> f32 {
    match &emphasis.by_feature.sizes {
        Some(levels) => {
            let radius = sized(Scale::share(levels.of(index)), largest_radius(model, levels));
            radius.max(if is_chosen { WORD_RADIUS } else { LEAST_RADIUS })
        }
        None if is_quiet(model, index) && !is_chosen => QUIET_RADIUS,
        None => WORD_RADIUS,
    }
}

/// The radius of a disc whose area grows with a number, from 0 to 1.
pub fn sized(share: f32, largest: f32) -> f32 {
    let [least, largest] = [LEAST_RADIUS, largest].map(|radius| radius * radius);
    (least + share * (largest - least)).sqrt()
}

/// The radius of the greatest number. In a cloud it is so large that all discs together cover little more than discs of one size:
/// the time of a frame is that of what they cover.
fn largest_radius(model: &StageModel, levels: &Levels) -> f32 {
    /// Mean area of a disc, in areas of a quiet one.
    const COVERED: f32 = 1.5;
    if !is_cloud(model) {
        return LARGEST_WORD_RADIUS;
    }
    let least = LEAST_RADIUS * LEAST_RADIUS;
    let above = COVERED * QUIET_RADIUS * QUIET_RADIUS - least;
    (least + above / levels.mean_share.max(f32::MIN_POSITIVE)).sqrt().min(LARGEST_WORD_RADIUS)
}

fn word_point(
    model: &StageModel,
    emphasis: &Emphasis,
    (index, shown): (usize, Visibility),
    colors: &[WordColors],
    palette: &Palette,
) -> Instance {
    let word = &model.words[index];
    let at = scaled(model, word.at);
    let (color, size, kind) = if model.is_in_sentence(index) {
        (shade(palette, palette.token(word.group), shown), TOKEN_RADIUS, RING)
    } else {
        let is_chosen = emphasis.is_chosen(shown);
        let is_quiet = is_quiet(model, index) && !is_chosen;
        let color = match &emphasis.by_feature.colors {
            Some(levels) => usize::from(levels.of(index)),
            None => word.group.map_or(0, |group| group + 1),
        };
        let steps_back = shown == Visibility::Faded || may_step_back(model, emphasis) && !is_chosen;
        let color = colors[color][usize::from(steps_back)][usize::from(is_quiet)];
        (color, word_radius(model, emphasis, index, is_chosen), DISC)
    };
    Instance { start: at, end: at, color, size, kind }
}

/// Tokens that step back behind others are as small as words.
pub fn token_radius(shown: Visibility) -> f32 {
    if shown == Visibility::Faded { WORD_RADIUS } else { TOKEN_RADIUS }
}

fn token_point(model: &StageModel, token: &TokenPoint, shown: Visibility, palette: &Palette) -> Instance {
    let color = shade(palette, palette.token(token.group), shown);
    let (start, end) = (scaled(model, token.start), scaled(model, token.end));
    let point = Instance { start, end, color, size: token_radius(shown), kind: DISC };
    if shown == Visibility::Faded { point } else { point.clear() }
}

/// The static place of a word in pieces, which is none of the table's.
fn static_place(model: &StageModel, token: &TokenPoint, shown: Visibility, palette: &Palette) -> Instance {
    let (at, color) = (scaled(model, token.static_at), shade(palette, palette.token(token.group), shown));
    Instance { start: at, end: at, color, size: TOKEN_RADIUS, kind: RING }
}

/// The token's place before the layer that is shown, where its arrow begins.
fn beginning(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let at = scaled(model, token.start);
    let color = palette.dimmed(palette.token(token.group));
    Instance { start: at, end: at, color, size: LEAST_RADIUS, kind: DISC }
}

/// The token's place before weights were edited.
fn trained_ghost(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let (start, end) = (scaled(model, token.start), scaled(model, token.trained_end));
    let color = palette.dimmed(palette.token(token.group));
    Instance { start, end, color, size: TOKEN_RADIUS, kind: DASHED }
}

/// A point's place before the lesson was trained again.
fn old_ghost(model: &StageModel, ghost: &GhostPoint, palette: &Palette) -> Instance {
    let is_token = model.tokens.iter().any(|token| token.text == ghost.text);
    let own = if is_token { palette.token(ghost.group) } else { palette.word_of(ghost.group) };
    let color = palette.dimmed(own);
    let (start, end) = (scaled(model, ghost.start), scaled(model, ghost.end));
    Instance { start, end, color, size: WORD_RADIUS, kind: DOTTED }
}

/// The points that the picture is about: all tokens, before and after attention or the layer that is shown, and the words
/// of groups; all words, where there are none of these, or where they are a cloud.
pub fn extent(model: &StageModel) -> Content {
    if is_cloud(model) {
        return Content::ball(1.0);
    }
    let grouped = if model.hides_table { &[] } else { model.words.grouped() };
    let named = grouped.iter().chain(&model.in_sentence).map(|&word| model.words[word].at);
    // Between the layers of some pretrained models the first token is so far away that nothing else would be seen.
    let is_far = |token: &&TokenPoint| model.hides_table && model.is_of_layer() && token.position == 0;
    let tokens = model.tokens.iter().filter(|token| !is_far(token)).chain(&model.second);
    let tokens = tokens.flat_map(|token| [token.start, token.end]);
    let placed = |at: [f32; 3]| has_place(at).then(|| Vec3::from(scaled(model, at)));
    let about: Vec<Vec3> = named.chain(tokens).filter_map(placed).collect();
    // A word alone, which no group says anything of, is one of a file's.
    if about.is_empty() || (grouped.is_empty() && model.tokens.len() == 1 && !model.hides_table) {
        return Content::of(model.words.iter().filter_map(|word| placed(word.at)));
    }
    Content::of(about)
}

const LINE: f32 = 0.0;
const ARROW: f32 = 1.0;
/// From the live point to the ground below it.
const DROP: f32 = 3.0;
const GROUND_LINE: f32 = 4.0;
/// Widths in points.
const ARROW_WIDTH: f32 = 2.0;
const GRID_WIDTH: f32 = 1.2;
const AXIS_WIDTH: f32 = 1.4;
const DROP_WIDTH: f32 = 1.0;
const WORD_LINE_WIDTH: f32 = 1.4;
/// How much of what lies behind it a line to the ground lets through: mixed with the ground it would be a scratch over others.
const DROP_FAINTNESS: f32 = 0.6;
/// The ground lies so far below what the picture is about, and is ruled in squares of the second number.
const BELOW: f32 = 0.12;
const GRID_STEP: f32 = 0.25;
const GRID_HALF: i32 = 7;
/// How far an axis reaches on each side.
const AXIS_REACH: f32 = 1.0;

/// The ground and the axes.
pub fn of_space(model: &StageModel, floor: Floor, palette: &Palette) -> Vec<Instance> {
    ground(floor, palette).into_iter().chain(axes(model, palette)).collect()
}

/// The moves of the words that are lit, from static to contextual.
pub fn of_moves(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let from_to = |token: &TokenPoint, faintness: f32, size, kind| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: palette.token(token.group).gamma_multiply(1.0 - faintness),
        size,
        kind,
    };
    // In a step of a walk, or where nobody chose a word, most words are lit, and none of them for itself.
    let is_lit = |token: &TokenPoint| emphasis.token(token.position) == Visibility::Lit;
    let has_drops = !emphasis.is_of_step() && !model.tokens.iter().all(|token| token.is_part || is_lit(token));
    let lit = || model.tokens.iter().filter(|token| is_lit(token));
    let drops = lit().filter(|_| has_drops).map(|token| from_to(token, DROP_FAINTNESS, DROP_WIDTH, DROP));
    let arrows = lit().map(|token| from_to(token, 0.0, ARROW_WIDTH, ARROW).clear());
    drops.chain(arrows).filter(Instance::has_place).collect()
}

/// The lines of the stage cell between words that are seen, at their static points.
pub fn of_words(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let line = |ends: [usize; 2]| {
        let [start, end] = ends.map(|word| scaled(model, model.words[word].at));
        Instance { start, end, color: palette.ink_faint, size: WORD_LINE_WIDTH, kind: LINE }
    };
    emphasis.lines().map(line).filter(Instance::has_place).collect()
}

/// Minus the gradient of each goal's loss at the word's contextual point; it comes as the word arrives there.
pub fn of_goals(model: &StageModel, emphasis: &Emphasis, time: f32, palette: &Palette) -> Vec<Instance> {
    let arrow = |goal: &Goal| Instance {
        start: scaled(model, model.tokens[goal.token].end),
        end: scaled(model, goal.to),
        color: palette.error.gamma_multiply(time),
        size: PATH_WIDTH,
        kind: STILL_ARROW,
    };
    emphasis.goals.iter().filter(|_| time > 0.0).map(arrow).filter(Instance::has_place).collect()
}

/// The ground: its height, and the side of its squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floor {
    pub height: f32,
    step: f32,
}

impl Floor {
    /// Below all that the picture is about, and as wide: the squares are the larger where it is wider.
    pub fn of(model: &StageModel) -> Self {
        let content = extent(model);
        let larger = (content.widest() / (GRID_HALF as f32 * GRID_STEP)).ceil().max(1.0);
        Self { height: content.lowest().unwrap_or(-1.0) - BELOW * larger, step: GRID_STEP * larger }
    }
}

fn ground(Floor { height, step }: Floor, palette: &Palette) -> Vec<Instance> {
    let reach = GRID_HALF as f32 * step;
    let color = palette.sheer(palette.grid);
    let line = |start, end| Instance { start, end, color, size: GRID_WIDTH, kind: GROUND_LINE };
    (-GRID_HALF..=GRID_HALF)
        .map(|i| i as f32 * step)
        .flat_map(|x| [line([x, height, -reach], [x, height, reach]), line([-reach, height, x], [reach, height, x])])
        .collect()
}

fn axes(model: &StageModel, palette: &Palette) -> impl Iterator<Item = Instance> {
    (0..model.axes.len()).map(|axis| {
        let end = axis_end(axis);
        // One that runs between two named ends is a mark to be read.
        let color = palette.sheer(if model.axes[axis].ends.is_some() { palette.axis } else { palette.grid });
        Instance { start: end.map(|x| -x), end, color, size: AXIS_WIDTH, kind: LINE }
    })
}

/// The positive end of an axis.
pub fn axis_end(axis: usize) -> [f32; 3] {
    std::array::from_fn(|i| if i == axis { AXIS_REACH } else { 0.0 })
}

/// An arrow of its full length, whatever the time.
const STILL_ARROW: f32 = 2.0;
/// Width in points of a line that stands for no number.
const THIN: f32 = 1.2;
const PATH_WIDTH: f32 = 2.2;
/// Lines to keys, once the move is shown.
const FAINT: f32 = 0.25;

/// The walk and the arrows that it shows.
#[derive(Clone, Copy)]
pub struct Walked<'a> {
    pub walk: &'a WalkModel,
    pub path: &'a PathModel,
    /// Arrows of the words in this head alone.
    pub mix: Option<&'a PathModel>,
}

impl Walked<'_> {
    /// The place of a word before the layer moves it; words of another sentence have none.
    fn place(&self, model: &StageModel, side: Side, index: usize) -> Option<[f32; 3]> {
        match side {
            Side::Sentence => model.tokens.get(index).map(|token| token.start),
            Side::Source => self.walk.source.get(index).map(|word| word.from),
        }
    }
}

/// Lines from the query to its keys, and the arrows of its move, tip to tail; `at` is how far the walk is, a whole number
/// at each step.
pub fn of_walk(
    model: &StageModel,
    walked: Option<Walked>,
    emphasis: &Emphasis,
    at: f32,
    palette: &Palette,
) -> Vec<Instance> {
    let labels = model.tokens.iter().map(TokenPoint::label);
    let Some(walked) = walked.filter(|walked| model.is_of_words || walked.walk.fits(labels)) else {
        return Vec::new();
    };
    let is_hidden = |token| emphasis.token(token) == Visibility::Hidden;
    if walked.walk.query_side == Side::Sentence && is_hidden(walked.walk.focus.query) {
        return Vec::new();
    }
    let mut lines = arrows(model, &walked, at, palette);
    // Steps are of pieces: between words there is nothing but the move.
    if !model.is_of_words {
        let of_keys = key_lines(model, &walked, emphasis, at, palette).into_iter();
        let of_roles = roles(model, walked.walk, at).into_iter();
        let of_roles = of_roles.map(|RoleArrow { role, end, .. }| of_role(model, role, end, palette));
        lines = of_keys.chain(of_roles).chain(sliding(model, &walked, at, palette)).chain(lines).collect();
    }
    lines.retain(Instance::has_place);
    lines
}

fn key_lines(model: &StageModel, walked: &Walked, emphasis: &Emphasis, at: f32, palette: &Palette) -> Vec<Instance> {
    let walk = walked.walk;
    let (shown, query) = (Step::Score.share(at), walked.place(model, walk.query_side, walk.focus.query));
    let Some(query) = query.filter(|_| shown > 0.0) else { return Vec::new() };
    let scores = walk.by_key(Step::Scale, Quantity::Score);
    let masked = Step::Scale.share(at);
    let gone = Step::Output.share(at);
    let hue = palette.query;
    let line = |key: usize| {
        let pull = walk.pull(at, key);
        let is_hidden = scores.get(key) == Some(&f32::NEG_INFINITY);
        let seen = if is_hidden { 1.0 - masked } else { 1.0 };
        let alpha = shown * seen * weight_line::opacity(pull) * (1.0 - (1.0 - FAINT) * gone);
        let is_itself = walk.query_side == walk.key_side && key == walk.focus.query;
        let is_out = walk.key_side == Side::Sentence && emphasis.token(key) == Visibility::Hidden;
        let start = walked.place(model, walk.key_side, key).filter(|_| !is_itself && !is_out && alpha > 0.0)?;
        let size = weight_line::width(pull);
        let (start, end) = (scaled(model, start), scaled(model, query));
        Some(Instance { start, end, color: hue.gamma_multiply(alpha), size, kind: LINE })
    };
    (0..walk.keys.len()).filter_map(line).collect()
}

/// The worked query, key and value as arrows from the origin, where they have no more numbers than the space has axes.
pub struct RoleArrow<'a> {
    pub row: &'a NumberRow,
    pub role: Role,
    pub end: [f32; 3],
    /// The scale of all three, below 1 where the longest would leave the picture.
    pub scale: f32,
}

/// As far as they have grown: query and key until there are weights, the value until the query meets the key.
pub fn roles<'a>(model: &StageModel, walk: &'a WalkModel, at: f32) -> Vec<RoleArrow<'a>> {
    let rows = walk.step(Step::Project).rows.iter().filter(|row| row.values.len() <= model.axes.len());
    let longest = rows.clone().map(|row| norm(&row.values)).fold(f32::MIN_POSITIVE, f32::max);
    let scale = (model.radius / longest).min(1.0);
    let arrow = |row: &'a NumberRow| {
        let role = Role::of(row.first.quantity)?;
        let gone = if role == Role::Value { Step::Score } else { Step::Softmax };
        let seen = Step::Project.share(at) * (1.0 - gone.share(at));
        let end = std::array::from_fn(|axis| seen * scale * row.values.get(axis).copied().unwrap_or(0.0));
        (seen > 0.0).then_some(RoleArrow { row, role, end, scale })
    };
    rows.filter(|_| model.is_whole).filter_map(arrow).collect()
}

/// From the origin, as any vector.
fn of_role(model: &StageModel, role: Role, end: [f32; 3], palette: &Palette) -> Instance {
    let (start, end) = ([0.0; 3], scaled(model, end));
    Instance { start, end, color: role.hue(palette), size: PATH_WIDTH, kind: STILL_ARROW }
}

/// Weighted values of the head as arrows: each slides from its word to the query, until they lie tip to tail. What they
/// come to there is the head's share of the move.
fn sliding(model: &StageModel, walked: &Walked, at: f32, palette: &Palette) -> Vec<Instance> {
    let (shown, gone) = (Step::Mix.share(at), Step::Output.share(at));
    let Some(mix) = walked.mix.filter(|_| shown > 0.0 && gone < 1.0) else { return Vec::new() };
    let hue = palette.value.gamma_multiply(1.0 - gone);
    let arrow = |arrow: &PathArrow| {
        let from = walked.place(model, walked.walk.key_side, arrow.key?)?;
        let slid = ease(shown);
        let start: [f32; 3] = std::array::from_fn(|axis| from[axis] + slid * (arrow.from[axis] - from[axis]));
        let end = std::array::from_fn(|axis| start[axis] + arrow.to[axis] - arrow.from[axis]);
        let (start, end) = (scaled(model, start), scaled(model, end));
        Some(Instance { start, end, color: hue, size: PATH_WIDTH, kind: STILL_ARROW })
    };
    mix.arrows.iter().filter_map(arrow).collect()
}

/// Arrows of a walk, which grow one after the other from the place of the token, where the sentence has places.
fn arrows(model: &StageModel, walked: &Walked, at: f32, palette: &Palette) -> Vec<Instance> {
    let (shown, path) = (Step::Output.share(at), walked.path);
    let start = walked.place(model, walked.walk.query_side, path.query);
    let Some(start) = start.filter(|_| shown > 0.0) else { return Vec::new() };
    let count = path.arrows.len().max(1) as f32;
    let place = (start != path.from).then(|| Instance {
        start: scaled(model, start),
        end: scaled(model, path.from),
        color: palette.ink_faint,
        size: THIN,
        kind: STILL_ARROW,
    });
    let grown = path.arrows.iter().enumerate().filter_map(|(index, arrow)| {
        let reach = (shown * count - index as f32).clamp(0.0, 1.0);
        let tip = std::array::from_fn(|axis| (1.0 - reach) * arrow.from[axis] + reach * arrow.to[axis]);
        (reach > 0.0).then(|| Instance {
            start: scaled(model, arrow.from),
            end: scaled(model, tip),
            color: color(model, walked.walk, arrow, palette),
            size: PATH_WIDTH,
            kind: STILL_ARROW,
        })
    });
    place.into_iter().chain(grown).collect()
}

/// A head's hue; a word's colour where it counts through all heads; the part's of what no head adds.
fn color(model: &StageModel, walk: &WalkModel, arrow: &PathArrow, palette: &Palette) -> egui::Color32 {
    let token = arrow.key.filter(|_| walk.key_side == Side::Sentence).and_then(|key| model.tokens.get(key));
    match (arrow.own, token) {
        (Some(own), _) => palette.head(own),
        (None, Some(token)) => palette.token(token.group),
        (None, None) => arrow.part.map_or(palette.ink_soft, |part| palette.part(part)),
    }
}
