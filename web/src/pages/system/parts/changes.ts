// What was typed and is not saved yet: the name of a setting and its new value, `null` for its default again.
import type { Config, ConfigField } from "@/api/types";

export type Changes = Record<string, string | null>;

/** What a field shows before anybody types. Secrets are never known here. */
export const saved = (field: ConfigField): string => (field.secret ? "" : (field.value ?? ""));

/** What a field shows now. */
export const shown = (field: ConfigField, changes: Changes): string => {
  const change = changes[field.name];
  if (change === undefined) return saved(field);
  return change ?? (field.secret ? "" : (field.default ?? ""));
};

/** The changes after something was typed; typing the old value again takes the change back. */
export function typed(field: ConfigField, text: string, changes: Changes): Changes {
  const rest = without(field.name, changes);
  const value = text.trim();
  if (value === saved(field)) return rest;
  // An empty field stands for the default, and one that has it already is not changed.
  if (value === "") return field.source === "default" ? rest : { ...rest, [field.name]: null };
  return { ...rest, [field.name]: value };
}

export function without(name: string, changes: Changes): Changes {
  const { [name]: _, ...rest } = changes;
  return rest;
}

/** Without those that the server has taken in meanwhile, or that can't be changed any more. */
export function stillOpen(config: Config, changes: Changes): Changes {
  const fields = new Map(config.groups.flatMap((group) => group.fields).map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => {
      const field = fields.get(name);
      return field?.changeable && (field.secret || value !== (field.value ?? ""));
    }),
  );
}
