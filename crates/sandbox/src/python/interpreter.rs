//! Which Python there is, and what it needs to see of the file system.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::config::PythonConfig;

/// The system's own, which lie below what every sandboxed program sees.
const SYSTEM: &[&str] = &["/usr/bin/python3", "/bin/python3"];

/// A program to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub program: PathBuf,
    /// What of the file system it needs beside the system's folders.
    pub read_paths: Vec<PathBuf>,
}

/// In the order in which they are tried. A named interpreter is the only one.
pub(super) fn places(config: &PythonConfig) -> Vec<PathBuf> {
    if let Some(named) = &config.interpreter {
        return vec![named.clone()];
    }
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    found.extend(config.search.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join("python3")));
    let mut seen = Vec::new();
    found.retain(|place| {
        let real = place.canonicalize().ok().filter(|real| real.is_file());
        let new = real.is_some() && !seen.contains(&real);
        seen.push(real);
        new
    });
    found
}

/// The real program behind a place, and why it is none where it is none.
pub(super) async fn resolve(place: &Path) -> Result<Candidate, String> {
    let real = place.canonicalize().map_err(|e| format!("{}: {e}", place.display()))?;
    if real.starts_with("/usr") && is_program(&real) && !real.starts_with("/usr/local") {
        return Ok(Candidate { program: real, read_paths: Vec::new() });
    }
    // It may be a script that finds the real one, and its library may lie anywhere: it is asked, outside the sandbox,
    // as whoever has put it into PATH would start it.
    ask(place).await
}

async fn ask(place: &Path) -> Result<Candidate, String> {
    const QUESTION: &str = "import os, sys; print(os.path.realpath(sys.executable)); print(os.path.realpath(sys.base_prefix)); print(os.path.realpath(sys.base_exec_prefix))";
    let mut command = Command::new(place);
    command.args(["-I", "-S", "-c", QUESTION]).kill_on_drop(true);
    let said = |what: &str| format!("{}: {what}", place.display());
    let output = tokio::time::timeout(Duration::from_secs(10), command.output())
        .await
        .map_err(|_| said("it does not answer"))?
        .map_err(|e| said(&e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let paths: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    let [program, prefixes @ ..] = paths.as_slice() else {
        return Err(said("it is no Python interpreter"));
    };
    if !is_program(program) || prefixes.len() != 2 {
        return Err(said("it is no Python interpreter"));
    }
    let mut read_paths = prefixes.to_vec();
    read_paths.push(program.clone());
    read_paths.sort();
    read_paths.dedup();
    read_paths.retain(|path| path != Path::new("/usr") && path != Path::new("/"));
    let folders = read_paths.clone();
    read_paths.retain(|path| !folders.iter().any(|f| f != path && path.starts_with(f)));
    Ok(Candidate { program: program.clone(), read_paths })
}

/// Whether the kernel runs it by itself, so that no other program is needed.
fn is_program(path: &Path) -> bool {
    let mut magic = [0u8; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}
