import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { cache, root } from "./paths.ts";

const python = join(cache, "venv-mcp/bin/python3");
const folder = join(root, "crates/tools/tests/mcp/servers");
const script = join(folder, "server.py");

/** The server of the official Python SDK that the Rust tests use too: its program, arguments and the folders it reads. */
export function testServer(...options: string[]): { program: string; args: string[]; read: string[] } {
  if (!existsSync(python)) throw new Error(`${python} is missing: run scripts/setup.sh test`);
  const home = dirname(dirname(realpathSync(python)));
  return { program: python, args: [script, ...options], read: [join(cache, "venv-mcp"), home, folder].filter((path) => path !== "/usr") };
}
