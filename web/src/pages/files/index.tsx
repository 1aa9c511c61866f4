import { FolderOpen } from "lucide-react";
import { isAdmin, isOperator, mayWork, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { EmptyState, Page, Skeleton } from "@/ui";
import { Outside } from "./parts/Outside";
import { Sent } from "./parts/Sent";

/** Files of the workspace: what people sent, and what comes from outside. */
export default function FilesPage() {
  const t = useT("files");
  const { data: me } = useMe();
  if (!mayWork(me)) return <Page title={t("title")} width="text">{me ? <EmptyState icon={<FolderOpen />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
  return (
    <Page title={t("title")} lead={t("lead")} width="text">
      <div className="flex flex-col gap-5">
        <Sent />
        {isOperator(me) && <Outside admin={isAdmin(me)} />}
      </div>
    </Page>
  );
}
