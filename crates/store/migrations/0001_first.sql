-- One text for SQLite and PostgreSQL. Times are milliseconds since 1970 UTC, JSON is text (so that
-- what a newer program wrote survives an older one), flags are 0 or 1.
-- A run's last_seq is max(seq) of its events: it is stored nowhere else, so it can't disagree.

create table runs (
    tenant_id       uuid   not null,
    id              uuid   not null,
    agent_id        uuid   not null,
    conversation_id uuid,
    title           text   not null,
    status          text   not null,
    outcome         text,
    answer          text,
    created_at      bigint not null,
    updated_at      bigint not null,
    tokens          bigint not null,
    cost_micros     bigint not null,
    owner           text,
    epoch           bigint not null,
    lease_until     bigint,
    commands        bigint not null,
    primary key (tenant_id, id)
);
create index runs_open on runs (tenant_id, id) where status <> 'finished';
create index runs_by_conversation on runs (tenant_id, conversation_id, id)
    where conversation_id is not null;

-- No foreign key to runs: every append proves the run by its lease in the same transaction, and a
-- key check for each event would double that work.
create table events (
    tenant_id uuid   not null,
    run_id    uuid   not null,
    seq       bigint not null,
    epoch     bigint not null,
    at        bigint not null,
    kind      text   not null,
    body      text,
    blob      text,
    primary key (tenant_id, run_id, seq)
);

-- What was about to happen since a crash, over all runs: looked at once for each write that was cut off.
create index events_staged on events (tenant_id, at) where kind = 'tool.staged';

create table run_inbox (
    tenant_id uuid   not null,
    run_id    uuid   not null,
    id        bigint not null,
    timer_id  uuid,
    body      text   not null,
    primary key (tenant_id, run_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);

create table timers (
    tenant_id uuid   not null,
    run_id    uuid   not null,
    id        uuid   not null,
    at        bigint not null,
    purpose   text   not null,
    done      bigint not null,
    primary key (tenant_id, run_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);
create index timers_due on timers (tenant_id, at) where done = 0;

-- decided_at without an answer: withdrawn.
create table approvals (
    tenant_id  uuid   not null,
    id         uuid   not null,
    run_id     uuid   not null,
    subject    text   not null,
    about      text   not null,
    asked_at   bigint not null,
    answer     text,
    decided_by text,
    decided_at bigint,
    primary key (tenant_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);
create index approvals_by_run on approvals (tenant_id, run_id);
create index approvals_open on approvals (tenant_id, asked_at) where decided_at is null;

-- Files whose content came from outside: uploads that were copied, what a run wrote that had read something of outside.
create table outside_files (
    tenant_id uuid not null,
    workspace text not null,
    path      text not null,
    origin    text not null,
    primary key (tenant_id, workspace, path)
);

create table agents (
    tenant_id uuid not null,
    id        uuid not null,
    name      text not null,
    body      text not null,
    primary key (tenant_id, id)
);
create unique index agents_by_name on agents (tenant_id, name);

create table conversations (
    tenant_id  uuid   not null,
    id         uuid   not null,
    agent_id   uuid   not null,
    user_id    uuid,
    title      text   not null,
    created_at bigint not null,
    messages   bigint not null,
    primary key (tenant_id, id)
);

create table messages (
    tenant_id       uuid   not null,
    conversation_id uuid   not null,
    seq             bigint not null,
    body            text   not null,
    primary key (tenant_id, conversation_id, seq),
    foreign key (tenant_id, conversation_id) references conversations (tenant_id, id)
);

create table settings (
    tenant_id uuid not null,
    name      text not null,
    value     text not null,
    primary key (tenant_id, name)
);

create table connections (
    tenant_id uuid not null,
    id        uuid not null,
    name      text not null,
    body      text not null,
    primary key (tenant_id, id)
);
create unique index connections_by_name on connections (tenant_id, name);

create table users (
    tenant_id     uuid   not null,
    id            uuid   not null,
    email         text   not null,
    name          text   not null,
    role          text   not null,
    password_hash text,
    api_key_hash  text,
    created_at    bigint not null,
    primary key (tenant_id, id)
);
create unique index users_by_email on users (tenant_id, email);
create unique index users_by_api_key on users (tenant_id, api_key_hash)
    where api_key_hash is not null;

create table memories (
    tenant_id uuid   not null,
    agent_id  uuid   not null,
    text      text   not null,
    version   bigint not null,
    primary key (tenant_id, agent_id)
);

create table notes (
    tenant_id  uuid   not null,
    agent_id   uuid   not null,
    title      text   not null,
    text       text   not null,
    updated_at bigint not null,
    primary key (tenant_id, agent_id, title)
);

create table reminders (
    tenant_id uuid   not null,
    agent_id  uuid   not null,
    id        text   not null,
    at        bigint not null,
    text      text   not null,
    done      bigint not null,
    removed   bigint not null default 0,
    primary key (tenant_id, agent_id, id)
);
