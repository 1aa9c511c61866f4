import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useConnectionWriter } from "@/api/hooks";
import type { Connection, ConnectionInput, Provider } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, formatRange, Input, Select, toast } from "@/ui";
import { Advanced } from "./Advanced";
import { AuthFields, VariableHelp } from "./AuthFields";
import { inputOf, keepsKey, priceOf, priceText, problemsOf, PROVIDERS, RANGES, rangeOf } from "./form";

type Props = { connection: Connection; onClose: () => void; onTest: (connection: Connection) => void };

/** Changes a connection. */
export function ConnectionDialog({ connection, onClose, onTest }: Props) {
  const t = useT("connections");
  const m = useT("models");
  const writer = useConnectionWriter();
  const [form, setForm] = useState<ConnectionInput>(() => inputOf(connection));
  const [price, setPrice] = useState(() => priceText(connection.price));
  const [tried, setTried] = useState(false);
  const patch = (change: Partial<ConnectionInput>) => setForm((old) => ({ ...old, ...change }));
  const problems = problemsOf(form, connection);
  const cost = priceOf(price);
  const problem = (name: keyof typeof problems) => (tried && problems[name] ? t(problems[name], formatRange(rangeOf(name))) : undefined);

  const save = (test: boolean) => {
    setTried(true);
    if (Object.keys(problems).length > 0 || cost === undefined) {
      // What is wrong may be in the folded part.
      for (const fold of document.querySelectorAll<HTMLDetailsElement>("[role=dialog] details")) fold.open = true;
      return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    }
    const body: ConnectionInput = { ...form, name: form.name.trim(), base_url: form.base_url.trim().replace(/\/+$/, ""), model: form.model.trim(), price: cost };
    void writer.run(connection.id, body).then((saved) => {
      if (!saved) return;
      toast({ title: t("saved") });
      onClose();
      if (test) onTest(saved);
    });
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={t("form_edit", { name: connection.name })}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button loading={writer.busy} onClick={() => save(false)}>{t("save")}</Button><Button variant="primary" loading={writer.busy} onClick={() => save(true)}>{t("save_test")}</Button></>}
    >
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save(true))}>
        {writer.error ? <ErrorState inline error={writer.error} /> : null}
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t("name")} error={problem("name")}>{(p) => <Input {...p} maxLength={RANGES.name.most} value={form.name} onChange={(event) => patch({ name: event.target.value })} />}</Field>
          <Field label={t("provider")}>{(p) => <Select {...p} value={form.provider} onChange={(event) => patch({ provider: event.target.value as Provider })}>{PROVIDERS.map((name) => <option key={name} value={name}>{m(`provider_${name}`)}</option>)}</Select>}</Field>
          <Field label={t("base_url")} hint={t("base_url_hint")} error={problem("base_url")}>{(p) => <Input {...p} type="url" inputMode="url" className="font-mono text-sm" value={form.base_url} onChange={(event) => patch({ base_url: event.target.value })} />}</Field>
          <Field label={t("model")} hint={t("model_hint")} error={problem("model")}>{(p) => <Input {...p} className="font-mono text-sm" value={form.model} onChange={(event) => patch({ model: event.target.value })} />}</Field>
          <AuthFields auth={form.auth} provider={form.provider} url={form.base_url} kept={keepsKey(connection, form)} problem={problem} onChange={(auth) => patch({ auth })} />
        </div>
        <VariableHelp auth={form.auth} />
        <details className="group/more rounded-lg border border-line px-4 py-3">
          <summary className="flex cursor-pointer items-center gap-1.5 text-base font-medium"><ChevronRight aria-hidden className="size-4 text-ink-3 transition-transform group-open/more:rotate-90" />{t("advanced")}</summary>
          <div className="mt-4"><Advanced form={form} known={connection.capabilities} byHand={connection.by_hand} price={price} priceBad={tried && cost === undefined} problem={problem} onChange={patch} onPrice={setPrice} /></div>
        </details>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
