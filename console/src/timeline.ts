// The lanes: what was said, seen, read, heard and lost, on the common axis. Drawn, so nothing in it
// can become markup; what stands under the cursor is told beside it as text.

import { GUTTER, type Axis } from './axis';
import { fitted, fontOf, Surface } from './canvas';
import { el, fill } from './dom';
import { STAGES } from './events';
import { LANES, ROWS_MAX, type Lane, type Span, type Story } from './story';
import { clock, milliseconds, percent, shown } from './text';
import { colour } from './theme';

const ROW = 18, GAP = 7, TOP = 22, STRIP = 44;
const NAMES: Record<Lane, string> = {
  caption: 'Captions', answer: 'Answers', alert: 'Alerts', text: 'Screen text', speech: 'Speech', drop: 'Drops',
};

export class Timeline {
  readonly element: HTMLElement;
  private readonly surface: Surface;
  private readonly canvas = el('canvas', {
    class: 'timeline', tabindex: 0, role: 'application', 'aria-describedby': 'at-cursor',
    'aria-label': 'Timeline. Arrow keys move the cursor, plus and minus zoom, End follows the newest.',
  });
  private readonly readout = el('div', { class: 'readout', id: 'at-cursor', 'aria-live': 'polite' });

  constructor(private readonly axis: Axis, private readonly story: () => Story) {
    this.surface = new Surface(this.canvas);
    this.element = el('div', { class: 'timeline-box' }, this.canvas, this.readout);
    this.listen();
  }

  private listen(): void {
    const { canvas, axis } = this;
    const timeOf = (event: PointerEvent) => axis.timeAt(event.offsetX, this.surface.width);
    let drag: number | undefined;
    canvas.addEventListener('pointerdown', (event) => {
      drag = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', () => { drag = undefined; });
    canvas.addEventListener('pointermove', (event) => {
      if (drag !== undefined && Math.abs(event.offsetX - drag) > 3) {
        axis.pan(((drag - event.offsetX) / (this.surface.width - GUTTER)) * axis.windowS);
        drag = event.offsetX;
      } else if (event.offsetX >= GUTTER) {
        axis.point(timeOf(event));
      }
    });
    canvas.addEventListener('pointerleave', () => {
      if (document.activeElement !== canvas) axis.point(undefined);
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;  // plain scrolling belongs to the page
      event.preventDefault();
      if (event.ctrlKey) axis.zoom(event.deltaY > 0 ? 1 : -1);
      else axis.pan((Math.sign(event.deltaY || event.deltaX) * axis.windowS) / 10);
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  private onKey(event: KeyboardEvent): void {
    const { axis } = this;
    const step = event.shiftKey ? axis.windowS / 6 : axis.windowS / 60;
    const at = axis.cursor ?? axis.now();
    const moves: Record<string, () => void> = {
      ArrowLeft: () => axis.point(at - step),
      ArrowRight: () => axis.point(at + step),
      PageUp: () => axis.pan(-axis.windowS / 2),
      PageDown: () => axis.pan(axis.windowS / 2),
      Home: () => axis.point(0),
      End: () => axis.follow(),
      '+': () => axis.zoom(-1),
      '-': () => axis.zoom(1),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  }

  draw(): void {
    const story = this.story();
    const rows = this.rowsOf(story);
    const height = TOP + LANES.reduce((sum, lane) => sum + rows[lane] * ROW + GAP, 0) + STRIP + 6;
    if (!this.surface.begin(height)) return;
    const { pen, width } = this.surface;
    this.drawAxis(height);
    let top = TOP;
    for (const lane of LANES) {
      this.drawName(NAMES[lane], top + ROW / 2 - 1);
      const hidden = lane === 'text' ? this.hiddenNow(story) : 0;
      if (hidden) this.drawName(`+ ${hidden} more`, top + rows[lane] * ROW - ROW / 2 - 1);
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER, top - 2, width - GUTTER, rows[lane] * ROW + 4);
      pen.clip();
      if (lane === 'drop') this.drawDrops(story, top);
      else this.drawSpans(story, lane, top);
      pen.restore();
      top += rows[lane] * ROW + GAP;
      pen.fillStyle = colour('line');
      pen.fillRect(0, Math.round(top - GAP / 2), width, 1);
    }
    this.drawStages(story, top, STRIP);
    this.drawCursor(height);
    this.tell(story);
  }

  private rowsOf(story: Story): Record<Lane, number> {
    const rows: Record<Lane, number> = { caption: 1, answer: 1, alert: 1, text: 2, speech: 1, drop: 1 };
    for (const span of story.spans.values()) {
      rows[span.lane] = Math.min(ROWS_MAX, Math.max(rows[span.lane], span.row + 1));
    }
    return rows;
  }

  private hiddenNow(story: Story): number {
    const time = this.axis.cursor ?? this.axis.now();
    return story.at(time, 'text').filter((span) => span.row >= ROWS_MAX).length;
  }

  private drawName(name: string, y: number): void {
    const { pen } = this.surface;
    pen.font = fontOf(this.canvas, 11);
    pen.textAlign = 'left';
    pen.fillStyle = colour('soft');
    pen.fillText(name, 2, y);
  }

  private drawAxis(height: number): void {
    const { pen, width } = this.surface;
    pen.font = fontOf(this.canvas, 10.5);
    pen.textAlign = 'center';
    for (const tick of this.axis.ticks(Math.max(2, (width - GUTTER) / 84))) {
      const x = Math.round(this.axis.x(tick, width)) + 0.5;
      pen.fillStyle = colour('grid');
      pen.fillRect(x - 0.5, TOP - 5, 1, height - TOP);
      pen.fillStyle = colour('soft');
      if (x > GUTTER + 12 && x < width - 14) pen.fillText(clock(tick, 0), x, 8);
    }
    for (const scene of this.story().scenes) {
      const x = Math.round(this.axis.x(scene, width));
      if (x < GUTTER || x > width) continue;
      pen.fillStyle = colour('soft');
      pen.beginPath();
      pen.moveTo(x - 3.5, TOP - 8);
      pen.lineTo(x + 3.5, TOP - 8);
      pen.lineTo(x, TOP - 3);
      pen.fill();
    }
  }

  private drawSpans(story: Story, lane: Lane, top: number): void {
    const { pen, width } = this.surface;
    const [from, to] = this.axis.range();
    const now = this.axis.now();
    pen.textAlign = 'left';
    pen.font = fontOf(this.canvas, 11.5);
    for (const span of story.spans.values()) {
      const end = span.open ? Math.max(now, span.t1) : span.t1;
      if (span.lane !== lane || span.row >= ROWS_MAX || end < from || span.t0 > to) continue;
      const x0 = this.axis.x(span.t0, width);
      const x1 = Math.max(x0 + 3, this.axis.x(end, width));
      this.drawSpan(span, Math.max(GUTTER - 8, x0), Math.min(width + 8, x1) - 1, top + span.row * ROW);
    }
  }

  private drawSpan(span: Span, x0: number, x1: number, y: number): void {
    const { pen, width } = this.surface;
    const no = span.lane === 'alert' && span.yes === false;
    const hue = colour(span.lane === 'alert' && span.yes ? 'alarm' : span.lane);
    pen.globalAlpha = span.tentative ? 0.5 : 1;
    pen.fillStyle = colour('panel');
    pen.fillRect(x0, y, x1 - x0, ROW - 3);
    pen.fillStyle = hue;
    pen.globalAlpha *= no ? 0.09 : span.open ? 0.3 : 0.17;
    pen.fillRect(x0, y, x1 - x0, ROW - 3);
    pen.globalAlpha = no ? 0.5 : 1;
    pen.fillRect(x0, y, 2, ROW - 3);
    pen.globalAlpha = span.tentative || no ? 0.75 : 1;
    pen.fillStyle = colour('ink');
    const left = Math.max(x0, GUTTER) + 6;
    const label = span.lane === 'alert' ? `${span.yes ? 'yes' : 'no'} · ${span.prompt}` : span.text;
    pen.fillText(fitted(pen, shown(label, 160), Math.min(x1, width) - left - 3), left, y + ROW / 2 - 1);
    pen.globalAlpha = 1;
  }

  private drawDrops(story: Story, top: number): void {
    const { pen, width } = this.surface;
    const [from, to] = this.axis.range();
    pen.fillStyle = colour('drop');
    for (const drop of story.drops) {
      if (drop.t < from || drop.t > to) continue;
      const height = Math.min(ROW - 3, 4 + 3 * Math.log2(1 + drop.count));
      pen.fillRect(Math.round(this.axis.x(drop.t, width)) - 1, top + ROW - 3 - height, 3, height);
    }
  }

  // One bar for each event that carries its ledger: how long which stage took.
  private drawStages(story: Story, top: number, height: number): void {
    const { pen, width } = this.surface;
    const [from, to] = this.axis.range();
    const samples = story.samples.filter((sample) => sample.totalMs > 0 && sample.t >= from && sample.t <= to);
    this.drawName('Stages', top + 8);
    const peak = Math.max(20, ...samples.map((sample) => sample.totalMs));
    pen.font = fontOf(this.canvas, 10.5);
    pen.textAlign = 'right';
    pen.fillStyle = colour('soft');
    pen.fillText(milliseconds(peak), GUTTER - 8, top + 24);
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, top, width - GUTTER, height);
    pen.clip();
    const across = Math.max(2, Math.min(9, (width - GUTTER) / Math.max(24, samples.length) - 1));
    for (const sample of samples) {
      const x = this.axis.x(sample.t, width) - across / 2;
      let bottom = top + height;
      for (const [stage, ms] of sample.stages) {
        const tall = (ms / peak) * (height - 3);
        pen.fillStyle = colour(`stage-${STAGES.indexOf(stage)}`);
        pen.fillRect(x, bottom - tall, across, tall);
        bottom -= tall;
      }
    }
    pen.restore();
  }

  private drawCursor(height: number): void {
    const { pen, width } = this.surface;
    const { cursor } = this.axis;
    if (cursor === undefined) return;
    const x = Math.round(this.axis.x(cursor, width));
    if (x < GUTTER || x > width) return;
    pen.fillStyle = colour('accent');
    pen.fillRect(x, 14, 1, height - 14);
    const label = clock(cursor);
    pen.font = fontOf(this.canvas, 10.5, 600);
    const wide = pen.measureText(label).width + 10;
    const left = Math.min(width - wide, Math.max(GUTTER, x - wide / 2));
    pen.fillRect(left, 0, wide, 15);
    pen.fillStyle = colour('on-accent');
    pen.textAlign = 'left';
    pen.fillText(label, left + 5, 8);
  }

  private told = '';
  private tell(story: Story): void {
    const { cursor } = this.axis;
    if (cursor === undefined) {
      if (this.told) fill(this.readout);
      this.told = '';
      return;
    }
    const slack = this.axis.windowS / 200;
    const lines: Array<[Lane, string]> = [];
    for (const lane of LANES.slice(0, -1)) {
      for (const span of story.at(cursor, lane, slack).slice(-4)) {
        const sure = span.confidence === undefined ? '' : ` · ${percent(span.confidence)}`;
        const said = lane === 'alert' ? `${shown(span.prompt, 64)}: ${span.yes ? 'yes' : 'no'}` : shown(span.text, 200);
        lines.push([lane, said + sure]);
      }
    }
    for (const drop of story.drops) {
      if (Math.abs(drop.t - cursor) <= slack * 2) lines.push(['drop', `${drop.count} ${shown(drop.reason, 20)}`]);
    }
    const key = JSON.stringify(lines);
    if (key === this.told) return;
    this.told = key;
    fill(this.readout, ...lines.slice(0, 10).map(([lane, said]) =>
      el('div', { class: `say ${lane}` }, el('span', { class: 'what' }, NAMES[lane]), el('bdi', {}, said))));
  }
}
