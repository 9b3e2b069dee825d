// Everything that is asked in a dialog: a source, prompts, a key, yes or no, and the keys there are.

import { problemOf, type Api, type Prompt, type StreamInfo } from './api';
import { button, el, fill, say } from './dom';
import { exported, save, type Format } from './export';
import type { Story } from './story';
import { sentence } from './text';

const PROMPTS_MAX = 16;

interface Sheet {
  readonly dialog: HTMLDialogElement;
  readonly form: HTMLFormElement;
  readonly close: () => void;
}

// A dialog with a form; `submit` may throw a Problem, which is then shown in it.
function sheet(title: string, action: string, submit: (() => Promise<void> | void) | undefined,
  ...body: Array<Node | string>): Sheet {
  const wrong = el('div', { class: 'wrong', role: 'alert' });
  const form = el('form', { novalidate: true });
  const dialog = el('dialog', { 'aria-label': title }, form);
  const close = () => dialog.close();
  const go = el('button', { type: 'submit', class: 'primary' }, action);
  form.append(el('h2', {}, title), ...body, wrong,
    el('div', { class: 'actions' }, button(submit ? 'Cancel' : 'Close', close), submit ? go : ''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!submit || go.disabled) return;
    go.disabled = true;
    fill(wrong);
    void Promise.resolve().then(submit).then(close, (error: unknown) => {
      const problem = problemOf(error);
      fill(wrong, el('strong', {}, sentence(problem.message)), problem.advice ? el('p', {}, problem.advice) : '');
      const field = form.elements.namedItem(problem.param.split(/[.[]/)[0] ?? '');
      if (field instanceof HTMLInputElement) {
        field.setAttribute('aria-invalid', 'true');
        field.focus();
      }
    }).finally(() => { go.disabled = false; });
  });
  form.addEventListener('input', (event) => (event.target as Element).removeAttribute('aria-invalid'));
  dialog.addEventListener('click', (event) => { if (event.target === dialog) close(); });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, form, close };
}

let fields = 0;
function field(label: string, input: HTMLElement, help = ''): HTMLElement {
  const id = `help-${++fields}`;
  if (help) input.setAttribute('aria-describedby', id);
  return el('div', { class: 'field' }, el('label', { class: 'field' }, el('span', { class: 'label' }, label), input),
    help ? el('span', { class: 'help', id }, help) : '');
}

function check(name: string, label: string, checked: boolean): HTMLLabelElement {
  return el('label', { class: 'check' }, el('input', { type: 'checkbox', name, checked }), label);
}

function isChecked(form: HTMLFormElement, name: string): boolean {
  const box = form.elements.namedItem(name);
  return box instanceof HTMLInputElement && box.checked;
}

function valueOf(form: HTMLFormElement, name: string): string {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement ? input.value.trim() : '';
}

// Numbers that were left empty stay as the server has them.
function numbersOf(form: HTMLFormElement, names: readonly string[]): Record<string, number> {
  const pairs = names.map((name): [string, string] => [name, valueOf(form, name)]).filter(([, text]) => text);
  return Object.fromEntries(pairs.map(([name, text]) => [name, Number(text)]));
}

function numberInput(name: string, low: number, high: number, step: number | 'any', hint: string): HTMLInputElement {
  return el('input', { name, type: 'number', inputmode: 'decimal', min: low, max: high, step, placeholder: hint });
}

// Rows of questions and alerts; an id that was there stays with its row.
class PromptRows {
  readonly element: HTMLElement;
  private readonly list = el('div', { class: 'rows' });
  private readonly more: HTMLElement;

  constructor(prompts: readonly Prompt[], alerts: readonly Prompt[]) {
    this.more = el('div', { class: 'inline' },
      button('+ Question', () => this.add('prompt', { id: '', text: '' }, true), { class: 'quiet' }),
      button('+ Alert', () => this.add('alert', { id: '', text: '' }, true), { class: 'quiet' }));
    this.element = el('fieldset', {}, el('legend', {}, 'Standing questions'), this.list, this.more,
      el('p', { class: 'help' }, 'A question is answered whenever the picture changes. An alert is a question with ' +
        'yes or no, told when the answer turns.'));
    for (const prompt of prompts) this.add('prompt', prompt);
    for (const alert of alerts) this.add('alert', alert);
  }

  private add(kind: string, prompt: Prompt, focus = false): void {
    if (this.list.childElementCount >= PROMPTS_MAX) return;
    const text = el('input', { type: 'text', maxlength: 4000, 'data-id': prompt.id, 'data-kind': kind,
      'aria-label': kind === 'alert' ? 'Alert' : 'Question',
      placeholder: kind === 'alert' ? 'Is the door open?' : 'What do you see?' });
    text.value = prompt.text;
    const row = el('div', { class: 'row' }, el('span', { class: `tag ${kind === 'alert' ? 'alert' : 'answer'}` },
      kind === 'alert' ? 'alert' : 'asks'), text,
    button('×', () => row.remove(), { class: 'quiet', 'aria-label': 'Remove this line' }));
    this.list.append(row);
    if (focus) text.focus();
  }

  of(kind: string): Array<string | Prompt> {
    return [...this.list.querySelectorAll<HTMLInputElement>(`input[data-kind="${kind}"]`)]
      .map((input) => ({ id: input.dataset['id'] ?? '', text: input.value.trim() }))
      .filter((prompt) => prompt.text).map((prompt) => (prompt.id ? prompt : prompt.text));
  }
}

export function askForSource(api: Api, onMade: (stream: StreamInfo) => void): void {
  const rows = new PromptRows([{ id: 'caption', text: 'What do you see?' }], []);
  const source = el('input', { name: 'source', type: 'text', required: true, autocomplete: 'off', spellcheck: false,
    placeholder: 'rtsp://camera.lan/stream or file:///clip.mp4' });
  const ofFile = el('div', { class: 'inline', hidden: true }, check('realtime', 'at its own speed', true),
    check('loop', 'start over at the end', false));
  source.addEventListener('input', () => { ofFile.hidden = !source.value.trim().startsWith('file:'); });
  const { form } = sheet('Add a source', 'Start watching', async () => {
    const isFile = source.value.trim().startsWith('file:');
    const fields: Record<string, unknown> = {
      source: source.value.trim(), prompts: rows.of('prompt'), alerts: rows.of('alert'),
      senses: ['see', 'read', 'hear'].filter((sense) => isChecked(form, sense)),
      ...numbersOf(form, ['fps', 'refresh_s', 'slo_ms']),
    };
    const id = valueOf(form, 'id');
    if (id) fields['id'] = id;
    if (isFile) Object.assign(fields, { realtime: isChecked(form, 'realtime'), loop: isChecked(form, 'loop') });
    onMade(await api.make(fields));
  },
  field('Source', source, 'An address whose host the server allows, or a file below its media folder.'), ofFile,
  rows.element,
  el('fieldset', {}, el('legend', {}, 'Senses'), el('div', { class: 'inline' },
    check('see', 'see', true), check('read', 'read screen text', true), check('hear', 'hear speech', true))),
  el('div', { class: 'three' },
    field('Name', el('input', { name: 'id', type: 'text', maxlength: 64, placeholder: 'made up' })),
    field('Pictures a second', numberInput('fps', 0.01, 60, 'any', 'server’s')),
    field('Refresh, seconds', numberInput('refresh_s', 0.1, 86400, 'any', '30')),
    field('Deadline, ms', numberInput('slo_ms', 1, 600000, 1, 'server’s'))));
  source.focus();
}

export function askForPrompts(api: Api, stream: StreamInfo, onDone: () => void): void {
  const rows = new PromptRows(stream.prompts, stream.alerts);
  const names = ['refresh_s', 'change_threshold', 'max_new_tokens'];
  const { form } = sheet(`Prompts of ${stream.id}`, 'Apply', async () => {
    await api.change(stream.id, { prompts: rows.of('prompt'), alerts: rows.of('alert'), ...numbersOf(form, names) });
    onDone();
  }, rows.element, el('div', { class: 'three' },
    field('Refresh, seconds', numberInput('refresh_s', 0.1, 86400, 'any', 'as it is')),
    field('Change, 0–255', numberInput('change_threshold', 0, 255, 1, 'as it is')),
    field('Tokens at most', numberInput('max_new_tokens', 1, 4096, 1, 'as it is'))),
  el('p', { class: 'help' }, 'In force from the next picture on, without a break.'));
  form.querySelector<HTMLInputElement>('.row input')?.focus();
}

let keyOpen = false;
export function askForKey(api: Api, onDone: () => void): void {
  if (keyOpen) return;
  keyOpen = true;
  const input = el('input', { type: 'password', name: 'key', autocomplete: 'off', maxlength: 256 });
  const { dialog, close } = sheet('API key', 'Use this key', () => {
    api.setKey(input.value.trim());
    onDone();
  }, field('Key', input, 'Kept in this tab only and sent as a header. Closing the tab forgets it.'),
  api.hasKey ? button('Forget the key', () => {
    api.setKey('');
    close();
    onDone();
  }, { class: 'quiet' }) : '');
  dialog.addEventListener('close', () => { keyOpen = false; });
  input.focus();
}

export function askToRemove(api: Api, id: string, onDone: () => void): void {
  const { form } = sheet(`Remove ${id}?`, 'Remove', async () => {
    await api.remove(id);
    onDone();
  }, el('p', {}, 'The stream ends and its events are gone. Export them first if you want to keep them.'));
  form.querySelector('.primary')?.classList.add('danger');
}

export function offerExport(id: string, story: Story): void {
  const kinds: Array<[Format, string, string]> = [
    ['vtt', 'WebVTT', 'Captions, answers and speech as subtitles for players and browsers.'],
    ['srt', 'SubRip', 'The same for editors that want .srt.'],
    ['jsonl', 'JSON lines', 'Every event as it came, one a line.'],
  ];
  const { close } = sheet(`Export ${id}`, '', undefined,
    el('p', { class: 'help' }, `${story.events.length} events held here.`),
    ...kinds.map(([format, name, what]) => {
      const take = button('', () => {
        save(`${id}.${format}`, exported(story, format));
        close();
      }, { class: 'choice', 'data-format': format });
      take.append(el('strong', {}, name), el('span', {}, what));
      return take;
    }));
}

const KEYS: Array<[string, string]> = [
  ['?', 'this help'], ['a', 'add a source'], ['[  ]', 'stream before, next'], ['e', 'edit prompts'],
  ['/', 'ask about now'], ['x', 'export events'], ['b', 'text boxes on the picture'], ['d', 'dark or light'],
  ['k', 'API key'], ['f', 'follow the newest'], ['+  −', 'zoom the time axis'],
  ['←  →', 'move the cursor (on the timeline; Shift: further)'], ['PgUp  PgDn', 'half a window back, on'],
  ['Delete', 'remove the stream'], ['Esc', 'close a dialog'],
];

export function showHelp(): void {
  sheet('Keys', '', undefined, el('dl', { class: 'keys' },
    ...KEYS.map(([key, what]) => el('div', {}, el('dt', {}, ...key.split('  ').map((each) => el('kbd', {}, each))),
      el('dd', {}, what)))));
}

// A line for the bar at the top, or nothing.
export function sayProblem(bar: HTMLElement, problem: { message: string; advice: string } | undefined): void {
  bar.hidden = !problem;
  say(bar, problem ? `${sentence(problem.message)} ${problem.advice}` : '');
}
