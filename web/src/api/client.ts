// The way to the server: a bearer token from memory, one silent refresh for any number of calls and
// tabs, problems as typed errors, and a key on each write so that a repeat is not done twice.
import type { Problem, Session } from "./types";

export class ApiError extends Error {
  readonly status: number;
  /** What the user can do. */
  readonly hint: string | undefined;
  readonly code: string | undefined;
  readonly runId: string | undefined;
  readonly retryAfter: number | undefined;
  /** The field of the body, or the parameter, that is at fault: `limits.timeout_ms`. */
  readonly field: string | undefined;
  /** All fields at fault, where more than one may be. */
  readonly problems: readonly { field: string; title: string; hint: string }[];
  constructor(problem: Problem) {
    super(problem.title);
    this.name = "ApiError";
    this.status = problem.status;
    this.hint = problem.hint;
    this.code = problem.code;
    this.runId = problem.run_id;
    this.retryAfter = problem.retry_after;
    this.field = problem.field;
    this.problems = problem.errors ?? (problem.field ? [{ field: problem.field, title: problem.title, hint: problem.hint ?? "" }] : []);
  }
}

/** Why there is no answer at all. `status` 0. */
export const OFFLINE = "offline";

let token: string | null = null;
type Listener = (state: "in" | "out" | "expired") => void;
const listeners = new Set<Listener>();
const tell = (state: "in" | "out" | "expired") => {
  for (const listener of listeners) listener(state);
};
/** Hears of logins, logouts and sessions that ended. */
export const onAuth = (listener: Listener) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

// Not under node: an open channel keeps a test from ending.
const channel = typeof window === "undefined" || typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("steward.auth");
channel?.addEventListener("message", (message: MessageEvent<{ token: string | null }>) => {
  const had = token;
  token = message.data.token;
  if (token) tell("in");
  else if (had) tell("out");
});

/** Whether a session cookie may be there: the cookie itself can't be seen, and asking without one is an error in the console. */
const remember = (there: boolean) => {
  try {
    if (there) localStorage.setItem("steward.session", "1");
    else localStorage.removeItem("steward.session");
  } catch {
    // Storage is blocked: `maybeSession` says yes.
  }
};
export function maybeSession(): boolean {
  try {
    return localStorage.getItem("steward.session") === "1";
  } catch {
    return true;
  }
}

/** A provider leads back with a session's cookie, which nothing here can see. */
export const expectSession = () => {
  remember(true);
  try {
    localStorage.setItem("steward.known", "1");
  } catch {
    // Storage is blocked: a session is always asked for.
  }
};

/** Takes a session in, here and in the other tabs. */
export function setSession(session: Session | null): void {
  remember(session !== null);
  token = session?.access_token ?? null;
  channel?.postMessage({ token });
  tell(session ? "in" : "out");
}

/** The token, for the one way that is not `fetch` (upload.ts). */
export const bearer = (): string | null => token;

let refreshing: Promise<Session | null> | null = null;

/** Asks for a new access token once, however many calls and tabs want one. `null`: log in again. */
export function refresh(): Promise<Session | null> {
  refreshing ??= locked(async () => {
    const response = await send("/api/auth/refresh", { method: "POST", headers: { "x-steward": "1" } });
    if (response.ok) {
      const session = (await response.json()) as Session;
      token = session.access_token;
      channel?.postMessage({ token });
      tell("in");
      return session;
    }
    if (response.status === 401 || response.status === 403) {
      remember(false);
      return null;
    }
    throw await problemOf(response);
  }).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

const locked = <R>(work: () => Promise<R>): Promise<R> =>
  typeof navigator !== "undefined" && navigator.locks ? navigator.locks.request("steward.refresh", work) as Promise<R> : work();

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw problemFrom(0, {});
  }
}

let expired = false;
listeners.add((state) => {
  expired = state === "expired";
});

/** Waits until someone has logged in again; ends early when `signal` does, or on logout. */
const loggedIn = (signal: AbortSignal | null | undefined) =>
  new Promise<boolean>((resolve) => {
    const finish = (state: "in" | "out" | "expired") => {
      if (state === "expired") return;
      listeners.delete(finish);
      resolve(state === "in");
    };
    listeners.add(finish);
    signal?.addEventListener("abort", () => finish("out"), { once: true });
  });

/** `fetch` with the token. On 401 it is renewed once; if the session has ended, the call waits for the
 *  login dialog and then goes on, so that nothing is lost. */
export async function authorized(path: string, init: RequestInit = {}): Promise<Response> {
  const attempt = () => {
    const headers = new Headers(init.headers);
    if (token) headers.set("authorization", `Bearer ${token}`);
    return send(path, { ...init, headers });
  };
  if (expired && (await loggedIn(init.signal))) return attempt();
  const used = token;
  const first = await attempt();
  if (first.status !== 401) return first;
  // Another call or tab may have got a new one meanwhile.
  if (token && token !== used) {
    const second = await attempt();
    if (second.status !== 401) return second;
  }
  if (await refresh()) return attempt();
  token = null;
  tell("expired");
  return (await loggedIn(init.signal)) ? attempt() : first;
}

/** The problem in an answer that is not ok. */
export async function problemOf(response: Response): Promise<ApiError> {
  // Not JSON: a proxy's page perhaps.
  const body: unknown = await response.json().catch(() => ({}));
  return problemFrom(response.status, body, Number(response.headers.get("retry-after")) || undefined);
}

/** An error from a status and what came with it. Status 0: no answer; `ErrorState` has the words for it. */
export function problemFrom(status: number, body: unknown, retryAfter?: number): ApiError {
  if (status === 0) return new ApiError({ title: "The server can't be reached", status, code: OFFLINE });
  const problem = (typeof body === "object" && body !== null ? body : {}) as Partial<Problem>;
  const after = problem.retry_after ?? retryAfter;
  return new ApiError({ ...problem, title: problem.title ?? `The server answered ${status}`, status, ...(after ? { retry_after: after } : {}) });
}

type Query = Record<string, string | number | boolean | null | undefined>;
type Options = {
  query?: Query;
  body?: unknown;
  /** The same key for the same intention: a repeat gets the first answer. Made up if left out. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
};

/** A path with its query; what is null, undefined or empty is left out. */
export function pathOf(path: string, query?: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

const LOGINS = ["/api/auth/login", "/api/auth/setup", "/api/auth/invitation"];

async function call<R>(method: string, path: string, options: Options = {}): Promise<R> {
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  const raw = options.body instanceof Blob || options.body instanceof ArrayBuffer;
  if (options.body !== undefined && !raw) headers["content-type"] = "application/json";
  if (method !== "GET" && !path.startsWith("/api/auth/")) headers["idempotency-key"] = options.idempotencyKey ?? newKey();
  // Logging in is not helped by a refresh: a 401 there means wrong words.
  const way = LOGINS.includes(path) ? send : authorized;
  const response = await way(pathOf(path, options.query), {
    method,
    headers,
    ...(options.body === undefined ? {} : { body: raw ? (options.body as BodyInit) : JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  if (!response.ok) throw await problemOf(response);
  return (response.status === 204 ? undefined : await response.json()) as R;
}

/** A key for one intention. `crypto.randomUUID` needs https or localhost; this does not. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const api = {
  get: <R>(path: string, options?: Options) => call<R>("GET", path, options),
  post: <R>(path: string, options?: Options) => call<R>("POST", path, options),
  put: <R>(path: string, options?: Options) => call<R>("PUT", path, options),
  patch: <R>(path: string, options?: Options) => call<R>("PATCH", path, options),
  delete: <R = void>(path: string, options?: Options) => call<R>("DELETE", path, options),
};
