"""The three tiers of the suite: `pytest --quick` for each change, `pytest` before a merge, `pytest --nightly` at night.

The quick tier leaves out the tests below: random programs by the hundred, whole corpora, what needs a compiler or a
browser many times. Of each test with more than three cases it runs the first. What is left touches every engine,
reduction, front end and renderer, and takes some three minutes of one processor. The default tier takes some seven
times as long: it runs one case in k of a test named ``test/k`` below, samples of the corpus (`support.sampled`) and few
random examples (`support.examples`). The nightly tier runs all cases, the tests marked so, the whole corpus, and many
more examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from zlib import crc32

SLOW: dict[str, str] = {
    "analysis/test_cell_values.py": """
        values_of_random_programs/2 where_a_fault_is_possible/3
    """,
    "analysis/test_futures.py": """
        futures_are_what_paths_do
    """,
    "analysis/test_meanwhile.py": """
        nobody_touches_what_a_rank_is_about_to_access
    """,
    "analysis/test_ranges.py": """
        it_ends_fast it_is_remembered_as_long_as_the_instance ranges_of_idioms/3 ranges_of_random_programs/2
        ranges_of_random_programs_with_arrays/4 ranges_of_random_programs_with_interchangeable_ranks/4
    """,
    "analysis/test_symmetry.py": """
        renaming_maps_moves_to_moves/4 renaming_maps_moves_to_moves_but_for_values_that_decide_nothing/4
        the_search_on_representatives_says_the_same/2
    """,
    "automata/test_emptiness.py": """
        emptiness_and_the_shortest_path_agree_with_enumeration the_search_stops_at_the_first_final_state
        the_witness_is_in_both_languages
    """,
    "automata/test_intersection.py": """
        pruning_loses_no_word several_acceptors_all_have_a_say the_intersection_accepts_exactly_the_common_words
    """,
    "batch/test_checker.py": """
        a_process_that_dies_costs_one_result an_internal_error_is_the_result_of_one_file progress_is_told_from_afar
        results_come_in_the_order_given/3 several_processes_say_what_one_says
    """,
    "batch/test_cluster.py": """
        a_check_that_dies_costs_one_result_and_no_worker a_cluster_says_what_one_process_says
        a_cluster_without_pgasrob_is_told_so a_job_that_kills_its_workers_ends_as_unknown
        a_large_exploration_is_handed_out_in_parts
        an_internal_error_is_the_result_of_one_file clusters_that_are_not_there
        ctrl_c_ends_the_checks_and_tells_what_is_known limits_hold_on_the_workers_and_progress_is_told the_command_line
        the_job_of_a_killed_worker_is_done_again without_workers_nothing_waits_for_ever
    """,
    "batch/test_garbage.py": """
        a_check_leaves_nothing_large_to_the_collector/3
    """,
    "batch/test_kept.py": """
        a_damaged_result_is_computed_again_and_reported/2 after_a_kill_no_result_is_lost_or_doubled
        two_commands_share_a_file
    """,
    "bench/test_bench.py": """
        a_decision_is_measured every_size_is_a_program/2 scaled_families_are_robust_programs/4
        variants_are_not_robust/3
    """,
    "bench/test_table_6.py": """
        rows_of_one_process/4
    """,
    "certificates/test_certificates.py": """
        random_programs random_programs_of_other_kinds the_corpus/8
    """,
    "certificates/test_every_count.py": """
        no_random_program_is_accepted_wrongly without_a_rule_what_is_not_robust_is_accepted/5
    """,
    "certificates/test_forged.py": """
        forged_certificates/3 mutated_certificates/3
    """,
    "certificates/test_rules.py": """
        without_a_rule_what_is_not_robust_is_accepted/4
    """,
    "certificates/test_trusted.py": """
        of_c_the_front_end_is_trusted the_checker_of_pgas_programs_is_small/2
        what_the_front_end_has_made_can_be_checked_without_it
    """,
    "cli/test_certify.py": """
        c every_number_of_nodes limits_hold_while_it_is_checked/4 limits_hold_while_it_is_written/2
        what_the_checker_knows_too_little_of
    """,
    "cli/test_check.py": """
        a_memory_limit_gives_unknown/2 colour_is_for_terminals engines expect_compares_with_the_headers_of_a_key
    """,
    "cli/test_check_cpu.py": """
        what_keeps_a_load_of_c_behind_a_store/4
    """,
    "cli/test_command_line.py": """
        a_reader_that_goes_away_is_no_error
    """,
    "cli/test_course.py": """
        marks_as_text_json_and_csv
    """,
    "cli/test_draw.py": """
        two_runs_do_not_go_to_one_file/4
    """,
    "cli/test_examples.py": """
        all_of_it_is_copied programs_are_objects
    """,
    "cli/test_exit_codes.py": """
        of_c_what_is_left_open_counts
    """,
    "cli/test_litmus.py": """
        the_corpus_is_as_expected_by_the_command
    """,
    "cli/test_litmus_generate.py": """
        cells_of_rdma_tso variants_differ_in_lines_that_are_read_back
    """,
    "cli/test_many.py": """
        a_file_name_that_is_no_text a_folder_without_programs ctrl_c_prints_what_is_known/4
        files_that_are_no_programs/3 results_are_printed_as_they_come
    """,
    "cli/test_memory_model.py": """
        as_json
    """,
    "cli/test_outcomes.py": """
        a_cut_enumeration_that_has_found_a_network_only_outcome_is_still_unknown
    """,
    "cli/test_shared_steps.py": """
        progress_is_shown_on_a_terminal_and_cleared there_is_no_progress_without_a_terminal_or_for_a_small_check
    """,
    "cli/test_show.py": """
        limits_hold
    """,
    "cli/test_thrift.py": """
        every_output_says_what_is_assumed_of_output/3
    """,
    "course/test_grade.py": """
        what_a_limit_leaves_open_is_undecided
    """,
    "course/test_notebook.py": """
        the_beginning_of_a_notebook_runs
    """,
    "course/test_slides.py": """
        every_claim_program_and_picture_is_on_a_slide nothing_falls_off_a_slide/3
        nothing_is_cut_on_a_projector_and_on_a_phone solutions_can_be_left_out the_keys
    """,
    "drawing/test_layered.py": """
        edges_lead_downwards_but_for_cycles everything_is_drawn nothing_overlaps nothing_overlaps_on_the_corpus
    """,
    "drawing/test_mermaid.py": """
        every_run_of_the_corpus_is_in_the_grammar the_lanes_are_those_of_the_svg
    """,
    "explore/test_nearest.py": """
        its_way_leads_to_a_cycle_and_no_earlier
    """,
    "explore/test_page.py": """
        all_of_it_fits_a_projector back_another_way_and_forks_lose_nothing c_is_explored_too_and_a_link_opens_the_same
        choices_lead_to_a_violation_that_is_marked no_key_is_lost_while_an_answer_is_on_the_way
        nothing_is_cut_on_a_projector_and_on_a_phone terms_have_a_line the_text_is_edited_beside_the_run
    """,
    "explore/test_serve.py": """
        a_file_that_is_there_makes_no_difference/4 a_proxy_says_who_asks_if_it_is_known
        a_check_has_verdict_report_picture_and_the_choices_of_its_run a_check_that_runs_away_is_ended/2
        a_process_that_answers_opens_nothing_and_starts_nothing
        every_example_of_the_menu_can_be_read hostile_texts_are_refused/4 it_says_what_is_exposed
        many_clients_at_once_are_answered_rightly no_host_confuses/3 processes_end_with_the_server
        requests_that_two_could_read_differently_are_refused/4 silent_connections_do_not_use_up_all
        the_image_runs_the_server_as_nobody
    """,
    "explore/test_serve_page.py": """
        a_damaged_link_is_reported_and_the_page_opens/4 a_link_has_a_name_of_its_own_and_a_phone_has_the_whole_picture
        a_link_has_all_and_two_tabs_share_nothing
        a_program_puts_nothing_into_the_page an_example_is_checked_stepped_through_and_repaired
        nothing_is_cut_and_nothing_scrolls_sideways/3 the_language_is_that_of_the_text_and_errors_are_shown
    """,
    "explore/test_server.py": """
        it_serves_this_machine_alone_and_ends_on_ctrl_c no_argument_of_the_browser_has_the_token
        what_takes_too_long_is_given_up_and_the_next_is_answered who_brings_no_request_is_sent_away
        an_internal_error_is_a_diagnostic
        the_nearest_violation_is_a_list_of_choices
        errors_of_a_program_are_diagnostics
    """,
    "export/test_promela.py": """
        spin_accepts_many_ranks_and_long_programs
    """,
    "export/test_promela_expressions.py": """
        random_expressions
    """,
    "frontends/apis/gaspi/test_rma.py": """
        a_waitsome_over_16_slots
    """,
    "frontends/apis/mpi/test_attributes.py": """
        what_attributes_are_and_when_they_are_deleted/4
    """,
    "frontends/apis/mpi/test_files.py": """
        what_is_read_is_unknown/2
    """,
    "frontends/apis/mpi/test_messages.py": """
        a_message_is_found_and_stays/2
    """,
    "frontends/apis/mpi/test_nonblocking.py": """
        buffers_under_way_are_left_alone/2 many_under_way/3 other_memory_is_not_in_use/2
    """,
    "frontends/apis/mpi/test_rules.py": """
        illegal/2 one_mistake_is_one_finding/2
    """,
    "frontends/apis/mpi/test_types.py": """
        what_is_claimed_holds/2 what_is_wrong_is_an_error/4
    """,
    "frontends/apis/test_flags.py": """
        a_burst_of_messages_does_not_wait_for_its_receiver many_messages/4
        a_dispatcher_comes_back_to_few_states conditions_on_what_goes_round_are_few
        what_is_used_in_turn_begins_anew_at_barriers/6
    """,
    "frontends/apis/test_fuzz_calls.py": """
        mutated_calls/3
    """,
    "frontends/apis/test_names_of_cells.py": """
        every_name_is_an_expression_over_names_of_the_source
    """,
    "frontends/apis/test_one_sided_programs.py": """
        the_same_idiom_has_the_same_verdict/8
    """,
    "frontends/apis/test_polling.py": """
        a_look_that_decides_something_counts/3 a_loop_that_only_looks_is_a_wait/4 windows_are_polled_in_many_ways/2
    """,
    "frontends/apis/test_programs.py": """
        a_compiler_accepts_it/3 the_same_idiom_has_the_same_verdict/8
    """,
    "frontends/apis/test_prototypes.py": """
        every_declaration_is_c
    """,
    "frontends/apis/test_split_barriers.py": """
        reductions_that_are_open_at_once/4
    """,
    "frontends/apis/test_transfers.py": """
        many_elements_cost_what_a_few_do they_mean_what_short_ones_do/4
    """,
    "frontends/c/compiler/test_against_gcc.py": """
        random_expressions_print_what_gcc_says/4 snippets_print_what_gcc_says/4
    """,
    "frontends/c/compiler/test_fuzz_compiler.py": """
        any_text deep_and_long_programs/6 mutated_programs pieces
    """,
    "frontends/c/compiler/test_thread_races.py": """
        random_loops_race_as_all_pairs_of_accesses_do/2 races/3 what_is_right_has_no_race_and_its_assertions_hold/4
    """,
    "frontends/c/compiler/test_thread_regions.py": """
        the_assertions_hold_with_gcc_and_one_thread/16
    """,
    "frontends/c/libc/test_callbacks.py": """
        what_has_been_put_is_sorted/4 what_is_searched_is_found/3
    """,
    "frontends/c/libc/test_numbers.py": """
        random_terms_of_numbers_that_were_reduced
    """,
    "frontends/c/libc/test_outside.py": """
        an_answer_goes_both_ways/3
    """,
    "frontends/c/libc/test_shared_strings.py": """
        each_byte_that_a_function_accesses_is_an_access/5
        every_pointer_of_the_table_is_followed_or_refused_or_only_an_address what_cannot_be_said_is_refused/4
        what_is_read_gives_the_result/3
    """,
    "frontends/c/test_arrivals.py": """
        random_programs_keep_their_verdicts
    """,
    "frontends/c/test_asked.py": """
        one_value_is_branched_by_alike/8 values_that_may_differ_are_not/6
    """,
    "frontends/c/test_by_rank.py": """
        how_many_run_at_once numbers_that_differ_are_told_apart random_programs the_corpus/3
    """,
    "frontends/c/test_choices.py": """
        one_expression_has_one_value/3 random_programs_say_what_they_say_of_all_numbers/30
    """,
    "frontends/c/test_counted_loops.py": """
        a_loop_that_is_too_long_ends_at_once/3
    """,
    "frontends/c/test_driver.py": """
        a_rank_that_begins_anew_does_not_keep_the_others_from_their_pass
    """,
    "frontends/c/test_displayed_values.py": """
        where_it_is_found_robust_the_same_is_shown
    """,
    "frontends/c/test_issuing.py": """
        memory_of_one_type_of_integers_needs_no_look
    """,
    "frontends/c/test_kept_values.py": """
        what_is_told_robust_shows_what_sc_runs_show
    """,
    "frontends/c/test_loops_kept.py": """
        what_has_not_been_set_is_not_used_in_a_loop_that_is_kept_either
        loops_that_are_not_very_long_are_kept_only_where_little_code_is_left
    """,
    "frontends/c/test_machine.py": """
        pure_c_does_what_gcc_says/4
    """,
    "frontends/c/test_moved.py": """
        a_number_that_is_moved_is_known/4
    """,
    "frontends/c/test_representation.py": """
        copies_to_unknown_places/8
    """,
    "frontends/c/test_shown_values.py": """
        where_it_is_not_the_reads_are_events/4
    """,
    "frontends/c/test_unknown_values.py": """
        an_assertion_is_not_said_to_fail_for_values_that_no_run_may_have/8 arguments_of_which_an_api_makes_cases
        every_value_counts/6 the_text_has_the_same_verdict what_is_only_moved_costs_nothing
    """,
    "frontends/c/test_witnesses.py": """
        random_conditions
    """,
    "frontends/test_answers.py": """
        a_program_is_wrong_in_one_way_until_it_is_repaired/4 what_looks_alike_and_is_wrong_is_found
    """,
    "frontends/test_looping_c.py": """
        loops_that_are_kept_say_the_same/4
    """,
    "frontends/test_nothing_checked.py": """
        all_programs_of_the_corpus_that_communicate_make_such_a_call
    """,
    "frontends/test_projects.py": """
        a_suite_with_its_helper_file_as_it_is kernels/4 the_kernels_answer_what_their_headers_expect
        what_no_test_calls_is_a_note what_the_helper_counts
    """,
    "frontends/test_bytes_c.py": """
        memory_is_bytes/5 verdicts_are_of_bytes/5
    """,
    "frontends/test_random_teams.py": """
        random_teams_end_as_an_interpreter_says/25
    """,
    "frontends/test_random_c.py": """
        the_programs_are_worth_comparing the_verdicts_agree/3
    """,
    "frontends/test_several_files.py": """
        repairs_are_of_all_files
    """,
    "frontends/test_size_checks.py": """
        behind_a_check_a_program_is_lowered_without_its_number/3 random_checks
    """,
    "frontends/test_text.py": """
        the_text_has_the_automata_of_the_program/5
    """,
    "frontends/test_unknown_c.py": """
        chains_of_computations/3 programs_in_disguise/3 ranks_that_pass_values_on_branch_alike
        the_programs_are_worth_comparing values_that_are_passed_on
    """,
    "fuzz/test_fuzzed_inputs.py": """
        a_process_that_dies_or_does_not_answer_is_noticed nothing_breaks what_took_too_long_once_keeps_to_its_limits
    """,
    "lsp/test_diagnostics.py": """
        a_change_ends_the_search a_large_text_is_not_looked_at
        a_violation_is_shown_with_its_cycle_and_gone_when_it_is_mended headers_lie_beside_the_file_or_in_the_editor
        other_c_is_left_alone what_is_not_known_is_shown
        an_internal_error_has_its_code_and_place
    """,
    "lsp/test_features.py": """
        repairs_are_offered_at_a_violation_and_make_it_robust repairs_of_c the_verdict_of_c_stands_above_main
        the_verdict_stands_above_the_program what_calls_promise_is_what_they_are_read_as
        what_commands_promise
    """,
    "lsp/test_messages.py": """
        a_session_ends_in_words_or_goes_on
    """,
    "lsp/test_project.py": """
        a_header_that_builds_generate_may_be_missing commands_of_the_compiler_say_how_files_are_read
    """,
    "models/corerma/test_random.py": """
        outcomes_are_those_of_all_executions sets_of_rules_that_forbid the_machine_of_atomic_programs the_oracle_agrees
    """,
    "models/generate/test_corerma_tests.py": """
        how_many_tests_there_are/2 one_memory_has_the_outcomes_of_the_axioms/3 what_a_test_says_is_so/4
    """,
    "models/generate/test_cycles.py": """
        pivots_of_small_programs_are_those_of_trying_everything/2
    """,
    "models/generate/test_distinguish.py": """
        store_buffering_tells_tso_from_sc
    """,
    "models/generate/test_rdma_shapes.py": """
        there_are_as_many_as_sequences/2
    """,
    "models/generate/test_rdma_tests.py": """
        what_a_test_says_is_so/2
    """,
    "models/litmus/test_litmus_parser.py": """
        every_text_has_a_test_or_diagnostics how_many_small_programs_there_are
    """,
    "models/litmus/test_litmus_printer.py": """
        random_programs_are_printed_and_read_again
    """,
    "models/networks/test_differences.py": """
        every_difference_of_random_programs_is_one_of_the_ways
    """,
    "models/networks/test_robustness.py": """
        executions_and_runs_agree robust_programs_have_the_outcomes_of_sc
        the_monitor_says_what_every_run_one_by_one_says
    """,
    "models/networks/test_to_litmus.py": """
        a_program_and_its_translation_have_the_same_sc_outcomes
    """,
    "models/pgas/test_pgas.py": """
        outcomes_are_those_of_the_rules/2 sequential_runs_are_those_of_sc
    """,
    "models/rdma_tso/test_declarative.py": """
        a_rule_that_forbids_allows_when_left_out more_choices_than_calls_can_be_nested
        the_search_finds_what_the_definition_says/3
    """,
    "models/rdma_tso/test_machines.py": """
        runs_have_the_graphs_of_consistent_executions/3 small_programs_and_what_is_counted_of_them
        small_programs_with_remote_atomics_and_what_is_counted_of_them
        the_graph_of_a_run_is_a_consistent_execution/3 the_semantics_agree_on_random_programs/3
        the_semantics_agree_on_random_programs_with_remote_atomics/2 what_can_be_done_first_loses_no_outcome/3
        what_can_be_done_first_loses_no_outcome_of_remote_atomics/2
    """,
    "models/rdma_tso/test_premises.py": """
        what_is_implied_changes_nothing
    """,
    "models/rdma_tso/test_score.py": """
        every_flip_of_a_cell_is_noticed_or_implied without_pcie_other_flips_are_noticed
    """,
    "models/store_buffers/test_cycle_search.py": """
        the_search_finds_what_trying_every_run_finds
    """,
    "models/test_sc_and_tso.py": """
        rdma_tso_without_operations_is_tso_on_small_programs sc_is_what_an_interpreter_does/4
    """,
    "oracle/test_extensions.py": """
        hypothesis_programs_can_be_printed_and_run memo_and_no_memo_agree memo_and_no_memo_agree_hypothesis
        memo_and_no_memo_agree_with_loops some_random_programs_depend_on_every_rule/4 statistics_of_random_programs
    """,
    "oracle/test_oracle.py": """
        hypothesis_programs_can_be_printed_and_run litmus/4 memo_and_no_memo_agree memo_and_no_memo_agree_hypothesis
        memo_and_no_memo_agree_with_loops random_programs_are_reproducible_and_keep_to_what_is_asked
        statistics_of_random_programs
    """,
    "oracle/test_readings.py": """
        fewer_events_and_fewer_conflicts_make_fewer_violations memo_and_no_memo_agree other_programs_have_one_verdict
        taking_failed_iterations_out_of_random_programs_says_the_same taking_failed_iterations_out_says_the_same/6
    """,
    "oracle/test_unrolling.py": """
        unrolled_polls_are_waits/5
    """,
    "program/test_certain.py": """
        random_expressions
    """,
    "program/test_control.py": """
        an_automaton_issues_what_the_statements_do
    """,
    "program/test_core.py": """
        the_core_form_has_all_registers_and_rank_operands_of_a_command
    """,
    "program/test_expressions.py": """
        evaluation_alone specialised_expressions_mention_registers_only values_and_faults_are_those_of_c
    """,
    "program/test_gathering.py": """
        robust_programs_that_gather_end_as_sc_runs_do the_oracle_says_the_same
    """,
    "program/test_illegal_calls.py": """
        every_number_of_nodes every_search_of_sc_runs_finds_the_same when_not_all_runs_were_looked_at_it_is_not_known
    """,
    "program/test_instance.py": """
        the_ways_from_command_to_command_are_bounded the_ways_of_all_ranks_count_together
    """,
    "program/test_kept_tables.py": """
        damaged_tables_are_made_again/3
    """,
    "program/test_parser.py": """
        everything_nested_at_once_up_to_the_bound much_nonsense_is_refused_soon_and_briefly/3
        no_text_is_anything_but_a_program_or_a_source_error reading_ends_where_nothing_can_be_made_of_the_text
    """,
    "program/test_printer.py": """
        the_corpus_is_read_back/4 what_is_printed_is_read_back_as_the_same_expression
        what_is_printed_is_read_back_as_the_same_program
    """,
    "program/test_spelled.py": """
        the_verdict_is_the_same/8 what_is_shown_is_read_back/6
    """,
    "races/mpi/test_corpus.py": """
        stated_status/3
    """,
    "races/mpi/test_model.py": """
        each_rule_matters/4 random_programs some_rules_follow_from_the_others
    """,
    "races/test_consequences.py": """
        the_answer_is_that_of_the_oracle values_at_which_nothing_looks_make_no_race_matter
        without_a_rule_the_answer_is_another_one/4
    """,
    "races/test_elements.py": """
        long_arrays_of_c_programs random_programs
    """,
    "races/test_labels.py": """
        the_search_finds_as_many
    """,
    "races/test_race_check.py": """
        the_time_limit_holds_in_every_phase
    """,
    "races/test_races_agree.py": """
        every_rule_of_the_search_matters race_free_programs_with_blocking_atomics_are_robust
        the_classical_definition_agrees the_kernel_stores_the_same_states_and_finds_the_same_runs
        the_search_agrees_with_the_definition
    """,
    "races/test_random_facts.py": """
        random_programs_with_facts
    """,
    "recording/test_calls.py": """
        a_barrier_of_some_ranks mpi/4 openshmem/4 programs_of_the_corpus_have_their_answers/2
    """,
    "recording/test_damaged_traces.py": """
        limits_hold_in_each_answer whatever_is_damaged_is_said
    """,
    "recording/test_files.py": """
        a_damaged_trace_and_one_that_is_full limits_hold_while_a_trace_is_gone_through mpi_beside_must_rma openshmem
        outputs_say_what_is_known_of_races what_comes_behind_a_violation_is_looked_at_too
        what_crashed_ranks_would_have_done_is_not_known
    """,
    "recording/test_must_rma.py": """
        corpus
    """,
    "recording/test_native_recordings.py": """
        the_kernel_gives_the_same_answers
    """,
    "recording/test_random_programs.py": """
        recordings_race_where_their_programs_do what_is_left_out_is_found
    """,
    "recording/test_recorded_names.py": """
        a_source_on_the_stack_has_the_value_of_each_call calls_of_one_line_are_told_apart/2
        variables_of_all_kinds_and_what_they_held
    """,
    "recording/test_recorded_legality.py": """
        a_run_that_was_recorded
    """,
    "recording/test_streamed.py": """
        random_traces the_answers_are_those_of_the_slow_way
    """,
    "recording/test_trace_segments.py": """
        segments_have_the_races_of_the_whole
    """,
    "reference/test_attack.py": """
        attack_agrees_with_product_and_shows_a_violation the_corpus
    """,
    "reference/test_exploration.py": """
        every_trace_is_found_once
    """,
    "reference/test_race_traces.py": """
        a_source_that_comes_again_leaves_nothing_out
        the_answer_is_the_same_whoever_comes_first the_effort_for_one_trace_is_about_linear/3
        the_kernel_has_the_traces_and_races_of_the_reference
    """,
    "reference/test_recordings.py": """
        broken_code_is_found runs_replay the_answers_are_those_of_the_definition
    """,
    "reference/test_reduced_search.py": """
        every_reduction_agrees_on_loops every_reduction_agrees_on_programs_of_a_seed
        every_reduction_agrees_with_the_plain_search_and_the_oracle
        ranks_that_have_changed_places_in_the_search_are_themselves_in_the_run
        violations_that_a_sloppy_reduction_loses/4
    """,
    "render/diagram/test_model.py": """
        every_run_of_the_corpus long_runs_take_little_time/4
    """,
    "render/explanation/test_explanation.py": """
        sigma_has_other_values_where_e_was_read the_normal_form_found_again_in_two_parts/2
        there_are_nine_chapters_and_none_is_empty/3
    """,
    "render/explanation/test_html.py": """
        the_page_fits_and_the_console_is_silent/3 the_page_follows_the_colours_of_the_system
        the_page_is_well_formed_and_needs_nothing_else/4
    """,
    "render/explanation/test_terminal.py": """
        lines_are_no_longer_than_the_terminal
    """,
    "render/test_automata_lib.py": """
        the_same_program_gives_the_same_file
    """,
    "render/test_completing_calls.py": """
        no_hover_has_an_internal_name
    """,
    "render/test_count_note_json.py": """
        every_command_chooses_the_same_count/3 tables_have_it_below_the_rows
    """,
    "render/test_diagnosis_text.py": """
        a_run_in_which_ranks_meet_comes_before_a_put_to_oneself what_is_said
    """,
    "render/test_double_values.py": """
        the_page_steps_through_doubles
    """,
    "render/test_execution_graph.py": """
        nothing_lies_on_anything_else
    """,
    "render/test_explorer.py": """
        a_fault_is_pale_until_it_is_reached a_large_run_stays_quick a_page_with_a_repair_fits
        a_presenter_steps_whatever_has_the_focus
        a_run_into_a_deadlock_says_so a_step_is_spoken an_await_at_which_a_rank_stands_shows_its_cell
        diagram_fades_what_is_to_come edges_of_the_cycle_lead_to_their_steps every_lane_is_in_view/2
        every_state_is_that_of_the_replay everything_is_reached_by_tab keys_and_buttons
        operations_that_a_run_leaves_pending other_runs page_is_well_formed_and_holds_the_json_object/2
        print_shows_all_of_the_diagram sc_order_marks_the_counterpart source_line_and_where_the_ranks_are
        the_queues_are_seen_on_a_projector the_violation_is_seen_at_opening/4 the_splitter_shares_the_window
        the_step_field_never_stays_wrong the_steps_of_a_band the_wheel_zooms_at_the_pointer_and_dragging_moves
        what_happens_now_alone_has_a_band what_is_on_its_way_shows_at_its_cell widths
        words_are_one_per_event_and_per_edge zoom
        pages_without_a_run_fit
    """,
    "render/test_findings.py": """
        every_format_names_the_same_place/4
    """,
    "render/test_json_schema.py": """
        what_is_missing_or_renamed_or_of_another_type_is_noticed/4
    """,
    "render/test_litmus_text.py": """
        reports_keep_to_the_width
    """,
    "render/test_mpi_execution.py": """
        arrows/4
    """,
    "render/test_output_files.py": """
        every_run_of_the_corpus
    """,
    "render/test_rows.py": """
        rows_are_the_run/2 what_the_cycle_does_not_need_is_folded
    """,
    "render/test_run_graph.py": """
        dot_draws_it_in_the_lanes_and_rows_of_the_svg/2
    """,
    "render/test_run_json.py": """
        what_events_say_adds_up witnesses_hold_up_before_the_oracle/3
    """,
    "render/test_run_svg.py": """
        a_long_run_takes_little_time every_run_of_the_corpus_is_well_formed no_text_lies_on_another_in_a_browser/3
    """,
    "render/test_run_table.py": """
        conditions_say_whether_they_hold each_call_has_its_row_however_often_its_line_is_executed/3
        the_columns_of_a_single_column_are_named
    """,
    "render/test_run_tikz.py": """
        every_run_of_the_corpus_is_plain_ascii_and_balanced it_can_be_read_into_slides
        it_compiles_to_one_page_of_its_size nasty_texts_and_other_ends_compile
    """,
    "render/test_sarif.py": """
        every_run_of_the_corpus_has_its_places
    """,
    "render/test_variables.py": """
        a_function_is_named_where_a_name_is_not_enough
    """,
    "render/test_verdict_text.py": """
        lanes_give_way_to_a_single_column_when_they_get_too_narrow no_line_is_too_long/5
    """,
    "render/test_witness_file.py": """
        every_run_of_the_corpus_is_read mutants_are_refused_or_can_be_drawn
    """,
    "repairs/test_against_races.py": """
        a_barrier_that_leaves_no_race/3 output
    """,
    "repairs/test_collective_calls.py": """
        no_barrier_where_each_rank_has_its_own_round
    """,
    "repairs/test_corpus.py": """
        a_repair_or_a_reason brute_force_finds_nothing_cheaper/4 the_cheapest/3
    """,
    "repairs/test_displays.py": """
        what_is_new_is_what_no_run_has_shown/2 what_is_robust_shows_what_sc_runs_show
    """,
    "repairs/test_every_repair.py": """
        nothing_in_the_catalogue_is_cheaper
    """,
    "repairs/test_further.py": """
        the_cheapest/3 what_is_waited_for_may_be_computed_away
    """,
    "repairs/test_output_order.py": """
        nothing_goes_that_changes_what_is_seen/4 output_may_be_in_any_order_where_that_is_said_and_files_may_not/4
    """,
    "repairs/test_search.py": """
        a_repair_has_one_barrier_at_most nothing_cheaper_than_what_brute_force_finds the_limit_that_was_given_is_named
        what_is_learned_of_grown_sets_changes_no_answer
    """,
    "repairs/test_seeded.py": """
        the_fix_by_hand_or_a_cheaper_one/4
    """,
    "repairs/test_thrift.py": """
        a_halo_with_too_much_comes_back_to_the_thrifty_one no_set_saves_more
    """,
    "robustness/every_n/test_c1.py": """
        random_programs_do_the_same
    """,
    "robustness/every_n/test_c_differences.py": """
        what_differs_somewhere_is_not_proved/4
    """,
    "robustness/every_n/test_c_programs.py": """
        a_reduction_over_all_ranks_orders_them a_target_that_is_read_has_no_name random_programs the_corpus
        what_is_said
    """,
    "robustness/every_n/test_corpus.py": """
        proofs_of_the_corpus_are_right_near_the_cutoff what_is_proved_of_the_corpus
        where_a_fault_is_in_the_way_there_is_one/4
    """,
    "robustness/test_every_count_check.py": """
        a_program_for_three_nodes_is_checked_on_three_and_leaves_on_all_others it_is_compared_with_the_header
        options_that_are_about_some_number
    """,
    "robustness/every_n/test_growing.py": """
        no_proof_of_a_random_program_is_wrong what_is_not_robust_is_not_proved/3
        without_a_rule_there_is_a_wrong_proof/4
    """,
    "robustness/every_n/test_named_views.py": """
        no_proof_of_a_random_program_is_wrong
    """,
    "robustness/every_n/test_lock_tokens.py": """
        no_proof_of_a_random_program_is_wrong what_is_proved/3 without_a_condition_there_is_a_wrong_proof/4
    """,
    "robustness/every_n/test_number_tokens.py": """
        an_mcs_lock/2 no_proof_of_a_random_program_is_wrong without_a_condition_there_is_a_wrong_proof/4
    """,
    "robustness/every_n/test_pair_states.py": """
        no_proof_of_random_rounds_is_wrong what_is_proved/2 without_a_condition_there_is_a_wrong_proof/3
    """,
    "robustness/every_n/test_proved_facts.py": """
        nothing_that_is_proved_of_a_random_c_program_is_wrong nothing_that_is_proved_of_a_random_program_is_wrong
    """,
    "robustness/every_n/test_soundness.py": """
        no_proof_of_a_random_program_is_wrong no_proof_of_random_messages_is_wrong
        without_a_rule_there_is_a_wrong_proof/4
    """,
    "robustness/every_n/test_symbolic_values.py": """
        values_of_random_expressions
    """,
    "robustness/every_n/test_tables.py": """
        a_rank_that_ends_between_the_halves_of_a_barrier entries_of_ranks_that_are_not_there_fault
        halves_of_a_barrier/2 pointers_to_two_entries_are_not_taken_for_two random_programs
        what_is_not_known_of_all_ranks_is_refused/3
    """,
    "robustness/reduction/test_elements.py": """
        random_programs
    """,
    "robustness/reduction/test_infeasibility.py": """
        64_ranks_take_no_time knowing_less_is_no_harm most_robust_programs_are_settled
        neither_with_many_fences_and_barriers no_other_step_is_the_source_of_a_violation
        no_violation_of_the_corpus_is_lost/4 ranks_that_are_alike_are_looked_at_once what_cannot_fault_does_not
        what_is_looked_at_is_linear_in_ranks/3
    """,
    "robustness/test_barriers_and_exits.py": """
        every_engine_finds_what_the_oracle_finds
    """,
    "robustness/test_check.py": """
        a_fault_far_away_ends_the_search/2 a_memory_limit_gives_unknown
        a_robust_verdict_waits_for_all_sc_runs_where_one_may_fault a_violation_of_a_small_program_leaves_nothing_open
        unbounded_queues_are_unknown_to_the_definition
    """,
    "robustness/test_cycle_types.py": """
        z_accepts_the_marked_words_with_an_edge_between_the_marked_events
        z_of_a_cycle_type_is_the_intersection_of_its_pairs
    """,
    "robustness/test_definition.py": """
        a_violation_is_found_exactly_when_some_computation_is_violating choices_at_a_barrier_do_not_hold_the_caller_up
        loops the_violation_replays_to_a_cycle
    """,
    "robustness/test_effect_search.py": """
        a_loop_that_never_ends_leaves_it_open loops_put_nothing_off_for_ever
        what_is_seen_of_maximal_runs_is_what_all_of_them_show
    """,
    "robustness/test_engines_agree.py": """
        a_poll_that_reads_a_stale_value_is_a_violation_and_waiting_is_none/5 all_engines_and_the_oracle_agree
        all_engines_and_the_oracle_agree_on_further_commands
        all_engines_and_the_oracle_agree_on_further_commands_in_loops all_engines_and_the_oracle_agree_on_loops
        sc_facts_carry_over_to_all_computations_of_a_robust_program
        the_engines_agree_where_every_operation_meets_every_other the_litmus_programs/4 the_random_programs_are_no_sham
        verdict_assertions_deadlock_and_faults_are_those_of_the_oracle
    """,
    "robustness/test_explanation.py": """
        a_normal_form_in_one_part_is_an_sc_run every_program_of_the_corpus_is_explained every_run_of_the_corpus
        every_violation_of_the_corpus
    """,
    "robustness/test_late_operations.py": """
        every_violation_has_an_operation_that_is_late
    """,
    "robustness/test_marked_normal_form.py": """
        y_m_marks_every_normal_form_computation_in_every_right_way_and_no_other
    """,
    "robustness/test_native_attack.py": """
        any_subset_of_the_reductions expressions_of_all_types mangled_tables_are_refused_or_mean_something
        more_barriers_than_the_kernel_passes_at_a_time queue_ids_that_are_known_only_in_the_search random_programs
        random_programs_with_the_extended_calculus reductions_keep_deadlocks_beside_false_assumes
        reductions_of_what_real_apis_promise/4 reductions_on_random_programs/4 reductions_on_the_corpus/6 the_corpus/6
        the_table_of_values_grows threads_change_nothing what_real_apis_promise
    """,
    "robustness/test_normal_form.py": """
        y_accepts_exactly_the_normal_form_computations/2
    """,
    "robustness/test_portfolio.py": """
        what_settles_what/10
    """,
    "robustness/test_product.py": """
        a_violation_is_a_marked_normal_form_computation_with_a_cycle_of_its_type
        every_cycle_type_of_a_robust_program_is_refuted pruning_the_guesses_of_lemma_10_loses_no_violation
        states_transitions_and_refuted_cycle_types/3 the_size_of_the_pieces_does_not_matter/2
    """,
    "robustness/test_readings_agree.py": """
        many_random_programs_in_the_kernel random_programs/4 rounds_of_several_flags the_litmus_programs/10
        threads_that_poll/3
        without_commuting_updates_programs_that_update_have_other_verdicts
        without_guards_programs_that_poll_have_other_verdicts
    """,
    "robustness/test_reductions_agree.py": """
        programs_with_doubles_and_wide_types programs_with_interchangeable_ranks random_programs/2
        random_programs_with_commands_of_all_kinds/2
    """,
    "robustness/test_shrink.py": """
        marks_of_the_corpus marks_read_off_a_cycle_are_a_word_of_the_marked_normal_form
        no_choice_of_commands_is_smaller no_choice_of_commands_that_may_all_go_is_smaller
        no_violation_of_the_corpus_has_fewer_commands the_plain_search_finds_the_fewest_commands_of_all
        the_witnesses_of_the_corpus_are_irreducible witnesses_of_the_other_engines
        witnesses_of_the_search_with_all_reductions_lose_what_they_do_not_need
    """,
    "robustness/test_spin.py": """
        barriers integers_of_all_types_and_doubles random_programs/4 readings/6 rules/8 the_corpus/16
    """,
    "robustness/test_strict_waits.py": """
        programs_that_do_not/3 programs_that_rest_on_calls_that_do_not_wait/3 random_programs/40
    """,
    "robustness/test_trace_parts.py": """
        a_limit_of_states_does_not_depend_on_who_is_faster nothing_depends_on_how_many_there_are
        the_kernel_gives_the_same_away the_parts_have_every_trace_once
    """,
    "robustness/test_traces_agree.py": """
        contended_programs_agree every_rule_matters/4 the_kernel_goes_the_same_way traces_attack_and_definition_agree
        what_infeasibility_has_settled_can_be_left_out
    """,
    "robustness/test_turns.py": """
        the_default_settles_what_one_engine_settles/8
    """,
    "robustness/test_watch.py": """
        other_commands_have_limits_too/4 what_comes_to_no_stop_point_is_ended_in_the_end
        what_should_look_around_and_does_not_is_ended
    """,
    "robustness/test_why.py": """
        of_random_programs_all_that_is_said_is_so
    """,
    "runs/test_outcomes.py": """
        long_programs_are_no_deep_recursion no_run_to_an_outcome_is_shorter_than_its_example
        robust_programs_have_no_network_only_outcome runs_are_the_longest_computations
        the_definition_engine_has_the_same_outcomes the_oracle_counts_as_many_runs
    """,
    "runs/test_simulate.py": """
        biases_delay_more_or_less loops_of_the_corpus runs_are_maximal_and_are_among_all
    """,
    "runtime/test_child_processes.py": """
        no_process_is_left_of_a_program_that_hangs reproduce_leaves_nothing what_a_command_has_started_ends_with_it
    """,
    "runtime/test_record.py": """
        a_child_of_a_fork_is_not_recorded_and_it_is_said a_killed_program_leaves_what_it_did
        an_object_and_a_library_of_the_program_record_too cxx each_openshmem_call_is_recorded_once_with_its_operands
        lines_of_a_file_with_blanks_in_its_path runs_are_the_accesses_of_the_loops
        the_program_goes_on_when_the_trace_is_full the_program_goes_on_when_there_is_no_room_on_the_disk
        time_and_room_are_limited
    """,
    "runtime/test_reproduce.py": """
        a_late_put_beside_a_normal_run a_program_of_two_files_with_macros_and_headers a_source_that_is_read_late
        an_assertion_fails everything_held_back values_where_nothing_is_printed
        what_is_held_back_arrives_before_the_library_is_finalised_at_the_exit
    """,
    "runtime/test_reproduce_schedule.py": """
        the_turns_are_a_run_with_the_same_memory
    """,
    "semantics/test_accesses.py": """
        every_access_of_a_computation_is_possible
    """,
    "semantics/test_chains.py": """
        a_mutated_computation_is_rejected_or_a_path_of_x dropping_idle_marks_changes_no_language
        the_paths_of_x_replay_to_the_same_state
    """,
    "semantics/test_happens_before.py": """
        the_cycle_is_a_shortest_one_and_closes_up the_cycle_of_a_computation_is_a_shortest_one_and_closes_up
    """,
    "semantics/test_monitor.py": """
        the_monitor_finds_a_cycle_exactly_when_the_graph_of_all_commands_has_one
    """,
    "semantics/test_polls_and_facts.py": """
        facts_do_not_depend_on_failed_polls
    """,
    "semantics/test_replay.py": """
        a_long_run_is_no_trouble a_mutated_computation_is_rejected_or_a_path_of_x
        the_oracle_accepts_the_same_runs_line_by_line the_paths_of_x_replay_to_the_same_state
    """,
    "semantics/test_sc_order.py": """
        an_acyclic_computation_has_the_relation_of_an_sc_run
        every_violation_of_the_corpus_is_an_sc_run_and_one_command/2
    """,
    "semantics/test_sequential.py": """
        choices_at_a_barrier_do_not_hold_the_caller_up deadlocks_beside_false_assumes_agree_with_the_oracle
        sc_runs_are_the_computations_in_which_steps_directly_follow the_facts_agree_with_the_oracle
    """,
    "semantics/test_state_space.py": """
        dropping_idle_fences_changes_no_language queues_can_always_be_emptied
        steps_carry_the_operation_and_occurrence_of_their_issue x_has_exactly_the_runs_of_the_oracle
    """,
    "test_api.py": """
        examples_in_docstrings/4
    """,
    "test_ci_clients.py": """
        pre_commit_runs_the_hooks_on_what_is_committed the_steps_of_the_action
        wheels_are_tried_before_they_are_published
    """,
    "test_coq.py": """
        the_main_theorems_have_no_axioms what_the_readme_names_is_there
    """,
    "test_corpus.py": """
        a_second_engine_agrees_on_c_where_it_can_decide all_engines_read_a_program_in_two_ways/16
        an_engine_of_the_paper_finds_what_is_expected another_reading_has_the_verdict_that_is_expected_of_it
        definition_finds_what_is_expected headers_with_several_counts_hold_for_each
        the_default_engine_finds_what_is_expected_and_the_catalogue_is_up_to_date
    """,
    "test_file_input.py": """
        files_are_read_in_one_way
    """,
    "test_house.py": """
        no_class_hides_what_it_depends_on_behind_two_others no_function_is_longer_than_a_screen
        no_function_takes_more_than_a_person_keeps_in_mind
    """,
    "test_hygiene.py": """
        the_type_checker_is_content
    """,
    "test_imports.py": """
        rooms_import_what_lies_below_them there_is_no_cycle
    """,
    "test_lectures.py": """
        a_command_prints_what_the_page_shows/6 a_picture_is_what_its_command_draws/2
        sentences_about_verdicts_are_true_and_shown
    """,
    "test_packaging.py": """
        what_is_imported_is_declared
    """,
    "test_paper.py": """
        lemma_13_a_cycle_can_enter_and_leave_each_rank_once
        lemma_6_the_last_issued_event_can_be_cancelled
        theorem_5_a_program_is_robust_iff_it_has_no_normal_form_violation
    """,
    "test_readme.py": """
        commands_print_what_is_shown/6 the_python_shown_runs
    """,
    "test_site.py": """
        it_is_read_without_a_warning_and_has_every_name
    """,
    "test_stop_points.py": """
        looking_for_main_takes_few_tokens they_end_what_takes_too_long/4
    """,
    "test_whole_files.py": """
        nobody_else_writes_files
    """,
}
"""Test functions by file, without `test_`: those that take more than 0.8 s of CPU, all their cases together, but for
tables of many small cases. Of ``name/k`` the default tier runs one case in k."""

LONGEST = {
    "tests/test_coq.py::test_the_main_theorems_have_no_axioms",
    "tests/test_coq.py::test_what_the_readme_names_is_there",  # with what the one before has compiled
    "tests/test_corpus.py::test_the_default_engine_finds_what_is_expected_and_the_catalogue_is_up_to_date",
    "tests/robustness/every_n/test_c1.py::test_random_programs_do_the_same",
    "tests/robustness/every_n/test_corpus.py::test_what_is_proved_of_the_corpus",
}
"""Those with a case that takes more than ten seconds: several processes begin with them."""

NOT_ONCE = {
    "tests/fuzz/test_fuzzed_inputs.py::test_nothing_breaks",
    "tests/render/explanation/test_html.py::test_the_page_fits_and_the_console_is_silent",
    "tests/render/test_explorer.py::test_every_lane_is_in_view",
    "tests/render/test_run_svg.py::test_no_text_lies_on_another_in_a_browser",
}
"""Those of which the quick tier runs no case: each takes longer than all else of its file."""

ONE_IN: dict[str, int] = {}
"""Test functions of which the default tier runs one case in so many."""
FUNCTIONS: set[str] = set()
for _file, _names in SLOW.items():
    for _name in _names.split():
        _test, _, _one_in = _name.partition("/")
        FUNCTIONS.add(f"tests/{_file}::test_{_test}")
        if _one_in:
            ONE_IN[f"tests/{_file}::test_{_test}"] = int(_one_in)


def left_to_the_night(tests: Sequence[str]) -> set[str]:
    """The further cases of ``tests`` that the default tier leaves out: of each function it runs those that a checksum
    of their names chooses, so that a new case moves no other, or the first."""
    cases: dict[str, list[str]] = {}
    for test in tests:
        function, _, case = test.partition("[")
        if function in ONE_IN:
            cases.setdefault(function, []).append(case)
    left = set()
    for function, known in cases.items():
        chosen = [case for case in known if crc32(case.encode()) % ONE_IN[function] == 0] or known[:1]
        left |= {f"{function}[{case}" for case in known} - {f"{function}[{case}" for case in chosen}
    return left


def not_quick(tests: Sequence[str]) -> set[str]:
    """Those of ``tests``, pytest's ids of all that are collected, that the quick tier leaves out: slow ones, and of
    those with more than three cases all but the first."""
    cases = Counter(map(_function, tests))
    found, begun = set(), set()
    for test in tests:
        function = _function(test)
        if function in NOT_ONCE or (function in begun if cases[function] > 3 else function in FUNCTIONS):
            found.add(test)
        begun.add(function)
    return found


def turn(test: str) -> int:
    """Which of ``tests`` several processes begin with: the less the earlier."""
    function = _function(test)
    return 0 if function in LONGEST else 1 if function in FUNCTIONS else 2


def _function(test: str) -> str:
    return test.partition("[")[0]
