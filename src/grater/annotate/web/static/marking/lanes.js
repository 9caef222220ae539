// Lanes: underlines of marks that overlap are stacked, and so are the printed codes of marks that stand close.

export const MOST_LANES = 6;

/** The lane of every mark by id; `marks` are in order. A code takes some room even under a short word. */
export function lanesOf(marks) {
  const busyUntil = [];
  const lanes = new Map();
  for (const mark of marks) {
    let lane = busyUntil.findIndex((end) => end <= mark.start);
    if (lane < 0) lane = busyUntil.length;
    busyUntil[lane] = Math.max(mark.end, mark.start + Math.ceil(mark.tag.length * 0.8) + 1);
    lanes.set(mark.id, Math.min(lane, MOST_LANES - 1));
  }
  return lanes;
}
