use serde_json::json;
use steward_core::RunId;
use steward_core::event::{Event, EventBody};

pub fn report(run: RunId, log: &[Event]) -> serde_json::Value {
    let mut plan = serde_json::Value::Null;
    let mut steps = Vec::new();
    let mut end = json!({"status": "waiting"});
    for event in log {
        match &event.body {
            EventBody::PlanProposed { candidates, .. } => {
                plan = candidates.first().map_or(json!(null), |best| json!(best));
            }
            EventBody::ToolIntent { call_id, tool, arguments, .. } => {
                steps.push(json!({"call_id": call_id, "tool": tool, "arguments": arguments}));
            }
            EventBody::ToolResult { call_id, tool, result, ms, evidence } => {
                let found = steps.iter_mut().rev().find(|step| step["call_id"] == json!(call_id));
                match found {
                    Some(step) => {
                        step["result"] = json!(result);
                        step["ms"] = json!(ms);
                        if let Some(evidence) = evidence {
                            step["evidence"] = json!(evidence);
                        }
                    }
                    None => steps.push(json!({"call_id": call_id, "tool": tool, "result": result})),
                }
            }
            EventBody::RunFinished { outcome, answer, composed, usage, receipts } => {
                end = json!({"outcome": outcome, "answer": answer, "composed": composed, "usage": usage, "receipts": receipts});
            }
            _ => {}
        }
    }
    let mut report = json!({"run": run, "plan": plan, "steps": steps});
    if let (Some(report), Some(end)) = (report.as_object_mut(), end.as_object()) {
        report.extend(end.clone());
    }
    report
}
