// What stands beside the picture: answers to standing questions, alerts, questions of now, events.

import { problemOf, type Api, type Prompt, type StreamInfo } from './api';
import { button, el, fill, say } from './dom';
import { asList, asObject, asText, KINDS, type Kind, type StreamEvent } from './events';
import { messages } from './sse';
import type { Lane, Span, Story } from './story';
import { clock, milliseconds, percent, plural, sentence, shown } from './text';

const ASKED_MAX = 8;
const EVENTS_SHOWN_MAX = 80;

interface Card {
  readonly element: HTMLElement;
  readonly said: HTMLElement;
  readonly meta: HTMLElement;
  readonly bar: HTMLElement;
}

export class Standing {
  readonly element = el('section', { class: 'panel standing', 'aria-label': 'Standing questions' });
  private cards = new Map<string, Card>();
  private shape = '';

  draw(stream: StreamInfo, story: Story): void {
    const list: Array<[Lane, Prompt]> = [];
    for (const [slot, span] of story.current) {
      const known = [...stream.prompts, ...stream.alerts].some((prompt) => prompt.id === span.prompt);
      if (!known && slot.startsWith('caption')) list.push(['caption', { id: span.prompt, text: 'Caption' }]);
    }
    for (const prompt of stream.prompts) list.push([prompt.id === 'caption' ? 'caption' : 'answer', prompt]);
    for (const alert of stream.alerts) list.push(['alert', alert]);
    const shape = JSON.stringify(list);
    if (shape !== this.shape) this.build(list);
    this.shape = shape;
    for (const [lane, prompt] of list) {
      const slot = `${lane} ${prompt.id}`;
      const card = this.cards.get(slot);
      if (card) this.update(card, story.current.get(slot), lane);
    }
  }

  private build(list: Array<[Lane, Prompt]>): void {
    this.cards.clear();
    const made = list.map(([lane, prompt]) => {
      const card = { said: el('p', { class: 'said' }), meta: el('span', { class: 'figure meta' }),
        bar: el('span', { class: 'sure' }) };
      const element = el('article', { class: `card ${lane}` },
        el('h3', {}, el('bdi', {}, shown(prompt.text, 200))), card.said,
        el('footer', {}, card.bar, card.meta));
      this.cards.set(`${lane} ${prompt.id}`, { element, ...card });
      return element;
    });
    fill(this.element, ...made, list.length ? '' : el('p', { class: 'empty' }, 'No standing question. Press ',
      el('kbd', {}, 'e'), ' to add one; it is then answered whenever the picture changes.'));
  }

  private update(card: Card, span: Span | undefined, lane: Lane): void {
    const alert = lane === 'alert';
    const words = !span ? 'not answered yet' : alert ? (span.yes ? 'Yes' : 'No') : shown(span.text) || 'no words';
    say(card.said, words);
    card.element.classList.toggle('yes', alert && span?.yes === true);
    card.element.classList.toggle('waiting', !span);
    const share = span?.confidence;
    card.bar.style.setProperty('--share', String(share ?? 0));
    card.bar.hidden = share === undefined;
    say(card.meta, span ? `${share === undefined ? '' : `${percent(share)} · `}since ${clock(span.t0)}` : '');
  }
}

export class AskBox {
  readonly element: HTMLElement;
  readonly input = el('input', { type: 'text', name: 'question', maxlength: 4000, autocomplete: 'off',
    placeholder: 'Ask about what it shows now', 'aria-label': 'Question about what the stream shows now' });
  private readonly list = el('div', { class: 'asked', 'aria-live': 'polite' });
  private readonly go = el('button', { type: 'submit', class: 'primary' }, 'Ask');
  private stop: AbortController | undefined;

  constructor(private readonly api: Api, private readonly stream: () => string | undefined) {
    const form = el('form', { class: 'ask' }, this.input, this.go);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const question = this.input.value.trim();
      const id = this.stream();
      if (question && id && !this.go.disabled) void this.ask(id, question);
    });
    this.element = el('section', { class: 'panel', 'aria-label': 'Ask' }, form, this.list);
  }

  reset(): void {
    this.stop?.abort();
    fill(this.list);
  }

  private async ask(id: string, question: string): Promise<void> {
    const said = el('p', { class: 'said' }, el('span', { class: 'cursor' }));
    const meta = el('footer', { class: 'figure meta' });
    const asked = el('h3', {}, el('bdi', {}, shown(question, 300)));
    this.list.prepend(el('article', { class: 'card ask-card' }, asked, said, meta));
    while (this.list.childElementCount > ASKED_MAX) this.list.lastElementChild?.remove();
    this.input.value = '';
    this.go.disabled = true;
    const stop = (this.stop = new AbortController());
    const began = performance.now();
    let text = '', first = 0;
    try {
      const reply = await this.api.send('POST', `/v1/streams/${encodeURIComponent(id)}/ask`, { question, stream: true },
        {}, stop.signal);
      for await (const message of messages(reply)) {
        if (message.data === '[DONE]') break;
        const json = asObject(JSON.parse(message.data));
        if (json['error']) throw new Error(asText(asObject(json['error'])['message']));
        const delta = asObject(asObject(asList(json['choices'])[0])['delta']);
        text += asText(delta['content']);
        if (text && !first) first = performance.now() - began;
        if (text) say(said, shown(text, 4000));
      }
      say(said, shown(text, 4000) || 'The model said nothing.');
      say(meta, `first word ${milliseconds(first)} · whole ${milliseconds(performance.now() - began)}`);
    } catch (error) {
      if (stop.signal.aborted) return;
      const known = problemOf(error);
      const told = known.code === 'unreachable' && error instanceof Error && first ? error.message : known.message;
      said.classList.add('bad');
      say(said, sentence(told));
      say(meta, known.advice);
    } finally {
      this.go.disabled = false;
    }
  }
}

const SHOWN_FIRST: ReadonlySet<Kind> = new Set(KINDS.filter((kind) => kind !== 'stats' && kind !== 'scene'));

export class EventList {
  readonly element: HTMLElement;
  onPick: (time: number) => void = () => undefined;
  private readonly kinds = new Set<Kind>(SHOWN_FIRST);
  private readonly list = el('ol', { class: 'events' });
  private readonly count = el('span', { class: 'figure meta' });
  private drawn = '';

  constructor() {
    const filters = KINDS.filter((kind) => kind !== 'stats').map((kind) => {
      const toggle = button(kind, () => {
        if (!this.kinds.delete(kind)) this.kinds.add(kind);
        toggle.setAttribute('aria-pressed', String(this.kinds.has(kind)));
        this.drawn = '';
      }, { class: `tag ${kind}`, 'aria-pressed': String(this.kinds.has(kind)) });
      return toggle;
    });
    this.element = el('section', { class: 'panel log', 'aria-label': 'Events' },
      el('header', {}, el('h2', {}, 'Events'), this.count), el('div', { class: 'filters' }, ...filters), this.list);
  }

  draw(story: Story): void {
    const key = `${story.version} ${[...this.kinds].join()} ${story.events.length}`;
    if (key === this.drawn || this.list.matches(':hover')) return;  // do not pull a line from under the pointer
    this.drawn = key;
    const rows: HTMLElement[] = [];
    const told = new Set<string>();  // of events that share an id the newest says it all
    for (let i = story.events.length - 1; i >= 0 && rows.length < EVENTS_SHOWN_MAX; --i) {
      const event = story.events[i];
      const key = event?.id ? `${event.kind} ${event.id}` : '';
      if (!event || told.has(key) || !this.kinds.has(event.kind)) continue;
      if (key) told.add(key);
      rows.push(this.row(event));
    }
    say(this.count, plural(story.events.length, 'event'));
    fill(this.list, ...rows, rows.length ? '' : el('li', { class: 'empty' }, 'Nothing yet of these kinds.'));
  }

  private row(event: StreamEvent): HTMLElement {
    const time = event.t0;
    const pick = button('', () => { if (time !== undefined) this.onPick(time); });
    pick.append(el('time', { class: 'figure' }, time === undefined ? '' : clock(time)),
      el('span', { class: `tag ${event.kind}` }, event.kind), el('bdi', { class: 'what' }, describe(event)));
    return el('li', { class: event.final ? '' : 'tentative' }, pick);
  }
}

function describe(event: StreamEvent): string {
  const text = shown(event.text, 240);
  switch (event.kind) {
    case 'alert':
      return `${event.yes ? 'yes' : 'no'} · ${text}`;
    case 'text':
      return event.final ? `${text} · gone after ${clock((event.t1 ?? 0) - (event.t0 ?? 0))}` : text;
    case 'speech':
      return text || 'taken back';
    case 'drop':
      return `${plural(event.count, 'picture')} · ${shown(event.reason, 40)}`;
    case 'status':
      return [shown(event.reason, 60), text].filter(Boolean).join(' · ');
    case 'scene':
      return 'most of the picture changed';
    case 'knobs':
      return [shown(event.reason, 40), ...event.numbers.map(([name, value]) => `${shown(name, 40)} ${value}`)]
        .filter(Boolean).join(' · ');
    default:
      return text;
  }
}
