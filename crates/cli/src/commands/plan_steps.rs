use serde_json::{Value, json};
use steward_core::plan::PlanStep;

/// Parses a JSON array of steps as it streams in. Bad parts are skipped: the whole plan comes with its own event.
#[derive(Debug, Default)]
pub(super) struct PlanSteps {
    text: String,
    seen: usize,
    open: Vec<usize>,
    in_string: bool,
    escaped: bool,
    /// Number of brackets around the array of steps.
    array: Option<usize>,
    found: bool,
}

impl PlanSteps {
    pub fn push(&mut self, text: &str) -> Vec<PlanStep> {
        self.text.push_str(text);
        let mut steps = Vec::new();
        for at in self.seen..self.text.len() {
            let byte = self.text.as_bytes()[at];
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                // In prose around the plan a quotation mark may mean anything.
                b'"' => self.in_string = !self.open.is_empty(),
                b'[' | b'{' => {
                    if byte == b'[' && self.array.is_none() {
                        self.array = Some(self.open.len());
                    }
                    self.open.push(at);
                }
                b']' | b'}' => steps.extend(self.close(at)),
                _ => {}
            }
        }
        self.seen = self.text.len();
        self.found |= !steps.is_empty();
        steps
    }

    fn close(&mut self, at: usize) -> Option<PlanStep> {
        let start = self.open.pop()?;
        if self.array == Some(self.open.len()) && !self.found {
            // This was another bracket.
            self.array = None;
        }
        let within = self.array.is_some_and(|array| self.open.len() == array + 1);
        if within { step(&self.text[start..=at]) } else { None }
    }
}

fn step(text: &str) -> Option<PlanStep> {
    let value: Value = serde_json::from_str(text).ok()?;
    Some(PlanStep {
        tool: value["tool"].as_str()?.to_owned(),
        args: value.get("args").cloned().unwrap_or(json!({})),
        thought: value["thought"].as_str().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::PlanSteps;

    fn tools(pieces: impl Iterator<Item = String>) -> Vec<String> {
        let mut reader = PlanSteps::default();
        pieces.flat_map(|piece| reader.push(&piece)).map(|step| format!("{} {}", step.tool, step.args)).collect()
    }

    #[test]
    fn steps_come_when_they_are_whole_wherever_the_text_is_cut() {
        let plan = r#"Say "what [1] you like: {"plan": [{"thought": "a \"}]", "tool": "read", "args": {"path": ["ü"]}}, {"tool": "final_answer"}]}"#;
        let expect = [r#"read {"path":["ü"]}"#, "final_answer {}"];
        assert_eq!(tools(std::iter::once(plan.to_owned())), expect);
        assert_eq!(tools(plan.chars().map(String::from)), expect);
        assert!(tools(std::iter::once(r#"no plan {"tool": "read"}, only ["words"]"#.to_owned())).is_empty());
    }
}
