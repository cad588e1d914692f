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

  (** Before a source is chosen, the search goes through the computations in blocks and nothing else. *)
  Theorem search_before_source w : reachable (Search w [] [] [] []) <-> computation w /\ in_blocks w.
  Proof.
    split.
    - intros R. split.
      { destruct (good_reachable _ R) as (C & _). simpl in C. now rewrite app_nil_r in C. }
      remember (Search w [] [] [] []) as S eqn:E. revert w E. induction R as [|S S' R IH M]; intros w E.
      { injection E as <-. intros x y z []. }
      destruct M as [w0 r n o V| | | | ]; try discriminate E; [injection E as <-|exfalso; injection E; congruence..].
      specialize (IH w0 eq_refl). pose proof (good_reachable _ R) as (C & St & _). cbn [now late] in C, St.
      assert (Ch : chain r n o = chain r n o ++ []) by now rewrite app_nil_r.
      assert (N : chain r n o <> []) by (unfold chain; simpl; discriminate).
      destruct (new_command w0 [] r n o _ [] C St Ch N V) as (_ & _ & New). rewrite app_nil_r in New.
      pose proof (valid_nodup _ V) as Nd.
      assert (Front : forall x y, before (w0 ++ chain r n o) x y -> In y w0 -> before w0 x y).
      { intros x y B I. exact (before_prefix w0 (chain r n o) x y Nd I B). }
      assert (Split : forall x y, before (w0 ++ chain r n o) x y -> In y w0 \/ In y (chain r n o)).
      { intros x y B. apply before_in in B as [_ B]. now apply in_app_iff. }
      intros x y z Bxz Bzy E. destruct (Split _ _ Bzy) as [Iy|Iy].
      + pose proof (Front z y Bzy Iy) as B. pose proof (before_in _ _ _ B) as [Iz _].
        exact (IH x y z (Front x z Bxz Iz) B E).
      + apply in_chain in Iy as (Ey & _). simpl in *. destruct (Split _ _ Bxz) as [Iz|Iz].
        * pose proof (Front x z Bxz Iz) as B. apply before_in in B as [Ix _]. destruct (New x Ix). congruence.
        * apply in_chain in Iz as (Ez & _). congruence.
    - intros [C Bl]. remember (length w) as k eqn:Ek. revert w Ek C Bl. induction k as [k IH] using lt_wf_ind.
      intros w -> C Bl. destruct w as [|y0 w'] eqn:E0; [apply reachable_start|]. rewrite <- E0 in *.
      assert (Ne : w <> []) by (rewrite E0; discriminate). clear y0 w' E0.
      destruct (last_chain w C Bl Ne) as (w0 & r & n & o & -> & C0).
      eapply reachable_move; [|apply move_before_source; apply (proj1 (computation_valid _) C)].
      apply (IH (length w0)); auto.
      + rewrite app_length. unfold chain. rewrite map_length, seq_length. lia.
      + intros x y z B1 B2 E. apply (Bl x y z); [rewrite before_app; auto|rewrite before_app; auto|auto].
  Qed.

  Section Follow.
    Variables (t s : list event) (j x a : event) (W D : event -> bool).
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
    Hypothesis W_source : W a.
    Hypothesis W_alike : forall y, W y -> y = a \/ alike a y.
    Hypothesis D_iff : forall y, D y <-> exists v, W v /\ (v = y \/ clos_trans _ (forces (must t) s) v y).

    Let t_valid : valid t := proj1 (proj1 (computation_valid t) t_computation).
    Let t_nodup : NoDup t := valid_nodup t t_valid.
    Let s_valid : valid s := proj1 (proj1 (computation_valid s) s_computation).
    Let s_nodup : NoDup s := valid_nodup s s_valid.
    Let in_s y : In y s <-> In y t /\ command_of y <> e.
    Proof. rewrite (look_events _ _ s_looks). exact (in_without e t y). Qed.

    Lemma D_sources y : W y -> D y.
    Proof. intros H. apply D_iff. eauto. Qed.
    Lemma D_source : D a.
    Proof. now apply D_sources. Qed.

    Lemma D_closed y z : D y -> forces (must t) s y z -> D z.
    Proof.
      rewrite !D_iff. intros (v & Wv & H) F. exists v. split; [auto|]. right.
      destruct H as [->|H]; [now apply t_step|]. eapply t_trans; [exact H|now apply t_step].
    Qed.

    Lemma D_forced y : D y -> W y \/ exists z, D z /\ forces (must t) s z y.
    Proof.
      rewrite D_iff. intros (v & Wv & [->|H]); [auto|]. right. apply clos_trans_tn1 in H. inversion H as [? F|z ? F H'].
      - exists v. split; [now apply D_sources|exact F].
      - exists z. split; [|exact F]. apply D_iff. exists v. split; [auto|]. right. now apply clos_tn1_trans.
    Qed.

    Lemma W_all_alike y z : W y -> W z -> y = z \/ alike y z.
    Proof.
      intros Hy Hz. destruct (W_alike y Hy) as [->|Ay], (W_alike z Hz) as [->|Az]; auto using alike_sym.
      right. apply alike_trans with a; auto using alike_sym.
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

      (** What is delayed first is a source, or forced by what has been delayed. *)
      Lemma l2_forced z m : l2 = z :: m -> W z \/ exists y, In y (Late s0) /\ (must (Now s0 ++ l1) y z \/ clash y z).
      Proof.
        intros E. assert (Iz : In z l2) by (rewrite E; simpl; auto). apply in_filter in Iz as [Iz Dz].
        destruct (D_forced z Dz) as [|(y & Dy & B & F)]; [auto|]. right.
        destruct (before_chain y z Iz B) as [Iy|Bc].
        - exists y. split; [now apply in_filter|]. destruct F as [Ec|[M|C]]; [|left; now apply must_now|auto].
          exfalso. apply (s0_other y Iy). apply in_chain in Iz as (Ez & _). simpl in Ec. congruence.
        - exfalso. apply before_in in Bc as [Iy _]. exact (l2_first z m E y Iy Dy B).
      Qed.
    End Next.

    Lemma reached_dec (S : search) o l : {reached S o l} + {~ reached S o l}.
    Proof.
      unfold reached. destruct (list_ex_dec _ (fun k => In k (party o)) (tainted S)) as [H|H].
      { intros k. apply in_dec, Nat.eq_dec. }
      { left. left. exact H. }
      destruct (list_ex_dec _ (fun y => exists z, In z (touched S ++ late S) /\ clash z y) l) as [H'|H'].
      { intros y. apply list_ex_dec. intros z. apply is_true_dec. }
      - left. right. destruct H' as (y & Iy & z & Iz & C). eauto.
      - right. intros [G|(y & z & Iy & Iz & C)]; [auto|]. apply H'. eauto.
    Qed.

    Definition on_way (c : command) : Prop := clos_refl_trans _ (off (edge t) e) (command_of a) c.

    Lemma off_events c d : off (edge t) e c d -> exists y z, In y s /\ In z s /\ command_of y = c /\ command_of z = d /\
      (program_order t y z \/ conflict_edge t y z).
    Proof.
      intros ((_ & y & z & Ey & Ez & E) & Nc & Nd). simpl in Ey, Ez. exists y, z.
      assert (B : before t y z) by (destruct E as [(_ & _ & _ & B)|(_ & B & _)]; exact B).
      apply before_in in B. rewrite !in_s. split; [split; [tauto|congruence]|]. split; [split; [tauto|congruence]|]. auto.
    Qed.

    Lemma on_way_order c : on_way c -> c = command_of a \/ forall z, In z s -> command_of z = c -> before s a z.
    Proof.
      unfold on_way. intros H. apply clos_rt_rtn1 in H. induction H as [|c d O H IH]; [auto|]. right.
      intros z Iz Ez. destruct (off_events c d O) as (y & _ & Iy & _ & Ey & _ & _).
      assert (B : before s y z) by (apply edge_order; [congruence|auto|auto]).
      destruct IH as [->|IH].
      - apply edge_order; [congruence|apply a_in_s|auto].
      - exact (before_trans _ _ _ _ s_nodup (IH y Iy Ey) B).
    Qed.

    (** T and t have what is on the way. *)
    Definition covers (s0 : list event) (T : list nat) (l : list event) : Prop :=
      forall z, In z s0 -> on_way (command_of z) ->
        (is_issue z -> forall k, In k (party (op z)) -> In k T) /\ (~ D z -> In z l).

    Definition follows (s0 : list event) : Prop :=
      (Late s0 = [] /\ reachable (Search (Now s0) [] [] [] [])) \/
      (exists S T l, S <> [] /\ (forall y, In y S -> W y /\ In y s0) /\
                     reachable (Search (Now s0) (Late s0) S T l) /\ covers s0 T l).

    Lemma covers_more s0 s1 r n o T l : s = (s0 ++ chain r n o) ++ s1 -> covers s0 T l ->
      covers (s0 ++ chain r n o) (party o ++ T) (Now (chain r n o) ++ l).
    Proof.
      intros Es Co z Iz Way. setoid_rewrite in_app_iff. apply in_app_iff in Iz as [I|I].
      - destruct (Co z I Way) as [H1 H2]. auto.
      - pose proof I as I'. apply in_chain in I' as (_ & -> & _). split; [auto|].
        intros Nz. left. apply in_filter. split; [auto|]. now apply negb_iff.
    Qed.

    Lemma follow_next s0 s1 r n o : computation s0 -> s = (s0 ++ chain r n o) ++ s1 -> follows s0 ->
      follows (s0 ++ chain r n o).
    Proof.
      intros C0 Es [[Empty Re]|(S0 & T & l & Ne & HS & Re & Co)]; unfold follows; rewrite !filter_app.
      - pose proof (now_valid s0 s1 r n o Es) as V. pose proof (chain_cut s0 s1 r n o Es) as Cut.
        pose proof (l2_forced s0 s1 r n o Es) as Forced.
        rewrite Empty in *. rewrite app_nil_l. destruct (Late (chain r n o)) as [|z m] eqn:El.
        + left. split; [auto|]. rewrite app_nil_r in Cut. rewrite <- Cut in *.
          eapply reachable_move; [exact Re|]. now apply move_before_source.
        + right. assert (Iz : In z (Late (chain r n o))) by (rewrite El; simpl; auto).
          apply in_filter in Iz as [Iz Dz].
          destruct (Forced z m eq_refl) as [Wz|(y & [] & _)].
          exists [z], (party o), (Now (chain r n o)). split; [discriminate|]. split; [|split].
          * intros y [<-|[]]. rewrite in_app_iff. auto.
          * eapply reachable_move; [exact Re|]. eapply move_source; [exact Cut|apply l1_some|exact V].
          * intros v Iv Way. apply in_app_iff in Iv as [I|I].
            -- (* the source a would have come before *)
               exfalso. assert (Ia : In a s0).
               { pose proof (s0_in_s s0 s1 r n o Es v I) as Is. destruct (on_way_order _ Way) as [E|H].
                 - assert (Ia : In a (filter (of_cmd (command_of v)) s)).
                   { apply in_filter. split; [apply a_in_s|]. apply of_cmd_iff. auto. }
                   rewrite (chain_of s v s_computation Is), <- (chain_of s0 v C0 I) in Ia. now apply in_filter in Ia.
                 - pose proof (H v Is eq_refl) as B. rewrite Es, <- app_assoc in B.
                   apply before_prefix in B; [now apply before_in in B| |auto].
                   pose proof s_nodup as N. now rewrite Es, <- app_assoc in N. }
               assert (I' : In a (Late s0)) by (apply in_filter; split; [auto|apply D_source]). rewrite Empty in I'.
               destruct I'.
            -- pose proof I as I'. apply in_chain in I' as (_ & -> & _). split; [auto|]. intros Nz. apply in_filter.
               split; [auto|]. now apply negb_iff.
      - right. pose proof (now_valid s0 s1 r n o Es) as V. pose proof (chain_cut s0 s1 r n o Es) as Cut.
        pose proof (l2_forced s0 s1 r n o Es) as Forced. pose proof (l1_some r n o) as N1.
        set (S := Search (Now s0) (Late s0) S0 T l) in *.
        assert (Free : forall y z, In y (Now (chain r n o)) -> In z (late S) -> ~ clash z y).
        { intros y z Iy Iz. exact (now_free s0 s1 r n o Es y z Iy Iz). }
        assert (More : forall y, In y S0 -> W y /\ In y (s0 ++ chain r n o)).
        { intros y Iy. destruct (HS y Iy). rewrite in_app_iff. auto. }
        assert (Reach : may_split S r n o (Now (chain r n o)) (Late (chain r n o)) ->
          reached S o (Now (chain r n o) ++ Late (chain r n o)) ->
          exists S1 T1 t1, S1 <> [] /\ (forall y, In y S1 -> W y /\ In y (s0 ++ chain r n o)) /\
            reachable (Search (Now s0 ++ Now (chain r n o)) (Late s0 ++ Late (chain r n o)) S1 T1 t1) /\
            covers (s0 ++ chain r n o) T1 t1).
        { intros Sp R. exists S0, (party o ++ T), (Now (chain r n o) ++ l). split; [auto|]. split; [auto|]. split.
          - eapply reachable_move; [exact Re|]. exact (move_reached S r n o _ _ Ne Sp R).
          - now apply covers_more with s1. }
        destruct (Late (chain r n o)) as [|z m] eqn:El.
        + assert (Sp : may_split S r n o (Now (chain r n o)) []).
          { split; [exact Cut|]. split; [exact N1|]. split; [exact V|]. split; [exact Free|exact I]. }
          destruct (reached_dec S o (Now (chain r n o) ++ [])) as [R|R]; [now apply Reach|].
          exists S0, T, l. split; [auto|]. split; [auto|]. split.
          * eapply reachable_move; [exact Re|]. exact (move_other S r n o _ _ Ne Sp R).
          * intros z Iz Way. apply in_app_iff in Iz as [I|I]; [now apply Co|]. exfalso. apply R. rewrite <- Cut.
            assert (Ez : command_of z = (r, n)) by (apply in_chain in I; tauto). rewrite Ez in Way.
            destruct (walk_last _ _ _ Way) as [E|(c & Way' & O)].
            { exfalso. assert (Ia : In a (Late (chain r n o))); [|rewrite El in Ia; destruct Ia].
              apply in_filter. split; [|apply D_source]. exact (of_chain s0 s1 r n o Es a a_in_s E). }
            destruct (off_events c (r, n) O) as (y & v & Iy & Iv & Ey & Ev & E).
            pose proof (of_chain s0 s1 r n o Es v Iv Ev) as Ivc.
            assert (Iy0 : In y s0).
            { assert (B : before s y v) by (apply edge_order; [congruence|auto|auto]).
              destruct (before_chain s0 s1 r n o Es y v Ivc B) as [|Bc]; [auto|]. apply before_in in Bc as [Bc _].
              apply in_chain in Bc as (Ey' & _). destruct O as ((N & _) & _). congruence. }
            assert (Wy : on_way (command_of y)) by (rewrite Ey; exact Way').
            destruct (Co y Iy0 Wy) as [H1 H2]. destruct E as [(Hy & Hv & Sh & _)|(C & _)].
            -- left. apply share_rank_iff in Sh as (k & K1 & K2). exists k. split; [exact (H1 Hy k K1)|].
               apply in_chain in Ivc as (_ & Eo & _). now rewrite Eo in K2.
            -- right. exists v, y. split; [auto|]. split; [|auto]. cbn [touched late S]. apply in_app_iff.
               destruct (is_true_dec (D y)) as [Dy|Ny]; [right; now apply in_filter|left; auto].
        + assert (Iz : In z (Late (chain r n o))) by (rewrite El; simpl; auto). apply in_filter in Iz as [Iz Dz].
          destruct (Forced z m eq_refl) as [Wz|Fo].
          * assert (Some_b : exists b, In b S0).
            { clear - Ne. destruct S0 as [|b S0']; [tauto|]. exists b. simpl. auto. }
            destruct Some_b as (b & Ib). destruct (HS b Ib) as [Wb Ibs].
            assert (Al : alike b z).
            { destruct (W_all_alike b z Wb Wz) as [->|]; [|auto]. exfalso. apply in_chain in Iz as (Ez & _).
              exact (s0_other s0 s1 r n o Es z Ibs Ez). }
            exists (z :: S0), (party o ++ T), (Now (chain r n o) ++ l). split; [discriminate|]. split; [|split].
            -- intros y [<-|Iy]; [rewrite in_app_iff; auto|auto].
            -- eapply reachable_move; [exact Re|]. exact (move_further S r n o _ z m b Ib Al Cut N1 V Free).
            -- now apply covers_more with s1.
          * assert (Sp : may_split S r n o (Now (chain r n o)) (z :: m)).
            { split; [exact Cut|]. split; [exact N1|]. split; [exact V|]. split; [exact Free|exact Fo]. }
            apply Reach; [exact Sp|]. apply (forced_reached S r n o _ z m); [|exact Sp]. now apply good_reachable.
    Qed.

    Lemma follow s0 : computation s0 -> forall s1, s = s0 ++ s1 -> follows s0.
    Proof.
      remember (length s0) as k eqn:Ek. revert s0 Ek. induction k as [k IH] using lt_wf_ind.
      intros s0 -> C s1 Es. destruct s0 as [|y0 s0'] eqn:E0.
      { left. split; [reflexivity|apply reachable_start]. }
      rewrite <- E0 in *. assert (Ne : s0 <> []) by (rewrite E0; discriminate). clear y0 s0' E0.
      assert (Bl : in_blocks s0).
      { intros y z v B1 B2 E. apply (s_blocks y z v); [rewrite Es, before_app; auto|rewrite Es, before_app; auto|auto]. }
      destruct (last_chain s0 C Bl Ne) as (s00 & r & n & o & E & C0). subst s0.
      apply (follow_next s00 s1 r n o C0 Es). apply (IH (length s00)) with (s1 := chain r n o ++ s1); auto.
      - rewrite app_length. unfold chain. rewrite map_length, seq_length. lia.
      - now rewrite app_assoc.
    Qed.

    Section Enter.
      Variables p f : event.
      Hypothesis way : on_way (command_of p).
      Hypothesis p_not_e : command_of p <> e.
      Hypothesis f_of_e : command_of f = e.
      Hypothesis p_f : program_order t p f \/ conflict_edge t p f.

      Lemma follow_found : exists S, reachable S /\ found S.
      Proof.
        destruct (follow s s_computation []) as [[Empty _]|(S & T & l & Ne & HS & Re & Co)]; [now rewrite app_nil_r| |].
        { exfalso. assert (I : In a (Late s)) by (apply in_filter; split; [apply a_in_s|apply D_source]).
          rewrite Empty in I. destruct I. }
        exists (Search (Now s) (Late s) S T l). split; [exact Re|].
        destruct S as [|b S']; [tauto|]. destruct (HS b (or_introl eq_refl)) as [Wb _].
        destruct x_a as (Cxa & Bxa & _). destruct (before_in _ _ _ Bxa) as [Ix _].
        assert (Ch : chain (rank x) (number x) (op x) = e1 ++ e2).
        { rewrite <- (chain_of t x t_computation Ix), x_of_e. rewrite !filter_and.
          apply (filter_split (behind t x)). intros y z B Bx. apply behind_iff in Bx. apply behind_iff.
          apply before_filter in B as (B & _). exact (before_trans _ _ _ _ t_nodup Bx B). }
        assert (In_e : forall y, In y e1 -> In y t /\ command_of y = e /\ ~ before t x y).
        { intros y I. apply in_filter in I as [I H]. apply andb_iff in H as [H1 H2]. apply negb_iff in H2.
          apply of_command_iff in H1. split; [auto|]. split; [exact H1|]. intros B. apply H2. now apply behind_iff. }
        assert (Ix1 : In x e1).
        { apply in_filter. split; [auto|]. apply andb_iff. split; [now apply of_command_iff|]. apply negb_iff.
          rewrite behind_iff. now apply before_irrefl. }
        exists b, (rank x), (number x), (op x), e1, e2, x. cbn [sources now late tainted touched].
        split; [simpl; auto|]. split; [exact Ch|]. split; [intros H; rewrite H in Ix1; destruct Ix1|]. split.
        { pose proof (proj1 (proj1 (computation_valid u) u_computation)) as V. now apply valid_prefix in V. }
        split; [auto|]. split.
        { destruct (W_alike b Wb) as [->|Al]; [auto|]. apply (clash_alike x a b Cxa Al). intros <-.
          destruct (D_late x (D_sources x Wb)) as [B _]. exact (before_irrefl _ _ t_nodup B). }
        assert (Bpf : before t p f) by (destruct p_f as [(_ & _ & _ & B)|(_ & B & _)]; exact B).
        destruct (before_in _ _ _ Bpf) as [Ip If]. assert (Ips : In p s) by now apply in_s.
        assert (If' : In f (e1 ++ e2)).
        { rewrite <- Ch, <- (chain_of t x t_computation Ix). apply in_filter. split; [auto|]. apply of_cmd_iff. congruence. }
        destruct (Co p Ips way) as [H1 H2]. destruct p_f as [(Hp & Hf & Sh & _)|(C & _)].
        - left. apply share_rank_iff in Sh as (k & K1 & K2). exists k. split; [exact (H1 Hp k K1)|].
          rewrite <- Ch in If'. apply in_chain in If' as (_ & Eo & _). now rewrite Eo in K2.
        - right. apply in_app_iff in If' as [I|I]; [left|right]; exists f, p; (split; [auto|]); (split; [|exact C]).
          + apply H2. intros Dp. apply (In_e f I). apply (before_trans _ _ p _ t_nodup); [now apply D_late|auto].
          + apply in_app_iff. destruct (is_true_dec (D p)); [right; now apply in_filter|left; auto].
      Qed.
    End Enter.
  End Follow.

  Theorem attack_complete t : computation t -> violating t -> exists S, reachable S /\ found S.
  Proof.
    intros C Vi. destruct (some_last_command_closes t C Vi) as (t' & j & C' & Vi' & J & Cl).
    destruct (cancellation t' j C' J) as (Cc & _ & _).
    destruct (proj1 (shasha_snir_program _ Cc) Cl) as (s & Cs & Bl & L & _).
    destruct (two_parts_of t' j s C' Vi' J Cl L Bl) as
      (x & a & D & Cu & Vu & Nf & Iu & Ex & Xa & Da & Bxa & Dl & So & Df & p & f & Way & Np & Ef & Pf).
    assert (Ws : sources_of t' (command_of j) x a a) by (apply sources_of_iff; auto).
    assert (Wa : forall y, sources_of t' (command_of j) x a y -> y = a \/ alike a y).
    { intros y Sy. apply sources_of_iff in Sy. tauto. }
    apply (follow_found t' s j x a (sources_of t' (command_of j) x a) D C' Cs L Bl Cu Ex Xa Dl So Ws Wa Df p f Way Np Ef Pf).
  Qed.

  (** The attack search decides robustness. *)
  Theorem attack_decides : (exists t, computation t /\ violating t) <-> (exists S, reachable S /\ found S).
  Proof.
    split; [intros (t & C & Vi); exact (attack_complete t C Vi)|intros (S & R & F); exact (attack_sound S R F)].
  Qed.
End Complete.
