// Stands in for `react-remove-scroll` under Radix (see vite.config.ts): pages scroll in their own
// boxes here, so nothing has to be locked but the body's overscroll.
import { Slot } from "radix-ui";
import { type ElementType, type HTMLAttributes, type Ref, useEffect } from "react";

type Props = HTMLAttributes<HTMLElement> & {
  as?: ElementType; ref?: Ref<HTMLElement>;
  enabled?: boolean; allowPinchZoom?: boolean; shards?: unknown; removeScrollBar?: boolean; noIsolation?: boolean; inert?: boolean; forwardProps?: boolean;
};

let locks = 0;

export function RemoveScroll({ as: Tag = Slot.Root, enabled = true, allowPinchZoom: _pinch, shards: _shards, removeScrollBar: _bar, noIsolation: _isolation, inert: _inert, forwardProps: _forward, ...rest }: Props) {
  useEffect(() => {
    if (!enabled) return;
    locks += 1;
    document.body.classList.add("scroll-locked");
    return () => {
      locks -= 1;
      if (locks === 0) document.body.classList.remove("scroll-locked");
    };
  }, [enabled]);
  return <Tag {...rest} />;
}
