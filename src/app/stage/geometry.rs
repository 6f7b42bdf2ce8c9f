//! Points and lines of the stage, for the render pass: the instance buffer of the points; the arrows of the words'
//! moves; the axes; the ground with a line from each token down to it, as long as the view has depth; the stage cell's
//! lines between words; and the walk's lines from the query to its keys.

use std::sync::LazyLock;

use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::Quantity;
use attune_ui::theme::{GROUPS, Palette, QUIET, Role, weight_line};
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

/// Radius of a word, in points of the screen at the target's depth, so that zooming in separates the points instead of
/// inflating them.
pub const WORD_RADIUS: f32 = 4.6;
/// Radius of a word without a group in a large table: visible, but less prominent than the others.
pub const QUIET_RADIUS: f32 = 2.2;
pub const TOKEN_RADIUS: f32 = 7.6;
/// Least radius of a point.
pub const LEAST_RADIUS: f32 = 1.8;
/// Radius of the word with the greatest number, if the sizes show numbers.
pub const LARGEST_WORD_RADIUS: f32 = 7.6;

/// Number of floats of one instance: start, end, colour, size and kind, as in the shader's `Instance`.
pub const INSTANCE_FLOATS: usize = 12;

/// Greatest number of points for which all points are labelled.
const ALL_LABELLED: usize = 60;

pub const DISC: f32 = 0.0;
pub const RING: f32 = 1.0;
/// Kinds of dashed and dotted rings, as in the shader.
const DASHED: f32 = 3.0;
const DOTTED: f32 = 4.0;
/// Number that is added to a kind to take its fog away, as in the shader.
const CLEAR: f32 = 16.0;
/// The number whose multiples are added to a kind for the group that the point reaches: once for group 0, twice for
/// group 1, and so on, as in the shader.
const GOAL: f32 = 32.0;
/// Times at which a point begins to take the hue of the group that it reaches, and at which it has that hue, as in the
/// shader.
const ARRIVAL: (f32, f32) = (0.7, 1.0);
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
    /// Returns the instance without fog, so that the subject of the picture keeps its hue at any distance.
    #[must_use]
    pub fn clear(self) -> Self {
        Self { kind: self.kind + CLEAR, ..self }
    }

    /// Returns the instance on its way to a group, whose hue it has at its end.
    #[must_use]
    pub fn towards(self, group: Option<usize>) -> Self {
        let goal = group.map_or(0, |group| 1 + group % GROUPS);
        Self { kind: self.kind + GOAL * goal as f32, ..self }
    }

    /// Returns whether both ends of the instance are finite; otherwise it cannot be drawn.
    pub fn has_place(&self) -> bool {
        has_place(self.start) && has_place(self.end)
    }

    fn floats(&self) -> [f32; INSTANCE_FLOATS] {
        let ([a, b, c], [d, e, f]) = (self.start, self.end);
        // The colour is converted without its opacity, so that a faint colour keeps its hue.
        let [red, green, blue, alpha] = self.color.to_srgba_unmultiplied();
        let light = |channel: u8| LINEAR[usize::from(channel)];
        let alpha = f32::from(alpha) / f32::from(u8::MAX);
        [a, b, c, d, e, f, light(red), light(green), light(blue), alpha, self.size, self.kind]
    }
}

/// Linear intensity of each value of a colour channel: computing it again for each of a million points would take
/// longer than a frame.
static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|channel| linear_f32_from_gamma_u8(channel as u8)));

/// Returns the bytes of the instance buffer.
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

/// Scales model coordinates to scene coordinates by one factor, which is fixed for the lesson and the same for all
/// axes.
pub fn scaled(model: &StageModel, at: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = at;
    let radius = model.radius.max(f32::MIN_POSITIVE);
    [x / radius, y / radius, z / radius]
}

/// Returns the colour of a word or token, dimmed if the point is faded, and quiet if a step is not about it.
pub fn shade(palette: &Palette, color: Color32, shown: Visibility, emphasis: &Emphasis) -> Color32 {
    match shown {
        Visibility::Faded if emphasis.is_of_step() => palette.quiet(color),
        Visibility::Faded => palette.dimmed(color),
        _ => color,
    }
}

/// Returns whether a place is finite; otherwise its point cannot be drawn.
pub fn has_place(at: [f32; 3]) -> bool {
    let [x, y, z] = at;
    x.is_finite() && y.is_finite() && z.is_finite()
}

/// Returns whether there are so few points that all of them are labelled.
pub fn is_small(model: &StageModel) -> bool {
    model.words.len() + model.tokens.len() <= ALL_LABELLED
}

/// Number of words above which a table is large; a lesson's own corpus has fewer.
const MANY: usize = 1000;

/// Returns whether a large table of words is drawn as a whole, so that the picture is about their cloud.
pub fn is_cloud(model: &StageModel) -> bool {
    !model.hides_table && model.words.len() > MANY
}

/// Returns every disc and ring of the scene; with `old`, also the points from before the last training.
pub fn instances(model: &StageModel, emphasis: &Emphasis, old: bool, palette: &Palette) -> Vec<Instance> {
    let colors = word_colors(model, emphasis, palette);
    // Faded words are drawn first, under all others, and chosen words last; see [`count_under`].
    let [mut under, mut among, mut over] = [const { Vec::new() }; 3];
    for (index, shown) in emphasis.shown_words(model) {
        // Beside chosen words, the static places that other words have left would only distract.
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
    let tokens = in_sight().map(|token| token_point(model, token, emphasis, palette));
    let old =
        model.ghosts.iter().filter(|_| old && !emphasis.is_isolated()).map(|ghost| old_ghost(model, ghost, palette));
    let split = in_sight().filter(|token| token.pieces > 1);
    let split = split.map(|token| static_place(model, token, emphasis, palette));
    let begun = in_sight().filter(|token| token.start != token.static_at).map(|token| beginning(model, token, palette));
    let mut all = under;
    all.append(&mut among);
    all.extend(old);
    all.append(&mut over);
    all.extend(split.chain(ghosts).chain(begun).chain(tokens));
    all.retain(Instance::has_place);
    all
}

/// Returns how many of the first [`instances`] are faded words of a transparent cloud. Everything else is drawn over
/// these, and they hide nothing behind them.
pub fn count_under(model: &StageModel, emphasis: &Emphasis) -> usize {
    if !may_step_back(model, emphasis) {
        return 0;
    }
    let is_under = |word: &(usize, Visibility)| {
        Depth::of(model, emphasis, *word) == Depth::Under && has_place(model.words[word.0].at)
    };
    emphasis.shown_words(model).filter(is_under).count()
}

/// Position of a word of the table in the order of drawing.
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

/// Returns whether words of a transparent cloud are faded: during a search, or while words move between two files.
fn may_step_back(model: &StageModel, emphasis: &Emphasis) -> bool {
    opacity(model) < 1.0 && (emphasis.is_searched() || model.second_kind == SecondKind::Spaces)
}

/// Returns whether a word is one of many without a meaning of its own here: it has no group, or nearly all words have
/// one. In a small scene, no word is.
pub fn is_quiet(model: &StageModel, index: usize) -> bool {
    let is_grouped = model.words[index].group.is_some() && model.words.grouped().len() <= MANY;
    !is_grouped && !is_small(model)
}

/// Returns the opacity of a word's disc: in a very large table discs are transparent, so that dense regions become
/// visible.
fn opacity(model: &StageModel) -> f32 {
    const OPAQUE: f32 = 10_000.0;
    const LEAST: f32 = 0.2;
    (OPAQUE / model.words.len().max(1) as f32).clamp(LEAST, 1.0)
}

/// Colours of a word: lit and faded, each prominent and quiet.
type WordColors = [[Color32; 2]; 2];

/// Returns the colours of words without a group, followed by those of each group or of each level of a feature. They
/// are computed once, because computing them for each of a million words would take longer than a frame.
fn word_colors(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<WordColors> {
    /// Share of the background's colour in a faded word of a transparent cloud, so that the chosen words over it stand
    /// out.
    const STEP_BACK: f32 = 0.6;
    let sheer = opacity(model);
    let back = if sheer < 1.0 { STEP_BACK } else { 0.0 };
    let of = |own: Option<Color32>| {
        let quiet = own.unwrap_or_else(|| palette.dimmed(palette.word));
        [(Visibility::Lit, 0.0), (Visibility::Faded, back)].map(|(shown, back)| {
            let of = |color: Color32| shade(palette, color, shown, emphasis).lerp_to_gamma(palette.stage, back);
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

/// Returns the colour of a level of a feature, or `None` for a row without an entry and for values beyond the named
/// ones.
pub fn level_color(scale: &Scale, level: u8, palette: &Palette) -> Option<Color32> {
    let own = usize::from(level.checked_sub(1)?);
    match scale {
        Scale::Values { names, .. } => (own < names.len()).then(|| palette.group(own)),
        Scale::Numbers { .. } => Some(palette.ramp(Scale::share(level))),
    }
}

/// Returns the colour of a word that is not chosen: the colour of its level of the colouring feature, or else of its
/// group.
pub fn word_color(model: &StageModel, emphasis: &Emphasis, index: usize, palette: &Palette) -> Color32 {
    match &emphasis.by_feature.colors {
        Some(levels) => level_color(&levels.scale, levels.of(index), palette).unwrap_or(palette.word),
        None => palette.word_of(model.words.get(index).and_then(|word| word.group)),
    }
}

/// Returns the radius of a word, which depends on its number if the sizes show numbers.
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

/// Returns the radius of a disc whose area grows with a number from 0 to 1.
pub fn sized(share: f32, largest: f32) -> f32 {
    let [least, largest] = [LEAST_RADIUS, largest].map(|radius| radius * radius);
    (least + share * (largest - least)).sqrt()
}

/// Returns the radius of the disc for the greatest number. In a cloud it is limited so that all discs together cover
/// little more than discs of one size would, because the time of a frame grows with the covered area.
fn largest_radius(model: &StageModel, levels: &Levels) -> f32 {
    /// Mean area of a disc, in areas of a quiet disc.
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
        (shade(palette, palette.token(word.group), shown, emphasis), TOKEN_RADIUS, RING)
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

/// Returns how much of its goal's hue a point has at a time, as the shader's `arrival`.
pub fn arrival(time: f32) -> f32 {
    let share = ((time - ARRIVAL.0) / (ARRIVAL.1 - ARRIVAL.0)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// Returns the radius of a token; a faded token is as small as a word.
pub fn token_radius(shown: Visibility) -> f32 {
    if shown == Visibility::Faded { WORD_RADIUS } else { TOKEN_RADIUS }
}

fn token_point(model: &StageModel, token: &TokenPoint, emphasis: &Emphasis, palette: &Palette) -> Instance {
    let shown = emphasis.token(token.position);
    let color = shade(palette, palette.token(token.group), shown, emphasis);
    let (start, end) = (scaled(model, token.start), scaled(model, token.end));
    let goal = token.goal().filter(|_| shown != Visibility::Faded);
    let point = Instance { start, end, color, size: token_radius(shown), kind: DISC }.towards(goal);
    if shown == Visibility::Faded { point } else { point.clear() }
}

/// Returns the ring at the static place of a word of several pieces, which the table does not have.
fn static_place(model: &StageModel, token: &TokenPoint, emphasis: &Emphasis, palette: &Palette) -> Instance {
    let shown = emphasis.token(token.position);
    let (at, color) = (scaled(model, token.static_at), shade(palette, palette.token(token.group), shown, emphasis));
    Instance { start: at, end: at, color, size: TOKEN_RADIUS, kind: RING }
}

/// Returns the dot at which the token's arrow through the layer begins.
fn beginning(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let at = scaled(model, token.start);
    let color = palette.dimmed(palette.token(token.group));
    Instance { start: at, end: at, color, size: LEAST_RADIUS, kind: DISC }
}

/// Returns the ring at the place that the token had before the weights were edited.
fn trained_ghost(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let (start, end) = (scaled(model, token.start), scaled(model, token.trained_end));
    let color = palette.dimmed(palette.token(token.group));
    Instance { start, end, color, size: TOKEN_RADIUS, kind: DASHED }
}

/// Returns the ring at a point's place before the lesson was trained again.
fn old_ghost(model: &StageModel, ghost: &GhostPoint, palette: &Palette) -> Instance {
    let is_token = model.tokens.iter().any(|token| token.text == ghost.text);
    let own = if is_token { palette.token(ghost.group) } else { palette.word_of(ghost.group) };
    let color = palette.dimmed(own);
    let (start, end) = (scaled(model, ghost.start), scaled(model, ghost.end));
    Instance { start, end, color, size: WORD_RADIUS, kind: DOTTED }
}

/// Returns the points that the camera must show: all tokens, at both ends of their moves; the points at the ends of the
/// axis with a meaning; the words of groups; and the static places of the sentence's words. If there are none of these,
/// or only a single token without groups, returns all words; if the words are a cloud, returns the ball of radius 1.
pub fn extent(model: &StageModel) -> Content {
    if is_cloud(model) {
        return Content::ball(1.0);
    }
    let grouped = if model.hides_table { &[] } else { model.words.grouped() };
    let named = grouped.iter().chain(&model.in_sentence).map(|&word| model.words[word].at);
    // Between the layers of some pretrained models, the first token is so far away that the others would merge into one
    // point.
    let is_far = |token: &&TokenPoint| model.hides_table && model.is_of_layer() && token.position == 0;
    let tokens = model.tokens.iter().filter(|token| !is_far(token)).chain(&model.second);
    let ends = model.ends.iter().flat_map(|end| end.points.iter().copied());
    let tokens = tokens.flat_map(|token| [token.start, token.end]).chain(ends);
    let placed = |at: [f32; 3]| has_place(at).then(|| Vec3::from(scaled(model, at)));
    let about: Vec<Vec3> = named.chain(tokens).filter_map(placed).collect();
    // A single word without a group belongs to a file of vectors, whose words are then the subject.
    if about.is_empty() || (grouped.is_empty() && model.tokens.len() == 1 && !model.hides_table) {
        return Content::of(model.words.iter().filter_map(|word| placed(word.at)));
    }
    Content::of(about)
}

const LINE: f32 = 0.0;
const ARROW: f32 = 1.0;
/// Kind of the line from the live point to the ground below it.
const DROP: f32 = 3.0;
const GROUND_LINE: f32 = 4.0;
/// Kind of a line that is a fifth as wide at its end as at its beginning.
const TAPER: f32 = 6.0;
/// Kind of a line without a head from where a point was to where it is now.
const TRAIL: f32 = 7.0;
/// The width of the arrow of a move, in points.
const ARROW_WIDTH: f32 = 2.0;
/// Width of the arrow of a word that reaches a group, in points.
const GOAL_WIDTH: f32 = 4.0;
/// Width of the trail behind such an arrow, in points.
const TRAIL_WIDTH: f32 = 10.0;
/// Opacity of the trail.
const TRAIL_STRENGTH: f32 = 0.1;
const GRID_WIDTH: f32 = 1.2;
const AXIS_WIDTH: f32 = 1.4;
const DROP_WIDTH: f32 = 1.0;
const WORD_LINE_WIDTH: f32 = 1.4;
/// Transparency of a line to the ground; an opaque line would cut through the points behind it.
const DROP_FAINTNESS: f32 = 0.6;
/// Distance from the lowest point down to the ground, in scene units; it grows with a larger scene.
const BELOW: f32 = 0.12;
/// Side of a square of the ground, in scene units; it grows with a larger scene.
const GRID_STEP: f32 = 0.25;
/// Number of squares on each side of the ground's middle.
const GRID_HALF: i32 = 7;
/// Length of an axis on each side of the origin.
const AXIS_REACH: f32 = 1.0;

/// Returns the lines of the ground and of the axes.
pub fn of_space(model: &StageModel, floor: Floor, palette: &Palette) -> Vec<Instance> {
    ground(floor, palette).into_iter().chain(axes(model, palette)).collect()
}

/// Returns the arrows of the lit words' moves, with a trail for a word that reaches a group and, if only some words are
/// lit, with a line to the ground.
pub fn of_moves(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let from_to = |token: &TokenPoint, faintness: f32, size, kind| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: palette.token(token.group).gamma_multiply(1.0 - faintness),
        size,
        kind,
    };
    // In a step of a walk, and as long as no word is chosen, most words are lit and no single one needs a line to the
    // ground.
    let is_lit = |token: &TokenPoint| emphasis.token(token.position) == Visibility::Lit;
    let has_drops = !emphasis.is_of_step() && !model.tokens.iter().all(|token| token.is_part || is_lit(token));
    let lit = || model.tokens.iter().filter(|token| is_lit(token));
    let drops = lit().filter(|_| has_drops).map(|token| from_to(token, DROP_FAINTNESS, DROP_WIDTH, DROP));
    let arrows = lit().map(|token| match token.goal() {
        Some(group) => from_to(token, 0.0, GOAL_WIDTH, ARROW).towards(Some(group)).clear(),
        None => from_to(token, 0.0, ARROW_WIDTH, ARROW).clear(),
    });
    let trails = lit().filter_map(|token| {
        let trail = from_to(token, 1.0 - TRAIL_STRENGTH, TRAIL_WIDTH, TRAIL);
        Some(trail.towards(Some(token.goal()?)).clear())
    });
    drops.chain(trails).chain(arrows).filter(Instance::has_place).collect()
}

/// Returns the stage cell's lines between visible words, at their static points.
pub fn of_words(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let line = |ends: [usize; 2]| {
        let [start, end] = ends.map(|word| scaled(model, model.words[word].at));
        Instance { start, end, color: palette.ink_faint, size: WORD_LINE_WIDTH, kind: LINE }
    };
    emphasis.lines().map(line).filter(Instance::has_place).collect()
}

/// Returns an arrow for each goal: the negative gradient of its loss at the word's contextual point. The arrow appears
/// as the word arrives there.
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
    /// Returns the ground below all points of interest, as wide as they are: its squares grow with the scene.
    pub fn of(model: &StageModel) -> Self {
        let content = extent(model);
        let larger = (content.widest() / (GRID_HALF as f32 * GRID_STEP)).ceil().max(1.0);
        Self { height: content.lowest().unwrap_or(-1.0) - BELOW * larger, step: GRID_STEP * larger }
    }
}

fn ground(Floor { height, step }: Floor, palette: &Palette) -> Vec<Instance> {
    let reach = GRID_HALF as f32 * step;
    let color = palette.floor();
    let line = |start, end| Instance { start, end, color, size: GRID_WIDTH, kind: GROUND_LINE };
    (-GRID_HALF..=GRID_HALF)
        .map(|i| i as f32 * step)
        .flat_map(|x| [line([x, height, -reach], [x, height, reach]), line([-reach, height, x], [reach, height, x])])
        .collect()
}

fn axes(model: &StageModel, palette: &Palette) -> impl Iterator<Item = Instance> {
    (0..model.axes.len()).map(|axis| {
        let end = axis_end(axis);
        // An axis between two named ends carries meaning, so it is drawn more strongly.
        let color = palette.sheer(if model.axes[axis].ends.is_some() { palette.axis } else { palette.grid });
        Instance { start: end.map(|x| -x), end, color, size: AXIS_WIDTH, kind: LINE }
    })
}

/// Returns the positive end of an axis.
pub fn axis_end(axis: usize) -> [f32; 3] {
    std::array::from_fn(|i| if i == axis { AXIS_REACH } else { 0.0 })
}

/// Kind of an arrow that is drawn at its full length, whatever the time.
const STILL_ARROW: f32 = 2.0;
/// Width, in points, of a line that stands for no number.
const THIN: f32 = 1.2;
const PATH_WIDTH: f32 = 2.2;
/// Opacity of the lines to the keys once the move is shown.
const FAINT: f32 = 0.25;

/// The walk and the arrows that are drawn for it.
#[derive(Clone, Copy)]
pub struct Walked<'a> {
    pub walk: &'a WalkModel,
    pub path: &'a PathModel,
    /// Arrows of the words in the walk's head alone.
    pub mix: Option<&'a PathModel>,
}

impl Walked<'_> {
    /// Returns the place of a word before the layer moves it; a word that is not on the stage has none.
    fn place(&self, model: &StageModel, side: Side, index: usize) -> Option<[f32; 3]> {
        match side {
            Side::Sentence => model.tokens.get(index).map(|token| token.start),
            Side::Source => self.walk.source.get(index).map(|word| word.from),
        }
    }
}

/// Returns the lines from the query to its keys, and the arrows of its move, tip to tail. `at` is the place of the
/// walk, a whole number at each step.
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
    // Steps are between pieces, so a picture of whole words has only the move.
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
    let (shown, query) = (Step::Project.share(at), walked.place(model, walk.query_side, walk.focus.query));
    let Some(query) = query.filter(|_| shown > 0.0) else { return Vec::new() };
    let scores = walk.by_key(Step::Scale, Quantity::Score);
    let masked = Step::Scale.share(at);
    let gone = Step::Output.share(at);
    let (hue, partners) = (hue_at(at, palette), walk.partners(Step::at(at)));
    let line = |key: usize| {
        let pull = walk.pull(at, key);
        let is_hidden = scores.get(key) == Some(&f32::NEG_INFINITY);
        let seen = if is_hidden { 1.0 - masked } else { 1.0 };
        let strength = if partners.contains(&key) { 1.0 } else { QUIET };
        let alpha = shown * seen * strength * weight_line::opacity(pull) * (1.0 - (1.0 - FAINT) * gone);
        let is_itself = walk.query_side == walk.key_side && key == walk.focus.query;
        let is_out = walk.key_side == Side::Sentence && emphasis.token(key) == Visibility::Hidden;
        let start = walked.place(model, walk.key_side, key).filter(|_| !is_itself && !is_out && alpha > 0.0)?;
        let size = weight_line::width(pull);
        let (start, end) = (scaled(model, start), scaled(model, query));
        Some(Instance { start, end, color: hue.gamma_multiply(alpha), size, kind: TAPER })
    };
    (0..walk.keys.len()).filter_map(line).collect()
}

/// Returns the colour of the lines between the chosen word and its keys: that of keys while these are made, of the
/// query while it is compared with them, and of values once these are mixed.
fn hue_at(at: f32, palette: &Palette) -> Color32 {
    let to_query = palette.key.lerp_to_gamma(palette.query, Step::Score.share(at));
    to_query.lerp_to_gamma(palette.value, Step::Mix.share(at))
}

/// The query, key or value of the walk as an arrow from the origin, if it has at most as many numbers as the space has
/// axes.
pub struct RoleArrow<'a> {
    pub row: &'a NumberRow,
    pub role: Role,
    pub end: [f32; 3],
    /// Scale of all three arrows, below 1 if the longest would leave the picture.
    pub scale: f32,
}

/// Returns the arrows of query, key and value at the place `at` of the walk, as far as they have grown: query and key
/// are shown until softmax, the value until the score.
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

/// Returns the arrow of one vector, which begins at the origin.
fn of_role(model: &StageModel, role: Role, end: [f32; 3], palette: &Palette) -> Instance {
    let (start, end) = ([0.0; 3], scaled(model, end));
    Instance { start, end, color: role.hue(palette), size: PATH_WIDTH, kind: STILL_ARROW }
}

/// Returns the head's weighted values as arrows. Each slides from its word to the query, until they lie tip to tail and
/// their sum is the head's share of the move.
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

/// Returns the arrows of a walk, which grow one after the other from the query's place; empty if the query is not on
/// the stage.
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

/// Returns an arrow's colour: a head's hue, or the word's colour if all heads are added up, or the colour of the part
/// for a contribution that no head makes.
fn color(model: &StageModel, walk: &WalkModel, arrow: &PathArrow, palette: &Palette) -> egui::Color32 {
    let token = arrow.key.filter(|_| walk.key_side == Side::Sentence).and_then(|key| model.tokens.get(key));
    match (arrow.own, token) {
        (Some(own), _) => palette.head(own),
        (None, Some(token)) => palette.token(token.group),
        (None, None) => arrow.part.map_or(palette.ink_soft, |part| palette.part(part)),
    }
}
