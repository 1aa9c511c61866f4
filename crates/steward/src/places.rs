//! What of this machine's disk nobody may name: the program's own files, secrets of the machine, and what it starts.

use crate::settings::{Settings, path_folders, variable};
use std::fs;
use std::path::{Path, PathBuf};
use steward_access::VaultKeyPlace;
use steward_tools::HostRules;

/// Variables that name a file that is the program's own: its settings, accounts and keys.
const OWN_FILES: [&str; 3] = ["MAIL_FILE", "TERMINAL_FILE", "TLS_KEY"];

/// Folders in which files of people may lie, though what holds them is the machine's: removable disks.
const OPEN: [&str; 1] = ["/run/media"];

/// Keys, passwords and tokens of the machine, and what its services tell each other.
const SECRETS: [&str; 33] = [
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/boot",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/ipsec.secrets",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/netplan",
    "/etc/NetworkManager/system-connections",
    "/etc/kubernetes",
    "/etc/credstore",
    "/etc/credstore.encrypted",
    "/etc/docker/key.json",
    "/var/lib/docker/containers",
    "/var/lib/kubelet",
    "/var/lib/systemd/credential.secret",
    "/var/lib/sss",
    "/var/lib/samba/private",
    "/var/backups/shadow.bak",
    "/var/backups/gshadow.bak",
];

/// The same below a home folder.
const SECRETS_AT_HOME: [&str; 36] = [
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".config/sops",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".vault-token",
    ".terraform.d",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".cache/huggingface/token",
    ".bash_history",
    ".zsh_history",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
];

/// What the machine starts, or lets somebody in by, in whoever's name. Its programs and settings are here whole.
const STARTS: [&str; 24] = [
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/run/systemd",
    "/boot",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/snap",
    "/var/spool/cron",
    "/var/spool/anacron",
    "/var/spool/at",
    "/var/lib/systemd",
    "/var/lib/cloud",
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/lib/docker",
    "/var/lib/containerd",
];

/// The same below a home folder, in the name of the user whose it is. `.config` has what starts with a session.
const STARTS_AT_HOME: [&str; 47] = [
    ".ssh",
    ".rhosts",
    ".shosts",
    ".k5login",
    ".config",
    ".profile",
    ".login",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".oh-my-zsh",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".Xclients",
    ".forward",
    ".procmailrc",
    ".gitconfig",
    ".gnupg",
    ".vimrc",
    ".vim",
    ".tmux.conf",
    ".screenrc",
    ".cargo",
    ".docker",
    ".kube",
    ".aws",
    ".ansible",
    ".ansible.cfg",
    ".local/bin",
    ".local/lib",
    ".local/share/systemd",
    ".local/share/dbus-1",
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
pub fn host_rules(settings: &Settings, workspace: PathBuf) -> HostRules {
    let homes = homes();
    let mut programs = vec![settings.program.clone(), settings.model.clone()];
    programs.extend(settings.python.clone());
    programs.extend(settings.chromium.as_ref().map(PathBuf::from));
    programs.extend(settings.programs.iter().cloned().chain(path_folders()));
    programs.extend(variable("XDG_CONFIG_HOME").map(PathBuf::from));
    programs.extend(everywhere(&STARTS, &STARTS_AT_HOME, &homes));
    let open = [workspace].into_iter().chain(OPEN.map(PathBuf::from)).collect();
    let secret = everywhere(&SECRETS, &SECRETS_AT_HOME, &homes);
    HostRules { own: own_places(settings), open, secret, programs }
}

fn everywhere(machine: &[&str], at_home: &[&str], homes: &[PathBuf]) -> Vec<PathBuf> {
    let below = homes.iter().flat_map(|home| at_home.iter().map(move |name| home.join(name)));
    machine.iter().map(PathBuf::from).chain(below).collect()
}

/// Home folders of this program's user and of all others who log in on this machine, as they are now: as the superuser's,
/// this program could read and change them too.
fn homes() -> Vec<PathBuf> {
    let mut homes = homes_of(&fs::read_to_string("/etc/passwd").unwrap_or_default());
    homes.extend(variable("HOME").map(PathBuf::from));
    homes.push(PathBuf::from("/root"));
    // Those of accounts that a directory knows.
    homes.extend(fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path()));
    homes.sort();
    homes.dedup();
    homes
}

/// Those of a table of accounts, without those of services, whose shell is `nologin` or the like.
fn homes_of(accounts: &str) -> Vec<PathBuf> {
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, _, _, _, home, shell] = fields[..] else { return None };
        let logs_in = shell.is_empty() || shell.ends_with("sh");
        (logs_in && Path::new(home).is_absolute()).then(|| PathBuf::from(home))
    };
    accounts.lines().filter_map(home).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use steward_tools::HostPolicy;

    fn policy(home: PathBuf) -> HostPolicy {
        let homes = [home, PathBuf::from("/root")];
        HostPolicy::new(HostRules {
            open: OPEN.map(PathBuf::from).into(),
            secret: everywhere(&SECRETS, &SECRETS_AT_HOME, &homes),
            programs: everywhere(&STARTS, &STARTS_AT_HOME, &homes),
            ..HostRules::default()
        })
    }

    #[test]
    fn no_home_is_given_to_a_program_even_an_empty_one() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["work", ".local/share/app"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let policy = policy(home.path().to_owned());
        let mounts = |path: &Path, write: bool| policy.resolve(path.to_str().unwrap()).unwrap().mount(write).is_ok();
        for (name, read, write) in
            [("", false, false), (".local", false, false), (".local/share", false, false), ("work", true, true)]
        {
            let path = home.path().join(name);
            assert_eq!((mounts(&path, false), mounts(&path, true)), (read, write), "{name:?}");
        }
        assert!(mounts(&home.path().join(".local/share/app"), true));
        for folder in ["/var", "/var/spool", "/var/lib", "/root", "/home/.."] {
            let found = policy.resolve(folder);
            assert!(found.is_err() || !mounts(Path::new(folder), true), "{folder}");
        }
    }

    #[test]
    fn secrets_of_the_machine_and_its_own_folders_are_refused() {
        let home = tempfile::tempdir().unwrap();
        for name in SECRETS_AT_HOME {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        let policy = policy(home.path().to_owned());
        for name in SECRETS_AT_HOME {
            assert!(policy.resolve(home.path().join(name).to_str().unwrap()).is_err(), "{name}");
        }
        for path in SECRETS.map(Path::new).into_iter().filter(|path| path.exists()) {
            assert!(policy.resolve(path.to_str().unwrap()).is_err(), "{}", path.display());
        }
        assert!(policy.resolve("/dev/shm").is_err());
        for path in ["/etc", "/usr", "/usr/share"] {
            assert!(policy.resolve(path).unwrap().mount(true).is_err(), "{path}");
        }
        assert!(policy.resolve("/etc").unwrap().mount(false).is_err(), "it holds secrets");
        assert!(policy.resolve("/usr/share").unwrap().mount(false).is_ok());
    }

    #[test]
    fn homes_are_those_of_who_logs_in() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33::/var/www:/usr/sbin/nologin\n\
             sync:x:4:65534:sync:/bin:/bin/sync\nann:x:1000:1000:Ann,,,:/home/ann:/usr/bin/fish\nbob:x:1001:1001::/b:\n#\n";
        assert_eq!(homes_of(accounts), ["/root", "/home/ann", "/b"].map(PathBuf::from));
    }
}
