//! What a program sees of the workspace: all but the files from outside that its call doesn't name. So its text needn't be
//! understood: what it doesn't name, it can't read.

use crate::error::{ToolsError, refused};
use crate::files;
use std::path::{Path, PathBuf};
use steward_core::ports::ToolScope;
use steward_core::run::{UPLOADS, is_in};
use steward_core::tool::ToolOutput;
use steward_sandbox::process::{Access, CommandSpec, Outcome};

/// With more files to hide than this, the program sees all, and counts as having read all.
const MAX_HIDDEN: usize = 300;
/// Most hidden files that a result names.
const MAX_NAMED: usize = 5;

/// Of one call.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceView {
    /// From outside and named: seen, and so read.
    reads: Vec<String>,
    /// From outside and not named, relative to the workspace.
    hidden: Vec<String>,
    /// What is seen of hidden folders.
    shown: Vec<String>,
    root: PathBuf,
    /// Whether the words name files, and no folder that has something hidden in it.
    names_files_alone: bool,
}

impl WorkspaceView {
    /// `declared`: what the call says that it reads. `words`: its command, whose words name what they are the paths of, from
    /// `folder` on. Blocks.
    pub fn of(
        scope: &ToolScope,
        folder: &str,
        declared: &[String],
        words: &[String],
        access: Access,
    ) -> Result<Self, ToolsError> {
        let root = scope.workspace.canonicalize().map_err(|error| refused!("the workspace: {error}"))?;
        let mut outside = vec![UPLOADS.to_owned()];
        outside.extend(scope.marked_files.iter().cloned());
        outside.retain(|path| root.join(path).symlink_metadata().is_ok_and(|found| !found.is_symlink()));
        if outside.is_empty() {
            return Ok(Self::default());
        }
        let mut named = Vec::new();
        for path in declared {
            match real_path(&root, &root, path) {
                Some((real, true)) => named.push(real),
                _ => {
                    return Err(refused!(
                        "reads: there is no `{path}` in the workspace; give paths relative to the workspace"
                    ));
                }
            }
        }
        let start = root.join(folder);
        let (mut files, mut folders) = (false, false);
        let programs_name = |at: usize, word: &str| at == 0 && !word.contains('/');
        let words = words.iter().enumerate().filter(|(at, word)| !programs_name(*at, word));
        for (_, word) in words {
            let value = word.split_once('=').map(|(_, value)| value);
            let texts = [Some(word.as_str()), value].into_iter().flatten();
            for (path, exists) in texts.filter_map(|text| real_path(&root, &start, text)) {
                // Where something is made, its folder is needed.
                if !exists && (access == Access::ReadOnly || !outside.iter().any(|one| is_in(&path, one))) {
                    continue;
                }
                // A program that only looks starts from the workspace, or searches it, without a need for all of it.
                if path.is_empty() && access == Access::ReadOnly {
                    folders = true;
                    continue;
                }
                let above = outside.iter().any(|one| one != &path && is_in(one, &path));
                folders |= above;
                files |= !above && root.join(&path).is_file();
                named.push(path);
            }
        }
        if outside.iter().any(|one| is_in(folder, one)) {
            named.push(folder.to_owned());
        }
        let mut view = Self { root, names_files_alone: files && !folders, ..Self::default() };
        for path in outside {
            if path.is_empty() {
                view.reads.push(".".to_owned());
                continue;
            }
            if let Some(above) = named.iter().find(|name| is_in(&path, name)) {
                view.reads.push(if above.is_empty() { path } else { above.clone() });
                continue;
            }
            let below: Vec<String> = named.iter().filter(|name| is_in(name, &path)).cloned().collect();
            match access {
                // A file that is mounted by itself can't be moved or replaced.
                Access::ReadWrite if !below.is_empty() => view.reads.push(path),
                Access::ReadOnly | Access::ReadWrite => {
                    view.reads.extend(below.iter().cloned());
                    view.shown.extend(below);
                    view.hidden.push(path);
                }
            }
        }
        if view.hidden.len() > MAX_HIDDEN {
            view.shown.clear();
            view.reads.append(&mut view.hidden);
        }
        view.reads.sort_unstable();
        view.reads.dedup();
        Ok(view)
    }

    pub async fn of_call(
        scope: &ToolScope,
        folder: &str,
        declared: &[String],
        words: &[String],
        access: Access,
    ) -> Result<Self, ToolsError> {
        let (scope, folder) = (scope.clone(), folder.to_owned());
        let (declared, words) = (declared.to_vec(), words.to_vec());
        files::blocking(move || Self::of(&scope, &folder, &declared, &words, access)).await
    }

    /// All files from outside, for a program that sees the workspace whatever its call names.
    pub async fn all(scope: &ToolScope) -> Result<Vec<String>, ToolsError> {
        Ok(Self::of_call(scope, "", &[".".to_owned()], &[], Access::ReadWrite).await?.reads)
    }

    /// Leaves what is hidden out of the program's mount.
    pub fn restrict(&self, spec: &mut CommandSpec) {
        spec.hidden = self.hidden.iter().map(PathBuf::from).collect();
        spec.shown = self.shown.iter().map(PathBuf::from).collect();
    }

    /// The files from outside that the program could read, and those that it has moved with a folder above them.
    pub fn reads(mut self, outcome: &Outcome) -> Vec<String> {
        let is_gone = |path: &String| self.root.join(path).symlink_metadata().is_err();
        self.hidden.retain(|path| !outcome.hid() || is_gone(path));
        self.reads.append(&mut self.hidden);
        self.reads
    }

    /// What was left out and how to name it, where the program could have met it.
    pub fn note(&self, outcome: &Outcome, failed: bool) -> Option<String> {
        if self.hidden.is_empty() || !outcome.hid() || (self.names_files_alone && !failed) {
            return None;
        }
        let mut named: Vec<String> = self.hidden.iter().take(MAX_NAMED).map(|path| format!("`{path}`")).collect();
        if self.hidden.len() > MAX_NAMED {
            named.push(format!("{} more", self.hidden.len() - MAX_NAMED));
        }
        let besides = if self.shown.is_empty() { "" } else { ", but for what was named" };
        Some(format!(
            "[left out, since it is from outside: {}{besides}; to use it, name it: \"reads\": [\"{}\"]]",
            named.join(", "),
            self.hidden[0]
        ))
    }
}

/// Adds what links lead to, to the paths that a call says it read and wrote.
pub(crate) async fn with_real_paths(mut output: ToolOutput, scope: &ToolScope) -> Result<ToolOutput, ToolsError> {
    if output.reads.is_empty() && output.writes.is_empty() {
        return Ok(output);
    }
    let workspace = scope.workspace.clone();
    files::blocking(move || {
        if let Ok(root) = workspace.canonicalize() {
            for paths in [&mut output.reads, &mut output.writes] {
                let real = paths.iter().filter_map(|path| real_path(&root, &root, path)).filter(|(_, exists)| *exists);
                let mut real: Vec<String> = real.map(|(path, _)| path).collect();
                real.retain(|path| !path.is_empty() && !paths.contains(path));
                paths.append(&mut real);
            }
        }
        Ok(output)
    })
    .await
}

/// What `text` is the path of, from `start` on, relative to the workspace `root`; for what isn't there its folder, and
/// `false`. Links are followed. `None`: nothing of the workspace.
fn real_path(root: &Path, start: &Path, text: &str) -> Option<(String, bool)> {
    let path = start.join(text.trim());
    if text.trim().is_empty() || text.len() > 4096 || text.contains('\0') {
        return None;
    }
    let found = path.canonicalize();
    let exists = found.is_ok();
    let real = found.or_else(|error| path.parent().ok_or(error)?.canonicalize()).ok()?;
    Some((real.strip_prefix(root).ok()?.to_str()?.to_owned(), exists))
}
