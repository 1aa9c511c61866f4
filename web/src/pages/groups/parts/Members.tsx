import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { useGroupActions, useGroupMembers } from "@/api/hooks";
import type { Group, User } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ErrorState, Field, IconButton, PagedList, toast, useErrorText } from "@/ui";
import { WhoInput } from "../../access/parts/WhoInput";

type Props = { group: Group; mayChange: boolean; admin: boolean };

/** Who is in a group; putting in and taking out is done at once. */
export function Members({ group, mayChange, admin }: Props) {
  const t = useT("groups");
  const u = useT("users");
  const list = useGroupMembers(group.id);
  const errorText = useErrorText();
  const { add, take } = useGroupActions();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const back = ({ id, email }: User) => add.mutateAsync({ group: group.id, user: id }).then(() => toast({ title: t("added", { email }), about: id }), failed);
  const drop = (user: User) => take.mutateAsync({ group: group.id, user: user.id }).then(() => toast({ title: t("taken", { email: user.email }), about: user.id, undo: () => void back(user) }), failed);
  return (
    <>
      {mayChange && <Adding group={group} />}
      <PagedList list={list} skeletonRows={3} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t(mayChange ? "members_none_add" : "members_none")}</p>}>
        <ul aria-label={t("members")} className="divide-y divide-line">
          {list.items.map((user) => (
            <li key={user.id} className="flex items-center gap-2 py-2 pr-2 pl-4">
              <span className="min-w-0 flex-1">
                <span className="flex flex-wrap items-center gap-2 text-base"><span className="wrap-anywhere">{user.name}</span><Badge>{u(`role_${user.role}`)}</Badge>{user.state !== "active" && <Badge tone={user.state === "invited" ? "accent" : "bad"}>{u(`state_${user.state}`)}</Badge>}</span>
                <span className="block text-sm text-ink-3 wrap-anywhere">{admin ? <Link to="/users" search={{ q: user.email }} className="hover:underline">{user.email}</Link> : user.email}</span>
              </span>
              {mayChange && <IconButton size="sm" label={t("take", { email: user.email })} disabled={take.isPending} onClick={() => void drop(user)}><X /></IconButton>}
            </li>
          ))}
        </ul>
      </PagedList>
    </>
  );
}

function Adding({ group }: { group: Group }) {
  const t = useT("groups");
  const { addByEmail } = useGroupActions();
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const send = () => {
    if (email.trim() === "") return setProblem(t("email_missing"));
    addByEmail.mutate({ group: group.id, email }, {
      onSuccess: (user) => {
        if (!user) return setProblem(t("email_unknown", { email: email.trim() }));
        // Somebody may be typing the next one by now.
        setEmail((now) => (now === email ? "" : now));
        toast({ title: t("added", { email: user.email }), about: user.id });
      },
    });
  };
  return (
    <form noValidate className="flex flex-wrap items-start gap-2 border-b border-line px-4 py-3" onSubmit={(event) => (event.preventDefault(), send())}>
      <Field label={t("add_label")} error={problem} className="min-w-56 flex-1">{(p) => <WhoInput {...p} kind="user" value={email} onChange={(value) => (setEmail(value), setProblem(null))} />}</Field>
      <Button type="submit" className="mt-6.5" loading={addByEmail.isPending}>{t("add")}</Button>
      {addByEmail.error && <ErrorState inline error={addByEmail.error} className="w-full" />}
    </form>
  );
}
