import { SlidersHorizontal, UserPlus, Users } from "lucide-react";
import { useState } from "react";
import { isAdmin, useMe, useUserActions, useUsers } from "@/api/hooks";
import type { InvitedUser, Role, User, UserState } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, Page, PagedList, SearchInput, Select, Skeleton, toast, useErrorText } from "@/ui";
import { useFilters, useTyped } from "../runs/parts/filters";
import { Ending, Removal } from "./parts/Confirm";
import { Erase } from "./parts/Erase";
import { InvitationLink } from "./parts/InvitationLink";
import { ROLES } from "./parts/link";
import { UserAccess } from "./parts/UserAccess";
import { UserDialog } from "./parts/UserDialog";
import { UserRow } from "./parts/UserRow";

const STATES = ["active", "invited", "disabled"] as const;
const FILTERS = ["q", "role", "state", "add"] as const;

/** Who may log in, and as what. */
export default function UsersPage() {
  const t = useT("users");
  const { data: me } = useMe();
  if (me && isAdmin(me)) return <Listed mine={me.id} />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<Users />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

function Listed({ mine }: { mine: string }) {
  const t = useT("users");
  const [{ q, role, state, add }, set] = useFilters(FILTERS);
  const [typed, type] = useTyped(q, (value) => set({ q: value }));
  const list = useUsers({ ...(q.trim() && { search: q.trim() }), ...(role && { role: role as Role }), ...(state && { state: state as UserState }) });
  // A link may open the invitation.
  const [edited, setEditing] = useState<User | "new" | null>(null);
  const editing = edited ?? (add ? "new" : null);
  const [removing, setRemoving] = useState<User | null>(null);
  const [erasing, setErasing] = useState<User | null>(null);
  const [showing, setShowing] = useState<User | null>(null);
  const [ending, setEnding] = useState<User | null>(null);
  const [invited, setInvited] = useState<InvitedUser | null>(null);
  const { update, renew, resetFactor } = useUserActions();
  const errorText = useErrorText();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const disable = ({ id, email }: User, disabled: boolean) =>
    update.mutate({ id, disabled }, {
      onSuccess: (user) => toast({ title: t(disabled ? "disabled" : "enabled", { email }), about: id, ...(disabled && { undo: () => disable(user, false) }) }),
      onError: failed,
    });
  const filtered = q !== "" || role !== "" || state !== "";
  // The administrator who looks and the machine's own user are always there.
  const alone = !filtered && !list.hasMore && list.items.every((user) => user.id === mine || user.built_in);
  const invite = <Button size="sm" variant="primary" icon={<UserPlus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("invite")}</Button>;
  const pick = (name: "role" | "state", options: readonly (readonly [string, string])[]) => (
    <Select small aria-label={t(`filter_${name}`)} className="max-md:w-full" value={name === "role" ? role : state} onChange={(event) => set({ [name]: event.target.value })}>
      <option value="">{t(`filter_${name}`)}: {t("any")}</option>
      {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
    </Select>
  );
  return (
    <Page title={t("title")} lead={t("lead")} width="text" actions={invite}>
      <div role="search" className="mb-3 flex flex-wrap gap-2">
        <SearchInput className="min-w-48 flex-1" label={t("search")} value={typed} onChange={type} />
        {pick("role", ROLES.map((value) => [value, t(`role_${value}`)]))}
        {pick("state", STATES.map((value) => [value, t(`state_${value}`)]))}
      </div>
      <PagedList list={list} empty={<EmptyState icon={<SlidersHorizontal />} title={t("none_found")} action={<Button size="sm" onClick={() => set({ q: "", role: "", state: "" })}>{t("show_all")}</Button>} />}>
        <ul aria-label={t("title")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {list.items.map((user) => <UserRow key={user.id} user={user} mine={user.id === mine} onEdit={() => setEditing(user)} onAccess={() => setShowing(user)} onLink={() => renew.mutate(user.id, { onSuccess: setInvited, onError: failed })} onEndSessions={() => setEnding(user)} onResetFactor={() => resetFactor.mutate(user.id, { onSuccess: () => toast({ title: t("factor_reset", { email: user.email }), about: user.id }), onError: failed })} onDisable={(disabled) => disable(user, disabled)} onRemove={() => setRemoving(user)} onErase={() => setErasing(user)} />)}
        </ul>
        {alone && !list.isLoading && <EmptyState icon={<UserPlus />} title={t("empty_title")}>{t("empty_text")}</EmptyState>}
      </PagedList>
      {editing && <UserDialog user={editing === "new" ? null : editing} mine={editing !== "new" && editing.id === mine} onClose={() => (setEditing(null), add && set({ add: "" }))} onInvited={setInvited} />}
      {showing && <UserAccess user={showing} onClose={() => setShowing(null)} />}
      {removing && <Removal user={removing} onClose={() => setRemoving(null)} />}
      {erasing && <Erase user={erasing} onClose={() => setErasing(null)} />}
      {ending && <Ending user={ending} onClose={() => setEnding(null)} />}
      {invited && <InvitationLink invited={invited} onDone={() => setInvited(null)} />}
    </Page>
  );
}
