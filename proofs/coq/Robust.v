(** * Queues can be emptied, and what carries over from runs in blocks to all runs of a robust program

    Proposition 3 of proofs/state-space.md; the theorem of proofs/sc-runs.md, section 2. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs Pgas.NormalForm Pgas.Attack.

Section Robust.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z i : event) (w l : list event).

  Definition complete w x : Prop := S (length (steps (op x))) <= length (got (after w) (command_of x)).

  Lemma complete_more w l x : complete w x -> complete (w ++ l) x.
  Proof. unfold complete. destruct (got_grow w l (command_of x)) as (more & ->). rewrite app_length. lia. Qed.

  Lemma not_too_long w x : valid w -> In x w -> length (got (after w) (command_of x)) <= S (length (steps (op x))).
  Proof.
    intros V I. destruct (le_lt_dec (length (got (after w) (command_of x))) (S (length (steps (op x))))) as [|L]; [auto|].
    exfalso. destruct (event_at w (command_of x) (S (length (steps (op x)))) V L) as (y & Iy & Ey & Py).
    pose proof (place_steps w y V Iy) as B. pose proof (issued_op w x V I) as O. pose proof (issued_op w y V Iy) as O'.
    injection Ey as Er En. rewrite Er, En in O'. replace (op y) with (op x) in B by congruence. lia.
  Qed.

  (** The commands of a rank can be completed in their order. *)
  Lemma complete_some w : valid w -> forall pre post, filter is_issue w = pre ++ post ->
    exists l, valid (w ++ l) /\ (forall x, In x l -> ~ is_issue x) /\ forall x, In x pre -> complete (w ++ l) x.
  Proof.
    intros V pre. induction pre as [|i pre IH] using rev_ind; intros post E.
    - exists []. rewrite app_nil_r. simpl. tauto.
    - rewrite <- app_assoc in E. change ([i] ++ post) with (i :: post) in E.
      destruct (IH (i :: post) E) as (l & Vl & Sl & Done).
      assert (Ii : In i w /\ is_issue i).
      { apply in_filter. rewrite E, in_app_iff. simpl. auto. }
      destruct Ii as [Ii Hi]. set (r := rank i). set (n := number i). set (o := op i).
      assert (Iil : In i (w ++ l)) by (rewrite in_app_iff; auto).
      set (p := length (got (after (w ++ l)) (command_of i))).
      assert (Lc : length (chain r n o) = S (length (steps o))) by (unfold chain; now rewrite map_length, seq_length).
      assert (Lp : p <= length (chain r n o)).
      { rewrite Lc. exact (not_too_long (w ++ l) i Vl Iil). }
      assert (Pos : 0 < p).
      { pose proof (place_bound (w ++ l) i Vl Iil) as B. unfold p. lia. }
      assert (Cut : chain r n o = firstn p (chain r n o) ++ skipn p (chain r n o)) by (symmetry; apply firstn_skipn).
      assert (Some_ : firstn p (chain r n o) <> []).
      { intros H. apply (f_equal (@length event)) in H. rewrite firstn_length_le in H by auto. simpl in H. lia. }
      assert (Vn : valid ((w ++ l) ++ skipn p (chain r n o))).
      { apply (finish_command r n o [] _ (w ++ l) (firstn p (chain r n o))); rewrite ?app_nil_r; auto.
        - exact (issued_op (w ++ l) i Vl Iil).
        - now rewrite firstn_length_le.
        - intros y q p' _ (o' & Eo & Pp) _. clear y. assert (Lq : q < n).
          { assert (L : q < length (firstn n (ops (after (w ++ l)) r))) by (apply nth_error_Some; congruence).
            rewrite firstn_length in L. lia. }
          assert (Eo' : nth_error (ops (after (w ++ l)) r) q = Some o').
          { rewrite <- (firstn_skipn n (ops (after (w ++ l)) r)). rewrite nth_error_app1; [auto|].
            apply nth_error_Some. congruence. }
          destruct (issuer_with_steps (w ++ l) r q o' Vl Eo') as (x & Ix & Hx & Ex & Cx).
          { intros En. rewrite En in Pp. simpl in Pp. lia. }
          assert (Rx : rank x = r) by (injection Cx; auto). assert (Nx : number x = q) by (injection Cx; auto).
          assert (Ixw : In x w).
          { apply in_app_iff in Ix as [Ix|Ix]; [auto|]. destruct (Sl x Ix Hx). }
          assert (Ixp : In x pre).
          { assert (Po : program_order w x i).
            { apply issue_order; auto. rewrite Nx. exact Lq. }
            assert (B : before (pre ++ i :: post) x i).
            { rewrite <- E. apply before_filter. split; [apply Po|auto]. }
            apply before_here in B; [auto|]. rewrite <- E. apply NoDup_filter. now apply valid_nodup. }
          pose proof (Done x Ixp) as Dx. unfold complete, happened in *.
          rewrite Cx, Ex in Dx. lia. }
      exists (l ++ skipn p (chain r n o)). rewrite app_assoc. split; [exact Vn|]. split.
      + intros x Ix. apply in_app_iff in Ix as [Ix|Ix]; [auto|]. exact (l2_steps r n o _ _ Cut Some_ x Ix).
      + intros x Ix. apply in_app_iff in Ix as [Ix|[<-|[]]]; [apply complete_more; auto|].
        unfold complete. rewrite got_length, filter_app, app_length, <- got_length. fold p.
        rewrite (count_new (command_of i) (skipn p (chain r n o))).
        * rewrite skipn_length. fold o. lia.
        * intros y Iy. exact (of_l2 r n o _ _ Cut y Iy).
  Qed.

  Lemma loc_steps w l r : (forall x, In x l -> ~ is_issue x) -> loc (after (w ++ l)) r = loc (after w) r.
  Proof.
    induction l as [|x l IH] using rev_ind; intros H; [now rewrite app_nil_r|].
    rewrite app_assoc, after_snoc. simpl. replace (takes_part x r) with false.
    - apply IH. intros y I. apply H. rewrite in_app_iff. auto.
    - symmetry. destruct (takes_part x r) eqn:E; [|auto]. apply takes_part_iff in E as [E _].
      destruct (H x); [rewrite in_app_iff; simpl; auto|auto].
  Qed.

  (** Proposition 3 *)
  Theorem queues_can_be_emptied w : valid w ->
    exists l, computation (w ++ l) /\ forall x, In x l -> ~ is_issue x.
  Proof.
    intros V. destruct (complete_some w V (filter is_issue w) []) as (l & Vl & Sl & Done); [now rewrite app_nil_r|].
    exists l. split; [|auto]. apply computation_valid. split; [auto|]. intros r n o E Ne.
    destruct (event_at (w ++ l) (r, n) 0 Vl) as (y & Iy & Ey & Py).
    { destruct (got (after (w ++ l)) (r, n)); [tauto|simpl; lia]. }
    assert (Hy : is_issue y) by (unfold is_issue; now rewrite Py).
    assert (Iw : In y w) by (apply in_app_iff in Iy as [|Iy]; [auto|destruct (Sl y Iy Hy)]).
    pose proof (issued_op (w ++ l) y Vl Iy) as O. pose proof (not_too_long (w ++ l) y Vl Iy) as L.
    assert (D : complete (w ++ l) y) by (apply Done, in_filter; auto). unfold complete in D.
    rewrite Ey in L, D. injection Ey as Er En. rewrite Er, En in O. replace o with (op y) by congruence. lia.
  Qed.

  (** Where a robust program can be, a run in blocks can be: all ranks at once, with their registers, having issued the
      same commands; so with what these have asserted, and before what fault they stand.  If nothing is pending, memory is
      the same, too. *)
  Theorem robust_program_is_where_blocks_are w : (forall t, computation t -> ~ violating t) -> valid w ->
    exists s, computation s /\ in_blocks s /\ (forall r, loc (after s) r = loc (after w) r) /\
      (forall r, ops (after s) r = ops (after w) r) /\
      (forall x, is_issue x -> In x w -> saw s x = saw w x) /\
      (computation w -> forall k, mem (after s) k = mem (after w) k).
  Proof.
    intros Robust V. destruct (queues_can_be_emptied w V) as (l & C & Sl).
    destruct (proj1 (shasha_snir_program (w ++ l) C) (Robust _ C)) as (s & Cs & Bl & L & Saw & (Sloc & Smem & Sops & Sgot)).
    exists s. split; [auto|]. split; [auto|]. split; [|split; [|split]].
    - intros r. rewrite Sloc. now apply loc_steps.
    - intros r. rewrite Sops. now apply ops_steps.
    - intros x Hx Ix. rewrite Saw; [now apply saw_prefix|]. apply (look_events _ _ L). rewrite in_app_iff. auto.
    - intros Cw k. rewrite Smem. replace l with (@nil event); [now rewrite app_nil_r|].
      destruct l as [|x l]; [auto|]. exfalso. pose proof (proj1 (proj1 (computation_valid _) C)) as Vl.
      pose proof (allowed_at w x l Vl) as [Lx A]. assert (Hx : is_issue x = false).
      { destruct (is_issue x) eqn:E; [|auto]. destruct (Sl x); [simpl; auto|exact E]. }
      rewrite Hx in A. destruct A as (O & Pl & _).
      pose proof (proj2 (proj1 (computation_valid _) Cw) (rank x) (number x) (op x) O) as F.
      unfold command_of in Lx. rewrite Lx in F. unfold is_issue in Hx. apply Nat.eqb_neq in Hx.
      rewrite F in Pl; [lia|]. intros E. rewrite E in Lx. simpl in Lx. lia.
  Qed.
End Robust.
