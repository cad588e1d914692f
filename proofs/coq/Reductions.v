(** * Reductions of a search: persistent sets with a proviso, merging, and states that look alike

    proofs/reductions.md, sections 1, 3, 4 and 6, for any moves between states; [Independent.v] has what they ask of the
    attack search.  A move may lead to Found; a state is [near] when this can be reached by as many moves at most. *)

Require Import Pgas.Order.

Section Moves.
  Context {State Move : Type}.
  Variable go : State -> Move -> State -> Prop.
  Variable finds : State -> Move -> Prop.
  Implicit Types (s u v : State) (x y z : Move).

  Inductive near : nat -> State -> Prop :=
  | near_found n s x : finds s x -> near (S n) s
  | near_move n s x s' : go s x s' -> near n s' -> near (S n) s.

  Inductive run : State -> list Move -> State -> Prop :=
  | run_end s : run s [] s
  | run_step s x s' l u : go s x s' -> run s' l u -> run s (x :: l) u.

  Lemma near_more n m s : near n s -> n <= m -> near m s.
  Proof.
    intros H. revert m. induction H as [n s x H|n s x s' G _ IH]; intros [|m] L; try lia.
    - now apply near_found with x.
    - apply near_move with x s'; auto. apply IH. lia.
  Qed.

  Lemma near_run n s : near n s <-> exists l u x, run s l u /\ finds u x /\ length l < n.
  Proof.
    split.
    - induction 1 as [n s x H|n s x s' G _ (l & u & y & R & H & L)].
      + exists [], s, x. split; [constructor|]. split; [auto|simpl; lia].
      + exists (x :: l), u, y. split; [now apply run_step with s'|]. split; [auto|simpl; lia].
    - intros (l & u & x & R & H & L). revert n L. induction R as [s|s y s' l u G R IH]; intros [|n] L; simpl in L;
      try lia.
      + now apply near_found with x.
      + apply near_move with y s'; auto. apply IH; auto. lia.
  Qed.

  (** ** States that stand for others (section 4): what one can do, so can the other *)

  Definition simulates (rel : State -> State -> Prop) : Prop :=
    forall s u, rel s u ->
      (forall x, finds s x -> exists y, finds u y) /\
      (forall x s', go s x s' -> exists y u', go u y u' /\ rel s' u').

  Theorem simulation_near rel : simulates rel -> forall n s u, rel s u -> near n s -> near n u.
  Proof.
    intros Sim n s u H Ne. revert u H. induction Ne as [n s x F|n s x s' G _ IH]; intros u H;
      destruct (Sim s u H) as [S1 S2].
    - destruct (S1 x F) as (y & Fy). now apply near_found with y.
    - destruct (S2 x s' G) as (y & u' & G' & H'). apply near_move with y u'; auto.
  Qed.

  (** ** Persistent sets (section 6) *)

  (** The situation of Lemmas 5 and 6: others have moved from s to u, and one of them, by y, and a member, by x, may. *)
  Definition in_front (member : Move -> bool) s u y x : Prop :=
    exists l, run s l u /\ (forall z, In z l -> member z = false) /\ member y = false /\ member x.

  (** What the theorem uses of them: then moves of members and of others are independent, up to a relation between
      states that does not make Found any farther.  [member]: moves by members of C. *)
  Record persistent (alike : State -> State -> Prop) (member ordinary : Move -> bool) s : Prop := {
    to_front : forall u y v x w, in_front member s u y x -> go u y v -> go v x w ->
      exists u' w', go u x u' /\ go u' y w' /\ alike w w';
    finds_at_front : forall u y v x, in_front member s u y x -> go u y v -> finds v x -> finds u x;
    goes_along : forall u y v x u', in_front member s u y x -> ordinary x -> go u y v -> go u x u' ->
      exists w w', go v x w /\ go u' y w' /\ alike w w';
    finds_behind : forall u y x u', in_front member s u y x -> ordinary x -> finds u y -> go u x u' -> finds u' y }.

  (** The states that are stored, in the order in which they are expanded.  What is stored for a state is as near as it;
      it is dropped only where Found cannot be reached. *)
  Variables (stored : list State) (found_stored : Prop).

  Definition kept (t s : State) : Prop := forall n, near n s -> near n t.
  Definition stored_or_dropped s : Prop := (exists t, In t stored /\ kept t s) \/ forall n, ~ near n s.
  Definition stored_later (i : nat) s : Prop :=
    (exists j t, i < j /\ nth_error stored j = Some t /\ kept t s) \/ forall n, ~ near n s.

  (** The moves of these are followed. *)
  Definition expanded s (which : Move -> bool) : Prop :=
    (forall x s', which x -> go s x s' -> stored_or_dropped s') /\ (forall x, which x -> finds s x -> found_stored).

  (** The rule: all moves, or those of a persistent set by which some ordinary one leads to a state that is new. *)
  Definition rule (i : nat) s : Prop :=
    expanded s (fun _ => true) \/
    exists alike member ordinary, simulates alike /\ persistent alike member ordinary s /\ expanded s member /\
      exists x s', member x /\ ordinary x /\ go s x s' /\ stored_later i s'.

  Lemma first_member (member : Move -> bool) l :
    (forall z, In z l -> member z = false) \/
    exists l1 x l2, l = l1 ++ x :: l2 /\ (forall z, In z l1 -> member z = false) /\ member x = true.
  Proof.
    induction l as [|y l IH]; [left; simpl; tauto|]. destruct (member y) eqn:E.
    - right. exists [], y, l. simpl. split; [auto|]. split; [tauto|exact E].
    - destruct IH as [H|(l1 & x & l2 & -> & H & Hx)].
      + left. intros z [<-|I]; auto.
      + right. exists (y :: l1), x, l2. split; [auto|]. split; [|auto]. intros z [<-|I]; auto.
  Qed.

  Lemma run_app s l1 l2 u : run s (l1 ++ l2) u <-> exists v, run s l1 v /\ run v l2 u.
  Proof.
    revert s. induction l1 as [|x l1 IH]; simpl; intros s.
    - split; [intros H; exists s; split; [constructor|auto]|]. intros (v & H & R). inversion H. now subst.
    - split.
      + intros H. inversion_clear H as [|? ? s' ? ? G R]. apply IH in R as (v & R1 & R2). exists v.
        split; [now apply run_step with s'|auto].
      + intros (v & H & R). inversion_clear H as [|? ? s' ? ? G R1]. apply run_step with s'; auto. apply IH. eauto.
  Qed.

  (** The first move of a member can come first. *)
  Lemma member_first alike member ordinary s : simulates alike -> persistent alike member ordinary s ->
    forall l u, run s l u -> (forall z, In z l -> member z = false) -> forall x, member x ->
    (finds u x -> finds s x) /\
    (forall v n, go u x v -> near n v -> exists s', go s x s' /\ near (length l + n) s').
  Proof.
    intros Sim Pe l. induction l as [|y l IH] using rev_ind; intros u R Non x M.
    - inversion R. subst. split; [auto|]. intros v n G Ne. exists v. auto.
    - apply run_app in R as (t & R & R'). inversion_clear R' as [|? ? u' ? ? G R'']. inversion R''; subst. clear R''.
      assert (Non' : forall z, In z l -> member z = false) by (intros z I; apply Non; rewrite in_app_iff; auto).
      assert (My : member y = false) by (apply Non; rewrite in_app_iff; simpl; auto).
      assert (Front : in_front member s t y x) by (exists l; auto).
      destruct (IH t R Non' x M) as [IH1 IH2]. split.
      + intros F. apply IH1. exact (finds_at_front _ _ _ _ Pe t y u x Front G F).
      + intros v n Gx Ne. destruct (to_front _ _ _ _ Pe t y u x v Front G Gx) as (t' & w' & Gt & Gy & Al).
        destruct (IH2 t' (S n) Gt) as (s' & Gs & Ns).
        * apply near_move with y w'; auto. now apply (simulation_near alike Sim n v w' Al).
        * exists s'. split; [auto|]. rewrite app_length. simpl.
          replace (length l + 1 + n) with (length l + S n) by lia. auto.
  Qed.

  (** Where no member moves, one may move before. *)
  Lemma member_along alike member ordinary s : simulates alike -> persistent alike member ordinary s ->
    forall x s', member x -> ordinary x -> go s x s' ->
    forall l u, run s l u -> (forall z, In z l -> member z = false) ->
      exists v, go u x v /\ forall n, near n v -> near (length l + n) s'.
  Proof.
    intros Sim Pe x s' M O G l. induction l as [|y l IH] using rev_ind; intros u R Non.
    - inversion R. subst. exists s'. auto.
    - apply run_app in R as (t & R & R'). inversion_clear R' as [|? ? u' ? ? Gy R'']. inversion R''; subst. clear R''.
      assert (Non' : forall z, In z l -> member z = false) by (intros z I; apply Non; rewrite in_app_iff; auto).
      assert (My : member y = false) by (apply Non; rewrite in_app_iff; simpl; auto).
      assert (Front : in_front member s t y x) by (exists l; auto).
      destruct (IH t R Non') as (v & Gv & Nv).
      destruct (goes_along _ _ _ _ Pe t y u x v Front O Gy Gv) as (w & w' & Gw & Gw' & Al).
      exists w. split; [auto|]. intros n Ne. rewrite app_length. simpl.
      replace (length l + 1 + n) with (length l + S n) by lia. apply Nv. apply near_move with y w'; auto.
      now apply (simulation_near alike Sim n w w' Al).
  Qed.

  (** If the first state is stored, and Found can be reached, Found is stored. *)
  Theorem persistent_sets : (forall i s, nth_error stored i = Some s -> rule i s) ->
    forall s n, In s stored -> near n s -> found_stored.
  Proof.
    intros Rules s n I Ne. apply In_nth_error in I as (i & I). revert s i I Ne.
    induction n as [n IHn] using lt_wf_ind. intros s i I.
    remember (length stored - i) as d eqn:Ed. revert s i I Ed. induction d as [d IHd] using lt_wf_ind.
    intros s i I -> Ne.
    assert (Closer : forall m s', m < n -> stored_or_dropped s' -> near m s' -> found_stored).
    { intros m s' L [(t & It & K)|Dr] Nm; [|destruct (Dr m Nm)]. apply In_nth_error in It as (j & Ij).
      apply (IHn m L t j Ij). now apply K. }
    apply near_run in Ne as (l & u & y & R & F & L).
    destruct (Rules i s I) as [[E1 E2]|(alike & member & ordinary & Sim & Pe & [E1 E2] & (x & s' & M & O & G & New))].
    - inversion R as [|? z s' ? ? G R' ]; subst; [exact (E2 y eq_refl F)|].
      apply (Closer (pred n) s'); [lia|now apply (E1 z)|]. apply near_run. exists l0, u, y. simpl in L.
      split; [auto|]. split; [auto|lia].
    - destruct (first_member member l) as [Non|(l1 & z & l2 & -> & Non & Mz)].
      + destruct (member y) eqn:My.
        * apply (E2 y My). now apply (member_first alike member ordinary s Sim Pe l u R Non y My).
        * destruct (member_along alike member ordinary s Sim Pe x s' M O G l u R Non) as (v & Gv & Nv).
          assert (Ns : near n s').
          { apply near_more with (length l + 1); [|lia]. apply Nv. apply near_found with y.
            exact (finds_behind _ _ _ _ Pe u y x v (ex_intro _ l (conj R (conj Non (conj My M)))) O F Gv). }
          destruct New as [(j & t & Lj & Ij & K)|Dr]; [|destruct (Dr n Ns)].
          apply (IHd (length stored - j)) with (s := t) (i := j); auto.
          assert (i < length stored) by (apply nth_error_Some; congruence). lia.
      + apply run_app in R as (t & R1 & R2). inversion_clear R2 as [|? ? t' ? ? Gz R3].
        destruct (member_first alike member ordinary s Sim Pe l1 t R1 Non z Mz) as [_ H].
        assert (Nt : near (S (length l2)) t') by (apply near_run; exists l2, u, y; auto).
        destruct (H t' _ Gz Nt) as (s1 & G1 & N1). rewrite app_length in L. simpl in L.
        apply (Closer (length l1 + S (length l2)) s1); [lia|now apply (E1 z)|auto].
  Qed.
End Moves.

(** ** Merging (section 3) *)

Section Merging.
  Context {State Move : Type}.
  Variable go : State -> Move -> State -> Prop.
  Variable finds : State -> Move -> Prop.
  Variables (alike : State -> State -> Prop) (forced : State -> Move -> State -> Prop).
  Hypothesis alike_simulates : simulates go finds alike.
  Hypothesis alike_refl : forall s, alike s s.
  Hypothesis alike_sym : forall s u, alike s u -> alike u s.
  Hypothesis alike_trans : forall s u v, alike s u -> alike u v -> alike s v.
  Hypothesis forced_goes : forall s x s', forced s x s' -> go s x s'.
  Hypothesis forced_alike : forall s x s' u, forced s x s' -> alike s u -> exists u', forced u x u' /\ alike s' u'.
  (* It is the only move of its rank, and moves of others stay what they are. *)
  Hypothesis forced_moves : forall s x s' y u, forced s x s' -> go s y u ->
    alike u s' \/ exists v v', go s' y v /\ forced u x v' /\ alike v' v.
  Hypothesis forced_finds : forall s x s' y, forced s x s' -> finds s y -> finds s' y.

  Inductive forced_run : State -> State -> Prop :=
  | forced_none s : forced_run s s
  | forced_more s x s' u : forced s x s' -> forced_run s' u -> forced_run s u.

  (** u ≤ v *)
  Definition before_forced u v : Prop := exists w, forced_run u w /\ alike w v.

  Lemma forced_run_alike s w : forced_run s w -> forall u, alike s u -> exists w', forced_run u w' /\ alike w w'.
  Proof.
    induction 1 as [s|s x s' w F _ IH]; intros u A; [exists u; split; [constructor|auto]|].
    destruct (forced_alike s x s' u F A) as (u' & F' & A'). destruct (IH u' A') as (w' & R & A'').
    exists w'. split; [now apply forced_more with x u'|auto].
  Qed.

  Lemma forced_run_finds s w : forced_run s w -> forall x, finds s x -> finds w x.
  Proof. induction 1 as [s|s x s' w F _ IH]; intros y Fy; [auto|]. apply IH. now apply (forced_finds s x). Qed.

  Lemma forced_run_app s u w : forced_run s u -> forced_run u w -> forced_run s w.
  Proof. induction 1 as [s|s x s' u F _ IH]; intros R; [auto|]. apply forced_more with x s'; auto. Qed.

  (** A move is one of those that have been made, or can still be made. *)
  Lemma forced_run_moves s w : forced_run s w -> forall y u, go s y u ->
    before_forced u w \/ exists v, go w y v /\ before_forced u v.
  Proof.
    assert (Later : forall u x v' v w0, forced u x v' -> alike v' v -> before_forced v w0 -> before_forced u w0).
    { intros u x v' v w0 F A (w1 & R1 & A1). destruct (forced_run_alike v w1 R1 v' (alike_sym _ _ A)) as (w2 & R2 & A2).
      exists w2. split; [now apply forced_more with x v'|]. apply alike_trans with w1; auto. }
    induction 1 as [s|s x s' w F R IH]; intros y u G.
    - right. exists u. split; [auto|]. exists u. split; [constructor|auto].
    - destruct (forced_moves s x s' y u F G) as [A|(v & v' & G' & F' & A)].
      + left. destruct (forced_run_alike s' w R u (alike_sym _ _ A)) as (w' & R' & A'). exists w'. auto.
      + destruct (IH y v G') as [B|(v1 & G1 & B)]; [left|right; exists v1; split; [auto|]]; now apply (Later u x v' v).
  Qed.

  (** M: each move is followed by forced ones, as many as you like. *)
  Variable macro : State -> Move -> State -> Prop.
  Hypothesis macro_of : forall s x s', go s x s' -> exists u, macro s x u /\ forced_run s' u.
  Hypothesis macro_is : forall s x u, macro s x u -> exists s', go s x s' /\ forced_run s' u.

  (** Lemma 1: what is found by moves is found by as many of M, from a state advanced by forced ones. *)
  Theorem merging_keeps n s v : near go finds n s -> before_forced s v -> near macro finds n v.
  Proof.
    intros Ne. revert v. induction Ne as [n s x F|n s x s' G _ IH]; intros v (w & R & A).
    - destruct (alike_simulates w v A) as [H _]. destruct (H x (forced_run_finds s w R x F)) as (y & Fy).
      now apply near_found with y.
    - destruct (forced_run_moves s w R x s' G) as [(w' & R' & A')|(v1 & G1 & (w' & R' & A'))].
      + apply near_more with n; [|lia]. apply IH. exists w'. split; [auto|]. now apply alike_trans with w.
      + destruct (alike_simulates w v A) as [_ H]. destruct (H x v1 G1) as (y & v2 & G2 & A2).
        destruct (macro_of v y v2 G2) as (u & M & Ru). apply near_move with y u; auto. apply IH.
        destruct (forced_run_alike v2 u Ru w') as (w2 & R2 & A3).
        { apply alike_sym. now apply alike_trans with v1. }
        exists w2. split; [now apply forced_run_app with w'|auto].
  Qed.

  (** And M finds nothing else. *)
  Theorem merging_adds_nothing n s : near macro finds n s -> exists m, near go finds m s.
  Proof.
    induction 1 as [n s x F|n s x s' M _ (m & IH)]; [exists 1; now apply near_found with x|].
    destruct (macro_is s x s' M) as (u & G & R). assert (H : exists k, near go finds k u).
    { clear G M. induction R as [u|u y u' w F _ IHR]; [eauto|]. destruct (IHR IH) as (k & Nk).
      exists (S k). apply near_move with y u'; auto. }
    destruct H as (k & Nk). exists (S k). now apply near_move with x u.
  Qed.
End Merging.
