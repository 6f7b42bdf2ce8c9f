// The camera of the stage, with the same geometry as the program's (src/app/stage/camera.rs and projection.rs), in CSS
// pixels and scene units, so that points have the same positions. The scene is a ball of radius 1.
"use strict";

const Camera = (() => {
  const FIELD_OF_VIEW = (40 * Math.PI) / 180;
  const PITCH_LIMIT = Math.PI / 2 - 1e-4;
  /** Radians that a drag of one pixel turns, and scrolled pixels that zoom by a factor of e. */
  const ORBIT_SPEED = 0.008;
  const ZOOM_SCALE = 300;
  const DISTANCE = [0.08, 40];
  const HOME = { yaw: 0.42, pitch: 0.26 };
  /** Room around the scene at home, across and upwards. */
  const MARGIN = [1.25, 1.3];
  /** Pixels of a drag by which a flat view that it tilts has its whole perspective. */
  const TILTED = 200;
  const NEAR_SHARE = 0.02;
  /** How much smaller and larger a disc is seen far away and near. */
  const RADIUS_LIMITS = [0.62, 1.7];

  const clamp = (x, [least, most]) => Math.min(Math.max(x, least), most);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const plus = (a, b, factor = 1) => [a[0] + b[0] * factor, a[1] + b[1] * factor, a[2] + b[2] * factor];

  /** Half the height that is seen at distance 1; a view taller than wide has the field of view across. */
  const halfHeight = (aspect) => Math.tan(FIELD_OF_VIEW / 2) / Math.min(aspect, 1);

  /** Directions of a pose on the screen: to the right, up, and towards the eye. */
  function directions({ yaw, pitch }) {
    const backwards = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    const up = [
      backwards[1] * right[2] - backwards[2] * right[1],
      backwards[2] * right[0] - backwards[0] * right[2],
      backwards[0] * right[1] - backwards[1] * right[0],
    ];
    return { right, up, backwards };
  }

  /** From where to where points reach along a direction. In coarse steps, so that home does not jitter. */
  function reach(points, direction) {
    const [STEP, MOST, SMALLEST] = [0.0625, 12, 0.2];
    const along = points.map((point) => dot(point, direction));
    let [least, most] = [Math.min(...along), Math.max(...along)];
    if (!(least <= most)) [least, most] = [0, 0];
    const room = Math.max(SMALLEST - (most - least) / 2, 0);
    const step = (x, round) => clamp(round(x / STEP) * STEP, [-MOST, MOST]);
    return [step(least - room, Math.floor), step(most + room, Math.ceil)];
  }

  /** Whether points lie within the reach of others, as home sees both, in space and in 2D. */
  function holds(outer, inner) {
    const ROUNDING = 1e-4;
    return [HOME, { yaw: 0, pitch: 0 }].every((side) =>
      Object.values(directions(side)).every((direction) => {
        const [[from, to], [least, most]] = [outer, inner].map((points) => reach(points, direction));
        return least >= from - ROUNDING && most <= to + ROUNDING;
      }),
    );
  }

  /** The pose that shows all points as large as the view allows, from a little above; in 2D from the front. */
  function home(points, aspect, isFlat) {
    const pose = { yaw: isFlat ? 0 : HOME.yaw, pitch: isFlat ? 0 : HOME.pitch, perspective: isFlat ? 0 : 1 };
    const { right, up, backwards } = directions(pose);
    const height = halfHeight(aspect);
    // Returns the middle along a side, and the distance at which everything is within the field of view.
    const seen = (side, slope) => {
      const leaning = [0, 1, 2].map((axis) => backwards[axis] * slope * pose.perspective);
      const [most, least] = [1, -1].map((sign) => reach(points, plus(leaning, side, sign))[1]);
      return [(most - least) / 2, (most + least) / 2 / slope];
    };
    const [x, across] = seen(right, (height * aspect) / MARGIN[0]);
    const [y, upwards] = seen(up, height / MARGIN[1]);
    const [far, near] = reach(points, backwards);
    const z = (far + near) / 2;
    const target = plus(plus(plus([0, 0, 0], right, x), up, y), backwards, z);
    return { ...pose, target, distance: clamp(Math.max(across, upwards) - z * pose.perspective, DISTANCE) };
  }

  /** The projection of a pose onto a view of `width` by `height`: from a point to its place, or null behind the eye. */
  function view({ target, yaw, pitch, distance, perspective }, width, height) {
    const { right, up, backwards } = directions({ yaw, pitch });
    const eye = plus(target, backwards, distance);
    const aspect = width / height;
    const half = halfHeight(aspect);
    const constant = (1 - perspective) * distance;
    const least = NEAR_SHARE * distance;
    return (point) => {
      const from = plus(point, eye, -1);
      const depth = -dot(from, backwards);
      const divisor = depth * perspective + constant;
      if (!(divisor > least)) return null;
      return {
        x: ((dot(from, right) / (aspect * half) / divisor) * 0.5 + 0.5) * width,
        y: ((-dot(from, up) / half / divisor) * 0.5 + 0.5) * height,
        depth,
        scale: clamp(distance / divisor, RADIUS_LIMITS),
      };
    };
  }

  /** Turns around the target. A flat view tilts into space: the longer the drag, the more perspective it has. */
  const orbit = (pose, dx, dy) => ({
    ...pose,
    yaw: (pose.yaw - dx * ORBIT_SPEED) % (2 * Math.PI),
    pitch: clamp(pose.pitch + dy * ORBIT_SPEED, [-PITCH_LIMIT, PITCH_LIMIT]),
    perspective: Math.min(pose.perspective + Math.hypot(dx, dy) / TILTED, 1),
  });

  /** Moves with the pointer: what lies at the target's depth stays under it. */
  function pan(pose, dx, dy, width, height) {
    const { right, up } = directions(pose);
    const units = (2 * pose.distance * halfHeight(width / height)) / height;
    return { ...pose, target: plus(plus(pose.target, up, dy * units), right, -dx * units) };
  }

  /** Zooms by scrolled pixels; what lies under the cursor, in [−1, 1] with y up, stays there. */
  function zoom(pose, scroll, [x, y], aspect) {
    const { right, up } = directions(pose);
    const distance = clamp(pose.distance * Math.exp(-scroll / ZOOM_SCALE), DISTANCE);
    const half = pose.distance * halfHeight(aspect);
    const rest = 1 - distance / pose.distance;
    return { ...pose, distance, target: plus(plus(pose.target, right, x * half * aspect * rest), up, y * half * rest) };
  }

  return { home, holds, view, orbit, pan, zoom };
})();
