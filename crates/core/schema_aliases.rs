/// Where the ids are declared, one a line.
const IDS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../core/src/id.rs"));

/// For the build scripts of the crates that derive schemas: writes to where the derive looks for it what stands for newtypes
/// of the core in the API's document, which is their field's type, never a schema of their own.
fn write_schema_aliases() {
    let Some((_, ids)) = IDS.split_once("\nid! {\n") else { panic!("core/src/id.rs has no `id! {{`") };
    let lines = ids.lines().take_while(|line| *line != "}").map(str::trim);
    let names = lines.filter(|line| !line.starts_with("//")).map(|line| line.trim_end_matches(','));
    let config = utoipa_config::Config::new().alias_for("Timestamp", "i64");
    names.fold(config, |config, name| config.alias_for(name, "Uuid")).write_to_file();
}
