import { type IncomingMessage, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Stands before the scripted model and passes everything on, event by event. An answer stops where a test says so, and
 * goes on when it says so: what happens in mid-answer depends on no clock. */
export class Weir {
  /** Requests that were given up before their answer had ended. */
  disconnects = 0;
  private mark: string | null = null;
  private waiting: (() => void)[] = [];
  private readonly server;

  private constructor(private readonly model: number) {
    this.server = createServer((from, to) => this.pass(from, to));
    // A kept connection that ends just as it is used again would be a fault of its own.
    this.server.keepAliveTimeout = 0;
  }

  static async start(model: number): Promise<Weir> {
    const weir = new Weir(model);
    await new Promise<void>((ready) => weir.server.listen(0, "127.0.0.1", ready));
    return weir;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on an answer stops after the event that completes this text; `null`: none does. */
  hold(mark: string | null): void {
    this.mark = mark;
    for (const wake of this.waiting.splice(0)) wake();
  }

  stop(): void {
    this.hold(null);
    this.server.close();
    this.server.closeAllConnections();
  }

  private pass(from: IncomingMessage, to: ServerResponse): void {
    const { method, url, headers } = from;
    const further = request({ host: "127.0.0.1", port: this.model, method, path: url, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      to.flushHeaders();
      this.pour(answer, to).catch(() => to.destroy());
    });
    further.on("error", () => to.destroy());
    to.on("close", () => {
      if (!to.writableFinished) this.disconnects += 1;
      further.destroy();
      for (const wake of this.waiting.splice(0)) wake();
    });
    from.pipe(further);
  }

  private async pour(answer: IncomingMessage, to: ServerResponse): Promise<void> {
    let said = "";
    let rest = "";
    for await (const piece of answer.setEncoding("utf8")) {
      rest += piece;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const event = rest.slice(0, end + 2);
        rest = rest.slice(end + 2);
        to.write(event);
        said += /"content":"((?:[^"\\]|\\.)*)"/.exec(event)?.[1] ?? "";
        while (this.mark !== null && said.includes(this.mark) && !to.destroyed) await new Promise<void>((wake) => this.waiting.push(wake));
      }
    }
    to.end(rest);
  }
}
