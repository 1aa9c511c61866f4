use crate::error::{ToolsError, refused};
use crate::facts::{Keeper, owner_of, settle_text, snapshot, writable_owner_of};
use crate::handler::{Context, ToolHandler};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::hash;
use steward_core::ports::{Interrupted, Memory, StoreError, ToolScope};
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, UPDATE_DB_SCHEMA, Undo};

/// Longest documentation, characters.
pub const MAX_DOC_CHARS: usize = 8000;
/// Tries while other runs change it.
const TRIES: usize = 200;

/// Replaces what the agent has written down about its tables.
pub struct UpdateDbSchema(pub Keeper);

#[derive(Debug, Clone, Deserialize)]
pub struct SchemaArgs {
    schema: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    before: String,
    after: String,
}

fn checked(args: &SchemaArgs) -> Result<String, ToolsError> {
    let text = args.schema.trim();
    let length = text.chars().count();
    if length > MAX_DOC_CHARS {
        return Err(refused!(
            "the documentation would have {length} characters, at most {MAX_DOC_CHARS} fit; nothing was saved: \
             describe each table in fewer words"
        ));
    }
    Ok(text.to_owned())
}

impl UpdateDbSchema {
    async fn find_written(&self, proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
        let kept: Kept = snapshot(proof)?;
        let now = self.0.facts.database_doc(scope.tenant, scope.agent, owner_of(scope)?).await?.text;
        Ok(settle_text("the documentation", Some(&now), Some(&kept.before), &kept.after))
    }
}

impl ToolHandler for UpdateDbSchema {
    type Args = SchemaArgs;
    const NAME: &'static str = UPDATE_DB_SCHEMA;

    async fn preview(&self, args: SchemaArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let after = checked(&args)?;
        let of = writable_owner_of(&*self.0.editors, scope).await?;
        let before = self.0.facts.database_doc(scope.tenant, scope.agent, of).await?.text;
        Ok(Preview::undoable(
            if before == after {
                "this is the documentation already".to_owned()
            } else {
                format!("replaces what it wrote down about its tables ({} characters)", before.chars().count())
            },
            Some(after),
        ))
    }

    async fn run(&self, args: SchemaArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let (scope, facts) = (&context.scope, &self.0.facts);
        let of = writable_owner_of(&*self.0.editors, scope).await?;
        let after = checked(&args)?;
        for _ in 0..TRIES {
            context.check()?;
            let Memory { text: before, version, provenance: kept_from } =
                facts.database_doc(scope.tenant, scope.agent, of).await?;
            let kept = json!(Kept { before: before.clone(), after: after.clone() });
            let output = output(&after, &kept);
            if after != before {
                context.stage(&output, kept).await?;
                let mut provenance = scope.provenance.clone();
                provenance.join(&kept_from);
                let doc = Memory { text: after.clone(), version, provenance };
                match facts.save_database_doc(scope.tenant, scope.agent, of, &doc).await {
                    Ok(()) => {}
                    Err(StoreError::Conflict(_)) => continue,
                    Err(error) => return Err(ToolsError::from(error)),
                }
            }
            return Ok(output);
        }
        Err(ToolsError::refused("other runs keep changing the documentation; try again in a moment"))
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("the documentation had not been written".to_owned());
        };
        self.find_written(&staged.proof, scope).await.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: Kept = snapshot(value)?;
        let changed = || ToolsError::ChangedSince { what: "the documentation".to_owned(), hint: "edit it by hand" };
        let (facts, of) = (&self.0.facts, writable_owner_of(&*self.0.editors, scope).await?);
        let now = facts.database_doc(scope.tenant, scope.agent, of).await?;
        if now.text != kept.after {
            return Err(changed());
        }
        let before = Memory { text: kept.before, ..now };
        match facts.save_database_doc(scope.tenant, scope.agent, of, &before).await {
            Ok(()) => Ok("restored what it had written down about its tables".to_owned()),
            Err(StoreError::Conflict(_)) => Err(changed()),
            Err(error) => Err(ToolsError::from(error)),
        }
    }
}

fn output(after: &str, kept: &Value) -> ToolOutput {
    let length = after.chars().count();
    let data = json!({"success": true, "message": format!("saved ({length} of {MAX_DOC_CHARS} characters length)")});
    let evidence = format!("sha256:{}", hash::sha256(after.as_bytes()));
    ToolOutput {
        receipt: Some(Receipt::new("changed", "the documentation of the agent's tables", Some(evidence))),
        undo: Some(Undo::Snapshot { tool: UPDATE_DB_SCHEMA.to_owned(), snapshot: kept.clone() }),
        data: Some(data.clone()),
        ..ToolOutput::text(data.to_string())
    }
}
