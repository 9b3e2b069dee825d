// The page: which stream is looked at, and who is told when something of it changes.

import { AgePlot } from './age_plot';
import { Api, problemOf, type Problem, type StreamInfo } from './api';
import { Axis } from './axis';
import { askForKey, askForPrompts, askForSource, askToRemove, offerExport, sayProblem, showHelp } from './dialogs';
import { button, coalesce, el, fill, query, say } from './dom';
import { readEvent, STAGES } from './events';
import icon from './icon.svg?url';
import { AskBox, EventList, Standing } from './panels';
import { PictureView } from './picture';
import { ServerPanel } from './server_panel';
import { Follower } from './sse';
import { Story } from './story';
import { clock, sentence, shown } from './text';
import { onTheme, toggleTheme } from './theme';
import { Timeline } from './timeline';

const STREAMS_EVERY_MS = 2500;
const SERVER_EVERY_MS = 5000;
const DRAW_EVERY_MS = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 80;

export class App {
  private readonly api = new Api();
  private readonly axis = new Axis();
  private story = new Story();
  private streams: StreamInfo[] = [];
  private id: string | undefined;
  private created: number | undefined;
  private changes = 0;  // of the list, made here
  private follower: Follower | undefined;
  private serverProblem: Problem | undefined;
  private loaded = false;

  private readonly timeline = new Timeline(this.axis, () => this.story);
  private readonly age = new AgePlot(this.axis, () => this.story);
  private readonly picture = new PictureView(this.api, () => this.story);
  private readonly standing = new Standing();
  private readonly ask = new AskBox(this.api, () => this.id);
  private readonly log = new EventList();
  private readonly server = new ServerPanel(this.api);

  private readonly bar = el('div', { class: 'bar', role: 'alert', hidden: true });
  private readonly list = el('ul', { class: 'streams' });
  private readonly main = el('main', { id: 'main', tabindex: -1 });
  private readonly title = el('h1');
  private readonly source = el('span', { class: 'source' });
  private readonly state = el('span', { class: 'chip' });
  private readonly link = button('', () => this.follower?.retryNow(),
    { class: 'chip link', title: 'Connection to the server' });
  private readonly rung = el('span', { class: 'chip stale', hidden: true,
    title: 'What is given up so that answers keep their deadline' });
  private readonly window = el('span', { class: 'figure' });
  private readonly live = button('Live', () => this.axis.follow(),
    { class: 'quiet live', title: 'Follow the newest (f)' });
  private readonly version = el('span', { class: 'model' });
  private readonly view: HTMLElement;

  constructor(private readonly body: HTMLElement) {
    this.view = this.makeView();
  }

  start(): void {
    fill(this.body, this.makeTop(), this.bar, el('div', { class: 'frame' }, this.makeRail(), this.main));
    this.api.onKeyWanted = () => askForKey(this.api, () => this.reload());
    this.axis.onChange = this.drawSoon;
    this.picture.onTime = (time) => {
      this.axis.hear(time);
      this.drawSoon();
    };
    this.log.onPick = (time) => {
      this.axis.point(time);
      this.drawSoon();
    };
    onTheme(this.drawSoon);
    addEventListener('resize', this.drawSoon);
    addEventListener('hashchange', () => this.select(this.wanted()));
    addEventListener('keydown', (event) => this.onKey(event));
    this.reload();
    this.every(STREAMS_EVERY_MS, () => this.refreshStreams());
    this.every(SERVER_EVERY_MS, () => this.refreshServer());
    this.every(DRAW_EVERY_MS, async () => { if (this.moving()) this.drawSoon(); });
    this.every(1000, async () => this.drawLink());
  }

  // One after the other, never two at once, and none while nobody looks.
  private every(ms: number, call: () => Promise<void>): void {
    const again = async () => {
      if (!document.hidden) await call().catch(() => undefined);
      setTimeout(() => void again(), ms);
    };
    setTimeout(() => void again(), ms);
  }

  private reload(): void {
    void this.refreshServer();
    void this.refreshStreams().catch(() => undefined);
    void Promise.all([this.api.version(), this.api.model()]).then(([version, model]) =>
      say(this.version, `${shown(model, 60)} · ${shown(version, 20)}`), () => undefined);
    this.follower?.retryNow();
  }

  private makeTop(): HTMLElement {
    const tool = (label: string, key: string, does: () => void) =>
      button(label, does, { class: 'quiet', title: `${label} (${key})`, 'aria-keyshortcuts': key });
    return el('header', { class: 'top' },
      el('a', { class: 'skip', href: '#main' }, 'To the stream'),
      el('img', { src: icon, alt: '', width: 22, height: 22 }), el('strong', { class: 'name' }, 'Saccade'),
      this.version,
      el('span', { class: 'spring' }),
      tool('Theme', 'd', toggleTheme), tool('Key', 'k', () => askForKey(this.api, () => this.reload())),
      tool('Help', '?', showHelp));
  }

  private makeRail(): HTMLElement {
    return el('nav', { class: 'rail', 'aria-label': 'Streams' },
      el('header', {}, el('h2', {}, 'Streams'),
        button('+ Add', () => this.add(),
          { class: 'primary small', title: 'Add a source (a)', 'aria-keyshortcuts': 'a' })),
      this.list, this.server.element);
  }

  private makeView(): HTMLElement {
    const boxes = button('Text boxes', () => {
      this.picture.boxes = !this.picture.boxes;
      boxes.setAttribute('aria-pressed', String(this.picture.boxes));
      this.picture.draw();
    }, { class: 'quiet boxes', 'aria-pressed': 'true', title: 'Text boxes on the picture (b)' });
    const legend = el('div', { class: 'legend' }, ...STAGES.map((stage, index) =>
      el('span', { class: `stage s${index}` }, stage)));
    return el('div', { class: 'view' },
      el('header', { class: 'head' }, el('div', { class: 'names' }, this.title, this.source, this.state, this.link,
        this.rung),
        el('span', { class: 'spring' }), boxes,
        button('Prompts', () => this.editPrompts(), { class: 'quiet', title: 'Edit prompts (e)' }),
        button('Export', () => this.export(), { class: 'quiet', title: 'Export events (x)' }),
        button('Remove', () => this.remove(), { class: 'quiet', title: 'Remove the stream (Delete)' })),
      el('div', { class: 'left' },
        el('div', { class: 'now' }, this.picture.element, this.standing.element),
        el('section', { class: 'panel time', 'aria-label': 'Timeline' },
          el('header', {}, el('h2', {}, 'Timeline'), el('span', { class: 'spring' }),
            button('−', () => this.axis.zoom(1), { class: 'quiet', 'aria-label': 'Show more time' }), this.window,
            button('+', () => this.axis.zoom(-1), { class: 'quiet', 'aria-label': 'Show less time' }), this.live),
          this.timeline.element, legend,
          el('header', { class: 'sub' }, el('h2', {}, 'Frame age'), el('span', { class: 'spring' }), this.age.summary),
          this.age.element)),
      el('aside', { class: 'side', 'aria-label': 'Answers and events' }, this.ask.element, this.log.element));
  }

  private async refreshServer(): Promise<void> {
    this.serverProblem = await this.server.refresh();
    sayProblem(this.bar, this.serverProblem);
    this.drawLink();
  }

  private async refreshStreams(): Promise<void> {
    const before = this.changes;
    try {
      const streams = await this.api.streams();
      if (before !== this.changes) return;  // asked for before something was added or removed
      this.streams = streams;
      this.loaded = true;
    } catch (error) {
      const problem = problemOf(error);
      if (!this.loaded) this.drawEmpty(problem);
      throw error;
    }
    this.drawStreams();
    // Another stream of the same name has its own story.
    if (this.stream && this.created !== this.stream.created) this.id = undefined;
    this.select(this.wanted());
    this.drawHead();
  }

  private wanted(): string | undefined {
    const named = location.hash.replace(/^#\/?/, '');
    if (this.streams.some((stream) => stream.id === named)) return named;
    return this.streams.some((stream) => stream.id === this.id) ? this.id : this.streams[0]?.id;
  }

  private get stream(): StreamInfo | undefined {
    return this.streams.find((stream) => stream.id === this.id);
  }

  private select(id: string | undefined): void {
    if (id === this.id && (id !== undefined) === this.view.isConnected) {
      if (id === undefined && this.loaded) this.drawEmpty();
      return;
    }
    this.id = id;
    this.created = this.stream?.created;
    this.follower?.close();
    this.follower = undefined;
    this.story = new Story();
    this.axis.reset();
    this.ask.reset();
    this.picture.show(id);
    if (id === undefined) return this.drawEmpty();
    if (location.hash !== `#/${id}`) history.replaceState(null, '', `#/${id}`);
    fill(this.main, this.view);
    this.follower = new Follower(this.api, `/v1/streams/${encodeURIComponent(id)}/events`,
      (message) => this.onEvent(message.data), () => this.drawLink());
    this.drawStreams();
    this.drawHead();
    this.drawSoon();
  }

  private onEvent(data: string): boolean {
    const event = readEvent(data);
    if (!event) return false;
    const over = this.story.apply(event);
    this.axis.hear(this.story.newest);
    if (over) this.axis.halt();
    this.drawSoon();
    return over;
  }

  private moving(): boolean {
    return this.id !== undefined && this.axis.following && !this.story.ended;
  }

  private readonly drawSoon = coalesce(() => {
    if (this.id === undefined) return;
    this.timeline.draw();
    this.age.draw();
    this.picture.draw();
    if (this.stream) this.standing.draw(this.stream, this.story);
    this.log.draw(this.story);
    this.rung.hidden = ['', 'full'].includes(this.story.rung);
    say(this.rung, `quality: ${shown(this.story.rung, 20).replace('_', ' ')}`);
    say(this.window, this.axis.windowS < 60 ? `${this.axis.windowS} s` : `${this.axis.windowS / 60} min`);
    this.live.setAttribute('aria-pressed', String(this.axis.following));
  });

  private drawStreams(): void {
    const rows = this.streams.map((stream) => {
      const pick = button('', () => { location.hash = `#/${stream.id}`; },
        { 'aria-current': stream.id === this.id ? 'true' : undefined });
      pick.append(el('span', { class: `dot ${stateOf(stream)}`, title: stateOf(stream) }),
        el('span', { class: 'id' }, shown(stream.id, 64)),
        el('span', { class: 'figure time' }, stream.position === undefined ? '' : clock(stream.position, 0)),
        el('bdi', { class: 'of' }, shown(stream.source, 120)));
      return el('li', {}, pick);
    });
    const held = this.list.contains(document.activeElement)
      ? [...this.list.querySelectorAll('button')].indexOf(document.activeElement as HTMLButtonElement) : -1;
    fill(this.list, ...rows);
    if (held >= 0) this.list.querySelectorAll('button')[held]?.focus();
  }

  private drawHead(): void {
    const { stream } = this;
    if (!stream) return;
    const state = stateOf(stream);
    say(this.title, shown(stream.id, 64));
    say(this.source, shown(stream.source, 200));
    say(this.state, state);
    this.state.className = `chip ${state}`;
    this.state.title = shown(stream.reason, 300);
    document.title = `${shown(stream.id, 64)} · Saccade`;
    if ((state === 'failed' || state === 'stale') && stream.reason && !this.serverProblem) {
      sayProblem(this.bar, { message: `${stream.id} ${state}: ${shown(stream.reason, 300)}.`,
        advice: state === 'failed' ? 'Remove it and add the source again once it can be reached.' : '' });
    } else {
      sayProblem(this.bar, this.serverProblem);
    }
    this.drawLink();
  }

  private drawLink(): void {
    const link = this.follower?.link;
    if (!link) return;
    const left = link.state === 'waiting' ? Math.max(0, Math.ceil((link.until - Date.now()) / 1000)) : 0;
    const words = { connecting: 'connecting', live: 'connected', over: 'complete',
      waiting: `reconnecting in ${left} s`, refused: 'gone' }[link.state];
    // A line that broke without a word looks whole until the watchdog bites; the server panel knows sooner.
    const silent = link.state === 'live' && this.serverProblem;
    say(this.link, silent ? 'no answer' : words);
    this.link.dataset['link'] = silent ? 'waiting' : link.state;
    this.link.disabled = link.state !== 'waiting';
    if (link.state === 'refused') this.link.title = link.problem.message;
  }

  private drawEmpty(problem?: Problem): void {
    document.title = 'Saccade';
    const box = problem
      ? el('div', { class: 'nothing' }, el('h1', {}, sentence(problem.message)), el('p', {}, problem.advice),
        button('Try again', () => this.reload(), { class: 'primary' }))
      : el('div', { class: 'nothing' }, el('h1', {}, 'Nothing is being watched yet.'),
        el('p', {}, 'Add a camera, a stream or a file. What is seen, read and heard appears here, on one time axis.'),
        button('Add a source', () => this.add(), { class: 'primary' }),
        el('p', { class: 'help' }, 'Or from a shell:'),
        el('pre', {}, `curl ${location.origin}/v1/streams \\\n  -d '{"source": "rtsp://camera.lan/stream", ` +
          '"prompts": ["What do you see?"]}\''));
    if (this.main.dataset['shows'] === (problem?.message ?? '') && this.main.querySelector('.nothing')) return;
    this.main.dataset['shows'] = problem?.message ?? '';
    fill(this.main, box);
  }

  private add(): void {
    askForSource(this.api, (stream) => {
      this.changes += 1;
      this.streams = [...this.streams.filter((each) => each.id !== stream.id), stream];
      this.loaded = true;
      location.hash = `#/${stream.id}`;
      this.select(stream.id);
      void this.refreshStreams().catch(() => undefined);
    });
  }

  private editPrompts(): void {
    const { stream } = this;
    if (stream) askForPrompts(this.api, stream, () => void this.refreshStreams().catch(() => undefined));
  }

  private export(): void {
    if (this.id !== undefined) offerExport(this.id, this.story);
  }

  private remove(): void {
    const { id } = this;
    if (id === undefined) return;
    askToRemove(this.api, id, () => {
      this.changes += 1;
      this.streams = this.streams.filter((stream) => stream.id !== id);
      this.drawStreams();
      this.select(this.wanted());
    });
  }

  private step(by: number): void {
    const at = this.streams.findIndex((stream) => stream.id === this.id);
    const next = this.streams[(at + by + this.streams.length) % this.streams.length];
    if (next) location.hash = `#/${next.id}`;
  }

  private onKey(event: KeyboardEvent): void {
    const target = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]') || target.matches('input, textarea, select')) {
      if (event.key === 'Escape' && target === this.ask.input) this.ask.input.blur();
      return;
    }
    const keys: Record<string, () => void> = {
      '?': showHelp, a: () => this.add(), d: toggleTheme, k: () => askForKey(this.api, () => this.reload()),
      '[': () => this.step(-1), ']': () => this.step(1),
    };
    const ofStream: Record<string, () => void> = {
      e: () => this.editPrompts(), x: () => this.export(), f: () => this.axis.follow(),
      b: () => query<HTMLButtonElement>(this.view, '.boxes').click(), '/': () => this.ask.input.focus(),
      '+': () => this.axis.zoom(-1), '-': () => this.axis.zoom(1), Delete: () => this.remove(),
    };
    const does = keys[event.key] ?? (this.id === undefined ? undefined : ofStream[event.key]);
    if (!does) return;
    event.preventDefault();
    does();
  }
}

// A file never says that it is up; having a position is as good.
function stateOf(stream: StreamInfo): string {
  if (!['connecting', 'up', 'stale', 'failed', 'ended'].includes(stream.state)) return 'connecting';
  return stream.state === 'connecting' && stream.position !== undefined && !stream.reason ? 'up' : stream.state;
}
