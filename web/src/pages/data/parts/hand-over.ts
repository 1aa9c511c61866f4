// A text on its way into the editor: too long for an address, and still there after a reload.
const KEY = "steward.editor.text";
let text = "";

export function handOver(next: string): void {
  text = next;
  try {
    sessionStorage.setItem(KEY, next);
  } catch {
    // Storage is blocked or full: it lasts until the page is loaded again.
  }
}
export function handedOver(): string {
  if (text) return text;
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
