// How old the picture was when each event went out, on the common axis.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { GUTTER, type Axis } from './axis';
import { el, say } from './dom';
import type { Story } from './story';
import { milliseconds } from './text';
import { colour, onTheme } from './theme';

const HEIGHT = 72;

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export class AgePlot {
  readonly element: HTMLElement;
  readonly summary = el('span', { class: 'figure' });
  private readonly host = el('div', { class: 'age', role: 'img', 'aria-label': 'Frame age over time' });
  private plot: uPlot | undefined;

  constructor(private readonly axis: Axis, private readonly story: () => Story) {
    this.element = this.host;
    onTheme(() => {
      this.plot?.destroy();
      this.plot = undefined;
    });
  }

  private make(width: number): uPlot {
    const grid = { stroke: () => colour('grid'), width: 1 };
    const font = `10.5px ${getComputedStyle(this.host).fontFamily}`;
    return new uPlot({
      width, height: HEIGHT, legend: { show: false }, padding: [6, 0, 0, 0],
      cursor: { show: false },
      scales: { x: { time: false, range: () => this.axis.range() },
        y: { range: (_, __, high) => [0, Math.max(50, (high || 0) * 1.15)] } },
      axes: [
        { grid, ticks: { show: false }, size: 4, splits: () => this.axis.ticks(Math.max(2, (width - GUTTER) / 84)),
          values: (_, ticks) => ticks.map(() => '') },
        { stroke: () => colour('soft'), grid, ticks: { show: false }, font, size: GUTTER, gap: 8, space: 26,
          values: (_, ticks) => ticks.map((tick) => milliseconds(tick)) },
      ],
      series: [
        {},
        { stroke: () => colour('accent'), width: 1.25, fill: () => colour('wash'),
          points: { show: true, size: 4, fill: () => colour('accent'), width: 0 } },
      ],
    }, [[], []], this.host);
  }

  draw(): void {
    const width = this.host.clientWidth;
    if (width <= GUTTER) return;
    this.plot ??= this.make(width);
    if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
    const [from, to] = this.axis.range();
    const aged = this.story().samples.filter((sample) => sample.ageMs !== undefined);
    const inside = aged.filter((sample) => sample.t >= from && sample.t <= to).sort((a, b) => a.t - b.t);
    this.plot.setData([inside.map((sample) => sample.t), inside.map((sample) => sample.ageMs ?? 0)]);
    const ages = aged.slice(-500).map((sample) => sample.ageMs ?? 0).sort((a, b) => a - b);
    say(this.summary, ages.length
      ? `P50 ${milliseconds(quantile(ages, 0.5))} · P95 ${milliseconds(quantile(ages, 0.95))} · n ${ages.length}`
      : '');
  }
}
