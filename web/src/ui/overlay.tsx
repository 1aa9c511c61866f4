import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./button";
import { cx } from "./cx";

// Without a tooltip: it would open with the dialog, on the focused button, and take the first Escape for itself.
const shut = "inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-3 transition-colors hover:bg-hover hover:text-ink max-md:size-8 [&>svg]:size-[1.0625rem]";
const scrim = "fixed inset-0 z-40 animate-fade bg-scrim";
// What is said at the top, and its "Undo", belong to no dialog and close none.
const isToast = (event: Event) => (event.target as Element | null)?.closest("[data-toast]") != null;
type Common = { open: boolean; onOpenChange: (open: boolean) => void; title: string; description?: ReactNode; children?: ReactNode };

/** A modal in the middle. `footer` holds its buttons, the main one last. `locked`: no way out but its own buttons. */
export function Dialog({ open, onOpenChange, title, description, children, footer, wide, locked }: Common & { footer?: ReactNode; wide?: boolean; locked?: boolean }) {
  const t = useT("common");
  const stay = (event: Event) => locked && event.preventDefault();
  const outside = (event: Event) => (locked || isToast(event)) && event.preventDefault();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          onEscapeKeyDown={stay}
          onInteractOutside={outside}
          className={cx("fixed top-1/2 left-1/2 z-50 flex max-h-[min(44rem,calc(100dvh-2rem))] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 animate-fade flex-col rounded-xl border border-line bg-raised shadow-2", wide ? "max-w-3xl" : "max-w-md")}
        >
          <header className="flex items-start gap-4 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description && <Radix.Description className="mt-1 text-base text-ink-2">{description}</Radix.Description>}
            </div>
            {!locked && <Radix.Close aria-label={t("close")} className={cx(shut, "-mr-1.5")}><X aria-hidden /></Radix.Close>}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-2">{children}</div>
          {footer && <footer className="flex flex-wrap justify-end gap-2 px-5 pt-2 pb-4">{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const sides = {
  left: "inset-y-0 left-0 w-[min(21rem,88vw)] animate-sheet-left border-r",
  right: "inset-y-0 right-0 w-[min(34rem,100vw)] animate-sheet-right border-l",
  wide: "inset-y-0 right-0 w-[min(78rem,100vw)] animate-sheet-right border-l",
  bottom: "inset-x-0 bottom-0 max-h-[88dvh] animate-sheet-up rounded-t-xl border-t safe-bottom",
};

/** A modal at an edge. `cue`: shows that there is more to scroll to. */
export function Sheet({ open, onOpenChange, title, description, children, side = "right", bare, cue }: Common & { side?: keyof typeof sides; bare?: boolean; cue?: boolean }) {
  const t = useT("common");
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content {...(description ? {} : { "aria-describedby": undefined })} onInteractOutside={(event) => isToast(event) && event.preventDefault()} className={cx("fixed z-50 flex flex-col border-line bg-surface shadow-2", sides[side])}>
          <header className={cx("flex items-center gap-3 border-b border-line px-4 py-2.5", bare && "sr-only")}>
            <div className="min-w-0 flex-1">
              <Radix.Title className="truncate text-lg font-semibold">{title}</Radix.Title>
              {description && <Radix.Description className="text-sm text-ink-3">{description}</Radix.Description>}
            </div>
            <Radix.Close aria-label={t("close")} className={shut}><X aria-hidden /></Radix.Close>
          </header>
          <div className={cx("min-h-0 flex-1 overflow-y-auto", cue && "scroll-cue [--cue:var(--surface)]")}>{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Asks before something that can't be taken back; what can be is done at once, with an undo toast. */
export function ConfirmDialog({ confirm, danger, onConfirm, busy, ...rest }: Common & { confirm: string; danger?: boolean; busy?: boolean; onConfirm: () => void }) {
  const t = useT("common");
  return (
    <Dialog
      {...rest}
      footer={
        <>
          <Button onClick={() => rest.onOpenChange(false)}>{t("cancel")}</Button>
          <Button variant={danger ? "danger" : "primary"} loading={busy ?? false} onClick={onConfirm}>{confirm}</Button>
        </>
      }
    />
  );
}
