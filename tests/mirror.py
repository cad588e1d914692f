"""Which test file exercises a module that has none of its own name (`tests/<room>/test_<module>.py`).

`tests/test_house.py` holds the table: each module is in it or has a file, and each file comes to its modules.
"""

from __future__ import annotations

THROUGH: dict[str, str] = {
    "analysis/test_cell_values.py": """
        analysis.barrier_views analysis.cell_views analysis.operand_cases analysis.shared_cells
        analysis.updated_values analysis.value_sets
    """,
    "analysis/test_counters.py": """
        analysis.remembered analysis.waited
    """,
    "analysis/test_futures.py": """
        analysis.touched
    """,
    "analysis/test_hardware.py": """
        program.bits
    """,
    "analysis/test_ranges.py": """
        program.deciding
    """,
    "analysis/test_store_buffers.py": """
        analysis.pending analysis.phases
    """,
    "analysis/test_symmetry.py": """
        analysis.effects analysis.range_analysis analysis.rank_types analysis.regions analysis.widening
    """,
    "batch/test_checker.py": """
        batch.workers
    """,
    "batch/test_cluster.py": """
        batch.cluster.child batch.cluster.client batch.cluster.worker batch.crew batch.side_by_side
    """,
    "batch/test_job.py": """
        batch.headers
    """,
    "batch/test_kept.py": """
        batch.build_id batch.store
    """,
    "certificates/test_certificates.py": """
        certificates.check.accept certificates.check.command_effects certificates.check.infeasible
        certificates.check.names certificates.check.states certificates.write
    """,
    "certificates/test_trusted.py": """
        certificates.check.__main__
    """,
    "cli/test_certify.py": """
        certificates.certificate_files
    """,
    "cli/test_check_cpu.py": """
        render.store_buffers_text
    """,
    "cli/test_check_options.py": """
        frontends.sources
    """,
    "cli/test_command_line.py": """
        __main__
    """,
    "cli/test_course.py": """
        course.grades
    """,
    "cli/test_draw.py": """
        cli.run cli.witness_files
    """,
    "cli/test_examples.py": """
        render.example_list
    """,
    "cli/test_litmus.py": """
        models.litmus_answers render.execution_files
    """,
    "cli/test_litmus_generate.py": """
        render.generated
    """,
    "cli/test_lsp.py": """
        lsp.settings
    """,
    "cli/test_memory_model.py": """
        render.memory_model
    """,
    "cli/test_network.py": """
        render.network_json render.network_text
    """,
    "cli/test_race.py": """
        cli.recorded
    """,
    "cli/test_repair.py": """
        cli.changes render.repair_text
    """,
    "cli/test_thrift.py": """
        render.thrift_text
    """,
    "drawing/test_dot.py": """
        drawing.graph_to_draw
    """,
    "drawing/test_pen.py": """
        drawing.svg_pen drawing.tikz_pen
    """,
    "explore/test_position.py": """
        explore.why_blocked
    """,
    "explore/test_server.py": """
        bounded cli.explore explore.answer_processes explore.answers explore.app explore.asked_run
        explore.connections explore.guard explore.programs_kept explore.request_bounds
    """,
    "explore/test_serve.py": """
        cli.serve explore.checked explore.example_menu explore.no_files explore.service
    """,
    "export/test_promela.py": """
        cli.export export.cases export.delay_bits export.processes export.promela_statements export.rules
        export.tables
    """,
    "frontends/apis/test_illegal_calls.py": """
        frontends.apis.armci.rules frontends.apis.gasnet.rules frontends.apis.gaspi.rules frontends.apis.openshmem.rules
        frontends.apis.lifetime
    """,
    "frontends/apis/armci/test_header.py": """
        frontends.c.layout
    """,
    "frontends/apis/armci/test_ordering.py": """
        frontends.apis.armci.queues
    """,
    "frontends/apis/gaspi/test_queues.py": """
        frontends.options
    """,
    "frontends/apis/mpi/test_nonblocking.py": """
        frontends.apis.lent frontends.apis.mpi.pending_collectives frontends.apis.mpi.reductions
    """,
    "frontends/apis/mpi/test_rules.py": """
        frontends.apis.mpi.epochs frontends.apis.mpi.further_functions frontends.apis.mpi.life
    """,
    "frontends/apis/mpi/test_setup.py": """
        frontends.apis.mpi.handles
    """,
    "frontends/apis/mpi/test_targets.py": """
        frontends.apis.mpi.window_calls
    """,
    "frontends/apis/openshmem/test_contexts.py": """
        display frontends.lower
    """,
    "frontends/apis/test_call_steps.py": """
        frontends.apis.interface
    """,
    "frontends/c/compiler/test_expression_code.py": """
        frontends.c.code
    """,
    "frontends/c/compiler/test_initialisers.py": """
        frontends.c.values
    """,
    "frontends/c/compiler/test_operations.py": """
        frontends.c.compiler.operands
    """,
    "frontends/c/compiler/test_thread_races.py": """
        frontends.c.compiler.canonical_loops frontends.c.compiler.thread_accesses
    """,
    "frontends/c/compiler/test_thread_teams.py": """
        frontends.c.compiler.communicating_code
    """,
    "frontends/c/compiler/test_type_names.py": """
        frontends.c.types
    """,
    "frontends/c/libc/test_numbers.py": """
        frontends.c.arithmetic
    """,
    "frontends/c/libc/test_shared_strings.py": """
        frontends.c.atomics frontends.c.libc.reads
    """,
    "frontends/test_bytes_c.py": """
        frontends.c.number_kinds frontends.c.transferred frontends.c.views
    """,
    "frontends/c/libc/test_team_calls.py": """
        frontends.c.libc.thread_calls frontends.c.libc.thread_conditions frontends.c.libc.thread_locks
    """,
    "frontends/c/test_agreements.py": """
        frontends.c.symbolic
    """,
    "frontends/c/test_arrivals.py": """
        frontends.c.cells frontends.c.world
    """,
    "frontends/c/test_asked.py": """
        frontends.c.together
    """,
    "frontends/c/test_displayed_values.py": """
        frontends.c.display_cells
    """,
    "frontends/c/test_moved.py": """
        frontends.c.moved_memory
    """,
    "frontends/c/test_calling.py": """
        frontends.c.calls
    """,
    "frontends/c/test_compiled.py": """
        frontends.c.in_python frontends.c.needed
    """,
    "frontends/c/test_doubles.py": """
        frontends.c.linking
    """,
    "frontends/c/test_evaluation.py": """
        frontends.c.nondeterminism
    """,
    "frontends/c/test_library.py": """
        frontends.c.libc.library_calls
        frontends.c.libc.string_functions
    """,
    "frontends/c/test_lifetimes.py": """
        frontends.c.snapshots
    """,
    "frontends/c/test_loops_kept.py": """
        frontends.c.assemble frontends.c.facts frontends.c.graph frontends.c.scalars_named
    """,
    "frontends/c/test_machine.py": """
        frontends.c.machine_parts
    """,
    "frontends/c/test_merge_points.py": """
        frontends.c.problem
    """,
    "frontends/c/test_objects.py": """
        frontends.c.contents frontends.c.extended
    """,
    "frontends/c/test_pointers.py": """
        frontends.c.parts
    """,
    "frontends/c/test_preprocessor.py": """
        frontends.c.conditions frontends.c.standard
    """,
    "frontends/c/test_rank_threads.py": """
        frontends.c.thread_facts frontends.c.thread_memory
    """,
    "frontends/c/test_shown_values.py": """
        frontends.c.control_flow frontends.c.data_flow frontends.c.promoted_objects program.shown_places
    """,
    "frontends/c/test_syntax_tree.py": """
        frontends.c.literals frontends.c.tokens
    """,
    "frontends/test_fitting_counts.py": """
        frontends.c.followed program.count_note
    """,
    "frontends/test_nothing_checked.py": """
        frontends.apis.communicating
    """,
    "frontends/test_several_files.py": """
        frontends.compile_commands
    """,
    "lsp/test_diagnostics.py": """
        lsp.edited_program lsp.server
    """,
    "lsp/test_features.py": """
        lsp.hover lsp.repair_actions
    """,
    "lsp/test_project.py": """
        lsp.documents
    """,
    "models/corerma/test_corerma.py": """
        models.corerma.execution_graphs models.corerma.program_actions models.model_interface
    """,
    "models/corerma/test_random.py": """
        models.corerma.consistent_executions models.corerma.explanation models.corerma.outcome_search
    """,
    "models/generate/test_corerma_shapes.py": """
        models.generate.programs
    """,
    "models/generate/test_corerma_tests.py": """
        models.generate.conventions
    """,
    "models/generate/test_cycles.py": """
        models.generate.static_order
    """,
    "models/litmus/test_grammar.py": """
        models.litmus.expression_reading
    """,
    "models/litmus/test_litmus_parser.py": """
        models.litmus.litmus_tokens models.litmus.litmus_words
    """,
    "models/litmus/test_naming.py": """
        models.litmus.litmus_program models.litmus.syntax
    """,
    "models/networks/test_differences.py": """
        batch.litmus_checks
    """,
    "models/networks/test_to_litmus.py": """
        models.networks.counterparts models.networks.translated_graph models.networks.unpolled
    """,
    "models/pgas/test_pgas.py": """
        models.pgas.from_litmus models.pgas.run_graphs
    """,
    "models/rdma_tso/test_declarative.py": """
        models.candidate_executions models.rdma_tso.axioms models.rdma_tso.execution_search
        models.rdma_tso.expansion models.rdma_tso.forbidden models.rdma_tso.points
    """,
    "models/rdma_tso/test_late_search.py": """
        models.rdma_tso.delays models.rdma_tso.late_accesses models.rdma_tso.late_witness
    """,
    "models/rdma_tso/test_premises.py": """
        models.rdma_tso.concrete models.rdma_tso.processor models.rdma_tso.queue_pairs
        models.rdma_tso.simplified
    """,
    "models/rdma_tso/test_score.py": """
        models.rdma_tso.orders
    """,
    "models/store_buffers/test_cycle_search.py": """
        models.store_buffers.buffered_run models.store_buffers.buffered_space models.store_buffers.tso_check
    """,
    "models/test_operational.py": """
        models.thread_control
    """,
    "models/test_papers.py": """
        render.litmus_catalogue
    """,
    "models/test_sc_and_tso.py": """
        models.sc models.tso
    """,
    "program/test_assumptions.py": """
        program.assumption_texts
    """,
    "program/test_core.py": """
        program.commands program.statements
    """,
    "program/test_expectation.py": """
        program.reading
    """,
    "program/test_kept_tables.py": """
        program.files program.report
    """,
    "program/test_parser.py": """
        program.builder program.declaration_rules program.expression_rules program.habits
        program.statement_rules program.vocabulary
    """,
    "program/test_gathering.py": """
        program.reached_values
    """,
    "program/test_polls.py": """
        program.looks program.walks
    """,
    "program/test_printer.py": """
        program.program
    """,
    "program/test_raised_flags.py": """
        program.later_writes
    """,
    "program/test_structure.py": """
        program.declarations
    """,
    "races/mpi/test_model.py": """
        races.mpi.actions races.mpi.consistency races.mpi.executions races.mpi.judgement races.mpi.validity
        reference.idle_rounds
    """,
    "races/mpi/test_refusals.py": """
        races.mpi.decide races.mpi.execution
    """,
    "races/test_consequences.py": """
        races.end_sets
    """,
    "races/test_elements.py": """
        analysis.sites
    """,
    "races/test_race_check.py": """
        races.race_verdict semantics.race
    """,
    "races/test_races_agree.py": """
        races.found races.native_races races.racing_pairs
    """,
    "recording/test_calls.py": """
        recording.recorded_answers recording.straight
    """,
    "recording/test_damaged_traces.py": """
        runtime.record.trace_appendix runtime.record.trace_reader
    """,
    "recording/test_must_rma.py": """
        recording.simulated
    """,
    "recording/test_random_programs.py": """
        recording.collective_flow recording.lowering recording.onesided recording.recorded_calls
        recording.signals
    """,
    "recording/test_recorded_names.py": """
        recording.recorded_accesses recording.recorded_memory
    """,
    "recording/test_trace_segments.py": """
        recording.events recording.memory_places
    """,
    "reference/test_further_commands.py": """
        reference.renaming
    """,
    "reference/test_race_traces.py": """
        reference.race_search reference.trace_search
    """,
    "reference/test_recordings.py": """
        reference.closing reference.delaying
    """,
    "reference/test_reduced_search.py": """
        reference.attack_search reference.normalised
    """,
    "reference/test_subsets.py": """
        semantics.mazurkiewicz_trace
    """,
    "render/diagram/test_model.py": """
        render.diagram.boxes render.diagram.folding render.diagram.run_layout render.diagram.shared_rows
    """,
    "render/explanation/test_explanation.py": """
        render.explanation.blocks render.explanation.chapters render.explanation.decision_chapters
        render.explanation.run_chapters
    """,
    "render/test_baseline.py": """
        version
    """,
    "render/test_execution_graph.py": """
        render.lane_panels
    """,
    "render/test_process_numbers.py": """
        render.barriers_waited_at
    """,
    "render/test_explorer.py": """
        render.allowed
    """,
    "render/test_findings.py": """
        cli.further render.finding_json
    """,
    "render/test_json_schema.py": """
        cli.schema render.every_count_json
    """,
    "render/test_litmus_text.py": """
        render.litmus_json
    """,
    "render/test_one_run_text.py": """
        render.one_run_json
    """,
    "render/test_outcomes_json.py": """
        runs.shown
    """,
    "render/test_races_text.py": """
        render.one_race_json render.one_race_text
    """,
    "render/test_synchronised_text.py": """
        render.synchronised_json
    """,
    "render/test_verdict_text.py": """
        render.effect_json render.result_report
    """,
    "repairs/test_corpus.py": """
        repairs.verifier
    """,
    "repairs/test_edits.py": """
        repairs.remedies repairs.source_statements repairs.texts
    """,
    "repairs/test_further.py": """
        repairs.read_again repairs.sc_outcomes
    """,
    "repairs/test_search.py": """
        repairs.cheapest
    """,
    "repairs/test_thrift.py": """
        repairs.candidates repairs.savings
    """,
    "robustness/every_n/test_c1.py": """
        semantics.endings
    """,
    "robustness/every_n/test_c_programs.py": """
        robustness.every_n.proof
    """,
    "robustness/test_every_count_check.py": """
        robustness.every_n.frame robustness.every_n.known robustness.every_n.prove robustness.verdict
    """,
    "robustness/every_n/test_growing.py": """
        robustness.every_n.again robustness.every_n.memory
    """,
    "robustness/every_n/test_lock_tokens.py": """
        robustness.every_n.token_edges
    """,
    "robustness/every_n/test_named_views.py": """
        robustness.every_n.named_commands robustness.every_n.unfold robustness.reduction.abstract_commands
        robustness.reduction.pairwise
    """,
    "robustness/every_n/test_proved_facts.py": """
        robustness.every_n.rank_cases robustness.every_n.sc_pairs robustness.every_n.stuck
    """,
    "robustness/every_n/test_soundness.py": """
        robustness.every_n.flow
    """,
    "robustness/every_n/test_symbolic_values.py": """
        robustness.every_n.linear
    """,
    "robustness/reduction/test_elements.py": """
        robustness.reduction.unused
    """,
    "robustness/reduction/test_infeasibility.py": """
        analysis.faults robustness.reduction.fixpoint robustness.reduction.setting
    """,
    "robustness/test_effect_search.py": """
        robustness.maximal_runs
    """,
    "robustness/test_engines_agree.py": """
        robustness.engines
    """,
    "robustness/test_explanation.py": """
        robustness.explanation.example_runs robustness.explanation.marked_word
        robustness.explanation.reordering robustness.explanation.searches
    """,
    "robustness/test_native_attack.py": """
        robustness.access_tables robustness.kernel_tables
    """,
    "robustness/test_reductions_agree.py": """
        robustness.engine robustness.moves
    """,
    "robustness/test_session.py": """
        robustness.counterexample robustness.sc_facts
    """,
    "robustness/test_shrink.py": """
        robustness.marking robustness.needed_commands
    """,
    "robustness/test_strict_waits.py": """
        frontends.apis.mpi.matching render.strict_waits_json
    """,
    "robustness/test_traces_agree.py": """
        robustness.native_traces
    """,
    "robustness/test_why.py": """
        program.variants render.why_text robustness.load robustness.suspects
    """,
    "runs/test_outcomes.py": """
        runs.chosen runs.enumeration
    """,
    "runtime/test_debug_information.py": """
        runtime.record.debug_information
    """,
    "runtime/test_named_in_source.py": """
        runtime.record.named_in_source
    """,
    "runtime/test_record.py": """
        cli.build cli.record render.recorded_text runtime.record.build runtime.record.mpi
        runtime.record.openshmem runtime.record.records runtime.record.run runtime.record.trace
    """,
    "runtime/test_reproduce.py": """
        cli.reproduce render.reproduced runtime.reproduce.execute runtime.reproduce.reproduce runtime.tools
    """,
    "runtime/test_reproduce_rewrite.py": """
        runtime.reproduce.rewrite
    """,
    "runtime/test_reproduce_schedule.py": """
        runtime.reproduce.schedule
    """,
    "runtime/test_traced_variables.py": """
        runtime.record.traced_variables
    """,
    "runtime/test_reproduce_wrappers.py": """
        runtime.interposed runtime.reproduce.wrappers
    """,
    "semantics/test_happens_before.py": """
        semantics.computation
    """,
    "test_api.py": """
        render.results
    """,
    "test_corpus.py": """
        render.corpus_catalogue
    """,
    "test_packaging.py": """
        program.corpus
    """,
    "test_readme.py": """
        render.every_count_text render.hardware_text
    """,
}
"""Modules by the test file through which they are tested."""

TESTED_THROUGH = {module: test for test, modules in THROUGH.items() for module in modules.split()}
