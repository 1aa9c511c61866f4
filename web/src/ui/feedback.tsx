import { CircleAlert, WifiOff } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError, OFFLINE } from "@/api/client";
import { type Key, useLanguage, useT } from "@/i18n";
import { Button } from "./button";
import { cx } from "./cx";

export function Spinner({ className, label }: { className?: string; label?: string }) {
  return (
    <svg viewBox="0 0 16 16" role={label ? "status" : undefined} aria-label={label} aria-hidden={label ? undefined : true} className={cx("size-3.5 animate-spin", className)}>
      <circle cx="8" cy="8" r="6.4" fill="none" stroke="currentColor" strokeOpacity="0.25" strokeWidth="1.8" />
      <path d="M8 1.6a6.4 6.4 0 0 1 6.4 6.4" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
    </svg>
  );
}

/** Grey bars where content is on its way. */
export function Skeleton({ rows = 4, className }: { rows?: number; className?: string }) {
  const t = useT("common");
  return (
    <div role="status" aria-label={t("loading")} className={cx("flex flex-col gap-2.5 p-1", className)}>
      {Array.from({ length: rows }, (_, index) => <div key={index} className="h-4 animate-breathe rounded-sm bg-active" style={{ width: `${[92, 74, 85, 60, 79][index % 5]}%` }} />)}
    </div>
  );
}

/** `page`: it is all of a page, with the heading and the landmark that a page has. */
export function EmptyState({ icon, title, children, action, page }: { icon?: ReactNode; title: string; children?: ReactNode; action?: ReactNode; page?: boolean }) {
  const [Box, Heading] = page ? (["main", "h1"] as const) : (["div", "h2"] as const);
  return (
    <Box className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-12 text-center">
      {icon && <div aria-hidden className="mb-1 text-ink-3 [&>svg]:size-7 [&>svg]:stroke-[1.4]">{icon}</div>}
      <Heading className="text-lg font-semibold">{title}</Heading>
      {children && <div className="text-base text-ink-2">{children}</div>}
      {action && <div className="mt-3">{action}</div>}
    </Box>
  );
}

/** Title and hint of any error, for a person. */
export function useErrorText(): (error: unknown) => { title: string; hint: string | undefined } {
  const t = useT("common");
  const language = useLanguage();
  return (error) => {
    if (error instanceof ApiError) {
      if (error.code === OFFLINE) return { title: t("error.offline"), hint: t("error.offlineHint") };
      // English texts of the server say more than a code; in other languages the code is what can be understood.
      const key = `code.${error.code ?? (error.status === 404 ? "not_found" : "")}` as Key<"common">;
      const own = language === "en" || t(key) === key ? null : t(key);
      const hintKey = `hint.${error.code ?? ""}` as Key<"common">;
      const ownHint = own === null || t(hintKey) === hintKey ? "" : t(hintKey);
      const wait = error.retryAfter ? t("error.retryAfter", { seconds: Math.ceil(error.retryAfter) }) : undefined;
      return { title: own ?? error.message, hint: [own ? ownHint : error.hint, wait].filter(Boolean).join(" ") || t("error.hint") };
    }
    return { title: error instanceof Error && error.message ? error.message : t("error.unknown"), hint: t("error.hint") };
  };
}

/** What went wrong and what to do. `inline`: a strip instead of a page. */
export function ErrorState({ error, onRetry, inline, className }: { error: unknown; onRetry?: () => void; inline?: boolean; className?: string }) {
  const t = useT("common");
  const { title, hint } = useErrorText()(error);
  const offline = error instanceof ApiError && error.code === OFFLINE;
  const Icon = offline ? WifiOff : CircleAlert;
  if (inline) {
    return (
      <div role="alert" className={cx("flex items-start gap-2.5 rounded-lg border border-bad/30 bg-bad-soft px-3 py-2.5 text-base", className)}>
        <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="min-w-0 flex-1">
          <p className="font-medium wrap-anywhere">{title}</p>
          {hint && <p className="text-sm text-ink-2 wrap-anywhere">{hint}</p>}
        </div>
        {onRetry && <Button size="sm" onClick={onRetry}>{t("retry")}</Button>}
      </div>
    );
  }
  return (
    <div role="alert" className={cx("mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-12 text-center", className)}>
      <Icon aria-hidden className="size-7 stroke-[1.4] text-bad" />
      <h2 className="text-lg font-semibold wrap-anywhere">{title}</h2>
      {hint && <p className="text-base text-ink-2 wrap-anywhere">{hint}</p>}
      {onRetry && <Button className="mt-2" onClick={onRetry}>{t("retry")}</Button>}
    </div>
  );
}
