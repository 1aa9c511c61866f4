import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "./paths.ts";
import { Program } from "./process.ts";
import { Weir } from "./weir.ts";

// The format of crates/testkit/src/model_server/script.rs.
export type Call = { name: string; arguments: unknown };
export type Reply = { text?: string; reasoning?: string; calls?: Call[]; piece?: number; first_ms?: number; piece_ms?: number; usage?: { prompt: number; cached: number; completion: number } };
export type Behaviour = ({ kind: "reply" } & Reply) | { kind: "status"; status: number; body?: unknown } | { kind: "hang_after_headers" };
export type Rule = { contains: string; role?: string; times?: number; then: Behaviour };
export type Script = { models?: string[]; rules?: Rule[]; replies?: Behaviour[]; otherwise?: Behaviour };

const usage = { prompt: 400, cached: 120, completion: 30 };

/** An answer of text; `pieces`: of so many characters, so many ms apart. */
export const text = (answer: string, pieces?: { piece: number; ms?: number }, more: Reply = {}): Behaviour => ({
  kind: "reply",
  text: answer,
  usage,
  ...(pieces && { piece: pieces.piece, ...(pieces.ms && { piece_ms: pieces.ms }) }),
  ...more,
});
/** An answer that calls tools. */
export const calls = (...list: [name: string, args: unknown][]): Behaviour => ({ kind: "reply", usage, calls: list.map(([name, args]) => ({ name, arguments: args })) });
/** A plan as a model writes it. */
export const plan = (...steps: [tool: string, args: unknown, thought?: string][]): Behaviour =>
  text(JSON.stringify(steps.map(([tool, args, thought]) => ({ thought: thought ?? `use ${tool}`, tool, args }))));
/** A rule for a request whose last message holds a text. */
export const when = (contains: string, then: Behaviour, more: Partial<Rule> = {}): Rule => ({ contains, then, ...more });
/** A rule for the request after a tool's result. */
export const afterTool = (contains: string, then: Behaviour, more: Partial<Rule> = {}): Rule => ({ contains, role: "tool", then, ...more });

type Seen = { requests: { method: string; path: string; headers?: Record<string, string>; body: { model?: string; messages?: { role: string; content: unknown }[] } }[]; violations: string[] };

/** A scripted model server, whose answers can be held. */
export class Model {
  private constructor(
    private readonly program: Program,
    private readonly dir: string,
    /** Of the scripted model itself. */
    readonly port: number,
    private readonly weir: Weir,
  ) {}

  static async start(script: Script): Promise<Model> {
    const dir = await mkdtemp(join(tmpdir(), "steward-model-"));
    const file = join(dir, "script.json");
    await writeFile(file, JSON.stringify({ models: ["scripted"], otherwise: text("I have nothing to say to that."), ...script }));
    const program = new Program(scriptedModel, [file, "--until-stdin-ends"], {}, dir);
    const [, port] = await program.match(/^(\d+)\n/m);
    return new Model(program, dir, Number(port), await Weir.start(Number(port)));
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.weir.port}/v1`;
  }

  /** Answers stop once they have said this, until {@link release} or another mark. They need small pieces. */
  hold(mark: string): void {
    this.weir.hold(mark);
  }

  release(): void {
    this.weir.hold(null);
  }

  /** How many requests were given up before their answer had ended. */
  get disconnects(): number {
    return this.weir.disconnects;
  }

  /** What it saw: requests and violations. */
  async state(): Promise<Seen> {
    return (await (await fetch(`http://127.0.0.1:${this.port}/_scripted/state`)).json()) as Seen;
  }

  async chats(): Promise<Seen["requests"]> {
    return (await this.state()).requests.filter((request) => request.path === "/v1/chat/completions");
  }

  async stop(): Promise<void> {
    this.weir.stop();
    await this.program.end("SIGKILL");
    await rm(this.dir, { recursive: true, force: true });
  }
}
