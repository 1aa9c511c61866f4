//! One suite for every storage engine: each case is a function over the ports, run on a fresh
//! SQLite directory and on a fresh PostgreSQL database.

mod audit;
pub(crate) mod bed;
mod blobs;
mod credentials;
mod documents;
mod file_provenance;
mod filters;
pub(crate) mod fixtures;
mod groups;
mod hooks;
mod inbox;
mod keys;
mod leases;
mod log;
mod race;
mod responses;
mod retention;
mod rows;
mod schedules;
mod scim;
mod sign_on;
mod skills;
mod skills_race;
mod spending;
mod spending_model;
mod spending_usage;
mod studio;
mod subscriptions;
mod talks;
mod tenants;
mod uploads;
mod users;

/// A test of each case on SQLite, and one of all cases on one PostgreSQL server.
macro_rules! cases {
    ($($module:ident :: $case:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    crate::conformance::$module::$case(crate::conformance::bed::Bed::sqlite().await).await;
                }
            )+
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn postgres() {
            let server = steward_testkit::postgres::TestPostgres::shared().await.unwrap();
            let cases: &[(&str, crate::conformance::Case)] =
                &[$((stringify!($case), |bed| Box::pin(crate::conformance::$module::$case(bed)))),+];
            for (name, case) in cases {
                eprintln!("{name} on PostgreSQL");
                let url = server.fresh_database().await.unwrap();
                case(crate::conformance::bed::Bed::postgres(url).await).await;
            }
        }
    };
}

/// A case apart from the others: all of them in one future would take more stack than a thread has.
type Case = fn(bed::Bed) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

cases! {
    schedules::schedules_are_kept_changed_and_listed,
    schedules::an_occurrence_has_one_fate_and_one_run,
    schedules::the_end_of_a_run_is_seen_and_old_occurrences_go,
    hooks::webhooks_are_kept_changed_and_listed,
    hooks::an_event_is_one_delivery_and_one_run,
    hooks::deliveries_that_wait_are_limited_and_taken_in_order,
    hooks::old_deliveries_and_their_contents_go,
    subscriptions::subscriptions_are_kept_changed_and_listed,
    subscriptions::a_stretch_of_the_trail_is_told_once,
    subscriptions::messages_are_taken_in_the_order_of_what_they_are_about,
    subscriptions::a_message_is_sent_again_by_hand,
    subscriptions::what_is_given_up_is_counted_and_old_messages_go,
    log::creates_and_reads_a_run,
    log::appends_in_order_and_pages,
    log::refuses_what_is_not_next,
    log::is_all_or_nothing,
    log::keeps_events_of_newer_programs,
    log::lists_runs_newest_first,
    log::tenants_do_not_see_each_other,
    log::finds_a_gap,
    log::survives_reopening,
    leases::what_others_were_about_to_do_is_told_in_order,
    leases::a_claim_fences_the_one_before,
    leases::only_free_runs_are_claimed,
    leases::a_parked_run_is_claimed_for_its_commands,
    leases::a_lease_given_back_is_free,
    leases::runs_that_wait_begin_by_turns_of_their_users,
    leases::an_ended_run_is_claimed_to_take_it_back,
    leases::reopening_frees_leases_where_one_process_owns_the_data,
    inbox::commands_wait_in_order_until_consumed,
    inbox::an_ended_run_takes_no_commands,
    inbox::a_run_tells_another_with_its_own_end,
    inbox::a_run_does_not_end_over_what_was_said,
    inbox::timers_ring_once,
    inbox::the_first_answer_stays,
    inbox::withdrawn_approvals_are_not_open,
    inbox::approvals_are_paged,
    inbox::open_approvals_are_counted,
    filters::runs_are_found_by_what_they_are,
    filters::runs_are_counted_by_time_and_end,
    filters::runs_are_found_by_their_text,
    filters::an_answer_taken_back_is_not_found,
    documents::collections_have_unique_names_and_are_seen_by_grant,
    documents::the_same_content_is_one_document,
    documents::a_collection_comes_to_another_model,
    documents::a_claim_that_was_taken_over_writes_nothing,
    documents::pages_that_are_pictures_wait_apart,
    documents::what_a_clock_ahead_has_put_off_is_read,
    documents::what_somebody_waits_for_is_read_first,
    documents::changes_tell_what_can_be_found,
    documents::jobs_say_how_far_their_documents_are,
    documents::a_document_is_not_noted_without_its_file,
    blobs::large_bodies_come_back_whole,
    blobs::a_missing_blob_is_told,
    blobs::a_blob_that_others_removed_before_the_commit_is_put_again,
    file_provenance::files_keep_all_that_they_may_come_from,
    file_provenance::files_of_a_full_workspace_become_folders,
    rows::agents_have_unique_names,
    rows::agents_are_deleted_and_restored,
    talks::conversations_and_messages,
    talks::a_conversation_has_one_run_at_a_time,
    talks::conversations_are_renamed_and_deleted,
    talks::conversations_are_found,
    talks::conversations_are_forked,
    studio::logins_are_prolonged_and_ended,
    studio::a_token_is_rotated_once,
    studio::a_write_with_a_key_is_done_once,
    uploads::sent_files_count_for_their_senders,
    responses::a_request_that_is_sent_again_finds_its_run,
    responses::runs_that_are_not_stored_are_found_once_they_have_ended,
    studio::grants_end_and_are_revoked,
    studio::runs_are_kept_by_name,
    rows::settings_are_replaced,
    rows::connections_have_unique_names,
    sign_on::an_external_account_is_linked_once,
    sign_on::codes_and_steps_count_once,
    tenants::tenants_have_unique_slugs_and_are_disabled,
    tenants::a_deleted_tenant_leaves_no_row,
    tenants::runs_are_claimed_within_their_tenant,
    users::users_have_unique_emails,
    users::users_are_changed_and_disabled,
    users::an_administrator_remains,
    users::administrators_who_end_each_other_leave_one,
    users::an_invitation_is_accepted_once,
    users::users_are_removed_with_what_is_theirs,
    users::users_are_found_and_paged,
    groups::groups_have_unique_names_and_members,
    groups::a_directory_says_who_is_in_its_groups,
    groups::grants_are_held_by_users_and_groups,
    scim::a_provider_keeps_users,
    scim::a_provider_keeps_groups,
    scim::tokens_of_providers_are_found_by_their_hash,
    users::ten_thousand_users_are_listed_quickly,
    rows::memory_is_versioned_for_each_owner,
    rows::database_docs_are_versioned_for_each_owner,
    rows::notes_and_reminders,
    rows::what_is_kept_goes_with_its_user,
    rows::odd_text_comes_back,
    spending::budgets_are_one_a_scope_and_period,
    spending::each_scope_counts_its_own_calls,
    spending::a_reservation_is_settled_or_given_back,
    spending::calls_of_a_kind_are_settled_at_once,
    spending::periods_begin_anew,
    spending::a_clock_that_was_ahead_ends_no_period,
    spending::parallel_calls_never_pass_a_budget,
    spending::a_new_budget_misses_no_call,
    spending::other_amounts_keep_what_is_spent,
    spending_usage::usage_is_summed_up,
    spending_model::spent_and_set_aside_stay_below_the_limit,
    keys::keys_are_found_by_their_hash,
    keys::one_report_per_endpoint_and_model,
    skills::a_change_makes_a_version,
    skills::names_are_unique_in_a_tenant,
    skills::skills_are_found_and_paged,
    skills::agents_have_skills_in_order,
    skills::create_and_attach_is_all_or_nothing,
    skills::a_removed_skill_leaves_its_agents,
    skills::packages_are_kept_by_revision,
    skills::mcp_servers_have_unique_names,
    skills_race::one_name_is_made_once,
    skills_race::no_attachment_is_lost,
    skills_race::a_change_of_an_agent_keeps_what_is_attached,
    skills_race::a_skill_removed_meanwhile_stays_nowhere,
    credentials::rows_are_kept_by_name,
    credentials::one_key_seals_them_all,
    credentials::resealing_is_all_or_nothing,
    credentials::uses_are_written_down,
    audit::entries_get_their_places_in_order,
    audit::entries_of_a_run_stand_or_fall_with_its_events,
    audit::several_nodes_write_one_chain,
    audit::the_audit_trail_is_searched,
    audit::old_entries_go_and_the_chain_holds,
    audit::what_is_changed_behind_its_back_is_named,
    audit::a_use_of_a_credential_is_an_entry,
    retention::a_conversation_goes_with_its_runs_and_leaves_a_proof,
    retention::what_is_in_the_bin_goes_by_when_it_came_there,
    retention::runs_outside_of_conversations_go_by_themselves,
    retention::who_is_erased_is_named_nowhere,
    retention::a_blob_that_is_gone_stops_no_erasure,
    retention::a_blob_that_a_text_names_stays,
    retention::names_are_replaced_whatever_their_letters,
    race::many_runs_append_at_once,
    race::two_owners_of_one_run,
    race::claims_of_many_nodes_are_disjoint,
}
