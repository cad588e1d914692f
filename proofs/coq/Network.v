(** * Programs on a network: the state space X(P, N) and its computations

    proofs/state-space.md, in a form that is abstract where the theorems do not care.  A program is a control automaton
    for each rank: a local state (control state and registers), and what it does next.  A command with its operands, an
    operation [Op], makes at most one access when it is issued, and then its steps, in their order.  What a step writes
    depends on the operands and on what the accesses of the command have read so far.

    A barrier is one command that several ranks issue together, in one event, where the pages have N events that stand
    next to each other: the quotient by identity is the same. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts.

(** How an access is made.  Updates of one kind commute, and nobody learns what the cell held in between. *)
Inductive way := Reads | Writes | Reads_and_writes | Updates (kind : nat).
Record access (Cell : Type) := Access { at_cell : Cell; in_way : way }.
Arguments Access {Cell}. Arguments at_cell {Cell}. Arguments in_way {Cell}.

Definition does_read {Cell} (a : access Cell) : bool :=
  match in_way a with Reads | Reads_and_writes => true | _ => false end.
Definition does_write {Cell} (a : access Cell) : bool := match in_way a with Reads => false | _ => true end.
Definition kind_of {Cell} (a : access Cell) : option nat := match in_way a with Updates k => Some k | _ => None end.

(** The access at a place of a chain. *)
Definition access_at {Cell} (first : option (access Cell)) (rest : list (access Cell)) (p : nat) :=
  match p with 0 => first | S q => nth_error rest q end.

Class Program (Loc Op Cell Val : Type) := {
  op_dec : forall o o' : Op, {o = o'} + {o <> o'};
  cell_dec : forall k k' : Cell, {k = k'} + {k <> k'};
  init_loc : nat -> Loc;
  init_mem : Cell -> Val;
  nothing : Val;                                 (* stands for what an event reads that reads nothing *)
  party : Op -> list nat;                        (* the ranks that issue it: one, or all for a barrier *)
  at_issue : Op -> option (access Cell);
  steps : Op -> list (access Cell);
  (* Conditions, R3: the rank in this local state may issue the operation when it reads this value, and goes on there.
     None: it stands elsewhere, is blocked, or faults. *)
  next : nat -> Loc -> Op -> Val -> option Loc;
  (* What a cell holds after the access that changes it, when the command has read these values, and it held this. *)
  store : Op -> list Val -> Val -> Val;
  updates_commute : forall o o' p p' a a' vs vs' v,
    access_at (at_issue o) (steps o) p = Some a -> access_at (at_issue o') (steps o') p' = Some a' ->
    kind_of a <> None -> kind_of a = kind_of a' -> length vs = S p -> length vs' = S p' ->
    store o vs (store o' vs' v) = store o' vs' (store o vs v);
  (* Completion, R1: after the rank has issued these, the step (of an operation issued next) has to come after the
     step p of its i-th operation.  Steps count from 1. *)
  held : list Op -> Op -> nat -> nat -> nat -> bool;
  (* Waits, R2: after these, the operation is issued only when the step p of the i-th has happened. *)
  awaits : list Op -> Op -> nat -> nat -> bool;
  (* Commands of several ranks are barriers and the like. *)
  steps_have_one_rank : forall o r r', steps o <> [] -> In r (party o) -> In r' (party o) -> r = r';
  (* C4 of attack.md: a command that waits for a value makes no other access. *)
  steps_do_not_block : forall r l o v v', steps o <> [] -> next r l o v <> None -> next r l o v' <> None }.

Local Arguments firstn : simpl nomatch.

Section Network.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.

  (** The event at this place of the chain of the command that the rank issued with this number; place 0 issues it. *)
  Record event := Event { rank : nat; number : nat; place : nat; op : Op }.
  Definition command : Type := nat * nat.
  Definition command_of (x : event) : command := (rank x, number x).
  Definition is_issue (x : event) : bool := place x =? 0.

  Definition access_of (x : event) : option (access Cell) :=
    access_at (at_issue (op x)) (steps (op x)) (place x).
  Definition reads (x : event) : bool := match access_of x with Some a => does_read a | None => false end.
  Definition writes (x : event) : bool := match access_of x with Some a => does_write a | None => false end.
  Definition kind (x : event) : option nat := match access_of x with Some a => kind_of a | None => None end.
  Definition same_kind (x y : event) : bool :=
    match kind x, kind y with Some k, Some k' => k =? k' | _, _ => false end.
  Definition accesses (k : Cell) (x : event) : bool :=
    match access_of x with Some a => if cell_dec (at_cell a) k then true else false | None => false end.

  Definition event_eq_dec (x y : event) : {x = y} + {x <> y}.
  Proof. decide equality; auto using Nat.eq_dec, op_dec. Defined.
  Definition command_eq_dec (c d : command) : {c = d} + {c <> d}.
  Proof. decide equality; apply Nat.eq_dec. Defined.

  Local Arguments event_eq_dec : simpl never.
  Local Arguments command_eq_dec : simpl never.

  (** ** States and transitions *)

  Record state := State {
    loc : nat -> Loc;
    mem : Cell -> Val;
    ops : nat -> list Op;            (* what each rank has issued, in order *)
    got : command -> list Val }.     (* what the events of each command have read, in order; so also how many *)

  Definition initial : state := State init_loc init_mem (fun _ => []) (fun _ => []).

  Definition seen (s : state) (x : event) : Val :=
    match access_of x with Some a => if does_read a then mem s (at_cell a) else nothing | None => nothing end.

  Definition takes_part (x : event) (r : nat) : bool := is_issue x && existsb (Nat.eqb r) (party (op x)).

  (** What the event does to the state. *)
  Definition happen (s : state) (x : event) : state :=
    let values := got s (command_of x) ++ [seen s x] in
    {| loc := fun r => if takes_part x r
                       then match next r (loc s r) (op x) (seen s x) with Some l => l | None => loc s r end
                       else loc s r;
       mem := fun k => if writes x && accesses k x then store (op x) values (mem s k) else mem s k;
       ops := fun r => if takes_part x r then ops s r ++ [op x] else ops s r;
       got := fun c => if command_eq_dec c (command_of x) then values else got s c |}.

  Definition happened (s : state) (r i p : nat) : Prop := p < length (got s (r, i)).
  Definition is_step (past : list Op) (i p : nat) : Prop :=
    exists o, nth_error past i = Some o /\ 1 <= p <= length (steps o).

  Definition may_issue (s : state) (x : event) : Prop :=
    In (rank x) (party (op x)) /\ number x = length (ops s (rank x)) /\
    (forall r, In r (party (op x)) -> next r (loc s r) (op x) (seen s x) <> None) /\
    (forall i p, is_step (ops s (rank x)) i p -> awaits (ops s (rank x)) (op x) i p -> happened s (rank x) i p).

  Definition may_step (s : state) (x : event) : Prop :=
    nth_error (ops s (rank x)) (number x) = Some (op x) /\ place x <= length (steps (op x)) /\
    let past := firstn (number x) (ops s (rank x)) in
    forall i p, is_step past i p -> held past (op x) (place x) i p -> happened s (rank x) i p.

  Definition allowed (s : state) (x : event) : Prop :=
    length (got s (command_of x)) = place x /\ if is_issue x then may_issue s x else may_step s x.

  Inductive path : state -> list event -> state -> Prop :=
  | path_end s : path s [] s
  | path_step s x w s' : allowed s x -> path (happen s x) w s' -> path s (x :: w) s'.

  (** Nothing is pending: every command that is there has all its steps. *)
  Definition final (s : state) : Prop :=
    forall r n o, nth_error (ops s r) n = Some o -> got s (r, n) <> [] -> length (got s (r, n)) = S (length (steps o)).

  Definition computation (w : list event) : Prop := exists s, path initial w s /\ final s.

  (** ** Words: transitions are deterministic, so a word has one state *)

  Definition after (w : list event) : state := fold_left happen w initial.
  Definition valid (w : list event) : Prop := forall u x v, w = u ++ x :: v -> allowed (after u) x.

  Lemma after_snoc w x : after (w ++ [x]) = happen (after w) x.
  Proof. unfold after. now rewrite fold_left_app. Qed.

  Lemma valid_prefix u v : valid (u ++ v) -> valid u.
  Proof. intros H u1 x u2 ->. apply (H u1 x (u2 ++ v)). now rewrite <- app_assoc. Qed.

  Lemma valid_nil : valid [].
  Proof. intros [|] x v H; discriminate H. Qed.

  Lemma valid_snoc w x : valid (w ++ [x]) <-> valid w /\ allowed (after w) x.
  Proof.
    split; [intros H; split; [now apply valid_prefix in H|now apply (H w x [])]|].
    intros [H A] u y v E. destruct v as [|z v _] using rev_ind.
    - apply app_inj_tail in E as [-> ->]. exact A.
    - rewrite app_comm_cons, app_assoc in E. apply app_inj_tail in E as [-> _]. now apply (H u y v).
  Qed.

  Lemma path_valid w s : path initial w s <-> valid w /\ s = after w.
  Proof.
    assert (G : forall w s0 s, path s0 w s <->
      (forall u x v, w = u ++ x :: v -> allowed (fold_left happen u s0) x) /\ s = fold_left happen w s0).
    { clear. induction w as [|y w IH]; intros s0 s; split.
      - intros H. inversion H. subst. split; [intros [|] ? ? E; discriminate E|auto].
      - intros [_ ->]. constructor.
      - intros H. inversion_clear H as [|? ? ? ? A H']. apply IH in H' as [H' ->]. split; [|auto].
        intros [|z u] x v E; injection E as -> ->; simpl; [auto|]. now apply (H' u x v).
      - intros [H ->]. constructor; [now apply (H [] y w)|]. apply IH. split; [|auto].
        intros u x v ->. now apply (H (y :: u) x v). }
    apply G.
  Qed.

  Theorem computation_valid w : computation w <-> valid w /\ final (after w).
  Proof.
    split; [intros (s & H & F); apply path_valid in H as [H ->]; auto|].
    intros [H F]. exists (after w). split; [now apply path_valid|auto].
  Qed.

  Definition of_cmd (c : command) (x : event) : bool := if command_eq_dec (command_of x) c then true else false.
  Lemma of_cmd_iff c x : of_cmd c x <-> command_of x = c.
  Proof. unfold of_cmd, is_true. destruct (command_eq_dec (command_of x) c); intuition discriminate. Qed.

  (** ** The state after a word, told from the word *)

  Lemma got_length w c : length (got (after w) c) = length (filter (of_cmd c) w).
  Proof.
    induction w as [|x w IH] using rev_ind; [reflexivity|]. rewrite after_snoc, filter_app, app_length. simpl.
    unfold of_cmd at 2. destruct (command_eq_dec c (command_of x)) as [->|N].
    - destruct (command_eq_dec (command_of x) (command_of x)); [|tauto]. rewrite app_length, IH. reflexivity.
    - destruct (command_eq_dec (command_of x) c); [congruence|]. rewrite IH. simpl. lia.
  Qed.

  Lemma ops_after w r : ops (after w) r = map op (filter (fun x => takes_part x r) w).
  Proof.
    induction w as [|x w IH] using rev_ind; [reflexivity|]. rewrite after_snoc, filter_app, map_app. simpl.
    rewrite <- IH. destruct (takes_part x r); [reflexivity|now rewrite app_nil_r].
  Qed.

  Lemma ops_grow u v r : exists more, ops (after (u ++ v)) r = ops (after u) r ++ more.
  Proof. rewrite !ops_after, filter_app, map_app. eauto. Qed.

  Lemma got_grow u v c : exists more, got (after (u ++ v)) c = got (after u) c ++ more.
  Proof.
    induction v as [|x v (more & IH)] using rev_ind; [exists []; now rewrite !app_nil_r|].
    rewrite app_assoc, after_snoc. simpl. destruct (command_eq_dec c (command_of x)) as [<-|]; [|eauto].
    rewrite IH, <- app_assoc. eauto.
  Qed.

  (** What the event at a place of a command has read. *)
  Definition saw (w : list event) (x : event) : Val := nth (place x) (got (after w) (command_of x)) nothing.

  Lemma place_bound w x : valid w -> In x w -> place x < length (got (after w) (command_of x)).
  Proof.
    induction w as [|y w IH] using rev_ind; [simpl; tauto|]. rewrite valid_snoc, in_app_iff. intros [Vw [A _]] I.
    rewrite after_snoc. simpl. destruct (command_eq_dec (command_of x) (command_of y)) as [E|E].
    - rewrite app_length. simpl. destruct I as [I|[<-|[]]]; [|lia]. rewrite <- E. specialize (IH Vw I). lia.
    - destruct I as [I|[<-|[]]]; [auto|tauto].
  Qed.

  Lemma saw_prefix u v x : valid u -> In x u -> saw (u ++ v) x = saw u x.
  Proof.
    intros Vu I. unfold saw. destruct (got_grow u v (command_of x)) as (more & ->). apply app_nth1.
    now apply place_bound.
  Qed.

  Lemma saw_snoc w x : allowed (after w) x -> saw (w ++ [x]) x = seen (after w) x.
  Proof.
    intros [L _]. unfold saw. rewrite after_snoc. simpl. destruct (command_eq_dec (command_of x) (command_of x)); [|tauto].
    rewrite app_nth2, L by lia. now rewrite Nat.sub_diag.
  Qed.

  Lemma saw_at u x v : valid (u ++ x :: v) -> saw (u ++ x :: v) x = seen (after u) x.
  Proof.
    intros V. pose proof (V u x v eq_refl) as A. rewrite <- (saw_snoc u x A).
    replace (u ++ x :: v) with ((u ++ [x]) ++ v) in * by now rewrite <- app_assoc.
    apply saw_prefix; [now apply valid_prefix in V|]. rewrite in_app_iff. simpl. auto.
  Qed.

  Lemma loc_after w r : valid w ->
    loc (after w) r = fold_left (fun l x => match next r l (op x) (saw w x) with Some l' => l' | None => l end)
                                (filter (fun x => takes_part x r) w) (init_loc r).
  Proof.
    induction w as [|y w IH] using rev_ind; [reflexivity|]. rewrite valid_snoc. intros [Vw A].
    rewrite after_snoc, filter_app, fold_left_app. simpl.
    assert (E : forall l0 l, (forall x, In x l -> In x w) ->
      fold_left (fun l x => match next r l (op x) (saw (w ++ [y]) x) with Some l' => l' | None => l end) l l0 =
      fold_left (fun l x => match next r l (op x) (saw w x) with Some l' => l' | None => l end) l l0).
    { intros l0 l. revert l0. induction l as [|z l IHl]; simpl; intros l0 I; [auto|].
      rewrite (saw_prefix w [y] z) by auto. apply IHl. auto. }
    rewrite (E (init_loc r) (filter (fun x => takes_part x r) w)) by (intros x H; now apply in_filter in H). rewrite <- IH by auto.
    destruct (takes_part y r); simpl; [|reflexivity]. now rewrite saw_snoc.
  Qed.

  Definition writer (k : Cell) (x : event) : bool := writes x && accesses k x.

  (** Memory: what the accesses that change a cell have made of it, one after the other. *)
  Definition change (w : list event) (v : Val) (x : event) : Val :=
    store (op x) (firstn (S (place x)) (got (after w) (command_of x))) v.

  Lemma mem_after w k : valid w -> mem (after w) k = fold_left (change w) (filter (writer k) w) (init_mem k).
  Proof.
    induction w as [|y w IH] using rev_ind; [reflexivity|]. rewrite valid_snoc. intros [Vw A].
    rewrite filter_app, fold_left_app.
    assert (E : forall l v, (forall x, In x l -> In x w) -> fold_left (change (w ++ [y])) l v = fold_left (change w) l v).
    { induction l as [|x l IHl]; simpl; intros v I; [auto|]. rewrite IHl by auto. f_equal. unfold change. f_equal.
      destruct (got_grow w [y] (command_of x)) as (more & ->). rewrite firstn_app.
      pose proof (place_bound w x Vw (I x (or_introl eq_refl))) as B.
      replace (S (place x) - length (got (after w) (command_of x))) with 0 by lia. simpl. now rewrite app_nil_r. }
    rewrite (E (filter (writer k) w)) by (intros x H; now apply in_filter in H). rewrite <- IH by auto. rewrite after_snoc. simpl.
    fold (writer k y). destruct (writer k y); [|reflexivity]. simpl. unfold change. f_equal. rewrite after_snoc. simpl.
    destruct (command_eq_dec (command_of y) (command_of y)); [|tauto]. destruct A as [L _].
    rewrite firstn_all2; [auto|]. rewrite app_length, L. simpl. lia.
  Qed.

  (** ** The events of a valid word *)

  Lemma valid_nodup w : valid w -> NoDup w.
  Proof.
    induction w as [|x w IH] using rev_ind; [constructor|]. rewrite valid_snoc. intros [Vw A].
    apply nodup_app; [auto|constructor; [simpl; tauto|constructor]|]. intros y I [<-|[]].
    pose proof (place_bound w x Vw I). destruct A as [L _]. lia.
  Qed.

  Lemma takes_part_iff x r : takes_part x r <-> is_issue x /\ In r (party (op x)).
  Proof.
    unfold takes_part, is_true. rewrite andb_true_iff, existsb_exists. split; intros [H J]; split; auto.
    - destruct J as (r' & I & E). apply Nat.eqb_eq in E. now subst r'.
    - exists r. split; [auto|apply Nat.eqb_refl].
  Qed.

  Lemma issued_op w x : valid w -> In x w -> nth_error (ops (after w) (rank x)) (number x) = Some (op x).
  Proof.
    induction w as [|y w IH] using rev_ind; [simpl; tauto|]. rewrite valid_snoc, in_app_iff. intros [Vw A] I.
    destruct I as [I|[<-|[]]].
    - destruct (ops_grow w [y] (rank x)) as (more & ->). specialize (IH Vw I).
      rewrite nth_error_app1; [auto|]. apply nth_error_Some. congruence.
    - destruct A as [_ A]. destruct (is_issue y) eqn:Iy.
      + destruct A as (Pa & Nu & _). rewrite after_snoc. simpl.
        replace (takes_part y (rank y)) with true by (symmetry; now apply takes_part_iff).
        rewrite nth_error_app2, Nu by lia. now rewrite Nat.sub_diag.
      + destruct A as (H & _). destruct (ops_grow w [y] (rank y)) as (more & ->).
        rewrite nth_error_app1; [auto|]. apply nth_error_Some. congruence.
  Qed.

  (** Who has issued the operation that is the i-th of a rank. *)
  Lemma issuer w r i o : valid w -> nth_error (ops (after w) r) i = Some o ->
    exists x, In x w /\ is_issue x /\ op x = o /\ In r (party o) /\ (rank x = r -> number x = i).
  Proof.
    induction w as [|y w IH] using rev_ind; intros V E; [destruct i; discriminate E|].
    apply valid_snoc in V as [V A]. rewrite after_snoc in E. simpl in E. destruct (takes_part y r) eqn:Ty.
    - destruct (le_lt_dec (length (ops (after w) r)) i) as [L|L].
      + rewrite nth_error_app2 in E by auto. destruct (i - length (ops (after w) r)) as [|d] eqn:Ed.
        * injection E as <-. apply takes_part_iff in Ty as [Hy Ky]. exists y. rewrite in_app_iff. simpl.
          split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. intros <-. destruct A as [_ A].
          rewrite Hy in A. destruct A as (_ & Nu & _). lia.
        * destruct d; discriminate E.
      + rewrite nth_error_app1 in E by auto. destruct (IH V E) as (x & Ix & H). exists x. rewrite in_app_iff. auto.
    - destruct (IH V E) as (x & Ix & H). exists x. rewrite in_app_iff. auto.
  Qed.

  (** An event is known by its command and its place. *)
  Lemma same_event w x y : valid w -> In x w -> In y w -> command_of x = command_of y -> place x = place y -> x = y.
  Proof.
    intros V Ix Iy E Ep. pose proof (issued_op w x V Ix) as Hx. pose proof (issued_op w y V Iy) as Hy.
    destruct x, y. injection E as -> ->. simpl in *. congruence.
  Qed.

  Lemma places w c : valid w -> map place (filter (of_cmd c) w) = seq 0 (length (got (after w) c)).
  Proof.
    intros V. rewrite got_length. revert V. induction w as [|y w IH] using rev_ind; [reflexivity|].
    rewrite valid_snoc, filter_app, map_app, app_length. intros [Vw [L _]]. rewrite IH by auto. simpl.
    destruct (of_cmd c y) eqn:E; simpl; [|now rewrite Nat.add_0_r, app_nil_r].
    rewrite seq_app. simpl. apply (of_cmd_iff c y) in E. subst c. now rewrite <- L, got_length.
  Qed.

  (** What has happened of a command are the events up to some place. *)
  Lemma event_at w c p : valid w -> p < length (got (after w) c) -> exists x, In x w /\ command_of x = c /\ place x = p.
  Proof.
    intros V H. assert (I : In p (map place (filter (of_cmd c) w))).
    { rewrite places by auto. apply in_seq. lia. }
    apply in_map_iff in I as (x & <- & I). apply in_filter in I as [I E]. apply of_cmd_iff in E. eauto.
  Qed.

  Lemma issue_of w x : valid w -> In x w -> exists i, In i w /\ command_of i = command_of x /\ is_issue i.
  Proof.
    intros V I. pose proof (place_bound w x V I). destruct (event_at w (command_of x) 0 V) as (i & Ii & E & Z); [lia|].
    exists i. split; [auto|]. split; [auto|]. unfold is_issue. now rewrite Z.
  Qed.

  Lemma happened_event w r i p : valid w ->
    (happened (after w) r i p <-> exists y, In y w /\ command_of y = (r, i) /\ place y = p).
  Proof.
    intros V. split; [now apply event_at|]. intros (y & I & E & <-). unfold happened. rewrite <- E.
    now apply place_bound.
  Qed.

  Lemma allowed_at u x v : valid (u ++ x :: v) -> allowed (after u) x.
  Proof. intros V. now apply (V u x v). Qed.

  (** A command with steps is issued by its rank alone. *)
  Lemma issuer_with_steps w r i o : valid w -> nth_error (ops (after w) r) i = Some o -> steps o <> [] ->
    exists x, In x w /\ is_issue x /\ op x = o /\ command_of x = (r, i).
  Proof.
    intros V E S. destruct (issuer w r i o V E) as (x & Ix & Hx & Ex & Px & Nx).
    assert (Home : In (rank x) (party (op x))).
    { apply in_split in Ix as (u & v & Eu). rewrite Eu in V. destruct (allowed_at u x v V) as [_ A].
      rewrite Hx in A. apply A. }
    assert (Rx : rank x = r) by (apply (steps_have_one_rank o); [auto|rewrite <- Ex; auto|auto]).
    exists x. unfold command_of. rewrite Rx, Nx by auto. auto.
  Qed.

  Lemma same_command_order w x y : valid w -> In x w -> In y w -> command_of x = command_of y ->
    (before w x y <-> place x < place y).
  Proof.
    intros V Ix Iy E. assert (F : forall a b, command_of a = command_of b -> before w a b -> place a < place b).
    { clear - V. intros a b E B. pose proof (proj2 (before_in w a b B)) as Ib.
      apply in_split in Ib as (u & v & ->).
      apply before_here in B; [|now apply valid_nodup]. pose proof (allowed_at u b v V) as [L _].
      pose proof (place_bound u a (valid_prefix _ _ V) B) as L'. rewrite E in L'. lia. }
    split; [now apply F|]. intros L. destruct (before_total w x y) as [?|B]; auto; [intros ->; lia|].
    apply F in B; [lia|auto].
  Qed.

  (** What the rank had issued when it issued the command of x. *)
  Definition past (w : list event) (x : event) : list Op := firstn (number x) (ops (after w) (rank x)).

  Lemma number_bound u x v : valid (u ++ x :: v) -> number x <= length (ops (after u) (rank x)).
  Proof.
    intros V. destruct (allowed_at u x v V) as [_ A]. destruct (is_issue x).
    - destruct A as (_ & -> & _). auto.
    - destruct A as (H & _). apply Nat.lt_le_incl, nth_error_Some. congruence.
  Qed.

  Lemma past_at u x v : valid (u ++ x :: v) -> past (u ++ x :: v) x = firstn (number x) (ops (after u) (rank x)).
  Proof.
    intros V. unfold past. destruct (ops_grow u (x :: v) (rank x)) as (more & ->). rewrite firstn_app.
    pose proof (number_bound u x v V). replace (number x - _) with 0 by lia. simpl. now rewrite app_nil_r.
  Qed.

  Lemma past_issue u x v : valid (u ++ x :: v) -> is_issue x -> past (u ++ x :: v) x = ops (after u) (rank x).
  Proof.
    intros V I. rewrite past_at by auto. destruct (allowed_at u x v V) as [_ A]. rewrite I in A.
    destruct A as (_ & -> & _). apply firstn_all.
  Qed.

  (** What has to come before what, by R1 and R2. *)
  Definition must (w : list event) (y x : event) : bool :=
    (rank y =? rank x) && (number y <? number x) && negb (is_issue y) &&
    (if is_issue x then awaits (past w x) (op x) (number y) (place y)
     else held (past w x) (op x) (place x) (number y) (place y)).

  Lemma must_iff w y x : must w y x <-> rank y = rank x /\ number y < number x /\ ~ is_issue y /\
    if is_issue x then awaits (past w x) (op x) (number y) (place y)
    else held (past w x) (op x) (place x) (number y) (place y).
  Proof.
    unfold must. rewrite !andb_iff, negb_iff. unfold is_true at 1 2. rewrite Nat.eqb_eq, Nat.ltb_lt.
    destruct (is_issue x); tauto.
  Qed.

  Lemma step_of_past w x y : valid w -> In x w -> In y w -> rank y = rank x -> number y < number x -> ~ is_issue y ->
    is_step (past w x) (number y) (place y).
  Proof.
    intros V Ix Iy R L S. exists (op y). split.
    - pose proof (issued_op w y V Iy) as E. rewrite R in E. unfold past.
      rewrite <- (firstn_skipn (number x) (ops (after w) (rank x))) in E. rewrite nth_error_app1 in E; [auto|].
      rewrite firstn_length_le; [auto|]. apply Nat.lt_le_incl, nth_error_Some. rewrite (issued_op w x V Ix). discriminate.
    - apply in_split in Iy as (u & v & ->). destruct (allowed_at u y v V) as [_ A]. unfold is_issue, is_true in *.
      destruct (place y) eqn:E; [simpl in S; tauto|]. simpl in A. destruct A as (_ & A & _). lia.
  Qed.

  (** Completion rules and waits are obeyed. *)
  Lemma must_obeyed_by w x y : valid w -> must w y x -> In x w -> In y w -> before w y x.
  Proof.
    intros V M Ix Iy. apply must_iff in M as (R & L & S & M).
    pose proof (step_of_past w x y V Ix Iy R L S) as St. pose proof (valid_nodup w V) as N.
    apply in_split in Ix as (u & v & ->). apply before_here; [auto|].
    assert (D : happened (after u) (rank x) (number y) (place y)).
    { destruct (allowed_at u x v V) as [_ A]. pose proof (past_at u x v V) as E. destruct (is_issue x) eqn:Ix.
      - destruct A as (_ & _ & _ & A). rewrite past_issue in * by auto. now apply A.
      - destruct A as (_ & _ & A). simpl in A. rewrite E in *. now apply A. }
    apply happened_event in D; [|now apply valid_prefix in V]. destruct D as (z & Iz & Ez & Pz).
    replace y with z; [auto|]. apply (same_event (u ++ x :: v)); auto.
    - apply in_app_iff. auto.
    - rewrite Ez. unfold command_of. congruence.
  Qed.

  (** ** The calculus of [Trace.v] on these events *)

  Definition clash (x y : event) : bool :=
    if event_eq_dec x y then false
    else match access_of x with
         | Some a => accesses (at_cell a) y && (writes x || writes y) && negb (same_kind x y)
         | None => false
         end.

  Lemma accesses_iff k x : accesses k x <-> exists a, access_of x = Some a /\ at_cell a = k.
  Proof.
    unfold accesses, is_true. destruct (access_of x) as [a|]; [|split; [discriminate|intros (a & H & _); discriminate H]].
    destruct (cell_dec (at_cell a) k) as [E|N]; split; auto; try discriminate; eauto.
    intros (a' & H & E). congruence.
  Qed.

  (** One cell, one of the two changes it, and they are not updates of one kind. *)
  Lemma clash_iff x y : clash x y <->
    x <> y /\ (exists k, accesses k x /\ accesses k y) /\ (writes x \/ writes y) /\ ~ same_kind x y.
  Proof.
    unfold clash. destruct (event_eq_dec x y) as [->|N]; [split; [discriminate|tauto]|].
    assert (W : writes x || writes y <-> writes x \/ writes y) by apply orb_true_iff.
    destruct (access_of x) as [a|] eqn:E.
    - rewrite !andb_iff, W, negb_iff. split.
      + intros [[H J] S]. split; [auto|]. split; [|auto]. exists (at_cell a). split; [|auto]. apply accesses_iff. eauto.
      + intros (_ & (k & Hx & Hy) & J & S). split; [split; [|auto]|auto]. apply accesses_iff in Hx as (a' & E' & <-). congruence.
    - split; [discriminate|]. intros (_ & (k & H & _) & _). apply accesses_iff in H as (a & H & _). congruence.
  Qed.

  Lemma clash_sym x y : clash x y -> clash y x.
  Proof.
    rewrite !clash_iff. intros (N & (k & Hx & Hy) & W & S). split; [auto|]. split; [eauto|]. split; [tauto|].
    intros H. apply S. revert H. unfold same_kind. destruct (kind x), (kind y); auto. now rewrite Nat.eqb_sym.
  Qed.

  Lemma clash_irrefl x : ~ clash x x.
  Proof. rewrite clash_iff. tauto. Qed.

  (** The same update, up to what it does it with. *)
  Definition alike (x y : event) : bool :=
    same_kind x y && match access_of x with Some a => accesses (at_cell a) y | None => false end.

  Lemma alike_iff x y : alike x y <-> same_kind x y /\ exists k, accesses k x /\ accesses k y.
  Proof.
    unfold alike. rewrite andb_iff. split; intros [S H]; (split; [exact S|]).
    - destruct (access_of x) as [a|] eqn:E; [|discriminate H]. exists (at_cell a). split; [|auto]. apply accesses_iff. eauto.
    - destruct H as (k & Hx & Hy). apply accesses_iff in Hx as (a & -> & <-). exact Hy.
  Qed.

  Lemma same_kind_iff x y : same_kind x y <-> kind x <> None /\ kind x = kind y.
  Proof.
    unfold same_kind, is_true. destruct (kind x) as [k|], (kind y) as [k'|]; rewrite ?Nat.eqb_eq;
      intuition (try discriminate; congruence).
  Qed.

  Lemma alike_sym x y : alike x y -> alike y x.
  Proof.
    rewrite !alike_iff, !same_kind_iff. intros ((K & E) & k & Hx & Hy). split; [split; congruence|eauto].
  Qed.

  Lemma alike_trans x y z : alike x y -> alike y z -> alike x z.
  Proof.
    rewrite !alike_iff, !same_kind_iff. intros ((K & E) & k & Hx & Hy) ((K' & E') & k' & Hy' & Hz).
    split; [split; congruence|]. exists k. split; [auto|].
    apply accesses_iff in Hy as (a & F & <-), Hy' as (a' & F' & <-). congruence.
  Qed.

  (** What conflicts with an update conflicts with all that are like it. *)
  Lemma clash_alike x y z : clash x y -> alike y z -> x <> z -> clash x z.
  Proof.
    intros C A N. apply clash_iff in C as (_ & (k & Hx & Hy) & _ & S). apply alike_iff in A as (S' & k' & Hy' & Hz).
    rewrite same_kind_iff in S, S'. apply clash_iff. split; [auto|]. split; [|split].
    - exists k. split; [auto|]. apply accesses_iff in Hy as (a & E & <-), Hy' as (a' & E' & <-). congruence.
    - right. destruct S' as [K E]. unfold writes. unfold kind in K, E. destruct (access_of y) as [b|]; [|tauto].
      destruct (access_of z) as [c|]; [|congruence]. unfold kind_of, does_write in *. destruct (in_way b), (in_way c); congruence.
    - rewrite same_kind_iff. intros [K E]. destruct S' as [K' E']. apply S. split; [auto|congruence].
  Qed.

  Definition share_rank (x y : event) : bool := existsb (fun r => existsb (Nat.eqb r) (party (op y))) (party (op x)).
  Lemma share_rank_iff x y : share_rank x y <-> exists r, In r (party (op x)) /\ In r (party (op y)).
  Proof.
    unfold share_rank, is_true. rewrite existsb_exists. split; intros (r & H & J); exists r; split; auto.
    - apply existsb_exists in J as (r' & I & E). apply Nat.eqb_eq in E. now subst r'.
    - apply existsb_exists. exists r. split; [auto|apply Nat.eqb_refl].
  Qed.
  Lemma share_rank_sym x y : share_rank x y -> share_rank y x.
  Proof. rewrite !share_rank_iff. firstorder. Qed.

  Global Instance calculus : Calculus event command := {|
    cmd := command_of; issued := is_issue; same_rank := share_rank; changes := writes; conflict := clash;
    event_dec := event_eq_dec; cmd_dec := command_eq_dec;
    same_rank_sym := share_rank_sym; conflict_sym := clash_sym; conflict_irrefl := clash_irrefl |}.

  (** Without updates that commute, the edges of conflict are the paper's: no write between. *)
  Theorem no_write_between w x y : NoDup w -> (forall z, In z w -> kind z = None) ->
    (conflict_edge w x y <-> clash x y /\ before w x y /\
      forall z k, before w x z -> before w z y -> writes z -> accesses k x -> ~ accesses k z).
  Proof.
    intros N Plain. assert (One : forall k k' z, accesses k z -> accesses k' z -> k = k').
    { intros k k' z H H'. apply accesses_iff in H as (a & E & <-), H' as (a' & E' & <-). congruence. }
    assert (Diff : forall z v, In z w -> ~ same_kind z v).
    { intros z v I. unfold same_kind. rewrite Plain by auto. discriminate. }
    split; intros (C & B & F); (split; [exact C|split; [exact B|]]).
    - intros z k B1 B2 W Hx Hz. apply clash_iff in C as (_ & (k' & Hx' & Hy) & _). pose proof (before_in _ _ _ B1).
      rewrite (One _ _ _ Hx' Hx) in Hy. apply (F z B1 B2 W); apply clash_iff.
      + split; [intros ->; exact (before_irrefl _ _ N B1)|]. split; [eauto|]. split; [auto|now apply Diff].
      + split; [intros ->; exact (before_irrefl _ _ N B2)|]. split; [eauto|]. split; [auto|now apply Diff].
    - intros z B1 B2 W C1 _. apply clash_iff in C1 as (_ & (k & Hx & Hz) & _). exact (F z k B1 B2 W Hx Hz).
  Qed.

  (** ** Who was issued when *)

  Lemma issue_order w i j : valid w -> In i w -> In j w -> is_issue i -> is_issue j ->
    rank i = rank j -> number i < number j -> program_order w i j.
  Proof.
    intros V Ii Ij Hi Hj R L. assert (Home : forall x, In x w -> is_issue x -> In (rank x) (party (op x))).
    { clear - V. intros x I H. apply in_split in I as (u & v & ->). destruct (allowed_at u x v V) as [_ A].
      rewrite H in A. apply A. }
    split; [exact Hi|]. split; [exact Hj|]. split.
    { apply share_rank_iff. exists (rank i). split; [auto|]. rewrite R. auto. }
    destruct (before_total w i j) as [?|B]; auto; [intros ->; lia|]. exfalso.
    (* i is issued when j has been, so its number is greater *)
    apply in_split in Ii as (u & v & ->). pose proof B as Bu. apply before_here in Bu; [|now apply valid_nodup].
    destruct (allowed_at u i v V) as [_ A]. rewrite Hi in A. destruct A as (_ & Nu & _).
    pose proof (issued_op u j (valid_prefix _ _ V) Bu) as E. rewrite <- R in E.
    assert (number j < length (ops (after u) (rank i))) by (apply nth_error_Some; congruence). lia.
  Qed.

  Lemma must_later_by w x y : valid w -> must w x y -> In x w -> In y w ->
    exists i j, command_of i = command_of x /\ command_of j = command_of y /\ command_of i <> command_of j /\
                program_order w i j.
  Proof.
    intros V M Ix Iy. apply must_iff in M as (R & L & _).
    destruct (issue_of w x V Ix) as (i & Ii & Ei & Hi), (issue_of w y V Iy) as (j & Ij & Ej & Hj).
    exists i, j. split; [auto|]. split; [auto|]. injection Ei as Ri Ni. injection Ej as Rj Nj. split.
    - unfold command_of. intros E. injection E. lia.
    - apply issue_order; auto; [congruence|lia].
  Qed.
End Network.

Arguments event : clear implicits.
