import { Check, Copy } from "lucide-react";
import { useState } from "react";
import type { NewVirtualKey } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CodeBlock, copyText, Dialog, toast } from "@/ui";

/** A new key: this once. */
export function Secret({ made, onDone }: { made: NewVirtualKey; onDone: () => void }) {
  const t = useT("usage");
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (await copyText(made.secret ?? "")) setCopied(true);
    else toast({ title: t("copy_failed"), tone: "bad" });
  };
  const model = made.connections[0]?.name ? `connection/${made.connections[0].name}` : "connection/NAME";
  const example = `curl ${window.location.origin}/v1/chat/completions \\\n  -H "Authorization: Bearer $STEWARD_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] })}'`;
  return (
    <Dialog
      open
      locked
      wide
      onOpenChange={onDone}
      title={t("secret_title", { name: made.name })}
      description={t(made.secret === null ? "secret_gone" : "secret_once")}
      footer={<>{made.secret !== null && <Button autoFocus icon={copied ? <Check aria-hidden className="size-4 text-ok" /> : <Copy aria-hidden className="size-4" />} onClick={() => void copy()}>{copied ? t("secret_copied") : t("secret_copy")}</Button>}<Button variant="primary" onClick={onDone}>{t("secret_done")}</Button></>}
    >
      {made.secret !== null && <code data-secret className="block rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-sm select-all wrap-anywhere">{made.secret}</code>}
      <h3 className="mt-4 text-sm font-medium">{t("example")}</h3>
      <CodeBlock text={example} language="sh" className="my-2" />
    </Dialog>
  );
}
