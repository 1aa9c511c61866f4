import { ExternalLink } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { useMcpActions } from "@/api/hooks";
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

/** Begins a login at a server's login page, which opens in a tab of its own. */
export function Login({ server, onClose, onDone }: { server: McpServer; onClose: () => void; onDone: () => void }) {
  const t = useT("mcp");
  const { login } = useMcpActions();
  const [left, setLeft] = useState(false);
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    login.mutate(server.id);
  }, [login, server.id]);
  const host = login.data ? hostOf(login.data.url) : null;
  const missing = login.error instanceof ApiError && login.error.status === 404;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t("login_title", { name: server.name })}
      description={t(server.per_user ? "login_text_own" : "login_text_all")}
      footer={
        <>
          <Button onClick={onClose}>{t(left ? "done" : "cancel")}</Button>
          {login.data && host && !left && <a href={login.data.url} target="_blank" rel="noopener noreferrer" className={buttonClass({ variant: "primary" })} onClick={() => setLeft(true)}><ExternalLink aria-hidden className="size-4" />{t("login_open", { host })}</a>}
          {left && <Button variant="primary" onClick={onDone}>{t("login_done")}</Button>}
        </>
      }
    >
      <div role="status" className="pb-1 text-base">
        {login.isPending && <p className="flex items-center gap-2 text-ink-2"><Spinner />{t("login_begins")}</p>}
        {missing ? <p>{t("login_missing")}</p> : login.error ? <ErrorState inline error={login.error} onRetry={() => login.mutate(server.id)} /> : null}
        {login.data && !host && <p className="text-bad">{t("login_bad")}</p>}
        {host && <p>{t(left ? "login_wait" : "login_where", { host })}</p>}
      </div>
    </Dialog>
  );
}
