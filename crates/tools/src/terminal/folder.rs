//! `cd`: the folder that later commands of the run start in. It stands in the result, so the run's log
//! is what remembers it.

use crate::error::ToolsError;
use crate::files::{blocking, folder};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::run::FOLDER;
use steward_core::tool::ToolOutput;

/// Whether `words` are a `cd`.
pub(super) fn is_change(words: &[String]) -> bool {
    words.first().is_some_and(|name| name == "cd")
}

/// Where `words` lead from the run's folder, if they are a `cd`.
fn wanted(words: &[String]) -> Option<Result<&str, ToolsError>> {
    let rest = match words {
        [name, rest @ ..] if name == "cd" => rest,
        _ => return None,
    };
    Some(match rest {
        [] => Ok("~"),
        [only] => Ok(only),
        _ => Err(ToolsError::refused("cd takes one folder, such as cd reports; quote a name with blanks")),
    })
}

/// Carries a `cd` out; `None` for any other command.
pub(super) async fn change(words: &[String], scope: &ToolScope) -> Option<Result<ToolOutput, ToolsError>> {
    let to = match wanted(words)? {
        Ok(to) => to,
        Err(error) => return Some(Err(error)),
    };
    let to = match to {
        "~" => ".".to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        below if scope.folder.is_empty() => below.to_owned(),
        below => format!("{}/{below}", scope.folder),
    };
    let scope = scope.clone();
    Some(
        blocking(move || {
            let folder = folder(&scope, &to)?;
            let said = match folder.as_str() {
                "" => "commands now start in the workspace itself".to_owned(),
                folder => format!("commands now start in {folder}/ (other tools still take paths from the workspace)"),
            };
            Ok(ToolOutput { data: Some(json!({FOLDER: folder})), ..ToolOutput::text(said) })
        })
        .await,
    )
}
