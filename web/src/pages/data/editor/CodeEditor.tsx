// Loaded with the first text that is opened.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { TextReport } from "@/api/types";
import { replacement } from "./docs";
import { oos } from "./language";
import { checks, completions, hovers } from "./service";

export type Handle = {
  /** Makes another text of it; it can be taken back, and the cursor stays. */
  replace: (text: string) => void;
  /** Puts the cursor somewhere and shows it. */
  goTo: (offset: number) => void;
  /** Where the cursor is, and the name at it. */
  at: () => { offset: number; word: string };
};

type Props = {
  /** The text at first; another one is another editor (`key`). */
  text: string;
  label: string;
  handle: Ref<Handle>;
  onChange: (text: string) => void;
  onCursor: (offset: number) => void;
  onReport: (report: TextReport | null, error?: unknown) => void;
  onRename: () => void;
  onSave: () => void;
};

/** CodeMirror in a shadow root: there its styles are adopted sheets, which the content security policy allows, and no `<style>`. */
export default function CodeEditor({ text, label, handle, ...on }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const told = useRef(on);
  told.current = on;
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const command = (run: () => void) => () => (run(), true);
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          highlightActiveLineGutter(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ override: [completions] }),
          highlightActiveLine(),
          highlightSelectionMatches(),
          // Tab leaves the editor, as everywhere on the page.
          keymap.of([
            { key: "F2", run: command(() => told.current.onRename()) },
            { key: "Mod-s", run: command(() => told.current.onSave()), preventDefault: true },
            ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap,
          ]),
          checks((report, error) => told.current.onReport(report, error)),
          hovers,
          oos,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) told.current.onChange(update.state.doc.toString());
            if (update.docChanged || update.selectionSet) told.current.onCursor(update.state.selection.main.head);
          }),
        ],
      }),
    });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
    };
    // One editor for one text: it holds what is typed itself.
  }, []);
  useImperativeHandle(handle, () => ({
    replace: (next) => {
      const view = editor.current;
      const change = view && replacement(view.state.doc.toString(), next);
      if (change) view.dispatch({ changes: change, scrollIntoView: true });
    },
    goTo: (offset) => {
      const view = editor.current;
      if (!view) return;
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    at: () => {
      const view = editor.current;
      if (!view) return { offset: 0, word: "" };
      const offset = view.state.selection.main.head;
      const word = view.state.wordAt(offset);
      return { offset, word: word ? view.state.sliceDoc(word.from, word.to) : "" };
    },
  }), []);
  return <div ref={place} className="h-full min-h-0" />;
}
