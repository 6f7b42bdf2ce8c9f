// The stage: impostor discs and screen-space lines. Both have the same numbers:
// where it starts, where it ends, its colour, a radius or width, and a kind.
// Lines are instances. Discs, which may be many, are one list of triangles that look their numbers
// up: renderers that draw with the processor begin anew for each instance.
// Time and camera are uniforms, so a moving picture uploads nothing else.

struct Stage {
    clip_from_world: mat4x4<f32>,
    // rgb, linear; the height of the ground
    background: vec4<f32>,
    // width and height in pixels; distance from the eye to its target; pixels per point
    viewport: vec4<f32>,
    // time; near plane; fog from and to, in scene units from the eye
    range: vec4<f32>,
    // least radius and radius of a token, in points; strength of the fog; how much of the ground is there
    sizes: vec4<f32>,
    // hues of the groups
    hues: array<vec4<f32>, 8>,
}

@group(0) @binding(0) var<uniform> stage: Stage;

struct Instance {
    @location(0) start: vec3<f32>,
    @location(1) end: vec3<f32>,
    @location(2) color: vec4<f32>,
    // x: radius or width, in points; y: kind
    @location(3) shape: vec2<f32>,
}

// Twelve numbers a disc, as the instances have them.
@group(0) @binding(1) var<storage, read> discs: array<array<f32, 12>>;

fn disc_of(index: u32) -> Instance {
    let n = discs[index];
    return Instance(
        vec3<f32>(n[0], n[1], n[2]),
        vec3<f32>(n[3], n[4], n[5]),
        vec4<f32>(n[6], n[7], n[8], n[9]),
        vec2<f32>(n[10], n[11]),
    );
}

const RING: f32 = 1.0;
const DIAMOND: f32 = 2.0;
// Rings in four strokes, and in eight.
const DASHED: f32 = 3.0;
const DOTTED: f32 = 4.0;
// Of a wave around the ring, one to a stroke: above which height it is drawn, and 1 / (strokes · its slope there).
const DASHES: vec2<f32> = vec2<f32>(-0.369, 0.269);
const DOTS: vec2<f32> = vec2<f32>(0.309, 0.131);
const ARROW: f32 = 1.0;
// An arrow of its full length whatever the time, from tip to tail.
const STILL_ARROW: f32 = 2.0;
// From where the point is now to the ground below it.
const DROP: f32 = 3.0;
const GROUND_LINE: f32 = 4.0;
// From a key to the query that it hands its value to: it ends at the disc's edge, whatever the time.
const FLOW: f32 = 5.0;
// A line that loses this share of its width from its beginning to its end.
const TAPER: f32 = 6.0;
const TAPERED: f32 = 0.8;
// An arrow without a head, whose end is where its point is now.
const TRAIL: f32 = 7.0;
// In points.
const RING_WIDTH: f32 = 1.6;
// Of a disc: how much darker the rim, how much lighter the side towards the light.
const RIM: f32 = 0.22;
const SHINE: f32 = 0.14;
// Contrast of marks with their ground, and the flare of a screen: those of theme::palette.
const MARK_CONTRAST: f32 = 3.0;
const FLARE: f32 = 0.05;
// Added to the kind of what no fog is before: the words that the picture is about.
const CLEAR: f32 = 16.0;
// Added to the kind for each group up to the one that the point reaches.
const GOAL: f32 = 32.0;
// Times at which a point begins to take the hue of that group, and has it.
const ARRIVES: vec2<f32> = vec2<f32>(0.7, 1.0);
// Of an edge that still covers something, whatever the opacity of its disc.
const FAINTEST: f32 = 0.1;
const HEAD_LENGTH: f32 = 10.0;
const HEAD_SLOPE: f32 = 0.42;
// Of the length of a head, at least, in widths of its shaft.
const HEAD_IN_WIDTHS: f32 = 2.4;

fn corner_of(vertex: u32) -> vec2<f32> {
    return vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
}

// At the target's depth a disc has its own size; nearer it is larger, farther smaller, within limits.
const SMALLER: f32 = 0.62;
const LARGER: f32 = 1.7;

fn radius_at(size: f32, depth: f32) -> f32 {
    return max(size * clamp(stage.viewport.z / depth, SMALLER, LARGER), stage.sizes.x) * stage.viewport.w;
}

// At most as much as leaves a mark its contrast with the ground (WCAG 2.2, 1.4.11); what has less without fog is no mark.
fn fog_at(depth: f32, color: vec3<f32>) -> f32 {
    let luma = vec3<f32>(0.2126, 0.7152, 0.0722);
    let mark = dot(luma, color) + FLARE;
    let ground = dot(luma, stage.background.rgb) + FLARE;
    let least = select(ground / MARK_CONTRAST, ground * MARK_CONTRAST, mark > ground);
    let most = (mark - least) / (mark - ground);
    let fog = smoothstep(stage.range.z, stage.range.w, depth) * stage.sizes.z;
    return min(fog, select(1.0, most, most >= 0.0));
}

fn kind_of(instance: Instance) -> f32 {
    return instance.shape.y % CLEAR;
}

fn is_clear(instance: Instance) -> bool {
    return instance.shape.y % GOAL >= CLEAR;
}

// The hue of the group that a point reaches, and whether it reaches one.
fn goal_of(instance: Instance) -> vec4<f32> {
    let goal = u32(instance.shape.y / GOAL);
    return vec4<f32>(stage.hues[max(goal, 1u) - 1u].rgb, select(0.0, 1.0, goal > 0u));
}

fn arrival() -> f32 {
    return smoothstep(ARRIVES.x, ARRIVES.y, stage.range.x);
}

// --- discs ---

struct Disc {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(linear) local: vec2<f32>,
    @location(1) @interpolate(flat) color: vec4<f32>,
    // radius in pixels; kind; fog
    @location(2) @interpolate(flat) shape: vec3<f32>,
}

// The triangle around a circle of radius 1: less to set up than a square of two.
fn around(vertex: u32) -> vec2<f32> {
    return vec2<f32>((f32(vertex) - 1.0) * sqrt(3.0), select(-1.0, 2.0, vertex == 1u));
}

@vertex
fn disc_vertex(@builtin(vertex_index) index: u32) -> Disc {
    let instance = disc_of(index / 3u);
    let vertex = index % 3u;
    let center = mix(instance.start, instance.end, stage.range.x);
    let clip = stage.clip_from_world * vec4<f32>(center, 1.0);
    let radius = radius_at(instance.shape.x, clip.w);
    // As far as the soft edge reaches.
    let local = around(vertex) * (radius + 0.5);
    var out: Disc;
    out.position = vec4<f32>(clip.xy + local * 2.0 / stage.viewport.xy * clip.w, clip.zw);
    out.local = local;
    let goal = goal_of(instance);
    out.color = vec4<f32>(mix(instance.color.rgb, goal.rgb, goal.a * arrival()), instance.color.a);
    let fog = select(fog_at(clip.w, instance.color.rgb), 0.0, is_clear(instance));
    out.shape = vec3<f32>(radius, kind_of(instance), fog);
    return out;
}

fn disc_alpha(disc: Disc) -> f32 {
    // Of a diamond across its sides.
    let distance = select(
        length(disc.local),
        (abs(disc.local.x) + abs(disc.local.y) - disc.shape.x) * 0.70710678 + disc.shape.x,
        disc.shape.y == DIAMOND,
    );
    let outer = clamp(disc.shape.x + 0.5 - distance, 0.0, 1.0);
    if is_ring(disc) {
        let inner = disc.shape.x - RING_WIDTH * stage.viewport.w;
        return min(outer, clamp(distance - inner + 0.5, 0.0, 1.0)) * stroke_at(disc, distance);
    }
    return outer;
}

fn is_ring(disc: Disc) -> bool {
    return disc.shape.y == RING || disc.shape.y >= DASHED;
}

// Of a broken ring: 1 on a stroke, 0 between two, with soft ends. By products alone, for every fragment may pay for it.
fn stroke_at(disc: Disc, distance: f32) -> f32 {
    if disc.shape.y == RING {
        return 1.0;
    }
    let at = disc.local / max(distance, 0.001);
    let double = vec2<f32>(at.x * at.x - at.y * at.y, 2.0 * at.x * at.y);
    let four = double.x * double.x - double.y * double.y;
    let is_dotted = disc.shape.y == DOTTED;
    let wave = select(four, 2.0 * four * four - 1.0, is_dotted);
    let strokes = select(DASHES, DOTS, is_dotted);
    return clamp((wave - strokes.x) * strokes.y * disc.shape.x + 0.5, 0.0, 1.0);
}

fn disc_color(disc: Disc) -> vec3<f32> {
    var color = disc.color.rgb;
    if !is_ring(disc) {
        let reach = disc.local / disc.shape.x;
        // By the square of how far out it is: a root less for every fragment.
        let rim = smoothstep(0.52, 1.0, dot(reach, reach));
        let shine = SHINE * dot(reach, normalize(vec2<f32>(-1.0, 1.0)));
        color = clamp(color * (1.0 + shine - RIM * rim), vec3<f32>(0.0), vec3<f32>(1.0));
    }
    return mix(color, stage.background.rgb, disc.shape.z);
}

// Inside: opaque, writes depth.
@fragment
fn disc_core(disc: Disc) -> @location(0) vec4<f32> {
    if disc_alpha(disc) * disc.color.a < 0.999 {
        discard;
    }
    return vec4<f32>(disc_color(disc), 1.0);
}

// The soft edge: blended over what lies behind, writes no depth.
@fragment
fn disc_edge(disc: Disc) -> @location(0) vec4<f32> {
    let alpha = disc_alpha(disc) * disc.color.a;
    if alpha >= 0.999 || alpha <= 0.0 {
        discard;
    }
    return vec4<f32>(disc_color(disc), alpha);
}

// Both at once, where there are many: a soft edge then covers what is drawn later behind it.
@fragment
fn disc_whole(disc: Disc) -> @location(0) vec4<f32> {
    let covers = disc_alpha(disc);
    if covers <= FAINTEST {
        discard;
    }
    return vec4<f32>(disc_color(disc), covers * disc.color.a);
}

// --- lines and arrows ---

struct Line {
    @builtin(position) position: vec4<f32>,
    // along and across the line, in pixels; fog
    @location(0) @interpolate(linear) local: vec3<f32>,
    @location(1) @interpolate(flat) color: vec4<f32>,
    // length and half width in pixels; length of the head in points, or the negative share of the width that is lost
    @location(2) @interpolate(flat) shape: vec3<f32>,
    // the hue that the line has at its end, and how much of it
    @location(3) @interpolate(flat) goal: vec4<f32>,
}

// The part of a segment in front of the near plane.
fn clipped(from_clip: vec4<f32>, to_clip: vec4<f32>) -> vec4<f32> {
    let near = stage.range.y;
    if from_clip.w >= near || to_clip.w <= near {
        return from_clip;
    }
    return mix(from_clip, to_clip, (near - from_clip.w) / (to_clip.w - from_clip.w));
}

@vertex
fn line_vertex(@builtin(vertex_index) vertex: u32, instance: Instance) -> Line {
    let kind = kind_of(instance);
    let is_arrow = kind == ARROW || kind == TRAIL;
    let is_drop = kind == DROP;
    let now = mix(instance.start, instance.end, stage.range.x);
    let begin = select(instance.start, now, is_drop);
    let goal = select(select(instance.end, now, is_arrow), vec3<f32>(now.x, stage.background.w, now.z), is_drop);
    let clip_a = stage.clip_from_world * vec4<f32>(begin, 1.0);
    let clip_b = stage.clip_from_world * vec4<f32>(goal, 1.0);
    let presence = select(1.0, stage.sizes.w, is_drop || kind == GROUND_LINE);
    var out: Line;
    if presence <= 0.0 || (clip_a.w <= stage.range.y && clip_b.w <= stage.range.y) {
        out.position = vec4<f32>(2.0, 2.0, 2.0, 1.0);
        return out;
    }
    let a = clipped(clip_a, clip_b);
    let b = clipped(clip_b, clip_a);
    let half_view = stage.viewport.xy * 0.5;
    let from_px = a.xy / a.w * half_view;
    let to_px = b.xy / b.w * half_view;
    // An arrow stops at the disc's edge and starts at the ghost's.
    let is_flow = kind == FLOW;
    let radius_a = select(0.0, radius_at(stage.sizes.y, a.w), is_arrow || is_drop || is_flow);
    let radius_b = select(0.0, radius_at(stage.sizes.y, b.w) + stage.viewport.w, is_arrow || is_flow);
    let whole = distance(from_px, to_px);
    let length_px = whole - radius_a - radius_b;
    if length_px < stage.viewport.w {
        out.position = vec4<f32>(2.0, 2.0, 2.0, 1.0);
        return out;
    }
    let along = (to_px - from_px) / whole;
    let across = vec2<f32>(-along.y, along.x);
    let half_width = instance.shape.x * stage.viewport.w * 0.5;
    let has_head = kind == ARROW || is_flow || kind == STILL_ARROW;
    let head = max(HEAD_LENGTH, HEAD_IN_WIDTHS * instance.shape.x);
    let reach = select(half_width, max(half_width, head * HEAD_SLOPE * stage.viewport.w), has_head) + 1.0;
    let corner = corner_of(vertex);
    let u = select(-1.0, length_px + 1.0, corner.x > 0.0);
    let v = corner.y * reach;
    let px = from_px + along * (radius_a + u) + across * v;
    let share = clamp((radius_a + u) / whole, 0.0, 1.0);
    let depth = mix(a.z / a.w, b.z / b.w, share);
    out.position = vec4<f32>(px / half_view, depth, 1.0);
    let fog = select(fog_at(mix(a.w, b.w, share), instance.color.rgb), 0.0, is_clear(instance));
    out.local = vec3<f32>(u, v, fog);
    out.color = vec4<f32>(instance.color.rgb, instance.color.a * presence);
    out.goal = goal_of(instance) * vec4<f32>(1.0, 1.0, 1.0, stage.range.x);
    out.shape = vec3<f32>(length_px, half_width, select(select(0.0, -TAPERED, kind == TAPER), head, has_head));
    return out;
}

@fragment
fn line_fragment(line: Line) -> @location(0) vec4<f32> {
    let u = line.local.x;
    let v = abs(line.local.y);
    let head = min(max(line.shape.z, 0.0) * stage.viewport.w, line.shape.x);
    let half_width = line.shape.y * (1.0 + min(line.shape.z, 0.0) * clamp(u / line.shape.x, 0.0, 1.0));
    let shaft = max(v - half_width, max(-u, u - (line.shape.x - head)));
    var outside = shaft;
    if head > 0.0 {
        let tip = max(v - (line.shape.x - u) * HEAD_SLOPE, line.shape.x - head - u);
        outside = min(shaft, tip);
    }
    // Fog takes from its opacity: mixed with the background it would be a scratch over a glow.
    let alpha = clamp(0.5 - outside, 0.0, 1.0) * line.color.a * (1.0 - line.local.z);
    if alpha <= 0.0 {
        discard;
    }
    let reached = line.goal.a * clamp(u / line.shape.x, 0.0, 1.0);
    return vec4<f32>(mix(line.color.rgb, line.goal.rgb, reached), alpha);
}
