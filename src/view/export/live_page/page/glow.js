// Groups of points as soft glows, as on the program's stage (src/app/ui/widgets/glow.rs): an ellipse in the group's hue with a
// thin rim.
"use strict";

const Glow = (() => {
  /** The distances from the middle to the rim and to the end, in standard deviations. */
  const [RIM, END] = [2.1, 4.2];
  /** The opacity in the middle and of the rim. */
  const [MIDDLE, LINE] = [0.26, 0.4];
  const RINGS = 8;

  /** Fits a glow to positions on the canvas. The rim is at least `least` away from the middle. */
  function of(places, least) {
    const mean = (value) => places.reduce((sum, at) => sum + value(at), 0) / places.length;
    const [x, y] = [mean((at) => at.x), mean((at) => at.y)];
    const [xx, xy, yy] = [mean((at) => (at.x - x) ** 2), mean((at) => (at.x - x) * (at.y - y)), mean((at) => (at.y - y) ** 2)];
    const half = Math.hypot((xx - yy) / 2, xy);
    const [long, short] = [half, -half].map((away) => Math.max(Math.sqrt(Math.max((xx + yy) / 2 + away, 0)), least / RIM));
    return { x, y, angle: Math.atan2(2 * xy, xx - yy) / 2, long, short, rim: (RIM * (long + short)) / 2 };
  }

  function paint(context, { x, y, angle, long, short }, color) {
    const fill = context.createRadialGradient(0, 0, 0, 0, 0, END);
    for (let ring = 0; ring <= RINGS; ring++) fill.addColorStop(ring / RINGS, Colors.clear(color, MIDDLE * (1 - (ring / RINGS) ** 2) ** 2));
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.scale(long, short);
    context.fillStyle = fill;
    context.fillRect(-END, -END, 2 * END, 2 * END);
    context.beginPath();
    context.arc(0, 0, RIM, 0, 2 * Math.PI);
    context.restore();
    context.strokeStyle = Colors.clear(color, LINE);
    context.lineWidth = 1;
    context.stroke();
  }

  return { of, paint };
})();
