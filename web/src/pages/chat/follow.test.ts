import assert from "node:assert/strict";
import { test } from "node:test";
import { Follow, isField, takesUp } from "./follow";

const VIEW = 500;
/** A box as the browser has one: it clamps, and tells of a movement later than it happens. */
function box(follow = new Follow()) {
  let height = VIEW;
  let top = 0;
  const clamp = () => (top = Math.max(0, Math.min(top, height - VIEW)));
  return {
    follow,
    place: () => ({ top, height, view: VIEW }),
    /** Text comes in; the end is kept in sight if it is followed. */
    grow(by: number) {
      height += by;
      clamp();
      if (follow.following) top = height - VIEW;
    },
    /** The event of a movement that was. */
    tell() {
      follow.scrolled(this.place());
    },
    drag(by: number) {
      top += by;
      clamp();
      this.tell();
    },
  };
}

test("a fast stream is followed, though each event of our own scrolling comes after more has grown", () => {
  const it = box();
  for (let frame = 0; frame < 400; frame += 1) {
    const { top } = it.place();
    it.grow(90);
    // The event tells of the place before, with what has grown since.
    it.follow.scrolled({ top, height: it.place().height, view: VIEW });
    assert.equal(it.follow.following, true, `frame ${frame}`);
  }
  assert.equal(it.place().top, it.place().height - VIEW);
});

test("a turn of the wheel upwards stops it, even a small one, and the stream doesn't pull back", () => {
  const it = box();
  it.grow(2000);
  it.tell();
  it.follow.wheel(-20, it.place());
  it.drag(-20);
  assert.equal(it.follow.following, false);
  const { top } = it.place();
  it.grow(3000);
  assert.equal(it.place().top, top);
  assert.equal(it.follow.away(it.place()), true);
});

test("back at the end it follows again", () => {
  const it = box();
  it.grow(2000);
  it.tell();
  it.drag(-800);
  assert.equal(it.follow.following, false);
  it.drag(300);
  assert.equal(it.follow.following, false, "not there yet");
  it.drag(5000);
  assert.equal(it.follow.following, true);
  it.grow(100);
  assert.equal(it.place().top, it.place().height - VIEW);
});

test("keys, a finger and the scrollbar stop it; a folded card and a taller composer don't", () => {
  for (const [name, shift, follows] of [["PageUp", false, false], ["Home", false, false], [" ", true, false], [" ", false, true], ["PageDown", false, true], ["a", false, true]] as const) {
    const follow = new Follow();
    follow.key(name, shift, { top: 900, height: 1400, view: VIEW });
    assert.equal(follow.following, follows, name);
  }
  const it = box();
  it.grow(2000);
  it.tell();
  it.follow.held();
  it.grow(500);
  it.follow.released(it.place());
  assert.equal(it.follow.following, false, "let go above the end");
  it.follow.resume();
  it.grow(1);
  it.tell();
  // A card is folded: the text is shorter, and the browser moves the box up.
  it.grow(-700);
  it.tell();
  assert.equal(it.follow.following, true);
});

test("what doesn't move the box doesn't stop it: it has nothing above, a block inside takes it, it is typed in a field", () => {
  const it = box();
  it.follow.wheel(-20, it.place());
  it.follow.key("ArrowUp", false, it.place());
  assert.equal(it.follow.following, true);

  const outer = { parentElement: null, scrollTop: 900, tagName: "DIV", overflow: "auto" };
  const inside = (scrollTop: number, overflow: string) => ({ parentElement: { parentElement: outer, scrollTop, tagName: "PRE", overflow }, scrollTop: 0, tagName: "CODE", overflow: "visible" });
  const takes = (scrollTop: number, overflow: string) => takesUp(inside(scrollTop, overflow), outer, (block) => (block as typeof outer).overflow);
  assert.equal(takes(40, "auto"), true);
  assert.equal(takes(0, "auto"), false, "at its own top it hands it on");
  assert.equal(takes(40, "hidden"), false);

  const field = (tagName: string, isContentEditable = false) => isField({ parentElement: null, scrollTop: 0, tagName, isContentEditable });
  assert.deepEqual([field("TEXTAREA"), field("INPUT"), field("DIV", true), field("DIV"), field("BUTTON")], [true, true, true, false, false]);
});
