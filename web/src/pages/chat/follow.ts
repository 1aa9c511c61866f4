// Whether the end of a growing text is kept in sight. Growth alone changes nothing, and neither does our own
// scrolling, whose event may come when more has grown: only a movement of the user does.

export type Place = { top: number; height: number; view: number };

/** Keys that move a scrolled box upwards. */
const UP = new Set(["ArrowUp", "PageUp", "Home"]);
/** Nearer to the end than this is at the end, pixels. */
const NEAR = 60;
/** Farther than this is away from it: the way back is offered. */
const FAR = 240;

type Block = { parentElement: Block | null; scrollTop: number; tagName: string; isContentEditable?: boolean };

/** Whether a movement upwards there is taken by a block inside of `outer` that is scrolled itself. */
export function takesUp(target: Block | null, outer: Block, overflow: (block: Block) => string): boolean {
  for (let block = target; block && block !== outer; block = block.parentElement) {
    if (block.scrollTop > 0 && /^(auto|scroll)$/.test(overflow(block))) return true;
  }
  return false;
}

/** Whether a key pressed there is for the text in a field. */
export const isField = (target: Block | null): boolean => !!target && (!!target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export const gapOf = ({ top, height, view }: Place) => height - top - view;

export class Follow {
  following = true;
  private last: Place = { top: 0, height: 0, view: 0 };

  /** The user wants the end in sight. */
  resume(): void {
    this.following = true;
  }
  /** Before the box moves: what grows meanwhile must not pull it back. At its top it doesn't move. */
  wheel(down: number, { top }: Place): void {
    if (down < 0 && top > 0) this.following = false;
  }
  key(name: string, shift: boolean, { top }: Place): void {
    if ((UP.has(name) || (name === " " && shift)) && top > 0) this.following = false;
  }
  /** A finger or the scrollbar has the box. */
  held(): void {
    this.following = false;
  }
  /** It was let go. */
  released(place: Place): void {
    if (gapOf(place) < NEAR) this.following = true;
    this.last = place;
  }
  /** The box has moved. Upwards with nothing cut off below: by the user, whatever they did it with. */
  scrolled(place: Place): void {
    const { last } = this;
    this.last = place;
    if (place.top < last.top - 1 && place.height >= last.height && place.view <= last.view) this.following = false;
    else if (place.top > last.top && gapOf(place) < NEAR) this.following = true;
  }
  /** Whether the way back to the end is offered. */
  away(place: Place): boolean {
    return !this.following && gapOf(place) > FAR;
  }
}
