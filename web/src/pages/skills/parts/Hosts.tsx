import { Plus, Server, X } from "lucide-react";
import { useState } from "react";
import { ApiError } from "@/api/client";
import { isOperator, useHostActions, useMe, useSshHosts } from "@/api/hooks";
import type { SshHost } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, EmptyState, ErrorState, Field, IconButton, Input, Skeleton, toast } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { useFailed } from "./actions";

const placeOf = ({ host, port }: { host: string; port: number }) => (port === 22 ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`);

/** Servers whose key somebody has accepted: ssh skills reach no others. */
export function Hosts() {
  const t = useT("skills");
  const operator = isOperator(useMe().data);
  const hosts = useSshHosts();
  const failed = useFailed();
  const { trust, forget } = useHostActions();
  // A refused call leads here with what it was shown.
  const [shown, set] = useFilters(["host", "port", "fingerprint"] as const);
  const [adding, setAdding] = useState(shown.host !== "");
  const close = () => (setAdding(false), shown.host !== "" && set({ host: "", port: "", fingerprint: "" }));
  const back = (host: SshHost) => trust.mutateAsync(host).then(() => toast({ title: t("host_trusted", { host: placeOf(host) }) }), failed);
  const drop = (host: SshHost) => forget.mutateAsync(host).then(() => toast({ title: t("host_forgotten", { host: placeOf(host) }), undo: () => void back(host) }), failed);
  const add = operator && <Button size="sm" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setAdding(true)}>{t("host_add")}</Button>;
  if (hosts.error) return <ErrorState error={hosts.error} onRetry={() => void hosts.refetch()} />;
  if (!hosts.data) return <Skeleton rows={4} />;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3"><p className="max-w-prose text-sm text-ink-2">{t("hosts_text")}</p>{hosts.data.length > 0 && add}</div>
      {hosts.data.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<Server />} title={t("hosts_empty")} action={add}>{t("hosts_empty_text")}</EmptyState></div>
      ) : (
        <ul aria-label={t("tab_hosts")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {hosts.data.map((host) => (
            <li key={placeOf(host)} className="flex items-center gap-3 py-2 pr-2 pl-4">
              <div className="min-w-0 flex-1"><p className="text-base font-medium wrap-anywhere">{placeOf(host)}</p><code className="block font-mono text-xs text-ink-3 wrap-anywhere">{host.fingerprint}</code></div>
              {operator && <IconButton size="sm" label={t("host_forget", { host: placeOf(host) })} disabled={forget.isPending} onClick={() => void drop(host)}><X /></IconButton>}
            </li>
          ))}
        </ul>
      )}
      {adding && <AddDialog start={shown} onClose={close} />}
    </div>
  );
}

function AddDialog({ start, onClose }: { start: { host: string; port: string; fingerprint: string }; onClose: () => void }) {
  const t = useT("skills");
  const { trust } = useHostActions();
  const [host, setHost] = useState(start.host);
  const [port, setPort] = useState(Number(start.port || 22));
  const [fingerprint, setFingerprint] = useState(start.fingerprint);
  const [tried, setTried] = useState(false);
  const said = trust.error instanceof ApiError ? trust.error : null;
  const problem = (name: string, bad: boolean) => (said?.field === name ? said.message : tried && bad ? t("needed") : undefined);
  const badPort = !(Number.isInteger(port) && port >= 1 && port <= 65_535);
  const send = () => {
    setTried(true);
    if (host.trim() === "" || fingerprint.trim() === "" || badPort) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    trust.mutate({ host: host.trim(), port, fingerprint: fingerprint.trim() }, { onSuccess: (one) => (toast({ title: t("host_trusted", { host: placeOf(one) }) }), onClose()) });
  };
  return (
    <Dialog open onOpenChange={onClose} title={t("host_add")} description={t("host_add_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={trust.isPending} onClick={send}>{t("host_accept")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), send())}>
        {trust.error && <ErrorState inline error={trust.error} />}
        <div className="flex gap-3">
          <Field className="min-w-0 flex-1" label={t("host_name")} error={problem("host", host.trim() === "")}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} value={host} onChange={(event) => setHost(event.target.value)} />}</Field>
          <Field className="w-24" label={t("host_port")} error={problem("port", badPort)}>{(p) => <Input {...p} type="number" min={1} max={65_535} value={Number.isNaN(port) ? "" : port} onChange={(event) => setPort(event.target.valueAsNumber)} />}</Field>
        </div>
        <Field label={t("host_fingerprint")} hint={t("host_fingerprint_hint")} error={problem("fingerprint", fingerprint.trim() === "")}>{(p) => <Input {...p} autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder="SHA256:…" value={fingerprint} onChange={(event) => setFingerprint(event.target.value)} />}</Field>
        {/* Enter sends. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
