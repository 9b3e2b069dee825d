// How the server is: from its own metrics, as far as the key may read them.

import { problemOf, type Api, type Problem } from './api';
import { el, fill } from './dom';

// Sums of Prometheus samples by name, and by name{labels}.
export function readMetrics(text: string): Map<string, number> {
  const out = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^([a-z_:]+)(\{[^}]*\})? ([-+0-9.eE]+)$/.exec(line);
    if (!match?.[1]) continue;
    const value = Number(match[3]);
    out.set(match[1], (out.get(match[1]) ?? 0) + value);
    if (match[2]) out.set(match[1] + match[2], value);
  }
  return out;
}

// What is given up so that deadlines are kept, in the order of the server's ladder.
const RUNGS = ['full', 'calm', 'few tiles', 'pruned', 'slow', 'keys', 'refusing'];

export class ServerPanel {
  readonly element: HTMLElement;
  private readonly list = el('dl', { class: 'figures' });

  constructor(private readonly api: Api) {
    this.element = el('section', { class: 'server', 'aria-label': 'Server' }, el('h2', {}, 'Server'), this.list);
  }

  // Gives what is wrong when the server cannot be reached at all.
  async refresh(): Promise<Problem | undefined> {
    const ready = await this.api.send('GET', '/readyz').then(() => undefined, problemOf);
    if (ready?.code === 'unreachable') {
      this.show([['state', 'unreachable']]);
      return ready;
    }
    const rows: Array<[string, string]> = [['state', ready ? 'shutting down' : 'ready']];
    try {
      const numbers = readMetrics(await (await this.api.send('GET', '/metrics')).text());
      const whole = (name: string) => String(Math.round(numbers.get(`saccade_${name}`) ?? 0));
      const mean = (name: string) => {
        const count = numbers.get(`saccade_${name}_count`) ?? 0;
        return count ? `${Math.round((1000 * (numbers.get(`saccade_${name}_sum`) ?? 0)) / count)} ms` : '–';
      };
      rows.push(['waiting', whole('queue_waiting')], ['running', whole('queue_running')],
        ['device jobs', whole('device_jobs_waiting')], ['events', whole('events_total')],
        ['first token', mean('time_to_first_token_seconds')], ['frame age', mean('frame_age_seconds')],
        ['quality', RUNGS[numbers.get('saccade_governor_rung') ?? 0] ?? 'full'],
        ['refused', whole('requests_refused_total')], ['connections', whole('connections')]);
    } catch (error) {
      const { status } = problemOf(error);
      if (status === 403) rows.push(['figures', 'need an admin key']);
    }
    this.show(rows);
    return undefined;
  }

  private show(rows: Array<[string, string]>): void {
    fill(this.list, ...rows.map(([name, value]) =>
      el('div', { 'data-name': name }, el('dt', {}, name), el('dd', { class: 'figure' }, value))));
  }
}
