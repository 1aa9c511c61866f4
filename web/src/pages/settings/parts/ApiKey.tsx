import { Check, Copy, KeyRound } from "lucide-react";
import { useState } from "react";
import { useAccountActions } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, Card, CodeBlock, ConfirmDialog, copyText, Dialog, ErrorState, toast } from "@/ui";

/** One key for programs: shown once, when it is made. */
export function ApiKey() {
  const t = useT("settings");
  const { newApiKey, removeApiKey } = useAccountActions();
  const [asking, setAsking] = useState<"make" | "remove" | null>(null);
  const [key, setKey] = useState<string | null>(null);
  const origin = window.location.origin;
  const example = `curl ${origin}/api/runs \\\n  -H "Authorization: Bearer $STEWARD_API_KEY"\n\ncurl ${origin}/v1/chat/completions \\\n  -H "Authorization: Bearer $STEWARD_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"model": "steward", "messages": [{"role": "user", "content": "Which files are here?"}]}'`;
  const make = () => newApiKey.mutate(undefined, { onSuccess: ({ api_key }) => setKey(api_key), onSettled: () => setAsking(null) });
  const remove = () => removeApiKey.mutate(undefined, { onSuccess: () => toast({ title: t("key_removed") }), onSettled: () => setAsking(null) });
  const error = newApiKey.error ?? removeApiKey.error;
  return (
    <Card title={t("sec_key")} actions={<a href="/docs" className="text-sm text-accent-ink hover:underline">{t("docs")}</a>}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base text-ink-2">{t("key_text")}</p>
        {error && <ErrorState inline error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button icon={<KeyRound aria-hidden className="size-4" />} onClick={() => setAsking("make")}>{t("key_make")}</Button>
          <Button variant="quiet" onClick={() => setAsking("remove")}>{t("key_remove")}</Button>
        </div>
        <div>
          <h3 className="text-sm font-medium">{t("example")}</h3>
          <CodeBlock text={example} language="sh" className="my-2" />
          <p className="text-sm text-ink-3 wrap-anywhere">{t("example_text", { url: `${origin}/v1` })}</p>
        </div>
      </div>
      <ConfirmDialog open={asking === "make"} onOpenChange={() => setAsking(null)} title={t("key_replace_title")} description={t("key_replace_text")} confirm={t("key_make")} busy={newApiKey.isPending} onConfirm={make} />
      <ConfirmDialog open={asking === "remove"} onOpenChange={() => setAsking(null)} title={t("key_remove_title")} description={t("key_remove_text")} confirm={t("key_remove")} danger busy={removeApiKey.isPending} onConfirm={remove} />
      {key && <Shown value={key} onDone={() => setKey(null)} />}
    </Card>
  );
}

/** A secret, this once. */
export function Shown({ value, onDone }: { value: string; onDone: () => void }) {
  const t = useT("settings");
  const [copied, setCopied] = useState(false);
  return (
    <Dialog
      open
      locked
      onOpenChange={onDone}
      title={t("key_shown")}
      description={t("key_once")}
      footer={<><Button icon={copied ? <Check aria-hidden className="size-4 text-ok" /> : <Copy aria-hidden className="size-4" />} onClick={async () => setCopied(await copyText(value))}>{t("key_copy")}</Button><Button variant="primary" onClick={onDone}>{t("key_done")}</Button></>}
    >
      <code className="block rounded-md border border-line bg-sunken px-3 py-2.5 font-mono text-sm select-all wrap-anywhere">{value}</code>
    </Dialog>
  );
}
