(** * Happens-before between commands, and Shasha and Snir for commands of several events

    A trace is a list of events without repetitions.  Every event belongs to a command; a command is issued by an event,
    and its other events are its steps.  Which events conflict is left open: any symmetric relation will do.  So the
    paper's conflict (one cell, one of the two writes) is covered, and so is the one in which updates that commute do not
    conflict, which [Network.v] has. *)

Require Import Pgas.Order.

Class Calculus (Event Command : Type) := {
  cmd : Event -> Command;                   (* identity: the command that an event belongs to *)
  issued : Event -> bool;                   (* it issues its command, and is no step *)
  same_rank : Event -> Event -> bool;       (* of issued events: some rank takes part in both *)
  changes : Event -> bool;                  (* its access writes or updates a cell *)
  conflict : Event -> Event -> bool;
  event_dec : forall x y : Event, {x = y} + {x <> y};
  cmd_dec : forall c d : Command, {c = d} + {c <> d};
  same_rank_sym : forall x y, same_rank x y -> same_rank y x;
  conflict_sym : forall x y, conflict x y -> conflict y x;
  conflict_irrefl : forall x, ~ conflict x x }.

Section Trace.
  Context {Event Command : Type} {K : Calculus Event Command}.
  Implicit Types (t s : list Event) (x y z : Event) (c d : Command).

  (** Program order joins an issued event to all later ones of the rank, where the pages have the next one only: the
      paths are the same. *)
  Definition program_order t x y : Prop := issued x /\ issued y /\ same_rank x y /\ before t x y.

  (** The edges of conflict: nothing that changes the cell stands between. *)
  Definition conflict_edge t x y : Prop :=
    conflict x y /\ before t x y /\
    forall z, before t x z -> before t z y -> changes z -> conflict x z -> conflict z y -> False.

  (** The quotient by identity, without edges from a command to itself; its paths are happens-before. *)
  Definition edge t c d : Prop :=
    c <> d /\ exists x y, cmd x = c /\ cmd y = d /\ (program_order t x y \/ conflict_edge t x y).
  Definition happens_before t : Command -> Command -> Prop := clos_trans _ (edge t).
  Definition violating t : Prop := exists c, happens_before t c c.

  (** s has the events of t, and orders events of one command, conflicting ones and issued ones of a rank as t does. *)
  Record looks_like t s : Prop := {
    look_nodup : NoDup s;
    look_events : forall x, In x s <-> In x t;
    look_command : forall x y, cmd x = cmd y -> (before s x y <-> before t x y);
    look_program : forall x y, program_order s x y <-> program_order t x y;
    look_conflict : forall x y, conflict x y -> (before s x y <-> before t x y) }.

  (** Sequential consistency: the events of each command stand next to each other. *)
  Definition in_blocks s : Prop := forall x y z, before s x z -> before s z y -> cmd x = cmd y -> cmd z = cmd x.

  (** ** Looking alike is an equivalence, and keeps happens-before *)

  Lemma looks_refl t : NoDup t -> looks_like t t.
  Proof. intros N. split; auto; intros; reflexivity. Qed.

  Lemma looks_sym t s : NoDup t -> looks_like t s -> looks_like s t.
  Proof.
    intros N [_ I C P F]. split; auto; intros; symmetry; auto.
  Qed.

  Lemma looks_trans t s u : looks_like t s -> looks_like s u -> looks_like t u.
  Proof.
    intros [_ I C P F] [N I' C' P' F']. split; auto; intros.
    - rewrite I'. apply I.
    - rewrite C'; auto.
    - rewrite P'. apply P.
    - rewrite F'; auto.
  Qed.

  Lemma looks_conflict_edge t s x y : looks_like t s -> conflict_edge t x y -> conflict_edge s x y.
  Proof.
    intros L (C & B & Free). split; [auto|]. split; [now apply (look_conflict _ _ L)|].
    intros z B1 B2 W C1 C2. apply (Free z); auto; now apply (look_conflict _ _ L).
  Qed.

  Theorem same_happens_before t s : NoDup t -> looks_like t s ->
    (forall c d, edge s c d <-> edge t c d) /\ (forall c d, happens_before s c d <-> happens_before t c d).
  Proof.
    intros N L. pose proof (looks_sym _ _ N L) as L'.
    assert (One : forall u v, looks_like u v -> forall c d, edge u c d -> edge v c d).
    { intros u v M c d (H & x & y & Ex & Ey & E). split; [auto|]. exists x, y. split; [auto|]. split; [auto|].
      destruct E as [P|F]; [left; now apply (look_program _ _ M)|right; exact (looks_conflict_edge u v x y M F)]. }
    assert (E : forall c d, edge s c d <-> edge t c d) by (split; apply One; auto).
    split; [exact E|]. intros c d. split; apply path_weaken; intros; now apply E.
  Qed.

  (** Adjacent events of different commands that do not conflict, and are not issued by one rank, can be swapped. *)
  Theorem swap_independent l1 l2 x y : NoDup (l1 ++ x :: y :: l2) ->
    cmd x <> cmd y -> ~ conflict x y -> ~ (issued x /\ issued y /\ same_rank x y) ->
    looks_like (l1 ++ x :: y :: l2) (l1 ++ y :: x :: l2).
  Proof.
    intros N Nc Nf Np. set (t := l1 ++ x :: y :: l2) in *. set (s := l1 ++ y :: x :: l2).
    assert (Perm : forall z, In z s <-> In z t). { intros z. unfold s, t. rewrite !in_app_iff. simpl. tauto. }
    assert (Ns : NoDup s).
    { unfold t, s in *. apply NoDup_remove in N as [N N1]. apply NoDup_remove in N as [N N2].
      rewrite in_app_iff in *. simpl in N1.
      apply NoDup_Add with (a := y) (l := l1 ++ x :: l2); [apply Add_app|]. split.
      - apply NoDup_Add with (a := x) (l := l1 ++ l2); [apply Add_app|]. rewrite in_app_iff. tauto.
      - rewrite in_app_iff. simpl. intuition (subst; auto). }
    assert (F : forall a b, before s a b -> (a = y /\ b = x) \/ before t a b).
    { intros a b. unfold s, t. rewrite !before_app. simpl. intuition (subst; auto). }
    assert (G : forall a b, before t a b -> (a = x /\ b = y) \/ before s a b).
    { intros a b. unfold s, t. rewrite !before_app. simpl. intuition (subst; auto). }
    split; auto.
    - intros a b E. split; intros H.
      + destruct (F a b H) as [[-> ->]|?]; auto. congruence.
      + destruct (G a b H) as [[-> ->]|?]; auto. congruence.
    - intros a b. split; intros (Ia & Ib & R & H); split; auto; split; auto; split; auto.
      + destruct (F a b H) as [[-> ->]|?]; auto. destruct Np. auto using same_rank_sym.
      + destruct (G a b H) as [[-> ->]|?]; auto. tauto.
    - intros a b C. split; intros H.
      + destruct (F a b H) as [[-> ->]|?]; auto. destruct Nf. now apply conflict_sym.
      + destruct (G a b H) as [[-> ->]|?]; auto. tauto.
  Qed.

  (** ** Everything is decidable *)

  Lemma list_ex_dec (A : Type) (P : A -> Prop) (l : list A) : (forall a : A, {P a} + {~ P a}) ->
    {exists a : A, In a l /\ P a} + {~ exists a : A, In a l /\ P a}.
  Proof.
    intros D. destruct (Exists_dec P l D) as [H|H]; rewrite Exists_exists in H; [left|right]; auto.
  Defined.

  Lemma program_order_dec t x y : {program_order t x y} + {~ program_order t x y}.
  Proof.
    unfold program_order. destruct (is_true_dec (issued x)), (is_true_dec (issued y)), (is_true_dec (same_rank x y)),
      (before_dec event_dec t x y); first [left; tauto|right; tauto].
  Defined.

  Lemma conflict_edge_dec t x y : {conflict_edge t x y} + {~ conflict_edge t x y}.
  Proof.
    destruct (is_true_dec (conflict x y)) as [C|C]; [|right; intros (H & _); tauto].
    destruct (before_dec event_dec t x y) as [B|B]; [|right; intros (_ & H & _); tauto].
    destruct (list_ex_dec _ (fun z => before t x z /\ before t z y /\ changes z /\ conflict x z /\ conflict z y) t) as [H|H].
    - intros z. destruct (before_dec event_dec t x z), (before_dec event_dec t z y), (is_true_dec (changes z)),
        (is_true_dec (conflict x z)), (is_true_dec (conflict z y)); first [left; tauto|right; tauto].
    - right. intros (_ & _ & Free). destruct H as (z & _ & B1 & B2 & W & C1 & C2). eauto.
    - left. split; [auto|]. split; [auto|]. intros z B1 B2 W C1 C2. apply H. exists z. split; [|tauto].
      now apply before_in in B1.
  Defined.

  Lemma edge_in t c d : edge t c d -> In c (map cmd t) /\ In d (map cmd t).
  Proof.
    intros (_ & x & y & <- & <- & E).
    assert (B : before t x y) by (destruct E as [(_ & _ & _ & B)|(_ & B & _)]; exact B).
    apply before_in in B. split; apply in_map; tauto.
  Qed.

  Lemma edge_dec t c d : {edge t c d} + {~ edge t c d}.
  Proof.
    destruct (cmd_dec c d) as [E|N]; [right; intros (H & _); tauto|].
    destruct (list_ex_dec _ (fun x => exists y, In y t /\ cmd x = c /\ cmd y = d /\
        (program_order t x y \/ conflict_edge t x y)) t) as [H|H].
    - intros x. apply list_ex_dec. intros y. destruct (cmd_dec (cmd x) c), (cmd_dec (cmd y) d),
        (program_order_dec t x y), (conflict_edge_dec t x y); first [left; tauto|right; tauto].
    - left. split; [auto|]. destruct H as (x & _ & y & _ & H). exists x, y. exact H.
    - right. intros (_ & x & y & Ex & Ey & E). apply H.
      assert (B : before t x y) by (destruct E as [(_ & _ & _ & B)|(_ & B & _)]; exact B).
      apply before_in in B. exists x. split; [tauto|]. exists y. tauto.
  Defined.

  Lemma happens_before_dec t c d : {happens_before t c d} + {~ happens_before t c d}.
  Proof. apply path_dec with (l := map cmd t); [apply edge_dec|]. intros a b E. now apply edge_in in E. Defined.

  Theorem violating_dec t : {violating t} + {~ violating t}.
  Proof.
    destruct (list_ex_dec _ (fun c => happens_before t c c) (map cmd t)) as [H|H].
    - intros c. apply happens_before_dec.
    - left. destruct H as (c & _ & H). now exists c.
    - right. intros (c & P). apply H. exists c. split; [|exact P].
      destruct (path_cases _ _ _ P) as (d & E & _). now apply edge_in in E.
  Defined.

  (** ** Lemma 0: a conflict in the order of t is a walk of the quotient *)

  Lemma filter_fewer (f g : Event -> bool) t z : NoDup t -> (forall x, f x -> g x) ->
    In z t -> g z -> ~ f z -> length (filter f t) < length (filter g t).
  Proof.
    intros N I Iz G F. apply (NoDup_incl_length (l := z :: filter f t)).
    - constructor; [rewrite in_filter; tauto|now apply NoDup_filter].
    - intros x [<-|H]; rewrite in_filter in *; intuition.
  Qed.

  Definition between t x y z : bool :=
    if before_dec event_dec t x z then if before_dec event_dec t z y then true else false else false.
  Lemma between_iff t x y z : between t x y z <-> before t x z /\ before t z y.
  Proof.
    unfold between, is_true. destruct (before_dec event_dec t x z), (before_dec event_dec t z y); intuition discriminate.
  Qed.

  Lemma conflict_walk t x y : NoDup t -> conflict x y -> before t x y -> clos_refl_trans _ (edge t) (cmd x) (cmd y).
  Proof.
    intros N. remember (length (filter (between t x y) t)) as n eqn:En. revert x y En.
    induction n as [n IH] using lt_wf_ind. intros x y -> C B.
    destruct (conflict_edge_dec t x y) as [E|E].
    - destruct (cmd_dec (cmd x) (cmd y)) as [->|D]; [apply rt_refl|]. apply rt_step. split; [auto|]. exists x, y. auto.
    - destruct (list_ex_dec _ (fun z => before t x z /\ before t z y /\ conflict x z /\ conflict z y) t) as [H|H].
      { intros z. destruct (before_dec event_dec t x z), (before_dec event_dec t z y),
        (is_true_dec (conflict x z)), (is_true_dec (conflict z y)); first [left; tauto|right; tauto]. }
      + destruct H as (z & Iz & B1 & B2 & C1 & C2). eapply rt_trans with (cmd z).
        * eapply IH; [|reflexivity|exact C1|exact B1]. apply filter_fewer with z; auto.
          -- intros v. rewrite !between_iff. intros [H1 H2]. split; [auto|]. exact (before_trans _ _ _ _ N H2 B2).
          -- now apply between_iff.
          -- rewrite between_iff. intros [_ F]. exact (before_irrefl _ _ N F).
        * eapply IH; [|reflexivity|exact C2|exact B2]. apply filter_fewer with z; auto.
          -- intros v. rewrite !between_iff. intros [H1 H2]. split; [|auto]. exact (before_trans _ _ _ _ N B1 H1).
          -- now apply between_iff.
          -- rewrite between_iff. intros [F _]. exact (before_irrefl _ _ N F).
      + destruct E. split; [auto|]. split; [auto|]. intros z B1 B2 _ C1 C2. apply H. exists z.
        split; [now apply before_in in B1|auto].
  Qed.

  (** A walk stays one when events are put between. *)
  Lemma walk_more t u c d : NoDup u -> (forall x y, before t x y -> before u x y) ->
    clos_refl_trans _ (edge t) c d -> clos_refl_trans _ (edge u) c d.
  Proof.
    intros N I. induction 1 as [c d (D & x & y & <- & <- & E)|c|a b c _ IH1 _ IH2];
      [|apply rt_refl|eapply rt_trans; eassumption].
    destruct E as [(I1 & I2 & R & B)|(C & B & _)]; [|apply conflict_walk; auto].
    apply rt_step. split; [auto|]. exists x, y. split; [auto|]. split; [auto|]. left.
    split; [auto|]. split; [auto|]. split; [auto|auto].
  Qed.

  (** ** Commands written out one after the other *)

  Definition of_command c x : bool := if cmd_dec (cmd x) c then true else false.
  Lemma of_command_iff c x : of_command c x <-> cmd x = c.
  Proof. unfold of_command, is_true. destruct (cmd_dec (cmd x) c); intuition discriminate. Qed.

  Definition block t c : list Event := filter (of_command c) t.
  Definition written_out t (cs : list Command) : list Event := flat_map (block t) cs.

  Lemma in_block t c x : In x (block t c) <-> In x t /\ cmd x = c.
  Proof. unfold block. now rewrite in_filter, of_command_iff. Qed.

  Lemma in_written_out t cs x : In x (written_out t cs) <-> In x t /\ In (cmd x) cs.
  Proof.
    unfold written_out. rewrite in_flat_map. split.
    - intros (c & I & H). apply in_block in H as [H <-]. auto.
    - intros [H I]. exists (cmd x). rewrite in_block. auto.
  Qed.

  Lemma before_written_out t cs x y : NoDup cs ->
    (before (written_out t cs) x y <->
     (In (cmd x) cs /\ cmd x = cmd y /\ before t x y) \/ (before cs (cmd x) (cmd y) /\ In x t /\ In y t)).
  Proof.
    unfold written_out. induction 1 as [|c cs Hc N IH]; simpl; [tauto|]. fold (written_out t cs) in *.
    rewrite before_app, IH, in_written_out, in_block. unfold block. rewrite before_filter, !of_command_iff. split.
    - intros [(B & X & Y)|[H|(X & Y)]].
      + left. split; [auto|]. split; [congruence|auto].
      + tauto.
      + right. split; [left; split; [symmetry|]; tauto|tauto].
    - intros [(I & E & B)|([(E & I)|B] & X & Y)].
      + destruct I as [I|I]; [left|tauto]. split; [auto|split; congruence].
      + right. right. auto.
      + tauto.
  Qed.

  Lemma written_out_nodup t cs : NoDup t -> NoDup cs -> NoDup (written_out t cs).
  Proof.
    intros N. induction 1 as [|c cs Hc Nc IH]; [constructor|]. unfold written_out in *. simpl. apply nodup_app; auto.
    - now apply NoDup_filter.
    - intros x H J. apply in_block in H as [_ <-]. now apply in_written_out in J.
  Qed.

  (** ** Shasha and Snir *)

  Theorem acyclic_looks_in_blocks t : NoDup t -> ~ violating t -> exists s, looks_like t s /\ in_blocks s.
  Proof.
    intros N V.
    destruct (linear_extension (happens_before t)) with (l := nodup cmd_dec (map cmd t)) as (cs & Ncs & I & Ext).
    - apply happens_before_dec.
    - intros a b c. apply t_trans.
    - intros c P. apply V. now exists c.
    - apply NoDup_nodup.
    - assert (Ic : forall x, In x t -> In (cmd x) cs).
      { intros x H. apply I, nodup_In. now apply in_map. }
      assert (HB : forall x y, In x t -> In y t -> happens_before t (cmd x) (cmd y) -> before cs (cmd x) (cmd y)).
      { intros x y Hx Hy. apply Ext; now apply I, Ic. }
      assert (Fwd : forall x y, before t x y -> cmd x = cmd y \/ happens_before t (cmd x) (cmd y) ->
        before (written_out t cs) x y).
      { intros x y B H. destruct (before_in _ _ _ B) as [Hx Hy]. apply before_written_out; [auto|].
        destruct H as [E|H]; [left; auto|right; auto]. }
      assert (Ns : NoDup (written_out t cs)) by now apply written_out_nodup.
      assert (Is : forall x, In x (written_out t cs) <-> In x t).
      { intros x. rewrite in_written_out. intuition. }
      (* what points forward in t does so in s; then s has nothing that t has not *)
      assert (Same : forall x y, x <> y -> (before t x y -> before (written_out t cs) x y) ->
        (before t y x -> before (written_out t cs) y x) -> (before (written_out t cs) x y <-> before t x y)).
      { intros x y D F G. split; [|auto]. intros B. destruct (before_in _ _ _ B) as [Hx Hy]. rewrite Is in Hx, Hy.
        destruct (before_total t x y) as [?|B']; auto. destruct (before_asym _ _ _ Ns B). auto. }
      assert (Po : forall x y, program_order t x y -> before (written_out t cs) x y).
      { intros x y P. apply Fwd; [apply P|]. destruct (cmd_dec (cmd x) (cmd y)); [auto|]. right. apply t_step.
        split; [auto|]. exists x, y. auto. }
      assert (Cf : forall x y, conflict x y -> before t x y -> before (written_out t cs) x y).
      { intros x y C B. apply Fwd; [auto|]. destruct (cmd_dec (cmd x) (cmd y)); [auto|]. right.
        apply walk_path; [now apply conflict_walk|auto]. }
      exists (written_out t cs). split; [split|].
      + exact Ns.
      + exact Is.
      + intros x y E. destruct (event_dec x y) as [->|D].
        * split; intros B; [destruct (before_irrefl _ _ Ns B)|destruct (before_irrefl _ _ N B)].
        * apply Same; auto.
      + intros x y. destruct (event_dec x y) as [->|D].
        * split; intros (_ & _ & _ & B); [destruct (before_irrefl _ _ Ns B)|destruct (before_irrefl _ _ N B)].
        * assert (S : issued x -> issued y -> same_rank x y -> (before (written_out t cs) x y <-> before t x y)).
          { intros Ix Iy R. apply Same; [auto| |]; intros B; apply Po; [exact (conj Ix (conj Iy (conj R B)))|].
            exact (conj Iy (conj Ix (conj (same_rank_sym _ _ R) B))). }
          unfold program_order. split; intros (Ix & Iy & R & B); (split; [auto|split; [auto|split; [auto|now apply S]]]).
      + intros x y C. apply Same; auto.
        * intros ->. exact (conflict_irrefl _ C).
        * intros B. apply Cf; auto using conflict_sym.
      + intros x y z Bx By E. rewrite before_written_out in Bx, By by auto.
        destruct Bx as [(_ & E' & _)|(Bx & _)]; [auto|]. destruct By as [(_ & E' & _)|(By & _)]; [congruence|].
        rewrite <- E in By. destruct (before_asym _ _ _ Ncs Bx By).
  Qed.

  (** In a run in blocks, an event of c before one of d puts all of c before all of d. *)
  Lemma blocks_apart s x y x' y' : NoDup s -> in_blocks s -> before s x y -> cmd x <> cmd y ->
    In x' s -> In y' s -> cmd x' = cmd x -> cmd y' = cmd y -> before s x' y'.
  Proof.
    intros N Bl B D Ix' Iy' Ex Ey. destruct (before_in _ _ _ B) as [Ix Iy].
    assert (B1 : before s x' y).
    { destruct (before_total s x' y) as [?|B']; auto; [congruence|]. destruct D. rewrite (Bl x x' y); auto. }
    destruct (before_total s x' y') as [?|B']; auto; [congruence|].
    destruct D. rewrite <- Ex, <- Ey. apply (Bl y' y x'); auto.
  Qed.

  Theorem looks_in_blocks_acyclic t s : NoDup t -> looks_like t s -> in_blocks s -> ~ violating t.
  Proof.
    intros N L Bl (c0 & V). pose proof (look_nodup _ _ L) as Ns.
    set (all := fun c d => (exists x, In x s /\ cmd x = c) /\ (exists y, In y s /\ cmd y = d) /\
                           forall x y, In x s -> In y s -> cmd x = c -> cmd y = d -> before s x y).
    assert (P : forall c d, happens_before t c d -> all c d).
    { induction 1 as [c d (D & x & y & <- & <- & E)|c d e _ (X & (y & Iy & Ey) & B1) _ (_ & Z & B2)].
      - assert (B : before s x y).
        { destruct E as [E|(C & B & _)]; [apply (look_program _ _ L) in E; apply E|].
          now apply (look_conflict _ _ L). }
        destruct (before_in _ _ _ B) as [Ix Iy]. repeat split; eauto.
        intros x' y' Ix' Iy' Ex Ey. exact (blocks_apart s x y x' y' Ns Bl B D Ix' Iy' Ex Ey).
      - repeat split; auto. intros x z Ix Iz Ex Ez. exact (before_trans _ _ _ _ Ns (B1 x y Ix Iy Ex Ey) (B2 y z Iy Iz Ey Ez)). }
    destruct (P _ _ V) as ((x & Ix & Ex) & _ & B). exact (before_irrefl _ _ Ns (B x x Ix Ix Ex Ex)).
  Qed.

  (** Acyclic iff it looks like a run in blocks. *)
  Theorem shasha_snir t : NoDup t -> (~ violating t <-> exists s, looks_like t s /\ in_blocks s).
  Proof.
    intros N. split; [now apply acyclic_looks_in_blocks|]. intros (s & L & Bl). now apply looks_in_blocks_acyclic with s.
  Qed.
End Trace.
