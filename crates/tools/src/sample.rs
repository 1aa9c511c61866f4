use rust_embed::RustEmbed;
use steward_sandbox::files::{FileLimits, FilesError, Workspace};

#[derive(RustEmbed)]
#[folder = "sample"]
struct Files;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Change {
    pub done: Vec<String>,
    /// Files that were left alone, since others have their names or they were changed.
    pub left: Vec<String>,
}

/// Adds the sample files to the folder `dir`, without changing files that exist.
pub fn add(dir: &str) -> Result<Change, FilesError> {
    let workspace = Workspace::open(dir, FileLimits::default())?;
    let mut change = Change::default();
    for path in Files::iter() {
        let Some(file) = Files::get(&path) else {
            continue;
        };
        if workspace.exists(&path)? {
            change.left.push(path.into_owned());
            continue;
        }
        if let Some((folder, _)) = path.rsplit_once('/') {
            workspace.create_dir_all(folder)?;
        }
        workspace.write_atomic(&path, &file.data)?;
        change.done.push(path.into_owned());
    }
    Ok(change)
}

/// Removes the unchanged sample files, and folders that are empty then.
pub fn remove(dir: &str) -> Result<Change, FilesError> {
    let workspace = Workspace::open(dir, FileLimits::default())?;
    let mut change = Change::default();
    for path in Files::iter() {
        if !workspace.exists(&path)? {
            continue;
        }
        if is_ours(&workspace, &path) {
            workspace.remove(&path)?;
            change.done.push(path.into_owned());
        } else {
            change.left.push(path.into_owned());
        }
    }
    for folder in change.done.iter().filter_map(|path| path.rsplit_once('/')) {
        // Fails if the folder holds other files.
        let _ = std::fs::remove_dir(workspace.root().join(folder.0));
    }
    Ok(change)
}

/// Whether any sample file is there unchanged.
pub fn is_present(dir: &str) -> bool {
    Workspace::open(dir, FileLimits::default())
        .is_ok_and(|workspace| Files::iter().any(|path| is_ours(&workspace, &path)))
}

fn is_ours(workspace: &Workspace, path: &str) -> bool {
    Files::get(path).is_some_and(|file| workspace.read(path).is_ok_and(|bytes| bytes == file.data.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::{add, is_present, remove};

    #[test]
    fn comes_and_goes_without_touching_others() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap();
        let own = folder.path().join("stocks.csv");
        std::fs::write(&own, "mine").unwrap();
        assert!(!is_present(dir));
        let added = add(dir).unwrap();
        assert_eq!(added.left, ["stocks.csv"]);
        assert!(is_present(dir) && folder.path().join("music.db").exists());
        assert_eq!(std::fs::read(&own).unwrap(), b"mine");
        std::fs::write(folder.path().join("notes/handover.md"), "changed").unwrap();
        let removed = remove(dir).unwrap();
        assert_eq!(removed.left.len(), 2);
        assert!(!is_present(dir) && !folder.path().join("logs").exists());
        assert!(folder.path().join("notes/handover.md").exists());
    }
}
