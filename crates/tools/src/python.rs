//! `python`: a short program in the sandbox's interpreter, which can do nothing but compute.

use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use crate::skills::{PythonProgram, PythonRunner, compute, value_text};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::tool::{Preview, ToolOutput};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Memory beyond what the interpreter has anyway.
const MEMORY_MIB: u32 = 128;

pub struct Python(Arc<dyn PythonRunner>);

impl Python {
    pub fn new(runner: Arc<dyn PythonRunner>) -> Self {
        Self(runner)
    }
}

#[derive(Debug, Deserialize)]
pub struct PythonArgs {
    code: String,
    #[serde(default)]
    payload: Option<Value>,
}

fn has_entry(code: &str) -> bool {
    code.lines().any(|line| {
        line.strip_prefix("def run")
            .and_then(|rest| rest.trim_start().strip_prefix('('))
            .is_some_and(|rest| !rest.trim_start().starts_with(')'))
    })
}

/// The program with an entry function. It is appended, so that line numbers in errors stay right.
fn with_entry(code: &str) -> Cow<'_, str> {
    if has_entry(code) {
        return Cow::Borrowed(code);
    }
    // Scripts test for `__main__`, but the interpreter's module has another name.
    let script = code.replace("\"__main__\"", "__name__").replace("'__main__'", "__name__");
    Cow::Owned(format!("{script}\n\ndef run(payload):\n    return None\n"))
}

impl ToolHandler for Python {
    type Args = PythonArgs;
    const NAME: &'static str = "python";

    async fn preview(&self, args: PythonArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(Preview {
            summary: "computes in Python; it can reach no file and no network".to_owned(),
            detail: Some(args.code),
            reversible: true,
            ..Preview::default()
        })
    }

    async fn run(&self, args: PythonArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let program = PythonProgram {
            code: &with_entry(&args.code),
            payload: &args.payload.unwrap_or_else(|| json!({})),
            wall: TIMEOUT,
            memory_mib: MEMORY_MIB,
        };
        let (value, printed) = compute(self.0.as_ref(), program, context).await?;
        let text = match (&value, printed.is_empty()) {
            (Value::Null, true) => {
                return Err(ToolsError::refused(
                    "the program ran and printed nothing; print the result, or return it from `def run(payload)`",
                ));
            }
            (Value::Null, false) => printed,
            (value, true) => value_text(value),
            (value, false) => format!("{printed}\n{}", value_text(value)),
        };
        Ok(ToolOutput { data: Some(value).filter(|value| !value.is_null()), ..ToolOutput::text(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::{has_entry, with_entry};

    #[test]
    fn scripts_get_an_entry_and_keep_their_lines() {
        assert!(has_entry("import math\ndef run(payload):\n    return 1"));
        assert!(has_entry("def run (p, x=1): return p"));
        for script in ["print(1)", "def run():\n  pass\nrun()", "x = 'def run(payload)'", "  def run(a): pass"] {
            assert!(!has_entry(script), "{script}");
            assert!(with_entry(script).starts_with(script.lines().next().unwrap_or_default()));
        }
        assert!(with_entry("if __name__ == '__main__':\n  main()").starts_with("if __name__ == __name__:"));
    }
}
