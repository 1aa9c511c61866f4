import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, KeyRound, Pencil, RefreshCcw, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { isOperator, mayWork, useCredential, useCredentialNamers, useMe } from "@/api/hooks";
import { ApiError } from "@/api/client";
import type { Credential } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, ErrorState, Facts, IconButton, Page, Skeleton, Time } from "@/ui";
import { AccessButton } from "../access/AccessButton";
import { CredentialDialog } from "./parts/CredentialDialog";
import { Access } from "./parts/CredentialRow";
import { Expiry } from "./parts/Expiry";
import { expiryOf, type Purpose } from "./parts/form";
import { NamedBy } from "./parts/NamedBy";
import { isNamed, namedBy } from "./parts/namers";
import { Removal } from "./parts/Removal";
import { Uses } from "./parts/Uses";
import { useFieldName } from "./parts/Values";

/** One credential: what may be told of it, who names it, and which runs used it. */
export function CredentialPage() {
  const t = useT("credentials");
  const { credentialId } = useParams({ strict: false }) as { credentialId: string };
  const { data: me } = useMe();
  const back = <Link to="/credentials" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (me && mayWork(me)) return <Loaded id={credentialId} operator={isOperator(me)} back={back} />;
  return <Page title={t("title")} back={back} width="text">{me ? <EmptyState icon={<KeyRound />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function Loaded({ id, operator, back }: { id: string; operator: boolean; back: ReactNode }) {
  const t = useT("credentials");
  const found = useCredential(id);
  if (found.data) return <One credential={found.data} operator={operator} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState icon={<KeyRound />} title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function One({ credential, operator, back }: { credential: Credential; operator: boolean; back: ReactNode }) {
  const t = useT("credentials");
  const navigate = useNavigate();
  const nameOf = useFieldName();
  const namers = useCredentialNamers();
  const [changing, setChanging] = useState<Purpose | null>(null);
  const [removing, setRemoving] = useState(false);
  const by = namers.data && namedBy(credential, namers.data);
  const expiry = expiryOf(credential.expires_at, Date.now());
  const values: [ReactNode, ReactNode][] = [
    ...Object.entries(credential.shown).map(([name, value]): [ReactNode, ReactNode] => [nameOf(name), <span key={name} className="font-mono text-sm whitespace-pre-wrap">{value}</span>]),
    ...credential.secret.map((name): [ReactNode, ReactNode] => [nameOf(name), <span key={name} className="text-ink-3">{t("sealed")}</span>]),
  ];
  return (
    <Page
      title={credential.name}
      back={back}
      width="text"
      reading
      actions={
        !credential.connection && (
          <>
            <AccessButton kind="credential" id={credential.id} name={credential.name} />
            {operator && <Button size="sm" icon={<Pencil aria-hidden className="size-3.5" />} onClick={() => setChanging("edit")}>{t("edit")}</Button>}
            {operator && <Button size="sm" icon={<RefreshCcw aria-hidden className="size-3.5" />} {...(expiry !== "later" && expiry !== "never" && { variant: "primary" })} onClick={() => setChanging("replace")}>{t("replace_menu")}</Button>}
            {operator && <IconButton size="sm" label={t("remove")} onClick={() => setRemoving(true)}><Trash2 /></IconButton>}
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1.5">
          <p className="flex flex-wrap items-center gap-2"><Badge>{t(`kind_${credential.kind}`)}</Badge><Expiry at={credential.expires_at} badge /></p>
          {credential.description && <p className="text-base text-ink-2 whitespace-pre-wrap wrap-anywhere">{credential.description}</p>}
          {expiry === "past" && <p className="text-base text-bad">{t("ended_text")}</p>}
        </div>
        <Card title={t("holds")}><Facts items={values} /></Card>
        <Card title={t("who")}>
          <Facts
            items={[
              [t("may_use"), <Access key="may" credential={credential} />],
              [t("sent_to"), credential.hosts.length > 0 ? credential.hosts.join(", ") : t("sent_anywhere")],
              [t("made"), <Time key="made" at={credential.created_at} />],
              [t("changed"), <Time key="changed" at={credential.changed_at} />],
              [t("last_used_head"), credential.used_at === null ? t("never_used") : <Time key="used" relative at={credential.used_at} />],
              ...(credential.expires_at === null ? [] : [[t("ends"), <Time key="ends" at={credential.expires_at} />] as [ReactNode, ReactNode]]),
            ]}
          />
          <h3 className="mt-4 mb-1.5 text-sm font-medium">{t("named_by")}</h3>
          {by ? (isNamed(by) || by.maySkills.length + by.mayServers.length > 0 ? <NamedBy by={by} /> : <p className="text-base text-ink-3">{t("named_by_none")}</p>) : namers.error ? <ErrorState inline error={namers.error} onRetry={() => void namers.refetch()} /> : <Skeleton rows={2} />}
        </Card>
        {operator && <Card title={t("uses")} pad={false}><Uses id={credential.id} /></Card>}
      </div>
      {changing && <CredentialDialog credential={credential} purpose={changing} onClose={() => setChanging(null)} />}
      {removing && <Removal credential={credential} onClose={() => setRemoving(false)} onRemoved={() => void navigate({ to: "/credentials" })} />}
    </Page>
  );
}
