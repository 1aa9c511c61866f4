import { ADMIN, type Server } from "./server.ts";

/** How long a document, a run or an organisation may take: some hundred times as long as on a quiet machine. */
const PATIENCE = 120_000;
const headers = { "content-type": "application/json" };

/** The HTTP API, for preparing what a test is not about. */
export class Api {
  private constructor(
    readonly url: string,
    readonly token: string,
    /** The session's cookie, as the browser gets it from the login page. */
    readonly cookie: { name: string; value: string },
    /** The short name of the organisation; empty: the installation's own. */
    readonly tenant: string,
  ) {}

  /** As the administrator of the installation's own organisation. */
  static async login(server: Server): Promise<Api> {
    return Api.opened(server.url, "/auth/login", ADMIN, "");
  }

  /** As the first administrator of an organisation, who is invited. */
  static async accept(server: Server, token: string, tenant: string): Promise<Api> {
    return Api.opened(server.url, "/auth/invitation", { token, password: ADMIN.password }, tenant);
  }

  private static async opened(url: string, path: string, body: object, tenant: string): Promise<Api> {
    const answer = await fetch(`${url}/api${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "") ?? [];
    if (!name || !value) throw new Error(`${path}: there is no cookie`);
    return new Api(url, ((await answer.json()) as { access_token: string }).access_token, { name, value }, tenant);
  }

  /** The same person with a key, which doesn't end with the session. */
  async withKey(): Promise<Api> {
    const { api_key } = await this.call<{ api_key: string }>("POST", "/auth/api-key");
    return new Api(this.url, api_key, this.cookie, this.tenant);
  }

  /** The page of logins, with the organisation filled in. */
  get loginPath(): string {
    return this.tenant ? `/login?tenant=${this.tenant}` : "/login";
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text ? JSON.parse(text) : null) as T;
  }

  /** Hands a document in and waits until it is read and embedded, or failed; its id. */
  async document(collection: string, name: string, content: string | Buffer): Promise<string> {
    const answer = await fetch(`${this.url}/api/documents/upload?${new URLSearchParams({ collection, name })}`, { method: "POST", headers: { authorization: `Bearer ${this.token}`, "content-type": "application/octet-stream" }, body: typeof content === "string" ? content : new Uint8Array(content) });
    if (!answer.ok) throw new Error(`upload of ${name}: ${answer.status} ${await answer.text()}`);
    const { id } = ((await answer.json()) as { document: { id: string } }).document;
    await until(`document ${name} was not read`, async () => {
      const { status } = await this.call<{ status: string }>("GET", `/documents/${id}`);
      return (status !== "waiting" && status !== "embedding") || null;
    });
    return id;
  }

  /** Sends a file into the workspace. */
  async file(name: string, content: string): Promise<void> {
    const answer = await fetch(`${this.url}/api/files?${new URLSearchParams({ name })}`, { method: "POST", headers: { authorization: `Bearer ${this.token}`, "content-type": "application/octet-stream" }, body: content });
    if (!answer.ok) throw new Error(`upload of ${name}: ${answer.status} ${await answer.text()}`);
  }

  async agentId(): Promise<string> {
    const page = await this.call<{ items: { id: string }[] }>("GET", "/agents");
    const [first] = page.items;
    if (!first) throw new Error("there is no agent");
    return first.id;
  }

  /** Leaves the agent these tools: a plan is made sooner where there is less to choose from. */
  async narrow(...tools: string[]): Promise<void> {
    const { id, ...agent } = await this.call<{ id: string }>("GET", `/agents/${await this.agentId()}`);
    await this.call("PUT", `/agents/${id}`, { ...agent, tools });
  }

  async connectionId(): Promise<string> {
    const page = await this.call<{ items: { id: string; default: boolean }[] }>("GET", "/connections");
    const found = page.items.find((connection) => connection.default) ?? page.items[0];
    if (!found) throw new Error("there is no connection");
    return found.id;
  }

  /** Starts a run; resolves when it has begun. */
  async chat(message: string, more: Record<string, unknown> = {}): Promise<{ run_id: string; conversation_id: string }> {
    return this.call("POST", `/chat/${await this.agentId()}`, { message, ...more });
  }

  async run(id: string): Promise<{ status: string; waiting_approval: string | null; outcome: { status: string } | null; answer: string | null }> {
    return this.call("GET", `/runs/${id}`);
  }

  /** Waits until a run has ended or waits for a person. */
  async settled(id: string): Promise<Awaited<ReturnType<Api["run"]>>> {
    return until(`run ${id} neither ended nor asked`, async () => {
      const run = await this.run(id);
      return run.status === "finished" || run.waiting_approval ? run : null;
    });
  }

  /** A run from start to its end or its first question. */
  async ask(message: string, more: Record<string, unknown> = {}): Promise<string> {
    const { run_id } = await this.chat(message, more);
    await this.settled(run_id);
    return run_id;
  }
}

/** Asks until there is an answer. */
async function until<T>(failure: string, ask: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    const found = await ask();
    if (found !== null) return found;
    await new Promise((wake) => setTimeout(wake, 25));
  }
  throw new Error(`${failure} within ${PATIENCE / 1000} s`);
}
