import { Tooltip as Radix } from "radix-ui";
import type { ReactElement } from "react";
import { Kbd } from "./kbd";

/** A hint on hover and focus; `keys` is its shortcut, as in `Ctrl+K`. */
export function Tooltip({ text, keys, side = "bottom", children }: { text: string; keys?: string; side?: "top" | "bottom" | "left" | "right"; children: ReactElement }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content side={side} sideOffset={6} collisionPadding={8} className="pointer-events-none z-60 flex max-w-72 animate-fade items-center gap-2 rounded-md bg-ink px-2 py-1 text-xs text-bg shadow-2">
          {text}
          {keys && <Kbd keys={keys} inverse />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
export const TooltipProvider = Radix.Provider;
