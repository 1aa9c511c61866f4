use super::executor::SkillCall;
use super::template::{self, Secrets, Values};
use super::{SkillRuntime, credential};
use crate::credential::{scrub_error, scrubber_of};
use crate::error::ToolsError;
use crate::handler::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::skill::{Skill, SkillRef};
use steward_core::tool::{EffectClass, ToolOutput, Undo};
use steward_core::{hash, schema};

#[derive(Debug, Serialize, Deserialize)]
struct UndoSnapshot {
    skill: SkillRef,
    #[serde(flatten)]
    how: UndoBy,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
enum UndoBy {
    Executor { arguments: Value, snapshot: Value },
    Compensation { call: String, arguments: Value },
}

pub(super) fn undo_record(skill: &Skill, arguments: &Value, output: &ToolOutput) -> Option<Undo> {
    let how = match (&output.undo, &skill.compensation) {
        (Some(Undo::Snapshot { snapshot, .. }), _) => {
            UndoBy::Executor { arguments: arguments.clone(), snapshot: snapshot.clone() }
        }
        (_, Some(compensation)) if changes(skill) && !output.failed => {
            let values = Values {
                arguments,
                schema: &skill.parameters,
                result: output.data.as_ref(),
                secrets: Secrets::Open(None),
                strict: true,
            };
            match template::json(&compensation.arguments, &values) {
                Ok(arguments) => UndoBy::Compensation { call: compensation.skill.clone(), arguments },
                Err(error) => {
                    return Some(Undo::Impossible {
                        reason: format!("the skill {} can't be told what to take back: {error}", compensation.skill),
                    });
                }
            }
        }
        (Some(impossible), _) => return Some(impossible.clone()),
        (None, _) if changes(skill) => {
            return Some(Undo::Impossible {
                reason: format!(
                    "the skill {} keeps no snapshot and names no skill that takes its effect back",
                    skill.name
                ),
            });
        }
        (None, _) => return None,
    };
    let snapshot = json!(UndoSnapshot { skill: skill.reference(), how });
    Some(Undo::Snapshot { tool: skill.name.clone(), snapshot })
}

fn changes(skill: &Skill) -> bool {
    skill.effect != EffectClass::Read && skill.risk != RiskClass::Read
}

pub(super) fn snapshot_of(output: &ToolOutput) -> Option<Value> {
    let Some(Undo::Snapshot { snapshot, .. }) = &output.undo else {
        return None;
    };
    match UndoSnapshot::deserialize(snapshot).ok()?.how {
        UndoBy::Executor { snapshot, .. } => Some(snapshot),
        UndoBy::Compensation { .. } => None,
    }
}

pub(crate) fn is_skill_undo(snapshot: &Value) -> bool {
    UndoSnapshot::deserialize(snapshot).is_ok()
}

impl SkillRuntime {
    pub async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: UndoSnapshot = crate::facts::snapshot(snapshot)?;
        match kept.how {
            UndoBy::Executor { arguments, snapshot } => {
                let skill = self.version(scope.tenant, &kept.skill).await?;
                let key = credential::open(&self.ports, &skill, scope).await?;
                let job = SkillCall { skill: &skill, arguments: &arguments, secret: key.as_ref() };
                let work = self.executor(skill.kind())?.undo(job, &snapshot, scope);
                let done = tokio::time::timeout(time_limit(&skill), work).await;
                let scrubber = scrubber_of(credential::secrets(key.as_ref()));
                match done {
                    Ok(Ok(text)) => Ok(scrubber.scrub(&text).into_owned()),
                    Ok(Err(error)) => Err(scrub_error(&scrubber, error)),
                    Err(_) => Err(timeout_error(&skill)),
                }
            }
            UndoBy::Compensation { call, arguments } => self.compensate(&call, &arguments, snapshot, scope).await,
        }
    }

    async fn compensate(
        &self,
        name: &str,
        arguments: &Value,
        snapshot: &Value,
        scope: &ToolScope,
    ) -> Result<String, ToolsError> {
        let found = self.ports.skills.skill_by_name(scope.tenant, name).await;
        let skill = found?.filter(|skill| skill.enabled).ok_or_else(|| {
            ToolsError::NoUndo(format!("the skill {name}, which would take it back, is not there or switched off"))
        })?;
        schema::validate(&skill.parameters, arguments)
            .map_err(|problem| ToolsError::Arguments { tool: name.to_owned(), problem })?;
        let mut scope = scope.clone();
        scope.skill = Some(skill.reference());
        // The same key for each attempt, so that a keyed compensation happens once.
        let key = format!("undo-{}", hash::of_json(snapshot));
        let context = Context::new(scope, key, time_limit(&skill));
        let done = tokio::time::timeout(time_limit(&skill), self.run(&skill, arguments, &context)).await;
        let output = done.map_err(|_| timeout_error(&skill))??;
        if output.failed {
            return Err(ToolsError::Refused(output.content));
        }
        Ok(match output.receipt {
            Some(receipt) => format!("{name}: {} {}", receipt.action, receipt.object),
            None => format!("{name}: done"),
        })
    }
}

fn time_limit(skill: &Skill) -> Duration {
    Duration::from_millis(skill.limits.timeout_ms)
}

fn timeout_error(skill: &Skill) -> ToolsError {
    ToolsError::Unsettled { tool: skill.name.clone(), why: format!("more than {} ms", skill.limits.timeout_ms) }
}
