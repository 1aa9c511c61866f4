import { existsSync } from "node:fs";
import { scriptedModel, steward, studio } from "./paths.ts";

/** Says what is missing before a hundred tests say it. */
export default function check(): void {
  for (const file of [steward, scriptedModel, studio]) {
    if (!existsSync(file)) throw new Error(`${file} is missing: run \`make e2e\`, which builds it`);
  }
}
