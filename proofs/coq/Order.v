(** * Lists as orders, paths, and sorting a finite acyclic relation

    A run is a list of events without repetitions, and "x stands before y in it" is the relation [before].  Everything
    here is decidable, so that no axiom is needed: who stands where by looking, and which vertices a path joins by
    Warshall's recursion over the vertices that it may pass through. *)

Require Export List Bool Relations Arith Lia.
Export ListNotations.

(** A boolean read as a proposition. *)
Coercion is_true : bool >-> Sortclass.

Lemma is_true_dec (b : bool) : {b} + {~ b}.
Proof. destruct b; [left; reflexivity | right; discriminate]. Defined.

Section Before.
  Context {A : Type}.
  Implicit Types (l : list A) (ls : list (list A)) (x y z : A) (f : A -> bool).

  (** Some occurrence of x in l has y somewhere behind it. *)
  Fixpoint before l x y : Prop :=
    match l with
    | [] => False
    | z :: l' => (z = x /\ In y l') \/ before l' x y
    end.

  Lemma before_in l x y : before l x y -> In x l /\ In y l.
  Proof.
    induction l as [|z l IH]; simpl; [tauto|]. intros [[-> H]|H]; [tauto|]. apply IH in H. tauto.
  Qed.

  Lemma before_app l l' x y : before (l ++ l') x y <-> before l x y \/ before l' x y \/ (In x l /\ In y l').
  Proof.
    induction l as [|z l IH]; simpl; [tauto|]. rewrite IH, in_app_iff. split; intros H; intuition (subst; auto).
  Qed.

  Lemma in_filter f l x : In x (filter f l) <-> In x l /\ f x.
  Proof. apply filter_In. Qed.

  Lemma before_filter f l x y : before (filter f l) x y <-> before l x y /\ f x /\ f y.
  Proof.
    induction l as [|z l IH]; simpl; [tauto|]. destruct (f z) eqn:E; simpl; rewrite IH, ?in_filter.
    - split; intros H; intuition (subst; auto).
    - split; intros H; intuition (subst; auto). unfold is_true in *. congruence.
  Qed.

  Lemma before_irrefl l x : NoDup l -> ~ before l x x.
  Proof. induction 1; simpl; [tauto|]. intros [[-> ?]|?]; auto. Qed.

  Lemma before_trans l x y z : NoDup l -> before l x y -> before l y z -> before l x z.
  Proof.
    induction 1 as [|v l Hv N IH]; simpl; [tauto|]. intros [[-> Hy]|Hxy] [[E Hz]|Hyz].
    - auto.
    - left. split; [auto|]. now apply before_in in Hyz.
    - subst v. apply before_in in Hxy. tauto.
    - auto.
  Qed.

  Lemma before_asym l x y : NoDup l -> before l x y -> ~ before l y x.
  Proof. intros N H K. exact (before_irrefl l x N (before_trans l x y x N H K)). Qed.

  Lemma before_total l x y : In x l -> In y l -> x <> y -> before l x y \/ before l y x.
  Proof. induction l as [|z l IH]; simpl; [tauto|]. intros [->|Hx] [->|Hy] H; tauto. Qed.

  Lemma before_split l x y : before l x y -> exists l1 l2, l = l1 ++ x :: l2 /\ In y l2.
  Proof.
    induction l as [|z l IH]; simpl; [tauto|]. intros [[-> H]|H].
    - exists [], l. auto.
    - destruct (IH H) as (l1 & l2 & -> & I). exists (z :: l1), l2. auto.
  Qed.

  Lemma before_here l1 l2 x y : NoDup (l1 ++ x :: l2) -> (before (l1 ++ x :: l2) y x <-> In y l1).
  Proof.
    intros N. rewrite before_app. simpl. apply NoDup_remove_2 in N. rewrite in_app_iff in N. split.
    - intros [H|[[[_ H]|H]|H]]; [apply before_in in H; tauto|tauto|apply before_in in H; tauto|tauto].
    - intros H. right. right. auto.
  Qed.

  Lemma nodup_app l l' : NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
  Proof.
    induction 1 as [|z l Hz N IH]; simpl; intros N' D; [auto|]. constructor.
    - rewrite in_app_iff. intros [H|H]; [auto|]. exact (D z (or_introl eq_refl) H).
    - apply IH; [auto|]. intros x H. apply D. auto.
  Qed.

  Lemma nodup_prefix l l' : NoDup (l ++ l') -> NoDup l.
  Proof.
    induction l as [|z l IH]; simpl; intros N; [constructor|]. inversion_clear N as [|? ? Hz N'].
    constructor; [|auto]. rewrite in_app_iff in Hz. auto.
  Qed.

  (** Lists of the same elements in the same order are equal. *)
  Lemma same_order_equal l l' :
    NoDup l -> NoDup l' -> (forall x, In x l <-> In x l') -> (forall x y, before l x y -> before l' x y) -> l = l'.
  Proof.
    intros N. revert l'. induction N as [|x l Hx N IH]; intros l' N' I B.
    - destruct l' as [|y l']; [auto|]. destruct (proj2 (I y)); simpl; auto.
    - destruct l' as [|y l']; [destruct (proj1 (I x)); simpl; auto|].
      inversion_clear N' as [|? ? Hy N''].
      assert (E : y = x).
      { destruct (proj2 (I y) (or_introl eq_refl)) as [|Iy]; [auto|].
        destruct (B x y) as [[E _]|H]; [simpl; auto|auto|]. apply before_in in H. tauto. }
      subst y. f_equal. apply IH; [auto| |].
      + intros z. specialize (I z). simpl in I. split; intros H.
        * destruct (proj1 I (or_intror H)) as [->|?]; [tauto|auto].
        * destruct (proj2 I (or_intror H)) as [->|?]; [tauto|auto].
      + intros a b H. destruct (B a b) as [[E _]|K]; [simpl; auto| |auto].
        apply before_in in H. subst a. tauto.
  Qed.

  (** Two lists, cut at an element, have the same elements of a kind before the cut, if they agree on their order. *)
  Lemma same_prefix f x u v u' v' : NoDup (u ++ x :: v) -> NoDup (u' ++ x :: v') ->
    (forall z, f z -> (before (u ++ x :: v) z x <-> before (u' ++ x :: v') z x)) ->
    (forall y z, f y -> f z -> before (u' ++ x :: v') y z -> before (u' ++ x :: v') z x -> before (u ++ x :: v) y z) ->
    filter f u = filter f u'.
  Proof.
    intros N N' Same Ord. symmetry. apply same_order_equal.
    - apply NoDup_filter. now apply nodup_prefix in N'.
    - apply NoDup_filter. now apply nodup_prefix in N.
    - intros z. rewrite !in_filter. rewrite <- (before_here u v x z N), <- (before_here u' v' x z N').
      specialize (Same z). tauto.
    - intros y z. rewrite !before_filter. intros (B & Fy & Fz). split; [|auto].
      destruct (before_in _ _ _ B) as [_ Iz]. apply (before_here u' v' x z N') in Iz.
      pose proof (proj1 (before_here u v x z N) (proj2 (Same z Fz) Iz)) as Iu.
      assert (B' : before (u' ++ x :: v') y z) by (rewrite before_app; auto).
      pose proof (Ord y z Fy Fz B' Iz) as K. rewrite before_app in K. destruct K as [K|[K|[_ K]]]; [auto|exfalso..].
      + apply (before_asym _ _ _ N (proj2 (before_here u v x z N) Iu)). simpl in K.
        destruct K as [[-> K]|K].
        * rewrite before_app. simpl. auto.
        * apply before_in in K as [_ K]. rewrite before_app. simpl. auto.
      + apply (before_asym _ _ _ N (proj2 (before_here u v x z N) Iu)). rewrite before_app. simpl. simpl in K.
        destruct K as [<-|K]; [|auto]. apply NoDup_remove_2 in N. rewrite in_app_iff in N. tauto.
  Qed.

  Lemma before_prefix u v y z : NoDup (u ++ v) -> In z u -> before (u ++ v) y z -> before u y z.
  Proof.
    intros N I. rewrite before_app. intros [B|[B|[_ B]]]; [auto|exfalso..].
    - apply before_in in B as [_ B]. apply in_split in I as (a & b & ->). rewrite <- app_assoc in N. simpl in N.
      apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. auto.
    - apply in_split in I as (a & b & ->). rewrite <- app_assoc in N. simpl in N.
      apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. auto.
  Qed.

  (** ** Lists in parts *)

  Lemma in_parts ls x : In x (concat ls) <-> exists i, In x (nth i ls []).
  Proof.
    rewrite in_concat. split.
    - intros (l & Il & Ix). apply In_nth with (d := []) in Il as (i & _ & <-). eauto.
    - intros (i & Ix). exists (nth i ls []). split; [|auto]. destruct (nth_in_or_default i ls []) as [|E]; [auto|].
      rewrite E in Ix. destruct Ix.
  Qed.

  Lemma before_parts ls x y : before (concat ls) x y <->
    exists i j, In x (nth i ls []) /\ In y (nth j ls []) /\ (i < j \/ (i = j /\ before (nth i ls []) x y)).
  Proof.
    induction ls as [|l ls IH]; simpl.
    - split; [tauto|]. intros ([|i] & j & [] & _).
    - rewrite before_app, IH. split.
      + intros [B|[(i & j & Ix & Iy & H)|[Ix Iy]]].
        * exists 0, 0. destruct (before_in _ _ _ B). auto.
        * exists (S i), (S j). split; [auto|]. split; [auto|]. destruct H as [H|[-> H]]; [left; lia|auto].
        * apply in_parts in Iy as (j & Iy). exists 0, (S j). split; [auto|]. split; [auto|lia].
      + intros ([|i] & [|j] & Ix & Iy & [H|[H B]]); try lia; auto.
        * right. right. split; [auto|]. apply in_parts. eauto.
        * right. left. exists i, j. split; [auto|]. split; [auto|]. left. lia.
        * right. left. exists i, j. split; [auto|]. split; [auto|]. right. split; [lia|auto].
  Qed.

  Lemma same_part ls i j x : NoDup (concat ls) -> In x (nth i ls []) -> In x (nth j ls []) -> i = j.
  Proof.
    intros N Hi Hj. destruct (lt_eq_lt_dec i j) as [[L|E]|L]; [exfalso|exact E|exfalso];
      apply (before_irrefl _ x N), before_parts; eauto 10.
  Qed.

  Lemma part_order ls i j x y : NoDup (concat ls) -> In x (nth i ls []) -> In y (nth j ls []) ->
    before (concat ls) x y -> i < j \/ (i = j /\ before (nth i ls []) x y).
  Proof.
    intros N Hi Hj B. apply before_parts in B as (i' & j' & Hi' & Hj' & H).
    now rewrite (same_part ls i i' x), (same_part ls j j' y).
  Qed.

  Lemma part_nodup ls i : NoDup (concat ls) -> NoDup (nth i ls []).
  Proof.
    revert i. induction ls as [|l ls IH]; intros [|i] N; simpl in *; try constructor; [now apply nodup_prefix in N|].
    apply IH. clear IH. induction l as [|x l IHl]; [auto|]. inversion N. auto.
  Qed.

  Lemma parts_nodup ls : (forall i, NoDup (nth i ls [])) ->
    (forall i j x, In x (nth i ls []) -> In x (nth j ls []) -> i = j) -> NoDup (concat ls).
  Proof.
    induction ls as [|l ls IH]; intros N One; [constructor|]. simpl. apply nodup_app.
    - exact (N 0).
    - apply IH; [intros i; exact (N (S i))|]. intros i j x Hi Hj. specialize (One (S i) (S j) x Hi Hj). lia.
    - intros x Ix J. apply in_parts in J as (j & J). discriminate (One 0 (S j) x Ix J).
  Qed.

  (** The parts 0, ..., h - 1 of a family of lists. *)
  Definition parts (h : nat) (g : nat -> list A) : list (list A) := map g (seq 0 h).

  Lemma nth_parts h g i : nth i (parts h g) [] = if i <? h then g i else [].
  Proof.
    unfold parts. destruct (Nat.ltb_spec i h) as [L|L].
    - rewrite nth_indep with (d' := g 0) by (now rewrite map_length, seq_length). rewrite map_nth, seq_nth; auto.
    - apply nth_overflow. now rewrite map_length, seq_length.
  Qed.

  Lemma in_nth_parts h g i x : In x (nth i (parts h g) []) <-> i < h /\ In x (g i).
  Proof. rewrite nth_parts. destruct (Nat.ltb_spec i h); simpl; intuition lia. Qed.

  (** Folds over lists of the same elements are equal, if what stands in another order commutes. *)
  Lemma fold_front {B : Type} (g : B -> A -> B) x l l' : (forall z b, In z l -> g (g b x) z = g (g b z) x) ->
    forall b, fold_left g (l ++ x :: l') b = fold_left g (x :: l ++ l') b.
  Proof.
    induction l as [|z l IH]; intros C b; [reflexivity|]. simpl. rewrite (C z b) by (simpl; auto).
    rewrite IH by (intros; apply C; simpl; auto). reflexivity.
  Qed.

  Lemma fold_same {B : Type} (g : B -> A -> B) l l' : NoDup l -> NoDup l' -> (forall x, In x l <-> In x l') ->
    (forall x y b, before l x y -> before l' y x -> g (g b x) y = g (g b y) x) ->
    forall b, fold_left g l b = fold_left g l' b.
  Proof.
    intros N. revert l'. induction N as [|x l Nx N IH]; intros l' N' I C b.
    - destruct l' as [|y l']; [auto|]. destruct (proj2 (I y)); simpl; auto.
    - assert (Ix : In x l') by (apply I; simpl; auto). apply in_split in Ix as (m & m' & ->).
      assert (Im : forall z, In z m -> In z l).
      { intros z Iz. destruct (proj2 (I z)) as [<-|]; [rewrite in_app_iff; auto| |auto].
        apply NoDup_remove_2 in N'. destruct N'. rewrite in_app_iff. auto. }
      rewrite fold_front.
      + simpl. apply IH.
        * now apply NoDup_remove_1 in N'.
        * intros z. specialize (I z). simpl in I. rewrite in_app_iff in *. simpl in I. split.
          -- intros Iz. destruct (proj1 I (or_intror Iz)) as [H|[->|H]]; auto. tauto.
          -- intros H. apply NoDup_remove_2 in N'. rewrite in_app_iff in N'.
             destruct (proj2 I) as [->|]; [tauto|tauto|auto].
        * intros y z b' B1 B2. apply C; [simpl; auto|]. rewrite before_app in *. simpl. tauto.
      + intros z b' Iz. apply C; [simpl; auto|]. rewrite before_app. simpl. auto.
  Qed.

  Hypothesis eq_dec : forall x y, {x = y} + {x <> y}.

  Lemma before_dec l x y : {before l x y} + {~ before l x y}.
  Proof.
    induction l as [|z l IH]; simpl; [right; tauto|]. destruct IH as [H|H]; [left; auto|].
    destruct (eq_dec z x) as [E|E]; [|right; tauto]. destruct (in_dec eq_dec y l) as [I|I]; [left; auto|right; tauto].
  Defined.
End Before.

(** ** Paths *)
Section Paths.
  Context {V : Type} (R : V -> V -> Prop).
  Implicit Types (a b c d : V).

  Lemma path_weaken (S : V -> V -> Prop) :
    (forall a b, R a b -> S a b) -> forall a b, clos_trans _ R a b -> clos_trans _ S a b.
  Proof. intros I a b. induction 1; [apply t_step; auto|eapply t_trans; eauto]. Qed.

  Lemma path_walk a b : clos_trans _ R a b -> clos_refl_trans _ R a b.
  Proof. induction 1; [now apply rt_step|eapply rt_trans; eauto]. Qed.

  Lemma step_walk a b c : R a b -> clos_refl_trans _ R b c -> clos_trans _ R a c.
  Proof.
    intros H P. apply clos_rt_rtn1 in P. induction P; [now apply t_step|]. eapply t_trans; [exact IHP|now apply t_step].
  Qed.

  Lemma walk_cases a b : clos_refl_trans _ R a b -> a = b \/ exists c, R a c /\ clos_refl_trans _ R c b.
  Proof.
    intros P. apply clos_rt_rt1n in P. destruct P as [|c b H P]; [auto|]. right. exists c. split; [auto|].
    now apply clos_rt1n_rt.
  Qed.

  Lemma walk_last a b : clos_refl_trans _ R a b -> a = b \/ exists c, clos_refl_trans _ R a c /\ R c b.
  Proof.
    intros P. apply clos_rt_rtn1 in P. destruct P as [|c b H P]; [auto|]. right. exists c. split; [|auto].
    now apply clos_rtn1_rt.
  Qed.

  Lemma walk_path a b : clos_refl_trans _ R a b -> a <> b -> clos_trans _ R a b.
  Proof. intros P N. destruct (walk_cases a b P) as [|(c & H & K)]; [tauto|]. exact (step_walk a c b H K). Qed.

  Lemma path_cases a b : clos_trans _ R a b -> exists c, R a c /\ clos_refl_trans _ R c b.
  Proof.
    induction 1 as [a b H|a b c _ (d & H & P) K _]; [exists b; split; [auto|apply rt_refl]|].
    exists d. split; [auto|]. eapply rt_trans; [exact P|now apply path_walk].
  Qed.

  (** Warshall: there is a path from a to b that passes through vertices of l alone. *)
  Fixpoint through (l : list V) a b : Prop :=
    match l with
    | [] => R a b
    | c :: l' => through l' a b \/ (through l' a c /\ through l' c b)
    end.

  Lemma through_dec : (forall a b, {R a b} + {~ R a b}) -> forall l a b, {through l a b} + {~ through l a b}.
  Proof.
    intros R_dec l. induction l as [|c l IH]; simpl; intros a b; [apply R_dec|].
    destruct (IH a b) as [H|H]; [left; auto|]. destruct (IH a c) as [H1|H1]; [|right; tauto].
    destruct (IH c b) as [H2|H2]; [left; auto|right; tauto].
  Defined.

  Lemma through_path l a b : through l a b -> clos_trans _ R a b.
  Proof.
    revert a b. induction l as [|c l IH]; simpl; intros a b H; [now apply t_step|].
    destruct H as [H|[H K]]; [auto|]. eapply t_trans; apply IH; eassumption.
  Qed.

  Lemma through_more l a b : R a b -> through l a b.
  Proof. induction l as [|c l IH]; simpl; auto. Qed.

  Lemma through_trans l a b c : In b l -> through l a b -> through l b c -> through l a c.
  Proof.
    revert a b c. induction l as [|d l IH]; simpl; intros a b c I H K; [tauto|]. destruct I as [->|I]; [tauto|].
    destruct H as [H|[H H']], K as [K|[K K']]; [left|right|right|right]; eauto.
  Qed.

  (** If edges join vertices of l alone, it is decidable whether a path does. *)
  Lemma path_through l : (forall a b, R a b -> In b l) -> forall a b, clos_trans _ R a b -> through l a b.
  Proof.
    intros I a b P. apply clos_trans_tn1 in P. induction P as [b H|b c H P IH]; [now apply through_more|].
    apply through_trans with b; [|exact IH|now apply through_more].
    inversion P as [? K|? ? K _]; eauto.
  Qed.

  Lemma path_dec l : (forall a b, {R a b} + {~ R a b}) -> (forall a b, R a b -> In b l) ->
    forall a b, {clos_trans _ R a b} + {~ clos_trans _ R a b}.
  Proof.
    intros D I a b. destruct (through_dec D l a b) as [H|H]; [left; now apply through_path with l|].
    right. intros P. apply H. now apply path_through.
  Defined.
End Paths.

(** ** Sorting: a strict order on the elements of a list has a linear extension. *)
Section Sorting.
  Context {A : Type} (R : A -> A -> Prop).
  Hypothesis R_dec : forall x y, {R x y} + {~ R x y}.
  Hypothesis R_trans : forall x y z, R x y -> R y z -> R x z.
  Hypothesis R_irrefl : forall x, ~ R x x.

  Let lower c d : bool := if R_dec d c then true else false.
  Let lower_iff c d : lower c d <-> R d c.
  Proof. unfold lower, is_true. destruct (R_dec d c); intuition congruence. Qed.
  Let other_iff c d : negb (lower c d) <-> ~ R d c.
  Proof. rewrite <- lower_iff. unfold is_true. destruct (lower c d); simpl; intuition congruence. Qed.

  Theorem linear_extension l : NoDup l ->
    exists l', NoDup l' /\ (forall x, In x l' <-> In x l) /\
               forall x y, In x l -> In y l -> R x y -> before l' x y.
  Proof.
    induction 1 as [|c l Hc N (l' & N' & I & B)].
    { exists []. split; [constructor|]. split; simpl; tauto. }
    exists (filter (lower c) l' ++ c :: filter (fun d => negb (lower c d)) l'). split; [|split].
    - apply nodup_app; [now apply NoDup_filter| |].
      + constructor; [|now apply NoDup_filter]. rewrite in_filter, I. tauto.
      + intros x. simpl. rewrite !in_filter, I. rewrite lower_iff, other_iff. intros [Ix H] [<-|[_ K]]; tauto.
    - intros x. rewrite in_app_iff. simpl. rewrite !in_filter, I, lower_iff, other_iff. destruct (R_dec x c); tauto.
    - intros x y Hx Hy H. rewrite before_app. simpl. rewrite !before_filter, !in_filter, !I, !lower_iff, !other_iff.
      destruct Hx as [<-|Hx]; destruct Hy as [<-|Hy].
      + now destruct (R_irrefl c).
      + right. left. left. split; [auto|]. split; [auto|]. intros K. exact (R_irrefl c (R_trans _ _ _ H K)).
      + right. right. auto.
      + pose proof (B x y Hx Hy H). destruct (R_dec y c) as [K|K].
        * pose proof (R_trans _ _ _ H K). tauto.
        * destruct (R_dec x c); tauto.
  Qed.
End Sorting.
