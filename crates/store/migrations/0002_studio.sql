-- What the studio lists, finds and keeps. Columns named folded_* hold lower case text to search in:
-- neither engine's lower() knows all letters in every locale. src/backfill.rs fills them for old rows.

alter table runs add column origin text not null default 'cli';
alter table runs add column user_id uuid;
alter table runs add column model text not null default '';
alter table runs add column verdict text;
alter table runs add column forked_from uuid;
-- The status of outcome, such as 'failed'.
alter table runs add column ended_as text;
alter table runs add column folded_title text not null default '';
alter table runs add column folded_answer text not null default '';
create index runs_at_work on runs (tenant_id, conversation_id, id) where status <> 'finished';
create index runs_by_agent on runs (tenant_id, agent_id, id);
create index runs_by_user on runs (tenant_id, user_id, id) where user_id is not null;
create index runs_by_end on runs (tenant_id, ended_as, id) where ended_as is not null;
create index runs_by_verdict on runs (tenant_id, verdict, id) where verdict is not null;

-- The order of each list is that of its index.
create index approvals_by_time on approvals (tenant_id, asked_at, id);
drop index approvals_open;
create index approvals_open on approvals (tenant_id, asked_at, id) where decided_at is null;
drop index approvals_by_run;
create index approvals_by_run on approvals (tenant_id, run_id, asked_at, id);

alter table agents add column deleted_at bigint;
drop index agents_by_name;
create unique index agents_by_name on agents (tenant_id, name) where deleted_at is null;

-- carried: what its prompts begin with.
alter table conversations add column carried text;
alter table conversations add column updated_at bigint not null default 0;
alter table conversations add column deleted_at bigint;
alter table conversations add column forked_from uuid;
alter table conversations add column folded_title text not null default '';
update conversations set updated_at = created_at;

-- The run that said it; null where an older program wrote it and it can't be told.
alter table messages add column run_id uuid;
-- Empty for what tools and the system said: people don't see that.
alter table messages add column folded_text text not null default '';

create table login_sessions (
    tenant_id     uuid   not null,
    id            uuid   not null,
    user_id       uuid   not null,
    token_hash    text   not null,
    previous_hash text,
    rotated_at    bigint not null,
    created_at    bigint not null,
    expires_at    bigint not null,
    label         text   not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users (tenant_id, id)
);
create unique index login_sessions_by_token on login_sessions (tenant_id, token_hash);
create index login_sessions_by_previous on login_sessions (tenant_id, previous_hash)
    where previous_hash is not null;
create index login_sessions_by_user on login_sessions (tenant_id, user_id);

-- No status: begun, its end is not known.
create table idempotency_keys (
    tenant_id    uuid   not null,
    owner        text   not null,
    name         text   not null,
    request_hash text   not null,
    at           bigint not null,
    status       bigint,
    body         text,
    primary key (tenant_id, owner, name)
);
create index idempotency_keys_by_time on idempotency_keys (tenant_id, at);

create table grants (
    tenant_id  uuid   not null,
    id         uuid   not null,
    agent_id   uuid   not null,
    body       text   not null,
    ends_at    bigint,
    given_by   text   not null,
    created_at bigint not null,
    primary key (tenant_id, id)
);
create index grants_by_agent on grants (tenant_id, agent_id);

create table kept_runs (
    tenant_id  uuid   not null,
    name       text   not null,
    run_id     uuid   not null,
    kept_by    text   not null,
    created_at bigint not null,
    primary key (tenant_id, name),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);
