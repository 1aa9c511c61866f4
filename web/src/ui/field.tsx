import { ChevronDown, Search, X } from "lucide-react";
import { Checkbox as RCheckbox, Switch as RSwitch } from "radix-ui";
import { type ComponentProps, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { useT } from "@/i18n";
import { cx } from "./cx";

const control = "w-full rounded-md border border-line-2 bg-surface text-ink transition-colors placeholder:text-ink-3 hover:not-disabled:border-ink-3 focus-visible:border-focus focus-visible:outline-1 focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad max-md:text-lg";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input className={cx(control, "h-9 px-2.5 max-md:h-10", className)} {...rest} />;
}

/** Grows with its text up to `maxRows`. */
export function Textarea({ className, maxRows = 14, value, ref, ...rest }: ComponentProps<"textarea"> & { maxRows?: number }) {
  const own = useRef<HTMLTextAreaElement | null>(null);
  useLayoutEffect(() => {
    const area = own.current;
    if (!area) return;
    area.style.height = "auto";
    const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 22;
    area.style.height = `${Math.min(area.scrollHeight + 2, line * maxRows + 18)}px`;
  }, [value, maxRows]);
  return (
    <textarea
      ref={(element) => {
        own.current = element;
        if (typeof ref === "function") ref(element);
        else if (ref) ref.current = element;
      }}
      rows={2}
      value={value}
      className={cx(control, "resize-none px-2.5 py-2", className)}
      {...rest}
    />
  );
}

/** The browser's own select: it works everywhere, by keyboard and on a phone. */
export function Select({ className, children, size: _size, small, ...rest }: ComponentProps<"select"> & { small?: boolean }) {
  return (
    <span className={cx("relative inline-flex", className)}>
      <select className={cx(control, "appearance-none truncate pr-8 pl-2.5", small ? "h-7 text-sm" : "h-9 max-md:h-10")} {...rest}>
        {children}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute top-1/2 right-2.5 size-3.5 -translate-y-1/2 text-ink-3" />
    </span>
  );
}

export function SearchInput({ value, onChange, label, className, ...rest }: Omit<ComponentProps<"input">, "onChange" | "value"> & { value: string; onChange: (value: string) => void; label: string }) {
  const t = useT("common");
  return (
    <span className={cx("relative block", className)}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-3" />
      <input type="search" aria-label={label} placeholder={label} value={value} onChange={(event) => onChange(event.target.value)} className={cx(control, "h-8 pr-7 pl-8 text-sm max-md:h-10 [&::-webkit-search-cancel-button]:hidden")} {...rest} />
      {value !== "" && (
        <button type="button" aria-label={t("clear")} onClick={() => onChange("")} className="absolute top-1/2 right-1.5 -translate-y-1/2 rounded-sm p-1 text-ink-3 hover:text-ink">
          <X aria-hidden className="size-3.5" />
        </button>
      )}
    </span>
  );
}

type FieldProps = { label: string; hint?: ReactNode; error?: string | null | undefined; className?: string; children: (props: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode };

/** Label, control, hint and error: `<Field label="Name">{(p) => <Input {...p} …/>}</Field>`. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const about = error || hint ? `${id}-about` : undefined;
  return (
    <div className={cx("flex flex-col gap-1.5", className)}>
      <label htmlFor={id} className="text-sm font-medium text-ink">{label}</label>
      {children({ id, ...(about && { "aria-describedby": about }), ...(error && { "aria-invalid": true as const }) })}
      {about && <p id={about} role={error ? "alert" : undefined} className={cx("text-xs", error ? "text-bad" : "text-ink-3")}>{error || hint}</p>}
    </div>
  );
}

type Toggle = { checked: boolean; onChange: (checked: boolean) => void; label: string; hint?: ReactNode; disabled?: boolean; className?: string };

export function Checkbox({ checked, onChange, label, hint, disabled, className }: Toggle) {
  const id = useId();
  return (
    <div className={cx("flex items-start gap-2.5", className)}>
      <RCheckbox.Root id={id} checked={checked} disabled={disabled} onCheckedChange={(value) => onChange(value === true)} className="mt-0.5 flex size-4.5 shrink-0 items-center justify-center rounded-sm border border-ink-3 bg-surface data-[state=checked]:border-accent data-[state=checked]:bg-accent">
        <RCheckbox.Indicator>
          <svg viewBox="0 0 12 12" className="size-3 text-on-accent" aria-hidden><path d="M2.5 6.5 5 9l4.5-5.5" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" /></svg>
        </RCheckbox.Indicator>
      </RCheckbox.Root>
      <label htmlFor={id} className="text-base">{label}{hint && <span className="block text-xs text-ink-3">{hint}</span>}</label>
    </div>
  );
}

export function Switch({ checked, onChange, label, hint, disabled, className }: Toggle) {
  const id = useId();
  return (
    <div className={cx("flex items-start justify-between gap-4", className)}>
      <label htmlFor={id} className="text-base">{label}{hint && <span className="block text-xs text-ink-3">{hint}</span>}</label>
      <RSwitch.Root id={id} checked={checked} disabled={disabled} onCheckedChange={onChange} className="mt-0.5 h-5 w-9 shrink-0 rounded-full bg-line-2 p-0.5 transition-colors data-[state=checked]:bg-accent">
        <RSwitch.Thumb className="block size-4 rounded-full bg-white shadow-1 transition-transform data-[state=checked]:translate-x-4" />
      </RSwitch.Root>
    </div>
  );
}
