(** * Rearranging computations: Lemmas A and 6, and Shasha and Snir for programs

    proofs/state-space.md, section 3, and Lemma 7 of proofs/normal-form.md. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network.

Section Rearrange.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z w : event) (t r : list event).

  Lemma writer_iff k x : writer k x <-> writes x /\ accesses k x.
  Proof. unfold writer. apply andb_iff. Qed.

  Lemma firstn_nth {A : Type} (d : A) n (l : list A) : n <= length l ->
    firstn n l = map (fun j => nth j l d) (seq 0 n).
  Proof.
    revert l. induction n as [|n IH]; intros [|a l] L; simpl in *; auto; [lia|]. f_equal.
    rewrite <- seq_shift, map_map. apply IH. lia.
  Qed.

  (** A cell holds the same after two words that change it by the same accesses, with the same values behind them, and
      those that conflict in the same order: Lemma 2 of proofs/commuting.md. *)
  Lemma same_cell v u k : valid v -> valid u ->
    (forall x, writer k x -> (In x v <-> In x u)) ->
    (forall x y, writer k x -> writer k y -> clash x y -> before u x y -> before v x y) ->
    (forall x, In x v -> writer k x ->
       firstn (S (place x)) (got (after v) (command_of x)) = firstn (S (place x)) (got (after u) (command_of x))) ->
    mem (after v) k = mem (after u) k.
  Proof.
    intros Vv Vu I Ord Val_. pose proof (valid_nodup v Vv) as Nv. pose proof (valid_nodup u Vu) as Nu.
    rewrite !mem_after by auto.
    transitivity (fold_left (change u) (filter (writer k) v) (init_mem k)).
    - assert (E : forall x, In x (filter (writer k) v) -> forall m, change v m x = change u m x).
      { intros x Ix m. apply in_filter in Ix as [Ix Wx]. unfold change. now rewrite Val_. }
      revert E. generalize (filter (writer k) v) as l, (init_mem k) as m. induction l as [|x l IH]; simpl; intros m E; [auto|].
      rewrite (E x) by auto. apply IH. auto.
    - apply fold_same; try (now apply NoDup_filter).
      + intros x. rewrite !in_filter. specialize (I x). tauto.
      + intros x y m Bv Bu. apply before_filter in Bv as (Bv & Wx & Wy), Bu as (Bu & _).
        destruct (before_in _ _ _ Bv) as [Ix Iy].
        assert (N : x <> y) by (intros ->; exact (before_irrefl _ _ Nv Bv)).
        assert (S : same_kind x y).
        { destruct (is_true_dec (same_kind x y)) as [|S]; [auto|]. destruct (before_asym _ _ _ Nv Bv).
          apply Ord; auto. apply clash_sym, clash_iff. apply writer_iff in Wx as [Wx Ax], Wy as [Wy Ay].
          split; [auto|]. split; [eauto|auto]. }
        unfold same_kind, kind in S. destruct (access_of x) as [ax|] eqn:Ex; [|discriminate S].
        destruct (access_of y) as [ay|] eqn:Ey; [|destruct (kind_of ax); discriminate S].
        destruct (kind_of ax) as [kx|] eqn:Kx; [|discriminate S]. destruct (kind_of ay) as [ky|] eqn:Ky; [|discriminate S].
        apply Nat.eqb_eq in S. subst ky. apply (I x) in Ix; [|auto]. apply (I y) in Iy; [|auto].
        pose proof (place_bound u x Vu Ix). pose proof (place_bound u y Vu Iy).
        unfold change. symmetry. eapply updates_commute; try eassumption; try congruence;
          rewrite firstn_length; lia.
  Qed.

  (** ** Lemma A (rearrangement)

      r has events of the valid word t; with an event it has what comes before it in t and is linked to it: events of
      its command, in program order before it, what completion rules and waits ask for.  And it keeps their order.
      [kept] are the events whose values are to be the same: for each it has the events of the command before it, and
      the writes that it could read, in their order.  Every issued event finds what its ranks have issued among [kept],
      and is in it, too, unless it has steps (so that no value can block it). *)
  Section LemmaA.
    Variables (t r : list event) (kept : event -> Prop).
    Hypothesis t_valid : valid t.
    Hypothesis r_nodup : NoDup r.
    Hypothesis r_incl : forall x, In x r -> In x t.
    Hypothesis r_linked : forall x y, In y r -> before t x y -> linked t (must t) x y -> before r x y.
    Hypothesis kept_command : forall x y, kept y -> In y r -> before t x y -> command_of x = command_of y -> kept x.
    Hypothesis kept_reads : forall w y, kept y -> In y r -> reads y -> writes w -> clash w y ->
      (before r w y <-> before t w y) /\ (before t w y -> kept w).
    Hypothesis kept_writes : forall v w y, kept y -> In y r -> reads y -> writes v -> writes w -> clash v y -> clash w y ->
      clash v w -> before t v w -> before t w y -> before r v w.
    Hypothesis kept_issued : forall y, In y r -> is_issue y ->
      (forall x, program_order t x y -> kept x) /\ (kept y \/ steps (op y) <> []).

    (** What two words know of the events of a command, if each saw the same. *)
    Lemma same_values u u' y : valid u -> valid u' -> (forall x, In x u -> In x t) -> (forall x, In x u' -> In x t) ->
      In y u -> In y u' ->
      (forall x, In x u -> command_of x = command_of y -> place x <= place y -> saw u x = saw t x) ->
      (forall x, In x u' -> saw u' x = saw t x) ->
      firstn (S (place y)) (got (after u) (command_of y)) = firstn (S (place y)) (got (after u') (command_of y)).
    Proof.
      intros V V' I I' Iy Iy' Su Su'. pose proof (place_bound u y V Iy) as L. pose proof (place_bound u' y V' Iy') as L'.
      rewrite !(firstn_nth nothing) by lia. apply map_ext_in. intros j Hj. apply in_seq in Hj.
      destruct (event_at u (command_of y) j V) as (x & Ix & Ex & Px); [lia|].
      destruct (event_at u' (command_of y) j V') as (x' & Ix' & Ex' & Px'); [lia|].
      assert (x = x') by (apply (same_event t); auto; congruence). subst x'.
      rewrite <- Ex, <- Px. change (saw u x = saw u' x). rewrite Su' by auto. apply Su; auto. lia.
    Qed.

    Section Step.
      Variables (u : list event) (x : event) (v u' v' : list event).
      Hypothesis r_split : r = u ++ x :: v.
      Hypothesis t_split : t = u' ++ x :: v'.
      Hypothesis u_valid : valid u.
      Hypothesis u_saw : forall y, In y u -> kept y -> saw u y = saw t y.

      Let t_nodup : NoDup t := valid_nodup t t_valid.
      Let u'_valid : valid u'.
      Proof. pose proof t_valid as V. rewrite t_split in V. now apply valid_prefix in V. Qed.
      Let u'_saw y : In y u' -> saw u' y = saw t y.
      Proof. intros I. rewrite t_split. symmetry. now apply saw_prefix. Qed.
      Let in_u y : In y u <-> before r y x.
      Proof. pose proof r_nodup as N. rewrite r_split in N |- *. symmetry. now apply before_here. Qed.
      Let in_u' y : In y u' <-> before t y x.
      Proof. pose proof t_nodup as N. rewrite t_split in N |- *. symmetry. now apply before_here. Qed.
      Let x_in_r : In x r.
      Proof. rewrite r_split, in_app_iff. simpl. auto. Qed.
      Let x_in_t : In x t.
      Proof. auto. Qed.
      Let u_in_r y : In y u -> In y r.
      Proof. rewrite in_u. intros B. now apply before_in in B. Qed.

      Lemma same_linked (f : event -> bool) : (forall y z, f y -> (f z \/ z = x) -> before t y z -> linked t (must t) y z) ->
        (forall z, f z -> before t x z -> linked t (must t) x z) -> filter f u = filter f u'.
      Proof.
        intros L Lx. apply (same_prefix f x u v u' v'); rewrite <- ?r_split, <- ?t_split; auto.
        - intros z Fz. split; intros B.
          + destruct (before_in _ _ _ B) as [Iz _]. destruct (before_total t z x) as [?|B']; auto.
            { intros ->. exact (before_irrefl _ _ r_nodup B). }
            destruct (before_asym _ _ _ r_nodup B). apply r_linked; auto.
          + apply r_linked; auto.
        - intros y z Fy Fz B Bz. apply r_linked; auto.
          assert (Bz' : before r z x) by (apply r_linked; auto). now apply before_in in Bz'.
      Qed.

      Lemma same_of_command : filter (of_cmd (command_of x)) u = filter (of_cmd (command_of x)) u'.
      Proof.
        apply same_linked.
        - intros y z Fy Fz _. left. simpl. apply of_cmd_iff in Fy. destruct Fz as [Fz| ->]; [|auto].
          apply of_cmd_iff in Fz. congruence.
        - intros z Fz _. left. simpl. apply of_cmd_iff in Fz. auto.
      Qed.

      Lemma same_issued k : is_issue x -> In k (party (op x)) ->
        filter (fun y => takes_part y k) u = filter (fun y => takes_part y k) u'.
      Proof.
        intros Hx Kx. assert (Po : forall y z, takes_part y k -> takes_part z k -> before t y z -> program_order t y z).
        { intros y z Fy Fz B. apply takes_part_iff in Fy as [Hy Ky], Fz as [Hz Kz]. split; [exact Hy|].
          split; [exact Hz|]. split; [|exact B]. apply share_rank_iff. eauto. }
        assert (Fx : takes_part x k) by now apply takes_part_iff.
        apply same_linked.
        - intros y z Fy [Fz| ->] B; right; left; auto.
        - intros z Fz B. right. left. auto.
      Qed.

      Lemma same_seen : kept x -> seen (after u) x = seen (after u') x.
      Proof.
        intros Kx. unfold seen. destruct (access_of x) as [a|] eqn:Ea; [|auto]. destruct (does_read a) eqn:Ra; [|auto].
        assert (Rx : reads x) by (unfold reads; now rewrite Ea).
        assert (Ax : accesses (at_cell a) x) by (apply accesses_iff; eauto).
        assert (Clash : forall y, writer (at_cell a) y -> y <> x -> clash y x).
        { intros y W N. apply writer_iff in W as [W A]. apply clash_iff. split; [auto|]. split; [eauto|]. split; [auto|].
          unfold same_kind, kind. rewrite Ea. unfold kind_of at 2. revert Ra. unfold does_read.
          destruct (in_way a); try discriminate; destruct (access_of y) as [b|]; try discriminate;
            destruct (kind_of b); discriminate. }
        assert (Nx : forall y, before r y x -> y <> x) by (intros y B ->; exact (before_irrefl _ _ r_nodup B)).
        assert (Nx' : forall y, before t y x -> y <> x) by (intros y B ->; exact (before_irrefl _ _ t_nodup B)).
        assert (Same : forall y, writer (at_cell a) y -> (In y u <-> In y u')).
        { intros y W. rewrite in_u, in_u'. pose proof W as W'. apply writer_iff in W' as [W' _].
          split; intros B; pose proof B as B'; [apply Nx in B'|apply Nx' in B']; apply (kept_reads y x); auto. }
        assert (Kept : forall y, In y u' -> writer (at_cell a) y -> kept y).
        { intros y I W. apply in_u' in I. pose proof W as W'. apply writer_iff in W' as [W' _].
          apply (kept_reads y x); auto. }
        apply same_cell; auto.
        - intros y z Wy Wz C B. destruct (before_in _ _ _ B) as [Iy Iz].
          assert (B' : before t y z) by (rewrite t_split, before_app; auto).
          pose proof (proj1 (in_u' z) Iz) as Bz. pose proof (proj1 (in_u' y) Iy) as By.
          pose proof (Clash y Wy (Nx' y By)). pose proof (Clash z Wz (Nx' z Bz)).
          apply (before_prefix u (x :: v)); [rewrite <- r_split; auto|now apply Same|rewrite <- r_split].
          apply writer_iff in Wy as [Wy _], Wz as [Wz Az]. apply (kept_writes y z x); auto.
        - intros y Iy Wy. pose proof (proj1 (Same y Wy) Iy) as Iy'. apply same_values; auto.
          + intros z Iz. apply in_u' in Iz. now apply before_in in Iz.
          + intros z Iz Ez Pz. apply u_saw; [auto|]. destruct (event_eq_dec z y) as [->|Nz]; [auto|].
            apply (kept_command z y); auto. apply (same_command_order t); auto.
            destruct (Nat.eq_dec (place z) (place y)) as [Ep|]; [|lia]. destruct Nz. apply (same_event t); auto.
      Qed.

      Lemma same_loc k : is_issue x -> In k (party (op x)) -> loc (after u) k = loc (after u') k.
      Proof.
        intros Hx Kx. rewrite !loc_after by auto. rewrite (same_issued k Hx Kx).
        assert (E : forall y, In y (filter (fun y => takes_part y k) u') -> saw u y = saw u' y).
        { intros y Iy. pose proof Iy as Iyu. rewrite <- (same_issued k Hx Kx) in Iyu.
          apply in_filter in Iy as [Iy Ty], Iyu as [Iyu _]. rewrite u'_saw by auto. apply u_saw; [auto|].
          apply (kept_issued x); auto. apply takes_part_iff in Ty as [Hy Ky].
          split; [exact Hy|]. split; [exact Hx|]. split; [|now apply in_u']. apply share_rank_iff. eauto. }
        revert E. generalize (filter (fun y => takes_part y k) u') as l, (init_loc k) as l0.
        induction l as [|y l IH]; simpl; intros l0 E; [auto|]. rewrite (E y) by auto. apply IH. auto.
      Qed.

      Lemma same_ops k : is_issue x -> In k (party (op x)) -> ops (after u) k = ops (after u') k.
      Proof. intros Hx Kx. now rewrite !ops_after, same_issued. Qed.
    End Step.

    (** R1 and R2 in r, from those in t. *)
    Lemma rules_hold u x v k : r = u ++ x :: v -> valid u -> k = rank x ->
      forall i p, is_step (past t x) i p ->
        (if is_issue x then awaits (past t x) (op x) i p else held (past t x) (op x) (place x) i p) ->
        happened (after u) k i p.
    Proof.
      intros E Vu -> i p St M. assert (Ix : In x r) by (rewrite E, in_app_iff; simpl; auto).
      destruct St as (o & Eo & Pp). assert (Li : i < number x).
      { assert (L : i < length (past t x)) by (apply nth_error_Some; congruence). unfold past in L.
        rewrite firstn_length in L. lia. }
      pose proof (r_incl x Ix) as It. apply in_split in It as (u' & v' & Et).
      (* in t it has happened *)
      assert (D : happened (after u') (rank x) i p).
      { pose proof t_valid as V. rewrite Et in V. destruct (allowed_at u' x v' V) as [_ A].
        pose proof (past_at u' x v' V) as Ep. destruct (is_issue x) eqn:Hx.
        - destruct A as (_ & _ & _ & A). rewrite Et, past_issue in * by auto. apply A; [exists o; auto|auto].
        - destruct A as (_ & _ & A). simpl in A. rewrite Et, Ep in *. apply A; [exists o; auto|auto]. }
      pose proof t_valid as V. rewrite Et in V.
      apply happened_event in D; [|now apply valid_prefix in V]. destruct D as (y & Iy & Ey & Py).
      assert (B : before t y x).
      { rewrite Et. apply before_here; [now apply valid_nodup|auto]. }
      assert (R : before r y x).
      { apply r_linked; auto. right. right. apply must_iff. injection Ey as Ry Ny. rewrite Ry, Ny, Py.
        split; [auto|]. split; [auto|]. split.
        - unfold is_issue, is_true. rewrite Nat.eqb_eq. lia.
        - destruct (is_issue x); exact M. }
      apply happened_event; [auto|]. exists y. split; [|auto]. rewrite E in R. apply before_here in R; [auto|].
      rewrite <- E. auto.
    Qed.

    (** What x's rank had issued before x's command is the same. *)
    Lemma same_past u x v : r = u ++ x :: v -> valid u -> (forall y, In y u -> kept y -> saw u y = saw t y) ->
      ~ is_issue x ->
      nth_error (ops (after u) (rank x)) (number x) = Some (op x) /\
      firstn (number x) (ops (after u) (rank x)) = past t x.
    Proof.
      intros E Vu Su Hx. assert (Ix : In x r) by (rewrite E, in_app_iff; simpl; auto).
      destruct (issue_of t x t_valid (r_incl x Ix)) as (i & It & Ei & Hi).
      assert (B : before t i x).
      { apply (same_command_order t); auto. unfold is_issue, is_true in *. rewrite Nat.eqb_eq in *. lia. }
      assert (R : before r i x) by (apply r_linked; auto; left; exact Ei).
      rewrite E in R. apply before_here in R; [|rewrite <- E; auto].
      pose proof (issued_op u i Vu R) as Oi.
      assert (Oeq : op i = op x).
      { pose proof (issued_op t i t_valid It) as H1. pose proof (issued_op t x t_valid (r_incl x Ix)) as H2.
        injection Ei as Ri Ni. rewrite Ri, Ni in H1. congruence. }
      injection Ei as Ri Ni. rewrite Ri, Ni, Oeq in Oi. split; [exact Oi|].
      apply in_split in R as (u1 & u2 & Eu). apply in_split in It as (u1' & u2' & Et).
      pose proof Vu as Vi. rewrite Eu in Vi. pose proof (past_issue u1 i u2 Vi Hi) as P1.
      pose proof t_valid as Vt. rewrite Et in Vt. pose proof (past_issue u1' i u2' Vt Hi) as P2.
      assert (Ho : In (rank i) (party (op i))).
      { destruct (allowed_at u1 i u2 Vi) as [_ A]. rewrite Hi in A. apply A. }
      assert (Same : ops (after u1) (rank i) = ops (after u1') (rank i)).
      { apply (same_ops u1 i (u2 ++ x :: v) u1' u2'); auto.
        rewrite E, Eu, <- app_assoc. reflexivity. }
      transitivity (past u i); [unfold past; now rewrite Ri, Ni|].
      transitivity (past t i); [|unfold past; now rewrite Ri, Ni].
      now rewrite Eu, P1, Same, <- P2, <- Et.
    Qed.

    Lemma rearranged_prefix u v : r = u ++ v -> valid u /\ forall y, In y u -> kept y -> saw u y = saw t y.
    Proof.
      revert v. induction u as [|x u IH] using rev_ind; intros v E; [split; [apply valid_nil|simpl; tauto]|].
      rewrite <- app_assoc in E. simpl in E. destruct (IH (x :: v) E) as [Vu Su].
      assert (Ix : In x r) by (rewrite E, in_app_iff; simpl; auto).
      pose proof (r_incl x Ix) as It. apply in_split in It as (u' & v' & Et).
      pose proof t_valid as Vt. rewrite Et in Vt. pose proof (allowed_at u' x v' Vt) as At.
      assert (Ok : allowed (after u) x).
      { destruct At as [Lt At]. split.
        - rewrite got_length. rewrite (same_of_command u x v u' v' E Et). now rewrite <- got_length.
        - destruct (is_issue x) eqn:Hx.
          + destruct At as (Pa & Nu & En & _).
            pose proof (same_ops u x v u' v' E Et (rank x) Hx Pa) as So.
            split; [auto|]. split; [now rewrite So|]. split.
            * intros k Kk. rewrite (same_loc u x v u' v' E Et Vu Su k Hx Kk).
              destruct (proj2 (kept_issued x Ix Hx)) as [Kx|St].
              -- rewrite (same_seen u x v u' v' E Et Vu Su Kx). auto.
              -- eapply steps_do_not_block; eauto.
            * pose proof (rules_hold u x v (rank x) E Vu eq_refl) as Ru. rewrite Hx in Ru.
              rewrite Et, past_issue, <- So in Ru by auto. exact Ru.
          + destruct At as (_ & Pl & _).
            assert (Hx' : ~ is_issue x) by (rewrite Hx; discriminate).
            destruct (same_past u x v E Vu Su Hx') as [O Pa]. split; [auto|]. split; [auto|]. simpl.
            rewrite Pa. pose proof (rules_hold u x v (rank x) E Vu eq_refl) as Ru. rewrite Hx in Ru. exact Ru. }
      assert (V : valid (u ++ [x])) by now apply valid_snoc.
      split; [auto|]. intros y Iy Ky. apply in_app_iff in Iy as [Iy|[<-|[]]].
      - rewrite saw_prefix by auto. auto.
      - rewrite saw_snoc by auto. rewrite (same_seen u x v u' v' E Et Vu Su Ky), Et. symmetry. now apply saw_at.
    Qed.

    Theorem rearrangement : valid r /\ forall y, In y r -> kept y -> saw r y = saw t y.
    Proof. apply (rearranged_prefix r []). now rewrite app_nil_r. Qed.

    (** If r has all events of each command, nothing is pending after it when nothing is after t. *)
    Theorem rearrangement_final : (forall x y, In y r -> In x t -> command_of x = command_of y -> In x r) ->
      final (after t) -> final (after r).
    Proof.
      intros All F. destruct rearrangement as [V _]. intros k n o Eo Ne. rewrite got_length in *.
      assert (Len : length (filter (of_cmd (k, n)) r) = length (filter (of_cmd (k, n)) t)).
      { destruct (filter (of_cmd (k, n)) r) as [|y l] eqn:Ef.
        { destruct (got (after r) (k, n)) eqn:Eg; [tauto|]. pose proof (got_length r (k, n)) as L.
          rewrite Eg, Ef in L. discriminate L. }
        assert (Iy : In y (filter (of_cmd (k, n)) r)) by (rewrite Ef; simpl; auto). apply in_filter in Iy as [Iy Ey].
        rewrite <- Ef. apply of_cmd_iff in Ey. apply Nat.le_antisymm; apply NoDup_incl_length;
          try (apply NoDup_filter; auto; now apply valid_nodup).
        - intros x. rewrite !in_filter. intros [I H]. auto.
        - intros x. rewrite !in_filter. intros [I H]. split; [|auto]. apply (All x y); auto.
          apply of_cmd_iff in H. congruence. }
      rewrite Len. assert (Hex : exists y, In y r /\ command_of y = (k, n)).
      { destruct (event_at r (k, n) 0 V) as (y & Iy & Ey & _); [|eauto].
        destruct (got (after r) (k, n)); [tauto|simpl; lia]. }
      destruct Hex as (y & Iy & Ey). pose proof (issued_op r y V Iy) as Or. injection Ey as Rk Nn.
      rewrite Rk, Nn in Or. pose proof (issued_op t y t_valid (r_incl y Iy)) as Ot. rewrite Rk, Nn in Ot.
      rewrite <- got_length. replace o with (op y) by congruence. apply F; [auto|].
      pose proof (place_bound t y t_valid (r_incl y Iy)) as B. unfold command_of in B. rewrite Rk, Nn in B.
      intros Eg. rewrite Eg in B. simpl in B. lia.
    Qed.
  End LemmaA.
End Rearrange.
