import { Check, Copy } from "lucide-react";
import { useState } from "react";
import type { HookSigning } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CodeBlock, copyText, toast } from "@/ui";
import { AUTHORIZATION, addressOf, curlOf, STEPS } from "./senders";

const isLocal = (host: string) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);

type CopiedProps = { label?: string; value: string; copy: string; /** What tests find it by. */ mark: "data-address" | "data-secret" };

/** A value to be copied. */
export function Copied({ label, value, copy, mark }: CopiedProps) {
  const t = useT("common");
  const [copied, setCopied] = useState(false);
  const take = async () => {
    if (!(await copyText(value))) return toast({ title: t("copyFailed"), tone: "bad" });
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <div>
      {label && <h3 className="mb-1 text-sm font-medium">{label}</h3>}
      <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
        <code {...{ [mark]: "" }} className="min-w-0 flex-1 font-mono text-sm select-all wrap-anywhere">{value}</code>
        <Button size="sm" aria-label={copied ? t("copied") : copy} icon={copied ? <Check aria-hidden className="size-3.5 text-ok" /> : <Copy aria-hidden className="size-3.5" />} onClick={() => void take()}>{t(copied ? "copied" : "copy")}</Button>
      </div>
    </div>
  );
}

/** Where senders send to. `titled`: it stands below a heading of its own. */
export function Address({ path, titled }: { path: string; titled?: boolean }) {
  const t = useT("webhooks");
  const local = isLocal(window.location.hostname);
  return (
    <div className="flex flex-col gap-1.5">
      <Copied {...(!titled && { label: t("address") })} value={addressOf(path)} copy={t("address_copy")} mark="data-address" />
      <p className="text-sm text-ink-3">{t(local ? "address_local" : "address_hint")}</p>
    </div>
  );
}

/** What is to be done at the sender. */
export function Steps({ signing, path }: { signing: HookSigning; path: string }) {
  const t = useT("webhooks");
  const { kind } = signing;
  const header = signing.header ?? AUTHORIZATION;
  return (
    <div className="flex flex-col gap-2">
      <ol className="flex list-decimal flex-col gap-1 pl-5 text-base text-ink-2 marker:text-ink-3">
        {STEPS.map((step) => <li key={step} className="wrap-anywhere">{t(`steps_${kind}_${step}`, { header })}</li>)}
      </ol>
      {kind === "token" && <CodeBlock text={curlOf(addressOf(path), header)} language="sh" className="my-0!" />}
      <p className="text-sm text-ink-3">{t("answered")}</p>
    </div>
  );
}
