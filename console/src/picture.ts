// The newest picture of a stream, and the texts read on it, drawn where they stand.

import { problemOf, type Api } from './api';
import { fitted, fontOf, Surface } from './canvas';
import { el, say } from './dom';
import type { Span, Story } from './story';
import { clock, sentence, shown } from './text';
import { colour } from './theme';

const EVERY_MS = 210;       // the server makes no more than five a second
const EVERY_IDLE_MS = 1000;
const LEGIBLE = 15;         // pixels: text of this height can be read in the picture itself

type Rect = readonly [left: number, top: number, width: number];

export class PictureView {
  readonly element: HTMLElement;
  boxes = true;
  onTime: (seconds: number) => void = () => undefined;
  private readonly surface: Surface;
  private readonly canvas = el('canvas', { class: 'picture', role: 'img', 'aria-label': 'Newest picture' });
  private readonly note = el('p', { class: 'note' });
  private readonly stamp = el('span', { class: 'stamp figure' });
  private bitmap: ImageBitmap | undefined;
  private source: [number, number] = [0, 0];
  private time = 0;
  private etag = '';
  private stop: AbortController | undefined;
  private pointer: [number, number] | undefined;

  constructor(private readonly api: Api, private readonly story: () => Story) {
    this.surface = new Surface(this.canvas);
    this.element = el('figure', { class: 'picture-box' }, this.canvas, this.note, this.stamp);
    const point = (event: PointerEvent) => {
      this.pointer = event.type === 'pointerleave' ? undefined : [event.offsetX, event.offsetY];
      this.draw();
    };
    for (const name of ['pointermove', 'pointerdown', 'pointerleave'] as const) {
      this.canvas.addEventListener(name, point);
    }
  }

  show(id: string | undefined): void {
    this.stop?.abort();
    this.bitmap?.close();
    this.bitmap = undefined;
    this.etag = '';
    say(this.note, id ? 'Waiting for the first picture.' : '');
    say(this.stamp, '');
    this.draw();
    if (id) void this.poll(id, (this.stop = new AbortController()).signal);
  }

  private async poll(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let wait = document.hidden ? EVERY_IDLE_MS : EVERY_MS;
      try {
        if (!document.hidden) await this.fetch(id, signal);
        if (this.story().ended) wait = EVERY_IDLE_MS * 5;
      } catch (error) {
        if (signal.aborted) return;
        const problem = problemOf(error);
        if (!this.bitmap && problem.code !== 'no_picture') say(this.note, sentence(problem.message));
        wait = EVERY_IDLE_MS;
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  private async fetch(id: string, signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = this.etag ? { 'If-None-Match': this.etag } : {};
    const reply = await this.api.send('GET', `/v1/streams/${encodeURIComponent(id)}/picture`, undefined, headers,
      signal);
    if (reply.status === 304) return;
    const bitmap = await createImageBitmap(await reply.blob());
    if (signal.aborted) return bitmap.close();
    this.bitmap?.close();
    this.bitmap = bitmap;
    this.etag = reply.headers.get('ETag') ?? '';
    this.time = Number(reply.headers.get('X-Media-Time')) || 0;
    const size = (reply.headers.get('X-Source-Size') ?? '').split('x').map(Number);
    this.source = [size[0] || bitmap.width, size[1] || bitmap.height];
    say(this.note, '');
    say(this.stamp, clock(this.time));
    this.onTime(this.time);
    this.draw();
  }

  draw(): void {
    const [wide, high] = this.bitmap ? [this.bitmap.width, this.bitmap.height] : [16, 9];
    const ratio = `${wide} / ${high}`;
    if (this.canvas.style.aspectRatio !== ratio) this.canvas.style.aspectRatio = ratio;
    if (!this.surface.begin() || !this.bitmap) return;
    const { pen, width, height } = this.surface;
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(this.bitmap, 0, 0, width, height);
    if (!this.boxes) return;
    const scale = width / (this.source[0] || width);
    pen.font = fontOf(this.canvas, 11, 500);
    const labels: Rect[] = [];
    for (const span of this.story().textsAt(this.time)) this.drawBox(span, scale, labels);
  }

  // `labels` are the places that are taken: a label that finds none is left out.
  private drawBox(span: Span, scale: number, labels: Rect[]): void {
    const { pen, width, height } = this.surface;
    const corners = span.box.map(([x, y]): [number, number] => [x * scale, y * scale]);
    const left = Math.min(...corners.map(([x]) => x));
    const top = Math.min(...corners.map(([, y]) => y));
    const bottom = Math.max(...corners.map(([, y]) => y));
    pen.beginPath();
    corners.forEach(([x, y], index) => (index ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.lineWidth = 3;
    pen.strokeStyle = 'rgb(0 0 0 / 45%)';
    pen.stroke();
    pen.lineWidth = 1.25;
    pen.strokeStyle = colour('text-box');
    pen.stroke();
    const right = Math.max(...corners.map(([x]) => x));
    const [atX, atY] = this.pointer ?? [-1, -1];
    const pointed = atX >= left && atX <= right && atY >= top && atY <= bottom;
    if (bottom - top > LEGIBLE && !pointed) return;
    const label = fitted(pen, shown(span.text, 60), Math.min(220, width - left - 10));
    if (!label) return;
    const tall = 16, wide = pen.measureText(label).width + 8;
    const x = Math.max(0, Math.min(left, width - wide));
    const y = top >= tall + 3 ? top - tall - 3 : Math.min(bottom + 3, height - tall);
    const taken = labels.some(([left1, top1, wide1]) =>
      x < left1 + wide1 && left1 < x + wide && Math.abs(y - top1) < tall);
    if (taken && !pointed) return;
    labels.push([x, y, wide]);
    pen.fillStyle = 'rgb(8 14 17 / 82%)';
    pen.fillRect(x, y, wide, tall);
    pen.fillStyle = '#f3f7f7';
    pen.textAlign = 'left';
    pen.fillText(label, x + 4, y + tall / 2 + 0.5);
  }
}
