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
