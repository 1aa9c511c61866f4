import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Model } from "./model.ts";
import { cache, steward } from "./paths.ts";
import { Program } from "./process.ts";

export const ADMIN = { email: "ada@example.org", password: "a heron stands in the reeds" };

type Options = {
  /** Whether {@link ADMIN} is there from the start. */
  admin: boolean;
  /** After how many seconds another runner takes a run over; as usual, if it is left out. */
  lease?: number | undefined;
};

/** The folder that agents work in. */
export class Workspace {
  constructor(readonly path: string) {}

  async file(name: string): Promise<string | null> {
    const path = join(this.path, name);
    return existsSync(path) ? readFile(path, "utf8") : null;
  }

  async write(name: string, content: string): Promise<void> {
    const path = join(this.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/** `steward serve` with its own data directory and workspace. */
export class Server {
  url = "";
  private program: Program | null = null;

  private constructor(
    private readonly dir: string,
    private readonly model: Model | null,
    private readonly options: Options,
  ) {}

  /** Without a model, only the built-in one answers. */
  static async start(model: Model | null, options: Options): Promise<Server> {
    const server = new Server(await mkdtemp(join(tmpdir(), "steward-e2e-")), model, options);
    await mkdir(server.workspace.path);
    // A cache of its own with what it needs: programs that the tests offer it lie in the real one, and its own it doesn't give away.
    await mkdir(join(server.dir, "cache"));
    await mkdir(join(cache, "vectors"), { recursive: true });
    for (const name of ["models", "vectors"]) await symlink(join(cache, name), join(server.dir, "cache", name));
    await server.up();
    return server;
  }

  /** That of the installation's own organisation. */
  get workspace(): Workspace {
    return new Workspace(join(this.dir, "workspace"));
  }

  /** That of another organisation. */
  workspaceOf(tenant: string): Workspace {
    return new Workspace(join(this.dir, "data/tenants", tenant, "workspace"));
  }

  /** Starts it, at the same address as before if there was one. */
  async up(): Promise<void> {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    // Nothing of the caller's settings, keys or models.
    const env = {
      PATH: process.env.PATH,
      HOME: this.dir,
      STEWARD_CACHE: join(this.dir, "cache"),
      STEWARD_DATA: join(this.dir, "data"),
      // Scripts say what is asked; an exam would answer it.
      STEWARD_EXAMINE_CONNECTIONS: "false",
      // Builds fill the disk that tests run on.
      STEWARD_DISK_RESERVE_MB: "16",
      ...(this.options.lease && { STEWARD_LEASE_SECONDS: String(this.options.lease) }),
      ...(this.model && { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: this.model.baseUrl, OPENAI_MODEL: "scripted" }),
      ...(this.options.admin && { STEWARD_ADMIN_EMAIL: ADMIN.email, STEWARD_ADMIN_PASSWORD: ADMIN.password }),
    };
    this.program = new Program(steward, ["serve", "--listen", listen, "--workspace", this.workspace.path], env, this.dir);
    // The last line of the welcome.
    await this.program.match(/steward ask/);
    const [url] = await this.program.match(/http:\/\/127\.0\.0\.1:\d+/);
    this.url = url;
  }

  /** The one-time link that it printed. */
  get setupLink(): string {
    const found = this.program?.said.match(/http:\/\/\S+\/setup#token=[0-9a-zA-Z_-]+/);
    if (!found) throw new Error(`no set-up link in:\n${this.program?.said}`);
    return found[0];
  }

  /** SIGKILL, as in a crash. */
  async kill(): Promise<void> {
    await this.program?.end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.program?.end("SIGTERM");
    await rm(this.dir, { recursive: true, force: true });
  }

  get said(): string {
    return this.program?.said ?? "";
  }
}
