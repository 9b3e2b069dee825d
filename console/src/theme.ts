// Light or dark: as the system says, until somebody chooses.

export type Colours = Record<string, string>;

const PLACE = 'saccade.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners: Array<() => void> = [];
let cached: Colours = {};

function resolved(): string {
  return localStorage.getItem(PLACE) ?? (system.matches ? 'dark' : 'light');
}

function apply(): void {
  document.documentElement.dataset['theme'] = resolved();
  cached = {};
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}

export function toggleTheme(): void {
  localStorage.setItem(PLACE, resolved() === 'dark' ? 'light' : 'dark');
  apply();
}

export function onTheme(call: () => void): void {
  listeners.push(call);
}

// The colour of a custom property, for canvases.
export function colour(name: string): string {
  return (cached[name] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
}
