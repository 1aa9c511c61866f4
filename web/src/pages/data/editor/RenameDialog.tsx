import { useState } from "react";
import { textService } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input } from "@/ui";

/** Another name for what stands at the cursor, wherever the text uses it. */
export function RenameDialog({ text, offset, word, onClose, onRenamed }: { text: string; offset: number; word: string; onClose: () => void; onRenamed: (text: string) => void }) {
  const t = useT("data");
  const [name, setName] = useState(word);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rename = async () => {
    if (name.trim() === "" || name === word) return;
    setBusy(true);
    setError(null);
    try {
      onRenamed((await textService.rename({ text, offset, name: name.trim() })).text);
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog open onOpenChange={onClose} title={t("rename_title", { name: word })} description={t("rename_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={busy} disabled={name.trim() === "" || name === word} onClick={() => void rename()}>{t("rename")}</Button></>}>
      <form className="flex flex-col gap-3 pb-1" onSubmit={(event) => (event.preventDefault(), void rename())}>
        {error ? <ErrorState inline error={error} /> : null}
        <Field label={t("new_name")}>{(p) => <Input {...p} className="font-mono" value={name} onChange={(event) => setName(event.target.value)} onFocus={(event) => event.target.select()} />}</Field>
      </form>
    </Dialog>
  );
}
