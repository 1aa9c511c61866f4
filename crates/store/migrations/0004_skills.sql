-- Skills and their versions, packages, MCP servers, the vault's rows. Which skills an agent has stands in
-- the agent's own body and nowhere else. sort_key is the name's UTF-8 in hexadecimal: its order is that
-- of the bytes on both engines, whatever the database's locale.

-- body: the current version; folded: name and description to search in.
create table skills (
    tenant_id uuid   not null,
    id        uuid   not null,
    name      text   not null,
    sort_key  text   not null,
    version   bigint not null,
    kind      text   not null,
    category  text   not null,
    package   text,
    folded    text   not null,
    body      text   not null,
    primary key (tenant_id, id)
);
create unique index skills_by_name on skills (tenant_id, name);
create index skills_by_order on skills (tenant_id, sort_key);

-- No foreign key to skills: versions outlive the removal of their skill, since runs refer to them.
create table skill_versions (
    tenant_id uuid   not null,
    skill_id  uuid   not null,
    version   bigint not null,
    body      text   not null,
    primary key (tenant_id, skill_id, version)
);

create table skill_packages (
    tenant_id uuid   not null,
    name      text   not null,
    sort_key  text   not null,
    revision  bigint not null,
    body      text   not null,
    primary key (tenant_id, name, revision)
);
create index skill_packages_by_order on skill_packages (tenant_id, sort_key, revision);

create table mcp_servers (
    tenant_id uuid not null,
    id        uuid not null,
    name      text not null,
    body      text not null,
    primary key (tenant_id, id)
);
create unique index mcp_servers_by_name on mcp_servers (tenant_id, name);

-- body: what may be shown; sealed: nonce and ciphertext, hexadecimal. All rows of a tenant have the
-- same key_id.
create table credentials (
    tenant_id uuid   not null,
    id        uuid   not null,
    name      text   not null,
    sort_key  text   not null,
    body      text   not null,
    key_id    text   not null,
    sealed    text   not null,
    used_at   bigint,
    primary key (tenant_id, id)
);
create unique index credentials_by_name on credentials (tenant_id, name);
create index credentials_by_order on credentials (tenant_id, sort_key);

-- No foreign key to credentials: the record of uses outlives them. n tells uses of one instant apart.
create table credential_uses (
    tenant_id     uuid   not null,
    credential_id uuid   not null,
    at            bigint not null,
    n             bigint not null,
    run_id        uuid,
    body          text   not null,
    primary key (tenant_id, credential_id, at, n)
);
