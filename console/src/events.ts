// Events as docs/events.md describes them, checked field by field: what has the wrong type is
// treated as absent, and kinds nobody knows are left out.

export const KINDS = ['caption', 'answer', 'alert', 'text', 'speech', 'scene', 'drop', 'status', 'knobs',
  'stats'] as const;
export type Kind = (typeof KINDS)[number];

export const STAGES = ['capture', 'align', 'see', 'read', 'hear', 'attend', 'decode', 'emit'] as const;
export type Stage = (typeof STAGES)[number];

export type Corner = readonly [number, number];

export interface StreamEvent {
  readonly kind: Kind;
  readonly seq: number;
  readonly t0: number | undefined;
  readonly t1: number | undefined;
  readonly text: string;
  readonly final: boolean;
  readonly id: string;
  readonly prompt: string;
  readonly confidence: number | undefined;
  readonly frameAgeMs: number | undefined;
  readonly yes: boolean | undefined;
  readonly reason: string;
  readonly count: number;
  readonly stages: ReadonlyArray<readonly [Stage, number]>;
  readonly box: readonly Corner[];
  readonly numbers: ReadonlyArray<readonly [string, number]>;
  readonly raw: string;
}

type Json = Record<string, unknown>;

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function shareOf(value: unknown): number | undefined {
  const number = asNumber(value);
  return number === undefined ? undefined : Math.min(1, Math.max(0, number));
}

function boxOf(value: unknown): Corner[] {
  const corners = asList(value).slice(0, 4).map((corner): Corner | undefined => {
    const [x, y] = asList(corner).map(asNumber);
    return x === undefined || y === undefined ? undefined : [x, y];
  });
  return corners.length === 4 && corners.every((corner) => corner !== undefined) ? (corners as Corner[]) : [];
}

export function readEvent(raw: string): StreamEvent | undefined {
  let json: Json;
  try {
    json = asObject(JSON.parse(raw));
  } catch {
    return undefined;
  }
  const kind = KINDS.find((each) => each === json['kind']);
  const seq = asNumber(json['seq']);
  if (!kind || seq === undefined) return undefined;
  const stages = asObject(json['stages']);
  const numbers = Object.entries(asObject(json['numbers'])).slice(0, 64);
  return {
    kind, seq, raw,
    t0: asNumber(json['t0']),
    t1: asNumber(json['t1']) ?? asNumber(json['t0']),
    text: asText(json['text']),
    final: json['final'] !== false,
    id: asText(json['id']),
    prompt: asText(json['prompt']),
    confidence: shareOf(json['confidence']),
    frameAgeMs: asNumber(json['frame_age_ms']),
    yes: typeof json['yes'] === 'boolean' ? json['yes'] : undefined,
    reason: asText(json['reason']),
    count: asNumber(json['count']) ?? 0,
    stages: STAGES.flatMap((stage) => {
      const ms = asNumber(stages[stage]);
      return ms !== undefined && ms > 0 ? [[stage, ms] as const] : [];
    }),
    box: boxOf(json['box']),
    numbers: numbers.flatMap(([name, value]) => {
      const number = asNumber(value);
      return number === undefined ? [] : [[name, number] as const];
    }),
  };
}
