// Server-sent events over fetch, because EventSource cannot send a key. Comes back by itself with
// Last-Event-ID, waiting longer each time.

import { problemOf, type Api, type Problem } from './api';

export interface Message {
  readonly id: string;
  readonly data: string;
}

const LINE_CHARACTERS_MAX = 4 << 20;

// The messages of one reply, until it ends. `onBytes` hears pings too.
export async function* messages(reply: Response, onBytes: () => void = () => undefined): AsyncGenerator<Message> {
  if (!reply.body) return;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '', id = '', data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      rest += value;
      if (rest.length > LINE_CHARACTERS_MAX) throw new Error('a line of the stream has no end');
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).replace(/\r$/, '');
        rest = rest.slice(end + 1);
        if (line.startsWith('id:')) id = line.slice(3).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
        else if (line === '' && data.length) {
          yield { id, data: data.join('\n') };
          data = [];
        }
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

export type Link =
  | { readonly state: 'connecting' | 'live' | 'over' }
  | { readonly state: 'waiting'; readonly until: number; readonly problem: Problem }
  | { readonly state: 'refused'; readonly problem: Problem };

const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15000];
// The server pings every 15 s; a line that is silent for longer is dead.
const SILENCE_MS = 40_000;

export class Follower {
  link: Link = { state: 'connecting' };
  private last = '';
  private readonly stop = new AbortController();
  private wakeUp: () => void = () => undefined;

  // `onMessage` gives true when this was the last one.
  constructor(private readonly api: Api, private readonly path: string,
    private readonly onMessage: (message: Message) => boolean, private readonly onLink: () => void) {
    void this.run();
  }

  close(): void {
    this.stop.abort();
    this.wakeUp();
  }

  retryNow(): void {
    this.wakeUp();
  }

  private set(link: Link): void {
    this.link = link;
    if (!this.stop.signal.aborted) this.onLink();
  }

  private async run(): Promise<void> {
    for (let attempt = 0; !this.stop.signal.aborted; ++attempt) {
      this.set({ state: 'connecting' });
      let problem: Problem;
      try {
        if (await this.read(() => { attempt = 0; })) return this.set({ state: 'over' });
        problem = problemOf(undefined);
      } catch (error) {
        if (this.stop.signal.aborted) return;
        problem = problemOf(error);
      }
      if (problem.status === 404) return this.set({ state: 'refused', problem });
      const wait = WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 1000;
      this.set({ state: 'waiting', until: Date.now() + wait, problem });
      await new Promise<void>((done) => {
        this.wakeUp = done;
        setTimeout(done, wait);
      });
    }
  }

  // True when the stream said that it is over.
  private async read(onUp: () => void): Promise<boolean> {
    const once = new AbortController();
    const abort = () => once.abort();
    this.stop.signal.addEventListener('abort', abort);
    let watchdog = setTimeout(abort, SILENCE_MS);
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (this.last) headers['Last-Event-ID'] = this.last;
      const reply = await this.api.send('GET', this.path, undefined, headers, once.signal);
      onUp();
      this.set({ state: 'live' });
      const onBytes = () => {
        clearTimeout(watchdog);
        watchdog = setTimeout(abort, SILENCE_MS);
      };
      for await (const message of messages(reply, onBytes)) {
        if (message.id) this.last = message.id;
        if (this.onMessage(message)) return true;
      }
      return false;
    } finally {
      clearTimeout(watchdog);
      this.stop.signal.removeEventListener('abort', abort);
    }
  }
}
