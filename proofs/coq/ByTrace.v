(** * One run of every trace is enough

    proofs/traces.md: a path of the attack search goes along an SC run, command by command; what it comes to depends on
    the trace of the run alone; so the runs of a set that has one for every maximal trace decide, with their ideals. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Programs Pgas.Attack Pgas.AttackComplete
  Pgas.Robust
  Pgas.Reductions Pgas.Independent.

Section ByTrace.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Notation search := (@search Op).
  Notation label := (@label Op).
  Implicit Types (x y z : event) (X Y : label) (S U V : search).

  (** Commands, each with all its events. *)
  Record block := Block { by_rank : nat; its_number : nat; its_op : Op }.
  Definition events (b : block) : list event := chain (by_rank b) (its_number b) (its_op b).
  Definition written (bs : list block) : list event := flat_map events bs.
  Definition block_of X : block := Block (who X) (num X) (what X).
  Definition start : search := Search [] [] [] [] [].

  (** ** A path of the search goes along an SC run *)

  Section Step.
    Variables (S : search) (X : label) (s : list event).
    Hypothesis S_good : good S.
    Hypothesis X_core : core S X.
    Hypothesis s_computation : computation s.
    Hypothesis s_looks : looks_like (now S ++ late S) s.

    Let old := now S ++ late S.
    Let w := now S ++ first X ++ late S ++ rest X.
    Let new := s ++ events (block_of X).

    Lemma new_events : events (block_of X) = first X ++ rest X.
    Proof. apply X_core. Qed.

    Lemma w_computation : computation w.
    Proof.
      destruct S_good as (C & St & _). destruct X_core as [Ch Ne Va _ _].
      exact (extended_computation (now S) (late S) _ _ _ _ _ C St Ch Ne Va).
    Qed.

    Lemma X_new : num X = length (ops (after (now S)) (who X)) /\ forall x, In x old -> command_of x <> (who X, num X).
    Proof.
      destruct S_good as (C & St & _). destruct X_core as [Ch Ne Va _ _].
      destruct (new_command (now S) (late S) _ _ _ _ _ C St Ch Ne Va) as (_ & A & B). auto.
    Qed.

    Lemma of_X x : In x (first X) \/ In x (rest X) -> command_of x = (who X, num X).
    Proof.
      intros I. assert (J : In x (events (block_of X))) by (rewrite new_events, in_app_iff; auto).
      apply in_chain in J. apply J.
    Qed.

    Lemma not_both x : In x old -> ~ In x (first X) /\ ~ In x (rest X).
    Proof. intros I. split; intros J; apply (proj2 X_new x I), of_X; auto. Qed.

    Lemma in_s x : In x s <-> In x old.
    Proof. apply (look_events _ _ s_looks). Qed.

    Lemma old_w x y : In x old -> In y old -> (before w x y <-> before old x y).
    Proof.
      intros Ix Iy. destruct (not_both x Ix), (not_both y Iy). unfold w, old. rewrite !before_app, !in_app_iff.
      assert (~ before (first X) x y) by (intros B; apply before_in in B; tauto).
      assert (~ before (rest X) x y) by (intros B; apply before_in in B; tauto). tauto.
    Qed.

    Lemma old_new x y : In x old -> In y old -> (before new x y <-> before s x y).
    Proof.
      intros Ix Iy. destruct (not_both x Ix), (not_both y Iy). unfold new. rewrite new_events, !before_app, !in_app_iff.
      assert (~ before (first X) x y) by (intros B; apply before_in in B; tauto).
      assert (~ before (rest X) x y) by (intros B; apply before_in in B; tauto). tauto.
    Qed.

    Lemma X_w x y : ~ In x old -> ~ In y old -> (before w x y <-> before new x y).
    Proof.
      intros Ix Iy. pose proof (fun I => Ix (proj1 (in_s x) I)) as Jx.
      pose proof (fun I => Iy (proj1 (in_s y) I)) as Jy.
      unfold w, new, old in *. rewrite new_events, !before_app, !in_app_iff in *.
      assert (~ before (now S) x y) by (intros B; apply before_in in B; tauto).
      assert (~ before (late S) x y) by (intros B; apply before_in in B; tauto).
      assert (~ before s x y) by (intros B; apply before_in in B; tauto). tauto.
    Qed.

    Lemma in_w x : In x w <-> In x old \/ In x (first X) \/ In x (rest X).
    Proof. unfold w, old. rewrite !in_app_iff. tauto. Qed.
    Lemma in_new x : In x new <-> In x old \/ In x (first X) \/ In x (rest X).
    Proof. unfold new. rewrite new_events, !in_app_iff, in_s. tauto. Qed.

    Lemma old_dec x : In x old \/ ~ In x old.
    Proof. destruct (in_dec event_eq_dec x old); auto. Qed.

    Lemma new_nodup : NoDup new.
    Proof.
      unfold new. apply nodup_app; [apply s_looks| |].
      - rewrite new_events. pose proof X_core as [Ch Ne _ _ _]. exact (chain_nodup _ _ _ _ _ Ch).
      - intros x I J. apply in_s in I. rewrite new_events, in_app_iff in J. destruct (not_both x I). tauto.
    Qed.

    (** Where old and new events meet, the old ones come first, but for delayed ones that do not conflict. *)
    Lemma mixed x y : In x old -> ~ In y old -> In y w -> clash x y \/ (is_issue x /\ is_issue y) ->
      before w x y /\ ~ before w y x /\ before new x y /\ ~ before new y x.
    Proof.
      intros Ix Ny Iy H. apply in_w in Iy. pose proof (valid_nodup _ (proj1 (proj1 (computation_valid _)
        w_computation))) as Nw.
      assert (B : before w x y).
      { unfold w, old in *. rewrite !before_app, !in_app_iff in *. destruct Ix as [Ix|Ix]; [tauto|].
        destruct Iy as [Iy|[Iy|Iy]]; [tauto| |tauto]. exfalso. destruct H as [H|[H _]].
        - exact (core_free _ _ X_core y x Iy Ix H).
        - destruct S_good as (_ & St & _). exact (St x Ix H). }
      assert (B' : before new x y).
      { unfold new. rewrite new_events, !before_app, !in_app_iff. right. right. split; [now apply in_s|tauto]. }
      split; [exact B|]. split; [exact (before_asym _ _ _ Nw B)|]. split; [exact B'|].
      exact (before_asym _ _ _ new_nodup B').
    Qed.

    Lemma agree x y : (In x old -> In y old -> (before s x y <-> before old x y)) ->
      (In x w -> In y w -> (In x old <-> In y old) \/ clash x y \/ (is_issue x /\ is_issue y)) ->
      (before new x y <-> before w x y).
    Proof.
      intros Both Mixed. assert (In_both : In x w -> In y w -> (before new x y <-> before w x y)).
      { intros Ix Iy. destruct (old_dec x) as [Ox|Ox], (old_dec y) as [Oy|Oy].
        - now rewrite old_w, old_new, Both by auto.
        - destruct (Mixed Ix Iy) as [[H _]|H]; [tauto|]. destruct (mixed x y) as (B1 & _ & B2 & _); tauto.
        - destruct (Mixed Ix Iy) as [[_ H]|H]; [tauto|]. destruct (mixed y x) as (_ & B1 & _ & B2); try tauto.
          destruct H as [H|H]; [left; now apply clash_sym|right; tauto].
        - symmetry. now apply X_w. }
      split; intros B; pose proof (before_in _ _ _ B) as [Ix Iy]; apply In_both; auto; try (apply in_w;
        now apply in_new).
    Qed.

    Lemma new_looks : looks_like w new.
    Proof.
      assert (Of : forall x, In x w -> ~ In x old -> command_of x = (who X, num X)).
      { intros x I N. apply in_w in I as [I|I]; [tauto|now apply of_X]. }
      split.
      - exact new_nodup.
      - intros x. rewrite in_new, in_w. reflexivity.
      - intros x y E. apply agree; [intros _ _; now apply (look_command _ _ s_looks)|]. intros Ix Iy. left.
        split; intros O; [destruct (old_dec y) as [H|H]|destruct (old_dec x) as [H|H]]; auto; exfalso.
        + apply (proj2 X_new x O). simpl in E. rewrite E. now apply Of.
        + apply (proj2 X_new y O). simpl in E. rewrite <- E. now apply Of.
      - intros x y. assert (H : is_issue x -> is_issue y -> share_rank x y -> (before new x y <-> before w x y)).
        { intros Hx Hy R. apply agree; [|auto]. intros Ix Iy. pose proof (look_program _ _ s_looks x y) as Q.
          unfold program_order in Q. simpl in Q. tauto. }
        unfold program_order. simpl. tauto.
      - intros x y C. apply agree; [|auto]. intros _ _. now apply (look_conflict _ _ s_looks).
    Qed.

    Lemma step_is_run : computation new /\ looks_like (now S ++ first X ++ late S ++ rest X) new.
    Proof.
      split; [|exact new_looks]. pose proof (proj1 (computation_valid _) w_computation) as [Vw _].
      pose proof (proj1 (computation_valid _) s_computation) as [Vs _].
      destruct S_good as (C & St & _). pose proof (proj1 (computation_valid _) C) as [Vo _].
      apply (same_look_same_run w new w_computation new_looks). intros x y B M.
      pose proof (before_in _ _ _ B) as [Ix Iy]. apply must_iff in M as (Rr & Ln & Nx & M).
      assert (Num : forall z, In z old -> rank z = who X -> number z < num X).
      { intros z Iz Rz. pose proof (issued_op old z Vo Iz) as O. rewrite Rz in O. unfold old in O.
        rewrite ops_steps in O by auto. rewrite (proj1 X_new). apply nth_error_Some. congruence. }
      destruct (old_dec y) as [Oy|Oy].
      - assert (Ox : In x old).
        { destruct (old_dec x) as [|Ox]; [auto|]. exfalso. apply in_w in Ix as [Ix|Ix]; [tauto|]. apply of_X in Ix.
          injection Ix as Rx Nx'. assert (H : number y < num X) by (apply Num; [auto|congruence]). lia. }
        apply old_new; auto. apply (must_obeyed_by s y x Vs); [|now apply in_s|now apply in_s].
        apply must_iff. split; [auto|]. split; [auto|]. split; [auto|].
        destruct (same_look_same_values old s C s_computation s_looks) as [_ (_ & _ & Os & _)].
        replace (past s y) with (past w y); [exact M|]. unfold past. rewrite Os.
        assert (Ly : number y < length (ops (after old) (rank y))).
        { apply nth_error_Some. rewrite (issued_op old y Vo Oy). discriminate. }
        assert (E : exists more, ops (after w) (rank y) = ops (after old) (rank y) ++ more).
        { unfold old. rewrite ops_steps by auto. unfold w. rewrite !ops_after, !filter_app, !map_app. eauto. }
        destruct E as (more & ->). rewrite firstn_app. replace (number y - length _) with 0 by lia.
        simpl. apply app_nil_r.
      - apply in_w in Iy as [Iy|Iy]; [tauto|]. destruct (old_dec x) as [Ox|Ox].
        + unfold new. rewrite new_events, !before_app, !in_app_iff. right. right. split; [now apply in_s|exact Iy].
        + apply in_w in Ix as [Ix|Ix]; [tauto|]. apply of_X in Ix, Iy. injection Ix as _ Nx'. injection Iy as _ Ny. lia.
    Qed.
  End Step.

  Lemma written_app bs cs : written (bs ++ cs) = written bs ++ written cs.
  Proof. unfold written. apply flat_map_app. Qed.

  Lemma blocks_more (s l : list event) c : in_blocks s -> (forall x, In x s -> command_of x <> c) ->
    (forall x, In x l -> command_of x = c) -> in_blocks (s ++ l).
  Proof.
    intros B Old New x y z Bx By E. rewrite before_app in Bx, By. simpl in *.
    assert (Ml : forall u v, before l u v -> command_of u = c /\ command_of v = c).
    { intros u v H. apply before_in in H as [Hu Hv]. auto. }
    destruct Bx as [Bx|[Bx|[Ix Iz]]].
    - destruct By as [By|[By|[_ Iy]]]; [exact (B x y z Bx By E)| |].
      + apply Ml in By as [_ Ey]. apply before_in in Bx as [Ix _]. destruct (Old x Ix). congruence.
      + apply before_in in Bx as [Ix _]. destruct (Old x Ix). rewrite E. now apply New.
    - apply Ml in Bx as [Ex Ez]. congruence.
    - destruct (Old x Ix). rewrite E. destruct By as [By|[By|[Hz _]]].
      + apply before_in in By as [Hz _]. destruct (Old z Hz). now apply New.
      + now apply Ml in By.
      + destruct (Old z Hz). now apply New.
  Qed.

  (** Where a path of the search leads: its commands, written out, are an SC run that looks like what happens now and
      what is late. *)
  Theorem path_is_run (ls : list label) S : run go start ls S ->
    reachable S /\ clean S /\ computation (written (map block_of ls)) /\
    in_blocks (written (map block_of ls)) /\ looks_like (now S ++ late S) (written (map block_of ls)).
  Proof.
    revert S. induction ls as [|X ls IH] using rev_ind; intros S R.
    - inversion R. subst. split; [constructor|]. split; [intros _; auto|].
      assert (C : computation (@nil event)) by apply (good_start).
      split; [exact C|]. split; [intros x y z []|]. apply looks_refl. constructor.
    - apply run_app in R as (V & R & R'). inversion R' as [|? ? S' ? ? G R'']. inversion R''. subst. clear R' R''.
      destruct (IH V R) as (Re & Cl & C & B & L). pose proof (go_move V S X Cl G) as M.
      split; [now apply reachable_move with V|]. split; [exact (clean_move V S Cl M)|].
      rewrite map_app, written_app. replace (written (map block_of [X])) with (events (block_of X))
        by (unfold written; simpl; now rewrite app_nil_r).
      rewrite (go_now _ _ _ G), (go_late _ _ _ G), <- app_assoc.
      pose proof (good_reachable V Re) as Gd. destruct (step_is_run V X _ Gd (go_core _ _ _ G) C L) as [C' L'].
      split; [exact C'|]. split; [|exact L']. apply (blocks_more _ _ (who X, num X)); auto.
      + intros x I. apply (X_new V X Gd (go_core _ _ _ G)). now apply (look_events _ _ L).
      + intros x I. now apply in_chain in I.
  Qed.

  (** ** Usable ideals: a command that is not blocked can be gone along *)

  Lemma first_bad (A : Type) (bad : A -> Prop) (l : list A) : (forall u, {bad u} + {~ bad u}) ->
    exists l1 l2, l = l1 ++ l2 /\ (forall u, In u l1 -> ~ bad u) /\ match l2 with [] => True | u :: _ => bad u end.
  Proof.
    intros D. induction l as [|x l (l1 & l2 & -> & H1 & H2)]; [exists [], []; simpl; auto|].
    destruct (D x) as [B|B]; [exists [], (x :: l1 ++ l2); simpl; auto|].
    exists (x :: l1), l2. split; [auto|]. split; [|auto]. intros y [<-|I]; auto.
  Qed.

  Lemma mem_quiet (w l : list event) k : (forall y, In y l -> writes y -> ~ accesses k y) ->
    mem (after (w ++ l)) k = mem (after w) k.
  Proof.
    induction l as [|y l IH] using rev_ind; intros Q; [now rewrite app_nil_r|].
    rewrite app_assoc, after_snoc. simpl. destruct (writes y && accesses k y) eqn:E.
    - apply andb_iff in E as [W K]. destruct (Q y); auto. rewrite in_app_iff. simpl. auto.
    - apply IH. intros z I. apply Q. rewrite in_app_iff. auto.
  Qed.

  Section Unblocked.
    Variables (S : search) (ls : list label) (b : block).
    Notation s := (written (map block_of ls)).
    Let r := by_rank b.
    Let n := its_number b.
    Let o := its_op b.
    Let w := s ++ events b.
    Hypothesis path : run go start ls S.
    Hypothesis goes_on : computation w.
    (* what it does when it is issued does not conflict with anything late, nor waits for it *)
    Hypothesis unblocked : forall y, In y (late S) -> ~ clash y (Event r n 0 o) /\ ~ must w y (Event r n 0 o).

    Definition bad x : Prop := exists y, In y (late S) /\ (must w y x \/ clash y x).

    Lemma bad_dec x : {bad x} + {~ bad x}.
    Proof.
      apply list_ex_dec. intros y. destruct (is_true_dec (must w y x)), (is_true_dec (clash y x)); first [left;
        tauto|right; tauto].
    Qed.

    Lemma late_steps x : In x (late S) -> ~ is_issue x.
    Proof. destruct (path_is_run ls S path) as (Re & _). apply (good_reachable S Re). Qed.

    Lemma in_run x : In x s <-> In x (now S) \/ In x (late S).
    Proof.
      destruct (path_is_run ls S path) as (_ & _ & _ & _ & L). rewrite (look_events _ _ L), in_app_iff. reflexivity.
    Qed.

    Lemma run_state : same_state (after s) (after (now S ++ late S)).
    Proof.
      destruct (path_is_run ls S path) as (Re & _ & C & _ & L). destruct (good_reachable S Re) as (C' & _).
      now apply same_look_same_values.
    Qed.

    Lemma ops_run k : ops (after s) k = ops (after (now S)) k.
    Proof. destruct run_state as (_ & _ & O & _). rewrite O. apply ops_steps. exact late_steps. Qed.

    Lemma loc_run k : loc (after s) k = loc (after (now S)) k.
    Proof. destruct run_state as (L & _). rewrite L. apply Robust.loc_steps. exact late_steps. Qed.

    Lemma w_valid : valid w.
    Proof. now apply computation_valid. Qed.

    Lemma s_valid : valid s.
    Proof. exact (valid_prefix _ _ w_valid). Qed.

    Lemma events_first : exists m, events b = Event r n 0 o :: m.
    Proof. unfold events, chain. simpl. eauto. Qed.

    Lemma issue_in_run : allowed (after s) (Event r n 0 o).
    Proof. destruct events_first as (m & E). pose proof w_valid as V. unfold w in V. rewrite E in V.
    exact (allowed_at _ _ _ V). Qed.

    Lemma b_new x : In x s -> command_of x <> (r, n).
    Proof.
      intros I E. pose proof (issued_op s x s_valid I) as O. injection E as Er En. rewrite Er, En in O.
      destruct issue_in_run as [_ A]. simpl in A. destruct A as (_ & Nu & _). simpl in Nu.
      assert (n < length (ops (after s) r)) by (apply nth_error_Some; congruence). lia.
    Qed.

    Lemma now_goes_on l1 : forall l2, events b = l1 ++ l2 -> (forall x, In x l1 -> ~ bad x) -> valid (now S ++ l1).
    Proof.
      destruct (path_is_run ls S path) as (Re & _). destruct (good_reachable S Re) as (Co & _).
      pose proof (valid_prefix _ _ (proj1 (proj1 (computation_valid _) Co))) as Vn.
      induction l1 as [|x l1 IH] using rev_ind; intros l2 E Ok; [now rewrite app_nil_r|].
      rewrite <- app_assoc in E. simpl in E. assert (Vl : valid (now S ++ l1)).
      { apply (IH (x :: l2) E). intros y I. apply Ok. rewrite in_app_iff. auto. }
      pose proof (chain_split r n o l1 x l2 E) as Ex. rewrite app_assoc. apply valid_snoc. split; [exact Vl|].
      assert (A : allowed (after (s ++ l1)) x).
      { pose proof w_valid as V. unfold w in V. rewrite E, app_assoc in V. exact (allowed_at _ _ _ V). }
      assert (Mine : forall y, In y l1 -> command_of y = (r, n)).
      { intros y I. assert (J : In y (events b)) by (rewrite E, in_app_iff; auto). now apply in_chain in J. }
      assert (Nb : ~ bad x) by (apply Ok; rewrite in_app_iff; simpl; auto).
      assert (Count : forall v, (forall y, In y v -> command_of y <> (r, n)) ->
        length (got (after (v ++ l1)) (r, n)) = length l1).
      { intros v Nv. rewrite got_length, filter_app, app_length, (count_new (r, n) l1 Mine).
        destruct (filter (of_cmd (r, n)) v) as [|y m] eqn:Ef; [auto|]. exfalso.
        assert (I : In y (filter (of_cmd (r, n)) v)) by (rewrite Ef; simpl; auto). apply in_filter in I as [I Ec].
        apply of_cmd_iff in Ec. exact (Nv y I Ec). }
      assert (Nnow : forall y, In y (now S) -> command_of y <> (r, n)) by (intros y I; apply b_new, in_run; auto).
      assert (Ops : ops (after (s ++ l1)) r = ops (after (now S ++ l1)) r).
      { pose proof (ops_run r) as O. rewrite !ops_after in *. rewrite !filter_app, !map_app. now rewrite O. }
      assert (Past : past w x = firstn n (ops (after (s ++ l1)) r)).
      { pose proof w_valid as V. unfold w in *. rewrite E, app_assoc in *. rewrite past_at by auto. now rewrite Ex. }
      (* what has happened in the run has happened now, unless it is late *)
      assert (Hap : forall i p, happened (after (s ++ l1)) r i p -> happened (after (now S ++ l1)) r i p \/
        exists y, In y (late S) /\ rank y = r /\ number y = i /\ place y = p).
      { intros i p H. assert (Vs : valid (s ++ l1)).
        { pose proof w_valid as V. unfold w in V. rewrite E, app_assoc in V. exact (valid_prefix _ _ V). }
        apply happened_event in H; [|exact Vs]. destruct H as (y & Iy & Cy & Py). injection Cy as Ry Ny.
        apply in_app_iff in Iy as [Iy|Iy]; [apply in_run in Iy as [Iy|Iy]|].
        - left. apply happened_event; [auto|]. exists y. rewrite in_app_iff. unfold command_of. rewrite Ry, Ny. auto.
        - right. exists y. auto.
        - left. apply happened_event; [auto|]. exists y. rewrite in_app_iff. unfold command_of. rewrite Ry, Ny. auto. }
      assert (Num : n = length (ops (after s) r)).
      { destruct issue_in_run as [_ H]. simpl in H. destruct H as (_ & H & _). exact H. }
      assert (Rule : forall i p, is_step (firstn n (ops (after (s ++ l1)) r)) i p ->
        (if is_issue x then awaits (past w x) (op x) i p else held (past w x) (op x) (place x) i p) ->
        happened (after (s ++ l1)) r i p -> happened (after (now S ++ l1)) r i p).
      { intros i p (o' & Eo & _) M H. destruct (Hap i p H) as [|(y & Iy & Ry & Ny & Py)]; [auto|]. destruct Nb.
        exists y. split; [auto|]. left. apply must_iff. rewrite Ry, Ny, Py, Ex. simpl. split; [auto|]. split.
        - assert (L : i < length (firstn n (ops (after (s ++ l1)) r))) by (apply nth_error_Some; congruence).
          rewrite firstn_length in L. lia.
        - split; [now apply late_steps|]. rewrite Ex in M. destruct (is_issue _); exact M. }
      destruct A as [Lx A]. assert (Cx : command_of x = (r, n)) by now rewrite Ex.
      split; [rewrite Cx, (Count _ Nnow), Ex; reflexivity|]. destruct (is_issue x) eqn:Hx.
      - assert (El : l1 = []).
        { rewrite Ex in Hx. apply Nat.eqb_eq in Hx. simpl in Hx. destruct l1; [auto|discriminate Hx]. }
        rewrite El, app_nil_r in *. simpl in Ex. destruct A as (Pa & Nu & Nx & Aw). rewrite Ex in *. simpl in *.
        assert (Se : seen (after (now S)) (Event r n 0 o) = seen (after s) (Event r n 0 o)).
        { unfold seen. destruct (access_of (Event r n 0 o)) as [ac|] eqn:Ea; [|auto].
          destruct (does_read ac) eqn:Dr; [|auto].
          destruct run_state as (_ & Mm & _). rewrite Mm. symmetry. apply mem_quiet. intros y Iy W K.
          apply (proj1 (unblocked y Iy)). apply clash_iff. split; [|split; [|split]].
          - intros Ey. apply (late_steps y Iy). now rewrite Ey.
          - exists (at_cell ac). split; [auto|]. apply accesses_iff. eauto.
          - auto.
          - intros SK. apply same_kind_iff in SK as [K1 K2]. unfold kind in K1, K2. rewrite Ea in K2.
            unfold kind_of, does_read in *. destruct (in_way ac); congruence. }
        split; [exact Pa|]. split; [now rewrite <- ops_run|]. split.
        + intros k Ik. rewrite <- loc_run, Se. auto.
        + intros i p St H. rewrite <- ops_run in St, H. pose proof (Rule i p) as Rule'.
          rewrite !app_nil_r in Rule'. rewrite ?app_nil_r in Past. apply Rule'.
          * rewrite Num, firstn_all. exact St.
          * rewrite Past, Num, firstn_all. exact H.
          * now apply Aw.
      - destruct A as (O & Pl & A). rewrite Ex in *. unfold may_step. cbn [rank number place op] in *.
        rewrite <- Ops. split; [exact O|]. split; [exact Pl|].
        intros i p St H. apply (Rule i p St); [|now apply A]. now rewrite Past.
    Qed.

    Theorem unblocked_goes_on : exists X V, block_of X = b /\ sourced X = false /\ go S X V.
    Proof.
      destruct (first_bad event bad (events b) bad_dec) as (l1 & l2 & E & Ok & Bad).
      pose proof (now_goes_on l1 l2 E Ok) as V. destruct events_first as (m & Ef).
      assert (Ne : l1 <> []).
      { intros ->. simpl in E. rewrite <- E, Ef in Bad. destruct Bad as (y & Iy & H). destruct (unblocked y Iy).
        tauto. }
      set (X := Label r n o l1 l2 false).
      assert (C : core S X).
      { split; simpl; auto.
        - intros x y Ix Iy C. apply (Ok x Ix). exists y. auto.
        - unfold forced_late. simpl. destruct l2 as [|x l2]; [auto|]. destruct Bad as (y & Iy & H). exists y.
          split; [auto|]. rewrite <- (must_same w); [exact H|].
          pose proof (chain_split r n o l1 x l2 E) as Ex. rewrite Ex. simpl. unfold w. rewrite E.
          pose proof (ops_run r) as O. rewrite !ops_after in *. rewrite !filter_app, !map_app, O.
          replace (filter (fun z => takes_part z r) (x :: l2)) with (@nil event); [now rewrite app_nil_r|].
          symmetry. destruct (filter _ (x :: l2)) as [|z q] eqn:Ez; [auto|]. exfalso.
          assert (I : In z (filter (fun z => takes_part z r) (x :: l2))) by (rewrite Ez; simpl; auto).
          apply in_filter in I as [I T]. apply takes_part_iff in T as [T _].
          exact (l2_steps r n o l1 (x :: l2) E Ne z I T). }
      destruct (go_exists S X C) as (W & G); [intros H; discriminate H|apply grows_dec|].
      assert (Eta : forall c, Block (by_rank c) (its_number c) (its_op c) = c) by (intros []; reflexivity).
      exists X, W. split; [exact (Eta b)|auto].
    Qed.
  End Unblocked.

  (** ** Traces *)

  Definition blocks_apart (b c : block) : Prop :=
    (forall k, In k (by_rank b :: party (its_op b)) -> ~ In k (by_rank c :: party (its_op c))) /\
    forall x y, In x (events b) -> In y (events c) -> ~ clash x y.

  Lemma blocks_apart_iff X Y : blocks_apart (block_of X) (block_of Y) <-> apart_moves X Y.
  Proof. reflexivity. Qed.

  (** Runs have one trace when neighbours that do not depend on each other can be swapped until they are equal. *)
  Inductive same_trace : list block -> list block -> Prop :=
  | trace_same bs : same_trace bs bs
  | trace_swap bs b c cs ds : blocks_apart b c ->
      same_trace (bs ++ c :: b :: cs) ds -> same_trace (bs ++ b :: c :: cs) ds.

  Lemma same_trace_trans bs cs ds : same_trace bs cs -> same_trace cs ds -> same_trace bs ds.
  Proof. induction 1 as [|bs b c cs es A _ IH]; intros H; [auto|]. apply trace_swap; auto. Qed.

  Lemma same_trace_sym bs cs : same_trace bs cs -> same_trace cs bs.
  Proof.
    induction 1 as [bs|bs b c cs ds [A1 A2] _ IH]; [constructor|]. apply (same_trace_trans _ _ _ IH).
    apply trace_swap; [|constructor]. split; [intros k Ic Ib; exact (A1 k Ib Ic)|].
    intros x y Ix Iy C. apply (A2 y x Iy Ix). now apply clash_sym.
  Qed.

  (** What a path of the search comes to depends on the trace of its run alone. *)
  Theorem trace_decides bs cs : same_trace bs cs -> forall ls S, map block_of ls = bs -> run go start ls S ->
    exists ls' S', map block_of ls' = cs /\ run go start ls' S' /\ alike S S'.
  Proof.
    induction 1 as [bs|bs b c cs ds A _ IH]; intros ls S E R.
    - exists ls, S. split; [auto|]. split; [auto|apply alike_refl].
    - apply map_eq_app in E as (l1 & l2 & -> & E1 & E2). destruct l2 as [|Y [|X l2]]; try discriminate E2.
      injection E2 as EY EX E2. apply run_app in R as (V & R1 & R2).
      inversion R2 as [|? ? V1 ? ? GY R3]. subst. inversion R3 as [|? ? V2 ? ? GX R4]. subst. clear R2 R3.
      destruct (independent_to_front V Y V1 X V2) as (U & W & GX' & GY' & Al); auto.
      assert (More : forall (l : list label) (S1 S2 S3 : search), run go S1 l S3 -> alike S1 S2 ->
        exists S4, run go S2 l S4 /\ alike S3 S4).
      { clear. induction l as [|Z l IHl]; intros S1 S2 S3 R Al.
        - inversion R. subst. exists S2. split; [constructor|auto].
        - inversion R as [|? ? S5 ? ? G R']. subst. destruct (alike_goes S1 S2 Z S5 Al G) as (S6 & G' & Al').
          destruct (IHl S5 S6 S3 R' Al') as (S4 & R4 & Al4). exists S4. split; [now apply run_step with S6|auto]. }
      destruct (More l2 V2 W S R4 Al) as (S' & R' & Al').
      destruct (IH (l1 ++ X :: Y :: l2) S') as (ls' & S2 & E' & R2 & Al2).
      + rewrite map_app. reflexivity.
      + apply run_app. exists V. split; [auto|]. apply run_step with U; auto. apply run_step with W; auto.
      + exists ls', S2. split; [auto|]. split; [auto|]. now apply alike_trans with S'.
  Qed.

  (** Runs with some of their commands marked: an ideal, and what is left out. *)
  Definition marked : Type := list (bool * block).
  Definition kept (m : marked) : list block := map snd (filter fst m).
  Definition left_out (m : marked) : list block := map snd (filter (fun p => negb (fst p)) m).
  Definition ideal (m : marked) : Prop := same_trace (kept m ++ left_out m) (map snd m).

  Lemma same_trace_app bs cs u v : same_trace bs cs -> same_trace (u ++ bs ++ v) (u ++ cs ++ v).
  Proof.
    induction 1 as [bs|bs b c cs ds A _ IH]; [constructor|].
    replace (u ++ (bs ++ b :: c :: cs) ++ v) with ((u ++ bs) ++ b :: c :: (cs ++ v)) by (rewrite <- !app_assoc;
      reflexivity).
    apply trace_swap; [auto|].
    replace ((u ++ bs) ++ c :: b :: cs ++ v) with (u ++ (bs ++ c :: b :: cs) ++ v) by (rewrite <- !app_assoc;
      reflexivity).
    exact IH.
  Qed.

  (** Marks go along. *)
  Lemma marks_along bs cs : same_trace bs cs -> forall m : marked, map snd m = bs ->
    exists m' : marked, map snd m' = cs /\ same_trace (kept m) (kept m') /\ same_trace (left_out m) (left_out m').
  Proof.
    induction 1 as [bs|bs b c cs ds A _ IH]; intros m E; [exists m; split; [auto|split; constructor]|].
    apply map_eq_app in E as (m1 & m2 & -> & E1 & E2). destruct m2 as [|[f b'] [|[g c'] m2]]; try discriminate E2.
    injection E2 as Eb Ec E2. simpl in Eb, Ec. subst b' c'.
    destruct (IH (m1 ++ (g, c) :: (f, b) :: m2)) as (m' & E' & K & Lo).
    { rewrite map_app. simpl. congruence. }
    exists m'. split; [auto|]. unfold kept, left_out in *. rewrite !filter_app, !map_app in *. simpl in *.
    split; (eapply same_trace_trans; [|eassumption]); destruct f, g; simpl;
      first [apply trace_same|apply trace_swap; [auto|apply trace_same]].
  Qed.

  Lemma kept_all bs cs : exists m : marked, map snd m = bs ++ cs /\ kept m = bs /\ left_out m = cs.
  Proof.
    exists (map (pair true) bs ++ map (pair false) cs). unfold kept, left_out. rewrite map_app, !filter_app, !map_app.
    assert (T : forall ds f, map snd (map (@pair bool block f) ds) = ds).
    { intros ds f. rewrite map_map. apply map_id. }
    assert (F : forall ds f, filter fst (map (@pair bool block f) ds) = if f then map (pair f) ds else []).
    { intros ds f. induction ds as [|d ds IH]; destruct f; simpl; auto. now rewrite IH. }
    assert (G : forall ds f, filter (fun p => negb (fst p)) (map (@pair bool block f) ds) = if f then [] else map
      (pair f) ds).
    { intros ds f. induction ds as [|d ds IH]; destruct f; simpl; auto. now rewrite IH. }
    rewrite !F, !G, !T. simpl. rewrite app_nil_r. auto.
  Qed.

  (** A set of runs that has one of the trace of every SC run, continued: the maximal ones, say, when all end. *)
  Definition enough (runs : list block -> Prop) : Prop :=
    forall bs, computation (written bs) -> exists cs ds, runs ds /\ same_trace (bs ++ cs) ds.

  (** The theorem of section 3, with any ideal in the place of the greatest: some computation is violating iff in one of
      the runs an ideal is a path of the search that comes to an e. *)
  Theorem one_run_of_each_trace (runs : list block -> Prop) : enough runs ->
    ((exists t, computation t /\ violating t) <->
     exists (m : marked) (ls : list label) S X, runs (map snd m) /\ ideal m /\ map block_of ls = kept m /\
       run go start ls S /\ finds S X).
  Proof.
    intros En. split.
    - intros (t & Ct & Vt). destruct (attack_complete t Ct Vt) as (S & Re & Fo). apply found_finds in Fo as (X & F).
      assert (Path : clean S /\ exists ls, run go start ls S).
      { clear - Re. induction Re as [|S V Re (Cl & ls & R) M].
        - split; [intros _; auto|]. exists []. constructor.
        - split; [exact (clean_move S V Cl M)|]. destruct (move_go S V M) as (Y & G). exists (ls ++ [Y]).
          apply run_app. exists S. split; [auto|]. apply run_step with V; [auto|constructor]. }
      destruct Path as (_ & ls & R). destruct (path_is_run ls S R) as (_ & _ & C & _).
      destruct (En _ C) as (cs & ds & I & T). destruct (kept_all (map block_of ls) cs) as (m & Em & K & Lo).
      destruct (marks_along _ _ T m Em) as (m' & Em' & K' & Lo').
      rewrite K in K'. rewrite Lo in Lo'. destruct (trace_decides _ _ K' ls S eq_refl R) as (ls' & S' & E' & R' & Al).
      exists m', ls', S', X. rewrite Em'. split; [auto|]. split; [|split; [auto|split;
        [auto|now apply (alike_finds S)]]].
      unfold ideal. rewrite Em'. apply (same_trace_trans _ (map block_of ls ++ cs)); [|exact T].
      apply same_trace_trans with (map block_of ls ++ left_out m').
      + apply (same_trace_app _ _ [] (left_out m')). now apply same_trace_sym.
      + pose proof (same_trace_app _ _ (map block_of ls) [] (same_trace_sym _ _ Lo')) as H. now rewrite !app_nil_r in H.
    - intros (m & ls & S & X & _ & _ & _ & R & F). destruct (path_is_run ls S R) as (Re & _).
      apply (attack_sound S Re). apply found_finds. eauto.
  Qed.
End ByTrace.
