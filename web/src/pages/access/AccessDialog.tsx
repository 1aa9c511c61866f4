import { useAccessActions, useReach, useResourceAccess } from "@/api/hooks";
import type { ResourceAccess, ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Skeleton, Switch, toast, useErrorText } from "@/ui";
import { Explanation } from "./parts/Explanation";
import { GiveForm } from "./parts/GiveForm";
import { Grants } from "./parts/Grants";
import { Why } from "./parts/Why";

type Props = { kind: ResourceKind; id: string; name: string; onClose: () => void };

/** Who may use something. Whoever may not share it learns what they may do themselves, and what they lack. */
export function AccessDialog({ kind, id, name, onClose }: Props) {
  const t = useT("access");
  const shares = useReach(kind, id, "share");
  return (
    <Dialog open wide onOpenChange={onClose} title={t("title", { name })} description={t(shares === false ? "lead_own" : `lead_${kind}`)} footer={<Button onClick={onClose}>{t("close")}</Button>}>
      <div className="flex flex-col gap-6 pb-2">{shares === null ? <Skeleton rows={4} /> : shares ? <Shared kind={kind} id={id} /> : <Explanation kind={kind} id={id} />}</div>
    </Dialog>
  );
}

function Shared({ kind, id }: { kind: ResourceKind; id: string }) {
  const t = useT("access");
  const access = useResourceAccess(kind, id);
  if (access.error) return <ErrorState inline error={access.error} onRetry={() => void access.refetch()} />;
  if (!access.data) return <Skeleton rows={4} />;
  return (
    <>
      <Restriction access={access.data} />
      <section className="flex flex-col gap-3">
        <h3 className="text-base font-semibold">{t("grants")}</h3>
        <Grants access={access.data} />
        <GiveForm kind={kind} id={id} />
      </section>
      <Why kind={kind} id={id} />
    </>
  );
}

/** Open to everybody, or for those with a grant only. */
function Restriction({ access }: { access: ResourceAccess }) {
  const t = useT("access");
  const errorText = useErrorText();
  const { restrict } = useAccessActions(access.kind, access.id);
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  // By promises: the dialog may be shut when the answer comes.
  const set = (restricted: boolean, back = false): Promise<void> =>
    restrict.mutateAsync(restricted).then(
      () => toast({ title: t(restricted ? "closed" : "opened", { name: access.name }), about: access.id, ...(!back && { undo: () => void set(!restricted, true) }) }),
      failed,
    );
  if (access.kind === "credential") return <p className="text-base text-ink-2">{t("credential_text")}</p>;
  return <Switch label={t("restricted")} hint={t(access.restricted ? "restricted_hint" : "open_hint")} disabled={restrict.isPending} checked={access.restricted} onChange={(restricted) => void set(restricted)} />;
}
