(** * Two parts suffice, for traces

    proofs/two-parts.md, sections 1, 2 and 4, as far as events and their order go.  A trace t is violating, and no longer
    so without the command e that it issues last.  The run s in blocks that the rest of t looks like is split: the steps
    that have to wait for one step a, the source, or for further sources come late, and e comes before them. *)

Require Import Pgas.Order Pgas.Trace.

(** ** A cycle that must pass through a vertex *)
Section Cycle.
  Context {V : Type} (E : V -> V -> Prop) (e : V).
  Hypothesis V_dec : forall c d : V, {c = d} + {c <> d}.
  Hypothesis E_irrefl : forall c, ~ E c c.

  Definition off (c d : V) : Prop := E c d /\ c <> e /\ d <> e.

  Lemma walk_to c : clos_refl_trans_1n _ E c e -> c <> e -> exists p, clos_refl_trans _ off c p /\ p <> e /\ E p e.
  Proof.
    remember e as g eqn:Eg in |- * at 1. induction 1 as [|c d g H _ IH]; [congruence|]. subst g. intros Nc.
    destruct (V_dec d e) as [->|Nd]; [exists c; split; [apply rt_refl|auto]|].
    destruct (IH eq_refl Nd) as (p & P & Np & L). exists p. split; [|auto].
    eapply rt_trans; [apply rt_step; exact (conj H (conj Nc Nd))|exact P].
  Qed.

  Lemma walk_off_or_by c d : clos_refl_trans_1n _ E c d -> c <> e -> d <> e ->
    clos_refl_trans _ off c d \/ (clos_refl_trans _ E c e /\ clos_refl_trans _ E e d).
  Proof.
    induction 1 as [|c x d H P IH]; intros Nc Nd; [left; apply rt_refl|]. destruct (V_dec x e) as [->|Nx].
    - right. split; [now apply rt_step|now apply clos_rt1n_rt].
    - destruct (IH Nx Nd) as [L|[L1 L2]].
      + left. eapply rt_trans; [apply rt_step; exact (conj H (conj Nc Nx))|exact L].
      + right. split; [|auto]. eapply rt_trans; [apply rt_step; exact H|exact L1].
  Qed.

  (** If there is a cycle and none that avoids e, then e has a way out and back that avoids e in between. *)
  Lemma cycle_through : (exists c, clos_trans _ E c c) -> ~ (exists c, clos_trans _ off c c) ->
    exists c p, E e c /\ c <> e /\ clos_refl_trans _ off c p /\ p <> e /\ E p e.
  Proof.
    intros (c0 & H) No.
    assert (L : clos_trans _ E e e).
    { destruct (V_dec c0 e) as [->|N0]; [auto|]. destruct (path_cases _ _ _ H) as (d & S1 & S2).
      destruct (V_dec d e) as [->|Nd].
      - destruct (walk_cases _ _ _ S2) as [->|(x & X & P)]; [tauto|].
        eapply t_trans; [exact (step_walk _ _ _ _ X P)|now apply t_step].
      - apply clos_rt_rt1n in S2. destruct (walk_off_or_by d c0 S2 Nd N0) as [A|[A B]].
        + destruct No. exists c0. apply (step_walk off c0 d c0); [exact (conj S1 (conj N0 Nd))|auto].
        + eapply t_trans; [apply walk_path; [exact B|auto]|]. exact (step_walk _ _ _ _ S1 A). }
    destruct (path_cases _ _ _ L) as (c & S1 & S2). assert (Nc : c <> e) by (intros ->; exact (E_irrefl _ S1)).
    apply clos_rt_rt1n in S2. destruct (walk_to c S2 Nc) as (p & P). exists c, p. tauto.
  Qed.
End Cycle.

Section TwoParts.
  Context {Event Command : Type} {K : Calculus Event Command}.
  Implicit Types (x y z w : Event) (c d : Command).

  Definition without (e : Command) (t : list Event) : list Event := filter (fun x => negb (of_command e x)) t.
  Definition behind (t : list Event) x y : bool := if before_dec event_dec t x y then true else false.

  (** (s without D) . (e up to x) . (s in D) . (the rest of e) *)
  Definition rearranged (t s : list Event) (e : Command) x (D : Event -> bool) : list Event :=
    filter (fun y => negb (D y)) s ++ filter (fun y => of_command e y && negb (behind t x y)) t ++
    filter D s ++ filter (fun y => of_command e y && behind t x y) t.

  Lemma behind_iff t x y : behind t x y <-> before t x y.
  Proof. unfold behind, is_true. destruct (before_dec event_dec t x y); intuition discriminate. Qed.
  Lemma negb_iff (b : bool) : negb b <-> ~ b.
  Proof. destruct b; simpl; unfold is_true; intuition discriminate. Qed.
  Lemma andb_iff (a b : bool) : a && b <-> a /\ b.
  Proof. apply andb_true_iff. Qed.
  Lemma in_without e t x : In x (without e t) <-> In x t /\ cmd x <> e.
  Proof. unfold without. now rewrite in_filter, negb_iff, of_command_iff. Qed.
  Lemma before_without e t x y : before (without e t) x y <-> before t x y /\ cmd x <> e /\ cmd y <> e.
  Proof. unfold without. now rewrite before_filter, !negb_iff, !of_command_iff. Qed.

  (** What must come before what: completion rules between steps, and waits between steps and issued events.  All that
      is known of it is that the trace obeys it, and that it goes from an earlier command of a rank to a later one. *)
  Variables (t : list Event) (e : Command) (must : Event -> Event -> bool) (s : list Event).
  Hypothesis t_nodup : NoDup t.
  Hypothesis e_last : forall x y, cmd x = e -> before t x y -> issued y -> cmd y = e.
  Hypothesis must_obeyed : forall x y, must x y -> In x t -> In y t -> before t x y.
  Hypothesis must_later : forall x y, must x y -> In x t -> In y t ->
    exists i j, cmd i = cmd x /\ cmd j = cmd y /\ cmd i <> cmd j /\ program_order t i j.
  Hypothesis t_violating : violating t.
  Hypothesis e_closes : ~ violating (without e t).
  Hypothesis s_looks : looks_like (without e t) s.
  Hypothesis s_blocks : in_blocks s.

  Let s_nodup : NoDup s := look_nodup _ _ s_looks.
  Let in_s x : In x s <-> In x t /\ cmd x <> e.
  Proof. rewrite (look_events _ _ s_looks). apply in_without. Qed.

  Lemma leaves : exists x a f p, cmd x = e /\ cmd a <> e /\ conflict_edge t x a /\
    clos_refl_trans _ (off (edge t) e) (cmd a) (cmd p) /\ cmd p <> e /\ cmd f = e /\
    (program_order t p f \/ conflict_edge t p f).
  Proof.
    destruct (cycle_through (edge t) e cmd_dec) as (c & q & (_ & x & a & Ex & Ea & E1) & Nc & P & Nq & E2).
    - intros c (H & _). auto.
    - exact t_violating.
    - intros (c & H). apply e_closes. exists c. revert H. apply path_weaken.
      intros a b ((D & x & y & <- & <- & E) & Na & Nb). split; [auto|]. exists x, y. split; [auto|]. split; [auto|].
      destruct E as [(I1 & I2 & R & B)|(C & B & Free)].
      + left. split; [auto|]. split; [auto|]. split; [auto|]. now apply before_without.
      + right. split; [auto|]. split; [now apply before_without|]. intros z B1 B2. apply before_without in B1, B2.
        now apply Free.
    - destruct E2 as (_ & p & f & <- & Ef & E2). exists x, a, f, p. subst c.
      destruct E1 as [(_ & I & _ & B)|E1]; [|tauto]. destruct Nc. exact (e_last x a Ex B I).
  Qed.

  (** What comes before what in t and has to stay so. *)
  Definition linked x y : Prop := cmd x = cmd y \/ program_order t x y \/ must x y.

  Lemma linked_in_s x y : before t x y -> cmd x <> e -> cmd y <> e -> linked x y \/ conflict x y -> before s x y.
  Proof.
    intros B Nx Ny L. assert (Br : before (without e t) x y) by now apply before_without.
    assert (Po : forall i j, program_order t i j -> cmd i <> e -> cmd j <> e -> before s i j).
    { intros i j (I1 & I2 & R & Bij) Ni Nj.
      assert (Q : program_order s i j); [|now destruct Q as (_ & _ & _ & Q)].
      apply (look_program _ _ s_looks). split; [auto|]. split; [auto|]. split; [auto|]. now apply before_without. }
    destruct L as [[E|[P|M]]|C].
    - now apply (look_command _ _ s_looks).
    - now apply Po.
    - destruct (before_in _ _ _ B) as [Ix Iy]. destruct (must_later x y M Ix Iy) as (i & j & Ei & Ej & D & P).
      apply (blocks_apart s i j); auto; [apply Po; congruence|now apply in_s|now apply in_s].
    - now apply (look_conflict _ _ s_looks).
  Qed.

  Section Build.
    (** The sources: a, and, if x0 waits for a value, what else has to come after it.  Only where updates commute there
        is more than a. *)
    Variables (x0 a : Event) (source : Event -> bool).
    Hypothesis x0_of_e : cmd x0 = e.
    Hypothesis a_not_of_e : cmd a <> e.
    Hypothesis x0_a : conflict_edge t x0 a.
    Hypothesis a_source : source a.
    Hypothesis sources : forall y, source y -> before t x0 y /\ cmd y <> e.

    (** D: what the sources force to wait, along s. *)
    Definition forces x y : Prop := before s x y /\ (cmd x = cmd y \/ must x y \/ conflict x y).

    Lemma forces_dec x y : {forces x y} + {~ forces x y}.
    Proof.
      unfold forces. destruct (before_dec event_dec s x y), (cmd_dec (cmd x) (cmd y)), (is_true_dec (must x y)),
        (is_true_dec (conflict x y)); first [left; tauto|right; tauto].
    Defined.

    Lemma forced_dec y : {exists w, source w /\ (w = y \/ clos_trans _ forces w y)} +
                         {~ exists w, source w /\ (w = y \/ clos_trans _ forces w y)}.
    Proof.
      destruct (list_ex_dec _ (fun w => source w /\ (w = y \/ clos_trans _ forces w y)) s) as [H|H].
      - intros w. destruct (is_true_dec (source w)); [|right; tauto]. destruct (event_dec w y); [left; auto|].
        destruct (path_dec forces s forces_dec) with (a := w) (b := y) as [H|H]; [|left; auto|right; tauto].
        intros x z (B & _). now apply before_in in B.
      - left. destruct H as (w & _ & H). eauto.
      - right. intros (w & Sw & H'). apply H. exists w. split; [|auto]. destruct (sources w Sw) as [B N].
        apply in_s. split; [now apply before_in in B|auto].
    Defined.

    Definition delayed y : bool := if forced_dec y then true else false.
    Lemma delayed_iff y : delayed y <-> exists w, source w /\ (w = y \/ clos_trans _ forces w y).
    Proof. unfold delayed, is_true. destruct (forced_dec y); intuition discriminate. Qed.

    Lemma delayed_source w : source w -> delayed w.
    Proof. intros H. apply delayed_iff. eauto. Qed.

    Lemma delayed_closed x y : delayed x -> forces x y -> delayed y.
    Proof.
      rewrite !delayed_iff. intros (w & Sw & H) F. exists w. split; [auto|]. right.
      destruct H as [->|P]; [now apply t_step|]. eapply t_trans; [exact P|now apply t_step].
    Qed.

    (** Claim 1 *)
    Lemma delayed_behind y : delayed y -> before t x0 y /\ cmd y <> e.
    Proof.
      rewrite delayed_iff. intros (w & Sw & [<-|P]); [now apply sources|].
      apply clos_trans_tn1 in P. assert (Step : forall x z, before t x0 x -> forces x z -> before t x0 z /\ cmd z <> e).
      { intros x z B (Bs & L). destruct (before_in _ _ _ Bs) as [Ix Iz]. apply in_s in Ix, Iz. split; [|tauto].
        apply (before_trans _ _ _ _ t_nodup B). destruct L as [E|[M|C]].
        - apply (look_command _ _ s_looks) in Bs; [|auto]. now apply before_without in Bs.
        - apply must_obeyed; tauto.
        - apply (look_conflict _ _ s_looks) in Bs; [|auto]. now apply before_without in Bs. }
      induction P as [y F|y z F P IH]; [exact (Step w y (proj1 (sources w Sw)) F)|].
      exact (Step y z (proj1 IH) F).
    Qed.

    Lemma delayed_steps y : delayed y -> ~ issued y.
    Proof. intros Dy I. apply delayed_behind in Dy as [B N]. exact (N (e_last _ _ x0_of_e B I)). Qed.

    Definition u : list Event := rearranged t s e x0 delayed.

    (** Which of the four pieces an event lies in. *)
    Definition piece y : nat :=
      if cmd_dec (cmd y) e then (if behind t x0 y then 3 else 1) else (if delayed y then 2 else 0).

    Lemma piece_cases y :
      (cmd y <> e /\ ~ delayed y /\ piece y = 0) \/ (cmd y = e /\ ~ before t x0 y /\ piece y = 1) \/
      (cmd y <> e /\ delayed y /\ piece y = 2) \/ (cmd y = e /\ before t x0 y /\ piece y = 3).
    Proof.
      unfold piece. rewrite <- behind_iff. unfold is_true.
      destruct (cmd_dec (cmd y) e), (behind t x0 y), (delayed y); intuition discriminate.
    Qed.

    Lemma in_piece y : In y t ->
      (In y (filter (fun z => negb (delayed z)) s) <-> piece y = 0) /\
      (In y (filter (fun z => of_command e z && negb (behind t x0 z)) t) <-> piece y = 1) /\
      (In y (filter delayed s) <-> piece y = 2) /\
      (In y (filter (fun z => of_command e z && behind t x0 z) t) <-> piece y = 3).
    Proof.
      intros I. rewrite !in_filter, !andb_iff, !negb_iff, !behind_iff, !of_command_iff, in_s.
      destruct (piece_cases y) as [(? & ? & ->)|[(? & ? & ->)|[(? & ? & ->)|(? & ? & ->)]]]; intuition discriminate.
    Qed.

    Lemma in_u y : In y u <-> In y t.
    Proof.
      split.
      - unfold u, rearranged. rewrite !in_app_iff, !in_filter, in_s. tauto.
      - intros I. unfold u, rearranged. rewrite !in_app_iff. destruct (in_piece y I) as (-> & -> & -> & ->).
        destruct (piece_cases y) as [(_ & _ & ->)|[(_ & _ & ->)|[(_ & _ & ->)|(_ & _ & ->)]]]; auto.
    Qed.

    Lemma u_nodup : NoDup u.
    Proof.
      unfold u, rearranged. repeat apply nodup_app; try (apply NoDup_filter; assumption).
      - intros y H H'. assert (I : In y t) by (apply in_filter in H as [H _]; now apply in_s in H).
        destruct (in_piece y I) as (_ & _ & P2 & P3). apply P2 in H. apply P3 in H'. congruence.
      - intros y H H'. assert (I : In y t) by (apply in_filter in H; tauto). rewrite in_app_iff in H'.
        destruct (in_piece y I) as (_ & P1 & P2 & P3). rewrite P2, P3 in H'. apply P1 in H.
        destruct H'; congruence.
      - intros y H H'. assert (I : In y t) by (apply in_filter in H as [H _]; now apply in_s in H).
        rewrite !in_app_iff in H'. destruct (in_piece y I) as (P0 & P1 & P2 & P3). rewrite P1, P2, P3 in H'.
        apply P0 in H. destruct H' as [|[|]]; congruence.
    Qed.

    Lemma u_by_piece x y : In x t -> In y t -> piece x < piece y -> before u x y.
    Proof.
      intros Ix Iy L. unfold u, rearranged. rewrite !before_app, !in_app_iff.
      destruct (in_piece x Ix) as (X0 & X1 & X2 & _), (in_piece y Iy) as (_ & Y1 & Y2 & Y3).
      rewrite X0, X1, X2, Y1, Y2, Y3.
      destruct (piece_cases x) as [(_ & _ & Ex)|[(_ & _ & Ex)|[(_ & _ & Ex)|(_ & _ & Ex)]]];
        destruct (piece_cases y) as [(_ & _ & Ey)|[(_ & _ & Ey)|[(_ & _ & Ey)|(_ & _ & Ey)]]];
        rewrite Ex, Ey in *; try lia; auto 10.
    Qed.

    Lemma u_in_piece x y : piece x = piece y -> (cmd x = e -> before t x y) -> (cmd x <> e -> before s x y) ->
      before u x y.
    Proof.
      intros E Be Bn. unfold u, rearranged.
      rewrite !before_app, !before_filter, !andb_iff, !negb_iff, !behind_iff, !of_command_iff.
      destruct (piece_cases x) as [(H1 & H2 & Ex)|[(H1 & H2 & Ex)|[(H1 & H2 & Ex)|(H1 & H2 & Ex)]]];
        destruct (piece_cases y) as [(J1 & J2 & Ey)|[(J1 & J2 & Ey)|[(J1 & J2 & Ey)|(J1 & J2 & Ey)]]];
        rewrite Ex, Ey in E; try discriminate E; tauto.
    Qed.

    (** e stands behind whatever t has before it. *)
    Lemma u_before_e x y : before t x y -> cmd x <> e -> cmd y = e -> before u x y.
    Proof.
      intros B Nx Ey. destruct (before_in _ _ _ B) as [Ix Iy]. apply u_by_piece; auto.
      destruct (piece_cases x) as [(_ & _ & ->)|[(H & _)|[(_ & Dx & ->)|(H & _)]]]; try tauto;
        destruct (piece_cases y) as [(H & _)|[(_ & J & ->)|[(H & _)|(_ & J & ->)]]]; try tauto; try lia.
      destruct J. apply (before_trans _ _ x _ t_nodup); [now apply delayed_behind|auto].
    Qed.

    Lemma u_within_e x y : before t x y -> cmd x = e -> cmd y = e -> before u x y.
    Proof.
      intros B Ex Ey. destruct (before_in _ _ _ B) as [Ix Iy].
      destruct (piece_cases x) as [(H & _)|[(_ & H & P)|[(H & _)|(_ & H & P)]]]; try tauto;
        destruct (piece_cases y) as [(J & _)|[(_ & J & Q)|[(J & _)|(_ & J & Q)]]]; try tauto.
      - apply u_in_piece; [congruence|auto|tauto].
      - apply u_by_piece; [auto|auto|lia].
      - destruct J. exact (before_trans _ _ _ _ t_nodup H B).
      - apply u_in_piece; [congruence|auto|tauto].
    Qed.

    Lemma u_without_e x y : before t x y -> cmd x <> e -> cmd y <> e -> linked x y \/ conflict x y -> before u x y.
    Proof.
      intros B Nx Ny L. destruct (before_in _ _ _ B) as [Ix Iy]. pose proof (linked_in_s x y B Nx Ny L) as Bs.
      destruct (piece_cases x) as [(_ & H & P)|[(H & _)|[(_ & H & P)|(H & _)]]]; try tauto;
        destruct (piece_cases y) as [(_ & J & Q)|[(J & _)|[(_ & J & Q)|(J & _)]]]; try tauto.
      - apply u_in_piece; [congruence|tauto|auto].
      - apply u_by_piece; [auto|auto|lia].
      - destruct J. destruct L as [[E|[(I & _)|M]]|C].
        + apply (delayed_closed x y H). split; auto.
        + destruct (delayed_steps x H I).
        + apply (delayed_closed x y H). split; auto.
        + apply (delayed_closed x y H). split; auto.
      - apply u_in_piece; [congruence|tauto|auto].
    Qed.

    (** Commands, program order, completion rules and waits are obeyed. *)
    Lemma u_obeys x y : before t x y -> linked x y -> before u x y.
    Proof.
      intros B L. destruct (cmd_dec (cmd y) e) as [Ey|Ny].
      - destruct (cmd_dec (cmd x) e) as [Ex|Nx]; [now apply u_within_e|now apply u_before_e].
      - destruct (cmd_dec (cmd x) e) as [Ex|Nx]; [|apply u_without_e; auto]. destruct Ny.
        destruct L as [E|[(_ & I & _)|M]]; [congruence|exact (e_last x y Ex B I)|].
        destruct (before_in _ _ _ B) as [Ix Iy]. destruct (must_later x y M Ix Iy) as (i & j & Ei & Ej & _ & _ & I & _ & Bij).
        rewrite <- Ej. apply (e_last i j); congruence.
    Qed.

    Lemma u_conflicts x y : conflict x y -> cmd x <> e -> cmd y <> e -> (before u x y <-> before t x y).
    Proof.
      intros C Nx Ny. split; [|intros B; apply u_without_e; auto]. intros B.
      destruct (before_in _ _ _ B) as [Ix Iy]. rewrite in_u in Ix, Iy.
      destruct (before_total t x y) as [?|B']; auto; [intros ->; exact (conflict_irrefl _ C)|].
      destruct (before_asym _ _ _ u_nodup B). apply u_without_e; auto. right. now apply conflict_sym.
    Qed.

    (** What x0 reads: the same changes stand before it, as x0 -> a is an edge. *)
    Lemma u_at_x0 w : In w t -> changes w -> conflict w x0 -> cmd w <> e -> (before t x0 w -> source w \/ conflict a w) ->
      (before u w x0 <-> before t w x0).
    Proof.
      intros Iw W C Nw A. destruct x0_a as (C0 & B0 & Free). destruct (before_in _ _ _ B0) as [I0 Ia].
      split; [|intros B; now apply u_before_e]. intros B.
      destruct (before_total t w x0) as [?|B']; auto; [intros ->; tauto|]. exfalso.
      assert (Dw : delayed w).
      { destruct (A B') as [A'|A']; [now apply delayed_source|]. destruct (before_total t w a) as [B2|B2]; auto.
        - intros ->. exact (conflict_irrefl _ A').
        - destruct (Free w); auto using conflict_sym.
        - apply (delayed_closed a w (delayed_source a a_source)). split; [|auto]. apply linked_in_s; auto. }
      apply (before_asym _ _ _ u_nodup B). apply u_by_piece; auto.
      destruct (piece_cases w) as [(_ & H & _)|[(H & _)|[(_ & _ & ->)|(H & _)]]]; try tauto.
      destruct (piece_cases x0) as [(H & _)|[(_ & _ & ->)|[(H & _)|(_ & H & _)]]]; try tauto; [lia|].
      destruct (before_irrefl _ _ t_nodup H).
    Qed.

    Section Violating.
      Variables (p f : Event).
      Hypothesis way : clos_refl_trans _ (off (edge t) e) (cmd a) (cmd p).
      Hypothesis p_not_of_e : cmd p <> e.
      Hypothesis f_of_e : cmd f = e.
      Hypothesis p_f : program_order t p f \/ conflict_edge t p f.

      Lemma u_program x y : program_order t x y -> program_order u x y.
      Proof.
        intros P. pose proof P as (I1 & I2 & R & B). split; [auto|]. split; [auto|]. split; [auto|].
        apply u_obeys; [auto|right; auto].
      Qed.

      Lemma u_edge x y : cmd x <> cmd y -> program_order t x y \/ (conflict x y /\ before u x y) ->
        clos_refl_trans _ (edge u) (cmd x) (cmd y).
      Proof.
        intros D [P|(C & B)]; [|now apply conflict_walk; [apply u_nodup|..]].
        apply rt_step. split; [auto|]. exists x, y. split; [auto|]. split; [auto|]. left. now apply u_program.
      Qed.

      Lemma u_violating : violating u.
      Proof.
        assert (Out : clos_refl_trans _ (edge u) e (cmd a)).
        { rewrite <- x0_of_e. destruct x0_a as (C & B & _). destruct (before_in _ _ _ B) as [I0 Ia].
          apply u_edge; [congruence|]. right. split; [auto|]. apply u_by_piece; auto.
          destruct (piece_cases a) as [(_ & H & _)|[(H & _)|[(_ & _ & ->)|(H & _)]]]; try tauto;
            [destruct H; now apply delayed_source|].
          destruct (piece_cases x0) as [(H & _)|[(_ & _ & ->)|[(H & _)|(_ & H & _)]]]; try tauto; [lia|].
          destruct (before_irrefl _ _ t_nodup H). }
        assert (Middle : clos_refl_trans _ (edge u) (cmd a) (cmd p)).
        { assert (Walk : forall c d, clos_refl_trans _ (off (edge t) e) c d -> clos_refl_trans _ (edge u) c d); [|auto].
          induction 1 as [c d ((D & x & y & <- & <- & E) & Nx & Ny)|c|c d d' _ IH1 _ IH2];
            [|apply rt_refl|eapply rt_trans; eauto].
          apply u_edge; [auto|]. destruct E as [P|(C & B & _)]; [auto|]. right. split; [auto|]. now apply u_conflicts. }
        assert (Back : clos_refl_trans _ (edge u) (cmd p) e).
        { rewrite <- f_of_e. apply u_edge; [congruence|]. destruct p_f as [P|(C & B & _)]; [auto|].
          right. split; [auto|]. now apply u_before_e. }
        exists e. eapply t_trans; [apply walk_path; [exact Out|auto]|]. apply walk_path; [|auto].
        eapply rt_trans; eassumption.
      Qed.
    End Violating.
  End Build.

  (** The theorem.  [rearranged] has the shape of two-parts.md, obeys everything that t obeys, keeps what is in conflict
      outside e, keeps what the access x reads if x is all that e does, and is violating. *)
  Theorem two_parts_trace (source : Event -> Event -> Event -> bool) :
    (forall x a, cmd x = e -> cmd a <> e -> conflict_edge t x a ->
       source x a a /\ forall y, source x a y -> before t x y /\ cmd y <> e) ->
    exists x a (D : Event -> bool),
    let u := rearranged t s e x D in
    cmd x = e /\ conflict_edge t x a /\ D a /\ (forall y, D y -> before t x y /\ cmd y <> e /\ ~ issued y) /\
    NoDup u /\ (forall y, In y u <-> In y t) /\
    (forall y z, before t y z -> linked y z -> before u y z) /\
    (forall y z, before t y z -> cmd y <> e -> cmd z = e -> before u y z) /\
    (forall y z, conflict y z -> cmd y <> e -> cmd z <> e -> (before u y z <-> before t y z)) /\
    (forall w, In w t -> changes w -> conflict w x -> cmd w <> e -> (before t x w -> source x a w \/ conflict a w) ->
               (before u w x <-> before t w x)) /\
    violating u /\
    (* D is what the sources force to wait, and the cycle of t goes from a to some p, and from there back to e *)
    (forall y, D y <-> exists w, source x a w /\ (w = y \/ clos_trans _ forces w y)) /\
    exists p f, clos_refl_trans _ (off (edge t) e) (cmd a) (cmd p) /\ cmd p <> e /\ cmd f = e /\
                (program_order t p f \/ conflict_edge t p f).
  Proof.
    intros Sources. destruct leaves as (x & a & f & p & Ex & Na & E1 & Way & Np & Ef & E2).
    destruct (Sources x a Ex Na E1) as [Sa Sy]. exists x, a, (delayed x (source x a) Sy).
    split; [auto|]. split; [auto|]. split; [now apply delayed_source|].
    split; [|split; [|split; [|split; [|split; [|split; [|split; [|split; [|split; [|exists p, f; auto]]]]]]]]].
    - intros y Dy. destruct (delayed_behind x (source x a) Sy y Dy). split; [auto|]. split; [auto|].
      exact (delayed_steps x (source x a) Ex Sy y Dy).
    - exact (u_nodup x (source x a) Sy).
    - exact (in_u x (source x a) Sy).
    - exact (u_obeys x (source x a) Ex Sy).
    - exact (u_before_e x (source x a) Sy).
    - exact (u_conflicts x (source x a) Ex Sy).
    - exact (u_at_x0 x a (source x a) Ex Na E1 Sa Sy).
    - exact (u_violating x a (source x a) Ex Na E1 Sa Sy p f Way Np Ef E2).
    - exact (delayed_iff x (source x a) Sy).
  Qed.
End TwoParts.
