(** * Normal forms with as many parts as one likes

    proofs/normal-form.md: Lemma 8 (a command that closes a cycle is put back into a run in blocks), Theorem 5, and the
    automaton Y with Lemma 12.  The paper's operations have two steps, and its normal form has four parts; a command of n
    steps takes n + 2. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs Pgas.NormalForm Pgas.Attack
  Pgas.AttackComplete.

Section Parts.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z : event) (t u : list event).

  (** ** Lemma 8 (reinsertion) *)
  Section Reinsert.
    Variables (t : list event) (j : event) (s : list event) (h : nat).
    Notation e := (command_of j).
    Hypothesis t_computation : computation t.
    Hypothesis j_last : last_issue t j.
    Hypothesis s_looks : looks_like (without e t) s.
    Hypothesis s_blocks : in_blocks s.
    Hypothesis enough : S (S (length (steps (op j)))) <= h.

    Let t_valid : valid t := proj1 (proj1 (computation_valid t) t_computation).
    Let t_nodup : NoDup t := valid_nodup t t_valid.
    Let s_nodup : NoDup s := look_nodup _ _ s_looks.
    Let in_s y : In y s <-> In y t /\ command_of y <> e.
    Proof. rewrite (look_events _ _ s_looks). exact (in_without e t y). Qed.

    (** How many events of e stand before y: the number of the part that y belongs to. *)
    Definition gone y : nat := length (filter (fun z => of_command e z && behind t z y) t).

    Definition reinserted : list (list event) :=
      parts h (fun k => filter (fun y => gone y =? k) s ++ filter (fun y => of_command e y && (gone y =? k)) t).

    Lemma gone_order x y : before t x y -> gone x <= gone y /\ (command_of x = e -> gone x < gone y).
    Proof.
      intros B. assert (I : forall z, of_command e z && behind t z x -> of_command e z && behind t z y).
      { intros z. rewrite !andb_iff, !behind_iff. intros [E Bz]. split; [auto|]. exact (before_trans _ _ _ _ t_nodup Bz B). }
      split.
      - apply NoDup_incl_length; [now apply NoDup_filter|]. intros z. rewrite !in_filter. intuition.
      - intros E. unfold gone. apply filter_fewer with x; auto.
        + now apply before_in in B.
        + apply andb_iff. split; [now apply of_command_iff|now apply behind_iff].
        + rewrite andb_iff, behind_iff. intros [_ F]. exact (before_irrefl _ _ t_nodup F).
    Qed.

    Lemma gone_bound y : gone y < h.
    Proof.
      assert (L : length (filter (of_cmd e) t) = S (length (steps (op j)))).
      { rewrite (chain_of t j t_computation (proj1 j_last)). unfold chain. now rewrite map_length, seq_length. }
      assert (gone y <= length (filter (of_cmd e) t)); [|lia].
      apply NoDup_incl_length; [now apply NoDup_filter|]. intros z. rewrite !in_filter, andb_iff. intros (I & E & _).
      split; [auto|]. apply of_command_iff in E. now apply of_cmd_iff.
    Qed.

    Lemma in_reinserted k x : In x (nth k reinserted []) <-> In x t /\ gone x = k.
    Proof.
      unfold reinserted. rewrite in_nth_parts, in_app_iff, !in_filter, andb_iff, of_command_iff, in_s.
      unfold is_true at 1 2. rewrite Nat.eqb_eq. simpl. pose proof (gone_bound x).
      destruct (command_eq_dec (command_of x) e); intuition (subst; auto).
    Qed.

    Lemma reinserted_events x : In x (concat reinserted) <-> In x t.
    Proof. rewrite in_parts. setoid_rewrite in_reinserted. split; [intros (k & H); tauto|eauto]. Qed.

    Lemma reinserted_nodup : NoDup (concat reinserted).
    Proof.
      apply parts_nodup; [|intros i k x; rewrite !in_reinserted; intros [_ <-] [_ <-]; reflexivity].
      intros i. unfold reinserted. rewrite nth_parts. destruct (i <? h); [|constructor].
      apply nodup_app; try (now apply NoDup_filter). intros x. rewrite !in_filter, in_s, andb_iff, of_command_iff.
      simpl. tauto.
    Qed.

    (** What is ordered in t stays so: what comes before e, and what is linked or conflicts. *)
    Lemma reinserted_order x y : before t x y ->
      command_of x = e \/ command_of y = e \/ before s x y -> before (concat reinserted) x y.
    Proof.
      intros B H. destruct (before_in _ _ _ B) as [Ix Iy], (gone_order x y B) as [Le Lt].
      apply before_parts. exists (gone x), (gone y). rewrite !in_reinserted. split; [auto|]. split; [auto|].
      destruct (Nat.eq_dec (gone x) (gone y)) as [E|]; [right; split; [auto|]|left; lia].
      unfold reinserted. rewrite nth_parts. rewrite (proj2 (Nat.ltb_lt _ _)) by apply gone_bound.
      apply before_app. rewrite !before_filter, !in_filter, !andb_iff, !of_command_iff, in_s, <- E, Nat.eqb_refl. simpl.
      destruct (command_eq_dec (command_of x) e) as [Ex|Nx]; [apply Lt in Ex; lia|].
      destruct H as [H|[H|H]]; [tauto| |].
      - right. right. split; [split; [auto|reflexivity]|]. split; [auto|]. split; [exact H|reflexivity].
      - left. split; [exact H|]. split; reflexivity.
    Qed.

    Lemma reinserted_linked x y : before t x y -> linked t (must t) x y \/ clash x y -> before (concat reinserted) x y.
    Proof.
      intros B H. apply reinserted_order; [auto|].
      destruct (command_eq_dec (command_of x) e) as [|Nx]; [auto|].
      destruct (command_eq_dec (command_of y) e) as [|Ny]; [auto|]. right. right.
      apply (linked_in_s t e (must t) s); auto. intros v w M Iv Iw. exact (must_later_by t v w t_valid M Iv Iw).
    Qed.

    (** Of two events that are related, whichever way they stand, they stand so in both. *)
    Lemma reinserted_same (Rel : event -> event -> Prop) : (forall x y, Rel x y -> Rel y x) ->
      (forall x y, Rel x y -> before t x y -> linked t (must t) x y \/ clash x y) ->
      forall x y, Rel x y -> (before (concat reinserted) x y <-> before t x y).
    Proof.
      intros Sym L x y R. split; [|intros B; apply reinserted_linked; auto]. intros B.
      destruct (before_in _ _ _ B) as [Ix Iy]. rewrite reinserted_events in Ix, Iy.
      destruct (before_total t x y) as [|B']; auto.
      - intros ->. exact (before_irrefl _ _ reinserted_nodup B).
      - destruct (before_asym _ _ _ reinserted_nodup B). apply reinserted_linked; auto.
    Qed.

    Lemma reinserted_looks : looks_like t (concat reinserted).
    Proof.
      split.
      - exact reinserted_nodup.
      - exact reinserted_events.
      - apply (reinserted_same (fun x y => cmd x = cmd y)); [auto|]. intros x y E _. left. left. exact E.
      - assert (Po : forall x y, is_issue x /\ is_issue y /\ share_rank x y ->
          (before (concat reinserted) x y <-> before t x y)).
        { apply reinserted_same.
          - intros x y (Hx & Hy & Sh). auto using share_rank_sym.
          - intros x y (Hx & Hy & Sh) B. left. right. left. exact (conj Hx (conj Hy (conj Sh B))). }
        intros x y. specialize (Po x y). unfold program_order. simpl. tauto.
      - apply (reinserted_same (fun x y => clash x y)); [apply clash_sym|auto].
    Qed.

    Lemma reinserted_normal : normal_form reinserted.
    Proof.
      assert (First : forall x, is_issue x -> In x t -> gone x = 0).
      { intros x Hx Ix. unfold gone. destruct (filter _ t) as [|z l] eqn:E; [auto|]. exfalso.
        assert (I : In z (filter (fun z => of_command e z && behind t z x) t)) by (rewrite E; simpl; auto).
        apply in_filter in I as [_ I]. rewrite andb_iff, of_command_iff, behind_iff in I. destruct I as [Ez B].
        exact (nothing_after_e t j t_valid j_last z x Ez B Hx). }
      assert (Hd : hd [] reinserted = nth 0 reinserted []) by now destruct reinserted.
      split.
      - intros y I Hy. apply in_parts in I as (k & I).
        assert (I' : In y (nth (S k) reinserted [])) by (destruct reinserted; [destruct k|]; exact I).
        apply in_reinserted in I' as [It G]. rewrite (First y Hy It) in G. discriminate G.
      - intros i k x y part Hp Hi Hk B N Ex Ey Ix Iy. rewrite Hd in B. destruct (before_in _ _ _ B) as [Ii Ik].
        apply in_reinserted in Ii as [Ii _], Ik as [Ik _].
        assert (Bc : before (concat reinserted) i k) by (apply before_parts; exists 0, 0; rewrite !in_reinserted; auto).
        apply In_nth with (d := []) in Hp as (p & _ & <-).
        apply in_reinserted in Ix as [Ix Gx]. apply in_reinserted in Iy as [Iy Gy].
        (* the command of i is not e, which is issued last *)
        assert (Ni : command_of i <> e).
        { intros Ei. destruct (before_total t k i) as [Bk|Bk]; auto; [congruence| |].
          - apply (before_asym _ _ _ reinserted_nodup Bc). apply reinserted_order; auto.
          - exact (nothing_after_e t j t_valid j_last i k Ei Bk Hk). }
        assert (Bt : forall v w, In v t -> In w t -> gone v = p -> gone w = p -> (command_of v <> e) ->
          command_of w = e \/ before s v w -> before (nth p reinserted []) v w).
        { intros v w Iv Iw Gv Gw Nv H. unfold reinserted. rewrite nth_parts.
          pose proof (gone_bound v) as L. rewrite Gv in L. apply Nat.ltb_lt in L. rewrite L.
          apply before_app. rewrite !before_filter, !in_filter, !andb_iff, !of_command_iff, in_s, Gv, Gw, Nat.eqb_refl.
          simpl. destruct H as [H|H]; [right; right|left]; repeat split; auto. }
        apply Bt; auto; [congruence|]. destruct (command_eq_dec (command_of k) e) as [Ek|Nk]; [left; congruence|right].
        apply (blocks_apart s i k); auto; try (apply in_s; split; congruence).
        destruct (before_total s i k) as [Bs|Bs]; auto; try (apply in_s; auto); [congruence|].
        exfalso.
        assert (Bk : before (nth 0 reinserted []) k i).
        { unfold reinserted. rewrite nth_parts. replace (0 <? h) with true by (symmetry; apply Nat.ltb_lt; lia).
          apply before_app. left. apply before_filter. rewrite (First i Hi Ii), (First k Hk Ik). auto. }
        apply (before_asym _ _ _ (part_nodup _ 0 reinserted_nodup) B Bk).
    Qed.

    Theorem reinsertion_of : length reinserted = h /\ normal_form reinserted /\ computation (concat reinserted) /\
      looks_like t (concat reinserted) /\ (forall x, In x t -> saw (concat reinserted) x = saw t x) /\
      same_state (after (concat reinserted)) (after t).
    Proof.
      split; [unfold reinserted, parts; now rewrite map_length, seq_length|]. split; [apply reinserted_normal|].
      destruct (same_look_same_run t (concat reinserted) t_computation reinserted_looks) as (C & S & St).
      - intros x y B M. apply reinserted_linked; [auto|]. left. right. right. exact M.
      - split; [exact C|]. split; [apply reinserted_looks|]. split; [|exact St].
        intros x I. apply S. now apply reinserted_events.
    Qed.
  End Reinsert.

  (** Lemma 8: a computation that is not violating without the command issued last can be written in normal form, with
      two parts more than that command has steps; happens-before, values and the state in the end are the same. *)
  Theorem reinsertion t j h : computation t -> last_issue t j -> ~ violating (without (command_of j) t) ->
    S (S (length (steps (op j)))) <= h ->
    exists ps, length ps = h /\ normal_form ps /\ computation (concat ps) /\
      (forall c d, happens_before (concat ps) c d <-> happens_before t c d) /\
      (forall x, In x t -> saw (concat ps) x = saw t x) /\ same_state (after (concat ps)) (after t).
  Proof.
    intros C J Cl L. destruct (cancellation t j C J) as (Cc & _ & _).
    destruct (proj1 (shasha_snir_program _ Cc) Cl) as (s & Cs & Bl & Lk & _).
    destruct (reinsertion_of t j s h C J Lk Bl L) as (Len & Nf & Cp & Lp & Same). exists (reinserted t j s h).
    split; [auto|]. split; [auto|]. split; [auto|]. split; [|exact Same].
    apply (same_happens_before t); [|auto]. apply valid_nodup. now apply computation_valid in C.
  Qed.

  (** Theorem 5: where commands have at most n steps, n + 2 parts decide robustness. *)
  Theorem robust_iff_normal_forms n : (forall o, length (steps o) <= n) ->
    (forall t, computation t -> ~ violating t) <->
    (forall ps, length ps = S (S n) -> computation (concat ps) -> normal_form ps -> ~ violating (concat ps)).
  Proof.
    intros Few. split; [auto|]. intros H t C Vi.
    destruct (some_last_command_closes t C Vi) as (t' & j & C' & (c & Vi') & J & Cl).
    destruct (reinsertion t' j (S (S n)) C' J Cl) as (ps & Len & Nf & Cp & Hb & _).
    - specialize (Few (op j)). lia.
    - apply (H ps Len Cp Nf). exists c. now apply Hb.
  Qed.

  (** ** The automaton Y

      It generates an issued event on head 0, and with it each step of the command on some head, none before that of the
      step before it.  Its state is what the first part has done (control, registers and memory), and where steps lie. *)
  Definition head (w : list (nat * event)) (k : nat) : list event := map snd (filter (fun a => fst a =? k) w).
  Definition heads (h : nat) (w : list (nat * event)) : list (list event) := parts h (head w).

  Record heads_state := Heads_state {
    first : @state Loc Op Cell Val;
    lies : command -> nat -> nat }.      (* on which head the step of the command lies *)

  (** As in X, but a wait is over when what it waits for lies in the first part. *)
  Definition enabled (s : heads_state) (r n : nat) (o : Op) : Prop :=
    In r (party o) /\ n = length (ops (first s) r) /\
    (forall k, In k (party o) -> next k (loc (first s) k) o (seen (first s) (Event r n 0 o)) <> None) /\
    (forall i p, is_step (ops (first s) r) i p -> awaits (ops (first s) r) o i p -> lies s (r, i) p = 0).

  (** m p is the head of the event at place p of the chain: no completion rule has a step behind it before this one. *)
  Definition may_lie (h : nat) (s : heads_state) (r : nat) (o : Op) (m : nat -> nat) : Prop :=
    m 0 = 0 /\ (forall p, p < length (steps o) -> m p <= m (S p)) /\ (forall p, p <= length (steps o) -> m p < h) /\
    forall p i q, 1 <= p <= length (steps o) -> is_step (ops (first s) r) i q -> held (ops (first s) r) o p i q ->
      lies s (r, i) q <= m p.

  Definition on_head (m : nat -> nat) (k : nat) x : bool := m (place x) =? k.

  Inductive generates (h : nat) : list (nat * event) -> heads_state -> Prop :=
  | generates_nothing : generates h [] (Heads_state initial (fun _ _ => 0))
  | generates_command w s r n o m : generates h w s -> enabled s r n o -> may_lie h s r o m ->
      generates h (w ++ map (fun x => (m (place x), x)) (chain r n o))
        (Heads_state (fold_left happen (filter (on_head m 0) (chain r n o)) (first s))
                     (fun c => if command_eq_dec c (r, n) then m else lies s c)).

  Lemma head_more w l m k : head (w ++ map (fun x => (m (place x), x)) l) k = head w k ++ filter (on_head m k) l.
  Proof.
    unfold head. rewrite filter_app, map_app. f_equal. induction l as [|x l IH]; [auto|]. simpl. unfold on_head.
    destruct (m (place x) =? k); simpl; [now f_equal|auto].
  Qed.

  Lemma monotone_on m n : (forall p, p < n -> m p <= m (S p)) -> forall p q, p <= q -> q <= n -> m p <= m q.
  Proof. intros H p q L. induction L as [|q L IH]; intros B; [auto|]. specialize (H q). lia. Qed.

  (** What is generated is a computation in normal form. *)
  Definition sound (h : nat) (w : list (nat * event)) (s : heads_state) : Prop :=
    computation (concat (heads h w)) /\ normal_form (heads h w) /\ first s = after (head w 0) /\
    forall x k, In x (nth k (heads h w) []) -> lies s (command_of x) (place x) = k.

  Lemma first_part h w : 0 < h -> concat (heads h w) = head w 0 ++ concat (tl (heads h w)).
  Proof. intros L. destruct h as [|h]; [lia|reflexivity]. Qed.

  Lemma hd_heads h w : 0 < h -> hd [] (heads h w) = head w 0.
  Proof. intros L. destruct h as [|h]; [lia|reflexivity]. Qed.

  (** The steps that are there, and where. *)
  Lemma step_lies h w s r i p : 0 < h -> sound h w s -> is_step (ops (first s) r) i p ->
    exists y, command_of y = (r, i) /\ place y = p /\ In y (nth (lies s (r, i) p) (heads h w) []).
  Proof.
    intros L (C & _ & Fi & Li) (o & Eo & Pp). pose proof (proj1 (computation_valid _) C) as [V F].
    assert (Eo' : nth_error (ops (after (concat (heads h w))) r) i = Some o).
    { rewrite Fi in Eo. rewrite first_part by auto. destruct (ops_grow (head w 0) (concat (tl (heads h w))) r) as (more & ->).
      rewrite nth_error_app1; [auto|]. apply nth_error_Some. congruence. }
    destruct (issuer_with_steps _ r i o V Eo') as (x & Ix & _ & _ & Cx).
    { intros E. rewrite E in Pp. simpl in Pp. lia. }
    assert (Lp : p < length (got (after (concat (heads h w))) (r, i))).
    { rewrite (F r i o Eo'); [lia|]. intros E. pose proof (place_bound _ x V Ix) as B. rewrite Cx, E in B. simpl in B. lia. }
    destruct (event_at _ (r, i) p V Lp) as (y & Iy & Cy & Py). exists y. split; [auto|]. split; [auto|].
    apply in_parts in Iy as (k & Iy). pose proof (Li y k Iy) as E. rewrite Cy, Py in E. now rewrite E.
  Qed.

  Section Generate.
    Variables (h : nat) (w : list (nat * event)) (s : heads_state) (r n : nat) (o : Op) (m : nat -> nat).
    Hypothesis some_head : 0 < h.
    Hypothesis w_sound : sound h w s.
    Hypothesis may_go : enabled s r n o.
    Hypothesis may_be : may_lie h s r o m.

    Notation u1 := (head w 0).
    Notation rest := (concat (tl (heads h w))).
    Notation l1 := (filter (on_head m 0) (chain r n o)).
    Notation l2 := (filter (fun x => negb (on_head m 0 x)) (chain r n o)).
    Notation w' := (w ++ map (fun x => (m (place x), x)) (chain r n o)).
    Notation lies' := (fun c => if command_eq_dec c (r, n) then m else lies s c).

    Let old : computation (u1 ++ rest).
    Proof. destruct w_sound as (C & _). now rewrite first_part in C. Qed.
    Let old_valid : valid (u1 ++ rest) := proj1 (proj1 (computation_valid _) old).
    Let u1_valid : valid u1 := valid_prefix _ _ old_valid.
    Let first_u1 : first s = after u1.
    Proof. apply w_sound. Qed.

    Lemma heads_cut : chain r n o = l1 ++ l2.
    Proof.
      rewrite (filter_split (fun x => negb (on_head m 0 x)) (chain r n o)) at 1.
      - f_equal. apply filter_ext. intros x. apply negb_involutive.
      - intros x y B. unfold on_head. rewrite !negb_iff. unfold is_true. rewrite !Nat.eqb_eq. intros N E. apply N.
        destruct may_be as (_ & Mono & _). destruct (before_in _ _ _ B) as [Ix Iy].
        apply in_chain in Iy as (Cy & Oy & Py). apply in_chain in Ix as (Cx & Ox & Px).
        assert (L : place x <= place y).
        { unfold chain in B. clear - B. revert B. generalize (S (length (steps o))). intros k.
          assert (G : forall a, before (map (fun p => Event r n p o) (seq a k)) x y -> place x <= place y).
          { induction k as [|k IH]; simpl; intros a; [tauto|]. intros [[<- I]|B]; [|eauto]. simpl.
            apply in_map_iff in I as (p & <- & I). apply in_seq in I. simpl. lia. }
          apply G. }
        pose proof (monotone_on m (length (steps o)) Mono (place x) (place y) L Py). lia.
    Qed.

    Lemma l1_first : exists l, l1 = Event r n 0 o :: l.
    Proof.
      destruct may_be as (Z & _). unfold chain. simpl. unfold on_head at 1. simpl. rewrite Z. simpl. eauto.
    Qed.

    Lemma l1_valid : valid (u1 ++ l1).
    Proof.
      destruct l1_first as (l & E). pose proof heads_cut as Cut. rewrite E in Cut |- *.
      destruct may_go as (Pa & Nu & En & Aw), may_be as (_ & _ & _ & Hd). rewrite first_u1 in *.
      assert (Here : forall i p, is_step (ops (after u1) r) i p -> lies s (r, i) p = 0 -> happened (after u1) r i p).
      { intros i p St Z. rewrite <- first_u1 in St. destruct (step_lies h w s r i p some_head w_sound St) as (y & Cy & Py & Iy).
        rewrite Z in Iy. apply in_nth_parts in Iy as [_ Iy]. apply happened_event; [auto|]. eauto. }
      assert (Vx : valid (u1 ++ [Event r n 0 o])).
      { apply valid_snoc. split; [auto|]. split.
        - simpl. destruct (got (after u1) (command_of (Event r n 0 o))) as [|v g] eqn:Eg; [auto|]. exfalso.
          destruct (event_at u1 (r, n) 0 u1_valid) as (y & Iy & Cy & _).
          { change (command_of (Event r n 0 o)) with (r, n) in Eg. rewrite Eg. simpl. lia. }
          pose proof (issued_op u1 y u1_valid Iy) as O. injection Cy as Ry Ny. rewrite Ry, Ny in O.
          assert (n < length (ops (after u1) r)) by (apply nth_error_Some; congruence). lia.
        - simpl. split; [auto|]. split; [auto|]. split; [exact En|]. intros i p St A. apply Here; auto. }
      replace (u1 ++ Event r n 0 o :: l) with ((u1 ++ [Event r n 0 o]) ++ l) by now rewrite <- app_assoc.
      assert (Past : firstn n (ops (after (u1 ++ [Event r n 0 o])) r) = ops (after u1) r).
      { rewrite after_snoc. simpl. replace (takes_part (Event r n 0 o) r) with true by (symmetry; now apply takes_part_iff).
        rewrite firstn_app, Nu, Nat.sub_diag, firstn_all. simpl. apply app_nil_r. }
      apply (finish_command r n o l2 l (u1 ++ [Event r n 0 o]) [Event r n 0 o]); auto; [discriminate|..].
      - apply (issued_op _ (Event r n 0 o) Vx). rewrite in_app_iff. simpl. auto.
      - destruct (allowed_at u1 (Event r n 0 o) [] Vx) as [L _]. change (command_of (Event r n 0 o)) with (r, n) in L.
        rewrite got_length, filter_app, app_length, <- got_length, L. simpl.
        now replace (of_cmd (r, n) (Event r n 0 o)) with true by (symmetry; now apply of_cmd_iff).
      - rewrite Past. intros x i p Ix St H. assert (Ic : In x l1) by (rewrite E; simpl; auto).
        pose proof Ic as Ic'. apply in_filter in Ic as [Ic Z]. apply Nat.eqb_eq in Z. apply in_chain in Ic as (Cx & Ox & Px).
        assert (Nx : place x <> 0).
        { intros Zx. assert (N : NoDup (l1 ++ l2)) by exact (chain_nodup r n o l1 l2 heads_cut).
          rewrite E in N. simpl in N. inversion_clear N as [|? ? Nx _]. apply Nx. rewrite in_app_iff. left.
          destruct x as [r' n' p' o']. injection Cx as -> ->. simpl in *. now subst. }
        assert (Le : lies s (r, i) p <= m (place x)) by (apply Hd; auto; lia).
        unfold happened. destruct (got_grow u1 [Event r n 0 o] (r, i)) as (more & ->). rewrite app_length.
        assert (Hh : happened (after u1) r i p) by (apply Here; auto; lia). unfold happened in Hh. lia.
    Qed.

    Let whole : computation (u1 ++ l1 ++ rest ++ l2).
    Proof.
      apply (extended_computation u1 rest r n o l1 l2 old).
      - intros x I. now apply w_sound.
      - exact heads_cut.
      - destruct l1_first as (l0 & ->). discriminate.
      - exact l1_valid.
    Qed.

    Notation t := (u1 ++ l1 ++ rest ++ l2).

    Lemma old_new x : In x (u1 ++ rest) -> command_of x <> (r, n).
    Proof.
      apply (new_command u1 rest r n o l1 l2 old).
      - intros y I. now apply w_sound.
      - exact heads_cut.
      - destruct l1_first as (l0 & ->). discriminate.
      - exact l1_valid.
    Qed.

    Lemma in_chain_command x : In x (chain r n o) -> command_of x = (r, n).
    Proof. intros I. apply in_chain in I. tauto. Qed.

    (** On which head an event lies now. *)
    Lemma in_head x k : In x (nth k (heads h w') []) <->
      (In x (u1 ++ rest) \/ In x (chain r n o)) /\ lies' (command_of x) (place x) = k.
    Proof.
      destruct w_sound as (_ & _ & _ & Li). unfold heads. rewrite in_nth_parts, head_more, in_app_iff, in_filter.
      unfold on_head. unfold is_true at 1. rewrite Nat.eqb_eq.
      assert (Old : In x (u1 ++ rest) <-> exists k, k < h /\ In x (head w k)).
      { rewrite <- first_part by auto. rewrite in_parts. setoid_rewrite in_nth_parts. tauto. }
      split.
      - intros (L & [I|[I E]]).
        + assert (Io : In x (u1 ++ rest)) by (apply Old; eauto). split; [auto|].
          destruct (command_eq_dec (command_of x) (r, n)) as [C|_]; [destruct (old_new x Io C)|].
          apply Li. apply in_nth_parts. auto.
        + split; [auto|]. rewrite (in_chain_command x I). destruct (command_eq_dec (r, n) (r, n)); tauto.
      - intros ([I|I] & E).
        + destruct (command_eq_dec (command_of x) (r, n)) as [C|_]; [destruct (old_new x I C)|].
          apply Old in I as (k' & L & I). replace k with k'; [auto|].
          rewrite <- E. symmetry. apply Li. apply in_nth_parts. auto.
        + rewrite (in_chain_command x I) in E. destruct (command_eq_dec (r, n) (r, n)); [|tauto]. subst k.
          split; [|auto]. destruct may_be as (_ & _ & B & _). apply B. now apply in_chain in I.
    Qed.

    Notation u := (concat (heads h w')).

    Lemma in_t x : In x t <-> In x (u1 ++ rest) \/ In x (chain r n o).
    Proof.
      assert (Cut : In x (chain r n o) <-> In x l1 \/ In x l2).
      { pose proof heads_cut as Cut. split; intros I; [rewrite Cut in I; now apply in_app_iff in I|].
        rewrite Cut. now apply in_app_iff. }
      rewrite Cut, !(in_app_iff u1), !in_app_iff. tauto.
    Qed.

    Lemma in_all x : In x u <-> In x t.
    Proof. rewrite in_t, in_parts. setoid_rewrite in_head. split; [intros (k & H & _); exact H|eauto]. Qed.

    Lemma chain_nd : NoDup (chain r n o).
    Proof. rewrite heads_cut. exact (chain_nodup r n o l1 l2 heads_cut). Qed.

    Lemma all_nodup : NoDup u.
    Proof.
      apply parts_nodup; [|intros i k x; rewrite !in_head; intros [_ <-] [_ <-]; reflexivity].
      intros i. unfold heads. rewrite nth_parts, head_more. destruct (i <? h) eqn:E; [|constructor]. apply nodup_app.
      - pose proof (part_nodup (heads h w) i) as N. unfold heads at 2 in N. rewrite nth_parts, E in N. apply N.
        rewrite first_part by auto. exact (valid_nodup _ old_valid).
      - apply NoDup_filter, chain_nd.
      - intros x I J. apply in_filter in J as [J _]. apply (old_new x); [|now apply in_chain_command].
        rewrite <- first_part by auto. apply in_parts. exists i. apply in_nth_parts. apply Nat.ltb_lt in E. auto.
    Qed.

    Lemma all_first : u = (u1 ++ l1) ++ concat (tl (heads h w')).
    Proof. rewrite first_part by auto. now rewrite head_more. Qed.

    Lemma in_front x y (v : list event) : NoDup ((u1 ++ l1) ++ v) -> In y (u1 ++ l1) ->
      (before ((u1 ++ l1) ++ v) x y <-> before (u1 ++ l1) x y).
    Proof.
      intros N I. split; [intros B; exact (before_prefix (u1 ++ l1) v x y N I B)|]. intros B. apply before_app. auto.
    Qed.

    Lemma front_t : t = (u1 ++ l1) ++ rest ++ l2.
    Proof. now rewrite <- app_assoc. Qed.

    Let t_nodup : NoDup t := valid_nodup _ (proj1 (proj1 (computation_valid _) whole)).

    Lemma same_front x y : In y (u1 ++ l1) -> (before u x y <-> before t x y).
    Proof.
      intros I. pose proof all_nodup as N. pose proof t_nodup as N'. rewrite all_first in N |- *. rewrite front_t in N' |- *.
      now rewrite !in_front.
    Qed.

    Lemma issues_first x : In x t -> is_issue x -> In x (u1 ++ l1).
    Proof.
      intros I H. rewrite !in_app_iff in *. destruct I as [I|[I|[I|I]]]; auto; exfalso.
      - destruct w_sound as (_ & (St & _) & _). exact (St x I H).
      - apply (l2_steps r n o l1 l2 heads_cut) with x; auto. destruct l1_first as (l0 & ->). discriminate.
    Qed.

    (** Old events keep their order, and those of a command come in theirs. *)
    Lemma old_order x y : In x (u1 ++ rest) -> In y (u1 ++ rest) -> before t x y -> before u x y.
    Proof.
      intros Ix Iy B. assert (Bo : before (u1 ++ rest) x y).
      { destruct (before_total (u1 ++ rest) x y) as [|B']; auto; [intros ->; exact (before_irrefl _ _ t_nodup B)|].
        exfalso. apply (before_asym _ _ _ t_nodup B). exact (extended_order u1 rest l1 l2 y x B'). }
      rewrite <- first_part in Bo by auto. apply before_parts in Bo as (i & k & Hi & Hk & H). apply before_parts.
      assert (In_old : forall z p, In z (nth p (heads h w) []) -> In z (nth p (heads h w') [])).
      { intros z p. unfold heads. rewrite !in_nth_parts, head_more, in_app_iff. tauto. }
      exists i, k. split; [auto|]. split; [auto|]. destruct H as [|[-> H]]; [auto|right]. split; [auto|].
      unfold heads in H |- *. rewrite nth_parts in H |- *. destruct (k <? h); [|destruct H].
      rewrite head_more, before_app. auto.
    Qed.

    Lemma heads_order x y : In x t -> In y (chain r n o) ->
      (In x (u1 ++ rest) /\ lies s (command_of x) (place x) <= m (place y)) \/
      (In x (chain r n o) /\ before (chain r n o) x y /\ m (place x) <= m (place y)) -> before u x y.
    Proof.
      intros It Iy H. apply before_parts. exists (lies' (command_of x) (place x)), (m (place y)).
      rewrite !in_head. rewrite (in_chain_command y Iy). destruct (command_eq_dec (r, n) (r, n)); [|tauto].
      destruct H as [(Ix & L)|(Ix & B & L)].
      - destruct (command_eq_dec (command_of x) (r, n)) as [C|_]; [destruct (old_new x Ix C)|].
        split; [auto|]. split; [auto|]. destruct (Nat.eq_dec (lies s (command_of x) (place x)) (m (place y))) as [E|]; [|left; lia].
        right. split; [auto|]. rewrite E. unfold heads. rewrite nth_parts.
        assert (Lh : m (place y) < h) by (destruct may_be as (_ & _ & M & _); apply M; now apply in_chain in Iy).
        apply Nat.ltb_lt in Lh. rewrite Lh, head_more. apply before_app. right. right. split.
        + assert (Ih : In x (nth (m (place y)) (heads h w') [])).
          { apply in_head. destruct (command_eq_dec (command_of x) (r, n)) as [C|_]; [destruct (old_new x Ix C)|auto]. }
          apply in_nth_parts in Ih as [_ Ih]. rewrite head_more in Ih. apply in_app_iff in Ih as [Ih|Ih]; [auto|].
          apply in_filter in Ih as [Ih _]. destruct (old_new x Ix). now apply in_chain_command.
        + apply in_filter. split; [auto|]. apply Nat.eqb_refl.
      - rewrite (in_chain_command x Ix). destruct (command_eq_dec (r, n) (r, n)); [|tauto].
        split; [auto|]. split; [auto|]. destruct (Nat.eq_dec (m (place x)) (m (place y))) as [E|]; [|left; lia].
        right. split; [auto|]. rewrite E. unfold heads. rewrite nth_parts.
        assert (Lh : m (place y) < h) by (destruct may_be as (_ & _ & M & _); apply M; now apply in_chain in Iy).
        apply Nat.ltb_lt in Lh. rewrite Lh, head_more. apply before_app. right. left.
        apply before_filter. split; [auto|]. unfold on_head. rewrite E. split; apply Nat.eqb_refl.
    Qed.

    Lemma t_valid : valid t.
    Proof. exact (proj1 (proj1 (computation_valid _) whole)). Qed.

    Lemma chain_order x y : In x (chain r n o) -> In y (chain r n o) -> before t x y ->
      before (chain r n o) x y /\ m (place x) <= m (place y).
    Proof.
      intros Ix Iy B. destruct (before_in _ _ _ B) as [Ixt Iyt]. split.
      - destruct (before_total (chain r n o) x y) as [|B']; auto; [intros ->; exact (before_irrefl _ _ t_nodup B)|].
        exfalso. apply (before_asym _ _ _ t_nodup B). rewrite heads_cut in B'. apply before_app in B'.
        rewrite !before_app, !in_app_iff. tauto.
      - assert (L : place x < place y).
        { apply (same_command_order t x y t_valid Ixt Iyt); [|auto]. now rewrite !in_chain_command. }
        destruct may_be as (_ & Mono & _). apply (monotone_on m (length (steps o))); auto; [lia|].
        now apply in_chain in Iy.
    Qed.

    Lemma linked_order x y : before t x y -> linked t (must t) x y -> before u x y.
    Proof.
      intros B L. destruct (before_in _ _ _ B) as [Ix Iy].
      assert (Where : forall z, In z t -> In z (u1 ++ rest) \/ In z (chain r n o)) by (intros z; apply in_t).
      destruct (Where y Iy) as [Oy|Cy].
      - destruct (Where x Ix) as [Ox|Cx]; [now apply old_order|].
        (* x comes before an old event: it lies in the first part *)
        destruct (in_dec event_eq_dec y (u1 ++ l1)) as [F|F]; [now apply same_front|].
        apply before_parts. exists 0, (lies s (command_of y) (place y)). rewrite !in_head.
        rewrite (in_chain_command x Cx). destruct (command_eq_dec (r, n) (r, n)); [|tauto].
        destruct (command_eq_dec (command_of y) (r, n)) as [C|_]; [destruct (old_new y Oy C)|].
        assert (Fx : In x l1).
        { rewrite front_t in B. apply before_app in B as [B|[B|[I _]]].
          - apply before_in in B. tauto.
          - exfalso. rewrite before_app in B. destruct B as [B|[B|[_ B]]].
            + apply before_in in B as [B _]. apply (old_new x); [rewrite in_app_iff; auto|now apply in_chain_command].
            + apply before_in in B as [_ B]. apply in_filter in B as [B _]. apply (old_new y Oy). now apply in_chain_command.
            + apply in_filter in B as [B _]. apply (old_new y Oy). now apply in_chain_command.
          - apply in_app_iff in I as [I|I]; [|auto]. exfalso. apply (old_new x); [rewrite in_app_iff; auto|now apply in_chain_command]. }
        apply in_filter in Fx as [_ Fx]. apply Nat.eqb_eq in Fx.
        split; [auto|]. split; [auto|]. left. destruct (lies s (command_of y) (place y)) as [|k] eqn:E; [|lia]. exfalso. apply F.
        destruct w_sound as (_ & _ & _ & Li). rewrite in_app_iff. left. rewrite <- first_part in Oy by auto.
        apply in_parts in Oy as (k & Oy). pose proof (Li y k Oy) as Ek. rewrite E in Ek. subst k.
        now apply in_nth_parts in Oy.
      - destruct (Where x Ix) as [Ox|Cx]; [|apply heads_order; auto; right; split; [auto|now apply chain_order]].
        destruct L as [E|[(Hx & Hy & _)|M]].
        + simpl in E. rewrite (in_chain_command y Cy) in E. destruct (old_new x Ox E).
        + apply same_front; [now apply issues_first|auto].
        + destruct (is_true_dec (is_issue y)) as [Hy|Hy]; [apply same_front; [now apply issues_first|auto]|].
          apply heads_order; auto. left. split; [auto|].
          assert (Np : place y <> 0) by (intros Z; apply Hy; unfold is_issue; now rewrite Z).
          pose proof (in_chain_command y Cy) as Ey. injection Ey as Ry Ny.
          pose proof M as M'. apply must_iff in M' as (R & Lt & Hx & M').
          assert (Hi : In (Event r n 0 o) t).
          { rewrite !in_app_iff. right. left. destruct l1_first as (l0 & ->). simpl. auto. }
          assert (Past : past t y = ops (first s) r).
          { destruct l1_first as (l0 & E). pose proof t_valid as V. unfold past. rewrite Ry, Ny. rewrite E in V |- *.
            pose proof (past_issue u1 (Event r n 0 o) (l0 ++ rest ++ l2) V eq_refl) as Pi. rewrite first_u1. exact Pi. }
          pose proof (step_of_past t y x t_valid Iy Ix R Lt Hx) as St. rewrite Past in St, M'.
          destruct (is_issue y); [destruct Hy; reflexivity|]. pose proof Cy as Cy'. apply in_chain in Cy' as (_ & Oy & Py).
          rewrite Oy in M'. unfold command_of. rewrite R, Ry. apply may_be; auto. split; [|auto].
          lia.
    Qed.

    Lemma generated_computation : computation u.
    Proof.
      set (kept := fun y => In y (u1 ++ l1)).
      assert (Front : forall x y, kept y -> before t x y -> kept x).
      { unfold kept. intros x y I B. rewrite front_t in B. apply in_front in B; auto; [|now rewrite <- front_t].
        now apply before_in in B. }
      assert (Incl : forall x, In x u -> In x t) by (intros x; apply in_all).
      assert (Linked : forall x y, In y u -> before t x y -> linked t (must t) x y -> before u x y).
      { intros x y _. apply linked_order. }
      assert (Command : forall x y, kept y -> In y u -> before t x y -> command_of x = command_of y -> kept x) by eauto.
      assert (Reads : forall v y, kept y -> In y u -> reads y -> writes v -> clash v y ->
        (before u v y <-> before t v y) /\ (before t v y -> kept v)).
      { intros v y Iy _ _ _ _. split; [now apply same_front|eauto]. }
      assert (Writes : forall v z y, kept y -> In y u -> reads y -> writes v -> writes z -> clash v y -> clash z y ->
        clash v z -> before t v z -> before t z y -> before u v z).
      { intros v z y Iy _ _ _ _ _ _ _ B Bz. apply same_front; [exact (Front z y Iy Bz)|auto]. }
      assert (Issues : forall y, In y u -> is_issue y ->
        (forall x, program_order t x y -> kept x) /\ (kept y \/ steps (op y) <> [])).
      { intros y Iy Hy. assert (F : kept y) by (apply issues_first; auto). split; [|auto].
        intros x (_ & _ & _ & B). exact (Front x y F B). }
      pose proof all_nodup as Nu. pose proof t_valid as Vt. destruct (rearrangement t u kept) as [V _]; auto.
      apply computation_valid. split; [auto|]. apply (rearrangement_final t u kept); auto.
      - intros x y _ Ix _. now apply in_all.
      - exact (proj2 (proj1 (computation_valid _) whole)).
    Qed.

    Lemma generated_sound : sound h w' (Heads_state (fold_left happen l1 (first s)) lies').
    Proof.
      split; [exact generated_computation|]. split; [|split].
      - pose proof w_sound as (_ & (Steps & Order) & _). pose proof old_new as New. split.
        + intros y I H. apply in_parts in I as (k & I).
          assert (I' : In y (nth (S k) (heads h w') [])) by (destruct (heads h w'); [destruct k|]; exact I).
          apply in_head in I' as ([I'|I'] & E).
          * destruct (command_eq_dec (command_of y) (r, n)) as [C|_]; [destruct (New y I' C)|].
            rewrite <- first_part in I' by auto. apply in_parts in I' as (k' & I').
            pose proof w_sound as (_ & _ & _ & Li). rewrite (Li y k' I') in E. subst k'. apply (Steps y); [|exact H].
            apply in_parts. exists k. destruct (heads h w); [destruct k|]; exact I'.
          * rewrite (in_chain_command y I') in E. destruct (command_eq_dec (r, n) (r, n)); [|tauto].
            unfold is_issue, is_true in H. apply Nat.eqb_eq in H. rewrite H in E. destruct may_be as (Z & _). lia.
        + intros i k x y part Hp Hi Hk B N Ex Ey Ix Iy. apply In_nth with (d := []) in Hp as (p & Lp & <-).
          assert (Hd : hd [] (heads h w') = u1 ++ l1) by (rewrite hd_heads by auto; apply head_more). rewrite Hd in B.
          unfold heads, parts in Lp. rewrite map_length, seq_length in Lp.
          unfold heads in Ix, Iy |- *. rewrite nth_parts in Ix, Iy |- *. apply Nat.ltb_lt in Lp. rewrite Lp in *.
          rewrite head_more in Ix, Iy |- *.
          assert (Chain : forall z q, In z (filter (on_head m q) (chain r n o)) -> command_of z = (r, n)).
          { intros z q I. apply in_filter in I as [I _]. now apply in_chain_command. }
          assert (Oi : In i u1).
          { destruct (before_in _ _ _ B) as [I _]. apply in_app_iff in I as [I|I]; [auto|exfalso].
            apply before_app in B as [B|[B|[J _]]].
            - apply before_in in B as [J _]. apply (New i); [rewrite in_app_iff; auto|exact (Chain i 0 I)].
            - apply before_in in B as [_ J]. apply N. now rewrite (Chain i 0 I), (Chain k 0 J).
            - apply (New i); [rewrite in_app_iff; auto|exact (Chain i 0 I)]. }
          assert (Ci : command_of i <> (r, n)) by (apply New; rewrite in_app_iff; auto).
          assert (Ox : In x (head w p)).
          { apply in_app_iff in Ix as [Ix|Ix]; [auto|]. destruct Ci. rewrite <- Ex. exact (Chain x p Ix). }
          apply before_app. apply in_app_iff in Iy as [Iy|Iy]; [left|auto].
          assert (Ok : In k u1).
          { destruct (before_in _ _ _ B) as [_ I]. apply in_app_iff in I as [I|I]; [auto|exfalso].
            apply (New y); [|rewrite Ey; exact (Chain k 0 I)]. rewrite <- first_part by auto. apply in_parts. exists p.
            unfold heads. now rewrite nth_parts, Lp. }
          apply (Order i k x y (head w p)); auto.
          * unfold heads. assert (E : head w p = nth p (parts h (head w)) []) by now rewrite nth_parts, Lp.
            rewrite E. apply nth_In. unfold parts. rewrite map_length, seq_length. now apply Nat.ltb_lt.
          * rewrite hd_heads by auto. apply (before_prefix u1 l1 i k); auto. exact (valid_nodup _ l1_valid).
      - cbn [first]. rewrite head_more. unfold after. rewrite fold_left_app. fold (after u1). now rewrite first_u1.
      - intros x k I. now apply in_head in I.
    Qed.
  End Generate.

  Lemma generates_sound h w s : 0 < h -> generates h w s -> sound h w s.
  Proof.
    intros L. induction 1 as [|w s r n o m _ IH En Be]; [|now apply generated_sound].
    assert (Nil : forall k, nth k (heads h []) [] = []).
    { intros k. unfold heads. rewrite nth_parts. now destruct (k <? h). }
    assert (E : concat (heads h []) = []).
    { destruct (concat (heads h [])) as [|x l] eqn:E; [auto|]. assert (I : In x (concat (heads h []))) by (rewrite E; simpl; auto).
      apply in_parts in I as (k & I). rewrite Nil in I. destruct I. }
    split; [|split; [split|split]].
    - rewrite E. apply computation_valid. split; [apply valid_nil|]. intros k q o H. destruct q; discriminate H.
    - intros y I. exfalso. rewrite first_part in E by auto. apply app_eq_nil in E as [_ E]. rewrite E in I. destruct I.
    - intros i k x y part Hp _ _ _ _ _ _ Ix. apply In_nth with (d := []) in Hp as (p & _ & <-). rewrite Nil in Ix. destruct Ix.
    - reflexivity.
    - intros x k I. rewrite Nil in I. destruct I.
  Qed.

  (** Every computation in normal form is generated. *)

  Fixpoint part_of (ps : list (list event)) x : nat :=
    match ps with [] => 0 | l :: ps' => if in_dec event_eq_dec x l then 0 else S (part_of ps' x) end.

  Lemma in_part_of ps x : In x (concat ps) -> In x (nth (part_of ps x) ps []) /\ part_of ps x < length ps.
  Proof.
    induction ps as [|l ps IH]; simpl; [tauto|]. rewrite in_app_iff. intros I.
    destruct (in_dec event_eq_dec x l) as [Il|Il]; [split; [auto|lia]|].
    destruct IH as [I' L]; [tauto|]. split; [auto|lia].
  Qed.

  Lemma concat_without c (ps : list (list event)) : concat (map (without c) ps) = without c (concat ps).
  Proof. unfold without. now rewrite <- concat_filter_map. Qed.

  Lemma nth_without c (ps : list (list event)) k : nth k (map (without c) ps) [] = without c (nth k ps []).
  Proof. exact (map_nth (without c) ps [] k). Qed.

  Lemma normal_without c ps : normal_form ps -> normal_form (map (without c) ps).
  Proof.
    intros [St Or]. split.
    - intros y I. apply (St y). destruct ps as [|l ps]; [destruct I|]. simpl in *. rewrite concat_without in I.
      now apply in_without in I.
    - intros i k x y part Hp Hi Hk B N Ex Ey Ix Iy. apply in_map_iff in Hp as (l & <- & Il).
      apply in_without in Ix as [Ix Nx]. apply in_without in Iy as [Iy Ny]. apply before_without.
      split; [|auto]. apply (Or i k); auto. destruct ps as [|l0 ps]; [destruct B|]. simpl in *. now apply before_without in B.
  Qed.

  Section Last_generated.
    Variables (ps : list (list event)) (j : event) (w : list (nat * event)) (s : heads_state).
    Notation h := (length ps).
    Notation e := (command_of j).
    Notation t := (concat ps).
    Hypothesis t_computation : computation t.
    Hypothesis ps_normal : normal_form ps.
    Hypothesis j_last : last_issue t j.
    Hypothesis w_generates : generates h w s.
    Hypothesis w_heads : heads h w = map (without e) ps.

    Let V : valid t := proj1 (proj1 (computation_valid t) t_computation).
    Let N : NoDup t := valid_nodup t V.
    Definition goes (p : nat) : nat := part_of ps (Event (rank j) (number j) p (op j)).

    Let some_head : 0 < h.
    Proof. destruct j_last as (I & _). destruct ps; [destruct I|simpl; lia]. Qed.
    Let w_sound : sound h w s := generates_sound h w s some_head w_generates.

    Lemma in_e x : In x (chain (rank j) (number j) (op j)) <-> In x t /\ command_of x = e.
    Proof.
      rewrite <- (chain_of t j t_computation (proj1 j_last)), in_filter. now rewrite of_cmd_iff.
    Qed.

    Lemma e_event p : p <= length (steps (op j)) -> In (Event (rank j) (number j) p (op j)) t.
    Proof. intros L. apply in_e, in_chain. simpl. auto. Qed.

    Lemma issue_part i : In i t -> is_issue i -> In i (nth 0 ps []).
    Proof.
      intros I H. apply in_parts in I as ([|k] & I); [auto|]. exfalso. apply (proj1 ps_normal i); [|auto].
      apply in_parts. exists k. destruct ps; [destruct k|]; exact I.
    Qed.

    (** In each part, the events of e come last. *)
    Lemma e_at_end k x y : before (nth k ps []) x y -> command_of x = e -> command_of y = e.
    Proof.
      intros B Ex. destruct (command_eq_dec (command_of y) e) as [|Ny]; [auto|exfalso].
      destruct (before_in _ _ _ B) as [Ix Iy].
      assert (It : forall z, In z (nth k ps []) -> In z t) by (intros z I; apply in_parts; eauto).
      destruct (issue_of t y V (It y Iy)) as (i & Ii & Ei & Hi).
      assert (Bi : before t i j).
      { destruct (issued_before_j t j j_last i Ii Hi) as [->|]; [congruence|auto]. }
      assert (Bp : before (hd [] ps) i j).
      { destruct j_last as (Ij & Hj & _). pose proof (part_order ps 0 0 i j N (issue_part i Ii Hi) (issue_part j Ij Hj) Bi) as H.
        destruct H as [H|[_ H]]; [lia|]. destruct ps; exact H. }
      assert (Bk : before (nth k ps []) y x).
      { apply (proj2 ps_normal i j); auto; try congruence; [|apply j_last].
        destruct (nth_in_or_default k ps []) as [|E]; [auto|]. rewrite E in Ix. destruct Ix. }
      exact (before_asym _ _ _ (part_nodup ps k N) B Bk).
    Qed.

    Lemma old_part x k : In x (nth k (heads h w) []) <-> In x (nth k ps []) /\ command_of x <> e.
    Proof. rewrite w_heads, nth_without. exact (in_without e (nth k ps []) x). Qed.

    Lemma goes_part p : p <= length (steps (op j)) ->
      In (Event (rank j) (number j) p (op j)) (nth (goes p) ps []) /\ goes p < h.
    Proof. intros L. apply in_part_of. now apply e_event. Qed.

    (** What was issued before e. *)
    Lemma first_j : exists a b, t = a ++ j :: b /\ first s = after a.
    Proof.
      destruct j_last as (Ij & Hj & _). pose proof (issue_part j Ij Hj) as I0.
      assert (Et : t = nth 0 ps [] ++ concat (tl ps)) by now destruct ps.
      apply in_split in I0 as (a & b & E). exists a, (b ++ concat (tl ps)).
      assert (Et' : t = a ++ j :: b ++ concat (tl ps)) by (rewrite Et, E, <- app_assoc; reflexivity).
      split; [exact Et'|]. destruct w_sound as (_ & _ & -> & _). f_equal.
      assert (Eh : head w 0 = without e (nth 0 ps [])).
      { rewrite <- nth_without, <- w_heads. unfold heads. now rewrite nth_parts, (proj2 (Nat.ltb_lt 0 h) some_head). }
      rewrite Eh, E. pose proof (part_nodup ps 0 N) as Np. rewrite E in Np.
      apply same_order_equal.
      - now apply NoDup_filter.
      - now apply nodup_prefix in Np.
      - intros x. rewrite in_without. split.
        + intros [I Nx]. apply in_app_iff in I as [I|[<-|I]]; [auto|destruct Nx; reflexivity|exfalso].
          apply Nx. apply (e_at_end 0 j x); [|reflexivity]. rewrite E. apply before_app. simpl. auto.
        + intros I. split; [rewrite in_app_iff; auto|]. apply (before_j_not_e t j V j_last). rewrite Et', before_app. simpl. auto.
      - intros x y B. apply before_without in B as (B & _ & Ny). apply (before_prefix a (j :: b)); auto.
        destruct (before_in _ _ _ B) as [_ I]. apply in_app_iff in I as [I|[<-|I]]; [auto|destruct Ny; reflexivity|exfalso].
        apply Ny. apply (e_at_end 0 j y); [|reflexivity]. rewrite E. apply before_app. simpl. auto.
    Qed.

    Lemma e_enabled : enabled s (rank j) (number j) (op j).
    Proof.
      destruct first_j as (a & b & Et & Fi). pose proof V as Va. rewrite Et in Va.
      destruct (allowed_at a j b Va) as [_ A]. destruct j_last as (Ij & Hj & _). rewrite Hj in A.
      destruct A as (Pa & Nu & En & Aw). unfold enabled. rewrite Fi.
      assert (Ej : Event (rank j) (number j) 0 (op j) = j).
      { apply Nat.eqb_eq in Hj. destruct j. simpl in *. now subst. }
      rewrite Ej. split; [auto|]. split; [auto|]. split; [auto|]. intros i p St Aw'. specialize (Aw i p St Aw').
      apply happened_event in Aw; [|now apply valid_prefix in Va]. destruct Aw as (y & Iy & Cy & Py).
      destruct w_sound as (_ & _ & _ & Li). rewrite <- Cy, <- Py. apply Li. apply old_part.
      assert (By : before t y j) by (rewrite Et, before_app; simpl; auto).
      split; [|exact (before_j_not_e t j V j_last y By)].
      assert (Iyt : In y t) by (rewrite Et, in_app_iff; auto). apply in_parts in Iyt as (k & Iyk).
      destruct (part_order ps k 0 y j N Iyk (issue_part j Ij Hj) By) as [H|[-> _]]; [lia|auto].
    Qed.

    Lemma e_may_lie : may_lie h s (rank j) (op j) goes.
    Proof.
      destruct first_j as (a & b & Et & Fi). destruct j_last as (Ij & Hj & _).
      split; [|split; [|split]].
      - assert (Ej : Event (rank j) (number j) 0 (op j) = j).
        { apply Nat.eqb_eq in Hj. destruct j. simpl in *. now subst. }
        apply (same_part ps _ _ j N); [|now apply issue_part]. rewrite <- Ej at 1. apply goes_part. lia.
      - intros p L. destruct (goes_part p) as [I1 _]; [lia|]. destruct (goes_part (S p)) as [I2 _]; [lia|].
        assert (B : before t (Event (rank j) (number j) p (op j)) (Event (rank j) (number j) (S p) (op j))).
        { apply (same_command_order t _ _ V); [apply e_event; lia|apply e_event; lia|reflexivity|simpl; lia]. }
        destruct (part_order ps _ _ _ _ N I1 I2 B) as [H|[H _]]; lia.
      - intros p L. now apply goes_part.
      - intros p i q Pp St Hd. destruct (step_lies h w s (rank j) i q some_head w_sound St) as (y & Cy & Py & Iy).
        apply old_part in Iy as [Iy Ny]. destruct (goes_part p) as [Ix _]; [lia|].
        set (x := Event (rank j) (number j) p (op j)) in *.
        assert (Past : past t x = ops (first s) (rank j)).
        { rewrite Fi. pose proof V as Va. rewrite Et in Va |- *. exact (past_issue a j b Va Hj). }
        assert (Li : i < number j).
        { destruct e_enabled as (_ & -> & _). destruct St as (o' & Eo & _). apply nth_error_Some. congruence. }
        assert (B : before t y x).
        { apply must_obeyed_by; auto; [|now apply e_event|apply in_parts; eauto].
          apply must_iff. injection Cy as Ry Ny'. rewrite Ry, Ny', Py. split; [reflexivity|]. split; [exact Li|]. split.
          - destruct St as (o' & _ & Pq). unfold is_issue, is_true. rewrite Nat.eqb_eq. lia.
          - assert (Hx : is_issue x = false) by (unfold is_issue; apply Nat.eqb_neq; simpl; lia).
            rewrite Hx, Past. exact Hd. }
        destruct (part_order ps _ _ _ _ N Iy Ix B) as [H|[H _]]; lia.
    Qed.

    Lemma e_generated : exists w' s', generates h w' s' /\ heads h w' = ps.
    Proof.
      eexists. eexists. split; [exact (generates_command h w s _ _ _ goes w_generates e_enabled e_may_lie)|].
      apply nth_ext with (d := []) (d' := []); unfold heads, parts; rewrite map_length, seq_length; [reflexivity|].
      intros k Lk. fold (parts h (head (w ++ map (fun x => (goes (place x), x)) (chain (rank j) (number j) (op j))))).
      rewrite nth_parts. apply Nat.ltb_lt in Lk as Lk'. rewrite Lk', head_more.
      assert (Eh : head w k = without e (nth k ps [])).
      { rewrite <- nth_without, <- w_heads. unfold heads. now rewrite nth_parts, Lk'. }
      rewrite Eh. rewrite (filter_split (of_command e) (nth k ps [])) at 2.
      2:{ intros x y B. rewrite !of_command_iff. exact (e_at_end k x y B). }
      f_equal. assert (Goes : forall x, In x (chain (rank j) (number j) (op j)) -> In x (nth (goes (place x)) ps [])).
      { intros x I. apply in_chain in I as (Cx & Ox & Px). injection Cx as Rx Nx. rewrite <- Ox in Px.
        destruct x as [rx nx px ox]. simpl in *. subst. now apply goes_part. }
      apply same_order_equal; try apply NoDup_filter.
      - rewrite <- (chain_of t j t_computation (proj1 j_last)). now apply NoDup_filter.
      - now apply part_nodup.
      - intros x. rewrite !in_filter, of_command_iff. unfold on_head, is_true at 1. rewrite Nat.eqb_eq. split.
        + intros [I <-]. split; [now apply Goes|]. now apply in_e in I.
        + intros [I Ex]. assert (Ic : In x (chain (rank j) (number j) (op j))).
          { apply in_e. split; [apply in_parts; eauto|exact Ex]. }
          split; [auto|]. apply (same_part ps _ _ x N); [now apply Goes|auto].
      - intros x y. rewrite !before_filter, !of_command_iff. unfold on_head, is_true. rewrite !Nat.eqb_eq.
        intros (B & Ex & Ey). destruct (before_in _ _ _ B) as [Ix Iy]. pose proof (Goes x Ix) as Gx. pose proof (Goes y Iy) as Gy.
        apply in_e in Ix as [Ix Cx]. apply in_e in Iy as [Iy Cy]. split; [|split; [exact Cx|exact Cy]].
        rewrite <- (chain_of t j t_computation (proj1 j_last)) in B. apply before_filter in B as (B & _).
        rewrite Ex in Gx. rewrite Ey in Gy. destruct (part_order ps k k x y N Gx Gy B) as [H|[_ H]]; [lia|auto].
    Qed.
  End Last_generated.

  Lemma generates_complete ps : ps <> [] -> computation (concat ps) -> normal_form ps ->
    exists w s, generates (length ps) w s /\ heads (length ps) w = ps.
  Proof.
    remember (length (concat ps)) as n eqn:E. revert ps E. induction n as [n IH] using lt_wf_ind. intros ps -> Some_ C Nf.
    destruct (concat ps) as [|x0 t0] eqn:E.
    - exists [], (Heads_state initial (fun _ _ => 0)). split; [apply generates_nothing|].
      apply nth_ext with (d := []) (d' := []); unfold heads; [unfold parts; now rewrite map_length, seq_length|].
      intros k _. rewrite nth_parts. destruct (nth k ps []) as [|x l] eqn:Ek; [now destruct (k <? length ps)|].
      assert (I : In x (concat ps)) by (apply in_parts; exists k; rewrite Ek; simpl; auto). rewrite E in I. destruct I.
    - rewrite <- E in *. destruct (last_issue_exists (concat ps)) as (j & J).
      { now apply computation_valid in C. }
      { rewrite E. discriminate. }
      destruct (cancellation (concat ps) j C J) as (C' & L & _). rewrite <- concat_without in C', L.
      destruct (IH _ L (map (without (command_of j)) ps) eq_refl) as (w & s & G & H); auto.
      + destruct ps; [tauto|discriminate].
      + now apply normal_without.
      + rewrite map_length in G, H. exact (e_generated ps j w s C Nf J G H).
  Qed.

  (** Lemma 12: what Y generates on h heads are the computations in normal form with h parts. *)
  Theorem heads_are_normal_forms ps : ps <> [] ->
    ((exists w s, generates (length ps) w s /\ heads (length ps) w = ps) <-> computation (concat ps) /\ normal_form ps).
  Proof.
    intros Some_. split; [|intros [C Nf]; now apply generates_complete]. intros (w & s & G & E).
    assert (L : 0 < length ps) by (destruct ps; [tauto|simpl; lia]).
    destruct (generates_sound _ w s L G) as (C & Nf & _). now rewrite E in C, Nf.
  Qed.

  (** So two heads decide robustness, and so does any greater number. *)
  Theorem robust_iff_heads h : 2 <= h ->
    (forall t, computation t -> ~ violating t) <->
    (forall w s, generates h w s -> ~ violating (concat (heads h w))).
  Proof.
    intros L. split.
    - intros H w s G. apply H. apply (generates_sound h w s); [lia|auto].
    - intros H t C Vi. destruct (two_parts t C Vi) as (s & e & e1 & e2 & D & _ & _ & _ & _ & Cu & Vu & Nf).
      set (u1 := _ ++ e1) in *. set (u2 := _ ++ e2) in *. set (ps := u1 :: u2 :: repeat [] (h - 2)).
      assert (None : concat (repeat (@nil event) (h - 2)) = []) by (induction (h - 2); auto).
      assert (Ec : concat ps = u1 ++ u2) by (simpl; now rewrite None, app_nil_r).
      assert (Len : length ps = h) by (simpl; rewrite repeat_length; lia).
      destruct (generates_complete ps) as (w & q & G & E); [discriminate|now rewrite Ec| |].
      + destruct Nf as [St Or]. split.
        * intros y I. apply (St y). simpl in *. now rewrite None in I.
        * intros i k x y part [<-|[<-|Hp]] Hi Hk B N Ex Ey Ix Iy; try (apply (Or i k); simpl; auto).
          apply repeat_spec in Hp. subst part. destruct Ix.
      + rewrite Len in G, E. apply (H w q G). now rewrite E, Ec.
  Qed.
End Parts.
