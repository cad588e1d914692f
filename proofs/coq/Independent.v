(** * Moves of different ranks that do not conflict are independent

    proofs/reductions.md, Lemma 6, for the attack search of [Attack.v], and what [Reductions.v] makes of it. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Programs Pgas.Attack Pgas.AttackComplete
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

  (** Commands of one rank, and no conflict. *)
  Definition solo x : Prop := party (op x) = [rank x].
  Definition apart x y : Prop := solo x /\ solo y /\ rank x <> rank y /\ ~ clash x y.

  Lemma apart_sym x y : apart x y -> apart y x.
  Proof. intros (A & B & C & D). repeat split; auto. intros H. apply D. now apply clash_sym. Qed.

  Lemma solo_takes x r : solo x -> takes_part x r -> r = rank x.
  Proof. intros S T. apply takes_part_iff in T as [_ I]. rewrite S in I. destruct I as [|[]]; auto. Qed.

  Lemma no_part x r : solo x -> r <> rank x -> takes_part x r = false.
  Proof. intros S Ne. destruct (takes_part x r) eqn:E; [|auto]. destruct Ne. now apply solo_takes. Qed.

  (** x changes no cell that y reads, and where both change one they are updates of one kind. *)
  Lemma apart_cells x y k : apart x y -> accesses k x -> accesses k y -> writes x -> same_kind x y.
  Proof.
    intros (_ & _ & Nr & C) Kx Ky W. destruct (same_kind x y) eqn:E; [reflexivity|]. destruct C. apply clash_iff.
    split; [intros ->; auto|]. split; [eauto|]. split; [auto|]. rewrite E. discriminate.
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
    pose proof (kind_reads x y (apart_cells x y (at_cell a) A K Ky W)) as H. unfold reads in H. rewrite E in H. congruence.
  Qed.

  Lemma command_apart x y : apart x y -> command_of y <> command_of x.
  Proof. intros (_ & _ & Nr & _) E. injection E. intros. auto. Qed.

  Lemma allowed_apart s x y : apart x y -> (allowed (happen s x) y <-> allowed s y).
  Proof.
    intros A. pose proof A as (Sx & Sy & Nr & _). pose proof (seen_apart s x y A) as Se.
    assert (G : forall i, got (happen s x) (rank y, i) = got s (rank y, i)).
    { intros i. simpl. destruct (command_eq_dec (rank y, i) (command_of x)) as [E|]; [|auto]. injection E. intros. congruence. }
    assert (O : ops (happen s x) (rank y) = ops s (rank y)).
    { simpl. now rewrite no_part by (auto; congruence). }
    assert (L : loc (happen s x) (rank y) = loc s (rank y)).
    { simpl. now rewrite no_part by (auto; congruence). }
    assert (Gy : got (happen s x) (command_of y) = got s (command_of y)) by apply G.
    unfold allowed, may_issue, may_step. rewrite O, Gy. clear Gy.
    assert (Ha : forall i p, happened (happen s x) (rank y) i p <-> happened s (rank y) i p).
    { intros i p. unfold happened. now rewrite G. }
    split; (intros [H1 H2]; split; [exact H1|]); destruct (is_issue y).
    - destruct H2 as (H2 & H3 & H4 & H5). split; [auto|]. split; [auto|]. split.
      + intros r I. specialize (H4 r I). rewrite Sy in I. destruct I as [<-|[]]. now rewrite <- L, <- Se.
      + intros i p St Aw. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4). split; [auto|]. split; [auto|]. simpl in *. intros i p St H. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4 & H5). split; [auto|]. split; [auto|]. split.
      + intros r I. specialize (H4 r I). rewrite Sy in I. destruct I as [<-|[]]. now rewrite L, Se.
      + intros i p St Aw. apply Ha. auto.
    - destruct H2 as (H2 & H3 & H4). split; [auto|]. split; [auto|]. simpl in *. intros i p St H. apply Ha. auto.
  Qed.

  Lemma happen_apart s x y : apart x y -> allowed s x -> allowed s y ->
    same_state (happen (happen s x) y) (happen (happen s y) x).
  Proof.
    intros A Ax Ay. pose proof (apart_sym x y A) as A'. pose proof A as (Sx & Sy & Nr & _).
    pose proof (seen_apart s x y A) as Sey. pose proof (seen_apart s y x A') as Sex.
    pose proof (command_apart x y A) as Nc.
    assert (Gy : got (happen s x) (command_of y) = got s (command_of y)).
    { simpl. destruct (command_eq_dec (command_of y) (command_of x)); [tauto|auto]. }
    assert (Gx : got (happen s y) (command_of x) = got s (command_of x)).
    { simpl. destruct (command_eq_dec (command_of x) (command_of y)); [congruence|auto]. }
    split; [|split; [|split]]; intros k.
    - cbn [happen loc]. destruct (takes_part x k) eqn:Tx, (takes_part y k) eqn:Ty; rewrite ?Sex, ?Sey; auto.
      apply solo_takes in Tx, Ty; auto. congruence.
    - cbn [happen mem]. rewrite Gy, Gx, Sex, Sey.
      destruct (writes x && accesses k x) eqn:Wx, (writes y && accesses k y) eqn:Wy; auto.
      apply andb_iff in Wx as [Wx Kx], Wy as [Wy Ky]. pose proof (apart_cells x y k A Kx Ky Wx) as SK.
      apply accesses_iff in Kx as (ax & Ex & _), Ky as (ay & Ey & _). apply same_kind_iff in SK as [K E].
      unfold kind in K, E. rewrite Ex, Ey in *. unfold access_of in Ex, Ey.
      symmetry. apply (updates_commute (op x) (op y) (place x) (place y) ax ay); auto.
      + rewrite app_length, (proj1 Ax). simpl. lia.
      + rewrite app_length, (proj1 Ay). simpl. lia.
    - cbn [happen ops]. destruct (takes_part x k) eqn:Tx, (takes_part y k) eqn:Ty; auto.
      apply solo_takes in Tx, Ty; auto. congruence.
    - cbn [happen got]. rewrite Sex, Sey.
      destruct (command_eq_dec k (command_of y)) as [Ey|Ny], (command_eq_dec k (command_of x)) as [Ex|Nx];
        try congruence.
      + destruct (command_eq_dec (command_of y) (command_of x)); [congruence|auto].
      + destruct (command_eq_dec (command_of x) (command_of y)); [congruence|auto].
  Qed.
End Independent.
