//! `mail_draft`: a message as a file, for a person to look at and send. Nothing is ever sent.

use super::compose::{Message, date_header, header_safe, recipients};
use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{Preview, ToolOutput};
use steward_sandbox::files::{Before, FilesError, Workspace, Written};

const FOLDER: &str = "drafts";
const MAX_SAME_SUBJECT: usize = 1000;

pub struct MailDraft(pub Arc<dyn Blobs>);

#[derive(Debug, Clone, Deserialize)]
pub struct MailArgs {
    to: String,
    subject: String,
    body: String,
}

impl ToolHandler for MailDraft {
    type Args = MailArgs;
    const NAME: &'static str = "mail_draft";

    async fn preview(&self, args: MailArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        let to = recipients(&args.to)?;
        header_safe(&args.subject)?;
        Ok(Preview::undoable(
            format!("writes a draft to {} in {FOLDER}/; nothing is sent", to.join(", ")),
            Some(format!("Subject: {}\n\n{}", args.subject, args.body)),
        ))
    }

    async fn run(&self, args: MailArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let to = recipients(&args.to)?;
        header_safe(&args.subject)?;
        let id = format!("<{}@steward.invalid>", context.stable_id(32));
        let message = Message {
            from: None,
            to: &to,
            cc: &[],
            subject: &args.subject,
            body: &args.body,
            id: &id,
            in_reply_to: None,
        };
        let message = message.text(&date_header(context)?);
        let base = slug(&args.subject);
        let write = move |workspace: &Workspace| {
            let (path, ours) = free_path(workspace, &base, &id)?;
            if ours {
                // It was written before a crash; a person may have edited it since.
                return Ok(Written { path: path.into(), before: Before::Absent, size: 0 });
            }
            Ok(workspace.write_atomic(&path, message.as_bytes())?)
        };
        let saved = files::save_file(Self::NAME, context, &self.0, write).await?;
        Ok(ToolOutput {
            data: Some(json!({"path": saved.path, "to": args.to, "subject": args.subject})),
            receipt: Some(saved.receipt("drafted")),
            writes: vec![saved.path.clone()],
            undo: Some(saved.undo),
            ..ToolOutput::text(format!(
                "drafted a mail to {} in {}; it was not sent\nSubject: {}\n\n{}",
                args.to, saved.path, args.subject, args.body
            ))
        })
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        files::restore(snapshot, scope, &self.0).await
    }
}

/// A file name from a subject: lower case, words joined by hyphens.
fn slug(subject: &str) -> String {
    let mut slug = String::new();
    for letter in subject.to_lowercase().chars() {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "draft".to_owned() } else { slug.to_owned() }
}

/// A free path, or (`true`) the path of this very call's draft, after a crash.
fn free_path(workspace: &Workspace, base: &str, id: &str) -> Result<(String, bool), ToolsError> {
    for number in 1..MAX_SAME_SUBJECT {
        let path = match number {
            1 => format!("{FOLDER}/{base}.eml"),
            _ => format!("{FOLDER}/{base}-{number}.eml"),
        };
        match workspace.read(&path) {
            Err(FilesError::NotFound { .. }) => return Ok((path, false)),
            Ok(bytes) if String::from_utf8_lossy(&bytes).contains(id) => return Ok((path, true)),
            Ok(_) | Err(FilesError::TooLarge { .. } | FilesError::Kind { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(refused!("there are {MAX_SAME_SUBJECT} drafts called {base}; use another subject"))
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names() {
        assert_eq!(slug("Re: Q3 numbers / final!"), "re-q3-numbers-final");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("???"), "draft");
    }
}
