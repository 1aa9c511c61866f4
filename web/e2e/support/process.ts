import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A child process whose lines are kept. */
export class Program {
  readonly child: ChildProcess;
  said = "";
  private readonly heard = new Set<() => void>();

  constructor(file: string, args: string[], env: NodeJS.ProcessEnv, cwd: string) {
    // Standard input stays open: the scripted model ends with it, also if the tests are killed.
    this.child = spawn(file, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.said += text;
        for (const wake of this.heard) wake();
      });
    }
    // Also if the tests are cut off: no server is left behind.
    const kill = () => this.child.kill("SIGKILL");
    process.once("exit", kill);
    this.child.on("exit", () => {
      process.off("exit", kill);
      for (const wake of this.heard) wake();
    });
  }

  /** The first match in what it printed. A start takes a second or two on a quiet machine. */
  async match(pattern: RegExp, ms = 120_000): Promise<RegExpMatchArray> {
    const until = Date.now() + ms;
    for (;;) {
      const found = this.said.match(pattern);
      if (found) return found;
      if (this.child.exitCode !== null) throw new Error(`it ended with ${this.child.exitCode}:\n${this.said}`);
      if (Date.now() > until) throw new Error(`it did not print ${pattern} within ${ms} ms:\n${this.said}`);
      await new Promise<void>((wake) => {
        const done = () => {
          clearTimeout(timer);
          this.heard.delete(done);
          wake();
        };
        const timer = setTimeout(done, 100);
        this.heard.add(done);
      });
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    const late = setTimeout(() => this.child.kill("SIGKILL"), 60_000);
    await ended;
    clearTimeout(late);
  }
}
