import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useT } from "@/i18n";
import { Button, IconButton } from "./button";

type Toast = { id: number; title: string; about?: string; detail?: string; tone?: "ok" | "bad"; undo?: () => void; gone?: () => void; action?: { label: string; run: () => void } };

let toasts: Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();
const set = (value: Toast[], undone?: Toast) => {
  const left = toasts.filter((item) => item !== undone && !value.includes(item));
  toasts = value;
  for (const listener of listeners) listener();
  for (const item of left) item.gone?.();
};
const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id));
const takeBack = (item: Toast) => {
  set(toasts.filter((toast) => toast !== item), item);
  item.undo?.();
};
/** Ends what is said about something, as its time does. */
export const endToast = (about: string) => set(toasts.filter((item) => item.about !== about));

/** Says something for a few seconds. `undo`: a button that takes it back, longer shown. `about`: takes the place of what was said about the same.
 *  `gone`: called once it has ended without being taken back. */
export function toast(options: Omit<Toast, "id">): void {
  const id = next++;
  const others = toasts.filter((item) => !options.about || item.about !== options.about);
  set([...others.slice(-2), { ...options, id }]);
  setTimeout(() => dismiss(id), options.undo || options.action || options.tone === "bad" ? 10_000 : 4_500);
}

export function Toasts() {
  const t = useT("common");
  const shown = useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => toasts);
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-0 top-3 z-60 flex flex-col items-center gap-2 px-4">
      {shown.map((item) => (
        <div key={item.id} data-toast className="pointer-events-auto flex max-w-full animate-rise items-center gap-2.5 rounded-lg border border-line bg-raised py-1.5 pr-1.5 pl-3 shadow-2">
          {item.tone === "bad" ? <CircleAlert aria-hidden className="size-4 shrink-0 text-bad" /> : <CircleCheck aria-hidden className="size-4 shrink-0 text-ok" />}
          <div className="min-w-0 py-1 text-base">
            <p className="wrap-anywhere">{item.title}</p>
            {item.detail && <p className="text-xs text-ink-3 wrap-anywhere">{item.detail}</p>}
          </div>
          {item.undo && <Button size="sm" variant="quiet" className="text-accent-ink" onClick={() => takeBack(item)}>{t("undo")}</Button>}
          {item.action && <Button size="sm" variant="quiet" className="text-accent-ink" onClick={() => (dismiss(item.id), item.action?.run())}>{item.action.label}</Button>}
          <IconButton label={t("close")} size="sm" onClick={() => dismiss(item.id)}><X /></IconButton>
        </div>
      ))}
    </div>
  );
}
