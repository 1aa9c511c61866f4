import { useT } from "@/i18n";
import { cx } from "@/ui";
import type { Node } from "./nodes";
import { moveByKeys, SpanBar, StepButton, StepDetail, StepText, StepTime, type View } from "./Step";

function Branch({ nodes, view, depth }: { nodes: readonly Node[]; view: View; depth: number }) {
  return (
    <ul className={cx("flex min-w-0 flex-col", depth > 0 && "ml-3.5 border-l border-line pl-2 max-md:ml-2.5 max-md:pl-1")}>
      {nodes.map((node) => (
        <li key={node.key} className="min-w-0">
          <StepButton node={node} view={view}>
            {(line) => (
              <>
                <span aria-hidden className={cx("shrink-0 [&>svg]:size-4", line.badge?.tone === "bad" ? "text-bad" : node.kind === "model" ? "text-accent-ink" : "text-ink-3")}>{line.icon}</span>
                <StepText line={line} />
                <SpanBar node={node} axis={view.axis} now={view.now} className="w-40 shrink-0 max-lg:hidden" />
                <StepTime node={node} now={view.now} className="w-20 whitespace-nowrap" />
              </>
            )}
          </StepButton>
          <StepDetail node={node} view={view} />
          {node.children.length > 0 && <Branch nodes={node.children} view={view} depth={depth + 1} />}
        </li>
      ))}
    </ul>
  );
}

/** Run → steps → calls and questions to people. */
export function Tree({ roots, view }: { roots: readonly Node[]; view: View }) {
  const t = useT("runs");
  return <div role="group" aria-label={t("view_tree")} onKeyDown={moveByKeys}><Branch nodes={roots} view={view} depth={0} /></div>;
}
