// What one stream has told so far, as spans on one time axis. Everything is bounded; the oldest goes.

import type { Corner, Stage, StreamEvent } from './events';

export const LANES = ['caption', 'answer', 'alert', 'text', 'speech', 'drop'] as const;
export type Lane = (typeof LANES)[number];

const EVENTS_MAX = 4000;
const SPANS_MAX = 3000;
const SAMPLES_MAX = 2000;
const DROPS_MAX = 1000;
const CHARACTERS_MAX = 8 << 20;
export const ROWS_MAX = 5;  // of the lanes that need several

export interface Span {
  readonly key: string;
  readonly lane: Lane;
  readonly prompt: string;
  row: number;         // ROWS_MAX: there was none left
  t0: number;
  t1: number;
  open: boolean;       // it still stands
  tentative: boolean;  // its words may still change
  text: string;
  yes: boolean | undefined;
  confidence: number | undefined;
  box: readonly Corner[];
}

export interface Sample {
  readonly t: number;
  readonly ageMs: number | undefined;
  readonly stages: ReadonlyArray<readonly [Stage, number]>;
  readonly totalMs: number;
}

export interface Drop {
  readonly t: number;
  readonly reason: string;
  readonly count: number;
}

export class Story {
  readonly events: StreamEvent[] = [];
  readonly spans = new Map<string, Span>();
  readonly samples: Sample[] = [];
  readonly drops: Drop[] = [];
  readonly scenes: number[] = [];
  readonly totals = { answers: 0, texts: 0, speech: 0, dropped: 0 };
  readonly current = new Map<string, Span>();  // prompt -> what stands or stood last
  newest = 0;            // media time, seconds
  ended: string | undefined;
  lastStatus: StreamEvent | undefined;
  rung = '';              // what of the quality is given up for the deadline
  version = 0;           // changes with every event
  private characters = 0;
  private readonly textEnds: number[] = [];
  private readonly promptRows = new Map<string, number>();

  // True when the stream is over.
  apply(event: StreamEvent): boolean {
    this.version += 1;
    this.events.push(event);
    this.characters += event.raw.length;
    while (this.events.length > EVENTS_MAX || this.characters > CHARACTERS_MAX) {
      this.characters -= this.events.shift()?.raw.length ?? 0;
    }
    if (event.t1 !== undefined) this.newest = Math.max(this.newest, event.t1);
    this.sample(event);
    switch (event.kind) {
      case 'caption':
      case 'answer':
      case 'alert':
        this.answer(event, event.kind);
        break;
      case 'text':
        this.screenText(event);
        break;
      case 'speech':
        this.speech(event);
        break;
      case 'scene':
        this.scenes.push(event.t0 ?? this.newest);
        if (this.scenes.length > DROPS_MAX) this.scenes.shift();
        break;
      case 'drop':
        this.totals.dropped += event.count;
        this.drops.push({ t: event.t1 ?? this.newest, reason: event.reason, count: event.count });
        if (this.drops.length > DROPS_MAX) this.drops.shift();
        break;
      case 'knobs':
        this.rung = event.reason;
        break;
      case 'status':
        this.lastStatus = event;
        if (event.reason === 'ended' || event.reason === 'failed') return this.end(event);
        break;
      default:
    }
    return false;
  }

  // Alive at this media time, for drawing over the picture.
  textsAt(time: number): Span[] {
    return [...this.spans.values()].filter((span) =>
      span.lane === 'text' && span.box.length === 4 && span.t0 <= time + 0.05 && (span.open || time <= span.t1));
  }

  at(time: number, lane: Lane, slack = 0): Span[] {
    return [...this.spans.values()].filter((span) =>
      span.lane === lane && span.t0 - slack <= time && (span.open || time <= span.t1 + slack));
  }

  private sample(event: StreamEvent): void {
    if (event.t1 === undefined || (!event.stages.length && event.frameAgeMs === undefined)) return;
    const totalMs = event.stages.reduce((sum, [, ms]) => sum + ms, 0);
    this.samples.push({ t: event.t1, ageMs: event.frameAgeMs, stages: event.stages, totalMs });
    if (this.samples.length > SAMPLES_MAX) this.samples.shift();
  }

  private span(event: StreamEvent, lane: Lane): Span {
    const key = `${lane} ${event.id || event.seq}`;
    let span = this.spans.get(key);
    if (!span) {
      const t0 = event.t0 ?? this.newest;
      span = { key, lane, prompt: event.prompt, row: 0, t0, t1: t0, open: true, tentative: false, text: '',
        yes: undefined, confidence: undefined, box: [] };
      this.spans.set(key, span);
      const oldest = this.spans.size > SPANS_MAX ? this.spans.keys().next().value : undefined;
      if (oldest !== undefined) this.spans.delete(oldest);
    }
    span.t0 = Math.min(span.t0, event.t0 ?? span.t0);
    span.t1 = Math.max(span.t0, event.t1 ?? span.t1);
    span.text = event.text;
    span.yes = event.yes ?? span.yes;
    span.confidence = event.confidence ?? span.confidence;
    if (event.box.length) span.box = event.box;
    return span;
  }

  // Told when complete; told again, with its whole span, when it stops standing.
  private answer(event: StreamEvent, lane: Lane): void {
    const known = this.spans.has(`${lane} ${event.id || event.seq}`);
    const span = this.span(event, lane);
    if (known && event.final) {
      span.open = false;
      return;
    }
    this.totals.answers += 1;
    const slot = `${lane} ${event.prompt}`;
    const before = this.current.get(slot);
    if (before && before !== span) before.open = false;
    this.current.set(slot, span);
    if (this.current.size > 64) this.current.delete(this.current.keys().next().value ?? '');
    const row = this.promptRows.get(slot) ?? this.nextRow(lane);
    this.promptRows.set(slot, row);
    span.row = row;
  }

  private nextRow(lane: Lane): number {
    const used = [...this.promptRows.keys()].filter((slot) => slot.startsWith(`${lane} `)).length;
    return Math.min(used, ROWS_MAX - 1);
  }

  private screenText(event: StreamEvent): void {
    const isNew = !this.spans.has(`text ${event.id || event.seq}`);
    const span = this.span(event, 'text');
    span.open = !event.final;
    if (isNew) {
      this.totals.texts += 1;
      const free = Array.from({ length: ROWS_MAX }, (_, row) => this.textEnds[row] ?? -1)
        .findIndex((end) => end <= span.t0);
      span.row = free < 0 ? ROWS_MAX : free;
    }
    if (span.row < ROWS_MAX) this.textEnds[span.row] = span.open ? Infinity : span.t1;
  }

  private speech(event: StreamEvent): void {
    const key = `speech ${event.id || event.seq}`;
    if (event.final && !event.text.trim()) {
      this.spans.delete(key);
      return;
    }
    const span = this.span(event, 'speech');
    span.open = false;
    span.tentative = !event.final;
    if (event.final) this.totals.speech += 1;
  }

  private end(event: StreamEvent): boolean {
    this.ended = event.reason;
    for (const span of this.spans.values()) {
      if (span.open) span.t1 = Math.max(span.t1, this.newest);
      span.open = false;
    }
    return true;
  }
}
