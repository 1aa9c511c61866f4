// What the server knows of a text, as the editor asks for it.
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { type Diagnostic, linter } from "@codemirror/lint";
import { type EditorView, hoverTooltip } from "@codemirror/view";
import { textService } from "@/api/hooks";
import type { TextReport } from "@/api/types";

const PAUSE = 400;

/** Marks what is wrong once typing pauses. Nothing is marked while the server can't be asked: `onReport` is told why. */
export const checks = (onReport: (report: TextReport | null, error?: unknown) => void) =>
  linter(
    async (view): Promise<Diagnostic[]> => {
      const asked = view.state.doc;
      if (asked.length === 0) return onReport({ diagnostics: [], names: [] }), [];
      try {
        const report = await textService.check(asked.toString());
        // It was typed on meanwhile: that is checked next.
        if (view.state.doc !== asked) return [];
        onReport(report);
        return report.diagnostics.map((one) => {
          const from = Math.min(one.from, asked.length);
          return { from, to: Math.min(Math.max(one.to, from), asked.length), severity: one.error ? "error" : "warning", message: one.message, renderMessage: () => messageOf(one.message, one.hint) };
        });
      } catch (error) {
        onReport(null, error);
        return [];
      }
    },
    { delay: PAUSE },
  );

function messageOf(message: string, hint: string | null): HTMLElement {
  const box = document.createElement("span");
  box.append(...inline(message));
  if (hint) {
    const line = document.createElement("span");
    line.className = "cm-hint";
    line.append(...inline(hint));
    box.append(line);
  }
  return box;
}

/** `code` and **strong** of a short text; everything else is text. */
function inline(text: string): Node[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    const code = /^`(.+)`$/.exec(part);
    const strong = /^\*\*(.+)\*\*$/.exec(part);
    if (!code && !strong) return document.createTextNode(part);
    const element = document.createElement(code ? "code" : "strong");
    element.textContent = (code ?? strong)![1]!;
    return element;
  });
}

const ICONS: Record<string, string> = { keyword: "keyword", word: "keyword", domain: "class", view: "class", field: "property", column: "property", table: "namespace", datasource: "namespace", kind: "type", operator: "function", right: "enum", role: "enum", relation: "interface", meta: "interface", snippet: "text", value: "constant" };

export async function completions(context: CompletionContext): Promise<CompletionResult | null> {
  // After a letter, after what a name follows on, or when asked to.
  if (!context.explicit && !context.matchBefore(/[\p{L}_\d]+$|[:@.=>,{"]\s?$|\s$/u)) return null;
  const stop = new AbortController();
  context.addEventListener("abort", () => stop.abort());
  const found = await textService.complete({ text: context.state.doc.toString(), offset: context.pos }, stop.signal).catch(() => []);
  const first = found[0];
  if (!first || context.aborted) return null;
  return {
    from: first.from,
    to: Math.max(first.to, context.pos),
    options: found.filter((one) => one.from === first.from).map((one, at) => ({ label: one.label, apply: one.insert, type: ICONS[one.kind] ?? "text", boost: -at, ...(one.detail.length <= 48 ? { detail: one.detail } : { info: one.detail }) })),
    validFor: /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u,
  };
}

export const hovers = hoverTooltip(async (view: EditorView, at: number) => {
  const found = await textService.hover({ text: view.state.doc.toString(), offset: at }).catch(() => null);
  if (!found?.text.trim()) return null;
  return {
    pos: Math.min(found.from, view.state.doc.length),
    end: Math.min(Math.max(found.to, found.from), view.state.doc.length),
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-hover";
      dom.append(...inline(found.text.replace(/^```\w*\n?|```$/gm, "").trim()));
      return { dom };
    },
  };
});
