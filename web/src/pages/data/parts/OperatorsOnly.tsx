import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { isOperator, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { EmptyState, Skeleton } from "@/ui";
import { Area } from "./Area";

/** What only operators may see; others are told so. */
export function OperatorsOnly({ title, children }: { title: string; children: ReactNode }) {
  const t = useT("data");
  const { data: me } = useMe();
  if (isOperator(me)) return <>{children}</>;
  return <Area title={title}>{me ? <EmptyState icon={<Lock />} title={t("operators_only")}>{t("operators_only_text")}</EmptyState> : <Skeleton rows={6} />}</Area>;
}
