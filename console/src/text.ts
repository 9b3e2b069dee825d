// Texts of streams are hostile: what a camera reads off a wall ends up here. They are shown as text,
// without the characters that reorder what stands beside them, and never longer than asked for.

// Control and format characters, among them the ones that turn the reading direction around.
const UNSEEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

export function shown(text: string, charactersMax = 400): string {
  const clean = text.slice(0, charactersMax * 2).replace(UNSEEN, ' ');
  return clean.length <= charactersMax ? clean : clean.slice(0, charactersMax - 1).trimEnd() + '…';
}

// 83.4 -> "1:23.4"
export function clock(seconds: number, decimals = 1): string {
  const unit = 10 ** decimals;
  const total = Math.max(0, Math.round(seconds * unit)) / unit;
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const rest = (total % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

// The server's messages begin small and end open, as parts of longer ones.
export function sentence(text: string): string {
  const clean = shown(text, 600);
  return clean.charAt(0).toUpperCase() + clean.slice(1) + (/[.!?…)]$/.test(clean) ? '' : '.');
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function milliseconds(ms: number): string {
  if (ms === 0) return '0';
  return ms < 9.95 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
