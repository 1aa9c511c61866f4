import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../../..");
const given = process.env.STEWARD_TARGET ?? process.env.CARGO_TARGET_DIR ?? "target";
const target = isAbsolute(given) ? given : join(root, given);

/** The program as the Rust tests built it. */
export const steward = process.env.STEWARD_BIN ?? join(target, "debug/steward");
/** The scripted model server of crates/testkit. */
export const scriptedModel = join(target, "debug/scripted-model");
export const studio = join(root, "web/dist/index.html");
export const cache = process.env.STEWARD_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "steward");
