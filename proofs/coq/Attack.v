(** * The attack search: Found iff some computation is violating

    proofs/attack.md, sections 2 to 4, and section 3 of the algorithm behind it, with words for states: the state of X
    after the events that happen now is the search's, and what has to wait is kept as a list. *)

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
    source : option event;
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
      move (Search w [] None [] []) (Search (w ++ chain r n o) [] None [] [])
  | move_source w r n o l1 a l2 : chain r n o = l1 ++ a :: l2 -> l1 <> [] -> valid (w ++ l1) ->
      move (Search w [] None [] []) (Search (w ++ l1) (a :: l2) (Some a) (party o) l1)
  | move_reached s r n o l1 l2 : source s <> None -> may_split s r n o l1 l2 -> reached s o (l1 ++ l2) ->
      move s (Search (now s ++ l1) (late s ++ l2) (source s) (party o ++ tainted s) (l1 ++ touched s))
  | move_other s r n o l1 l2 : source s <> None -> may_split s r n o l1 l2 -> ~ reached s o (l1 ++ l2) ->
      move s (Search (now s ++ l1) (late s ++ l2) (source s) (tainted s) (touched s)).

  Inductive reachable : search -> Prop :=
  | reachable_start : reachable (Search [] [] None [] [])
  | reachable_move s s' : reachable s -> move s s' -> reachable s'.

  (** e closes the cycle: l1 comes before D, with an access that conflicts with the source; l2 comes last. *)
  Definition found (s : search) : Prop :=
    exists a r n o l1 l2 x, source s = Some a /\ chain r n o = l1 ++ l2 /\ l1 <> [] /\ valid (now s ++ l1) /\
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

  (** The steps that are left of a command are allowed when those of all earlier commands of its rank have happened. *)
  Lemma finish_command r n o l2 : forall w l1, chain r n o = l1 ++ l2 -> l1 <> [] -> valid w ->
    nth_error (ops (after w) r) n = Some o -> length (got (after w) (r, n)) = length l1 ->
    (forall i p, is_step (firstn n (ops (after w) r)) i p -> happened (after w) r i p) ->
    valid (w ++ l2).
  Proof.
    induction l2 as [|x l2 IH]; intros w l1 E N V O L Done; [now rewrite app_nil_r|].
    pose proof (chain_split r n o l1 x l2 E) as Ex.
    assert (Pl : length l1 <= length (steps o)).
    { assert (I : In x (chain r n o)) by (rewrite E, in_app_iff; simpl; auto). apply in_chain in I as (_ & _ & I).
      now rewrite Ex in I. }
    assert (Np : length l1 <> 0) by (destruct l1; [tauto|simpl; lia]).
    assert (Hx : is_issue x = false) by (rewrite Ex; unfold is_issue; simpl; now apply Nat.eqb_neq).
    assert (Vx : valid (w ++ [x])).
    { apply valid_snoc. split; [auto|]. split; [now rewrite Ex|]. rewrite Hx. rewrite Ex. unfold may_step. simpl.
      split; [auto|]. split; [auto|]. auto. }
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
    - intros i p. rewrite So. intros St. unfold happened. destruct (got_grow w [x] (r, i)) as (more & ->).
      rewrite app_length. pose proof (Done i p St) as H. unfold happened in H. lia.
  Qed.
End Attack.
