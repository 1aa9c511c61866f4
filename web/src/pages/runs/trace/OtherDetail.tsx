import { Link } from "@tanstack/react-router";
import { type Key, useT } from "@/i18n";
import { Badge, DiffView, Facts, formatDuration, isDiff, JsonView, RiskBadge } from "@/ui";
import { Part, Text } from "../parts/Fold";
import { useOutcomeText, useWord } from "../parts/Labels";
import { useConnectionName } from "./Attempts";
import { Given } from "./Passages";
import type { ApprovalNode, FinishNode, NoteNode, StartNode } from "./nodes";

export function StartDetail({ node }: { node: StartNode }) {
  const t = useT("runs");
  const word = useWord();
  const m = useT("models");
  const nameOf = useConnectionName();
  const { setup } = node;
  return (
    <>
      <Part title={t("request")} copy={setup.input}><Text plain text={setup.input} /></Part>
      <Given setup={setup} />
      {setup.route && (
        <Part title={t("sec_route")} note={m(`task_${setup.route.task}` as Key<"models">)}>
          <p className="text-base wrap-anywhere">{setup.route.targets.map((id, index) => <span key={id}>{index > 0 && <span className="text-ink-3"> → </span>}{nameOf(id)}</span>)}</p>
          <p className="text-sm text-ink-3 wrap-anywhere">{setup.route.reason}</p>
        </Part>
      )}
      {setup.hint && <p className="text-sm text-ink-2 wrap-anywhere">{t("hint", { hint: m(`hint_${setup.hint.hint}`), words: setup.hint.words.join(", ") })}</p>}
      <Part title={t("sec_instructions")} closed copy={setup.agent.instructions}><Text plain text={setup.agent.instructions || "–"} /></Part>
      <Part title={t("sec_tools")} note={setup.tools.length} closed>
        <ul className="flex flex-wrap gap-1.5">{setup.tools.map((tool) => <li key={tool.name} title={tool.description}><Badge tone={tool.risk === "read" ? "neutral" : tool.risk === "destructive" ? "bad" : "warn"}><code className="font-mono">{tool.name}</code></Badge></li>)}</ul>
      </Part>
      {setup.history.length > 0 && <Part title={t("sec_history")} note={setup.history.length} closed><JsonView value={setup.history} /></Part>}
      <Part title={t("sec_setup")} closed>
        <Facts className="text-sm" items={[[t("fact_mode"), word("mode_", setup.mode)], [t("fact_model"), setup.model], [t("fact_asked"), setup.asked_by], ["workspace", <code key="w" className="font-mono">{setup.workspace}</code>], ["capabilities", <code key="c" className="font-mono">{JSON.stringify(setup.capabilities)}</code>]]} />
      </Part>
    </>
  );
}

export function ApprovalDetail({ node }: { node: ApprovalNode }) {
  const t = useT("runs");
  const { subject, answer } = node;
  return (
    <>
      {subject.kind === "call" && (
        <Part title={subject.preview.summary} note={<RiskBadge risk={subject.risk} />}>
          {subject.preview.detail ? isDiff(subject.preview.detail) ? <DiffView diff={subject.preview.detail} /> : <Text text={subject.preview.detail} /> : <JsonView value={subject.arguments} />}
        </Part>
      )}
      {subject.kind === "plan" &&
        subject.previews.map((preview) => (
          <Part key={preview.step} title={`${preview.step + 1}. ${preview.preview.summary}`} note={<RiskBadge risk={preview.risk} />}>
            {preview.preview.detail && (isDiff(preview.preview.detail) ? <DiffView diff={preview.preview.detail} /> : <Text text={preview.preview.detail} />)}
          </Part>
        ))}
      {subject.kind === "uncertain" && <Part title={t("sec_arguments")}><JsonView value={subject.arguments} /></Part>}
      {subject.kind === "question" && <Text plain text={subject.text} />}
      {answer ? (
        <p className="text-base wrap-anywhere">
          <strong className="font-semibold">{t(`answer_${answer.decision}`)}</strong> {node.by && t("by", { name: node.by })}
          {answer.decision === "approve" && answer.grant && <span className="text-ink-2"> {t("with_grant")}</span>}
          {answer.decision === "deny" && answer.reason && <span className="text-ink-2">: {answer.reason}</span>}
          {answer.decision === "feedback" && <span className="text-ink-2">: {answer.text}</span>}
          {node.end !== null && <span className="text-ink-3"> · {t("parked_for", { time: formatDuration(node.end - node.at) })}</span>}
        </p>
      ) : (
        <p><Link to="/approvals" search={{ id: node.id }} className="text-base font-medium text-accent-ink hover:underline">{t("decide_now")}</Link></p>
      )}
    </>
  );
}

export function NoteDetail({ node }: { node: NoteNode }) {
  const t = useT("runs");
  return (
    <>
      {node.text && <Text plain text={node.text} />}
      {node.by && <p className="text-sm text-ink-3">{t("by", { name: node.by })}</p>}
    </>
  );
}

export function FinishDetail({ node }: { node: FinishNode }) {
  const t = useT("runs");
  const why = useOutcomeText()(node.outcome);
  return (
    <>
      {why && <p className="rounded-md bg-warn-soft px-3 py-2 text-base wrap-anywhere">{why}</p>}
      <Part title={t("answer")} copy={node.answer} note={node.composed ? t("answer_composed") : undefined}>{node.answer ? <Text plain text={node.answer} /> : <p className="text-sm text-ink-3">{t("no_answer")}</p>}</Part>
    </>
  );
}
