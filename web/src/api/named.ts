import type { NamedRef } from "./types";

/** What something is called now; `gone` where it was deleted. */
export const nameOf = (of: NamedRef, gone: string): string => of.name ?? gone;
