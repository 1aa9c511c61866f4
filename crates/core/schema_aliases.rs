/// Newtypes of the core, by what stands for them in the API's document: their field's type, never a schema of their own.
/// For the build scripts of the crates that derive schemas.
const SCHEMA_ALIASES: &[(&str, &str)] = &[
    ("AgentId", "Uuid"),
    ("ApprovalId", "Uuid"),
    ("BudgetId", "Uuid"),
    ("CollectionId", "Uuid"),
    ("ConnectionId", "Uuid"),
    ("ConversationId", "Uuid"),
    ("CredentialId", "Uuid"),
    ("DocumentId", "Uuid"),
    ("GroupId", "Uuid"),
    ("DatasourceId", "Uuid"),
    ("IngestJobId", "Uuid"),
    ("RecordChangeId", "Uuid"),
    ("KeyId", "Uuid"),
    ("McpServerId", "Uuid"),
    ("ReservationId", "Uuid"),
    ("RunId", "Uuid"),
    ("SkillId", "Uuid"),
    ("TenantId", "Uuid"),
    ("TimerId", "Uuid"),
    ("UserId", "Uuid"),
    ("WatchedPathId", "Uuid"),
    ("Timestamp", "i64"),
];

/// Writes them to where the derive of schemas looks for them.
fn write_schema_aliases() {
    let config = utoipa_config::Config::new();
    SCHEMA_ALIASES.iter().fold(config, |config, (name, is)| config.alias_for(name, is)).write_to_file();
}
