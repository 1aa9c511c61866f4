import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useT } from "@/i18n";
import { Button, ButtonLink, EmptyState } from "@/ui";

export function NotFound() {
  const t = useT("frame");
  return <EmptyState page icon={<Compass />} title={t("notFound")} action={<ButtonLink to="/chat" variant="primary">{t("goChat")}</ButtonLink>}>{t("notFound.hint")}</EmptyState>;
}

/** A page that threw. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const t = useT("common");
  const router = useRouter();
  // A chunk of an older build is gone after an update: only a reload helps.
  const message = error instanceof Error ? error.message : String(error);
  const stale = /dynamically imported module|Importing a module/.test(message);
  return (
    <EmptyState page title={t("error.crash")} action={<Button variant="primary" onClick={() => (stale ? location.reload() : (reset(), void router.invalidate()))}>{t("reload")}</Button>}>
      <p>{t("error.crashHint")}</p>
      <p className="mt-2 font-mono text-xs text-ink-3 wrap-anywhere">{message}</p>
    </EmptyState>
  );
}
