-- One text for SQLite and PostgreSQL. Times are milliseconds since 1970 UTC, JSON is text (so that
-- what a newer program wrote survives an older one), flags are 0 or 1.
-- Columns named folded_* hold lower case text to search in: neither engine's lower() knows all letters in every locale.
-- A run's last_seq is max(seq) of its events: it is stored nowhere else, so it can't disagree.
-- Columns with what people say, or that name them, have a mark behind them, which src/words.rs reads: when a person is
-- erased, their names are replaced in columns of `words`, of `words, once CONDITION` in rows where that holds, and only
-- counted in columns of `words, kept`.

-- The customers of the installation. Every other table is keyed by one of them.
create table tenants (
    id          uuid   not null,
    slug        text   not null,
    name        text   not null,
    created_at  bigint not null,
    disabled_at bigint,
    primary key (id)
);
create unique index tenants_by_slug on tenants (slug);

create table runs (
    tenant_id       uuid   not null,
    id              uuid   not null,
    agent_id        uuid   not null,
    conversation_id uuid,
    title           text   not null, -- words
    status          text   not null,
    outcome         text, -- words
    answer          text, -- words
    created_at      bigint not null,
    updated_at      bigint not null,
    tokens          bigint not null,
    cost_micros     bigint not null,
    owner           text,
    epoch           bigint not null,
    lease_until     bigint,
    commands        bigint not null,
    origin          text   not null,
    user_id         uuid,
    model           text   not null,
    verdict         text,
    forked_from     uuid,
    -- The status of outcome, such as 'failed'.
    ended_as        text,
    folded_title    text   not null, -- words
    folded_answer   text   not null, -- words
    -- The tools that its first event names by their hash, see tool_sets.
    tool_set        text,
    primary key (tenant_id, id)
);
create index runs_by_time on runs (tenant_id, created_at);
create index runs_open on runs (tenant_id, id) where status <> 'finished';
create index runs_by_conversation on runs (tenant_id, conversation_id, id)
    where conversation_id is not null;
create index runs_at_work on runs (tenant_id, conversation_id, id) where status <> 'finished';
create index runs_by_agent on runs (tenant_id, agent_id, id);
create index runs_by_user on runs (tenant_id, user_id, id) where user_id is not null;
create index runs_by_end on runs (tenant_id, ended_as, id) where ended_as is not null;
create index runs_by_verdict on runs (tenant_id, verdict, id) where verdict is not null;

-- Whose run that waited began when: the greater, the later. The runs of nobody have the id of only zeros.
create table run_turns (
    tenant_id uuid   not null,
    user_id   uuid   not null,
    turn      bigint not null,
    primary key (tenant_id, user_id)
);

-- The tools of a run, as JSON, kept once however many runs have them.
create table tool_sets (
    tenant_id uuid not null,
    hash      text not null,
    body      text not null,
    primary key (tenant_id, hash)
);

-- No foreign key to runs: every append proves the run by its lease in the same transaction, and a
-- key check for each event would double that work.
create table events (
    tenant_id uuid   not null,
    run_id    uuid   not null,
    seq       bigint not null,
    epoch     bigint not null,
    at        bigint not null,
    kind      text   not null,
    body      text, -- words, once exists (select 1 from runs r where r.tenant_id = events.tenant_id and r.id = events.run_id and r.status = 'finished')
    blob      text,
    -- The blobs that a body which is a blob itself names, such as files before a change: hashes with a space between.
    blob_names text,
    primary key (tenant_id, run_id, seq)
);

-- Whether another row of the tenant has a large body, before that is deleted: equal bodies are kept once.
create index events_by_blob on events (tenant_id, blob) where blob is not null;

-- Large bodies that a row had: to be deleted where no other has them.
create table unused_blobs (
    tenant_id uuid not null,
    hash      text not null,
    primary key (tenant_id, hash)
);

-- What was about to happen since a crash, over all runs: looked at once for each write that was cut off.
create index events_staged on events (tenant_id, at) where kind = 'tool.staged';

create table run_inbox (
    tenant_id uuid   not null,
    run_id    uuid   not null,
    id        bigint not null,
    timer_id  uuid,
    body      text   not null, -- words, once exists (select 1 from runs r where r.tenant_id = run_inbox.tenant_id and r.id = run_inbox.run_id and r.status = 'finished')
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
    subject    text   not null, -- words, once decided_at is not null
    about      text   not null, -- words, once decided_at is not null
    asked_at   bigint not null,
    answer     text, -- words
    decided_by text, -- words
    decided_at bigint,
    primary key (tenant_id, id),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);
-- The order of each list is that of its index.
create index approvals_by_time on approvals (tenant_id, asked_at, id);
create index approvals_open on approvals (tenant_id, asked_at, id) where decided_at is null;
create index approvals_by_run on approvals (tenant_id, run_id, asked_at, id);

-- Files whose content may come from outside, or be confidential: what runs wrote that had read such. A folder stands for
-- all that is in it. origins: a JSON list. level: the classification, as JSON.
create table file_provenance (
    tenant_id uuid   not null,
    workspace text   not null,
    path      text   not null,
    origins   text   not null,
    level     text,
    at        bigint not null,
    primary key (tenant_id, workspace, path)
);

create table agents (
    tenant_id  uuid not null,
    id         uuid not null,
    name       text not null,
    body       text not null, -- words, kept
    deleted_at bigint,
    primary key (tenant_id, id)
);
create unique index agents_by_name on agents (tenant_id, name) where deleted_at is null;

-- carried: what its prompts begin with.
create table conversations (
    tenant_id    uuid   not null,
    id           uuid   not null,
    agent_id     uuid   not null,
    user_id      uuid,
    title        text   not null, -- words
    folded_title text   not null, -- words
    carried      text, -- words
    created_at   bigint not null,
    updated_at   bigint not null,
    deleted_at   bigint,
    forked_from  uuid,
    messages     bigint not null,
    primary key (tenant_id, id)
);

-- run_id: the run that said it. folded_text is empty for what tools and the system said: people don't see that.
create table messages (
    tenant_id       uuid   not null,
    conversation_id uuid   not null,
    seq             bigint not null,
    body            text   not null, -- words
    run_id          uuid,
    folded_text     text   not null, -- words
    primary key (tenant_id, conversation_id, seq),
    foreign key (tenant_id, conversation_id) references conversations (tenant_id, id)
);

-- version: counts the changes of what is changed from a version that was read.
create table settings (
    tenant_id uuid   not null,
    name      text   not null,
    value     text   not null, -- words, kept
    version   bigint not null default 0,
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

-- folded: email and name to search in. sort_key: see skills.
create table users (
    tenant_id             uuid   not null,
    id                    uuid   not null,
    email                 text   not null,
    sort_key              text   not null,
    name                  text   not null,
    folded                text   not null,
    role                  text   not null,
    password_hash         text,
    api_key_hash          text,
    created_at            bigint not null,
    disabled_at           bigint,
    last_login_at         bigint,
    invitation_hash       text,
    invitation_expires_at bigint,
    primary key (tenant_id, id)
);
create unique index users_by_email on users (tenant_id, email);
create index users_by_order on users (tenant_id, sort_key);
create index users_admins on users (tenant_id, id) where role = 'admin';
create unique index users_by_api_key on users (tenant_id, api_key_hash)
    where api_key_hash is not null;
create unique index users_by_invitation on users (tenant_id, invitation_hash)
    where invitation_hash is not null;

-- source: where its members are kept, such as 'ldap'; empty: here. Groups of two sources may have one name, and are two.
-- folded_name: lower case. folded: name and description to search in. sort_key: see skills, of folded_name and the source.
create table user_groups (
    tenant_id   uuid   not null,
    id          uuid   not null,
    name        text   not null, -- words, kept
    folded_name text   not null,
    sort_key    text   not null,
    folded      text   not null,
    description text   not null, -- words, kept
    source      text   not null,
    external_id text,
    created_at  bigint not null,
    primary key (tenant_id, id)
);
create unique index user_groups_by_name on user_groups (tenant_id, folded_name, source);
create index user_groups_by_order on user_groups (tenant_id, sort_key);

create table group_members (
    tenant_id uuid not null,
    group_id  uuid not null,
    user_id   uuid not null,
    -- Who says so: a directory or provider, or empty for an administrator.
    source    text not null,
    primary key (tenant_id, group_id, user_id),
    foreign key (tenant_id, group_id) references user_groups (tenant_id, id),
    foreign key (tenant_id, user_id) references users (tenant_id, id)
);
create index group_members_by_user on group_members (tenant_id, user_id);

-- Resources that only operators and those with a grant may use.
create table restricted_resources (
    tenant_id   uuid not null,
    kind        text not null,
    resource_id uuid not null,
    primary key (tenant_id, kind, resource_id)
);

create table resource_grants (
    tenant_id    uuid   not null,
    kind         text   not null,
    resource_id  uuid   not null,
    grantee_kind text   not null,
    grantee_id   uuid   not null,
    level        text   not null,
    given_by     text   not null, -- words
    given_at     bigint not null,
    primary key (tenant_id, kind, resource_id, grantee_kind, grantee_id)
);
create index resource_grants_by_grantee on resource_grants (tenant_id, grantee_id);
-- Who they are to other programs: the issuer of tokens, or a directory, and its own id of them.
create table external_accounts (
    tenant_id uuid   not null,
    issuer    text   not null,
    subject   text   not null,
    user_id   uuid   not null,
    linked_at bigint not null,
    primary key (tenant_id, issuer, subject)
);
create index external_accounts_by_user on external_accounts (tenant_id, user_id);

-- What a provider keeps of users by SCIM. removed_at: it has removed them, which disables and keeps them.
create table scim_users (
    tenant_id        uuid   not null,
    user_id          uuid   not null,
    user_name        text   not null,
    folded_user_name text   not null,
    external_id      text,
    attributes       text   not null,
    made             bigint not null,
    updated_at       bigint not null,
    removed_at       bigint,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users (tenant_id, id)
);
create unique index scim_users_by_name on scim_users (tenant_id, folded_user_name);

create table scim_tokens (
    tenant_id    uuid   not null,
    id           uuid   not null,
    name         text   not null,
    folded_name  text   not null,
    prefix       text   not null,
    secret_hash  text   not null,
    created_by   text   not null, -- words
    created_at   bigint not null,
    last_used_at bigint,
    primary key (tenant_id, id)
);
create unique index scim_tokens_by_name on scim_tokens (tenant_id, folded_name);
create unique index scim_tokens_by_secret on scim_tokens (tenant_id, secret_hash);

create table second_factors (
    tenant_id    uuid   not null,
    user_id      uuid   not null,
    sealed       text   not null,
    confirmed_at bigint,
    last_step    bigint not null,
    primary key (tenant_id, user_id)
);

create table recovery_codes (
    tenant_id uuid not null,
    user_id   uuid not null,
    code_hash text not null,
    primary key (tenant_id, user_id, code_hash)
);

-- What agents keep for a user, or for all of theirs where user_id is the nil id. provenance: that of the runs which
-- wrote it, as JSON; null: nothing is to be said of it.
create table memories (
    tenant_id  uuid   not null,
    agent_id   uuid   not null,
    user_id    uuid   not null,
    text       text   not null, -- words
    version    bigint not null,
    provenance text, -- words
    primary key (tenant_id, agent_id, user_id)
);
create index memories_by_user on memories (tenant_id, user_id);

-- What agents write down about the tables of their private databases.
create table database_docs (
    tenant_id  uuid   not null,
    agent_id   uuid   not null,
    user_id    uuid   not null,
    text       text   not null, -- words
    version    bigint not null,
    provenance text, -- words
    primary key (tenant_id, agent_id, user_id)
);
create index database_docs_by_user on database_docs (tenant_id, user_id);

create table notes (
    tenant_id  uuid   not null,
    agent_id   uuid   not null,
    user_id    uuid   not null,
    title      text   not null, -- words, kept
    text       text   not null, -- words
    updated_at bigint not null,
    provenance text, -- words
    primary key (tenant_id, agent_id, user_id, title)
);
create index notes_by_user on notes (tenant_id, user_id);

create table reminders (
    tenant_id  uuid   not null,
    agent_id   uuid   not null,
    user_id    uuid   not null,
    id         text   not null,
    at         bigint not null,
    text       text   not null, -- words
    done       bigint not null,
    provenance text, -- words
    primary key (tenant_id, agent_id, user_id, id)
);
create index reminders_by_user on reminders (tenant_id, user_id);

-- What starts runs by itself. body: JSON. planned_until: each occurrence up to it has its row. wake_at: when it is next
-- decided on. revision rises with each write.
create table schedules (
    tenant_id     uuid   not null,
    id            uuid   not null,
    owner_id      uuid   not null,
    agent_id      uuid   not null,
    body          text   not null, -- words
    planned_until bigint not null,
    wake_at       bigint,
    resumed_at    bigint not null,
    revision      bigint not null,
    created_at    bigint not null,
    updated_at    bigint not null,
    deleted_at    bigint,
    primary key (tenant_id, id)
);
create index schedules_by_owner on schedules (tenant_id, owner_id, id);
create index schedules_due on schedules (tenant_id, wake_at) where wake_at is not null;

-- The times at which schedules are due, before they are. fate: 'ran', 'joined', 'skipped' or 'missed'; unset until it has one.
-- running: its run has not been seen to end.
create table occurrences (
    tenant_id   uuid   not null,
    schedule_id uuid   not null,
    nominal     bigint not null,
    due         bigint not null,
    queued      bigint not null,
    by_hand     bigint not null,
    fate        text,
    reason      text,
    joined      bigint,
    settled_at  bigint,
    run_id      uuid,
    running     bigint not null,
    outcome     text,
    primary key (tenant_id, schedule_id, nominal)
);
create index occurrences_open on occurrences (tenant_id, schedule_id, nominal) where fate is null;
create index occurrences_running on occurrences (tenant_id, schedule_id, nominal) where running = 1;

-- What starts runs when somebody else's program calls. body: JSON. revision rises with each write.
create table hooks (
    tenant_id  uuid   not null,
    id         uuid   not null,
    owner_id   uuid   not null,
    agent_id   uuid   not null,
    body       text   not null, -- words
    resumed_at bigint not null,
    revision   bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint,
    primary key (tenant_id, id)
);
create index hooks_by_id on hooks (id);
create index hooks_by_owner on hooks (tenant_id, owner_id, id);

-- Their calls. event: what the sender calls it. fate: 'started', 'skipped' or 'failed'; unset while it waits for its run.
-- content: JSON, what was sent, while it is kept.
create table deliveries (
    tenant_id   uuid   not null,
    id          uuid   not null,
    hook_id     uuid   not null,
    event       text   not null, -- words
    received_at bigint not null,
    fate        text,
    reason      text, -- words
    settled_at  bigint,
    run_id      uuid,
    outcome     text,
    repeats     bigint not null,
    bytes       bigint not null,
    content     text, -- words
    primary key (tenant_id, hook_id, id)
);
create unique index deliveries_by_event on deliveries (tenant_id, hook_id, event);
create index deliveries_waiting on deliveries (tenant_id, hook_id, id) where fate is null;

-- Addresses that are told of what happens. body: JSON.
create table subscriptions (
    tenant_id  uuid   not null,
    id         uuid   not null,
    owner_id   uuid   not null,
    body       text   not null, -- words
    revision   bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint,
    primary key (tenant_id, id)
);
create index subscriptions_by_owner on subscriptions (tenant_id, owner_id, id);

-- What is on its way to them. seq: of the entry of the audit trail that it tells of. next_at: when it is tried; unset once it
-- arrived (sent_at) or is given up. last: what the last try came to.
create table dispatches (
    tenant_id       uuid   not null,
    id              uuid   not null,
    subscription_id uuid   not null,
    seq             bigint not null,
    kind            text   not null,
    subject         text   not null,
    body            text   not null, -- words
    made_at         bigint not null,
    next_at         bigint,
    tries           bigint not null,
    sent_at         bigint,
    last            text, -- words
    primary key (tenant_id, id)
);
create index dispatches_of on dispatches (tenant_id, subscription_id, id);
create index dispatches_due on dispatches (tenant_id, next_at) where next_at is not null;
create index dispatches_waiting on dispatches (tenant_id, subscription_id, subject, id) where next_at is not null;

-- Up to which entry of the audit trail dispatches were made.
create table dispatch_ends (
    tenant_id uuid   not null,
    seq       bigint not null,
    primary key (tenant_id)
);

-- What the tokens of a text stand for that somebody had masked, sealed.
create table mask_maps (
    tenant_id uuid   not null,
    id        uuid   not null,
    user_id   uuid   not null,
    made_at   bigint not null,
    ends_at   bigint not null,
    sealed    text   not null,
    primary key (tenant_id, id)
);
create index mask_maps_by_end on mask_maps (tenant_id, ends_at);

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

-- Files that people have sent into the workspace, so that each has a share of the disk.
create table uploads (
    tenant_id uuid   not null,
    path      text   not null,
    user_id   uuid   not null,
    bytes     bigint not null,
    at        bigint not null,
    primary key (tenant_id, path)
);
create index uploads_by_user on uploads (tenant_id, user_id, path);

-- No status: begun, its end is not known.
create table idempotency_keys (
    tenant_id    uuid   not null,
    owner        text   not null,
    name         text   not null,
    request_hash text   not null,
    at           bigint not null,
    status       bigint,
    body         text,
    -- Of the request's own body, where request_hash is that of its address alone.
    body_hash    text,
    primary key (tenant_id, owner, name)
);
create index idempotency_keys_by_time on idempotency_keys (tenant_id, at);

-- Answers under /v1 by the ids that clients have of them: an agent's, which is a run, or a connection's.
create table responses (
    tenant_id     uuid   not null,
    id            text   not null,
    user_id       uuid   not null,
    -- The virtual key that it was asked for with.
    key_id        uuid,
    run_id        uuid,
    connection_id uuid,
    -- What of its request an answer repeats.
    request       text   not null, -- words
    request_hash  text   not null,
    -- 0: the run is deleted when it has ended.
    stored        bigint not null,
    at            bigint not null,
    primary key (tenant_id, id)
);
create index responses_by_time on responses (tenant_id, at);
create index responses_by_request on responses (tenant_id, user_id, request_hash, at);
create index responses_not_stored on responses (tenant_id, id) where stored = 0;

create table grants (
    tenant_id  uuid   not null,
    id         uuid   not null,
    agent_id   uuid   not null,
    body       text   not null, -- words, kept
    ends_at    bigint,
    given_by   text   not null, -- words
    created_at bigint not null,
    primary key (tenant_id, id)
);
create index grants_by_agent on grants (tenant_id, agent_id);

create table kept_runs (
    tenant_id  uuid   not null,
    name       text   not null,
    run_id     uuid   not null,
    kept_by    text   not null, -- words
    created_at bigint not null,
    primary key (tenant_id, name),
    foreign key (tenant_id, run_id) references runs (tenant_id, id)
);

-- What is spent: hard budgets, what is set aside for calls in flight, the record of usage; virtual
-- keys; report cards of models. Ids that don't apply are nil in usage_days (a null would not be one
-- in a key) and null elsewhere.

-- since: the beginning of the period that spent_* count; null: not counted yet.
create table spend_limits (
    tenant_id         uuid   not null,
    id                uuid   not null,
    scope             text   not null,
    owner_id          uuid   not null,
    period            text   not null,
    tokens            bigint,
    cost_micros       bigint,
    since             bigint,
    spent_tokens      bigint not null,
    spent_cost_micros bigint not null,
    primary key (tenant_id, id)
);
create unique index spend_limits_by_scope on spend_limits (tenant_id, scope, owner_id, period);

-- Only calls that some limit counts are here.
-- place: 0 counts under all limits; the others are further connections that the call may come to, each under its own.
create table reservations (
    tenant_id     uuid   not null,
    id            uuid   not null,
    place         bigint not null,
    user_id       uuid,
    agent_id      uuid,
    connection_id uuid,
    key_id        uuid,
    tokens        bigint not null,
    cost_micros   bigint not null,
    ends_at       bigint not null,
    primary key (tenant_id, id, place)
);
create index reservations_by_end on reservations (tenant_id, ends_at);

-- day: days of UTC since 1970-01-01.
create table usage_days (
    tenant_id         uuid   not null,
    day               bigint not null,
    user_id           uuid   not null,
    agent_id          uuid   not null,
    connection_id     uuid   not null,
    key_id            uuid   not null,
    model             text   not null,
    calls             bigint not null,
    failed            bigint not null,
    unpriced          bigint not null,
    prompt_tokens     bigint not null,
    cached_tokens     bigint not null,
    completion_tokens bigint not null,
    cost_micros       bigint not null,
    primary key (tenant_id, day, user_id, agent_id, connection_id, key_id, model)
);

create table virtual_keys (
    tenant_id   uuid   not null,
    id          uuid   not null,
    user_id     uuid   not null,
    secret_hash text   not null,
    body        text   not null,
    expires_at  bigint,
    revoked_at  bigint,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users (tenant_id, id)
);
create unique index virtual_keys_by_secret on virtual_keys (tenant_id, secret_hash);
create index virtual_keys_by_user on virtual_keys (tenant_id, user_id, id);

create table exam_reports (
    tenant_id uuid   not null,
    endpoint  text   not null,
    model     text   not null,
    body      text   not null,
    primary key (tenant_id, endpoint, model)
);

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
    body      text   not null, -- words, kept
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

-- Users' databases, the texts that describe them with all their versions, what models are told about them, and changes of
-- records that wait for a person. body: JSON.
create table datasources (
    tenant_id uuid   not null,
    id        uuid   not null,
    name      text   not null,
    version   bigint not null,
    body      text   not null,
    primary key (tenant_id, id)
);
create unique index datasources_by_name on datasources (tenant_id, name);

-- provenance: of the run that saved it, or the database that it was first written from; null: a person answers for it.
create table domain_texts (
    tenant_id  uuid   not null,
    kind       text   not null,
    name       text   not null,
    version    bigint not null,
    changed_at bigint not null,
    changed_by uuid,
    text       text   not null,
    provenance text, -- words
    primary key (tenant_id, kind, name)
);

-- Which group a name in the text of a domain means: that of this name when the text was saved, whatever it is called now.
create table domain_groups (
    tenant_id uuid not null,
    domain    text not null,
    name      text not null, -- words, kept
    group_id  uuid not null,
    primary key (tenant_id, domain, name)
);

-- removed: this version is the one that took the text away.
create table domain_text_versions (
    tenant_id  uuid   not null,
    kind       text   not null,
    name       text   not null,
    version    bigint not null,
    changed_at bigint not null,
    changed_by uuid,
    removed    bigint not null,
    text       text   not null,
    provenance text, -- words
    primary key (tenant_id, kind, name, version)
);

create table standing_instructions (
    tenant_id uuid   not null,
    name      text   not null,
    version   bigint not null,
    body      text   not null,
    primary key (tenant_id, name)
);

create table verified_questions (
    tenant_id uuid   not null,
    id        text   not null,
    at        bigint not null,
    body      text   not null, -- words
    primary key (tenant_id, id)
);

create table record_changes (
    tenant_id   uuid   not null,
    id          uuid   not null,
    domain      text   not null,
    state       text   not null,
    owner_id    uuid,
    run_id      uuid,
    proposed_at bigint not null,
    version     bigint not null,
    body        text   not null, -- words, kept
    primary key (tenant_id, id)
);
create index record_changes_by_state on record_changes (tenant_id, state, id);

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

-- The audit trail. Whoever writes an entry down puts it into audit_pending, as JSON, in the transaction of what it is
-- about; a moment later it moves to audit_entries, where it has its place in the chain. Rows of audit_entries are never
-- changed.

create table audit_pending (
    tenant_id uuid not null,
    id        uuid not null,
    body      text not null, -- words, kept
    primary key (tenant_id, id)
);

-- detail: JSON. folded: what is searched in, no part of the hash.
create table audit_entries (
    tenant_id uuid   not null,
    seq       bigint not null,
    id        uuid   not null,
    at        bigint not null,
    actor     text   not null, -- words, kept
    actor_id  uuid,
    origin    text,
    address   text,
    action    text   not null,
    target    text   not null, -- words, kept
    result    text   not null,
    run_id    uuid,
    detail    text   not null, -- words, kept
    hash      text   not null,
    folded    text   not null,
    primary key (tenant_id, seq)
);
create index audit_entries_by_time on audit_entries (tenant_id, at, seq);
create index audit_entries_by_actor on audit_entries (tenant_id, actor, seq);
create index audit_entries_by_action on audit_entries (tenant_id, action, seq);
create index audit_entries_by_run on audit_entries (tenant_id, run_id, seq) where run_id is not null;

-- Where the chain ends, so that a cut shows; and the last entry that the retention deleted, where it begins.
create table audit_ends (
    tenant_id   uuid   not null,
    seq         bigint not null,
    hash        text   not null,
    anchor_seq  bigint not null,
    anchor_hash text   not null,
    primary key (tenant_id)
);

-- Documents. body: JSON, what is not asked for by itself. next_model: the one that takes the place of embedding_model once
-- all vectors of it are made.
create table collections (
    tenant_id           uuid not null,
    id                  uuid not null,
    folded_name         text not null,
    sort_key            text not null,
    embedding_model     text,
    embedding_dimension bigint,
    next_model          text,
    next_dimension      bigint,
    body                text not null,
    primary key (tenant_id, id)
);
create unique index collections_by_name on collections (tenant_id, folded_name);

-- source_key: a hash of origin and source. due_at: when it is next worked on; unset: it isn't. content_change: the change
-- that brought its chunks.
create table documents (
    tenant_id      uuid   not null,
    id             uuid   not null,
    number         bigint not null,
    collection_id  uuid   not null,
    name           text   not null, -- words, kept
    origin         text   not null,
    source         text   not null, -- words, kept
    source_key     text   not null,
    sha256         text   not null,
    bytes          bigint not null,
    status         text   not null,
    problem        text,
    attempts       bigint not null,
    chunks         bigint not null,
    embedded       bigint not null,
    facts          text   not null, -- words, kept
    classification text,
    job_id         uuid,
    added_by       uuid,
    added_at       bigint not null,
    changed_at     bigint not null,
    due_at         bigint,
    claim          uuid,
    claimed_until  bigint,
    -- 1: its text was read, its pages that are pictures come next.
    wants_ocr      bigint not null default 0,
    -- When its file, which was sent, was found missing.
    lost_at        bigint,
    content_change bigint not null,
    folded         text   not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, collection_id) references collections (tenant_id, id)
);
create unique index documents_by_number on documents (tenant_id, number);
create index documents_by_sender on documents (tenant_id, added_by, origin, bytes);
create unique index documents_by_source on documents (tenant_id, collection_id, source_key);
create index documents_by_content on documents (tenant_id, sha256, collection_id);
create index documents_by_job on documents (tenant_id, job_id, status) where job_id is not null;
create index documents_due on documents (tenant_id, due_at) where due_at is not null;
create index documents_lost on documents (tenant_id, lost_at) where lost_at is not null;

-- The order in which documents changed, the last change of each; indexes follow it. Rows of documents that are gone stay.
create table document_changes (
    tenant_id uuid   not null,
    seq       bigint not null,
    number    bigint not null,
    primary key (tenant_id, seq)
);
create unique index document_changes_by_number on document_changes (tenant_id, number);

create table document_counters (
    tenant_id   uuid   not null,
    last_number bigint not null,
    last_change bigint not null,
    primary key (tenant_id)
);

create table chunks (
    tenant_id uuid   not null,
    number    bigint not null,
    chunk     bigint not null,
    text      text   not null, -- words, kept
    body      text   not null, -- words, kept
    primary key (tenant_id, number, chunk)
);

-- vector: 16-bit integers, the lowest byte first; 32767 is 1.
create table chunk_vectors (
    tenant_id uuid   not null,
    number    bigint not null,
    model     text   not null,
    chunk     bigint not null,
    vector    bytea  not null,
    primary key (tenant_id, number, model, chunk)
);

create table document_agents (
    tenant_id   uuid not null,
    document_id uuid not null,
    agent_id    uuid not null,
    primary key (tenant_id, document_id, agent_id),
    foreign key (tenant_id, document_id) references documents (tenant_id, id)
);
create index document_agents_by_agent on document_agents (tenant_id, agent_id);

create table ingest_jobs (
    tenant_id     uuid   not null,
    id            uuid   not null,
    collection_id uuid   not null,
    label         text   not null,
    state         text   not null,
    created_by    uuid,
    created_at    bigint not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, collection_id) references collections (tenant_id, id)
);

create table watched_paths (
    tenant_id     uuid   not null,
    id            uuid   not null,
    collection_id uuid   not null,
    path          text   not null,
    scanned_at    bigint,
    problem       text,
    primary key (tenant_id, id),
    foreign key (tenant_id, collection_id) references collections (tenant_id, id)
);
