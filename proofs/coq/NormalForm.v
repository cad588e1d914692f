(** * Two parts suffice, for programs: the theorem of proofs/two-parts.md *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs.

Section NormalForm.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z w : event) (t s u : list event).

  (** Definition 4 of proofs/normal-form.md: all parts but the first consist of steps, and in each part the events of two
      commands stand in the order of their issue. *)
  Definition normal_form (parts : list (list event)) : Prop :=
    (forall y, In y (concat (tl parts)) -> ~ is_issue y) /\
    forall i j x y part, In part parts -> is_issue i -> is_issue j -> before (hd [] parts) i j ->
      command_of i <> command_of j -> command_of x = command_of i -> command_of y = command_of j ->
      In x part -> In y part -> before part x y.

  Lemma place_steps t x : valid t -> In x t -> place x <= length (steps (op x)).
  Proof.
    intros V I. apply in_split in I as (u & v & ->). destruct (allowed_at u x v V) as [_ A].
    unfold is_issue in A. destruct (place x) eqn:E; [lia|]. simpl in A. destruct A as (_ & A & _). lia.
  Qed.

  (** The source a, and what is like it behind x: if x waits for a value, these updates have to come after it, too. *)
  Definition sources_of (t : list event) (e : command) x a y : bool :=
    (if event_eq_dec y a then true else false) || (behind t x y && negb (of_command e y) && alike a y).

  Lemma sources_of_iff t (e : command) x a y :
    sources_of t e x a y <-> y = a \/ (before t x y /\ command_of y <> e /\ alike a y).
  Proof.
    unfold sources_of. unfold is_true at 1. rewrite orb_true_iff. fold (is_true (behind t x y && negb (of_command e y) && alike a y)).
    rewrite !andb_iff, negb_iff, behind_iff, of_command_iff. destruct (event_eq_dec y a); simpl; intuition (try discriminate; auto).
  Qed.

  (** From a computation t that the command of j violates, and the run s that the rest of it looks like, to two parts. *)
  Section Build.
    Variables (t : list event) (j : event) (s : list event).
    Notation e := (command_of j).
    Hypothesis t_computation : computation t.
    Hypothesis t_violating : violating t.
    Hypothesis j_last : last_issue t j.
    Hypothesis e_closes : ~ violating (without e t).
    Hypothesis s_looks : looks_like (without e t) s.
    Hypothesis s_blocks : in_blocks s.

    Lemma two_parts_normal x (D : event -> bool) :
      let u1 := filter (fun y => negb (D y)) s ++ filter (fun y => of_command e y && negb (behind t x y)) t in
      let u2 := filter D s ++ filter (fun y => of_command e y && behind t x y) t in
      In x t -> command_of x = e -> (forall y, D y -> before t x y /\ command_of y <> e /\ ~ is_issue y) ->
      NoDup (u1 ++ u2) ->
      (forall y z, before t y z -> command_of y <> e -> command_of z = e -> before (u1 ++ u2) y z) ->
      normal_form [u1; u2].
    Proof.
      intros u1 u2 Ix Ex Dy Nu ToE. pose proof (proj1 (computation_valid t) t_computation) as [V _].
      pose proof (valid_nodup t V) as N. pose proof (look_nodup _ _ s_looks) as Ns.
      assert (Is : forall y, In y s <-> In y t /\ command_of y <> e).
      { intros y. rewrite (look_events _ _ s_looks). exact (in_without e t y). }
      assert (J1 : forall y, In y t -> is_issue y -> command_of y = e -> y = j).
      { intros y Iy Hy Ey. destruct (issued_before_j t j j_last y Iy Hy) as [|B]; [auto|].
        destruct (before_j_not_e t j V j_last y B Ey). }
      split.
      - intros y Iy Hy. change (In y (u2 ++ [])) in Iy. rewrite app_nil_r in Iy. unfold u2 in Iy. rewrite in_app_iff, !in_filter, andb_iff, behind_iff, of_command_iff in Iy.
        destruct Iy as [[_ Iy]|(It & Ey & B)]; [exact (proj2 (proj2 (Dy y Iy)) Hy)|].
        exact (nothing_after_e t j V j_last x y Ex B Hy).
      - intros i k y z part Hp Hi Hk B Nik Ey Ez Iy Iz.
        change (before u1 i k) in B. assert (Iu : In i t /\ In k t).
        { destruct (before_in _ _ _ B) as [Ii Ik]. unfold u1 in Ii, Ik. rewrite in_app_iff, !in_filter, Is in Ii, Ik. tauto. }
        destruct Iu as [Ii Ik].
        assert (Ni : command_of i <> e).
        { intros Ei. pose proof (J1 i Ii Hi Ei) as ->.
          destruct (issued_before_j t j j_last k Ik Hk) as [->|Bk]; [auto|].
          apply (before_asym _ k j Nu); [apply ToE; auto; simpl; congruence|]. apply before_app. auto. }
        assert (Pieces : exists f g, part = filter f s ++ filter (fun v => of_command e v && g v) t).
        { destruct Hp as [<-|[<-|[]]]; [exists (fun v => negb (D v)), (fun v => negb (behind t x v))
                                    |exists D, (fun v => behind t x v)]; reflexivity. }
        destruct Pieces as (f & g & ->). rewrite in_app_iff, !in_filter, andb_iff, of_command_iff in Iy, Iz.
        simpl in Iy, Iz. assert (Fy : In y s /\ f y) by (destruct Iy as [|(_ & E & _)]; [auto|congruence]).
        apply before_app. destruct (command_eq_dec (command_of k) e) as [Ek|Nk].
        + right. right. rewrite !in_filter, andb_iff, of_command_iff. split; [auto|].
          destruct Iz as [[H _]|H]; [apply Is in H; destruct H; congruence|auto].
        + assert (Fz : In z s /\ f z) by (destruct Iz as [|(_ & E & _)]; [auto|congruence]).
          left. apply before_filter. split; [|tauto]. apply (blocks_apart s i k); auto; try tauto.
          unfold u1 in B. rewrite before_app, !before_filter, !in_filter, !andb_iff, !of_command_iff in B. simpl in B.
          destruct B as [B|[B|B]]; tauto.
    Qed.

    Theorem two_parts_of : exists x a (D : event -> bool),
      let u1 := filter (fun y => negb (D y)) s ++ filter (fun y => of_command e y && negb (behind t x y)) t in
      let u2 := filter D s ++ filter (fun y => of_command e y && behind t x y) t in
      computation (u1 ++ u2) /\ violating (u1 ++ u2) /\ normal_form [u1; u2] /\ (forall y, In y (u1 ++ u2) <-> In y t) /\
      command_of x = e /\ conflict_edge t x a /\ D a /\ before (u1 ++ u2) x a /\
      (forall y, D y -> before t x y /\ command_of y <> e /\ ~ is_issue y) /\
      (forall k, ops (after (u1 ++ u2)) k = ops (after t) k) /\
      (forall y, D y <-> exists w, sources_of t e x a w /\ (w = y \/ clos_trans _ (forces (must t) s) w y)) /\
      exists p f, clos_refl_trans _ (off (edge t) e) (command_of a) (command_of p) /\ command_of p <> e /\
                  command_of f = e /\ (program_order t p f \/ conflict_edge t p f).
    Proof.
      pose proof (proj1 (computation_valid t) t_computation) as [V F]. pose proof (valid_nodup t V) as N.
      pose proof j_last as (Ij & Hj & Last).
      destruct (two_parts_trace t e (must t) s) with (source := sources_of t e)
        as (x & a & D & Ex & Edge & Da & Dy & Nu & Iu & Obey & ToE & Conf & At & Vu & Df & Way);
        auto.
      { intros x y E B Hy. destruct (nothing_after_e t j V j_last x y E B Hy). }
      { intros x y M Ix Iy. now apply must_obeyed_by. }
      { intros x y M Ix Iy. exact (must_later_by t x y V M Ix Iy). }
      { intros x a Ex Na (_ & B & _). split; [apply sources_of_iff; auto|]. intros y Sy.
        apply sources_of_iff in Sy as [->|(B' & N' & _)]; auto. }
      exists x, a, D. intros u1 u2.
      assert (Eu : rearranged t s e x D = u1 ++ u2) by (unfold rearranged, u1, u2; now rewrite <- app_assoc).
      rewrite Eu in *. remember (u1 ++ u2) as u eqn:Hu.
      destruct Edge as (Cxa & Bxa & Free). destruct (before_in _ _ _ Bxa) as [Ix Ia].
      (* the events whose values are kept *)
      set (kept := fun y => before t y j \/ (y = j /\ steps (op j) = [])).
      assert (Sole : steps (op j) = [] -> x = j).
      { intros E. destruct (e_after_j t j V j_last x Ix Ex) as [|B]; [auto|].
        apply (same_event t); auto. pose proof (place_steps t x V Ix) as L.
        assert (O : op x = op j).
        { pose proof (issued_op t x V Ix) as H1. pose proof (issued_op t j V Ij) as H2.
          injection Ex as Er En. rewrite Er, En in H1. congruence. }
        rewrite O, E in L. unfold is_issue, is_true in Hj. apply Nat.eqb_eq in Hj. simpl in L. lia. }
      assert (NotE : forall y, before t y j -> command_of y <> e) by exact (before_j_not_e t j V j_last).
      assert (Up : forall y z, before t y z -> kept z -> before t y j).
      { intros y z B [Bz|[-> _]]; [exact (before_trans _ _ _ _ N B Bz)|auto]. }
      assert (Kc : forall y z, kept z -> In z u -> before t y z -> command_of y = command_of z -> kept y).
      { intros y z Kz _ B _. left. exact (Up y z B Kz). }
      assert (Reads : forall w z, kept z -> In z u -> reads z -> writes w -> clash w z ->
        (before u w z <-> before t w z) /\ (before t w z -> kept w)).
      { intros w z Kz Iz _ Ww C. split; [|intros B; left; exact (Up w z B Kz)].
        rewrite Iu in Iz. destruct Kz as [Bz|[-> E]].
        - destruct (command_eq_dec (command_of w) e) as [Ew|Nw].
          + split; intros B.
            * exfalso. destruct (before_in _ _ _ B) as [Iw _]. rewrite Iu in Iw.
              assert (Bzw : before t z w).
              { destruct (e_after_j t j V j_last w Iw Ew) as [->|Bw]; [auto|exact (before_trans _ _ _ _ N Bz Bw)]. }
              apply (before_asym _ _ _ Nu B). apply ToE; simpl; auto.
            * exfalso. exact (NotE w (before_trans _ _ _ _ N B Bz) Ew).
          + apply Conf; simpl; auto.
        - pose proof (Sole E) as Exj. subst x.
          assert (Nw : In w t -> command_of w <> e).
          { intros Iw Ew. apply clash_iff in C as (Nwj & _). apply Nwj. apply (same_event t); auto.
            pose proof (place_steps t w V Iw) as L.
            assert (O : op w = op j).
            { pose proof (issued_op t w V Iw) as H1. pose proof (issued_op t j V Ij) as H2.
              injection Ew as Er En. rewrite Er, En in H1. congruence. }
            rewrite O, E in L. unfold is_issue, is_true in Hj. apply Nat.eqb_eq in Hj. simpl in L. lia. }
          destruct (in_dec event_eq_dec w t) as [Iw|Iw].
          + apply At; simpl; auto. intros B. destruct (event_eq_dec w a) as [Ewa|Nwa].
            { left. apply sources_of_iff. auto. }
            apply clash_iff in C as (_ & (k & Kw & Kj) & _). apply clash_iff in Cxa as (_ & (k' & Kj' & Ka) & _).
            assert (Ka' : accesses k a).
            { apply accesses_iff in Kj as (b & E1 & <-), Kj' as (b' & E2 & <-). congruence. }
            destruct (is_true_dec (same_kind a w)) as [S|S].
            * left. apply sources_of_iff. right. split; [auto|]. split; [auto|]. apply alike_iff. eauto.
            * right. apply clash_iff. split; [congruence|]. split; [eauto|auto].
          + split; intros B; apply before_in in B as [B _]; [apply Iu in B|]; tauto. }
      assert (Writes : forall v w z, kept z -> In z u -> reads z -> writes v -> writes w -> clash v z -> clash w z ->
        clash v w -> before t v w -> before t w z -> before u v w).
      { intros v w z Kz _ _ _ _ _ _ C B Bz. pose proof (Up w z Bz Kz) as Bw.
        pose proof (before_trans _ _ _ _ N B Bw) as Bv. apply Conf; simpl; auto. }
      assert (Issues : forall z, In z u -> is_issue z ->
        (forall y, program_order t y z -> kept y) /\ (kept z \/ steps (op z) <> [])).
      { intros z Iz Hz. rewrite Iu in Iz. destruct (issued_before_j t j j_last z Iz Hz) as [->|B].
        - split; [intros y (_ & _ & _ & By); left; auto|].
          destruct (steps (op j)) eqn:E; [left; right; auto|right; discriminate].
        - split; [|left; left; auto]. intros y (_ & _ & _ & By). left. exact (before_trans _ _ _ _ N By B). }
      assert (Incl : forall y, In y u -> In y t) by (intros y; apply Iu).
      assert (Linked : forall y z, In z u -> before t y z -> linked t (must t) y z -> before u y z) by auto.
      destruct (rearrangement t u kept) as [Vd _]; auto.
      split; [apply computation_valid; split; [auto|]|].
      { apply (rearrangement_final t u kept); auto. intros y z _ Iy _. now apply Iu. }
      assert (Edge : conflict_edge t x a) by (split; [auto|split; auto]).
      split; [exact Vu|]. split; [|split; [exact Iu|split; [exact Ex|split; [exact Edge|split; [exact Da|
        split; [|split; [exact Dy|split; [|split; [exact Df|exact Way]]]]]]]]].
      - apply two_parts_normal; fold u1 u2; rewrite <- ?Hu; auto.
      - assert (As : In a s).
        { apply (look_events _ _ s_looks), in_without. split; [auto|]. apply (Dy a Da). }
        assert (Xx : ~ before t x x) by (apply before_irrefl; auto).
        rewrite Hu. apply before_app. right. right. split.
        + unfold u1. rewrite in_app_iff, !in_filter, andb_iff, !negb_iff, behind_iff, of_command_iff. auto.
        + unfold u2. rewrite in_app_iff, in_filter. auto.
      - intros k. rewrite !ops_after. f_equal. symmetry. apply same_order_equal; try (now apply NoDup_filter).
        + intros y. rewrite !in_filter, Iu. tauto.
        + intros y z. rewrite !before_filter. intros (B & Fy & Fz). split; [|auto]. apply Obey; [auto|].
          apply takes_part_iff in Fy as [Hy Ky], Fz as [Hz Kz]. right. left. split; [exact Hy|]. split; [exact Hz|].
          split; [|exact B]. apply share_rank_iff. eauto.
    Qed.
  End Build.

  (** If a program has a violating computation, it has one in normal form with two parts.  The first part without the
      command e is what a sequentially consistent computation s does but for the steps in D; the second has these, in
      the order of s; e comes between, with its steps from some point on at the end. *)
  Theorem two_parts t : computation t -> violating t ->
    exists s e (e1 e2 : list event) (D : event -> bool),
      let u1 := filter (fun y => negb (D y)) s ++ e1 in
      let u2 := filter D s ++ e2 in
      computation s /\ in_blocks s /\ (forall y, In y e1 \/ In y e2 -> command_of y = e) /\
      (forall y, In y s -> command_of y <> e) /\
      computation (u1 ++ u2) /\ violating (u1 ++ u2) /\ normal_form [u1; u2].
  Proof.
    intros C Vi. destruct (some_last_command_closes t C Vi) as (t' & j & C' & Vi' & J & Cl).
    destruct (cancellation t' j C' J) as (Cc & _ & _).
    destruct (proj1 (shasha_snir_program _ Cc) Cl) as (s & Cs & Bl & L & _).
    destruct (two_parts_of t' j s C' Vi' J Cl L Bl) as (x & a & D & Cu & Vu & Nf & _).
    exists s, (command_of j). eexists. eexists. exists D. intros u1 u2.
    split; [auto|]. split; [auto|]. split; [|split; [|split; [exact Cu|split; [exact Vu|exact Nf]]]].
    - intros y [I|I]; apply in_filter in I as [_ I]; apply andb_iff in I as [I _]; now apply of_command_iff in I.
    - intros y I. apply (look_events _ _ L) in I. now apply in_without in I.
  Qed.

  (** A program is robust when no computation is violating: two parts decide it. *)
  Corollary robust_iff_two_parts :
    (forall t, computation t -> ~ violating t) <->
    (forall u1 u2, computation (u1 ++ u2) -> normal_form [u1; u2] -> ~ violating (u1 ++ u2)).
  Proof.
    split; [auto|]. intros H t C Vi. destruct (two_parts t C Vi) as (s & e & e1 & e2 & D & _ & _ & _ & _ & Cu & Vu & Nf).
    exact (H _ _ Cu Nf Vu).
  Qed.
End NormalForm.
