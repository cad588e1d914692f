(** * Normal forms with as many parts as one likes

    proofs/normal-form.md: Lemma 8 (a command that closes a cycle is put back into a run in blocks), and Theorem 5.
    The paper's operations have two steps, and its normal form has four parts; a command of n
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
End Parts.
