//! What a program that is named by its whole path needs to start: the folders of its virtual environment, of the
//! interpreter behind it, and of the packages beside it.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use steward_sandbox::host::{HostEntry, HostPolicy};

/// Folders that each confined program sees anyway.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives"];
/// As much as is read of a script's first line, or of an environment's settings.
const READ_BYTES: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPlaces {
    /// The program to start; where a link led out of what it needs, what the link leads to.
    pub program: String,
    /// Files and folders outside the system that it reads, with their real paths.
    pub read: Vec<PathBuf>,
}

/// What `program` needs; nothing for one that is looked up by its name, or belongs to the system. Blocking.
pub fn find_program_places(places: &HostPolicy, program: &str) -> ProgramPlaces {
    let unchanged = ProgramPlaces { program: program.to_owned(), read: Vec::new() };
    let path = Path::new(program);
    let (Some(parent), Some(name), true) = (path.parent(), path.file_name(), path.is_absolute()) else {
        return unchanged;
    };
    let (Ok(folder), Ok(target)) = (parent.canonicalize(), path.canonicalize()) else {
        return unchanged;
    };
    let named_file = folder.join(name);
    for candidate in [&named_file, &target] {
        if let Some(read) = venv_places(places, candidate) {
            return ProgramPlaces { program: candidate.display().to_string(), read };
        }
    }
    if is_of_system(&named_file) && is_of_system(&target) {
        return unchanged;
    }
    let prefix = folder.parent().filter(|_| folder.ends_with("bin"));
    let mut read = Vec::new();
    let mut started = target.clone();
    if let Some(packages) = prefix.map(|prefix| prefix.join("lib/node_modules")).filter(|packages| packages.is_dir()) {
        // An installation of Node: its programs are links into its packages.
        read.extend([folder.clone(), packages]);
        started.clone_from(&named_file);
    } else {
        read.push(target.clone());
        read.extend(prefix.map(|prefix| python_packages(places, prefix)).unwrap_or_default());
    }
    let interpreter = interpreter_of(places, &target, &folder);
    if let Some(interpreter) = interpreter.filter(|found| !read.iter().any(|given| found.starts_with(given))) {
        read.extend(venv_places(places, &interpreter).unwrap_or_else(|| installation_of(&interpreter)));
    }
    ProgramPlaces { program: started.display().to_string(), read: without_system(read) }
}

/// Of a program in a virtual environment: the environment, and the Python that it was made from.
fn venv_places(places: &HostPolicy, program: &Path) -> Option<Vec<PathBuf>> {
    let root = program.parent()?.parent()?;
    let settings = read_beginning(places, &root.join("pyvenv.cfg"))?;
    let mut read = vec![root.canonicalize().ok()?];
    let home = settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    });
    for python in ["bin/python", "bin/python3"] {
        if let Ok(real) = root.join(python).canonicalize() {
            read.extend(installation_of(&real));
        }
    }
    if let Some(home) = home.and_then(|home| home.canonicalize().ok()) {
        read.extend(home.parent().map(Path::to_owned));
    }
    Some(without_system(read))
}

/// `/x/bin/python3` needs `/x`; a program that is in no `bin` only itself.
fn installation_of(program: &Path) -> Vec<PathBuf> {
    let Ok(real) = program.canonicalize() else { return Vec::new() };
    match real.parent() {
        Some(folder) if folder.ends_with("bin") => folder.parent().map(Path::to_owned).into_iter().collect(),
        _ => vec![real],
    }
}

/// `lib/python3.12` and its like, where `pip install --user` puts packages.
fn python_packages(places: &HostPolicy, prefix: &Path) -> Vec<PathBuf> {
    let lib = prefix.join("lib").canonicalize().ok().and_then(|lib| places.open(&lib).ok());
    let Some(lib) = lib else { return Vec::new() };
    let Ok(entries) = lib.entries() else { return Vec::new() };
    let is_python = |entry: &HostEntry| entry.name.to_str().is_some_and(|name| name.starts_with("python3"));
    let mut found: Vec<PathBuf> = entries.filter(is_python).map(|entry| lib.path().join(entry.name)).collect();
    found.sort();
    found
}

/// The interpreter that a script names in its first line; one that it looks up is looked for beside the script.
fn interpreter_of(places: &HostPolicy, script: &Path, beside: &Path) -> Option<PathBuf> {
    let text = read_beginning(places, script)?;
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let program = Path::new(words.next()?);
    if program.file_name()? != "env" {
        return Some(program.to_owned());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(beside.join(name)).filter(|found| found.exists())
}

/// `None` if it is not there, or is nobody's to name.
fn read_beginning(places: &HostPolicy, path: &Path) -> Option<String> {
    let file = places.open(&path.canonicalize().ok()?).ok()?.open_file().ok()?;
    let mut text = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

fn without_system(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        let covered = kept.iter().any(|other| path.starts_with(other));
        if !covered && !is_of_system(&path) && path.parent().is_some() {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::find_program_places;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use steward_sandbox::host::{HostPolicy, HostRules};

    fn made(top: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn places(path: &Path) -> (String, Vec<PathBuf>) {
        let found = find_program_places(&HostPolicy::new(HostRules::default()), path.to_str().unwrap());
        (found.program, found.read)
    }

    #[test]
    fn a_virtual_environment_comes_with_the_python_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let home = format!("home = {}/cpython/bin\nversion = 3.12\n", top.display());
        let script = format!("#!{}/venv/bin/python\nimport x\n", top.display());
        made(&top, &[("cpython/bin/python3.12", ""), ("venv/pyvenv.cfg", &home), ("venv/bin/server", &script)]);
        symlink(top.join("cpython/bin/python3.12"), top.join("venv/bin/python")).unwrap();
        let both = vec![top.join("venv"), top.join("cpython")];
        let program = top.join("venv/bin/server");
        assert_eq!(places(&program), (program.display().to_string(), both.clone()));
        // The interpreter itself stays the environment's own, or it would not find the packages.
        let python = top.join("venv/bin/python");
        assert_eq!(places(&python), (python.display().to_string(), both.clone()));
        // pipx and uv link their programs into a folder of their own.
        made(&top, &[("local/bin/other", "")]);
        symlink(&program, top.join("local/bin/server")).unwrap();
        assert_eq!(places(&top.join("local/bin/server")), (program.display().to_string(), both));
    }

    #[test]
    fn a_program_of_node_comes_with_its_installation() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        made(&top, &[("v20/bin/node", ""), ("v20/lib/node_modules/npm/npx-cli.js", "#!/usr/bin/env node\n")]);
        symlink("../lib/node_modules/npm/npx-cli.js", top.join("v20/bin/npx")).unwrap();
        for name in ["npx", "node"] {
            let program = top.join("v20/bin").join(name);
            let (started, read) = places(&program);
            assert_eq!(started, program.display().to_string());
            let wanted = [top.join("v20/bin"), top.join("v20/lib/node_modules")];
            assert!(wanted.iter().all(|path| read.iter().any(|given| path.starts_with(given))), "{read:?}");
        }
    }

    #[test]
    fn a_program_alone_needs_itself_and_one_of_the_system_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        made(&top, &[("local/bin/uvx", "\u{7f}ELF"), ("local/share/secret", "")]);
        let program = top.join("local/bin/uvx");
        assert_eq!(places(&program), (program.display().to_string(), vec![program.clone()]));
        for program in ["npx", "/usr/bin/env", "/none/such/program", "bin/x"] {
            assert_eq!(places(Path::new(program)), (program.to_owned(), Vec::new()), "{program}");
        }
    }
}
