// What was told, as a file: subtitles of captions, answers and speech, or every event as it came.

import type { Span, Story } from './story';
import { shown } from './text';

export type Format = 'vtt' | 'srt' | 'jsonl';

// The cue's text: no markup, no end of the cue inside.
function cueText(span: Span, format: Format): string {
  const lead = span.lane === 'answer' || span.lane === 'alert' ? `${shown(span.prompt, 64)}: ` : '';
  const said = span.lane === 'alert' ? (span.yes ? 'yes' : 'no') : shown(span.text, 4000);
  const text = (lead + said).replace(/-->/g, '→');
  if (format === 'srt') return text.replace(/</g, '‹').replace(/>/g, '›');
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function stamp(seconds: number, point: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}` +
    String(ms % 1000).padStart(3, '0');
}

// Across lanes what shows at the same time becomes one cue with a line each: players show one row.
function cues(story: Story): Array<{ from: number; to: number; spans: Span[] }> {
  const told = [...story.spans.values()].filter((span) =>
    span.lane !== 'text' && span.lane !== 'drop' && !span.tentative && (span.lane === 'alert' || span.text.trim()));
  const endOf = (span: Span) => Math.max(span.open ? story.newest : span.t1, span.t0 + 1);
  const edges = [...new Set(told.flatMap((span) => [span.t0, endOf(span)]))].sort((a, b) => a - b);
  const out: Array<{ from: number; to: number; spans: Span[] }> = [];
  for (const [index, from] of edges.entries()) {
    const to = edges[index + 1];
    if (to === undefined || to - from < 0.001) continue;
    const spans = told.filter((span) => span.t0 <= from && endOf(span) > from).slice(-8);
    const last = out.at(-1);
    if (last && last.to === from && last.spans.length === spans.length &&
        last.spans.every((span, at) => span === spans[at])) {
      last.to = to;
    } else if (spans.length) {
      out.push({ from, to, spans });
    }
  }
  return out;
}

export function exported(story: Story, format: Format): string {
  if (format === 'jsonl') return story.events.map((event) => `${event.raw}\n`).join('');
  const point = format === 'vtt' ? '.' : ',';
  const blocks = cues(story).map(({ from, to, spans }, index) =>
    `${format === 'srt' ? `${index + 1}\n` : ''}${stamp(from, point)} --> ${stamp(to, point)}\n` +
    spans.map((span) => cueText(span, format)).join('\n') + '\n');
  return (format === 'vtt' ? 'WEBVTT\n\n' : '') + blocks.join('\n');
}

export function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
