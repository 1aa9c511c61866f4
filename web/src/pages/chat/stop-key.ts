// Escape stops a run only where nothing else can be meant by it.

type Target = { tagName?: string; value?: unknown; isContentEditable?: boolean; closest?: (selector: string) => unknown };

/** Whether Escape, pressed there, may stop the run: in the chat or nowhere in particular, and in no field but an empty composer. */
export function mayStop(target: Target | null): boolean {
  if (!target?.tagName || target.tagName === "BODY" || target.tagName === "HTML") return true;
  if (!target.closest?.("[data-chat]")) return false;
  const field = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  return !field || (Boolean(target.closest("[data-composer]")) && String(target.value ?? "").trim() === "");
}
