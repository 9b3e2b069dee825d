// Requests to the server this page came from. The key lives in this tab only and goes out as a
// header; it never becomes part of an address.

import { asList, asNumber, asObject, asText } from './events';

const KEY_PLACE = 'saccade.key';

export interface Prompt {
  readonly id: string;
  readonly text: string;
}

export interface StreamInfo {
  readonly id: string;
  readonly source: string;
  readonly state: string;
  readonly reason: string;
  readonly prompts: readonly Prompt[];
  readonly alerts: readonly Prompt[];
  readonly senses: readonly string[];
  readonly position: number | undefined;
  readonly created: number;
}

// A refusal in the server's words, and what to do about it in ours.
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly param = '') {
    super(message);
  }

  get advice(): string {
    switch (this.code) {
      case 'unreachable':
        return 'Check that `saccade serve` still runs and that this machine reaches it.';
      case 'invalid_api_key':
        return 'Enter a key of the server’s key file.';
      case 'host_not_allowed':
      case 'origin_not_allowed':
        return 'Start the server with --allow-host or --allow-origin for the name you use here.';
      case 'queue_full':
        return 'Other requests are being answered. Ask again in a few seconds.';
      case 'too_many_streams':
        return 'Remove a stream, or start the server with a larger --streams-max.';
      case 'stream_exists':
        return 'Choose another name, or remove the stream of this name first.';
      case 'no_such_stream':
        return 'It was removed, or it ended more than ten minutes ago.';
      case 'shutting_down':
        return 'The server is ending. Try again when it is back.';
      default:
        if (this.param !== 'source') return '';
        return 'The operator names hosts with --allow-source HOST and a folder of files with --media-path DIR; ' +
          'a file is then file:///name.mp4.';
    }
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, 'unreachable', 'The server does not answer.');
}

function promptsOf(value: unknown): Prompt[] {
  return asList(value).map(asObject).map((each) => ({ id: asText(each['id']), text: asText(each['text']) }));
}

function streamOf(value: unknown): StreamInfo {
  const json = asObject(value);
  return {
    id: asText(json['id']),
    source: asText(json['source']),
    state: asText(json['state']),
    reason: asText(json['reason']),
    prompts: promptsOf(json['prompts']),
    alerts: promptsOf(json['alerts']),
    senses: asList(json['senses']).map(asText),
    position: asNumber(json['position_s']),
    created: asNumber(json['created']) ?? 0,
  };
}

export class Api {
  // Called whenever the server wants a key, or another one.
  onKeyWanted: () => void = () => undefined;
  private key = sessionStorage.getItem(KEY_PLACE) ?? '';

  get hasKey(): boolean {
    return this.key !== '';
  }

  setKey(key: string): void {
    if (/[^\x21-\x7e]/.test(key)) throw new Problem(0, 'bad_key', 'A key is printable ASCII without spaces.', 'key');
    this.key = key;
    if (key) sessionStorage.setItem(KEY_PLACE, key);
    else sessionStorage.removeItem(KEY_PLACE);
  }

  // Gives every reply below 400, and 304; throws a Problem else.
  async send(method: string, path: string, body?: unknown, more: Record<string, string> = {},
    signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...more };
    if (this.key) headers['Authorization'] = `Bearer ${this.key}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    let reply: Response;
    try {
      reply = await fetch(path, {
        method, headers, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
        body: body === undefined ? null : JSON.stringify(body), signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw problemOf(error);
    }
    if (reply.status < 400) return reply;
    const told = asObject(asObject(await reply.json().catch(() => ({})))['error']);
    const code = asText(told['code']) || `http_${reply.status}`;
    if (reply.status === 401) this.onKeyWanted();
    throw new Problem(reply.status, code, asText(told['message']) || `The server answered ${reply.status}.`,
      asText(told['param']));
  }

  async streams(): Promise<StreamInfo[]> {
    const reply = await this.send('GET', '/v1/streams');
    return asList(asObject(await reply.json())['data']).map(streamOf).filter((stream) => stream.id);
  }

  async make(body: object): Promise<StreamInfo> {
    return streamOf(await (await this.send('POST', '/v1/streams', body)).json());
  }

  async change(id: string, body: object): Promise<void> {
    await this.send('PATCH', `/v1/streams/${encodeURIComponent(id)}`, body);
  }

  async remove(id: string): Promise<void> {
    await this.send('DELETE', `/v1/streams/${encodeURIComponent(id)}`);
  }

  async version(): Promise<string> {
    return asText(asObject(await (await this.send('GET', '/version')).json())['version']);
  }

  async model(): Promise<string> {
    const list = asObject(await (await this.send('GET', '/v1/models')).json());
    return asText(asObject(asList(list['data'])[0])['id']);
  }
}
