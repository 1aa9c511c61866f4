//! Files into the workspace and out of it. Uploads follow no links, since agents write in the workspace too.

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::authorize::require_role;
use crate::dto::files::{FileOrigin, SentFile};
use crate::quotas::UploadPlace;
use bytes::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Display;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use steward_core::UserId;
use steward_core::ports::{Page, Role, Users as _};
use steward_core::run::UPLOADS;
use steward_core::upload::UploadedFile;
use steward_tools::files::{file_path, open_file, remove_file};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// Longest name, bytes; room for a number stays below what file systems take.
const MAX_NAME: usize = 120;
const MOST: u32 = 1000;

impl App {
    /// A new file in the workspace's folder `uploads`; a second `x.csv` becomes `x-2.csv`. `length`: its bytes, if they are
    /// known.
    pub async fn begin_upload(&self, caller: &Caller, name: &str, length: Option<u64>) -> AppResult<FileUpload> {
        authorize(caller, Action::Write, Resource::Files)?;
        let name = safe_name(name)?;
        let place = self.begin_counting(caller.user(), length).await?;
        let workspace = self.workspace.copy();
        let begun = tokio::task::spawn_blocking(move || Upload::begin(Path::new(&workspace), &name));
        let upload = begun.await.map_err(|_| AppError::unavailable("the file could not be made"))??;
        Ok(FileUpload { app: self.clone(), user: caller.user(), place, upload, bytes: 0 })
    }

    /// What people have sent, by path: one's own; to operators that of everybody, or of one `user`.
    pub async fn uploaded_files(
        &self,
        caller: &Caller,
        user: Option<UserId>,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<Page<SentFile>> {
        authorize(caller, Action::Read, Resource::Files)?;
        let user = match (user, require_role(caller, Role::Operator)) {
            (None, Err(_)) => Some(caller.user()),
            (Some(user), Err(refusal)) if user != caller.user() => return Err(refusal),
            (user, _) => user,
        };
        let page = self.store.uploads(self.tenant(), user, after, limit).await?;
        let mut senders = HashMap::new();
        for id in page.items.iter().map(|file| file.user_id) {
            if let Entry::Vacant(place) = senders.entry(id) {
                place.insert(self.store.user(self.tenant(), id).await?.map(|user| user.email));
            }
        }
        let named = |file: UploadedFile| SentFile { by: senders.get(&file.user_id).cloned().flatten(), file };
        Ok(Page { items: page.items.into_iter().map(named).collect(), more: page.more })
    }

    /// Removes a file of the workspace, and answers its path: whoever sent it may while it is as long as it was then, and
    /// operators. One that was sent, and is gone already, is no longer listed.
    pub async fn remove_file(&self, caller: &Caller, path: String) -> AppResult<String> {
        authorize(caller, Action::Write, Resource::Files)?;
        let workspace = self.workspace.copy();
        let path = look_in_workspace(move || file_path(&workspace, &path)).await?;
        let sent = self.store.upload(self.tenant(), &path).await?;
        let theirs = sent.as_ref().filter(|sent| sent.user_id == caller.user());
        if let Err(refusal) = require_role(caller, Role::Operator) {
            let Some(sent) = theirs else { return Err(refusal) };
            if self.open_file(caller, path.clone()).await.is_ok_and(|(_, bytes)| bytes != sent.bytes) {
                let title = format!("`{path}` has another length than what you sent: somebody changed or replaced it");
                return Err(AppError::forbidden(title, "let an operator remove it"));
            }
        }
        let (workspace, wanted, listed) = (self.workspace.copy(), path.clone(), sent.is_some());
        look_in_workspace(move || match remove_file(&workspace, &wanted) {
            Err(_) if listed && !Path::new(&workspace).join(&wanted).exists() => Ok(()),
            removed => removed,
        })
        .await?;
        self.store.forget_upload(self.tenant(), &path).await?;
        Ok(path)
    }

    /// What is recorded of where the workspace's files come from, by path; for operators.
    pub async fn file_origins(&self, caller: &Caller) -> AppResult<Vec<FileOrigin>> {
        authorize(caller, Action::Read, Resource::Files)?;
        require_role(caller, Role::Operator)?;
        let entries = self.store.file_provenance_entries(self.tenant(), &self.workspace.get()).await?;
        Ok(entries.into_iter().map(FileOrigin::of).collect())
    }

    /// Forgets what is recorded of a file or folder: a person has read it and answers for it. Runs then read it as the
    /// house's own. For operators; where it is confidential, for administrators.
    pub async fn clear_file_origin(&self, caller: &Caller, path: &str) -> AppResult<()> {
        let entries = self.file_origins(caller).await?;
        let unknown = || AppError::not_found("an entry of this path");
        let entry = entries.iter().find(|entry| entry.path == path).ok_or_else(unknown)?;
        if entry.level.is_some() {
            authorize(caller, Action::Administer, Resource::Policies)?;
        }
        self.store.clear_file_provenance(self.tenant(), &self.workspace.get(), path).await?;
        Ok(())
    }

    pub async fn open_file(&self, caller: &Caller, path: String) -> AppResult<(File, u64)> {
        authorize(caller, Action::Read, Resource::Files)?;
        let workspace = self.workspace.copy();
        let (file, bytes) = look_in_workspace(move || {
            let file = open_file(&workspace, &path).map_err(|error| error.to_string())?;
            let bytes = file.metadata().map_err(|error| error.to_string())?.len();
            Ok::<_, String>((file, bytes))
        })
        .await?;
        Ok((File::from_std(file), bytes))
    }
}

/// Does something with a file of the workspace, which may not be there.
async fn look_in_workspace<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> AppResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| AppError::unavailable("the file could not be looked at"))?.map_err(|error| {
        let hint = "give the path of a file, relative to the workspace";
        AppError::new(ErrorKind::NotFound, error.to_string(), hint).code("no_such_file")
    })
}

/// A file that somebody sends into the workspace; gone again unless it is finished.
pub struct FileUpload {
    app: App,
    user: UserId,
    place: UploadPlace,
    upload: Upload,
    bytes: u64,
}

impl FileUpload {
    pub async fn write(&mut self, bytes: Bytes) -> AppResult<()> {
        let length = bytes.len() as u64;
        self.app.require_disk_room()?;
        self.place.take(length)?;
        self.bytes += length;
        self.upload.write(bytes).await
    }

    /// Makes it durable; returns its path in the workspace and its length.
    pub async fn finish(mut self) -> AppResult<(String, u64)> {
        let path = self.upload.place().await?;
        let at = self.app.now();
        let file = UploadedFile { path: path.clone(), user_id: self.user, bytes: self.bytes, at };
        self.app.store.note_upload(self.app.tenant(), &file).await?;
        self.upload.whole = true;
        self.place.keep();
        Ok((path, self.bytes))
    }
}

/// A file being received; gone again unless it is `whole`. It has no name until all of it is there, where the file system
/// knows files without one: nobody reads half of it, and none is left by a program that was killed.
struct Upload {
    folder: OwnedFd,
    name: String,
    file: File,
    has_name: bool,
    whole: bool,
}

impl Upload {
    /// Makes the file, which is to be called `name`, or `name-2` and so on.
    fn begin(workspace: &Path, name: &str) -> AppResult<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(workspace, flags, Mode::empty()).map_err(failed)?;
        match mkdirat(&root, UPLOADS, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
        let folder = openat(&root, UPLOADS, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => AppError::conflict(
                "uploads_folder",
                "`uploads` in the workspace is no plain folder",
                "move it away; a new one is made",
            ),
            other => failed(other),
        })?;
        let (flags, mode) = (OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o644));
        let unlinked = match openat(&folder, ".", flags | OFlags::TMPFILE, mode) {
            // Network file systems know none.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => None,
            opened => Some(opened.map_err(failed)?),
        };
        let has_name = unlinked.is_none();
        let (name, file) = if let Some(file) = unlinked {
            (name.to_owned(), file)
        } else {
            let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            under_free_name(name, |name| openat(&folder, name, flags, mode))?
        };
        Ok(Self { folder, name, file: File::from_std(std::fs::File::from(file)), has_name, whole: false })
    }

    async fn write(&mut self, bytes: Bytes) -> AppResult<()> {
        self.file.write_all(&bytes).await.map_err(lost)
    }

    /// Makes it durable under its name; returns its path in the workspace.
    async fn place(&mut self) -> AppResult<String> {
        self.file.flush().await.map_err(lost)?;
        self.file.sync_all().await.map_err(lost)?;
        if !self.has_name {
            let file = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let place = |name: &str| linkat(CWD, &file, &self.folder, name, AtFlags::SYMLINK_FOLLOW);
            self.name = under_free_name(&self.name, place)?.0;
            self.has_name = true;
        }
        let folder = self.folder.try_clone().map_err(lost)?;
        File::from_std(folder.into()).sync_all().await.map_err(lost)?;
        Ok(format!("{UPLOADS}/{}", self.name))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.has_name
            && !self.whole
            && let Err(error) = unlinkat(&self.folder, self.name.as_str(), AtFlags::empty())
        {
            tracing::warn!(%error, "half an upload stays");
        }
    }
}

/// Makes something as `name`, or as `name-2` and so on where that is taken.
fn under_free_name<T>(name: &str, make: impl Fn(&str) -> Result<T, Errno>) -> AppResult<(String, T)> {
    for number in 1..=MOST {
        let name = numbered(name, number);
        match make(&name) {
            Ok(result) => return Ok((name, result)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let title = format!("there are {MOST} files called `{name}`");
    Err(AppError::conflict("too_many_files", title, "choose another name"))
}

fn failed(error: Errno) -> AppError {
    lost(error.into())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn lost(error: std::io::Error) -> AppError {
    tracing::error!(%error, "an upload could not be kept");
    AppError::new(
        ErrorKind::Unavailable,
        format!("the file could not be kept: {error}"),
        "check the workspace folder's rights and free space, then send it again",
    )
}

/// A plain file name: no folders, nothing hidden, no control characters.
fn safe_name(given: &str) -> AppResult<String> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = last
        .chars()
        .map(|c| match c {
            c if c.is_alphanumeric() => c,
            '.' | '-' | '_' | ' ' | '(' | ')' | '+' | ',' | '@' | '=' => c,
            _ => '_',
        })
        .collect();
    name = name.trim().trim_start_matches('.').trim().to_owned();
    if !name.chars().any(char::is_alphanumeric) {
        return Err(AppError::invalid(
            "name",
            "the name has no letter or digit",
            "give the file's name, such as report.csv",
        ));
    }
    let (stem, ending) = split(&name);
    let room = MAX_NAME.saturating_sub(ending.len()).max(1);
    let mut end = room.min(stem.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    Ok(format!("{}{ending}", stem[..end].trim_end()))
}

fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let (stem, ending) = split(name);
    format!("{stem}-{number}{ending}")
}

/// Stem and ending with its dot; an overlong ending is none.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 && name.len() - at <= 20 => name.split_at(at),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Upload, numbered, safe_name};
    use bytes::Bytes;

    fn check(given: &str, expect: Option<&str>) {
        assert_eq!(safe_name(given).ok().as_deref(), expect, "{given:?}");
    }

    #[test]
    fn names_are_made_safe() {
        check("report.csv", Some("report.csv"));
        check("Größe 2026.md", Some("Größe 2026.md"));
        check("../../etc/passwd", Some("passwd"));
        check("C:\\temp\\a.txt", Some("a.txt"));
        check(".bashrc", Some("bashrc"));
        check("a\nb<c>.txt", Some("a_b_c_.txt"));
        check("  x.csv ", Some("x.csv"));
        check("..", None);
        check("///", None);
        check("", None);
        let long = safe_name(&format!("{}.csv", "ä".repeat(300))).unwrap();
        assert!(long.len() <= 120 && long.ends_with("ä.csv"), "{long}");
    }

    #[test]
    fn numbers_stand_before_the_ending() {
        assert_eq!(numbered("x.csv", 1), "x.csv");
        assert_eq!(numbered("x.csv", 2), "x-2.csv");
        assert_eq!(numbered("x", 3), "x-3");
    }

    #[tokio::test]
    async fn nothing_is_overwritten_and_halves_do_not_stay() {
        let root = tempfile::tempdir().unwrap();
        let list = || {
            let mut names: Vec<_> = std::fs::read_dir(root.path().join("uploads"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        for (body, path) in [("one", "uploads/x.csv"), ("two", "uploads/x-2.csv")] {
            let mut upload = Upload::begin(root.path(), "x.csv").unwrap();
            upload.write(Bytes::from(body)).await.unwrap();
            assert_eq!(upload.place().await.unwrap(), path);
            upload.whole = true;
            drop(upload);
            let kept = std::fs::read_to_string(root.path().join(path)).unwrap();
            assert_eq!(kept, body);
        }
        let mut half = Upload::begin(root.path(), "x.csv").unwrap();
        half.write(Bytes::from("thr")).await.unwrap();
        assert_eq!(list(), ["x-2.csv", "x.csv"], "half of it is seen by nobody");
        drop(half);
        assert_eq!(list(), ["x-2.csv", "x.csv"]);
    }

    #[test]
    fn a_link_leads_nowhere() {
        let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), root.path().join("uploads")).unwrap();
        assert!(Upload::begin(root.path(), "x.csv").is_err());
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
    }
}
