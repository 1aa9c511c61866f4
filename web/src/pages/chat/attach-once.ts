// One file is attached once: the same one again is said, and gives no second entry.
import type { Attached } from "./stored";

/** What tells a file from others before it is sent. */
export const markOf = ({ name, size, lastModified }: Pick<File, "name" | "size" | "lastModified">): string => JSON.stringify([name, size, lastModified]);

/** What tells an attachment from others. */
export const keyOf = (file: Attached): string => file.path ?? file.document;

/** With `done` at the end, and there only: the same document or path again is the same attachment. */
export const withAttached = (all: readonly Attached[], done: Attached): Attached[] => [...all.filter((other) => keyOf(other) !== keyOf(done)), done];
