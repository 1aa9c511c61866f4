import { Check } from "lucide-react";
import { DropdownMenu as Radix, Popover as RPopover } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx";

const panel = "z-50 animate-fade rounded-lg border border-line bg-raised p-1 shadow-2";

/** `<Menu trigger={<IconButton …/>}><MenuItem …/></Menu>` */
export function Menu({ trigger, children, align = "end", side = "bottom", className }: { trigger: ReactElement; children: ReactNode; align?: "start" | "center" | "end"; side?: "top" | "bottom" | "right"; className?: string }) {
  return (
    // Not modal: the rest of the page stays readable to a screen reader, and nothing is locked.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content align={align} side={side} sideOffset={5} collisionPadding={8} className={cx(panel, "max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto", className)}>{children}</Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const item = "flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-base outline-none select-none data-disabled:opacity-45 data-highlighted:bg-hover max-md:py-2.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-3";

export function MenuItem({ icon, children, onSelect, danger, disabled, hint, checked }: { icon?: ReactNode; children: ReactNode; onSelect?: () => void; danger?: boolean; disabled?: boolean; hint?: ReactNode; checked?: boolean }) {
  return (
    <Radix.Item disabled={disabled ?? false} onSelect={onSelect} role={checked === undefined ? "menuitem" : "menuitemradio"} aria-checked={checked} className={cx(item, danger && "text-bad [&>svg]:text-bad")}>
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{children}</span>
        {hint && <span className="block text-xs text-ink-3">{hint}</span>}
      </span>
      {checked && <Check aria-hidden className="text-accent-ink!" />}
    </Radix.Item>
  );
}
export const MenuSeparator = () => <Radix.Separator className="my-1 h-px bg-line" />;
export const MenuLabel = ({ children }: { children: ReactNode }) => <Radix.Label className="px-2 py-1 text-xs text-ink-3">{children}</Radix.Label>;

/** A panel at a button. */
export function Popover({ trigger, children, align = "end", open, onOpenChange, label }: { trigger: ReactElement; children: ReactNode; align?: "start" | "center" | "end"; open?: boolean; onOpenChange?: (open: boolean) => void; label?: string }) {
  return (
    <RPopover.Root {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
      <RPopover.Trigger asChild>{trigger}</RPopover.Trigger>
      <RPopover.Portal>
        <RPopover.Content aria-label={label} align={align} sideOffset={6} collisionPadding={8} className={cx(panel, "w-[min(23rem,calc(100vw-1rem))] p-3")}>{children}</RPopover.Content>
      </RPopover.Portal>
    </RPopover.Root>
  );
}
