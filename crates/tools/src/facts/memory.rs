use super::{Keeper, owner_of, settle_text, snapshot, writable_owner_of};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::hash;
use steward_core::ports::{Interrupted, Memory, StoreError, ToolScope};
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, Undo};

/// Longest memory, characters.
pub const MAX_MEMORY_CHARS: usize = 4000;
/// Tries while other runs change it: each that fails means that one of theirs was saved.
const TRIES: usize = 200;

pub struct SaveMemory(pub Keeper);

#[derive(Debug, Clone, Deserialize)]
pub struct MemoryArgs {
    text: String,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Append,
    Replace,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    before: String,
    after: String,
}

/// The memory after the change; unchanged if the text is there already.
fn merged(args: &MemoryArgs, before: &str) -> Result<String, ToolsError> {
    let text = args.text.trim();
    let after = match args.mode {
        Mode::Replace => text.to_owned(),
        _ if text.is_empty() => {
            return Err(ToolsError::refused("there is nothing to remember; give a text"));
        }
        // A repeat after a crash must not add it twice.
        Mode::Append if holds(before, text) => before.to_owned(),
        Mode::Append if before.is_empty() => text.to_owned(),
        Mode::Append => format!("{}\n{text}", before.trim_end_matches('\n')),
    };
    let length = after.chars().count();
    if length > MAX_MEMORY_CHARS && after != before {
        return Err(refused!(
            "the memory would have {length} characters, at most {MAX_MEMORY_CHARS} fit; nothing was saved: \
             write it shorter with mode replace, keeping what still matters"
        ));
    }
    Ok(after)
}

fn holds(memory: &str, text: &str) -> bool {
    format!("\n{memory}\n").contains(&format!("\n{text}\n"))
}

impl SaveMemory {
    async fn find_written(&self, proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
        let kept: Kept = snapshot(proof)?;
        let now = self.0.facts.memory(scope.tenant, scope.agent, owner_of(scope)?).await?.text;
        Ok(settle_text("the memory", Some(&now), Some(&kept.before), &kept.after))
    }
}

impl ToolHandler for SaveMemory {
    type Args = MemoryArgs;
    const NAME: &'static str = "save_memory";

    async fn preview(&self, args: MemoryArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let of = writable_owner_of(&*self.0.editors, scope).await?;
        let before = self.0.facts.memory(scope.tenant, scope.agent, of).await?.text;
        let after = merged(&args, &before)?;
        Ok(Preview::undoable(
            match args.mode {
                _ if before == after => "this is in the memory already".to_owned(),
                Mode::Append => format!("remembers: {}", args.text.trim()),
                Mode::Replace => {
                    format!("replaces the memory ({} characters)", before.chars().count())
                }
            },
            Some(after),
        ))
    }

    async fn run(&self, args: MemoryArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let (facts, of) = (&self.0.facts, writable_owner_of(&*self.0.editors, scope).await?);
        for _ in 0..TRIES {
            context.check()?;
            let Memory { text: before, version, provenance: kept_from } =
                facts.memory(scope.tenant, scope.agent, of).await?;
            let after = merged(&args, &before)?;
            let kept = json!(Kept { before: before.clone(), after: after.clone() });
            let output = ToolOutput { provenance: kept_from.clone(), ..output(&args, &before, &after, &kept) };
            if after != before {
                context.stage(&output, kept).await?;
                let mut provenance = scope.provenance.clone();
                // The run has had the old text before its eyes, so even a whole new one may derive from it.
                provenance.join(&kept_from);
                let memory = Memory { text: after, version, provenance };
                match facts.save_memory(scope.tenant, scope.agent, of, &memory).await {
                    Ok(()) => {}
                    Err(StoreError::Conflict(_)) => continue,
                    Err(error) => return Err(ToolsError::from(error)),
                }
            }
            return Ok(output);
        }
        Err(ToolsError::refused("other runs keep changing the memory; try again in a moment"))
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("the memory had not been written".to_owned());
        };
        self.find_written(&staged.proof, scope).await.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: Kept = snapshot(value)?;
        let changed = || ToolsError::ChangedSince { what: "the memory".to_owned(), hint: "edit it by hand" };
        let (facts, of) = (&self.0.facts, writable_owner_of(&*self.0.editors, scope).await?);
        let now = facts.memory(scope.tenant, scope.agent, of).await?;
        if now.text != kept.after {
            return Err(changed());
        }
        match facts.save_memory(scope.tenant, scope.agent, of, &Memory { text: kept.before, ..now }).await {
            Ok(()) => Ok("restored the memory as it was before".to_owned()),
            Err(StoreError::Conflict(_)) => Err(changed()),
            Err(error) => Err(ToolsError::from(error)),
        }
    }
}

fn output(args: &MemoryArgs, before: &str, after: &str, kept: &Value) -> ToolOutput {
    let used = after.chars().count();
    let content = match args.mode {
        _ if before == after => format!("in the memory already: {}", args.text.trim()),
        Mode::Append => format!("remembered: {} ({used} of {MAX_MEMORY_CHARS} characters used)", args.text.trim()),
        Mode::Replace => format!("the memory is now ({used} of {MAX_MEMORY_CHARS} characters):\n{after}"),
    };
    ToolOutput {
        data: Some(json!({"memory": after})),
        receipt: Some(Receipt::new(
            "remembered",
            steward_core::tool::truncate(args.text.trim(), 200).0,
            Some(format!("sha256:{}", hash::sha256(after.as_bytes()))),
        )),
        undo: Some(Undo::Snapshot { tool: SaveMemory::NAME.to_owned(), snapshot: kept.clone() }),
        ..ToolOutput::text(content)
    }
}
