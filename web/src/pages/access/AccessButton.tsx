import { LockKeyhole } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { ResourceKind } from "@/api/types";
import { useT } from "@/i18n";
import { Button } from "@/ui";

const AccessDialog = lazy(() => import("./AccessDialog").then((module) => ({ default: module.AccessDialog })));

type Props = { kind: ResourceKind; id: string; name: string };

/** Opens who may use, change and share an agent, a skill, a connection, a credential or a collection. */
export function AccessButton({ kind, id, name }: Props) {
  const t = useT("access");
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" aria-haspopup="dialog" icon={<LockKeyhole aria-hidden className="size-3.5" />} onClick={() => setOpen(true)}>{t("open")}</Button>
      {open && <Suspense><AccessDialog kind={kind} id={id} name={name} onClose={() => setOpen(false)} /></Suspense>}
    </>
  );
}
