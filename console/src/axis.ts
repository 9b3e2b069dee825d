// The one time axis that lanes, stages and frame age share: a window of media seconds that follows
// the newest, or stands still while somebody looks back.

export const GUTTER = 72;  // pixels left of the axis, for names and scales
export const WINDOWS_S = [10, 20, 30, 60, 120, 300, 600, 1800] as const;
const FIRST_S = 20;      // a young stream is not drawn into a corner
const RUN_AHEAD_S = 1.5;  // how far time is guessed on between two events

export class Axis {
  windowS = 60;
  cursor: number | undefined;
  following = true;
  onChange: () => void = () => undefined;
  private end = 0;
  private newest = 0;
  private heardAt = 0;
  private paceS = 0;  // guess goes on only where media time runs with the clock

  // The newest media time, told whenever it is known.
  hear(time: number): void {
    if (time <= this.newest) return;
    const now = performance.now();
    const elapsed = (now - this.heardAt) / 1000;
    this.paceS = this.heardAt && elapsed > 0 && (time - this.newest) / elapsed < 1.6 ? RUN_AHEAD_S : 0;
    this.newest = time;
    this.heardAt = now;
  }

  reset(): void {
    this.newest = this.heardAt = this.end = this.paceS = 0;
    this.cursor = undefined;
    this.following = true;
  }

  halt(): void {
    this.paceS = 0;
  }

  now(): number {
    return this.newest + Math.min(this.paceS, (performance.now() - this.heardAt) / 1000);
  }

  range(): [number, number] {
    if (this.following) this.end = Math.max(this.now(), Math.min(this.windowS, FIRST_S));
    return [Math.max(0, this.end - this.windowS), this.end];
  }

  x(time: number, width: number): number {
    const [from, to] = this.range();
    return GUTTER + ((time - from) / (to - from)) * (width - GUTTER);
  }

  timeAt(x: number, width: number): number {
    const [from, to] = this.range();
    return from + ((x - GUTTER) / (width - GUTTER)) * (to - from);
  }

  zoom(step: number): void {
    const index = WINDOWS_S.findIndex((each) => each >= this.windowS);
    const next = WINDOWS_S[Math.min(WINDOWS_S.length - 1, Math.max(0, index + step))];
    if (next === undefined || next === this.windowS) return;
    const middle = this.cursor ?? this.end - this.windowS / 2;
    const share = (this.end - middle) / this.windowS;
    this.windowS = next;
    if (!this.following) this.end = middle + share * next;
    this.onChange();
  }

  pan(seconds: number): void {
    const [, end] = this.range();
    this.following = false;
    this.end = Math.max(this.windowS, end + seconds);
    if (this.end >= this.now()) this.follow();
    this.onChange();
  }

  follow(): void {
    this.following = true;
    this.cursor = undefined;
    this.onChange();
  }

  // Moves the cursor; the window goes along when the cursor leaves it.
  point(time: number | undefined): void {
    this.cursor = time === undefined ? undefined : Math.min(Math.max(0, time), this.now());
    if (this.cursor !== undefined) {
      const [from, to] = this.range();
      if (this.cursor < from) this.pan(this.cursor - from);
      else if (this.cursor > to) this.pan(this.cursor - to);
    }
    this.onChange();
  }

  // Round steps, so that there are about `count` of them.
  ticks(count: number): number[] {
    const [from, to] = this.range();
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
    const step = steps.find((each) => (to - from) / each <= count) ?? 600;
    const first = Math.ceil(from / step) * step;
    const out: number[] = [];
    for (let at = first; at <= to; at += step) if (at >= 0) out.push(at);
    return out;
  }
}
