(** * What holds of the computations of every program

    Shasha and Snir with values (Lemma 7 of proofs/normal-form.md), Lemma 6 (the last command can be cancelled), Lemma 7.1
    (some last command closes the cycle), and the theorem of proofs/two-parts.md. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange.

Section Programs.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z w : event) (t s u : list event) (e : command).

  Definition same_state (a b : @state Loc Op Cell Val) : Prop :=
    (forall r, loc a r = loc b r) /\ (forall k, mem a k = mem b k) /\ (forall r, ops a r = ops b r) /\
    (forall c, got a c = got b c).

  (** ** Lemma A': what looks alike is a computation, with the same values and the same state in the end *)
  Section SameLook.
    Variables t r : list event.
    Hypothesis t_valid : valid t.
    Hypothesis r_looks : looks_like t r.
    Hypothesis r_must : forall x y, before t x y -> must t x y -> before r x y.

    Let t_nodup : NoDup t := valid_nodup t t_valid.
    Let r_nodup : NoDup r := look_nodup _ _ r_looks.

    Lemma look_rearranged : valid r /\ forall y, In y r -> saw r y = saw t y.
    Proof.
      destruct (rearrangement t r (fun _ => True)) as [V S]; auto.
      - intros x. apply (look_events _ _ r_looks).
      - intros x y _ B [E|[Po|M]]; [now apply (look_command _ _ r_looks)|now apply (look_program _ _ r_looks)|auto].
      - intros w y _ _ _ _ C. split; [|auto]. now apply (look_conflict _ _ r_looks).
      - intros v w y _ _ _ _ _ _ _ C B _. now apply (look_conflict _ _ r_looks).
    Qed.

    Lemma look_filter (f : event -> bool) : (forall x y, f x -> f y -> before t x y -> before r x y) -> filter f r = filter f t.
    Proof.
      intros H. symmetry. apply same_order_equal; try (apply NoDup_filter; auto).
      - intros x. rewrite !in_filter, (look_events _ _ r_looks). tauto.
      - intros x y. rewrite !before_filter. intros (B & Fx & Fy). auto.
    Qed.

    Lemma look_got c : got (after r) c = got (after t) c.
    Proof.
      destruct look_rearranged as [V S].
      assert (L : length (got (after r) c) = length (got (after t) c)).
      { rewrite !got_length, look_filter; [auto|]. intros x y Fx Fy B. apply (look_command _ _ r_looks); [|auto].
        apply of_cmd_iff in Fx, Fy. simpl. congruence. }
      apply nth_ext with (d := nothing) (d' := nothing); [auto|]. intros n Hn.
      destruct (event_at r c n V Hn) as (x & Ix & <- & <-). now apply S.
    Qed.

    Lemma look_state : same_state (after r) (after t).
    Proof.
      destruct look_rearranged as [V S]. split; [|split; [|split]].
      - intros k. rewrite !loc_after by auto. rewrite look_filter.
        + assert (E : forall y, In y (filter (fun y => takes_part y k) t) -> saw r y = saw t y).
          { intros y I. apply S, (look_events _ _ r_looks). now apply in_filter in I. }
          revert E. generalize (filter (fun y => takes_part y k) t) as l, (init_loc k) as l0.
          induction l as [|y l IH]; simpl; intros l0 E; [auto|]. rewrite (E y) by auto. apply IH. auto.
        + intros x y Fx Fy B. apply takes_part_iff in Fx as [Hx Kx], Fy as [Hy Ky].
          assert (Q : program_order t x y).
          { split; [exact Hx|]. split; [exact Hy|]. split; [|auto]. apply share_rank_iff. eauto. }
          apply (look_program _ _ r_looks) in Q. apply Q.
      - intros k. apply same_cell; auto.
        + intros x _. apply (look_events _ _ r_looks).
        + intros x y _ _ C B. now apply (look_conflict _ _ r_looks).
        + intros x _ _. now rewrite look_got.
      - intros k. rewrite !ops_after, look_filter; [auto|]. intros x y Fx Fy B.
        apply takes_part_iff in Fx as [Hx Kx], Fy as [Hy Ky].
        assert (Q : program_order t x y).
        { split; [exact Hx|]. split; [exact Hy|]. split; [|auto]. apply share_rank_iff. eauto. }
        apply (look_program _ _ r_looks) in Q. apply Q.
      - apply look_got.
    Qed.

    Lemma look_final : final (after t) -> final (after r).
    Proof.
      destruct look_state as (_ & _ & O & G). intros F k n o. rewrite O, G. apply F.
    Qed.
  End SameLook.

  Theorem same_look_same_run t r : computation t -> looks_like t r -> (forall x y, before t x y -> must t x y -> before r x y) ->
    computation r /\ (forall x, In x r -> saw r x = saw t x) /\ same_state (after r) (after t).
  Proof.
    rewrite !computation_valid. intros [V F] L M. destruct (look_rearranged t r V L M) as [V' S].
    split; [split; [auto|now apply look_final with t]|]. split; [auto|now apply look_state].
  Qed.

  (** Determinism: computations that look alike, so have the same happens-before, read and write the same, and end in the
      same state. *)
  Theorem same_look_same_values t r : computation t -> computation r -> looks_like t r ->
    (forall x, In x r -> saw r x = saw t x) /\ same_state (after r) (after t).
  Proof.
    intros Ct Cr L. pose proof (proj1 (computation_valid t) Ct) as [Vt _].
    pose proof (proj1 (computation_valid r) Cr) as [Vr _].
    assert (O : forall k, ops (after r) k = ops (after t) k).
    { intros k. rewrite !ops_after, (look_filter t r Vt L); [auto|]. intros x y Fx Fy B.
      apply takes_part_iff in Fx as [Hx Kx], Fy as [Hy Ky].
      assert (Q : program_order t x y).
      { split; [exact Hx|]. split; [exact Hy|]. split; [|auto]. apply share_rank_iff. eauto. }
      apply (look_program _ _ L) in Q. apply Q. }
    apply (same_look_same_run t r Ct L). intros x y B M. destruct (before_in _ _ _ B) as [Ix Iy].
    apply (must_obeyed_by r y x); auto; try now apply (look_events _ _ L).
    apply must_iff in M. apply must_iff. unfold past in *. now rewrite O.
  Qed.

  (** ** Lemma 7: Shasha and Snir *)

  Lemma blocks_must t s : valid t -> looks_like t s -> in_blocks s -> forall x y, before t x y -> must t x y -> before s x y.
  Proof.
    intros V L Bl x y B M. destruct (before_in _ _ _ B) as [Ix Iy].
    destruct (must_later_by t x y V M Ix Iy) as (i & j & Ei & Ej & N & Po). apply (look_program _ _ L) in Po.
    apply (blocks_apart s i j); auto; try now apply (look_events _ _ L).
    - exact (look_nodup _ _ L).
    - apply Po.
  Qed.

  (** A computation is not violating iff it looks like a computation that is sequentially consistent.  That one reads and
      writes the same, and ends in the same state. *)
  Theorem shasha_snir_program t : computation t ->
    (~ violating t <-> exists s, computation s /\ in_blocks s /\ looks_like t s /\
                       (forall x, In x s -> saw s x = saw t x) /\ same_state (after s) (after t)).
  Proof.
    intros C. pose proof (proj1 (computation_valid t) C) as [V _]. split.
    - intros N. destruct (acyclic_looks_in_blocks t (valid_nodup t V) N) as (s & L & Bl).
      destruct (same_look_same_run t s C L (blocks_must t s V L Bl)) as (Cs & S & St). exists s. auto.
    - intros (s & _ & Bl & L & _). exact (looks_in_blocks_acyclic t s (valid_nodup t V) L Bl).
  Qed.

  (** ** The command that is issued last *)

  (** j issues the last command of t. *)
  Definition last_issue t j : Prop := In j t /\ is_issue j /\ forall y, is_issue y -> ~ before t j y.

  Lemma last_issue_exists t : valid t -> t <> [] -> exists j, last_issue t j.
  Proof.
    intros V H. assert (Hi : exists i, In i t /\ is_issue i).
    { destruct t as [|x t']; [tauto|]. destruct (issue_of (x :: t') x V) as (i & I & _ & Hi); simpl; auto. eauto. }
    apply valid_nodup in V. clear H. revert Hi. induction V as [|x t Nx N IH]; intros (i & Ii & Hi); [destruct Ii|].
    destruct (list_ex_dec _ (fun y => is_issue y) t) as [H|H]; [intros y; apply is_true_dec| |].
    - destruct (IH H) as (j & Ij & Hj & Last). exists j. split; [simpl; auto|]. split; [auto|].
      intros y Hy [[-> _]|B]; [tauto|exact (Last y Hy B)].
    - destruct Ii as [<-|Ii]; [|destruct H; eauto]. exists x. split; [simpl; auto|]. split; [auto|].
      intros y Hy [[_ Iy]|B]; apply H; [eauto|]. apply before_in in B. exists y. tauto.
  Qed.

  Section Last.
    Variables (t : list event) (j : event).
    Hypothesis t_valid : valid t.
    Hypothesis j_last : last_issue t j.
    Notation e := (command_of j).

    Let t_nodup : NoDup t := valid_nodup t t_valid.

    Lemma e_after_j x : In x t -> command_of x = e -> x = j \/ before t j x.
    Proof.
      intros I E. destruct j_last as (Ij & Hj & _). destruct (event_eq_dec x j) as [|N]; [auto|]. right.
      apply (same_command_order t); auto. unfold is_issue, is_true in Hj. apply Nat.eqb_eq in Hj. rewrite Hj.
      destruct (place x) eqn:Px; [|lia]. destruct N. apply (same_event t); auto. congruence.
    Qed.

    Lemma nothing_after_e x y : command_of x = e -> before t x y -> is_issue y -> False.
    Proof.
      intros E B Hy. destruct (before_in _ _ _ B) as [Ix _]. apply (proj2 (proj2 j_last) y Hy).
      destruct (e_after_j x Ix E) as [->|Bj]; [auto|]. exact (before_trans _ _ _ _ t_nodup Bj B).
    Qed.

    Lemma before_j_not_e x : before t x j -> command_of x <> e.
    Proof. intros B E. apply (nothing_after_e x j E B). apply j_last. Qed.

    (** e holds up nothing of the other commands. *)
    Lemma linked_not_e x y : before t x y -> linked t (must t) x y -> command_of y <> e -> command_of x <> e.
    Proof.
      intros B [E|[Po|M]] Ny Ex.
      - simpl in E. congruence.
      - apply (nothing_after_e x y Ex B). apply Po.
      - destruct (before_in _ _ _ B) as [Ix Iy].
        destruct (must_later_by t x y t_valid M Ix Iy) as (i & k & Ei & _ & _ & Po).
        apply (nothing_after_e i k); [congruence|apply Po|apply Po].
    Qed.

    Lemma issued_before_j y : In y t -> is_issue y -> y = j \/ before t y j.
    Proof.
      intros I H. destruct (event_eq_dec y j) as [|N]; [auto|]. right. destruct j_last as (Ij & _ & Last).
      destruct (before_total t y j) as [|B]; auto. destruct (Last y H B).
    Qed.

    (** ** Lemma 6 (cancellation) *)
    Lemma cancel_last : valid (without e t) /\ (final (after t) -> final (after (without e t))) /\
      forall y, before t y j -> saw (without e t) y = saw t y.
    Proof.
      assert (N : NoDup (without e t)) by now apply NoDup_filter.
      assert (I : forall x, In x (without e t) -> In x t) by (intros x H; now apply in_without in H).
      assert (L : forall x y, In y (without e t) -> before t x y -> linked t (must t) x y -> before (without e t) x y).
      { intros x y Iy B Li. apply in_without in Iy as [_ Ny]. apply before_without. split; [auto|]. split; [|exact Ny].
        exact (linked_not_e x y B Li Ny). }
      assert (R : forall w y, before t y j -> (before (without e t) w y <-> before t w y) /\ (before t w y -> before t w j)).
      { intros w y By. split; [|intros B; exact (before_trans _ _ _ _ t_nodup B By)]. rewrite before_without.
        split; [tauto|]. intros B. split; [auto|]. split; simpl; apply before_j_not_e; auto.
        exact (before_trans _ _ _ _ t_nodup B By). }
      assert (R' : forall v w y, before t y j -> before t v w -> before t w y -> before (without e t) v w).
      { intros v w y By B Bw. apply (R v w); auto. exact (before_trans _ _ _ _ t_nodup Bw By). }
      assert (Is : forall y, In y (without e t) -> is_issue y -> before t y j).
      { intros y Iy Hy. apply in_without in Iy as [Iy Ny]. destruct (issued_before_j y Iy Hy) as [->|]; [|auto].
        destruct Ny. reflexivity. }
      assert (Kc : forall x y, before t y j -> In y (without e t) -> before t x y -> command_of x = command_of y -> before t x j).
      { intros x y By _ B _. exact (before_trans _ _ _ _ t_nodup B By). }
      assert (Ki : forall y, In y (without e t) -> is_issue y ->
        (forall x, program_order t x y -> before t x j) /\ (before t y j \/ steps (op y) <> [])).
      { intros y Iy Hy. pose proof (Is y Iy Hy). split; [|auto]. intros x (_ & _ & _ & B).
        exact (before_trans _ _ _ _ t_nodup B H). }
      destruct (rearrangement t (without e t) (fun y => before t y j)) as [V S]; auto.
      { intros v w y By _ _ _ _ _ _ _ B Bw. exact (R' v w y By B Bw). }
      split; [auto|]. split.
      - apply (rearrangement_final t (without e t) (fun y => before t y j)); auto.
        + intros v w y By _ _ _ _ _ _ _ B Bw. exact (R' v w y By B Bw).
        + intros x y Iy Ix E. apply in_without in Iy as [_ Ny]. apply in_without. split; [auto|]. simpl in *. congruence.
      - intros y By. apply S; [|auto]. apply in_without. split; [now apply before_in in By|]. now apply before_j_not_e.
    Qed.
  End Last.

  Theorem cancellation t j : computation t -> last_issue t j ->
    computation (without (command_of j) t) /\ length (without (command_of j) t) < length t /\
    forall y, before t y j -> saw (without (command_of j) t) y = saw t y.
  Proof.
    rewrite !computation_valid. intros [V F] J. destruct (cancel_last t j V J) as (V' & F' & S).
    split; [auto|]. split; [|auto]. unfold without. pose proof (valid_nodup t V) as N. destruct J as (Ij & _).
    apply (NoDup_incl_length (l := j :: without (command_of j) t)).
    - constructor; [rewrite in_without; simpl; tauto|now apply NoDup_filter].
    - intros x [<-|I]; [auto|]. now apply in_without in I.
  Qed.

  (** ** Lemma 7.1: if there is a violating computation, the last command of one closes the cycle. *)
  Theorem some_last_command_closes t : computation t -> violating t ->
    exists t' j, computation t' /\ violating t' /\ last_issue t' j /\ ~ violating (without (command_of j) t').
  Proof.
    remember (length t) as n eqn:E. revert t E. induction n as [n IH] using lt_wf_ind. intros t -> C Vi.
    destruct (last_issue_exists t) as (j & J).
    - now apply computation_valid in C.
    - intros ->. destruct Vi as (c & H). destruct (path_cases _ _ _ H) as (d & H' & _).
      apply edge_in in H' as [[] _].
    - destruct (violating_dec (without (command_of j) t)) as [H|H].
      + destruct (cancellation t j C J) as (C' & L & _). exact (IH _ L _ eq_refl C' H).
      + exists t, j. auto.
  Qed.
End Programs.
