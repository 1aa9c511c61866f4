//! Files and documents that belong to a message: files are named to the agent, which reads them with its tools; passages of
//! documents are found for the run.

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind};
use std::path::{Component, Path, PathBuf};
use steward_core::DocumentId;
use steward_core::document::DocumentStatus;
use steward_core::reference::GivenDocument;

const MOST: usize = 20;

impl App {
    /// The message with a list of its files. Each must be a file inside the workspace.
    pub(super) async fn with_attachments(&self, message: &str, paths: &[String]) -> AppResult<String> {
        if paths.is_empty() {
            return Ok(message.to_owned());
        }
        if paths.len() > MOST {
            return Err(AppError::invalid(
                "attachments",
                format!("a message has at most {MOST} files"),
                "send several messages, or put the files into one folder and name that",
            ));
        }
        let (root, wanted) = (PathBuf::from(self.workspace.copy()), paths.to_vec());
        let missing = tokio::task::spawn_blocking(move || wanted.into_iter().find(|path| !is_inside(&root, path)))
            .await
            .map_err(|_| AppError::unavailable("the files could not be looked at"))?;
        match missing {
            None => Ok(listed(message, paths)),
            Some(path) => Err(AppError::invalid(
                "attachments",
                format!("`{path}` is no file in the workspace"),
                "upload it with POST /api/files and give the path of the answer",
            )),
        }
    }
}

impl App {
    /// Documents that a message is about. The caller must be able to read each, and something of it must be found.
    pub(super) async fn given_documents(&self, caller: &Caller, ids: &[DocumentId]) -> AppResult<Vec<GivenDocument>> {
        if ids.len() > MOST {
            return Err(AppError::invalid(
                "documents",
                format!("a message has at most {MOST} documents"),
                "give further ones with the next message: those of earlier messages stay",
            ));
        }
        let mut given: Vec<GivenDocument> = Vec::with_capacity(ids.len());
        for id in ids {
            let document = self.document_for(caller, Action::Read, *id).await.map_err(|error| match error.kind {
                ErrorKind::NotFound => AppError::invalid(
                    "documents",
                    format!("there is no document {id}"),
                    "upload it with POST /api/documents/upload and give the id of the answer",
                ),
                _ => error,
            })?;
            let name = document.name;
            match document.status {
                DocumentStatus::Waiting if document.chunks == 0 => {
                    return Err(AppError::conflict(
                        "document_waiting",
                        format!("`{name}` is not read yet"),
                        "send the message again once its status is `embedding` or `ready`",
                    ));
                }
                DocumentStatus::Failed if document.chunks == 0 => {
                    let why = document.problem.map(|problem| format!(": {}", problem.message)).unwrap_or_default();
                    return Err(AppError::invalid(
                        "documents",
                        format!("`{name}` could not be read{why}"),
                        "leave it out, or see GET /api/documents/{id} for what to do",
                    ));
                }
                _ => {}
            }
            if given.iter().all(|one| one.id != *id) {
                given.push(GivenDocument { id: *id, name });
            }
        }
        Ok(given)
    }
}

fn is_inside(root: &Path, path: &str) -> bool {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let (Ok(root), Ok(file)) = (root.canonicalize(), root.join(path).canonicalize()) else {
        return false;
    };
    plain && !path.contains(['\n', '\r']) && file.starts_with(root) && file.is_file()
}

fn listed(message: &str, paths: &[String]) -> String {
    let list: Vec<String> = paths.iter().map(|path| format!("- {path}")).collect();
    let list = list.join("\n");
    format!("{}\n\nAttached files:\n{list}", message.trim_end())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{is_inside, listed};

    #[test]
    fn only_files_of_the_workspace_are_taken() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("work");
        std::fs::create_dir_all(root.join("uploads")).unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("uploads/a b.csv"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), root.join("link")).unwrap();
        for (path, fits) in [
            ("uploads/a b.csv", true),
            ("./uploads/a b.csv", true),
            ("uploads", false),
            ("missing", false),
            ("../secret", false),
            ("uploads/../../secret", false),
            ("/etc/passwd", false),
            ("link", false),
            ("", false),
        ] {
            assert_eq!(is_inside(&root, path), fits, "{path}");
        }
    }

    #[test]
    fn the_list_follows_the_message() {
        let text = listed("Sum up.\n", &["uploads/a.csv".into(), "b.md".into()]);
        assert_eq!(text, "Sum up.\n\nAttached files:\n- uploads/a.csv\n- b.md");
    }
}
