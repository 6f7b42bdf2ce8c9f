// The camera of the stage, with the same geometry as the program's (src/app/stage/camera.rs and projection.rs), in CSS
// pixels and scene units, so that points have the same positions. The scene is a ball of radius 1.
"use strict";

const Camera = (() => {
  const FIELD_OF_VIEW = (40 * Math.PI) / 180;
  const PITCH_LIMIT = Math.PI / 2 - 1e-4;
  /** The angle per pixel of a drag, in radians. */
  const ORBIT_SPEED = 0.008;
  /** The scrolled pixels that zoom by a factor of e. */
  const ZOOM_SCALE = 300;
  const DISTANCE = [0.08, 40];
  const HOME = { yaw: 0.42, pitch: 0.26 };
  /** The size of the home view relative to the scene, horizontally and vertically. */
  const MARGIN = [1.25, 1.3];
  /** The length of a drag, in pixels, after which a flat view that it tilts has full perspective. */
  const TILTED = 200;
  const NEAR_SHARE = 0.02;
  /** The range of a disc's scale, for distant and near points. */
  const RADIUS_LIMITS = [0.62, 1.7];

  const clamp = (x, [least, most]) => Math.min(Math.max(x, least), most);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const plus = (a, b, factor = 1) => [a[0] + b[0] * factor, a[1] + b[1] * factor, a[2] + b[2] * factor];

  /** Returns half the visible height at distance 1. In a view taller than wide, the field of view is horizontal. */
  const halfHeight = (aspect) => Math.tan(FIELD_OF_VIEW / 2) / Math.min(aspect, 1);

  /** Returns the screen directions of a pose: right, up, and towards the eye. */
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

  /** Returns the range of points along a direction, rounded outwards in coarse steps, so that the home view does not jitter. */
  function reach(points, direction) {
    const [STEP, MOST, SMALLEST] = [0.0625, 12, 0.2];
    const along = points.map((point) => dot(point, direction));
    let [least, most] = [Math.min(...along), Math.max(...along)];
    if (!(least <= most)) [least, most] = [0, 0];
    const room = Math.max(SMALLEST - (most - least) / 2, 0);
    const step = (x, round) => clamp(round(x / STEP) * STEP, [-MOST, MOST]);
    return [step(least - room, Math.floor), step(most + room, Math.ceil)];
  }

  /** Returns whether the home view of `outer` also covers `inner`, in 3D and in 2D. */
  function holds(outer, inner) {
    const ROUNDING = 1e-4;
    return [HOME, { yaw: 0, pitch: 0 }].every((side) =>
      Object.values(directions(side)).every((direction) => {
        const [[from, to], [least, most]] = [outer, inner].map((points) => reach(points, direction));
        return least >= from - ROUNDING && most <= to + ROUNDING;
      }),
    );
  }

  /** Returns the pose that shows all points as large as possible, slightly from above, or from the front in 2D. */
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

  /** Returns the projection of a pose onto a view of `width` by `height`: from a point to its position, or null behind the eye. */
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

  /** Turns around the target. A flat view tilts into 3D, with more perspective the longer the drag. */
  const orbit = (pose, dx, dy) => ({
    ...pose,
    yaw: (pose.yaw - dx * ORBIT_SPEED) % (2 * Math.PI),
    pitch: clamp(pose.pitch + dy * ORBIT_SPEED, [-PITCH_LIMIT, PITCH_LIMIT]),
    perspective: Math.min(pose.perspective + Math.hypot(dx, dy) / TILTED, 1),
  });

  /** Moves the target so that points at its depth follow the pointer. */
  function pan(pose, dx, dy, width, height) {
    const { right, up } = directions(pose);
    const units = (2 * pose.distance * halfHeight(width / height)) / height;
    return { ...pose, target: plus(plus(pose.target, up, dy * units), right, -dx * units) };
  }

  /** Zooms by scrolled pixels; the point under the cursor, in [−1, 1] with y up, stays in place. */
  function zoom(pose, scroll, [x, y], aspect) {
    const { right, up } = directions(pose);
    const distance = clamp(pose.distance * Math.exp(-scroll / ZOOM_SCALE), DISTANCE);
    const half = pose.distance * halfHeight(aspect);
    const rest = 1 - distance / pose.distance;
    return { ...pose, distance, target: plus(plus(pose.target, right, x * half * aspect * rest), up, y * half * rest) };
  }

  return { home, holds, view, orbit, pan, zoom };
})();
