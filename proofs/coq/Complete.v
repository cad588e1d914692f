(** * A violation gives Found: proofs/attack.md, Theorem 2 *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs Pgas.NormalForm Pgas.Attack.

Lemma filter_split {A : Type} (f : A -> bool) (l : list A) : (forall x y, before l x y -> f x -> f y) ->
  l = filter (fun x => negb (f x)) l ++ filter f l.
Proof.
  induction l as [|x l IH]; simpl; intros H; [auto|]. destruct (f x) eqn:E; simpl.
  - assert (All : forall y, In y l -> f y) by (intros y I; apply (H x y); auto).
    assert (G : filter (fun x => negb (f x)) l = [] /\ filter f l = l).
    { clear - All. induction l as [|y l IH]; simpl; [auto|]. pose proof (All y (or_introl eq_refl)) as Fy.
      unfold is_true in Fy. rewrite Fy. simpl. destruct IH as [-> ->]; [intros; apply All; simpl; auto|auto]. }
    now destruct G as [-> ->].
  - f_equal. apply IH. intros y z B. apply H. auto.
Qed.

Lemma filter_and {A : Type} (f g : A -> bool) (l : list A) : filter (fun x => f x && g x) l = filter g (filter f l).
Proof. induction l as [|x l IH]; simpl; [auto|]. destruct (f x); simpl; [destruct (g x); now rewrite IH|auto]. Qed.

Section Complete.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z : event) (w l : list event).

  (** ** A computation in blocks is a sequence of chains *)

  Lemma chain_of w x : computation w -> In x w ->
    filter (of_cmd (command_of x)) w = chain (rank x) (number x) (op x).
  Proof.
    intros C I. apply computation_valid in C as [V F].
    assert (L : length (got (after w) (command_of x)) = S (length (steps (op x)))).
    { apply (F (rank x) (number x)); [now apply issued_op|]. intros E. pose proof (place_bound w x V I) as B.
      unfold command_of in B. rewrite E in B. simpl in B. lia. }
    pose proof (places w (command_of x) V) as M. rewrite L in M. unfold chain. rewrite <- M, map_map.
    rewrite <- map_id at 1. apply map_ext_in. intros y Iy. apply in_filter in Iy as [Iy Ey]. apply of_cmd_iff in Ey.
    pose proof (issued_op w y V Iy) as O. pose proof (issued_op w x V I) as O'. injection Ey as Er En.
    rewrite Er, En in O. destruct y as [r n p o]. simpl in *. congruence.
  Qed.

  Lemma last_chain w : computation w -> in_blocks w -> w <> [] ->
    exists w0 r n o, w = w0 ++ chain r n o /\ computation w0.
  Proof.
    intros C Bl N. pose proof (proj1 (computation_valid w) C) as [V _]. pose proof (valid_nodup w V) as Nd.
    destruct (last_issue_exists w V N) as (j & J). pose proof J as (Ij & Hj & Last).
    exists (without (command_of j) w), (rank j), (number j), (op j). split; [|now apply cancellation].
    rewrite <- (chain_of w j C Ij). apply (filter_split (of_cmd (command_of j)) w).
    intros x y B Ex. apply of_cmd_iff in Ex. destruct (before_in _ _ _ B) as [Ix Iy].
    destruct (issue_of w y V Iy) as (i & Ii & Ei & Hi).
    destruct (command_eq_dec (command_of y) (command_of j)) as [E|D]; [now apply of_cmd_iff|]. exfalso. apply D.
    (* its issue comes before j, it comes after it *)
    destruct (issued_before_j w j J i Ii Hi) as [->|Bi]; [congruence|].
    assert (Bj : before w j y).
    { destruct (e_after_j w j V J x Ix Ex) as [->|Bj]; [auto|exact (before_trans _ _ _ _ Nd Bj B)]. }
    rewrite <- Ei. symmetry. exact (Bl i y j Bi Bj Ei).
  Qed.

  Section Follow.
    Variables (t s : list event) (j x a : event) (D : event -> bool).
    Notation e := (command_of j).
    Notation Now l := (filter (fun y => negb (D y)) l).
    Notation Late l := (filter D l).
    Notation e1 := (filter (fun y => of_command e y && negb (behind t x y)) t).
    Notation e2 := (filter (fun y => of_command e y && behind t x y) t).
    Notation u := ((Now s ++ e1) ++ Late s ++ e2).
    Hypothesis t_computation : computation t.
    Hypothesis s_computation : computation s.
    Hypothesis s_looks : looks_like (without e t) s.
    Hypothesis s_blocks : in_blocks s.
    Hypothesis u_computation : computation u.
    Hypothesis x_of_e : command_of x = e.
    Hypothesis x_a : conflict_edge t x a.
    Hypothesis D_late : forall y, D y -> before t x y /\ command_of y <> e /\ ~ is_issue y.
    Hypothesis same_ops : forall k, ops (after u) k = ops (after t) k.
    Hypothesis D_iff : forall y, D y <-> a = y \/ clos_trans _ (forces (must t) s) a y.

    Let t_valid : valid t := proj1 (proj1 (computation_valid t) t_computation).
    Let t_nodup : NoDup t := valid_nodup t t_valid.
    Let s_valid : valid s := proj1 (proj1 (computation_valid s) s_computation).
    Let s_nodup : NoDup s := valid_nodup s s_valid.
    Let in_s y : In y s <-> In y t /\ command_of y <> e.
    Proof. rewrite (look_events _ _ s_looks). exact (in_without e t y). Qed.

    Lemma D_source : D a.
    Proof. apply D_iff. auto. Qed.

    Lemma D_closed y z : D y -> forces (must t) s y z -> D z.
    Proof. rewrite !D_iff. intros [->|W] F; right; [now apply t_step|]. eapply t_trans; [exact W|now apply t_step]. Qed.

    Lemma D_first y : D y -> y = a \/ before s a y.
    Proof.
      rewrite D_iff. intros [->|W]; [auto|]. right. apply clos_trans_tn1 in W. induction W as [y F|y z F _ IH].
      - apply F.
      - exact (before_trans _ _ _ _ s_nodup IH (proj1 F)).
    Qed.

    Lemma D_forced y : D y -> y = a \/ exists z, D z /\ forces (must t) s z y.
    Proof.
      rewrite D_iff. intros [->|W]; [auto|]. right. apply clos_trans_tn1 in W. inversion W as [? F|z ? F W'].
      - exists a. split; [apply D_source|exact F].
      - exists z. split; [|exact F]. apply D_iff. right. now apply clos_tn1_trans.
    Qed.

    Lemma a_in_s : In a s.
    Proof.
      apply in_s. split; [|apply (D_late a D_source)]. destruct x_a as (_ & B & _). now apply before_in in B.
    Qed.

    (** What comes after the source's command on the cycle comes after it in s. *)
    Lemma edge_order y z : off (edge t) e (command_of y) (command_of z) -> In y s -> In z s -> before s y z.
    Proof.
      intros ((N & v & w & Ev & Ew & E) & Ny & Nz) Iy Iz. simpl in Ev, Ew.
      assert (B : before s v w).
      { assert (Br : forall y z, before t y z -> command_of y <> e -> command_of z <> e -> before (without e t) y z).
        { intros. now apply before_without. }
        destruct E as [(I1 & I2 & R & B)|(C & B & _)].
        - assert (Q : program_order s v w); [|apply Q]. apply (look_program _ _ s_looks).
          split; [auto|]. split; [auto|]. split; [auto|]. apply Br; congruence.
        - apply (look_conflict _ _ s_looks); [auto|]. apply Br; congruence. }
      apply (blocks_apart s v w); auto; simpl; congruence.
    Qed.

    Section Next.
      Variables (s0 s1 : list event) (r n : nat) (o : Op).
      Hypothesis s_split : s = (s0 ++ chain r n o) ++ s1.

      Notation l1 := (Now (chain r n o)).
      Notation l2 := (Late (chain r n o)).

      Lemma chain_in_s y : In y (chain r n o) -> In y s.
      Proof. intros I. rewrite s_split, !in_app_iff. auto. Qed.
      Lemma s0_in_s y : In y s0 -> In y s.
      Proof. intros I. rewrite s_split, !in_app_iff. auto. Qed.

      Lemma chain_cut : chain r n o = l1 ++ l2.
      Proof.
        apply filter_split. intros y z B Dy. apply (D_closed y z Dy). split.
        - rewrite s_split, !before_app. auto.
        - left. destruct (before_in _ _ _ B) as [Iy Iz]. apply in_chain in Iy as (Ey & _), Iz as (Ez & _). simpl.
          congruence.
      Qed.

      Lemma l1_some : l1 <> [].
      Proof.
        unfold chain. simpl. destruct (D (Event r n 0 o)) eqn:E; [|discriminate].
        destruct (proj2 (proj2 (D_late _ E))). reflexivity.
      Qed.

      Lemma now_valid : valid (Now s0 ++ l1).
      Proof.
        pose proof (proj1 (proj1 (computation_valid u) u_computation)) as V.
        rewrite s_split, !filter_app, <- !app_assoc in V. rewrite app_assoc in V. now apply valid_prefix in V.
      Qed.

      (** Its command is in the chain, whole. *)
      Lemma of_chain y : In y s -> command_of y = (r, n) -> In y (chain r n o).
      Proof.
        intros I E. assert (Ic : In (Event r n 0 o) (chain r n o)).
        { apply in_chain. simpl. split; [reflexivity|]. split; [reflexivity|lia]. }
        pose proof (chain_of s y s_computation I) as Ch.
        assert (Iy : In y (filter (of_cmd (command_of y)) s)) by (apply in_filter; split; [auto|now apply of_cmd_iff]).
        rewrite Ch in Iy. pose proof (issued_op s _ s_valid (chain_in_s _ Ic)) as O.
        pose proof (issued_op s y s_valid I) as O'. simpl in O. injection E as Er En. rewrite Er, En in *.
        replace (op y) with o in Iy by congruence. exact Iy.
      Qed.

      Lemma s0_other y : In y s0 -> command_of y <> (r, n).
      Proof.
        intros I E. pose proof (of_chain y (s0_in_s y I) E) as Ic. pose proof s_nodup as N. rewrite s_split in N.
        apply nodup_prefix in N. apply in_split in I as (m1 & m2 & ->). rewrite <- app_assoc in N. simpl in N.
        apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. auto.
      Qed.

      Lemma before_chain y z : In z (chain r n o) -> before s y z -> In y s0 \/ before (chain r n o) y z.
      Proof.
        intros Iz B. rewrite s_split in B. rewrite !before_app in B. destruct B as [[B|[B|[I _]]]|[B|[_ I]]]; auto.
        - apply before_in in B. tauto.
        - exfalso. pose proof s_nodup as N. rewrite s_split in N. apply before_in in B as [_ B].
          apply in_split in Iz as (m1 & m2 & Ez). rewrite Ez in N.
          replace ((s0 ++ m1 ++ z :: m2) ++ s1) with ((s0 ++ m1) ++ z :: (m2 ++ s1)) in N
            by now rewrite <- !app_assoc, <- app_comm_cons.
          apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. auto.
        - exfalso. pose proof s_nodup as N. rewrite s_split in N.
          apply in_split in Iz as (m1 & m2 & Ez). rewrite Ez in N.
          replace ((s0 ++ m1 ++ z :: m2) ++ s1) with ((s0 ++ m1) ++ z :: (m2 ++ s1)) in N
            by now rewrite <- !app_assoc, <- app_comm_cons.
          apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. auto.
      Qed.

      Lemma before_from_s0 y z : In y s0 -> In z (chain r n o) -> before s y z.
      Proof. intros Iy Iz. rewrite s_split, !before_app. auto. Qed.

      (** Nothing that happens now conflicts with what is delayed. *)
      Lemma now_free y z : In y l1 -> In z (Late s0) -> ~ clash z y.
      Proof.
        intros Iy Iz C. apply in_filter in Iy as [Iy Ny], Iz as [Iz Dz]. apply negb_iff in Ny. apply Ny.
        apply (D_closed z y Dz). split; [now apply before_from_s0|auto].
      Qed.

      (** The completion rules are those of t. *)
      Lemma must_now y z : In z (chain r n o) -> must t y z -> must (Now s0 ++ l1) y z.
      Proof.
        intros Iz M. apply must_iff in M. apply must_iff. replace (past (Now s0 ++ l1) z) with (past t z); [exact M|].
        unfold past. rewrite <- same_ops. pose proof now_valid as V.
        assert (Rz : rank z = r /\ number z = n).
        { apply in_chain in Iz as (E & _). now injection E. }
        destruct Rz as [-> ->].
        assert (Ii : In (Event r n 0 o) (Now s0 ++ l1)).
        { rewrite in_app_iff. right. destruct (chain_first r n o l1 l2 chain_cut l1_some) as (m & ->). simpl. auto. }
        pose proof (issued_op _ _ V Ii) as O. cbn [rank number op] in O.
        assert (E : exists v, u = (Now s0 ++ l1) ++ v).
        { rewrite s_split, !filter_app. eexists. rewrite <- !app_assoc. reflexivity. }
        destruct E as (v & ->). destruct (ops_grow (Now s0 ++ l1) v r) as (more & ->).
        rewrite firstn_app. assert (L : n < length (ops (after (Now s0 ++ l1)) r)) by (apply nth_error_Some; congruence).
        replace (n - length (ops (after (Now s0 ++ l1)) r)) with 0 by lia. simpl. now rewrite app_nil_r.
      Qed.

      Lemma l2_first z m : l2 = z :: m -> forall y, In y (chain r n o) -> D y -> ~ before s y z.
      Proof.
        intros E y Iy Dy B. assert (Iz : In z l2) by (rewrite E; simpl; auto). apply in_filter in Iz as [Iz Dz].
        assert (Bc : before (chain r n o) y z).
        { destruct (before_chain y z Iz B) as [I|]; [|auto]. apply in_chain in Iy as (Ey & _).
          destruct (s0_other y I Ey). }
        assert (Bl : before l2 y z) by (apply before_filter; auto).
        assert (N : NoDup l2).
        { apply NoDup_filter. pose proof s_nodup as N. rewrite s_split in N. apply nodup_prefix in N.
          clear - N. induction s0 as [|v s' IH]; [auto|]. simpl in N. inversion N. auto. }
        rewrite E in N, Bl. inversion_clear N as [|? ? Nz _]. simpl in Bl.
        destruct Bl as [[_ I]|Bl]; [auto|]. apply before_in in Bl. tauto.
      Qed.

      (** What is delayed first is the source, or forced by what has been delayed. *)
      Lemma l2_forced z m : l2 = z :: m -> z <> a -> exists y, In y (Late s0) /\ (must (Now s0 ++ l1) y z \/ clash y z).
      Proof.
        intros E Na. assert (Iz : In z l2) by (rewrite E; simpl; auto). apply in_filter in Iz as [Iz Dz].
        destruct (D_forced z Dz) as [|(y & Dy & B & F)]; [tauto|].
        destruct (before_chain y z Iz B) as [Iy|Bc].
        - exists y. split; [now apply in_filter|]. destruct F as [Ec|[M|C]]; [|left; now apply must_now|auto].
          exfalso. apply (s0_other y Iy). apply in_chain in Iz as (Ez & _). simpl in Ec. congruence.
        - exfalso. apply before_in in Bc as [Iy _]. exact (l2_first z m E y Iy Dy B).
      Qed.
    End Next.
  End Follow.
End Complete.
