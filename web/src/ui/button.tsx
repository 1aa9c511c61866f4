import { Link, type LinkProps } from "@tanstack/react-router";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { cx } from "./cx";
import { Spinner } from "./feedback";
import { Tooltip } from "./tooltip";

type Look = { variant?: "primary" | "default" | "quiet" | "danger"; size?: "sm" | "md" };

const base = "inline-flex shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium transition-colors select-none disabled:opacity-50";
const variants = {
  primary: "bg-accent text-on-accent hover:not-disabled:bg-accent-hover",
  default: "border border-line-2 bg-surface text-ink hover:not-disabled:bg-hover",
  quiet: "text-ink-2 hover:not-disabled:bg-hover hover:not-disabled:text-ink",
  danger: "bg-bad-fill text-white hover:not-disabled:brightness-110",
};
const sizes = { sm: "h-7 px-2.5 text-sm max-md:h-9", md: "h-9 px-3.5 text-base max-md:h-10" };

export const buttonClass = ({ variant = "default", size = "md" }: Look = {}, more?: string) => cx(base, variants[variant], sizes[size], more);

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & Look & { icon?: ReactNode; loading?: boolean; ref?: Ref<HTMLButtonElement> };

export function Button({ variant, size, icon, loading, children, className, disabled, type = "button", ...rest }: ButtonProps) {
  return (
    <button type={type} className={buttonClass({ ...(variant && { variant }), ...(size && { size }) }, className)} disabled={disabled || loading} aria-busy={loading || undefined} {...rest}>
      {loading ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({ variant, size, icon, children, className, ...rest }: LinkProps & Look & { icon?: ReactNode; children?: ReactNode; className?: string; onClick?: (() => void) | undefined }) {
  return (
    <Link className={buttonClass({ ...(variant && { variant }), ...(size && { size }) }, className)} {...rest}>
      {icon}
      {children}
    </Link>
  );
}

/** A button that is only an icon; `label` is its name and its tooltip. */
export function IconButton({ label, keys, size = "md", active, className, children, ref, ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { label: string; keys?: string; size?: "sm" | "md"; active?: boolean; ref?: Ref<HTMLButtonElement> }) {
  return (
    <Tooltip text={label} {...(keys && { keys })}>
      <button
        ref={ref}
        type="button"
        aria-label={label}
        className={cx(
          "inline-flex shrink-0 items-center justify-center rounded-md text-ink-3 transition-colors hover:not-disabled:bg-hover hover:not-disabled:text-ink disabled:opacity-45 [&>svg]:size-[1.0625rem]",
          size === "sm" ? "size-7 max-md:size-9" : "size-9 max-md:size-10",
          active && "bg-active text-ink",
          className,
        )}
        {...rest}
      >
        {children}
      </button>
    </Tooltip>
  );
}
