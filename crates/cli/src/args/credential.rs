use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use steward_core::credential::CredentialKind;

/// `credential`.
#[derive(Debug, Clone, Args)]
pub struct CredentialArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<CredentialAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Fields of a credential. Secret ones never stand in the command: other programs can see it.
#[derive(Debug, Clone, Default, Args)]
pub struct Fields {
    /// A field that is no secret; may be given often.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// A field whose value is in a file, `-` for standard input; may be given often.
    #[arg(long = "from", value_name = "FIELD=FILE")]
    pub from: Vec<String>,
    /// Fields as one JSON object in a file, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub fields: Option<PathBuf>,
}

/// What to do with credentials.
#[derive(Debug, Clone, Subcommand)]
pub enum CredentialAction {
    /// List credentials; secrets are never shown.
    List,
    /// Kinds of credentials and their fields.
    Kinds,
    /// Keep a credential. What is missing is asked for, without echo where it is secret; a single
    /// missing secret is read from standard input where that is no terminal.
    #[command(
        after_help = "Examples:\n  steward credential add shop --kind token\n  steward credential add shop --kind token < token.txt\n  steward credential add web1 --kind ssh_key --set username=deploy --from private_key=id_ed25519\n  steward credential add db --kind database --fields db.json --discoverable\n  steward credential add shop --kind token --host api.shop.example"
    )]
    Add {
        /// Its name.
        name: String,
        /// What it is (see `steward credential kinds`).
        #[arg(long, short = 'k')]
        kind: KindArg,
        /// Its fields.
        #[command(flatten)]
        fields: Fields,
        /// For people.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// A role whose runs may use it; may be given often.
        #[arg(long, value_name = "ROLE")]
        role: Vec<RoleArg>,
        /// Skills may find it by kind and name alone.
        #[arg(long)]
        discoverable: bool,
        /// A host that it may be sent to, such as api.example.org, *.example.org or 10.0.0.5:5432; may be given often.
        /// Without any it goes wherever an operator's skill sends it.
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
        /// When it ends by itself: 90s, 30m, 1h or 7d.
        #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
        lasts: Option<Duration>,
    },
    /// Change fields of a credential, such as a renewed token; the others stay.
    #[command(
        after_help = "Examples:\n  steward credential change shop --from token=token.txt\n  steward credential change shop --ask token\n  steward credential change shop --discoverable true"
    )]
    Change {
        /// Its name, or the beginning or end of its id.
        credential: String,
        /// Its fields.
        #[command(flatten)]
        fields: Fields,
        /// A field that is asked for, without echo; may be given often.
        #[arg(long, value_name = "FIELD")]
        ask: Vec<String>,
        /// For people.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Whether skills may find it by kind and name alone.
        #[arg(long, value_name = "BOOL")]
        discoverable: Option<bool>,
        /// The hosts that it may be sent to, in place of those before; may be given often, `any` for no limit.
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
    /// Show a credential without its secrets.
    Show {
        /// Its name, or the beginning or end of its id.
        credential: String,
    },
    /// Which runs used it, the latest first.
    Uses {
        /// Its name, or the beginning or end of its id.
        credential: String,
    },
    /// Remove a credential for good; skills that use it are refused from then on.
    Remove {
        /// Its name, or the beginning or end of its id.
        credential: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Seal all credentials with a new key; the old key opens nothing after that.
    Rotate,
}

/// Kinds of credentials; `steward credential kinds` explains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum KindArg {
    Password,
    ApiKey,
    SshKey,
    Token,
    Oauth2,
    Certificate,
    Database,
}

impl From<KindArg> for CredentialKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Password => Self::Password,
            KindArg::ApiKey => Self::ApiKey,
            KindArg::SshKey => Self::SshKey,
            KindArg::Token => Self::Token,
            KindArg::Oauth2 => Self::Oauth2,
            KindArg::Certificate => Self::Certificate,
            KindArg::Database => Self::Database,
        }
    }
}

/// Roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleArg {
    Admin,
    Operator,
    Developer,
    Viewer,
}

#[cfg(test)]
mod tests {
    use super::KindArg;
    use clap::ValueEnum as _;
    use clap::builder::PossibleValue;
    use steward_core::credential::CredentialKind;

    #[test]
    fn every_kind_has_its_word() {
        let words: Vec<_> = KindArg::value_variants()
            .iter()
            .map(|kind| (CredentialKind::from(*kind), kind.to_possible_value()))
            .collect();
        assert_eq!(words.len(), CredentialKind::ALL.len());
        for (kind, word) in words {
            assert_eq!(word.as_ref().map(PossibleValue::get_name), Some(kind.as_str()));
        }
    }
}
