(** What each main theorem assumes; tests/test_coq.py compares the output. *)
Require Import Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs Pgas.NormalForm
  Pgas.Attack Pgas.AttackComplete Pgas.Parts Pgas.Robust Pgas.EveryN Pgas.Reductions Pgas.Independent Pgas.Queues.
Import Example.
Print Assumptions same_happens_before.
Print Assumptions swap_independent.
Print Assumptions violating_dec.
Print Assumptions shasha_snir.
Print Assumptions two_parts_trace.
Print Assumptions no_write_between.
Print Assumptions same_cell.
Print Assumptions rearrangement.
Print Assumptions same_look_same_run.
Print Assumptions same_look_same_values.
Print Assumptions shasha_snir_program.
Print Assumptions cancellation.
Print Assumptions some_last_command_closes.
Print Assumptions two_parts.
Print Assumptions robust_iff_two_parts.
Print Assumptions attack_sound.
Print Assumptions attack_complete.
Print Assumptions attack_decides.
Print Assumptions search_before_source.
Print Assumptions reinsertion.
Print Assumptions robust_iff_normal_forms.
Print Assumptions heads_are_normal_forms.
Print Assumptions robust_iff_heads.
Print Assumptions queues_can_be_emptied.
Print Assumptions robust_program_is_where_blocks_are.
Print Assumptions infeasible_source.
Print Assumptions infeasible_robust.
Print Assumptions every_n.
Print Assumptions every_number.
Print Assumptions Own.own_robust.
Print Assumptions simulation_near.
Print Assumptions persistent_sets.
Print Assumptions merging_keeps.
Print Assumptions merging_adds_nothing.
Print Assumptions independent_to_front.
Print Assumptions independent_along.
Print Assumptions finds_after.
Print Assumptions attack_persistent.
Print Assumptions reduced_attack_complete.
Print Assumptions merged_attack_decides.
Print Assumptions word_is_a_computation.
Print Assumptions word_is_violating.
