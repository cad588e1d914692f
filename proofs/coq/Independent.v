(** * Moves of different ranks that do not conflict are independent

    proofs/reductions.md, Lemma 6, for the attack search of [Attack.v], and what [Reductions.v] makes of it. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Programs Pgas.Attack Pgas.AttackComplete
  Pgas.Robust
  Pgas.Reductions.

Section Independent.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Notation state := (@state Loc Op Cell Val).
  Implicit Types (x y z : event) (l m : list event) (s u v : state).

  Local Arguments command_eq_dec : simpl never.
  Local Arguments firstn : simpl nomatch.

  (** ** Events *)

  Lemma same_state_refl s : same_state s s.
  Proof. repeat split; auto. Qed.
  Lemma same_state_sym s u : same_state s u -> same_state u s.
  Proof. intros (A & B & C & D). repeat split; intros; symmetry; auto. Qed.
  Lemma same_state_trans s u v : same_state s u -> same_state u v -> same_state s v.
  Proof. intros (A & B & C & D) (A' & B' & C' & D'). repeat split; intros; etransitivity; eauto. Qed.

  Lemma seen_same s u x : same_state s u -> seen s x = seen u x.
  Proof. intros (_ & M & _). unfold seen. destruct (access_of x) as [a|]; [|auto]. destruct (does_read a); auto. Qed.

  Lemma allowed_same s u x : same_state s u -> allowed s x -> allowed u x.
  Proof.
    intros E [L A]. pose proof (seen_same s u x E) as Se. destruct E as (El & Em & Eo & Eg).
    split; [now rewrite <- Eg|]. destruct (is_issue x).
    - destruct A as (Pa & Nu & Go & Aw). split; [auto|]. split; [now rewrite <- Eo|]. split.
      + intros r I. rewrite <- El, <- Se. auto.
      + intros i p St H. unfold happened. rewrite <- Eg. rewrite <- Eo in St, H. now apply Aw.
    - destruct A as (O & Pl & A). split; [now rewrite <- Eo|]. split; [auto|]. simpl in *. intros i p St H.
      unfold happened. rewrite <- Eg. rewrite <- Eo in St, H. now apply A.
  Qed.

  Lemma happen_same s u x : same_state s u -> same_state (happen s x) (happen u x).
  Proof.
    intros E. pose proof (seen_same s u x E) as Se. destruct E as (El & Em & Eo & Eg).
    split; [|split; [|split]]; simpl; intros k.
    - rewrite El, Se. auto.
    - rewrite Em, Eg, Se. auto.
    - rewrite Eo. auto.
    - rewrite Eg, Eg, Se. auto.
  Qed.

  (** No rank takes part in both, and they do not conflict. *)
  Definition who_takes x : list nat := rank x :: party (op x).
  Definition apart x y : Prop := (forall r, In r (who_takes x) -> ~ In r (who_takes y)) /\ ~ clash x y.

  Lemma apart_sym x y : apart x y -> apart y x.
  Proof. intros [A D]. split; [intros r Ix Iy; exact (A r Iy Ix)|]. intros H. apply D. now apply clash_sym. Qed.

  Lemma apart_rank x y : apart x y -> rank x <> rank y.
  Proof. intros [A _] E. apply (A (rank x)); [left|rewrite E; left]; reflexivity. Qed.

  Lemma no_part x y r : apart x y -> In r (who_takes y) -> takes_part x r = false.
  Proof.
    intros [A _] I. destruct (takes_part x r) eqn:E; [|auto]. apply takes_part_iff in E as [_ E].
    destruct (A r); [right; exact E|exact I].
  Qed.

  Lemma takes_apart x y r : apart x y -> takes_part x r -> takes_part y r -> False.
  Proof.
    intros A Tx Ty. rewrite (no_part x y r A) in Tx; [discriminate Tx|]. apply takes_part_iff in Ty as [_ Ty]. right.
    exact Ty.
  Qed.

  (** x changes no cell that y reads, and where both change one they are updates of one kind. *)
  Lemma apart_cells x y k : apart x y -> accesses k x -> accesses k y -> writes x -> same_kind x y.
  Proof.
    intros A Kx Ky W. destruct (same_kind x y) eqn:E; [reflexivity|]. destruct (proj2 A). apply clash_iff.
    split; [intros ->; exact (apart_rank y y A eq_refl)|]. split; [eauto|]. split; [auto|]. rewrite E. discriminate.
  Qed.

  Lemma kind_reads x y : same_kind x y -> reads y = false.
  Proof.
    intros H. apply same_kind_iff in H as [K E]. unfold kind, reads in *. destruct (access_of y) as [a|]; [|auto].
    unfold kind_of, does_read in *. destruct (in_way a); auto; congruence.
  Qed.

  Lemma seen_apart s x y : apart x y -> seen (happen s x) y = seen s y.
  Proof.
    intros A. unfold seen. destruct (access_of y) as [a|] eqn:E; [|auto]. destruct (does_read a) eqn:R; [|auto].
    simpl. destruct (writes x) eqn:W; [|auto]. destruct (accesses (at_cell a) x) eqn:K; [|auto]. simpl. exfalso.
    assert (Ky : accesses (at_cell a) y) by (apply accesses_iff; eauto).
    pose proof (kind_reads x y (apart_cells x y (at_cell a) A K Ky W)) as H. unfold reads in H. rewrite E in H.
    congruence.
  Qed.

  Lemma command_apart x y : apart x y -> command_of y <> command_of x.
  Proof. intros A E. apply (apart_rank x y A). injection E. auto. Qed.

  Lemma allowed_apart s x y : apart x y -> (allowed (happen s x) y <-> allowed s y).
  Proof.
    intros A. pose proof (apart_rank x y A) as Nr. pose proof (seen_apart s x y A) as Se.
    assert (G : forall i, got (happen s x) (rank y, i) = got s (rank y, i)).
    { intros i. simpl. destruct (command_eq_dec (rank y, i) (command_of x)) as [E|]; [|auto]. injection E. intros.
      congruence. }
    assert (O : ops (happen s x) (rank y) = ops s (rank y)).
    { simpl. rewrite (no_part x y (rank y) A); [auto|left; reflexivity]. }
    assert (L : forall r, In r (party (op y)) -> loc (happen s x) r = loc s r).
    { intros r I. simpl. rewrite (no_part x y r A); [auto|right; exact I]. }
    assert (Gy : got (happen s x) (command_of y) = got s (command_of y)) by apply G.
    unfold allowed, may_issue, may_step. rewrite O, Gy. clear Gy.
    assert (Ha : forall i p, happened (happen s x) (rank y) i p <-> happened s (rank y) i p).
    { intros i p. unfold happened. now rewrite G. }
    split; (intros [H1 H2]; split; [exact H1|]); destruct (is_issue y).
    - destruct H2 as (H2 & H3 & H4 & H5). split; [auto|]. split; [auto|]. split.
      + intros r I. specialize (H4 r I). now rewrite <- L, <- Se.
      + intros i p St Aw. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4). split; [auto|]. split; [auto|]. simpl in *. intros i p St H. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4 & H5). split; [auto|]. split; [auto|]. split.
      + intros r I. specialize (H4 r I). now rewrite L, Se.
      + intros i p St Aw. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4). split; [auto|]. split; [auto|]. simpl in *. intros i p St H. apply Ha. auto.
  Qed.

  Lemma happen_apart s x y : apart x y -> allowed s x -> allowed s y ->
    same_state (happen (happen s x) y) (happen (happen s y) x).
  Proof.
    intros A Ax Ay. pose proof (apart_sym x y A) as A'.
    pose proof (seen_apart s x y A) as Sey. pose proof (seen_apart s y x A') as Sex.
    pose proof (command_apart x y A) as Nc.
    assert (Gy : got (happen s x) (command_of y) = got s (command_of y)).
    { simpl. destruct (command_eq_dec (command_of y) (command_of x)); [tauto|auto]. }
    assert (Gx : got (happen s y) (command_of x) = got s (command_of x)).
    { simpl. destruct (command_eq_dec (command_of x) (command_of y)); [congruence|auto]. }
    split; [|split; [|split]]; intros k.
    - cbn [happen loc]. destruct (takes_part x k) eqn:Tx, (takes_part y k) eqn:Ty; rewrite ?Sex, ?Sey; auto.
      destruct (takes_apart x y k A Tx Ty).
    - cbn [happen mem]. rewrite Gy, Gx, Sex, Sey.
      destruct (writes x && accesses k x) eqn:Wx, (writes y && accesses k y) eqn:Wy; auto.
      apply andb_iff in Wx as [Wx Kx], Wy as [Wy Ky]. pose proof (apart_cells x y k A Kx Ky Wx) as SK.
      apply accesses_iff in Kx as (ax & Ex & _), Ky as (ay & Ey & _). apply same_kind_iff in SK as [K E].
      unfold kind in K, E. rewrite Ex, Ey in *. unfold access_of in Ex, Ey.
      symmetry. apply (updates_commute (op x) (op y) (place x) (place y) ax ay); auto.
      + rewrite app_length, (proj1 Ax). simpl. lia.
      + rewrite app_length, (proj1 Ay). simpl. lia.
    - cbn [happen ops]. destruct (takes_part x k) eqn:Tx, (takes_part y k) eqn:Ty; auto.
      destruct (takes_apart x y k A Tx Ty).
    - cbn [happen got]. rewrite Sex, Sey.
      destruct (command_eq_dec k (command_of y)) as [Ey|Ny], (command_eq_dec k (command_of x)) as [Ex|Nx];
        try congruence.
      + destruct (command_eq_dec (command_of y) (command_of x)); [congruence|auto].
      + destruct (command_eq_dec (command_of x) (command_of y)); [congruence|auto].
  Qed.

  (** ** Words *)

  Fixpoint ok s l : Prop := match l with [] => True | x :: l => allowed s x /\ ok (happen s x) l end.
  Notation ending s l := (fold_left happen l s).

  Lemma valid_ok l : forall w, valid (w ++ l) <-> valid w /\ ok (after w) l.
  Proof.
    induction l as [|x l IH]; intros w; simpl; [rewrite app_nil_r; tauto|].
    replace (w ++ x :: l) with ((w ++ [x]) ++ l) by now rewrite <- app_assoc.
    rewrite IH, valid_snoc, after_snoc. tauto.
  Qed.

  Lemma ending_same l : forall s u, same_state s u -> same_state (ending s l) (ending u l).
  Proof. induction l as [|x l IH]; intros s u E; [auto|]. simpl. apply IH. now apply happen_same. Qed.

  Lemma ok_same l : forall s u, same_state s u -> ok s l -> ok u l.
  Proof.
    induction l as [|x l IH]; intros s u E; simpl; [auto|]. intros [A O]. split; [now apply (allowed_same s)|].
    apply (IH (happen s x)); auto. now apply happen_same.
  Qed.

  Lemma ok_one x m : (forall y, In y m -> apart x y) -> forall s, allowed s x ->
    (ok (happen s x) m <-> ok s m) /\
    (ok s m -> allowed (ending s m) x /\ same_state (ending (happen s x) m) (happen (ending s m) x)).
  Proof.
    induction m as [|y m IH]; intros Ap s Ax; simpl; [split; [tauto|]; split; [auto|apply same_state_refl]|].
    assert (Axy : apart x y) by (apply Ap; simpl; auto).
    assert (Apm : forall z, In z m -> apart x z) by (intros z I; apply Ap; simpl; auto).
    rewrite (allowed_apart s x y Axy).
    assert (H : allowed s y -> same_state (happen (happen s x) y) (happen (happen s y) x) /\ allowed (happen s y) x).
    { intros Ay. split; [now apply happen_apart|]. now apply allowed_apart; [apply apart_sym|]. }
    split.
    - split; intros [Ay O]; (split; [exact Ay|]); destruct (H Ay) as [E Ax'];
      destruct (IH Apm (happen s y) Ax') as [I1 _].
      + apply I1. now apply (ok_same m _ _ E).
      + apply (ok_same m _ _ (same_state_sym _ _ E)). now apply I1.
    - intros [Ay O]. destruct (H Ay) as [E Ax']. destruct (IH Apm (happen s y) Ax') as [_ I2]. destruct (I2 O) as [B S].
      split; [exact B|]. apply same_state_trans with (2 := S). now apply ending_same.
  Qed.

  Lemma ok_lists l m : (forall x y, In x l -> In y m -> apart x y) -> forall s, ok s l ->
    (ok (ending s l) m <-> ok s m) /\
    (ok s m -> ok (ending s m) l /\ same_state (ending (ending s l) m) (ending (ending s m) l)).
  Proof.
    induction l as [|x l IH]; intros Ap s; simpl; [intros _; split; [tauto|]; split; [auto|apply same_state_refl]|].
    intros [Ax Ol]. destruct (ok_one x m (fun y => Ap x y (or_introl eq_refl)) s Ax) as [O1 O2].
    destruct (IH (fun x' y I => Ap x' y (or_intror I)) (happen s x) Ol) as [L1 L2]. split; [rewrite L1; exact O1|].
    intros Om. destruct (O2 Om) as [B S]. destruct (L2 (proj2 O1 Om)) as [Ol' S']. split; [split; [exact B|]|].
    - now apply (ok_same l _ _ S).
    - apply same_state_trans with (1 := S'). now apply ending_same.
  Qed.

  Lemma after_app w l : after (w ++ l) = ending (after w) l.
  Proof. unfold after. apply fold_left_app. Qed.

  Lemma words_apart w k l : (forall x y, In x k -> In y l -> apart x y) -> valid (w ++ k) ->
    (valid ((w ++ k) ++ l) <-> valid (w ++ l)) /\
    (valid (w ++ l) -> valid ((w ++ l) ++ k) /\ same_state (after ((w ++ k) ++ l)) (after ((w ++ l) ++ k))).
  Proof.
    intros Ap V. rewrite (valid_ok l (w ++ k)), (valid_ok l w), (valid_ok k (w ++ l)), (valid_ok l w), !after_app.
    pose proof V as V'. apply valid_ok in V' as [Vw O].
    destruct (ok_lists k l Ap (after w) O) as [H1 H2]. rewrite H1. split; [tauto|].
    intros [_ Ol]. destruct (H2 Ol) as [O' S]. tauto.
  Qed.

  (** ** Moves of the search *)

  Notation search := (@search Op).

  (** States that differ in the order of words alone. *)
  Definition same_set {A : Type} (a b : list A) : Prop := forall k : A, In k a <-> In k b.
  Record alike (S U : search) : Prop := {
    alike_valid : valid (now S) <-> valid (now U);
    alike_now : same_state (after (now S)) (after (now U));
    alike_late : same_set (late S) (late U);
    alike_sources : same_set (sources S) (sources U);
    alike_tainted : same_set (tainted S) (tainted U);
    alike_touched : same_set (touched S) (touched U) }.

  (** A move: the command of the rank, what happens of it now and what later, and whether a source is delayed by it. *)
  Record label := Label { who : nat; num : nat; what : Op; first : list event; rest : list event; sourced : bool }.
  Implicit Types (X Y : label) (S U V W : search).

  Definition forced_late S X : Prop :=
    match rest X with
    | [] => True
    | x :: _ => exists y, In y (late S) /\ (must (now S ++ first X) y x \/ clash y x)
    end.
  Definition new_source X : list event := if sourced X then firstn 1 (rest X) else [].


  Record core S X : Prop := {
    core_chain : chain (who X) (num X) (what X) = first X ++ rest X;
    core_some : first X <> [];
    core_valid : valid (now S ++ first X);
    core_free : forall x y, In x (first X) -> In y (late S) -> ~ clash y x;
    core_late : if sourced X then rest X <> [] else forced_late S X }.
  Definition source_may S X : Prop := sourced X ->
    sources S = [] \/ exists a z, In a (sources S) /\ In z (new_source X) /\ Network.alike a z.
  Definition grows S X : Prop := sourced X \/ reached S (what X) (first X ++ rest X).

  Record go S X V : Prop := {
    go_core : core S X;
    go_source : source_may S X;
    go_now : now V = now S ++ first X;
    go_late : late V = late S ++ rest X;
    go_sources : sources V = new_source X ++ sources S;
    go_taint : (grows S X /\ tainted V = party (what X) ++ tainted S /\ touched V = first X ++ touched S) \/
               (~ grows S X /\ tainted V = tainted S /\ touched V = touched S) }.

  Record finds S X : Prop := {
    finds_chain : chain (who X) (num X) (what X) = first X ++ rest X;
    finds_some : first X <> [];
    finds_valid : valid (now S ++ first X);
    finds_hit : exists a x, In a (sources S) /\ In x (first X) /\ clash x a;
    finds_enter : (exists k, In k (tainted S) /\ In k (party (what X))) \/
                  (exists z y, In z (first X) /\ In y (touched S) /\ clash y z) \/
                  (exists z y, In z (rest X) /\ In y (touched S ++ late S) /\ clash y z) }.

  Lemma found_finds S : found S <-> exists X, finds S X.
  Proof.
    split.
    - intros (a & r & n & o & l1 & l2 & x & Ia & Ch & Ne & V & Ix & C & En).
      exists (Label r n o l1 l2 false). split; simpl; auto. eauto.
    - intros ([r n o l1 l2 b] & [Ch Ne V (a & x & Ia & Ix & C) En]). simpl in *.
      exists a, r, n, o, l1, l2, x. auto 10.
  Qed.

  (** Without a source nothing else is there. *)
  Definition clean S : Prop := sources S = [] -> late S = [] /\ tainted S = [] /\ touched S = [].

  Lemma go_move S V X : clean S -> go S X V -> move S V.
  Proof.
    intros Cl [[Ch Ne Va Fr La] So No Lt Sr Ta]. destruct X as [r n o l1 l2 b], S as [w d Ss T t],
      V as [w' d' Ss' T' t'].
    unfold grows, new_source, source_may, forced_late in *. simpl in *. subst w' d' Ss'.
    destruct Ss as [|a0 Ss].
    - destruct (Cl eq_refl) as (E1 & E2 & E3). simpl in E1, E2, E3. subst d T t. simpl in *. destruct b.
      + destruct l2 as [|a l2]; [tauto|]. destruct Ta as [(_ & -> & ->)|(H & _)]; [|destruct H; left; reflexivity].
        rewrite !app_nil_r. simpl. now apply (move_source w r n o l1 a l2).
      + destruct l2 as [|x l2]; [|destruct La as (y & [] & _)]. rewrite app_nil_r in Ch.
        destruct Ta as [([H|H] & _)|(_ & -> & ->)].
        * discriminate H.
        * destruct H as [(k & [] & _)|(x & y & _ & [] & _)].
        * rewrite <- Ch in *. now apply (move_before_source w r n o).
    - clear Cl. destruct b.
      + destruct l2 as [|z l2]; [tauto|]. destruct Ta as [(_ & -> & ->)|(H & _)]; [|destruct H; left; reflexivity].
        destruct (So eq_refl) as [H|(a & z' & Ia & Iz & Al)]; [discriminate H|]. simpl in Iz. destruct Iz as [<-|[]].
        simpl. apply (move_further (Search w d (a0 :: Ss) T t) r n o l1 z l2 a); auto.
      + simpl. assert (Sp : may_split (Search w d (a0 :: Ss) T t) r n o l1 l2) by (repeat (split; [assumption|]);
        exact La).
        destruct Ta as [([H|H] & -> & ->)|(H & -> & ->)]; [discriminate H| |].
        * apply (move_reached (Search w d (a0 :: Ss) T t) r n o); auto. simpl. discriminate.
        * apply (move_other (Search w d (a0 :: Ss) T t) r n o); auto. simpl. discriminate.
  Qed.

  Lemma move_go S V : move S V -> exists X, go S X V.
  Proof.
    intros M. destruct M as [w r n o V|w r n o l1 a l2 Ch Ne V|S r n o l1 l2 Src (Ch & Ne & V & Fr & La) Re|
                             S r n o l1 l2 Src (Ch & Ne & V & Fr & La) Re|S r n o l1 z l2 a Ia Al Ch Ne V Fr].
    - exists (Label r n o (chain r n o) [] false). split; simpl; rewrite ?app_nil_r; auto.
      + split; simpl; rewrite ?app_nil_r; auto; try exact I. unfold chain. simpl. discriminate.
      + intros H. discriminate H.
      + right. split; [|auto]. intros [H|[(k & [] & _)|(x & y & _ & [] & _)]]. discriminate H.
    - exists (Label r n o l1 (a :: l2) true). split; simpl; rewrite ?app_nil_r; auto.
      + split; simpl; auto. discriminate.
      + left. auto.
      + left. split; [left; reflexivity|auto].
    - exists (Label r n o l1 l2 false). split; simpl; auto.
      + split; simpl; auto.
      + intros H. discriminate H.
      + left. split; [right; exact Re|auto].
    - exists (Label r n o l1 l2 false). split; simpl; auto.
      + split; simpl; auto.
      + intros H. discriminate H.
      + right. split; [|auto]. intros [H|H]; [discriminate H|auto].
    - exists (Label r n o l1 (z :: l2) true). split; simpl; auto.
      + split; simpl; auto. discriminate.
      + intros _. right. exists a, z. simpl. auto.
      + left. split; [left; reflexivity|auto].
  Qed.

  Lemma clean_move S V : clean S -> move S V -> clean V.
  Proof.
    intros Cl M. destruct M as [w r n o Va|w r n o l1 a l2 Ch Ne Va|S r n o l1 l2 Src Sp Re|S r n o l1 l2 Src Sp Re|
                                S r n o l1 z l2 a Ia Al Ch Ne Va Fr]; intros H; simpl in *; try discriminate H; auto;
                                  tauto.
  Qed.

  (** ** Alike states have the same moves *)

  Lemma alike_refl S : alike S S.
  Proof. split; auto using same_state_refl; try (intros x; reflexivity). reflexivity. Qed.

  Lemma valid_same (w u : list event) l : (valid w <-> valid u) -> same_state (after w) (after u) -> valid (w ++ l) ->
    valid (u ++ l) /\ same_state (after (w ++ l)) (after (u ++ l)).
  Proof.
    intros V E Vl. apply valid_ok in Vl as [Vw O]. rewrite !after_app. split; [|now apply ending_same].
    apply valid_ok. split; [now apply V|]. now apply (ok_same l (after w)).
  Qed.

  Lemma must_same (w u : list event) y x : ops (after w) (rank x) = ops (after u) (rank x) -> must w y x = must u y x.
  Proof. intros E. unfold must, past. now rewrite E. Qed.

  Lemma reached_same S U o l : alike S U -> reached S o l -> reached U o l.
  Proof.
    intros A [(k & I & Ik)|(x & y & Ix & Iy & C)].
    - left. exists k. split; [now apply (alike_tainted _ _ A)|auto].
    - right. exists x, y. split; [auto|]. split; [|auto]. rewrite in_app_iff in *.
      rewrite <- (alike_touched _ _ A y), <- (alike_late _ _ A y). auto.
  Qed.

  Lemma same_nil {A : Type} (a b : list A) : same_set a b -> a = [] -> b = [].
  Proof. intros E ->. destruct b as [|x b]; [auto|]. destruct (proj2 (E x)). simpl. auto. Qed.

  Lemma alike_sym S U : alike S U -> alike U S.
  Proof.
    intros [V N L Sr T t]. split; auto using same_state_sym; try (intros x; symmetry; auto). now symmetry.
  Qed.

  Lemma alike_goes S U X V : alike S U -> go S X V -> exists V', go U X V' /\ alike V V'.
  Proof.
    intros A [[Ch Ne Va Fr La] So No Lt Sr Ta]. pose proof (alike_sym _ _ A) as A'.
    pose proof (alike_valid _ _ A) as VU.
    destruct (valid_same (now S) (now U) (first X) VU (alike_now _ _ A) Va) as [Va' E].
    assert (Gr : grows S X <-> grows U X).
    { unfold grows. split; (intros [H|H]; [auto|right]); eapply reached_same; eauto. }
    assert (C : core U X).
    { split; auto.
      - intros x y Ix Iy. apply Fr; auto. now apply (alike_late _ _ A).
      - destruct (sourced X); [exact La|]. unfold forced_late in *. destruct (rest X) as [|x m]; [auto|].
        destruct La as (y & Iy & H). exists y. split; [now apply (alike_late _ _ A)|].
        rewrite <- (must_same (now S ++ first X)); [exact H|]. apply E. }
    assert (So' : source_may U X).
    { intros H. destruct (So H) as [H'|(a & z & Ia & H')].
      - left. apply (same_nil (sources S)); auto. apply (alike_sources _ _ A).
      - right. exists a, z. split; [now apply (alike_sources _ _ A)|auto]. }
    assert (Same : forall T t T' t', same_set T T' -> same_set t t' ->
      tainted V = T -> touched V = t ->
      alike V (Search (now U ++ first X) (late U ++ rest X) (new_source X ++ sources U) T' t')).
    { intros T t T' t' ET Et HT Ht. split; simpl; rewrite ?No, ?Lt, ?Sr, ?HT, ?Ht; auto.
      - split; auto.
      - intros x. rewrite !in_app_iff, (alike_late _ _ A x). tauto.
      - intros x. rewrite !in_app_iff, (alike_sources _ _ A x). tauto. }
    destruct Ta as [(G & HT & Ht)|(G & HT & Ht)].
    - exists (Search (now U ++ first X) (late U ++ rest X) (new_source X ++ sources U)
        (party (what X) ++ tainted U) (first X ++ touched U)). split.
      + split; auto. left. split; [now apply Gr|auto].
      + apply (Same (party (what X) ++ tainted S) (first X ++ touched S)); auto; intros x; rewrite !in_app_iff.
        * rewrite (alike_tainted _ _ A x). tauto.
        * rewrite (alike_touched _ _ A x). tauto.
    - exists (Search (now U ++ first X) (late U ++ rest X) (new_source X ++ sources U) (tainted U) (touched U)). split.
      + split; auto. right. split; [intros H; apply G, Gr, H|auto].
      + apply (Same (tainted S) (touched S)); auto; apply A.
  Qed.

  Lemma alike_finds S U X : alike S U -> finds S X -> finds U X.
  Proof.
    intros A [Ch Ne Va (a & x & Ia & Hx) En]. pose proof (alike_valid _ _ A) as VU.
    destruct (valid_same (now S) (now U) (first X) VU (alike_now _ _ A) Va) as [Va' _]. split; auto.
    - exists a, x. split; [now apply (alike_sources _ _ A)|auto].
    - destruct En as [(k & Ik & Hk)|[(z & y & Iz & Iy & C)|(z & y & Iz & Iy & C)]].
      + left. exists k. split; [now apply (alike_tainted _ _ A)|auto].
      + right. left. exists z, y. split; [auto|]. split; [now apply (alike_touched _ _ A)|auto].
      + right. right. exists z, y. split; [auto|]. split; [|auto]. rewrite in_app_iff in *.
        rewrite <- (alike_touched _ _ A y), <- (alike_late _ _ A y). auto.
  Qed.

  Theorem alike_simulates : simulates go finds alike.
  Proof.
    intros S U A. split.
    - intros X F. exists X. now apply (alike_finds S).
    - intros X V G. exists X. exact (alike_goes S U X V A G).
  Qed.

  (** ** Lemma 6 *)

  Definition who_moves X : list nat := who X :: party (what X).
  Definition apart_moves Y X : Prop :=
    (forall k, In k (who_moves Y) -> ~ In k (who_moves X)) /\
    forall y x, In y (chain (who Y) (num Y) (what Y)) -> In x (chain (who X) (num X) (what X)) -> ~ clash y x.

  Lemma apart_moves_sym Y X : apart_moves Y X -> apart_moves X Y.
  Proof.
    intros [A D]. split; [intros k Ix Iy; exact (A k Iy Ix)|]. intros x y Ix Iy H. apply (D y x Iy Ix).
    now apply clash_sym.
  Qed.

  Lemma chains_apart Y X y x : apart_moves Y X -> In y (chain (who Y) (num Y) (what Y)) ->
    In x (chain (who X) (num X) (what X)) -> apart y x.
  Proof.
    intros [A D] Iy Ix. split; [|now apply D].
    apply in_chain in Iy as (Ey & Oy & _), Ix as (Ex & Ox & _). injection Ey as Ry _. injection Ex as Rx _.
    unfold who_takes. rewrite Oy, Ox, Ry, Rx. exact A.
  Qed.

  Section After.
    Variables (S V : search) (Y X : label).
    Hypothesis S_Y : go S Y V.
    Hypothesis Y_X : apart_moves Y X.
    Hypothesis X_chain : chain (who X) (num X) (what X) = first X ++ rest X.

    Lemma in_first Z : chain (who Z) (num Z) (what Z) = first Z ++ rest Z -> forall z,
      In z (first Z) \/ In z (rest Z) -> In z (chain (who Z) (num Z) (what Z)).
    Proof. intros E z I. rewrite E, in_app_iff. auto. Qed.

    Lemma Y_of z : In z (first Y) \/ In z (rest Y) -> In z (chain (who Y) (num Y) (what Y)).
    Proof. apply in_first, S_Y. Qed.
    Lemma X_of z : In z (first X) \/ In z (rest X) -> In z (chain (who X) (num X) (what X)).
    Proof. apply in_first, X_chain. Qed.

    Lemma never_clash y x : In y (first Y) \/ In y (rest Y) -> In x (first X) \/ In x (rest X) -> ~ clash y x.
    Proof. intros Iy Ix. destruct Y_X as [_ H]. apply H; [now apply Y_of|now apply X_of]. Qed.

    Lemma Y_valid : valid (now S ++ first Y).
    Proof. apply S_Y. Qed.

    Lemma words : (valid (now V ++ first X) <-> valid (now S ++ first X)) /\
      (valid (now S ++ first X) -> valid ((now S ++ first X) ++ first Y) /\
         same_state (after (now V ++ first X)) (after ((now S ++ first X) ++ first Y))).
    Proof.
      rewrite (go_now _ _ _ S_Y). apply words_apart; [|apply Y_valid].
      intros y x Iy Ix. apply (chains_apart Y X); auto using Y_of, X_of.
    Qed.

    Lemma ops_of_X : valid (now S ++ first X) ->
      ops (after (now V ++ first X)) (who X) = ops (after (now S ++ first X)) (who X).
    Proof.
      intros Va. destruct (proj2 words Va) as [_ (_ & _ & O & _)]. rewrite O, !ops_after, filter_app.
      replace (filter (fun x => takes_part x (who X)) (first Y)) with (@nil event); [now rewrite app_nil_r|].
      symmetry. destruct (filter _ (first Y)) as [|y m] eqn:E; [auto|].
      assert (I : In y (filter (fun x => takes_part x (who X)) (first Y))) by (rewrite E; simpl; auto).
      apply in_filter in I as [I T]. exfalso. destruct Y_X as [Ne _]. apply takes_part_iff in T as [_ T].
      assert (Ic : In y (chain (who Y) (num Y) (what Y))) by (apply Y_of; auto).
      apply in_chain in Ic as (_ & Oy & _). rewrite Oy in T. apply (Ne (who X)); [right; exact T|left; reflexivity].
    Qed.

    Lemma core_after : core V X <-> core S X.
    Proof.
      assert (Late : forall x y, In x (first X) \/ In x (rest X) -> clash y x -> (In y (late V) <-> In y (late S))).
      { intros x y Ix C. rewrite (go_late _ _ _ S_Y), in_app_iff. split; [intros [H|H]; [auto|]|auto].
        destruct (never_clash y x); auto. }
      assert (Fo : valid (now S ++ first X) -> (forced_late V X <-> forced_late S X)).
      { intros Va. unfold forced_late. destruct (rest X) as [|x m] eqn:Er in |- *; [tauto|].
        assert (Ix : In x (rest X)) by (rewrite Er; simpl; auto).
        assert (Cx : In x (chain (who X) (num X) (what X))) by (apply X_of; auto).
        apply in_chain in Cx as (Ec & _). injection Ec as Rx _.
        assert (Mu : forall y, must (now V ++ first X) y x = must (now S ++ first X) y x).
        { intros y. apply must_same. rewrite Rx. now apply ops_of_X. }
        split; intros (y & Iy & H); exists y; rewrite Mu in *.
        - split; [|exact H]. destruct H as [H|H]; [|now apply (Late x y); auto].
          rewrite (go_late _ _ _ S_Y) in Iy. apply in_app_iff in Iy as [Iy|Iy]; [auto|exfalso].
          apply must_iff in H as (Ry & _). assert (Cy : In y (chain (who Y) (num Y) (what Y))) by (apply Y_of; auto).
          apply in_chain in Cy as (Ec & _). injection Ec as Ry' _. destruct Y_X as [Ne _].
          apply (Ne (who Y)); left; congruence.
        - split; [|exact H]. rewrite (go_late _ _ _ S_Y), in_app_iff. auto. }
      split; intros [Ch Ne Va Fr La].
      - assert (Va' : valid (now S ++ first X)) by now apply words. split; auto.
        + intros x y Ix Iy C. apply (Fr x y Ix); [|auto]. now apply (Late x y); auto.
        + destruct (sourced X); [auto|]. now apply Fo.
      - split; auto.
        + now apply words.
        + intros x y Ix Iy C. apply (Fr x y Ix); [|auto]. now apply (Late x y); auto.
        + destruct (sourced X); [auto|]. now apply Fo.
    Qed.

    Lemma touched_after y : In y (touched S) -> In y (touched V).
    Proof. destruct (go_taint _ _ _ S_Y) as [(_ & _ & ->)|(_ & _ & ->)]; rewrite ?in_app_iff; auto. Qed.
    Lemma touched_before y : In y (touched V) -> In y (touched S) \/ In y (first Y).
    Proof. destruct (go_taint _ _ _ S_Y) as [(_ & _ & ->)|(_ & _ & ->)]; rewrite ?in_app_iff; tauto. Qed.
    Lemma tainted_after k : In k (party (what X)) -> (In k (tainted V) <-> In k (tainted S)).
    Proof.
      intros I. destruct Y_X as [Ne _]. destruct (go_taint _ _ _ S_Y) as [(_ & -> & _)|(_ & -> & _)]; [|tauto].
      rewrite in_app_iff. split; [|auto]. intros [H|H]; [|auto]. destruct (Ne k); right; auto.
    Qed.

    Lemma hits_after x y : In x (first X) \/ In x (rest X) -> clash y x ->
      (In y (touched V) <-> In y (touched S)) /\ (In y (touched V ++ late V) <-> In y (touched S ++ late S)).
    Proof.
      intros Ix C. assert (T : In y (touched V) <-> In y (touched S)).
      { split; [|apply touched_after]. intros H. destruct (touched_before y H) as [|Iy]; [auto|].
        destruct (never_clash y x); auto. }
      split; [exact T|]. rewrite !in_app_iff, T, (go_late _ _ _ S_Y), in_app_iff. split; [|tauto].
      intros [H|[H|H]]; auto. destruct (never_clash y x); auto.
    Qed.

    Lemma grows_after : grows V X <-> grows S X.
    Proof.
      unfold grows, reached. split; (intros [H|[(k & Ik & Hk)|(x & y & Ix & Iy & C)]]; [auto|right; left|right; right]).
      - exists k. split; [now apply tainted_after|auto].
      - exists x, y. split; [auto|]. split; [|auto]. apply (hits_after x y); auto. now apply in_app_iff.
      - exists k. split; [now apply tainted_after|auto].
      - exists x, y. split; [auto|]. split; [|auto]. apply (hits_after x y); auto. now apply in_app_iff.
    Qed.

    (** e stays e, and was it before. *)
    Lemma finds_after : finds V X <-> finds S X.
    Proof.
      split; intros [Ch Ne Va (a & x & Ia & Ix & C) En]; split; auto.
      - now apply words.
      - exists a, x. split; [|auto]. rewrite (go_sources _ _ _ S_Y), in_app_iff in Ia. destruct Ia as [Ia|Ia]; [|auto].
        destruct (never_clash a x); auto using clash_sym. right. unfold new_source in Ia.
        destruct (sourced Y); [|destruct Ia]. destruct (rest Y) as [|z m]; [destruct Ia|]. destruct Ia as [<-|[]].
        simpl. auto.
      - destruct En as [(k & Ik & Hk)|[(z & y & Iz & Iy & Cz)|(z & y & Iz & Iy & Cz)]]; [left|right; left|right; right].
        + exists k. split; [now apply tainted_after|auto].
        + exists z, y. split; [auto|]. split; [|auto]. apply (hits_after z y); auto.
        + exists z, y. split; [auto|]. split; [|auto]. apply (hits_after z y); auto.
      - now apply words.
      - exists a, x. split; [|auto]. rewrite (go_sources _ _ _ S_Y), in_app_iff. auto.
      - destruct En as [(k & Ik & Hk)|[(z & y & Iz & Iy & Cz)|(z & y & Iz & Iy & Cz)]]; [left|right; left|right; right].
        + exists k. split; [now apply tainted_after|auto].
        + exists z, y. split; [auto|]. split; [|auto]. apply (hits_after z y); auto.
        + exists z, y. split; [auto|]. split; [|auto]. apply (hits_after z y); auto.
    Qed.
  End After.

  (** A move, once it is known that it is there. *)
  Lemma go_exists S X : core S X -> source_may S X -> grows S X \/ ~ grows S X -> exists V, go S X V.
  Proof.
    intros C So [G|G].
    - exists (Search (now S ++ first X) (late S ++ rest X) (new_source X ++ sources S) (party (what X) ++ tainted S)
        (first X ++ touched S)). split; auto.
    - exists (Search (now S ++ first X) (late S ++ rest X) (new_source X ++ sources S) (tainted S) (touched S)).
      split; auto.
  Qed.

  Lemma go_grows S X V : go S X V -> grows S X \/ ~ grows S X.
  Proof. intros G. destruct (go_taint _ _ _ G) as [(H & _)|(H & _)]; auto. Qed.

  (** In both orders they come to alike states. *)
  Lemma square S Y V X U W W' : apart_moves Y X -> go S Y V -> go V X W -> go S X U -> go U Y W' -> alike W W'.
  Proof.
    intros A GY GX GX' GY'. pose proof (go_core _ _ _ GX') as CX. pose proof (apart_moves_sym _ _ A) as A'.
    destruct (proj2 (words S V Y X GY A (core_chain _ _ CX)) (core_valid _ _ CX)) as [Va E].
    pose proof (grows_after S V Y X GY A (core_chain _ _ CX)) as G1.
    pose proof (grows_after S U X Y GX' A' (core_chain _ _ (go_core _ _ _ GY))) as G2.
    split.
    - rewrite (go_now _ _ _ GX), (go_now _ _ _ GY'), (go_now _ _ _ GX'). split; intros _; [exact Va|].
      apply (core_valid _ _ (go_core _ _ _ GX)).
    - rewrite (go_now _ _ _ GX), (go_now _ _ _ GY'), (go_now _ _ _ GX'). exact E.
    - rewrite (go_late _ _ _ GX), (go_late _ _ _ GY), (go_late _ _ _ GY'), (go_late _ _ _ GX').
      intros x. rewrite !in_app_iff. tauto.
    - rewrite (go_sources _ _ _ GX), (go_sources _ _ _ GY), (go_sources _ _ _ GY'), (go_sources _ _ _ GX').
      intros x. rewrite !in_app_iff. tauto.
    - destruct (go_taint _ _ _ GX) as [(H1 & -> & _)|(H1 & -> & _)], (go_taint _ _ _ GY) as [(H2 & -> & _)|(H2 & -> &
      _)],
        (go_taint _ _ _ GY') as [(H3 & -> & _)|(H3 & -> & _)], (go_taint _ _ _ GX') as [(H4 & -> & _)|(H4 & -> & _)];
        try tauto; intros x; rewrite ?in_app_iff; tauto.
    - destruct (go_taint _ _ _ GX) as [(H1 & _ & ->)|(H1 & _ & ->)], (go_taint _ _ _ GY) as [(H2 & _ & ->)|(H2 & _ &
      ->)],
        (go_taint _ _ _ GY') as [(H3 & _ & ->)|(H3 & _ & ->)], (go_taint _ _ _ GX') as [(H4 & _ & ->)|(H4 & _ & ->)];
        try tauto; intros x; rewrite ?in_app_iff; tauto.
  Qed.

  (** Lemma 6: the second of two moves can come first, sources included. *)
  Theorem independent_to_front S Y V X W : apart_moves Y X -> go S Y V -> go V X W ->
    exists U W', go S X U /\ go U Y W' /\ alike W W'.
  Proof.
    intros A GY GX. pose proof (go_core _ _ _ GX) as CX. pose proof (core_chain _ _ CX) as ChX.
    pose proof (apart_moves_sym _ _ A) as A'. pose proof (go_core _ _ _ GY) as CY.
    pose proof (core_chain _ _ CY) as ChY.
    assert (CX' : core S X) by now apply (core_after S V Y X GY A ChX).
    assert (New : forall Z z, In z (new_source Z) -> sourced Z).
    { intros Z z. unfold new_source. destruct (sourced Z); [auto|intros []]. }
    assert (One : forall Z z z', In z (new_source Z) -> In z' (new_source Z) -> z = z').
    { intros Z z z'. unfold new_source. destruct (sourced Z); [|intros []]. destruct (rest Z) as [|b m]; [intros []|].
      simpl. intros [<-|[]] [<-|[]]. auto. }
    destruct (go_exists S X CX') as (U & GU).
    { intros Sx. destruct (go_source _ _ _ GX Sx) as [H|(a & z & Ia & Iz & Al)]; rewrite (go_sources _ _ _ GY) in *.
      - apply app_eq_nil in H as [_ H]. auto.
      - apply in_app_iff in Ia as [Ia|Ia]; [|right; eauto].
        destruct (go_source _ _ _ GY (New Y a Ia)) as [H|(b & z' & Ib & Iz' & Al')]; [auto|]. right.
        rewrite (One Y z' a Iz' Ia) in Al'. exists b, z. split; [auto|]. split; [auto|]. now apply alike_trans with a. }
    { destruct (go_grows _ _ _ GX) as [H|H]; [left|right; intros H'; apply H];
        now apply (grows_after S V Y X GY A ChX). }
    destruct (go_exists U Y) as (W' & GW).
    - now apply (core_after S U X Y GU A' ChY).
    - intros Sy. rewrite (go_sources _ _ _ GU). destruct (go_source _ _ _ GY Sy) as [H|(b & z' & Ib & Iz' & Al')].
      + destruct (is_true_dec (sourced X)) as [Sx|Sx]; [right|left].
        * destruct (go_source _ _ _ GX Sx) as [H'|(a & z & Ia & Iz & Al)]; rewrite (go_sources _ _ _ GY) in *.
          -- exfalso. apply app_eq_nil in H' as [H' _]. unfold new_source in H'. unfold is_true in Sy.
             pose proof (core_late _ _ CY) as La. rewrite Sy in *. destruct (rest Y); [tauto|discriminate H'].
          -- rewrite H, app_nil_r in Ia. exists z, a. rewrite in_app_iff. split; [auto|]. split; [auto|].
             now apply Network.alike_sym.
        * rewrite H, app_nil_r. unfold new_source. destruct (sourced X); [destruct Sx; reflexivity|auto].
      + right. exists b, z'. rewrite in_app_iff. auto.
    - destruct (go_grows _ _ _ GY) as [H|H]; [left|right; intros H'; apply H];
        now apply (grows_after S U X Y GU A' ChY).
    - exists U, W'. split; [auto|]. split; [auto|]. now apply (square S Y V X U).
  Qed.

  (** And the first one can come second, when it delays no source. *)
  Theorem independent_along S Y V X U : apart_moves Y X -> sourced X = false -> go S Y V -> go S X U ->
    exists W W', go V X W /\ go U Y W' /\ alike W W'.
  Proof.
    intros A Sx GY GX. pose proof (core_chain _ _ (go_core _ _ _ GX)) as ChX.
    pose proof (apart_moves_sym _ _ A) as A'. pose proof (core_chain _ _ (go_core _ _ _ GY)) as ChY.
    destruct (go_exists V X) as (W & GW).
    { apply (core_after S V Y X GY A ChX), GX. }
    { intros H. rewrite Sx in H. discriminate H. }
    { destruct (go_grows _ _ _ GX) as [H|H]; [left|right; intros H'; apply H];
        now apply (grows_after S V Y X GY A ChX). }
    destruct (go_exists U Y) as (W' & GW').
    { apply (core_after S U X Y GX A' ChY), GY. }
    { intros Sy. rewrite (go_sources _ _ _ GX). replace (new_source X) with (@nil event).
      - exact (go_source _ _ _ GY Sy).
      - unfold new_source. now rewrite Sx. }
    { destruct (go_grows _ _ _ GY) as [H|H]; [left|right; intros H'; apply H];
        now apply (grows_after S U X Y GX A' ChY). }
    exists W, W'. split; [auto|]. split; [auto|]. now apply (square S Y V X U).
  Qed.

  (** ** Section 6 for the attack search *)

  (** Lemma 5, which is asked here: as long as no member of C has moved, no rank takes part both in what others do and
      in what a member may do, and the two do not conflict. *)
  Definition set_apart (C : nat -> bool) S : Prop :=
    forall U Y X, in_front go (fun Z => C (who Z)) S U Y X ->
    (exists V, go U Y V) \/ finds U Y ->
    (exists W, go U X W) \/ finds U X \/ (exists V W, go U Y V /\ go V X W) \/ (exists V, go U Y V /\ finds V X) ->
    apart_moves Y X.

  Theorem attack_persistent (C : nat -> bool) S : set_apart C S ->
    persistent go finds alike (fun X => C (who X)) (fun X => negb (sourced X)) S.
  Proof.
    intros Ap. split.
    - intros U Y V X W H GY GX. apply (independent_to_front U Y V X W); auto. apply (Ap U); eauto 8.
    - intros U Y V X H GY FX. assert (A : apart_moves Y X) by (apply (Ap U); eauto 8).
      now apply (finds_after U V Y X GY A (finds_chain _ _ FX)).
    - intros U Y V X U' H Ord GY GX. apply (independent_along U Y V X U'); auto.
      + apply (Ap U); eauto 8.
      + apply negb_iff in Ord. destruct (sourced X); [destruct Ord; reflexivity|auto].
    - intros U Y X U' H Ord FY GX. assert (A : apart_moves Y X) by (apply (Ap U); eauto 8).
      now apply (finds_after U U' X Y GX (apart_moves_sym _ _ A) (finds_chain _ _ FY)).
  Qed.

  (** Lemma 5: such sets are found by what ranks may do.  [may]: local states in which ranks outside C may come to be
      while no member moves, by the commands there alone; a barrier takes the seed, which does not stand before one. *)
  Section Futures.
    Variables (C : nat -> bool) (S : search) (may : nat -> Loc -> Prop) (seed : nat).
    Notation at_S p := (loc (after (now S)) p).
    Hypothesis seed_first : C seed /\ (forall o value, next seed (at_S seed) o value <> None -> party o = [seed]) /\
      forall o, (exists k, party o = [k]) \/ In seed (party o).
    Hypothesis may_now : forall q, C q = false -> may q (at_S q).
    Hypothesis may_on : forall q (here : Loc) o value there, may q here -> next q here o value = Some there -> may q
      there.
    Hypothesis no_conflict : forall p o value q here o' value' n n' x y, C p -> next p (at_S p) o value <> None ->
      C q = false -> may q here -> next q here o' value' <> None -> In x (chain p n o) -> In y (chain q n' o') -> ~
        clash y x.

    Lemma issue_at U Y : chain (who Y) (num Y) (what Y) = first Y ++ rest Y -> first Y <> [] -> valid (now U ++ first
      Y) ->
      In (who Y) (party (what Y)) /\ exists value,
        (forall k, In k (party (what Y)) -> next k (loc (after (now U)) k) (what Y) value <> None) /\
        forall k, loc (after (now U ++ first Y)) k = if existsb (Nat.eqb k) (party (what Y))
          then match next k (loc (after (now U)) k) (what Y) value with Some l => l | None => loc (after (now U)) k end
          else loc (after (now U)) k.
    Proof.
      intros Ch Ne Va. destruct (chain_first _ _ _ _ _ Ch Ne) as (m & E). rewrite E in Va.
      destruct (allowed_at (now U) _ m Va) as [_ A]. simpl in A. destruct A as (Pa & Nu & Nx & _). simpl in Pa, Nx.
      split; [exact Pa|]. exists (seen (after (now U)) (Event (who Y) (num Y) 0 (what Y))). split; [exact Nx|].
      intros k. rewrite E. replace (now U ++ Event (who Y) (num Y) 0 (what Y) :: m) with
        ((now U ++ [Event (who Y) (num Y) 0 (what Y)]) ++ m) by (rewrite <- app_assoc; reflexivity).
      rewrite Robust.loc_steps; [rewrite after_snoc; reflexivity|]. intros x I H.
      pose proof (chain_nodup _ _ _ _ _ Ch) as N. rewrite E in N. inversion_clear N as [|? ? Nx' _]. apply Nx'.
      assert (Ic : In x (chain (who Y) (num Y) (what Y))) by (rewrite Ch, E, !in_app_iff; simpl; auto).
      apply in_chain in Ic as (Ec & Eo & _). rewrite in_app_iff. left. unfold is_issue, is_true in H.
      apply Nat.eqb_eq in H. destruct x as [a b c d]. simpl in *. injection Ec as -> ->. now subst.
    Qed.

    Lemma solo_moves U Y : at_S seed = loc (after (now U)) seed ->
      chain (who Y) (num Y) (what Y) = first Y ++ rest Y -> first Y <> [] -> valid (now U ++ first Y) ->
      party (what Y) = [who Y].
    Proof.
      intros E Ch Ne Va. destruct (issue_at U Y Ch Ne Va) as (Pa & value & Nx & _).
      destruct seed_first as (_ & Alone & Kinds). assert (One : exists k, party (what Y) = [k]).
      { destruct (Kinds (what Y)) as [H|H]; [auto|]. exists seed. apply (Alone _ value). rewrite E. now apply Nx. }
      destruct One as (k & Ek). rewrite Ek in *. destruct Pa as [<-|[]]. reflexivity.
    Qed.

    Lemma futures_run (ys : list label) U : run go S ys U -> (forall Z, In Z ys -> C (who Z) = false) ->
      (forall p, C p -> loc (after (now U)) p = at_S p) /\ forall q, C q = false -> may q (loc (after (now U)) q).
    Proof.
      revert U. induction ys as [|Y ys IH] using rev_ind; intros U R Non.
      - inversion R. subst. split; auto.
      - apply run_app in R as (V & R & R'). inversion R' as [|? ? U' ? ? G R'']. inversion R''. subst. clear R' R''.
        destruct (IH V R) as [I1 I2]; [intros Z I; apply Non; rewrite in_app_iff; auto|].
        assert (CY : C (who Y) = false) by (apply Non; rewrite in_app_iff; simpl; auto).
        pose proof (go_core _ _ _ G) as [Ch Ne Va _ _].
        assert (Es : at_S seed = loc (after (now V)) seed) by (symmetry; apply I1, seed_first).
        pose proof (solo_moves V Y Es Ch Ne Va) as Pa. destruct (issue_at V Y Ch Ne Va) as (_ & value & Nx & Lo).
        rewrite (go_now _ _ _ G). rewrite Pa in *. split.
        + intros p Cp. rewrite Lo. simpl. destruct (p =? who Y) eqn:E; simpl; [|now apply I1].
          apply Nat.eqb_eq in E. subst p. unfold is_true in Cp. congruence.
        + intros q Cq. rewrite Lo. simpl. destruct (q =? who Y) eqn:E; simpl; [|now apply I2].
          apply Nat.eqb_eq in E. subst q. specialize (Nx (who Y) (or_introl eq_refl)).
          destruct (next (who Y) (loc (after (now V)) (who Y)) (what Y) value) as [l|] eqn:En; [|tauto].
          exact (may_on _ _ _ _ _ (I2 (who Y) Cq) En).
    Qed.

    Theorem futures_apart : set_apart C S.
    Proof.
      intros U Y X (ys & R & Non & CY & CX) HY HX. destruct (futures_run ys U R Non) as [IU1 IU2].
      assert (Es : at_S seed = loc (after (now U)) seed) by (symmetry; apply IU1, seed_first).
      assert (IY : chain (who Y) (num Y) (what Y) = first Y ++ rest Y /\ first Y <> [] /\ valid (now U ++ first Y)).
      { destruct HY as [(V & G)|F]; [pose proof (go_core _ _ _ G) as [Ch Ne Va _ _]|pose proof F as [Ch Ne Va _ _]];
        auto. }
      destruct IY as (ChY & NeY & VaY). pose proof (solo_moves U Y Es ChY NeY VaY) as PY.
      destruct (issue_at U Y ChY NeY VaY) as (IpY & vy & NxY & _).
      (* X may come at U, or behind Y *)
      assert (IX : exists V, (forall p, C p -> loc (after (now V)) p = at_S p) /\
        chain (who X) (num X) (what X) = first X ++ rest X /\ first X <> [] /\ valid (now V ++ first X)).
      { assert (After_ : forall V, go U Y V -> forall p, C p -> loc (after (now V)) p = at_S p).
        { intros V G. apply (futures_run (ys ++ [Y]) V).
          - apply run_app. exists U. split; [auto|]. apply run_step with V; [auto|constructor].
          - intros Z I. apply in_app_iff in I as [I|[<-|[]]]; auto. }
        destruct HX as [(W & G)|[F|[(V & W & GY & G)|(V & GY & F)]]].
        - exists U. pose proof (go_core _ _ _ G) as [Ch Ne Va _ _]. auto.
        - exists U. pose proof F as [Ch Ne Va _ _]. auto.
        - exists V. pose proof (go_core _ _ _ G) as [Ch Ne Va _ _]. split; [now apply After_|auto].
        - exists V. pose proof F as [Ch Ne Va _ _]. split; [now apply After_|auto]. }
      destruct IX as (V & IV & ChX & NeX & VaX).
      assert (Ev : at_S seed = loc (after (now V)) seed) by (symmetry; apply IV, seed_first).
      pose proof (solo_moves V X Ev ChX NeX VaX) as PX. destruct (issue_at V X ChX NeX VaX) as (IpX & vx & NxX & _).
      assert (Ne : who Y <> who X) by (intros E; rewrite E in CY; unfold is_true in CX; congruence).
      split.
      - intros k Iy Ix. unfold who_moves in *. rewrite PY in Iy. rewrite PX in Ix. simpl in Iy, Ix.
        apply Ne. destruct Iy as [<-|[<-|[]]], Ix as [<-|[<-|[]]]; reflexivity.
      - intros y x Iy Ix. apply (no_conflict (who X) (what X) vx (who Y) (loc (after (now U)) (who Y)) (what Y) vy
          (num X) (num Y) x y); auto.
        rewrite <- IV by auto. now apply NxX.
    Qed.
  End Futures.

  (** The rule of section 6, with sets of ranks for which Lemma 5 holds. *)
  Definition attack_rule (stored : list search) (found_stored : Prop) (i : nat) S : Prop :=
    expanded go finds stored found_stored S (fun _ => true) \/
    exists C, set_apart C S /\ expanded go finds stored found_stored S (fun X => C (who X)) /\
      exists X V, C (who X) /\ negb (sourced X) /\ go S X V /\ stored_later go finds stored i V.

  Lemma reachable_near S : reachable S ->
    clean S /\ forall n, near go finds n S -> exists k, near go finds k (Search [] [] [] [] []).
  Proof.
    induction 1 as [|S V Re [Cl IH] M].
    - split; [intros _; auto|eauto].
    - split; [exact (clean_move S V Cl M)|]. intros n Ne. destruct (move_go S V M) as (X & G).
      apply (IH (Datatypes.S n)). now apply near_move with X V.
  Qed.

  (** A search that stores its first state, and follows the rule at all that it stores, finds what there is. *)
  Theorem reduced_attack_complete (stored : list search) (found_stored : Prop) :
    (forall i S, nth_error stored i = Some S -> attack_rule stored found_stored i S) ->
    In (Search [] [] [] [] []) stored ->
    forall t, computation t -> violating t -> found_stored.
  Proof.
    intros Rules I t Ct Vt. destruct (attack_complete t Ct Vt) as (S & Re & Fo).
    apply found_finds in Fo as (X & F). destruct (reachable_near S Re) as [_ H].
    destruct (H 1) as (k & Ne); [now apply near_found with X|].
    apply (persistent_sets go finds stored found_stored) with (s := Search [] [] [] [] []) (n := k); auto.
    intros i S' Ii. destruct (Rules i S' Ii) as [E|(C & Ap & E & Y & V & CY & Oy & G & L)]; [left; exact E|right].
    exists alike, (fun Z => C (who Z)), (fun Z => negb (sourced Z)). split; [apply alike_simulates|].
    split; [now apply attack_persistent|]. split; [exact E|]. exists Y, V. auto.
  Qed.

  (** ** Merging for the attack search *)

  (** The rank stands before this command alone, which accesses nothing. *)
  Record forced S X V : Prop := {
    forced_go : go S X V;
    forced_alone : party (what X) = [who X];
    forced_quiet : at_issue (what X) = None /\ steps (what X) = [];
    forced_only : forall o (value : Val), next (who X) (loc (after (now S)) (who X)) o value <> None -> o = what X }.

  Lemma quiet_chain X : at_issue (what X) = None -> steps (what X) = [] -> forall x,
    In x (chain (who X) (num X) (what X)) -> forall y, ~ clash x y /\ ~ clash y x.
  Proof.
    intros Qi Qs x I y. apply in_chain in I as (_ & Ox & _).
    assert (E : access_of x = None) by (unfold access_of; rewrite Ox, Qi, Qs; destruct (place x) as [|[|p]];
      reflexivity).
    assert (H : ~ clash x y) by (unfold clash; destruct (event_eq_dec x y); [discriminate|]; rewrite E; discriminate).
    split; [exact H|]. intros C. apply H. now apply clash_sym.
  Qed.

  (** Another command has another rank; what a rank stands before is the forced one. *)
  Lemma forced_or_apart S X V Y : forced S X V -> chain (who Y) (num Y) (what Y) = first Y ++ rest Y -> first Y <> [] ->
    valid (now S ++ first Y) -> (what Y = what X /\ who Y = who X /\ num Y = num X) \/ apart_moves Y X.
  Proof.
    intros [G Al [Qi Qs] On] Ch Ne Va. destruct (chain_first _ _ _ _ _ Ch Ne) as (m & E). rewrite E in Va.
    destruct (allowed_at (now S) _ m Va) as [_ A]. simpl in A. destruct A as (Pa & Nu & Nx & _). simpl in Pa, Nu, Nx.
    destruct (in_dec Nat.eq_dec (who X) (party (what Y))) as [I|I].
    - left. assert (Eo : what Y = what X) by (apply (On (what Y) (seen (after (now S)) (Event (who Y) (num Y) 0 (what
      Y)))); auto).
      rewrite Eo, Al in Pa. destruct Pa as [Pa|[]]. split; [exact Eo|]. split; [congruence|].
      destruct (chain_first _ _ _ _ _ (core_chain _ _ (go_core _ _ _ G)) (core_some _ _ (go_core _ _ _ G))) as (m' &
        E').
      pose proof (core_valid _ _ (go_core _ _ _ G)) as Vx. rewrite E' in Vx.
      destruct (allowed_at (now S) _ m' Vx) as [_ A]. simpl in A. destruct A as (_ & Nu' & _). simpl in Nu'. congruence.
    - right. split.
      + intros k Iy Ix. assert (Ek : k = who X).
        { destruct Ix as [Ix|Ix]; [auto|]. rewrite Al in Ix. destruct Ix as [Ix|[]]; auto. }
        subst k. destruct Iy as [Iy|Iy]; [|auto]. apply I. now rewrite <- Iy.
      + intros y x _ Ix. now apply (quiet_chain X Qi Qs x Ix y).
  Qed.

  Lemma only_event X : steps (what X) = [] -> chain (who X) (num X) (what X) = first X ++ rest X -> first X <> [] ->
    first X = [Event (who X) (num X) 0 (what X)] /\ rest X = [].
  Proof.
    unfold chain. intros -> E Ne. simpl in E. destruct (first X) as [|x m]; [tauto|]. simpl in E. injection E as <- E.
    symmetry in E. apply app_eq_nil in E as [-> ->]. auto.
  Qed.

  (** The state decides where a move leads. *)
  Lemma go_same S X V V' : go S X V -> go S X V' -> alike V V'.
  Proof.
    intros G G'. split; rewrite ?(go_now _ _ _ G), ?(go_now _ _ _ G'), ?(go_late _ _ _ G), ?(go_late _ _ _ G'),
      ?(go_sources _ _ _ G), ?(go_sources _ _ _ G'); auto using same_state_refl; try reflexivity; try (intros x;
        reflexivity);
      destruct (go_taint _ _ _ G) as [(H & E1 & E2)|(H & E1 & E2)], (go_taint _ _ _ G') as [(H' & E1' & E2')|(H' & E1'
        & E2')];
      try tauto; rewrite ?E1, ?E2, ?E1', ?E2'; intros x; reflexivity.
  Qed.

  Lemma alike_trans S U V : alike S U -> alike U V -> alike S V.
  Proof.
    intros [V1 N1 L1 S1 T1 t1] [V2 N2 L2 S2 T2 t2]. split.
    - now rewrite V1.
    - now apply same_state_trans with (after (now U)).
    - intros x. now rewrite (L1 x).
    - intros x. now rewrite (S1 x).
    - intros x. now rewrite (T1 x).
    - intros x. now rewrite (t1 x).
  Qed.

  Lemma forced_alike S X V U : forced S X V -> alike S U -> exists V', forced U X V' /\ alike V V'.
  Proof.
    intros [G Al Q On] A. destruct (alike_goes S U X V A G) as (V' & G' & A'). exists V'. split; [|auto]. split; auto.
    intros o v. pose proof (alike_now _ _ A) as (El & _). rewrite <- El. apply On.
  Qed.

  Lemma forced_moves S X V Y U : forced S X V -> go S Y U ->
    alike U V \/ exists W W', go V Y W /\ forced U X W' /\ alike W' W.
  Proof.
    intros F GY. pose proof F as [G Al [Qi Qs] On]. pose proof (go_core _ _ _ GY) as CY.
    pose proof (go_core _ _ _ G) as CX.
    destruct (only_event X Qs (core_chain _ _ CX) (core_some _ _ CX)) as [Fx Rx].
    assert (Sx : sourced X = false).
    { pose proof (core_late _ _ CX) as H. rewrite Rx in H. destruct (sourced X); tauto. }
    destruct (forced_or_apart S X V Y F (core_chain _ _ CY) (core_some _ _ CY) (core_valid _ _ CY)) as [(Eo & Er &
      En)|A].
    - left. assert (E : Y = X).
      { assert (Qy : steps (what Y) = []) by now rewrite Eo.
        destruct (only_event Y Qy (core_chain _ _ CY) (core_some _ _ CY)) as [Fy Ry].
        assert (Sy : sourced Y = false).
        { pose proof (core_late _ _ CY) as H. rewrite Ry in H. destruct (sourced Y); tauto. }
        destruct X, Y. simpl in *. congruence. }
      subst Y. now apply (go_same S X).
    - right. destruct (independent_along S Y U X V A Sx GY G) as (W' & W & GX & GY' & Al').
      exists W, W'. split; [exact GY'|]. split; [|exact Al']. split; auto.
      intros o v. replace (loc (after (now U)) (who X)) with (loc (after (now S)) (who X)); [apply On|].
      rewrite (go_now _ _ _ GY). destruct (chain_first _ _ _ _ _ (core_chain _ _ CY) (core_some _ _ CY)) as (m & E).
      assert (No : forall x, In x (first Y) -> takes_part x (who X) = false).
      { intros x I. destruct (takes_part x (who X)) eqn:T; [|auto]. apply takes_part_iff in T as [_ T].
        assert (Ic : In x (chain (who Y) (num Y) (what Y))) by (rewrite (core_chain _ _ CY), in_app_iff; auto).
        apply in_chain in Ic as (_ & Oy & _). rewrite Oy in T. destruct A as [A _].
        destruct (A (who X)); [right; exact T|left; reflexivity]. }
      clear E m. induction (first Y) as [|x m IH] using rev_ind; [now rewrite app_nil_r|].
      rewrite app_assoc, after_snoc. simpl. rewrite No by (rewrite in_app_iff; simpl; auto). apply IH.
      intros x' I. apply No. rewrite in_app_iff. auto.
  Qed.

  Lemma forced_finds S X V Y : forced S X V -> finds S Y -> finds V Y.
  Proof.
    intros F FY. pose proof F as [G Al [Qi Qs] On].
    destruct (forced_or_apart S X V Y F (finds_chain _ _ FY) (finds_some _ _ FY) (finds_valid _ _ FY)) as [(Eo & Er &
      En)|A].
    - exfalso. destruct (finds_hit _ _ FY) as (a & x & _ & Ix & C).
      assert (Ic : In x (chain (who Y) (num Y) (what Y))) by (rewrite (finds_chain _ _ FY), in_app_iff; auto).
      rewrite Eo, Er, En in Ic. exact (proj1 (quiet_chain X Qi Qs x Ic a) C).
    - apply (finds_after S V X Y G (apart_moves_sym _ _ A) (finds_chain _ _ FY)). exact FY.
  Qed.

  (** Where each move is followed by forced commands, as many as one likes, Found is reached just as well. *)
  Theorem merged_attack_decides (macro : search -> label -> search -> Prop) S0 :
    (forall S X V, go S X V -> exists U, macro S X U /\ forced_run forced V U) ->
    (forall S X U, macro S X U -> exists V, go S X V /\ forced_run forced V U) ->
    forced_run forced (Search [] [] [] [] []) S0 ->
    ((exists t, computation t /\ violating t) <-> exists n, near macro finds n S0).
  Proof.
    intros Of Is R0. split.
    - intros (t & Ct & Vt). destruct (attack_complete t Ct Vt) as (S & Re & Fo).
      apply found_finds in Fo as (X & F). destruct (reachable_near S Re) as [_ H].
      destruct (H 1) as (k & Ne); [now apply near_found with X|]. exists k.
      apply (merging_keeps go finds alike forced) with (s := Search [] [] [] [] []); auto.
      + apply alike_simulates.
      + apply alike_refl.
      + apply alike_sym.
      + apply alike_trans.
      + apply forced_alike.
      + apply forced_moves.
      + apply forced_finds.
      + exists S0. split; [exact R0|apply alike_refl].
    - assert (S0_ok : reachable S0 /\ clean S0).
      { assert (Start : reachable (Search [] [] [] [] []) /\ clean (Search [] [] [] [] [])).
        { split; [constructor|]. intros _. auto. }
        revert Start. induction R0 as [S|S X V U F _ IH]; intros [Re Cl]; [auto|]. apply IH.
        pose proof (go_move S V X Cl (forced_go _ _ _ F)) as M. split; [now apply reachable_move with S|].
        exact (clean_move S V Cl M). }
      intros (n & Ne). assert (G : exists k, near go finds k S0).
      { apply (merging_adds_nothing go finds forced) with (macro := macro) (n := n); auto. apply forced_go. }
      destruct G as (k & G). clear Ne. revert S0_ok. clear R0. induction G as [k S X F|k S X V G _ IH]; intros [Re Cl].
      + destruct (attack_sound S Re) as (t & H); [apply found_finds; eauto|eauto].
      + apply IH. pose proof (go_move S V X Cl G) as M. split; [now apply reachable_move with S|].
        exact (clean_move S V Cl M).
  Qed.

  (** ** Liveness for the attack search: what may be forgotten of T and t *)

  Section Liveness.
    (* "May come": the commands that may be issued after a word, and after those that follow it. *)
    Variable may_come : list event -> label -> Prop.
    Definition comes l X : Prop :=
      chain (who X) (num X) (what X) = first X ++ rest X /\ first X <> [] /\ valid (l ++ first X).
    Hypothesis may_come_now : forall l X, comes l X -> may_come l X.
    Hypothesis may_come_later : forall l X Z, comes l X -> may_come (l ++ first X) Z -> may_come l Z.

    Definition silent X : Prop := forall x, In x (chain (who X) (num X) (what X)) -> access_of x = None.

    (** U is S, but T may lack ranks of which neither an access nor a barrier may come, and t accesses with which
        nothing that may come conflicts: L4 and L5. *)
    Record forgets U S : Prop := {
      forget_same : now U = now S /\ late U = late S /\ sources U = sources S;
      forget_less : incl (tainted U) (tainted S) /\ incl (touched U) (touched S);
      forget_ranks : forall k X, In k (tainted S) -> ~ In k (tainted U) -> may_come (now S) X ->
        In k (party (what X)) -> party (what X) = [k] /\ silent X;
      forget_accesses : forall y X x, In y (touched S) -> ~ In y (touched U) -> may_come (now S) X ->
        In x (chain (who X) (num X) (what X)) -> ~ clash y x }.

    Lemma silent_clash X x y : silent X -> In x (chain (who X) (num X) (what X)) -> ~ clash y x /\ ~ clash x y.
    Proof.
      intros Si I. apply Si in I. assert (H : ~ clash x y).
      { unfold clash. destruct (event_eq_dec x y); [discriminate|]. rewrite I. discriminate. }
      split; [|exact H]. intros C. now apply H, clash_sym.
    Qed.

    Lemma go_comes S X V : go S X V -> comes (now S) X.
    Proof. intros G. split; [|split]; apply (go_core _ _ _ G). Qed.

    (** What enters S enters U, but for commands that make no access. *)
    Lemma enters_both U S X z y : forgets U S -> may_come (now S) X -> In z (chain (who X) (num X) (what X)) ->
      In y (touched S) -> clash y z -> In y (touched U).
    Proof.
      intros F M Iz Iy C. destruct (in_dec event_eq_dec y (touched U)) as [I|I]; [auto|].
      destruct (forget_accesses _ _ F y X z Iy I M Iz C).
    Qed.

    Lemma grows_dec S X : grows S X \/ ~ grows S X.
    Proof.
      unfold grows. destruct (is_true_dec (sourced X)) as [H|H]; [auto|].
      destruct (reached_dec S (what X) (first X ++ rest X)) as [R|R]; [auto|]. right. intros [G|G]; auto.
    Qed.

    Lemma go_determined S X V V' : go S X V -> go S X V' -> V = V'.
    Proof.
      intros [_ _ N L Sr Ta] [_ _ N' L' Sr' Ta']. destruct V as [w d Ss T t], V' as [w' d' Ss' T' t']. simpl in *.
      subst.
      destruct Ta as [(G & -> & ->)|(G & -> & ->)], Ta' as [(G' & -> & ->)|(G' & -> & ->)]; auto; tauto.
    Qed.

    Lemma forgets_step U S X : forgets U S -> core S X -> source_may S X ->
      exists V W, go S X V /\ go U X W /\ forgets W V.
    Proof.
      intros F C So. pose proof F as [(En & El & Es) [LT Lt] FR FA].
      assert (Cm : comes (now S) X) by (split; [|split]; apply C).
      pose proof (may_come_now _ _ Cm) as M.
      assert (Later : forall Z, may_come (now S ++ first X) Z -> may_come (now S) Z) by (intros Z;
        now apply may_come_later).
      assert (CU : core U X).
      { destruct C as [Ch Ne Va Fr La]. split; rewrite ?En; auto.
        - intros x y. rewrite El. apply Fr.
        - destruct (sourced X); [exact La|]. unfold forced_late in *. rewrite En, El. exact La. }
      assert (SU : source_may U X) by (unfold source_may; rewrite Es; exact So).
      destruct (go_exists S X C So (grows_dec S X)) as (V & GV), (go_exists U X CU SU (grows_dec U X)) as (W & GW).
      exists V, W. split; [auto|]. split; [auto|].
      assert (Same : now W = now V /\ late W = late V /\ sources W = sources V).
      { rewrite (go_now _ _ _ GV), (go_now _ _ _ GW), (go_late _ _ _ GV), (go_late _ _ _ GW), (go_sources _ _ _ GV),
          (go_sources _ _ _ GW). rewrite En, El, Es. auto. }
      assert (Up : grows U X -> grows S X).
      { intros [H|[(k & Ik & Hk)|(x & y & Ix & Iy & Cl)]]; [left; exact H|right; left|right; right].
        - exists k. auto.
        - exists x, y. split; [auto|]. split; [|auto]. rewrite El in Iy. rewrite in_app_iff in *. intuition. }
      (* a command that is reached in S alone makes no access *)
      assert (Alone : grows S X -> ~ grows U X -> exists k, In k (tainted S) /\ party (what X) = [k] /\ silent X).
      { intros G NG. destruct G as [H|[(k & Ik & Hk)|(x & y & Ix & Iy & Cl)]]; [destruct NG; left; exact H| |].
        - exists k. split; [auto|]. apply (FR k X); auto. intros I. apply NG. right. left. eauto.
        - exfalso. apply NG. right. right. exists x, y. split; [auto|]. split; [|auto]. rewrite El.
          rewrite in_app_iff in *.
          destruct Iy as [Iy|Iy]; [left|auto]. apply (enters_both U S X x y F); auto.
          rewrite (core_chain _ _ C), in_app_iff. exact Ix. }
      destruct (go_taint _ _ _ GV) as [(G & TV & tV)|(G & TV & tV)], (go_taint _ _ _ GW) as [(H & TW & tW)|(H & TW &
        tW)].
      - split; auto; rewrite ?TV, ?TW, ?tV, ?tW, ?(go_now _ _ _ GV).
        + split; intros x; rewrite !in_app_iff; intuition.
        + intros k Z Ik Nk MZ Pk. rewrite in_app_iff in Ik, Nk. apply (FR k Z); auto; tauto.
        + intros y Z x Iy Ny MZ Ix. rewrite in_app_iff in Iy, Ny. apply (FA y Z x); auto; tauto.
      - destruct (Alone G H) as (k0 & Ik0 & P0 & Si). split; auto; rewrite ?TV, ?TW, ?tV, ?tW, ?(go_now _ _ _ GV).
        + split; intros x I; rewrite in_app_iff; auto.
        + intros k Z Ik Nk MZ Pk. apply (FR k Z); auto. apply in_app_iff in Ik as [Ik|Ik]; [|auto].
          rewrite P0 in Ik. destruct Ik as [<-|[]]. auto.
        + intros y Z x Iy Ny MZ Ix. apply in_app_iff in Iy as [Iy|Iy]; [|apply (FA y Z x); auto].
          apply (silent_clash X y x Si). rewrite (core_chain _ _ C), in_app_iff. auto.
      - destruct (G (Up H)).
      - split; auto; rewrite ?TV, ?TW, ?tV, ?tW, ?(go_now _ _ _ GV).
        + split; auto.
        + intros k Z Ik Nk MZ Pk. apply (FR k Z); auto.
        + intros y Z x Iy Ny MZ Ix. apply (FA y Z x); auto.
    Qed.

    Lemma forgets_finds U S X : forgets U S -> (finds S X <-> finds U X).
    Proof.
      intros F. pose proof F as [(En & El & Es) [LT Lt] FR FA]. split; intros [Ch Ne Va (a & x & Ia & Ix & C) En'].
      - assert (M : may_come (now S) X) by (apply may_come_now; split; auto).
        assert (Ic : forall z, In z (first X) \/ In z (rest X) -> In z (chain (who X) (num X) (what X))).
        { intros z I. now rewrite Ch, in_app_iff. }
        split; rewrite ?En; auto; [exists a, x; rewrite Es; auto|].
        destruct En' as [(k & Ik & Hk)|[(z & y & Iz & Iy & Cz)|(z & y & Iz & Iy & Cz)]]; [left|right; left|right;
          right].
        + exists k. split; [|auto]. destruct (in_dec Nat.eq_dec k (tainted U)) as [I|I]; [auto|].
          destruct (FR k X Ik I M Hk) as [_ Si]. destruct (silent_clash X x a Si (Ic x (or_introl Ix))) as [_ H].
          destruct (H C).
        + exists z, y. split; [auto|]. split; [|auto]. apply (enters_both U S X z y F); auto.
        + exists z, y. split; [auto|]. split; [|auto]. rewrite El. rewrite in_app_iff in *.
          destruct Iy as [Iy|Iy]; [left; apply (enters_both U S X z y F); auto|auto].
      - rewrite En in Va. split; auto; [exists a, x; rewrite Es in Ia; auto|].
        destruct En' as [(k & Ik & Hk)|[(z & y & Iz & Iy & Cz)|(z & y & Iz & Iy & Cz)]]; [left|right; left|right;
          right].
        + exists k. auto.
        + exists z, y. auto.
        + exists z, y. split; [auto|]. split; [|auto]. rewrite El in Iy. rewrite in_app_iff in *. intuition.
    Qed.

    (** Lemma 2 for L4 and, of L5, what happened now: distances are kept. *)
    Theorem forgetting_keeps U S n : forgets U S -> (near go finds n S <-> near go finds n U).
    Proof.
      intros F. split.
      - apply (simulation_near go finds (fun S U => forgets U S)); [|exact F]. clear S U F. intros S U F. split.
        + intros X H. exists X. now apply (forgets_finds U S).
        + intros X V G. destruct (forgets_step U S X F (go_core _ _ _ G) (go_source _ _ _ G)) as (V' & W & GV & GW &
          F').
          exists X, W. split; [auto|]. now rewrite (go_determined S X V V' G GV).
      - apply (simulation_near go finds forgets); [|exact F]. clear S U F. intros U S F. split.
        + intros X H. exists X. now apply (forgets_finds U S).
        + intros X W G. destruct (forget_same _ _ F) as (En & El & Es).
          assert (C : core S X).
          { destruct (go_core _ _ _ G) as [Ch Ne Va Fr La]. rewrite En in Va. split; auto.
            - intros x y. rewrite <- El. apply Fr.
            - destruct (sourced X); [exact La|]. unfold forced_late in *. rewrite En, El in La. exact La. }
          assert (So : source_may S X) by (unfold source_may; rewrite <- Es; apply G).
          destruct (forgets_step U S X F C So) as (V & W' & GV & GW & F').
          exists X, V. split; [auto|]. now rewrite (go_determined U X W W' G GW).
    Qed.
  End Liveness.
End Independent.
