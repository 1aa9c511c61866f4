import { ADMIN, type Server } from "./server.ts";

/** The HTTP API, for preparing what a test is not about. */
export class Api {
  private constructor(
    readonly url: string,
    readonly token: string,
    /** The session's cookie, as the browser gets it from the login page. */
    readonly cookie: { name: string; value: string },
  ) {}

  static async login(server: Server): Promise<Api> {
    const answer = await fetch(`${server.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ADMIN),
    });
    if (!answer.ok) throw new Error(`login: ${answer.status} ${await answer.text()}`);
    const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "") ?? [];
    if (!name || !value) throw new Error("login: there is no cookie");
    return new Api(server.url, ((await answer.json()) as { access_token: string }).access_token, { name, value });
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
    for (let left = 600; left > 0; left--) {
      const { status } = await this.call<{ status: string }>("GET", `/documents/${id}`);
      if (status !== "waiting" && status !== "embedding") return id;
      await new Promise((wake) => setTimeout(wake, 50));
    }
    throw new Error(`document ${name} was not read within 30 s`);
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
    const page = await this.call<{ items: { id: string }[] }>("GET", "/connections");
    const [first] = page.items;
    if (!first) throw new Error("there is no connection");
    return first.id;
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
    for (let left = 400; left > 0; left--) {
      const run = await this.run(id);
      if (run.status === "finished" || run.waiting_approval) return run;
      await new Promise((wake) => setTimeout(wake, 25));
    }
    throw new Error(`run ${id} neither ended nor asked within 10 s`);
  }

  /** A run from start to its end or its first question. */
  async ask(message: string, more: Record<string, unknown> = {}): Promise<string> {
    const { run_id } = await this.chat(message, more);
    await this.settled(run_id);
    return run_id;
  }
}
