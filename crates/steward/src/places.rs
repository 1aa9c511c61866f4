//! What of this machine's disk nobody may name: the program's own files, and the programs that it starts.

use crate::settings::{Settings, path_folders, variable};
use std::path::PathBuf;
use steward_access::VaultKeyPlace;
use steward_tools::{HostPolicy, HostRules};

/// Variables that name a file that is the program's own: its settings, accounts and keys.
const OWN_FILES: [&str; 3] = ["MAIL_FILE", "TERMINAL_FILE", "TLS_KEY"];

/// Below the home folder: what is run, or lets somebody in, as the user that this program runs as.
const START_UP: [&str; 10] = [
    ".ssh",
    ".config",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".zshrc",
    ".zshenv",
    ".local/bin",
    ".local/lib",
];

/// `settings` are the installation's: the files of all tenants lie in its data directory.
pub fn own_places(settings: &Settings) -> Vec<PathBuf> {
    let mut own = vec![settings.data_dir.clone(), settings.cache_dir.clone(), settings.file.clone()];
    own.extend(OWN_FILES.iter().filter_map(|name| settings.layers.set(name)).map(PathBuf::from));
    if let VaultKeyPlace::File(key) = &settings.vault {
        own.push(key.clone());
    }
    own
}

/// `settings` are the installation's, `workspace` is a tenant's own.
pub fn host_policy(settings: &Settings, workspace: PathBuf) -> HostPolicy {
    let mut programs = vec![settings.program.clone(), settings.model.clone()];
    programs.extend(settings.python.clone());
    programs.extend(settings.chromium.as_ref().map(PathBuf::from));
    programs.extend(settings.programs.iter().cloned().chain(path_folders()));
    if let Some(home) = variable("HOME").map(PathBuf::from) {
        programs.extend(START_UP.iter().map(|name| home.join(name)));
    }
    programs.push(PathBuf::from("/var/spool/cron"));
    HostPolicy::new(HostRules { own: own_places(settings), open: vec![workspace], programs })
}
