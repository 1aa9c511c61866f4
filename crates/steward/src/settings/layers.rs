//! Who says what a setting is: options, variables, the file.

use super::variable;
use crate::cli::{Global, Serve};
use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};
use steward_app::config::{FIELDS, Layers, Source, give_database, give_listen, read_file as read_text};
use steward_core::hash::sha256;

/// Name of the file, in the data directory.
const FILE: &str = "steward.toml";

/// What the options that every command takes and the variables say.
pub fn given(global: &Global) -> Layers {
    let mut layers = Layers::default();
    // The option or its variable gives all parts of it.
    if let Some(url) = &global.database {
        let (source, by) = source(url, "STEWARD_DATABASE", "--database");
        give_database(&mut layers, url, source, by);
    }
    for field in FIELDS.iter().filter(|field| field.variable != "STEWARD_LISTEN") {
        if let Some(value) = variable(field.variable) {
            layers.give(field.name, Source::Environment, field.variable, value);
        }
    }
    let data_dir = global.data_dir.as_ref().map(|dir| dir.display().to_string());
    give(&mut layers, "DATA_DIR", data_dir);
    give(&mut layers, "DEFAULT_CONNECTION", global.connection.clone());
    give(&mut layers, "LOCAL_MODEL_FILE", global.model_file.clone());
    give(&mut layers, "LOG_LEVEL", global.log.clone());
    layers
}

/// What the options of `serve` say.
pub fn give_serving(layers: &mut Layers, args: &Serve) {
    if let Some(address) = &args.listen {
        let (source, by) = source(address, "STEWARD_LISTEN", "--listen");
        give_listen(layers, address, source, by);
    }
    give(layers, "NFS_BASE_PATH", args.workspace.as_ref().map(|dir| dir.display().to_string()));
    give(layers, "WEB_ALLOW", Some(args.allow.join(",")).filter(|all| !all.is_empty()));
    give(layers, "CORS_ORIGINS", Some(args.host.join(",")).filter(|all| !all.is_empty()));
}

/// Gives the value of an option, which may have come from its variable.
fn give(layers: &mut Layers, name: &'static str, value: Option<String>) {
    let field = FIELDS.iter().find(|field| field.name == name);
    if let Some((field, value)) = field.zip(value) {
        let (source, by) = source(&value, field.variable, field.option);
        layers.give(name, source, by, value);
    }
}

/// An option that says the same as its variable makes no difference.
fn source(value: &str, name: &'static str, option: &'static str) -> (Source, &'static str) {
    if variable(name).as_deref() == Some(value) { (Source::Environment, name) } else { (Source::Option, option) }
}

/// Notes how the files are that settings name, so that a change of what they say is seen.
fn stamp_files(layers: &mut Layers, data_dir: &Path) {
    for (name, usual) in [("MAIL_FILE", super::MAIL), ("TERMINAL_FILE", super::TERMINAL)] {
        let path = layers.set(name).map_or_else(|| data_dir.join(usual), PathBuf::from);
        let text = std::fs::read(&path).unwrap_or_default();
        layers.stamp(name, sha256(&text));
    }
}

/// Reads the file that `STEWARD_CONFIG` names, which must exist, else `steward.toml` in the data directory. Returns its path.
pub fn read_file(layers: &mut Layers, data_dir: &Path) -> anyhow::Result<PathBuf> {
    let named = variable("STEWARD_CONFIG");
    let path = named.as_deref().map_or_else(|| data_dir.join(FILE), PathBuf::from);
    layers.set_default("CONFIG_FILE", path.display().to_string());
    let Some((path, text)) = super::settings_file(named.as_deref(), data_dir, FILE)? else {
        stamp_files(layers, data_dir);
        return Ok(path);
    };
    let by = path.display().to_string();
    read_text(&text, &by, layers).map_err(anyhow::Error::msg).with_context(|| format!("{by} can't be used"))?;
    stamp_files(layers, data_dir);
    let wrong: Vec<String> = layers.wrong().into_iter().map(|(_, wrong)| wrong.to_string()).collect();
    if !wrong.is_empty() {
        bail!("{by}: {}", wrong.join("; "));
    }
    Ok(path)
}
