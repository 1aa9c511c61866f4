import { useState } from "react";
import type { ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Field } from "@/ui";
import { Explanation } from "./Explanation";
import { WhoInput } from "./WhoInput";

/** Asks what a certain user may do. */
export function Why({ kind, id }: { kind: ResourceKind; id: string }) {
  const t = useT("access");
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-base font-semibold">{t("why")}</h3>
      <form noValidate className="flex flex-wrap items-start gap-3" onSubmit={(event) => (event.preventDefault(), setAsked(typed.trim()))}>
        <Field label={t("why_who")} hint={t("why_hint")} className="min-w-52 flex-1">{(p) => <WhoInput {...p} kind="user" value={typed} onChange={setTyped} />}</Field>
        <Button type="submit" className="mt-6.5" disabled={typed.trim() === ""}>{t("why_ask")}</Button>
      </form>
      {asked && <Explanation key={asked} kind={kind} id={id} user={asked} />}
    </section>
  );
}
