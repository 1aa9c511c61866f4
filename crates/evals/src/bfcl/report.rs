use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward::term::Term;

#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub id: String,
    /// What was called: `[{name: arguments}]`.
    pub called: Vec<Value>,
    pub right: bool,
    pub why: String,
    pub ms: u64,
}

#[derive(Debug, Deserialize)]
pub struct Verdict {
    pub id: String,
    pub right: bool,
    pub why: String,
}

pub fn judge(findings: &mut [Finding], verdicts: &[Verdict]) {
    for finding in findings {
        if let Some(verdict) = verdicts.iter().find(|verdict| verdict.id == finding.id) {
            finding.right = verdict.right;
            if !verdict.right && finding.why.is_empty() {
                finding.why.clone_from(&verdict.why);
            }
        }
    }
}

pub fn print(category: &str, findings: &[Finding], as_json: bool, term: Term) {
    let right = findings.iter().filter(|finding| finding.right).count();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand cases")]
    let accuracy = right as f64 / findings.len().max(1) as f64;
    if as_json {
        println!(
            "{}",
            json!({"category": category, "cases": findings.len(), "accuracy": accuracy, "results": findings})
        );
        return;
    }
    for finding in findings {
        let mark = if finding.right { term.green("✓") } else { term.red("✗") };
        println!(
            "{mark} {:<24} {:>6} ms  {}{}",
            finding.id,
            finding.ms,
            Value::from(finding.called.clone()),
            if finding.right { String::new() } else { format!("  [{}]", finding.why) }
        );
    }
    println!("{category}: {right} of {} right ({:.1} %)", findings.len(), accuracy * 100.0);
}
