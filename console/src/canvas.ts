// A canvas as sharp as the screen, and text that ends where its box does.

export class Surface {
  readonly canvas: HTMLCanvasElement;
  readonly pen: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    const pen = canvas.getContext('2d');
    if (!pen) throw new Error('no canvas');
    this.pen = pen;
  }

  // Clears it; false when there is nothing to draw on.
  begin(height?: number): boolean {
    const scale = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    if (height !== undefined && this.canvas.clientHeight !== height) this.canvas.style.height = `${height}px`;
    this.height = height ?? this.canvas.clientHeight;
    if (this.width <= 0 || this.height <= 0) return false;
    const [across, down] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across;
      this.canvas.height = down;
    }
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.textBaseline = 'middle';
    return true;
  }
}

export function fontOf(element: Element, pixels: number, weight = 400): string {
  return `${weight} ${pixels}px ${getComputedStyle(element).fontFamily}`;
}

// As much of the text as fits into `width`, with an ellipsis; nothing when not even that.
export function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 12) return '';
  if (pen.measureText(text).width <= width) return text;
  let low = 0, high = Math.min(text.length, Math.ceil(width / 2));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + '…').width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? text.slice(0, low).trimEnd() + '…' : '';
}
