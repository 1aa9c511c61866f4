import { useId } from "react";
import { isAdmin, isOperator, useGroups, useMe, useUserNames } from "@/api/hooks";
import { limits } from "@/api/limits";
import { Input } from "@/ui";
import { useSettled } from "../../agents/parts/settled";

type Props = { kind: "user" | "group"; value: string; onChange: (value: string) => void; id: string; "aria-describedby"?: string; "aria-invalid"?: true };

/** The email of a user or the name of a group; those that there are, are offered to whoever may see them. */
export function WhoInput({ kind, value, onChange, ...rest }: Props) {
  const list = useId();
  const { data: me } = useMe();
  const text = useSettled(value.trim(), 250);
  const users = useUserNames(text, kind === "user" && isAdmin(me));
  const groups = useGroups(text ? { search: text } : {}, kind === "group" && isOperator(me));
  return (
    <>
      <Input {...rest} type={kind === "user" ? "email" : "text"} list={list} autoComplete="off" spellCheck={false} maxLength={limits.GrantInput[kind].maxLength} value={value} onChange={(event) => onChange(event.target.value)} />
      <datalist id={list}>
        {kind === "user" ? users.items.map((user) => <option key={user.id} value={user.email}>{user.name}</option>) : groups.items.map((group) => <option key={group.id} value={group.name}>{group.description}</option>)}
      </datalist>
    </>
  );
}
