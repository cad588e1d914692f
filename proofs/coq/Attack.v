(** * The attack search: Found iff some computation is violating

    proofs/attack.md, sections 2 to 4, and section 3 of the algorithm behind it, with words for states: the state of X
    after the events that happen now is the search's, and what has to wait is kept as a list. (m1), (m2), (m3) and (m3')
    are [move_source], [found], [move_reached] with [move_other], and [move_further]; (m4) is (m3), as a barrier is one
    command of all ranks. *)

Require FinFun.
Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Rearrange Pgas.Programs Pgas.NormalForm.

Section Attack.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Notation event := (Network.event Op).
  Implicit Types (x y z : event) (w l : list event).

  (** The events of a command, in their order. *)
  Definition chain (r n : nat) (o : Op) : list event := map (fun p => Event r n p o) (seq 0 (S (length (steps o)))).

  Record search := Search {
    now : list event;            (* what has happened, without D *)
    late : list event;           (* D *)
    sources : list event;        (* a, and further sources *)
    tainted : list nat;          (* T *)
    touched : list event }.      (* t: what commands that are reached have accessed now *)

  (** T, t or d say that the command comes after the source's. *)
  Definition reached (s : search) (o : Op) (l : list event) : Prop :=
    (exists k, In k (tainted s) /\ In k (party o)) \/ (exists x y, In x l /\ In y (touched s ++ late s) /\ clash y x).

  (** A command of the run: l1 happens now, l2 is delayed, from the first step on that has to be. *)
  Definition may_split (s : search) (r n : nat) (o : Op) (l1 l2 : list event) : Prop :=
    chain r n o = l1 ++ l2 /\ l1 <> [] /\ valid (now s ++ l1) /\
    (forall x y, In x l1 -> In y (late s) -> ~ clash y x) /\
    match l2 with
    | [] => True
    | x :: _ => exists y, In y (late s) /\ (must (now s ++ l1) y x \/ clash y x)
    end.

  Inductive move : search -> search -> Prop :=
  | move_before_source w r n o : valid (w ++ chain r n o) ->
      move (Search w [] [] [] []) (Search (w ++ chain r n o) [] [] [] [])
  | move_source w r n o l1 a l2 : chain r n o = l1 ++ a :: l2 -> l1 <> [] -> valid (w ++ l1) ->
      move (Search w [] [] [] []) (Search (w ++ l1) (a :: l2) [a] (party o) l1)
  | move_reached s r n o l1 l2 : sources s <> [] -> may_split s r n o l1 l2 -> reached s o (l1 ++ l2) ->
      move s (Search (now s ++ l1) (late s ++ l2) (sources s) (party o ++ tainted s) (l1 ++ touched s))
  | move_other s r n o l1 l2 : sources s <> [] -> may_split s r n o l1 l2 -> ~ reached s o (l1 ++ l2) ->
      move s (Search (now s ++ l1) (late s ++ l2) (sources s) (tainted s) (touched s))
  (* a further source, an update like a; without updates that commute there is none *)
  | move_further s r n o l1 z l2 a : In a (sources s) -> alike a z -> chain r n o = l1 ++ z :: l2 -> l1 <> [] ->
      valid (now s ++ l1) -> (forall x y, In x l1 -> In y (late s) -> ~ clash y x) ->
      move s (Search (now s ++ l1) (late s ++ z :: l2) (z :: sources s) (party o ++ tainted s) (l1 ++ touched s)).

  Inductive reachable : search -> Prop :=
  | reachable_start : reachable (Search [] [] [] [] [])
  | reachable_move s s' : reachable s -> move s s' -> reachable s'.

  (** e closes the cycle: l1 comes before D, with an access that conflicts with the source; l2 comes last. *)
  Definition found (s : search) : Prop :=
    exists a r n o l1 l2 x, In a (sources s) /\ chain r n o = l1 ++ l2 /\ l1 <> [] /\ valid (now s ++ l1) /\
      In x l1 /\ clash x a /\
      ((exists k, In k (tainted s) /\ In k (party o)) \/
       (exists z y, In z l1 /\ In y (touched s) /\ clash y z) \/
       (exists z y, In z l2 /\ In y (touched s ++ late s) /\ clash y z)).

  (** ** Chains *)

  Lemma in_chain r n o x : In x (chain r n o) <->
    command_of x = (r, n) /\ op x = o /\ place x <= length (steps o).
  Proof.
    unfold chain. rewrite in_map_iff. split.
    - intros (p & <- & I). apply in_seq in I. cbn [rank number place op]. split; [reflexivity|]. split; [reflexivity|lia].
    - destruct x as [r' n' p o']. unfold command_of. cbn [rank number place op]. intros (E & -> & L). injection E as -> ->.
      exists p. split; [reflexivity|]. apply in_seq. lia.
  Qed.

  Lemma chain_split r n o l1 x l2 : chain r n o = l1 ++ x :: l2 -> x = Event r n (length l1) o.
  Proof.
    unfold chain. intros E. assert (H : nth_error (l1 ++ x :: l2) (length l1) = Some x).
    { rewrite nth_error_app2 by lia. now rewrite Nat.sub_diag. }
    rewrite <- E, nth_error_map in H. destruct (nth_error (seq 0 (S (length (steps o)))) (length l1)) as [p|] eqn:En;
      [|discriminate H]. simpl in H.
    assert (L : length l1 < length (seq 0 (S (length (steps o))))) by (apply nth_error_Some; congruence).
    apply nth_error_nth with (d := 0) in En. rewrite seq_length in L. rewrite seq_nth in En by auto. simpl in En.
    subst p. now injection H.
  Qed.

  Lemma chain_first r n o l1 l2 : chain r n o = l1 ++ l2 -> l1 <> [] -> exists l, l1 = Event r n 0 o :: l.
  Proof.
    intros E N. destruct l1 as [|x l]; [tauto|]. exists l. f_equal. exact (chain_split r n o [] x (l ++ l2) E).
  Qed.

  (** ** Steps may come later *)

  Lemma ops_steps w l r : (forall x, In x l -> ~ is_issue x) -> ops (after (w ++ l)) r = ops (after w) r.
  Proof.
    intros H. rewrite !ops_after, filter_app. replace (filter (fun x => takes_part x r) l) with (@nil event);
      [now rewrite app_nil_r|].
    induction l as [|y l IH]; [reflexivity|]. simpl. destruct (takes_part y r) eqn:E.
    - apply takes_part_iff in E. destruct (H y); simpl; tauto.
    - apply IH. intros x I. apply H. simpl. auto.
  Qed.

  (** What only waits for completion rules is allowed after more commands, too. *)
  Lemma insert_command w b l : valid (w ++ b) -> valid (w ++ l) -> (forall x, In x l -> ~ is_issue x) ->
    (forall x y, In x l -> In y b -> command_of x <> command_of y) -> valid (w ++ b ++ l).
  Proof.
    intros Vb. induction l as [|x l IH] using rev_ind; intros Vl S D; [now rewrite app_nil_r|].
    assert (V : valid (w ++ b ++ l)).
    { apply IH; [rewrite app_assoc in Vl; now apply valid_prefix in Vl| |]; intros; [apply S|apply D]; auto;
        rewrite in_app_iff; auto. }
    rewrite app_assoc in Vl. apply valid_snoc in Vl as [Vl A]. rewrite !app_assoc. apply valid_snoc.
    rewrite <- !app_assoc. split; [exact V|]. assert (Hx : ~ is_issue x) by (apply S; rewrite in_app_iff; simpl; auto).
    destruct A as [L A]. split.
    - rewrite <- L, !got_length, !filter_app, !app_length. replace (filter (of_cmd (command_of x)) b) with (@nil event);
        [reflexivity|]. symmetry. destruct (filter (of_cmd (command_of x)) b) as [|y m] eqn:E; [auto|].
      assert (I : In y (filter (of_cmd (command_of x)) b)) by (rewrite E; simpl; auto).
      apply in_filter in I as [I Ey]. apply of_cmd_iff in Ey. destruct (D x y); auto. rewrite in_app_iff. simpl. auto.
    - destruct (is_issue x); [destruct Hx; reflexivity|]. destruct A as (O & Pl & A). simpl in A.
      assert (Sl : forall y, In y l -> ~ is_issue y) by (intros y I; apply S; rewrite in_app_iff; auto).
      rewrite (ops_steps w l) in O, A by auto. destruct (ops_grow w (b ++ l) (rank x)) as (more & E).
      assert (Len : number x < length (ops (after w) (rank x))) by (apply nth_error_Some; congruence).
      split; [rewrite E, nth_error_app1; auto|]. split; [auto|]. simpl. intros i p St H.
      rewrite E, firstn_app in St, H. replace (number x - length (ops (after w) (rank x))) with 0 in St, H by lia.
      simpl in St, H. rewrite app_nil_r in St, H. specialize (A i p St H).
      apply happened_event in A; [|auto]. destruct A as (y & Iy & Hy). apply happened_event; [auto|].
      exists y. split; [|auto]. rewrite !in_app_iff in *. tauto.
  Qed.

  (** The next steps of a command are allowed when those that completion rules put before them have happened. *)
  Lemma finish_command r n o l3 l2 : forall w l1, chain r n o = l1 ++ l2 ++ l3 -> l1 <> [] -> valid w ->
    nth_error (ops (after w) r) n = Some o -> length (got (after w) (r, n)) = length l1 ->
    (forall x i p, In x l2 -> is_step (firstn n (ops (after w) r)) i p ->
       held (firstn n (ops (after w) r)) o (place x) i p -> happened (after w) r i p) ->
    valid (w ++ l2).
  Proof.
    induction l2 as [|x l2 IH]; intros w l1 E N V O L Done; [now rewrite app_nil_r|].
    pose proof (chain_split r n o l1 x (l2 ++ l3) E) as Ex.
    assert (Pl : length l1 <= length (steps o)).
    { assert (I : In x (chain r n o)) by (rewrite E, in_app_iff; simpl; auto). apply in_chain in I as (_ & _ & I).
      now rewrite Ex in I. }
    assert (Np : length l1 <> 0) by (destruct l1; [tauto|simpl; lia]).
    assert (Hx : is_issue x = false) by (rewrite Ex; unfold is_issue; simpl; now apply Nat.eqb_neq).
    assert (Vx : valid (w ++ [x])).
    { apply valid_snoc. split; [auto|]. split; [now rewrite Ex|]. rewrite Hx. rewrite Ex. unfold may_step. simpl.
      split; [auto|]. split; [auto|]. intros i p. apply (Done (Event r n (length l1) o)). left. now rewrite Ex. }
    assert (So : forall k, ops (after (w ++ [x])) k = ops (after w) k).
    { intros k. apply ops_steps. intros y [<-|[]]. rewrite Hx. discriminate. }
    replace (w ++ x :: l2) with ((w ++ [x]) ++ l2) by now rewrite <- app_assoc.
    apply IH with (l1 := l1 ++ [x]).
    - now rewrite <- app_assoc.
    - destruct l1; discriminate.
    - exact Vx.
    - now rewrite So.
    - rewrite got_length, filter_app, app_length, <- got_length, L, app_length. simpl.
      replace (of_cmd (r, n) x) with true; [reflexivity|]. symmetry. apply of_cmd_iff. now rewrite Ex.
    - intros y i p Iy. rewrite So. intros St Hd. unfold happened. destruct (got_grow w [x] (r, i)) as (more & ->).
      rewrite app_length. pose proof (Done y i p (or_intror Iy) St Hd) as H. unfold happened in H. lia.
  Qed.

  (** One more command: its first part now, the delayed steps of others, then the rest of it. *)
  Section Extend.
    Variables (w l : list event) (r n : nat) (o : Op) (l1 l2 : list event).
    Hypothesis w_l : computation (w ++ l).
    Hypothesis l_steps : forall x, In x l -> ~ is_issue x.
    Hypothesis split : chain r n o = l1 ++ l2.
    Hypothesis l1_some : l1 <> [].
    Hypothesis w_l1 : valid (w ++ l1).

    Lemma new_command : In r (party o) /\ n = length (ops (after w) r) /\
      forall x, In x (w ++ l) -> command_of x <> (r, n).
    Proof.
      destruct (chain_first r n o l1 l2 split l1_some) as (m & E). pose proof w_l1 as V. rewrite E in V.
      destruct (allowed_at w _ m V) as [_ A]. simpl in A. destruct A as (Pa & Nu & _). simpl in Pa, Nu.
      split; [auto|]. split; [auto|]. intros x I Ex.
      pose proof (issued_op (w ++ l) x (proj1 (proj1 (computation_valid _) w_l)) I) as O.
      injection Ex as Er En. rewrite Er, En, ops_steps in O by auto.
      assert (n < length (ops (after w) r)) by (apply nth_error_Some; congruence). lia.
    Qed.

    Lemma in_l1 x : In x l1 -> In x (chain r n o).
    Proof. rewrite split, in_app_iff. auto. Qed.
    Lemma in_l2 x : In x l2 -> In x (chain r n o).
    Proof. rewrite split, in_app_iff. auto. Qed.

    Lemma chain_nodup : NoDup (l1 ++ l2).
    Proof.
      rewrite <- split. unfold chain. apply FinFun.Injective_map_NoDup; [|apply seq_NoDup].
      intros p q E. now injection E.
    Qed.

    Lemma l2_steps x : In x l2 -> ~ is_issue x.
    Proof.
      intros I H. destruct (chain_first r n o l1 l2 split l1_some) as (m & E). pose proof chain_nodup as N.
      rewrite E in N. simpl in N. inversion_clear N as [|? ? Nx _]. apply Nx. rewrite in_app_iff. right.
      apply in_l2 in I as J. apply in_chain in J as (Ec & Eo & _). destruct x as [r' n' p' o'].
      injection Ec as -> ->. simpl in Eo. subst o'. apply Nat.eqb_eq in H. simpl in H. now subst p'.
    Qed.

    Definition extended : list event := w ++ l1 ++ l ++ l2.

    Lemma in_extended x : In x extended <-> In x (w ++ l) \/ In x (chain r n o).
    Proof. unfold extended. rewrite split, !in_app_iff. tauto. Qed.

    Lemma extended_order x y : before (w ++ l) x y -> before extended x y.
    Proof. unfold extended. rewrite !before_app, !in_app_iff. tauto. Qed.

    Lemma count_old c : c <> (r, n) -> length (filter (of_cmd c) extended) = length (filter (of_cmd c) (w ++ l)).
    Proof.
      intros N. assert (None : forall m, (forall x, In x m -> In x (chain r n o)) -> filter (of_cmd c) m = []).
      { intros m H. destruct (filter (of_cmd c) m) as [|x m'] eqn:E; [auto|].
        assert (I : In x (filter (of_cmd c) m)) by (rewrite E; simpl; auto). apply in_filter in I as [I Ec].
        apply of_cmd_iff in Ec. apply H, in_chain in I as (I & _). congruence. }
      unfold extended. rewrite !filter_app, !app_length, (None l1 in_l1), (None l2 in_l2). simpl. lia.
    Qed.

    Lemma count_new c m : (forall x, In x m -> command_of x = c) -> filter (of_cmd c) m = m.
    Proof.
      intros H. induction m as [|x m IH]; simpl; [auto|]. replace (of_cmd c x) with true.
      - f_equal. apply IH. intros y I. apply H. simpl. auto.
      - symmetry. apply of_cmd_iff, H. simpl. auto.
    Qed.

    Lemma count_none m : (forall x, In x m -> In x (w ++ l)) -> filter (of_cmd (r, n)) m = [].
    Proof.
      intros H. destruct (filter (of_cmd (r, n)) m) as [|x m'] eqn:E; [auto|].
      assert (I : In x (filter (of_cmd (r, n)) m)) by (rewrite E; simpl; auto). apply in_filter in I as [I Ec].
      apply of_cmd_iff in Ec. destruct (proj2 (proj2 new_command) x); auto.
    Qed.

    Lemma of_l1 x : In x l1 -> command_of x = (r, n).
    Proof. intros I. apply in_l1, in_chain in I. tauto. Qed.
    Lemma of_l2 x : In x l2 -> command_of x = (r, n).
    Proof. intros I. apply in_l2, in_chain in I. tauto. Qed.

    Lemma extended_valid : valid extended.
    Proof.
      pose proof (proj1 (computation_valid _) w_l) as [V F]. destruct new_command as (Pa & Nu & New).
      assert (Vi : valid (w ++ l1 ++ l)).
      { apply insert_command; auto. intros x y Ix Iy E. apply (New x); [rewrite in_app_iff; auto|].
        rewrite E. now apply of_l1. }
      unfold extended. replace (w ++ l1 ++ l ++ l2) with ((w ++ l1 ++ l) ++ l2) by now rewrite <- !app_assoc.
      assert (Oi : ops (after (w ++ l1 ++ l)) r = ops (after (w ++ l1)) r).
      { rewrite app_assoc. now apply ops_steps. }
      destruct (chain_first r n o l1 l2 split l1_some) as (m & Em).
      set (i := Event r n 0 o) in *.
      assert (Ii : In i (w ++ l1 ++ l)) by (rewrite Em, !in_app_iff; simpl; auto).
      apply (finish_command r n o [] l2 (w ++ l1 ++ l) l1); rewrite ?app_nil_r; auto.
      - exact (issued_op (w ++ l1 ++ l) i Vi Ii).
      - rewrite got_length, !filter_app, !app_length, (count_none w), (count_none l), (count_new (r, n) l1);
          [simpl; lia|apply of_l1|..]; intros x I; rewrite in_app_iff; auto.
      - intros y k p _ (o' & Eo & Pp) _. clear y.
        assert (Lk : k < n).
        { assert (L : k < length (firstn n (ops (after (w ++ l1 ++ l)) r))) by (apply nth_error_Some; congruence).
          rewrite firstn_length in L. lia. }
        assert (Eo' : nth_error (ops (after (w ++ l)) r) k = Some o').
        { rewrite ops_steps by auto. rewrite Oi in Eo. destruct (ops_grow w l1 r) as (more & G).
          rewrite G, firstn_app, <- Nu, Nat.sub_diag in Eo. simpl in Eo. rewrite app_nil_r, Nu, firstn_all in Eo. exact Eo. }
        destruct (issuer_with_steps (w ++ l) r k o' V Eo') as (x & Ix & _ & Ex & Cx).
        { intros E. rewrite E in Pp. simpl in Pp. lia. }
        assert (Lp : p < length (got (after (w ++ l)) (r, k))).
        { rewrite (F r k o' Eo'); [lia|]. intros E. pose proof (place_bound (w ++ l) x V Ix) as B.
          rewrite Cx, E in B. simpl in B. lia. }
        destruct (event_at (w ++ l) (r, k) p V Lp) as (y & Iy & Cy & Py). apply happened_event; [auto|].
        exists y. split; [|auto]. rewrite !in_app_iff in *. tauto.
    Qed.

    Lemma extended_computation : computation extended.
    Proof.
      apply computation_valid. split; [apply extended_valid|]. pose proof (proj1 (computation_valid _) w_l) as [V F].
      pose proof extended_valid as Ve. intros k m o' E Ne.
      destruct (command_eq_dec (k, m) (r, n)) as [Ec|Nc].
      - injection Ec as -> ->.
        assert (Ii : In (Event r n 0 o) extended).
        { apply in_extended. right. apply in_chain. simpl. split; [reflexivity|]. split; [reflexivity|lia]. }
        pose proof (issued_op extended _ Ve Ii) as O. simpl in O. replace o' with o by congruence.
        rewrite got_length. unfold extended. rewrite !filter_app, !app_length, (count_none w), (count_none l),
          (count_new (r, n) l1), (count_new (r, n) l2); try apply of_l1; try apply of_l2;
          try (intros x I; rewrite in_app_iff; auto).
        assert (L : length (chain r n o) = S (length (steps o))) by (unfold chain; now rewrite map_length, seq_length).
        rewrite split, app_length in L. simpl. lia.
      - rewrite got_length, count_old by auto. rewrite <- got_length.
        assert (Lg : 0 < length (got (after (w ++ l)) (k, m))).
        { rewrite got_length, <- count_old by auto. rewrite <- got_length. destruct (got (after extended) (k, m)); [tauto|].
          simpl. lia. }
        destruct (event_at (w ++ l) (k, m) 0 V Lg) as (y & Iy & Cy & _).
        pose proof (issued_op (w ++ l) y V Iy) as O1.
        assert (Iy' : In y extended) by (apply in_extended; auto).
        pose proof (issued_op extended y Ve Iy') as O2. injection Cy as Rk Nm. rewrite Rk, Nm in O1, O2.
        replace o' with (op y) by congruence. apply F; [auto|]. intros E0. rewrite E0 in Lg. simpl in Lg. lia.
    Qed.
  End Extend.

  (** ** Found means violating *)

  (** What is known on the way. *)
  Definition behind_source (s : search) (w : list event) (c : command) : Prop :=
    exists a, In a (sources s) /\ clos_refl_trans _ (edge w) (command_of a) c.

  Definition good (s : search) : Prop :=
    computation (now s ++ late s) /\ (forall x, In x (late s) -> ~ is_issue x) /\
    (sources s = [] -> late s = []) /\
    (forall a, In a (sources s) -> In a (late s)) /\
    (forall a a', In a (sources s) -> In a' (sources s) -> a = a' \/ alike a a') /\
    (forall k, In k (tainted s) -> exists z, In z (now s) /\ is_issue z /\ In k (party (op z)) /\
                                             behind_source s (now s ++ late s) (command_of z)) /\
    (forall y, In y (touched s) -> In y (now s) /\ behind_source s (now s ++ late s) (command_of y)) /\
    (forall y, In y (late s) -> In (rank y) (tainted s) /\ behind_source s (now s ++ late s) (command_of y)).

  (** A command that is reached comes after a source's. *)
  Lemma reached_behind s r n o l1 l2 : good s -> chain r n o = l1 ++ l2 -> l1 <> [] ->
    valid (now s ++ l1) ->
    ((exists k, In k (tainted s) /\ In k (party o)) \/
     (exists z y, In z (l1 ++ l2) /\ In y (touched s) /\ clash y z) \/
     (exists z y, In z l2 /\ In y (late s) /\ clash y z)) ->
    behind_source s (now s ++ l1 ++ late s ++ l2) (r, n).
  Proof.
    intros (C & St & _ & _ & _ & GT & Gt & Gl) Ch N V Enter.
    pose proof (extended_computation (now s) (late s) r n o l1 l2 C St Ch N V) as Ce.
    apply computation_valid in Ce as [Ve _]. pose proof (valid_nodup _ Ve) as Ne. unfold extended in *.
    assert (On : forall c d, behind_source s (now s ++ late s) c ->
      clos_refl_trans _ (edge (now s ++ l1 ++ late s ++ l2)) c d -> behind_source s (now s ++ l1 ++ late s ++ l2) d).
    { intros c d (a & Ia & W) W'. exists a. split; [auto|]. eapply rt_trans; [|exact W'].
      revert W. apply walk_more; auto. intros x y. apply extended_order. }
    destruct (chain_first r n o l1 l2 Ch N) as (m & Em).
    destruct Enter as [(k & Ik & Pk)|[(z & y & Iz & Iy & Cl)|(z & y & Iz & Iy & Cl)]].
    - destruct (GT k Ik) as (z & Iz & Hz & Kz & B). apply (On (command_of z)); [exact B|].
      destruct (command_eq_dec (command_of z) (r, n)) as [->|Nz]; [apply rt_refl|]. apply rt_step. split; [exact Nz|].
      exists z, (Event r n 0 o). split; [reflexivity|]. split; [reflexivity|]. left. split; [exact Hz|].
      split; [reflexivity|]. split; [apply share_rank_iff; eauto|]. rewrite !before_app, !in_app_iff, Em. simpl. auto 10.
    - destruct (Gt y Iy) as [Iyn B]. apply (On (command_of y)); [exact B|].
      assert (Ez : command_of z = (r, n)).
      { assert (I : In z (chain r n o)) by now rewrite Ch. apply in_chain in I. tauto. }
      rewrite <- Ez. apply (conflict_walk (K := calculus) (now s ++ l1 ++ late s ++ l2) y z Ne Cl).
      rewrite !before_app, !in_app_iff. rewrite in_app_iff in Iz. tauto.
    - destruct (Gl y Iy) as [_ B]. apply (On (command_of y)); [exact B|].
      assert (Ez : command_of z = (r, n)).
      { assert (I : In z (chain r n o)) by (rewrite Ch, in_app_iff; auto). apply in_chain in I. tauto. }
      rewrite <- Ez. apply (conflict_walk (K := calculus) (now s ++ l1 ++ late s ++ l2) y z Ne Cl).
      rewrite !before_app, !in_app_iff. tauto.
  Qed.

  Lemma reached_enter s o l1 l2 : (forall x y, In x l1 -> In y (late s) -> ~ clash y x) -> reached s o (l1 ++ l2) ->
    (exists k, In k (tainted s) /\ In k (party o)) \/
    (exists z y, In z (l1 ++ l2) /\ In y (touched s) /\ clash y z) \/
    (exists z y, In z l2 /\ In y (late s) /\ clash y z).
  Proof.
    intros Free [H|(x & y & Ix & Iy & Cl)]; [auto|]. apply in_app_iff in Iy as [Iy|Iy]; [right; left; eauto|].
    pose proof Ix as Ix'. apply in_app_iff in Ix as [Ix|Ix]; [destruct (Free x y Ix Iy Cl)|right; right; eauto].
  Qed.

  Lemma good_more s r n o l1 l2 S T t : good s -> chain r n o = l1 ++ l2 -> l1 <> [] ->
    valid (now s ++ l1) -> S <> [] -> (forall a, In a (sources s) -> In a S) ->
    (forall a, In a S -> In a (sources s) \/ In a l2) ->
    (forall a a', In a S -> In a' S -> a = a' \/ alike a a') ->
    (l2 = [] /\ T = tainted s /\ t = touched s) \/
    ((exists a, In a S /\ clos_refl_trans _ (edge (now s ++ l1 ++ late s ++ l2)) (command_of a) (r, n)) /\
     T = party o ++ tainted s /\ t = l1 ++ touched s) ->
    good (Search (now s ++ l1) (late s ++ l2) S T t).
  Proof.
    intros (C & St & _ & Gs & _ & GT & Gt & Gl) Ch N V Some_ Incl New Alike H.
    pose proof (extended_computation (now s) (late s) r n o l1 l2 C St Ch N V) as Ce. unfold extended in Ce.
    pose proof (valid_nodup _ (proj1 (proj1 (computation_valid _) Ce))) as Ne.
    assert (Eq : (now s ++ l1) ++ late s ++ l2 = now s ++ l1 ++ late s ++ l2) by now rewrite <- app_assoc.
    unfold good, behind_source. cbn [now late sources tainted touched]. rewrite Eq.
    assert (Old : forall c, behind_source s (now s ++ late s) c -> exists a, In a S /\
      clos_refl_trans _ (edge (now s ++ l1 ++ late s ++ l2)) (command_of a) c).
    { intros c (a & Ia & W). exists a. split; [auto|]. revert W. apply walk_more; auto. intros x y. apply extended_order. }
    destruct (new_command (now s) (late s) r n o l1 l2 C St Ch N V) as (Pa & _ & _).
    destruct (chain_first r n o l1 l2 Ch N) as (m & Em).
    split; [exact Ce|]. split; [|split; [tauto|split; [|split; [exact Alike|split; [|split]]]]].
    - intros x I. apply in_app_iff in I as [I|I]; [auto|exact (l2_steps r n o l1 l2 Ch N x I)].
    - intros a Ia. apply in_app_iff. destruct (New a Ia); auto.
    - intros k Ik. assert (I : In k (tainted s) \/ (In k (party o) /\ exists a, In a S /\
        clos_refl_trans _ (edge (now s ++ l1 ++ late s ++ l2)) (command_of a) (r, n))).
      { destruct H as [(_ & -> & _)|(W & -> & _)]; [auto|]. apply in_app_iff in Ik. tauto. }
      destruct I as [I|[I W]].
      + destruct (GT k I) as (z & Iz & Hz & Kz & B). exists z. rewrite in_app_iff. auto.
      + exists (Event r n 0 o). split; [rewrite in_app_iff, Em; simpl; auto|]. split; [reflexivity|].
        split; [exact I|exact W].
    - intros y Iy. assert (I : In y (touched s) \/ (In y l1 /\ exists a, In a S /\
        clos_refl_trans _ (edge (now s ++ l1 ++ late s ++ l2)) (command_of a) (r, n))).
      { destruct H as [(_ & _ & ->)|(W & _ & ->)]; [auto|]. apply in_app_iff in Iy. tauto. }
      rewrite in_app_iff. destruct I as [I|[I W]].
      + destruct (Gt y I). auto.
      + rewrite (of_l1 r n o l1 l2 Ch y I). auto.
    - intros y Iy. apply in_app_iff in Iy as [Iy|Iy].
      + destruct (Gl y Iy) as [IT B]. split; [|auto]. destruct H as [(_ & -> & _)|(_ & -> & _)]; [auto|].
        rewrite in_app_iff. auto.
      + destruct H as [(-> & _)|(W & -> & _)]; [destruct Iy|]. pose proof (of_l2 r n o l1 l2 Ch y Iy) as Ey.
        rewrite Ey. split; [|auto]. injection Ey as -> _. rewrite in_app_iff. auto.
  Qed.

  Lemma forced_reached s r n o l1 x l2 : good s -> may_split s r n o l1 (x :: l2) -> reached s o (l1 ++ x :: l2).
  Proof.
    intros (C & St & _ & _ & _ & _ & _ & Gl) (Ch & N & V & _ & (y & Iy & [M|Cl])).
    - left. exists (rank y). split; [now apply Gl|]. apply must_iff in M as (R & _).
      pose proof (of_l2 r n o l1 (x :: l2) Ch x (or_introl eq_refl)) as Ex. injection Ex as Rx _.
      rewrite R, Rx. apply (new_command (now s) (late s) r n o l1 (x :: l2) C St Ch N V).
    - right. exists x, y. rewrite !in_app_iff. simpl. auto.
  Qed.

  Lemma good_start : good (Search [] [] [] [] []).
  Proof.
    split; [|split; [simpl; tauto|split; [auto|split; [simpl; tauto|split; [simpl; tauto|split; [|split]]]]]];
      simpl; try tauto.
    apply computation_valid. split; [apply valid_nil|]. intros k m o E. destruct m; discriminate E.
  Qed.

  Lemma good_reachable s : reachable s -> good s.
  Proof.
    induction 1 as [|s s' _ G M]; [apply good_start|].
    destruct M as [w r n o V|w r n o l1 a l2 Ch N V|s r n o l1 l2 Src (Ch & N & V & Free & Fo) Re|
                   s r n o l1 l2 Src Sp Re|s r n o l1 z l2 a Ia Al Ch N V Free].
    - destruct G as (C & St & _). cbn [now late sources tainted touched] in *.
      assert (Ch : chain r n o = chain r n o ++ []) by now rewrite app_nil_r.
      assert (N : chain r n o <> []) by (unfold chain; simpl; discriminate).
      pose proof (extended_computation w [] r n o _ [] C St Ch N V) as Ce. unfold extended in Ce.
      rewrite !app_nil_r in Ce. unfold good. cbn [now late sources tainted touched]. rewrite app_nil_r.
      split; [exact Ce|]. simpl. tauto.
    - apply (good_more (Search w [] [] [] []) r n o l1 (a :: l2) [a] (party o) l1 G Ch N V).
      + discriminate.
      + simpl. tauto.
      + simpl. tauto.
      + intros b b' [<-|[]] [<-|[]]. auto.
      + right. cbn [now late sources tainted touched]. rewrite !app_nil_r. split; [|auto]. exists a.
        split; [simpl; auto|]. rewrite (of_l2 r n o l1 (a :: l2) Ch a) by (simpl; auto). apply rt_refl.
    - pose proof G as (_ & _ & _ & _ & Al & _).
      apply (good_more s r n o l1 l2 (sources s) (party o ++ tainted s) (l1 ++ touched s) G Ch N V); auto.
      right. split; [|auto]. apply (reached_behind s r n o l1 l2 G Ch N V). now apply reached_enter.
    - pose proof G as (_ & _ & _ & _ & Al & _). pose proof Sp as (Ch & N & V & _).
      apply (good_more s r n o l1 l2 (sources s) (tainted s) (touched s) G Ch N V); auto.
      left. split; [|auto]. destruct l2 as [|x l2]; [auto|]. destruct Re. now apply (forced_reached s r n).
    - pose proof G as (_ & _ & _ & _ & Als & _).
      assert (Like : forall b, In b (sources s) -> alike b z).
      { intros b Ib. destruct (Als b a Ib Ia) as [->|]; [auto|]. now apply alike_trans with a. }
      apply (good_more s r n o l1 (z :: l2) (z :: sources s) (party o ++ tainted s) (l1 ++ touched s) G Ch N V).
      + discriminate.
      + simpl. auto.
      + simpl. intros b [<-|Ib]; auto.
      + intros b b' [<-|Ib] [<-|Ib']; auto using alike_sym.
      + right. split; [|auto]. exists z. split; [simpl; auto|].
        rewrite (of_l2 r n o l1 (z :: l2) Ch z) by (simpl; auto). apply rt_refl.
  Qed.

  Theorem attack_sound s : reachable s -> found s -> exists w, computation w /\ violating w.
  Proof.
    intros Re (a & r & n & o & l1 & l2 & x & Ia & Ch & N & V & Ix & Cl & Enter).
    pose proof (good_reachable s Re) as G. pose proof G as (C & St & _ & Gs & Als & _).
    pose proof (extended_computation (now s) (late s) r n o l1 l2 C St Ch N V) as Ce.
    exists (extended (now s) (late s) l1 l2). split; [exact Ce|].
    pose proof (valid_nodup _ (proj1 (proj1 (computation_valid _) Ce))) as Ne. unfold extended in *.
    assert (Ex : command_of x = (r, n)) by exact (of_l1 r n o l1 l2 Ch x Ix).
    destruct (reached_behind s r n o l1 l2 G Ch N V) as (b & Ib & W).
    { destruct Enter as [H|[(z & y & Iz & Iy & H)|(z & y & Iz & Iy & H)]]; [auto|..].
      - right. left. exists z, y. rewrite in_app_iff. auto.
      - rewrite in_app_iff in Iy. destruct Iy as [Iy|Iy]; right; [left|right]; exists z, y; rewrite ?in_app_iff; auto. }
    assert (Nb : command_of b <> (r, n)).
    { apply (new_command (now s) (late s) r n o l1 l2 C St Ch N V). rewrite in_app_iff. auto. }
    assert (Clb : clash x b).
    { destruct (Als a b Ia Ib) as [<-|Al]; [auto|]. apply (clash_alike x a b Cl Al). intros <-. auto. }
    exists (r, n). eapply t_trans with (command_of b); apply walk_path; auto.
    rewrite <- Ex. apply (conflict_walk (K := calculus) _ x b Ne Clb). rewrite !before_app, !in_app_iff. auto 10.
  Qed.
End Attack.
