import { useState } from "react";
import { useAccessActions } from "@/api/hooks";
import { levelsOf } from "@/api/reach";
import type { AccessLevel, ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, Select, toast } from "@/ui";
import { WhoInput } from "./WhoInput";

/** Gives a grant to a user or a group. */
export function GiveForm({ kind, id }: { kind: ResourceKind; id: string }) {
  const t = useT("access");
  const { give } = useAccessActions(kind, id);
  const [to, setTo] = useState<"user" | "group">("user");
  const [who, setWho] = useState("");
  const [level, setLevel] = useState<AccessLevel>("use");
  const [missing, setMissing] = useState(false);
  const send = () => {
    const name = who.trim();
    if (name === "") return setMissing(true);
    give.mutate({ ...(to === "user" ? { user: name } : { group: name }), level }, { onSuccess: () => (setWho(""), toast({ title: t("given", { name, level: t(`level_${level}`) }) })) });
  };
  const change = <T,>(set: (value: T) => void) => (value: T) => (set(value), setMissing(false), give.reset());
  const choose = change(setTo);
  return (
    <form noValidate className="flex flex-col gap-3 rounded-lg bg-sunken p-3" onSubmit={(event) => (event.preventDefault(), send())}>
      <div className="flex flex-wrap items-start gap-3">
        <Field label={t("give_to")}>{(p) => <Select {...p} value={to} onChange={(event) => (choose(event.target.value as typeof to), setWho(""))}><option value="user">{t("user")}</option><option value="group">{t("group")}</option></Select>}</Field>
        <Field label={t(to === "user" ? "email" : "group_name")} error={missing ? t(to === "user" ? "email_missing" : "group_missing") : null} className="min-w-52 flex-1">{(p) => <WhoInput {...p} kind={to} value={who} onChange={change(setWho)} />}</Field>
        <Field label={t("level")}>{(p) => <Select {...p} value={level} onChange={(event) => setLevel(event.target.value as AccessLevel)}>{levelsOf(kind).map((one) => <option key={one} value={one}>{t(`level_${one}`)}</option>)}</Select>}</Field>
        <Button type="submit" variant="primary" className="mt-6.5" loading={give.isPending}>{t("give")}</Button>
      </div>
      <p className="text-xs text-ink-3">{t(`may_${level}_${kind}`)}</p>
      {give.error && <ErrorState inline error={give.error} />}
    </form>
  );
}
