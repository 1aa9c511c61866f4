import { CircleCheck, ExternalLink } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { useMcpActions, useMcpLogin } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Button, buttonClass, Dialog, ErrorState, Spinner } from "@/ui";

/** The host of a page that one may be sent to; `null` for anything but a web address. */
function hostOf(url: string): string | null {
  try {
    const { protocol, host } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? host : null;
  } catch {
    return null;
  }
}

/** Begins a login at a server's login page, which opens in a tab of its own, and waits for its end. */
export function Login({ server, onClose, onDone }: { server: McpServer; onClose: () => void; onDone: () => void }) {
  const t = useT("mcp");
  const { login } = useMcpActions();
  const [left, setLeft] = useState(false);
  const going = useMcpLogin(left ? login.data?.login : undefined);
  const begun = useRef(false);
  const begin = () => {
    setLeft(false);
    login.mutate(server.id);
  };
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    login.mutate(server.id);
  }, [login, server.id]);
  const host = login.data ? hostOf(login.data.url) : null;
  const missing = login.error instanceof ApiError && login.error.status === 404;
  const done = going.data?.status === "done";
  const failed = going.data?.status === "failed";
  const waits = host !== null && left && !done && !failed;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t("login_title", { name: server.name })}
      description={t(server.per_user ? "login_text_own" : "login_text_all")}
      footer={
        <>
          {!done && <Button onClick={onClose}>{t("cancel")}</Button>}
          {login.data && host && !left && <a href={login.data.url} target="_blank" rel="noopener noreferrer" className={buttonClass({ variant: "primary" })} onClick={() => setLeft(true)}><ExternalLink aria-hidden className="size-4" />{t("login_open", { host })}</a>}
          {failed && <Button variant="primary" loading={login.isPending} onClick={begin}>{t("login_again")}</Button>}
          {(waits || done) && <Button variant={done ? "primary" : "default"} onClick={onDone}>{t(done ? "done" : "login_done")}</Button>}
        </>
      }
    >
      <div role="status" className="pb-1 text-base">
        {login.isPending && <p className="flex items-center gap-2 text-ink-2"><Spinner />{t("login_begins")}</p>}
        {missing ? <p>{t("login_missing")}</p> : login.error ? <ErrorState inline error={login.error} onRetry={begin} /> : null}
        {login.data && !host && <p className="text-bad">{t("login_bad")}</p>}
        {host && !left && <p>{t("login_where", { host })}</p>}
        {waits && <p className="flex items-start gap-2">{login.data?.login && <Spinner className="mt-1 shrink-0 text-accent-ink" />}{t("login_wait", { host })}</p>}
        {done && <p className="flex items-start gap-2"><CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />{t("login_ok")}</p>}
        {failed && <p className="text-bad whitespace-pre-wrap wrap-anywhere">{t("login_failed", { why: going.data?.error ?? "" })}</p>}
      </div>
    </Dialog>
  );
}
