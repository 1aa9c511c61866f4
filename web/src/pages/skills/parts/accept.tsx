import { useState } from "react";
import { useAgents, useMe, usePackageActions, useSkillActions } from "@/api/hooks";
import type { SkillPackage } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, ConfirmDialog, Dialog, ErrorState, Field, Select, toast } from "@/ui";

type Props = { one: SkillPackage; onClose: () => void };

function AgentChoice({ value, onChange, none }: { value: string; onChange: (agent: string) => void; none: boolean }) {
  const t = useT("skills");
  const agents = useAgents();
  return <Field label={t("give_to")} hint={t("give_package_hint")}>{(p) => <Select {...p} value={value} onChange={(event) => onChange(event.target.value)}><option value="">{t(none ? "nobody" : "give_to_choose")}</option>{agents.items.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}</Select>}</Field>;
}

/** Accepts just the content that was shown, by its hash. */
export function AcceptDialog({ one, label, onClose }: Props & { label: string }) {
  const t = useT("skills");
  const admin = useMe().data?.role === "admin";
  const { accept } = usePackageActions();
  const [agent, setAgent] = useState("");
  const [looked, setLooked] = useState(false);
  const dangers = one.findings.filter((finding) => finding.severity === "danger").length;
  const blocked = dangers > 0 && !(admin && looked);
  const send = () => accept.mutate({ name: one.name, hash: one.hash, ...(agent && { agent }), ...(dangers > 0 && { dangers: true }) }, { onSuccess: () => (toast({ title: t("accepted", { name: one.name, n: one.revision }) }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("accept_title", { name: one.name, n: one.revision })} description={t("accept_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant={dangers > 0 ? "danger" : "primary"} disabled={blocked} loading={accept.isPending} onClick={send}>{label}</Button></>}>
      <div className="flex flex-col gap-4 pb-1">
        <p className="text-sm text-ink-2">{t("hash")} <code className="font-mono text-xs wrap-anywhere">{one.hash}</code></p>
        {dangers > 0 && (admin ? <Checkbox checked={looked} onChange={setLooked} label={t("looked", { count: dangers })} hint={t("looked_hint")} /> : <p className="rounded-lg bg-bad-soft px-3 py-2 text-base">{t("only_admin", { count: dangers })}</p>)}
        {accept.error && <ErrorState inline error={accept.error} />}
        <AgentChoice value={agent} onChange={setAgent} none />
      </div>
    </Dialog>
  );
}

/** Gives the skills of a package in use to an agent. */
export function GiveDialog({ one, onClose }: Props) {
  const t = useT("skills");
  const { attach } = useSkillActions();
  const agents = useAgents();
  const [agent, setAgent] = useState("");
  const [done, setDone] = useState(0);
  const send = async () => {
    try {
      // Twice is the same as once, so what failed in the middle is begun anew.
      for (const [at, skill] of one.skills.entries()) {
        setDone(at);
        await attach.mutateAsync({ agent, skill });
      }
      toast({ title: t("imported_given", { name: one.name, agent: agents.items.find((other) => other.id === agent)?.name ?? "" }) });
      onClose();
    } catch {
      // Shown from the mutation.
    }
  };
  return (
    <Dialog open onOpenChange={onClose} title={t("give_agent")} description={t("give_package_text", { name: one.name })} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" disabled={!agent} loading={attach.isPending} onClick={() => void send()}>{attach.isPending && one.skills.length > 1 ? `${done + 1}/${one.skills.length}` : t("give")}</Button></>}>
      <div className="flex flex-col gap-4 pb-1">
        {attach.error && <ErrorState inline error={attach.error} />}
        <AgentChoice value={agent} onChange={setAgent} none={false} />
      </div>
    </Dialog>
  );
}

/** Takes a package out of use; agents lose its skills. */
export function RemoveDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const t = useT("skills");
  const { remove } = usePackageActions();
  return (
    <ConfirmDialog open danger title={t("remove_title", { name })} description={t("remove_text")} confirm={t("remove_package")} busy={remove.isPending} onOpenChange={onClose} onConfirm={() => remove.mutate(name, { onSuccess: () => (toast({ title: t("removed", { name }) }), onClose()) })}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}
