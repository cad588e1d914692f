(** * The fixpoint of infeasibility, and every number of nodes

    proofs/reductions.md, section 2, and proofs/every-n.md.  The fixpoint is one of names of ranks: a name is one rank
    ([single]), or any number of them.  When all are single it is that of reductions.md.  It is not computed here: any
    sets that are closed under its rules will do. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network Pgas.Attack Pgas.AttackComplete Pgas.Robust.

(** An access as far as it is known: to a cell of this address, in the memory of a rank of this name.  [own]: in the
    memory of the rank that makes it, and no single one has its name. *)
Record seen_access (Name Address : Type) := Seen { whose : Name; address : Address; how : way; own : bool }.
Arguments Seen {Name Address}. Arguments whose {Name Address}. Arguments address {Name Address}.
Arguments how {Name Address}. Arguments own {Name Address}.

(** Whether accesses of one cell in these ways conflict. *)
Definition ways_clash (u v : way) : Prop :=
  (u <> Reads \/ v <> Reads) /\ match u, v with Updates k, Updates k' => k <> k' | _, _ => True end.

(** What is known of the ranks, on whichever number of nodes: the commands of each name, with what they may and what
    they must access, and what is known of steps that are delayed. *)
Record system := {
  Name : Type; Address : Type; Control : Type; Command : Type; Way : Type; Phase : Type;
  named : Name -> Prop;                                  (* it is the name of a rank *)
  single : Name -> bool;
  leaves : Name -> Control -> Command -> Control -> Prop;
  barrier : Command -> bool;
  size : Command -> nat;                                 (* how many steps it has *)
  may_access : Command -> nat -> seen_access Name Address -> Prop;
  must_access : Command -> nat -> seen_access Name Address -> Prop;
  (* Ways: which steps are delayed for certain.  [behind w k f]: after the command, its steps from f on being so. *)
  nothing_delayed : Way;
  behind : Way -> Command -> nat -> Way;
  lasting : Way -> Way;                                  (* what stays true of it *)
  delays : Way -> Command -> nat -> bool;                (* by completion rules *)
  stops : Way -> Command -> bool;                        (* it is a wait that is not over *)
  (* Control states between two barriers. *)
  first_phase : Phase;
  next_phase : Phase -> Phase;
  in_phase : Phase -> Name -> Control -> Prop }.
Arguments named {_}. Arguments single {_}. Arguments leaves {_}. Arguments barrier {_}. Arguments size {_}.
Arguments may_access {_}. Arguments must_access {_}. Arguments nothing_delayed {_}. Arguments behind {_}.
Arguments lasting {_}. Arguments delays {_}. Arguments stops {_}. Arguments first_phase {_}. Arguments next_phase {_}.
Arguments in_phase {_}.

Section Rules_of_names.
  Context {Y : system}.
  Notation accessed := (seen_access (Name Y) (Address Y)).
  Implicit Types (nm : Name Y) (c : Control Y) (k : Command Y) (A B : accessed) (w : Way Y) (X d : accessed -> Prop).

  Definition same_spot A B : Prop := whose A = whose B /\ address A = address B.
  (** Ranks of one name do not meet each in its own memory. *)
  Definition may_clash A B : Prop := same_spot A B /\ ways_clash (how A) (how B) /\ ~ (own A /\ own B).

  Definition may_hit k p X : Prop := exists A B, may_access k p A /\ X B /\ may_clash A B.
  Definition must_hit k p X : Prop := exists A B, must_access k p A /\ X B /\ may_clash A B.

  (** The phases are closed. *)
  Record phases_closed : Prop := {
    phase_on : forall h nm c k c', in_phase h nm c -> leaves nm c k c' -> barrier k = false -> in_phase h nm c';
    phase_barrier : forall h,
      (forall nm, named nm -> exists c k c', in_phase h nm c /\ leaves nm c k c' /\ barrier k) ->
      forall nm c k c', in_phase h nm c -> leaves nm c k c' -> barrier k -> in_phase (next_phase h) nm c' }.

  (** Where the others may be while the source's rank is here. *)
  Definition company source_name source_control nm c : Prop :=
    exists h, in_phase h source_name source_control /\ in_phase h nm c.

  (** The source: step i of a command of a rank that has a name by itself. *)
  Record source := Source { of_name : Name Y; at_control : Control Y; by_command : Command Y; at_step : nat }.

  (** The sets of the fixpoint.  Barriers since the choice are told apart up to [limit]. *)
  Record sets := {
    done : Name Y -> accessed -> Prop;
    made : Name Y -> accessed -> Prop;
    way_to : Name Y -> Control Y -> nat -> Way Y -> (accessed -> Prop) -> Prop;
    arrived : nat -> Name Y -> Control Y -> Way Y -> (accessed -> Prop) -> Prop;
    limit : nat }.

  Section Rules.
    Variables (a : source) (F : sets).
    Notation S := (of_name a).
    Notation together := (company S (at_control a)).

    Definition the_source A : Prop := may_access (by_command a) (at_step a) A.
    Definition by_others (Z : Name Y -> accessed -> Prop) nm A : Prop :=
      exists nm', Z nm' A /\ (nm' <> nm \/ single nm = false).
    Definition next_count n := Datatypes.S (min n (limit F)).

    (** d, with the certain accesses of the steps from f on. *)
    Definition adds d k f A : Prop := d A \/ exists p, f <= p <= size k /\ must_access k p A.
    Definition d0 : accessed -> Prop := adds (fun _ => False) (by_command a) (at_step a).
    Definition always nm w : Prop :=
      w = nothing_delayed \/ (nm = S /\ w = lasting (behind nothing_delayed (by_command a) (at_step a))).

    (** The place has this way, or one that says less. *)
    Definition goes nm c n w d : Prop :=
      exists w' d', way_to F nm c n w' d' /\
        ((w' = w /\ forall A, d' A -> d A) \/ (always nm w' /\ forall A, d' A -> d0 A)).

    Definition issues nm n w d k c' f : Prop :=
      (forall p A, p < f -> may_access k p A -> done F nm A) /\ (forall p A, may_access k p A -> made F nm A) /\
      goes nm c' n (behind w k f) (adds d k f).

    (** The steps from f on are delayed for certain. *)
    Definition delayed_from w d k f : Prop := 1 <= f /\ (size k < f \/ delays w k f \/ must_hit k f d).

    Record closed : Prop := {
      closed_done : forall nm A, done F nm A -> made F nm A;
      closed_source : forall c', leaves S (at_control a) (by_command a) c' ->
        issues S 0 nothing_delayed (fun _ => False) (by_command a) c' (at_step a);                          (* F1 *)
      closed_on : forall nm c n w d k c', way_to F nm c n w d -> leaves nm c k c' -> barrier k = false ->
        stops w k = false -> ~ must_hit k 0 d -> exists f, delayed_from w d k f /\ issues nm n w d k c' f;    (* F2 *)
      closed_arrive : forall nm c n w d k c', way_to F nm c n w d -> leaves nm c k c' -> barrier k ->
        nm = S \/ 1 <= n -> arrived F (next_count n) nm c' w d;                                              (* F3 *)
      closed_arrive_untainted : forall c w d nm c0 k c', arrived F (next_count 0) S c w d -> nm <> S ->
        together nm c0 -> leaves nm c0 k c' -> barrier k -> arrived F (next_count 0) nm c' nothing_delayed d0;
      closed_barrier : forall n, (forall nm, named nm -> exists c w d, arrived F n nm c w d) ->
        forall nm c w d, arrived F n nm c w d -> goes nm c n w d;
      closed_hits_done : forall nm c k c', nm <> S -> together nm c -> leaves nm c k c' -> barrier k = false ->
        ~ must_hit k 0 d0 -> (exists p, p <= size k /\ may_hit k p (by_others (done F) nm)) ->
        exists f, delayed_from nothing_delayed d0 k f /\ issues nm 0 nothing_delayed d0 k c' f;              (* F4 *)
      closed_hits_made : forall nm c k c', nm <> S -> together nm c -> leaves nm c k c' -> barrier k = false ->
        ~ must_hit k 0 d0 -> (exists p, 1 <= p <= size k /\ may_hit k p (by_others (made F) nm)) ->
        (exists p, p <= size k /\ may_hit k p (by_others (done F) nm)) \/
        exists f, (delayed_from nothing_delayed d0 k f \/
                   (1 <= f /\ forall p, 1 <= p <= size k -> may_hit k p (by_others (made F) nm) -> p <= f)) /\
                  issues nm 0 nothing_delayed d0 k c' f;                                                     (* F5 *)
      closed_further : forall nm c k c' f A B, nm <> S -> together nm c -> leaves nm c k c' -> barrier k = false ->
        1 <= f <= size k -> may_access k f A -> the_source B -> same_spot A B ->
        (exists m, how A = Updates m /\ how B = Updates m) ->
        issues nm 0 nothing_delayed d0 k c' f }.                                                             (* F6 *)

    (** No command is e. *)
    Record no_e : Prop := {
      no_e_bound : forall nm c n w d k c', way_to F nm c n w d -> leaves nm c k c' -> ~ may_hit k 0 the_source;
      no_e_step : forall nm c n w d k c' p, way_to F nm c n w d -> leaves nm c k c' -> 1 <= p <= size k ->
        (forall p', 1 <= p' <= p -> delays w k p' = false) -> ~ may_hit k p the_source;                      (* E1 *)
      no_e_of_others : forall nm c k c' p, nm <> S -> together nm c -> leaves nm c k c' -> p <= size k ->
        may_hit k p the_source ->
        (forall p', p' <= p -> ~ may_hit k p' (by_others (done F) nm)) /\
        (forall p', p < p' <= size k -> ~ may_hit k p' (by_others (made F) nm)) }.                           (* E2 *)
  End Rules.

  (** Not choosable: the sets are closed, and have no e. *)
  Definition infeasible (a : source) : Prop := exists F, closed a F /\ no_e a F.
End Rules_of_names.
Arguments phases_closed : clear implicits.
Arguments source : clear implicits.

(** ** What the system says is so, on N nodes, with r the source's rank *)

Section Describes.
  Context {Loc Op Cell Val : Type} (P : Program Loc Op Cell Val) (N r : nat) (Y : system).
  Notation event := (Network.event Op).
  Implicit Types (x y z : event) (q : nat).

  Record description := {
    name : nat -> Name Y;
    control : nat -> Loc -> Control Y;
    represents : nat -> Command Y -> Op -> Prop;
    (* The way says true things of what a rank has issued, and of which of its steps (number, place) are delayed. *)
    holds : Way Y -> list Op -> (nat -> nat -> Prop) -> Prop;
    home : Cell -> nat;
    addressed : Cell -> Address Y;
    is_barrier : Op -> bool }.

  (** The access of x is one of these. *)
  Definition stands (D : description) x (A : seen_access (Name Y) (Address Y)) : Prop :=
    exists a, access_of x = Some a /\ in_way a = how A /\ addressed D (at_cell a) = address A /\
      name D (home D (at_cell a)) = whose A /\ home D (at_cell a) < N /\
      (own A -> single (whose A) = false /\ home D (at_cell a) = rank x).

  Record right (D : description) : Prop := {
    right_cells : forall i j, home D i = home D j -> addressed D i = addressed D j -> i = j;
    right_source : r < N /\ single (name D r);
    right_single : forall q q', q < N -> q' < N -> single (name D q) -> name D q = name D q' -> q = q';
    right_names : (forall q, q < N -> named (name D q)) /\ forall nm, named nm -> exists q, q < N /\ name D q = nm;
    right_ranks : forall (w : list event) x, valid w -> allowed (after w) x -> is_issue x ->
      rank x < N /\ party (op x) = if is_barrier D (op x) then seq 0 N else [rank x];
    right_barrier : forall o, is_barrier D o -> at_issue o = None /\ steps o = [];
    right_start : forall q, q < N -> in_phase first_phase (name D q) (control D q (init_loc q));
    right_commands : forall (w : list event) x q, valid w -> allowed (after w) x -> is_issue x -> In q (party (op x)) ->
      exists k, represents D q k (op x) /\
        leaves (name D q) (control D q (loc (after w) q)) k (control D q (loc (after (w ++ [x])) q));
    right_size : forall q k o, represents D q k o -> size k = length (steps o) /\ barrier k = is_barrier D o;
    right_may : forall q k o n p, q < N -> represents D q k o -> access_of (Event q n p o) <> None ->
      exists A, may_access k p A /\ stands D (Event q n p o) A;
    right_must : forall q k o n p A, q < N -> represents D q k o -> must_access k p A ->
      stands D (Event q n p o) A /\ single (whose A);
    (* K3 *)
    right_nothing : forall l d, holds D nothing_delayed l d;
    right_more : forall w l (d d' : nat -> nat -> Prop),
      holds D w l d -> (forall i p, d i p -> d' i p) -> holds D w l d';
    right_behind : forall q k o w f l (d : nat -> nat -> Prop), represents D q k o -> holds D w l d -> 1 <= f ->
      (forall p, f <= p <= length (steps o) -> d (length l) p) -> holds D (behind w k f) (l ++ [o]) d;
    right_pass : forall w l d o, holds D w l d -> is_barrier D o -> holds D w (l ++ [o]) d;
    right_lasting : forall w l d, holds D w l d -> holds D (lasting w) l d;
    right_lasts : forall w l d o, holds D (lasting w) l d -> holds D (lasting w) (l ++ [o]) d;
    right_delays : forall q k o w l (d : nat -> nat -> Prop) p, represents D q k o -> holds D w l d -> delays w k p ->
      1 <= p <= size k -> exists i j, is_step l i j /\ held l o p i j /\ d i j;
    right_stops : forall q k o w l (d : nat -> nat -> Prop), represents D q k o -> holds D w l d -> stops w k ->
      exists i j, is_step l i j /\ awaits l o i j /\ d i j }.
End Describes.
Arguments name {_ _ _ _}. Arguments control {_ _ _ _}. Arguments represents {_ _ _ _}. Arguments holds {_ _ _ _}.
Arguments home {_ _ _ _}. Arguments addressed {_ _ _ _}. Arguments is_barrier {_ _ _ _}.

Section Sound.
  Context {Loc Op Cell Val : Type} {P : Program Loc Op Cell Val}.
  Variables (N r : nat) (Y : system) (D : description (Loc := Loc) (Op := Op) (Cell := Cell) Y).
  Hypothesis R : right P N r Y D.
  Hypothesis phases : phases_closed Y.
  Notation event := (Network.event Op).
  Notation stands := (stands P N Y D).
  Notation search := (@search Op).
  Implicit Types (x y z : event) (q i p n : nat) (s : search) (l : list event).

  Lemma ways_clash_iff x y ax ay : access_of x = Some ax -> access_of y = Some ay ->
    (ways_clash (in_way ax) (in_way ay) <-> (writes x \/ writes y) /\ ~ same_kind x y).
  Proof.
    intros Ex Ey. unfold ways_clash, writes, same_kind, kind. rewrite Ex, Ey. unfold does_write, kind_of, is_true.
    destruct (in_way ax), (in_way ay); rewrite ?Nat.eqb_eq; intuition congruence.
  Qed.

  (** (K1') *)
  Lemma clash_may x y A B : clash x y -> stands x A -> stands y B -> rank x <> rank y \/ single (name D (rank x)) ->
    may_clash A B.
  Proof.
    intros C (ax & Ex & Wx & Ax & Nx & Hx & Ox) (ay & Ey & Wy & Ay & Ny & Hy & Oy) Far.
    apply clash_iff in C as (_ & (k & Kx & Ky) & Cl). apply accesses_iff in Kx as (a' & E' & Kx), Ky as (a'' & E'' &
      Ky).
    replace a' with ax in * by congruence. replace a'' with ay in * by congruence. rewrite Kx in *. rewrite Ky in *.
    split; [split; congruence|]. rewrite <- Wx, <- Wy. split; [now apply (ways_clash_iff x y)|].
    intros [O1 O2]. destruct (Ox O1) as [S1 R1], (Oy O2) as [_ R2].
    destruct Far as [Far|Far]; [congruence|]. rewrite <- R1, Nx, S1 in Far. discriminate Far.
  Qed.

  (** (K2') *)
  Lemma must_clash x y A B : x <> y -> stands x A -> stands y B -> single (whose A) -> may_clash A B -> clash x y.
  Proof.
    intros Nxy (ax & Ex & Wx & Ax & Nx & Hx & _) (ay & Ey & Wy & Ay & Ny & Hy & _) Si ((Sw & Sa) & Cl & _).
    assert (E : at_cell ax = at_cell ay).
    { apply (right_cells _ _ _ _ _ R); [|congruence]. apply (right_single _ _ _ _ _ R); auto; congruence. }
    apply clash_iff. split; [auto|]. split.
    - exists (at_cell ax). split; apply accesses_iff; eauto.
    - apply (ways_clash_iff x y ax ay Ex Ey). congruence.
  Qed.

  (** Which steps of the rank are delayed, and which accesses are certain to be. *)
  Definition late_of s q i p : Prop := exists y, In y (late s) /\ rank y = q /\ number y = i /\ place y = p.
  Definition in_d s (d : seen_access (Name Y) (Address Y) -> Prop) : Prop :=
    forall A, d A -> exists y, In y (late s) /\ stands y A /\ single (whose A).

  Lemma issue_state w q o l m q' : chain q (length (ops (after w) q)) o = l ++ m -> l <> [] ->
    ops (after (w ++ l)) q' = (if existsb (Nat.eqb q') (party o) then ops (after w) q' ++ [o] else ops (after w) q') /\
    loc (after (w ++ l)) q' = loc (after (w ++ [Event q (length (ops (after w) q)) 0 o])) q'.
  Proof.
    intros Ch Ne. destruct (chain_first _ _ _ _ _ Ch Ne) as (l' & ->).
    set (i := Event q (length (ops (after w) q)) 0 o). replace (w ++ i :: l') with ((w ++ [i]) ++ l')
      by now rewrite <- app_assoc.
    assert (St : forall x, In x l' -> ~ is_issue x).
    { intros x I H. apply in_split in I as (u & v & ->). pose proof (chain_split q (length (ops (after w) q)) o (i ::
      u) x (v ++ m)) as E.
      simpl in E, Ch. rewrite <- app_assoc in Ch. rewrite (E Ch) in H. discriminate H. }
    split; [|now apply loc_steps]. rewrite ops_steps by auto. rewrite after_snoc. reflexivity.
  Qed.

  Lemma in_party_iff q o : existsb (Nat.eqb q) (party o) = true <-> In q (party o).
  Proof.
    rewrite existsb_exists. split; [intros (q' & I & E); apply Nat.eqb_eq in E; now subst|].
    intros I. exists q. split; [auto|apply Nat.eqb_refl].
  Qed.

  (** A command of the run, or e: l1 now, l2 later. *)
  Section Command.
    Variables (s : search) (q n : nat) (o : Op) (l1 l2 : list event).
    Hypothesis s_good : good s.
    Hypothesis split : chain q n o = l1 ++ l2.
    Hypothesis some : l1 <> [].
    Hypothesis l1_valid : valid (now s ++ l1).

    Lemma command_new : In q (party o) /\ n = length (ops (after (now s)) q) /\
      forall x, In x (now s ++ late s) -> command_of x <> (q, n).
    Proof. destruct s_good as (C & St & _). exact (new_command (now s) (late s) q n o l1 l2 C St split some l1_valid).
    Qed.

    Lemma issue_first : exists l, l1 = Event q n 0 o :: l.
    Proof. exact (chain_first q n o l1 l2 split some). Qed.

    Lemma issue_allowed : valid (now s) /\ allowed (after (now s)) (Event q n 0 o).
    Proof.
      pose proof l1_valid as V. destruct issue_first as (l & E). rewrite E in V.
      split; [now apply valid_prefix in V|now apply (V (now s) _ l)].
    Qed.

    (** What is late has not happened. *)
    Lemma late_not_happened y u : In y (late s) -> (forall x, In x u -> In x l1) -> valid (now s ++ u) ->
      ~ happened (after (now s ++ u)) (rank y) (number y) (place y).
    Proof.
      intros Iy Iu Vu H. apply happened_event in H; [|auto]. destruct H as (z & Iz & Cz & Pz).
      destruct s_good as (C & St & _).
      pose proof (extended_valid (now s) (late s) q n o l1 l2 C St split some l1_valid) as Ve. unfold extended in Ve.
      assert (E : z = y).
      { apply (same_event _ z y Ve); [| |exact Cz|exact Pz]; rewrite !in_app_iff; [|auto].
        apply in_app_iff in Iz as [Iz|Iz]; auto. }
      subst z. pose proof (valid_nodup _ Ve) as Nd. apply in_app_iff in Iz as [Iz|Iz].
      - apply (before_irrefl _ y Nd). rewrite !before_app, !in_app_iff. auto 10.
      - apply (command_new) with y; [rewrite in_app_iff; auto|]. apply (of_l1 q n o l1 l2 split y). auto.
    Qed.

    Lemma in_range : q < N.
    Proof. destruct issue_allowed as [V A]. exact (proj1 (right_ranks _ _ _ _ _ R (now s) (Event q n 0 o) V A
      eq_refl)). Qed.

    Lemma l1_length k : represents D q k o -> length l1 <= S (size k).
    Proof using R split.
      intros Re. rewrite (proj1 (right_size _ _ _ _ _ R q k o Re)). apply (f_equal (@length event)) in split.
      unfold chain in split. rewrite map_length, seq_length, app_length in split. lia.
    Qed.

    Lemma at_place f : f < length l1 -> exists u v, l1 = u ++ Event q n f o :: v.
    Proof using split.
      intros L. destruct (nth_error l1 f) as [x|] eqn:E; [|apply nth_error_None in E; lia].
      apply nth_error_split in E as (u & v & E & Lu). exists u, v. rewrite E in split.
      rewrite <- app_assoc in split. pose proof (chain_split q n o u x (v ++ l2) split) as Ex. congruence.
    Qed.

    (** The places of l1 and of l2. *)
    Lemma l1_place x : In x l1 -> x = Event q n (place x) o /\ place x < length l1.
    Proof using split.
      intros I. apply in_split in I as (u & v & E). pose proof split as Sp. rewrite E, <- app_assoc in Sp.
      rewrite (chain_split q n o u x (v ++ l2) Sp), E, app_length. simpl. split; [reflexivity|lia].
    Qed.

    Lemma l2_place x : In x l2 -> x = Event q n (place x) o /\ length l1 <= place x <= length (steps o).
    Proof.
      intros I. assert (Ic : In x (chain q n o)) by (rewrite split, in_app_iff; auto).
      apply in_chain in Ic as (_ & _ & Lx).
      split; [|split; [|exact Lx]]; apply in_split in I as (u & v & E); pose proof split as Sp;
        rewrite E, app_assoc in Sp; rewrite (chain_split q n o (l1 ++ u) x v Sp); simpl; [reflexivity|].
      rewrite app_length. lia.
    Qed.

    Lemma in_l2_at p : length l1 <= p <= length (steps o) -> In (Event q n p o) l2.
    Proof using split.
      intros [L1 L2]. assert (I : In (Event q n p o) (l1 ++ l2)) by (rewrite <- split; apply in_chain; simpl; auto).
      apply in_app_iff in I as [I|I]; [|auto]. apply l1_place in I. simpl in I. lia.
    Qed.

    (** Where completion rules delay a step for certain, l1 ends. *)
    Lemma delays_long w k f : represents D q k o -> holds D w (ops (after (now s)) q) (late_of s q) ->
      1 <= f -> delays w k f -> length l1 <= f.
    Proof.
      intros Re H F1 F2. destruct (le_lt_dec (length l1) f) as [|L]; [auto|]. exfalso.
      destruct command_new as (Pa & Nu & New). pose proof (l1_length k Re) as Ll.
      destruct (at_place f L) as (u & v & E).
      assert (Iu : forall x, In x u -> In x l1) by (intros x I; rewrite E, in_app_iff; auto).
      destruct (right_delays _ _ _ _ _ R q k o w _ _ f Re H F2) as (i & j & St & Hd & (y & Iy & Ry & Ny & Py)); [lia|].
      pose proof l1_valid as V. rewrite E, app_assoc in V. pose proof (allowed_at _ _ _ V) as [_ A].
      assert (Hi : is_issue (Event q n f o) = false) by (apply Nat.eqb_neq; simpl; lia). rewrite Hi in A.
      destruct A as (_ & _ & A). simpl in A.
      assert (Nu' : u <> []).
      { intros ->. destruct issue_first as (l & El). rewrite E in El. injection El. lia. }
      assert (Eo : firstn n (ops (after (now s ++ u)) q) = ops (after (now s)) q).
      { pose proof split as Sp. rewrite E, <- app_assoc in Sp. rewrite Nu in Sp.
        destruct (issue_state (now s) q o u _ q Sp Nu') as [Eo _]. rewrite Eo.
        rewrite (proj2 (in_party_iff q o) Pa), Nu, firstn_app, firstn_all, Nat.sub_diag. apply app_nil_r. }
      rewrite Eo in A. specialize (A i j St Hd). apply (late_not_happened y u Iy Iu).
      - now apply valid_prefix in V.
      - now rewrite Ry, Ny, Py.
    Qed.

    Lemma wait_is_over w k : represents D q k o -> holds D w (ops (after (now s)) q) (late_of s q) -> stops w k = false.
    Proof.
      intros Re H. destruct (stops w k) eqn:E; [|auto]. exfalso.
      destruct (right_stops _ _ _ _ _ R q k o w _ _ Re H E) as (i & j & St & Aw & (y & Iy & Ry & Ny & Py)).
      destruct issue_allowed as [V [_ A]]. simpl in A. destruct A as (_ & _ & _ & A). simpl in A.
      specialize (A i j St Aw). apply (late_not_happened y [] Iy); rewrite ?app_nil_r; [simpl; tauto|auto|].
      now rewrite Ry, Ny, Py.
    Qed.

    (** What the command accesses is what it may access. *)
    Lemma may x k : represents D q k o -> In x (l1 ++ l2) -> access_of x <> None ->
      exists A, may_access k (place x) A /\ stands x A.
    Proof.
      intros Re I Ac. assert (Ex : x = Event q n (place x) o).
      { apply in_app_iff in I as [I|I]; [apply (l1_place x I)|apply (l2_place x I)]. }
      rewrite Ex in Ac. destruct (right_may _ _ _ _ _ R q k o n (place x) in_range Re Ac) as (A & M & St).
      exists A. rewrite <- Ex in St. auto.
    Qed.

    (** The state behind it. *)
    Section Behind.
      Variables (Ss : list event) (T : list nat) (t : list event).
      Notation s' := (Search (now s ++ l1) (late s ++ l2) Ss T t).

      Lemma late_more q' i p : late_of s q' i p -> late_of s' q' i p.
      Proof. intros (y & Iy & H). exists y. simpl. rewrite in_app_iff. auto. Qed.

      Lemma in_d_more d : in_d s d -> in_d s' d.
      Proof. intros Id A dA. destruct (Id A dA) as (y & Iy & H). exists y. simpl. rewrite in_app_iff. auto. Qed.

      Lemma ops_behind q' : ops (after (now s')) q' =
        if existsb (Nat.eqb q') (party o) then ops (after (now s)) q' ++ [o] else ops (after (now s)) q'.
      Proof.
        destruct command_new as (_ & Nu & _). simpl. rewrite Nu in split.
        exact (proj1 (issue_state (now s) q o l1 l2 q' split some)).
      Qed.

      Lemma loc_behind q' : loc (after (now s')) q' = loc (after (now s ++ [Event q n 0 o])) q'.
      Proof.
        destruct command_new as (_ & Nu & _). simpl. rewrite Nu in *.
        exact (proj2 (issue_state (now s) q o l1 l2 q' split some)).
      Qed.

      Lemma loc_of_others q' : ~ In q' (party o) -> loc (after (now s')) q' = loc (after (now s)) q'.
      Proof.
        intros H. rewrite loc_behind, after_snoc. simpl. replace (takes_part _ q') with false; [auto|].
        symmetry. destruct (takes_part (Event q n 0 o) q') eqn:E; [|auto]. apply takes_part_iff in E. tauto.
      Qed.

      Lemma holds_behind k w f : represents D q k o -> holds D w (ops (after (now s)) q) (late_of s q) ->
        length l1 <= f -> 1 <= f -> holds D (behind w k f) (ops (after (now s')) q) (late_of s' q).
      Proof.
        intros Re H L F1. destruct command_new as (Pa & Nu & _). rewrite ops_behind, (proj2 (in_party_iff q o) Pa).
        apply (right_behind _ _ _ _ _ R q k o w f _ _ Re); auto.
        - apply (right_more _ _ _ _ _ R w _ (late_of s q)); [auto|]. apply late_more.
        - intros p Hp. exists (Event q n p o). simpl. split; [|auto]. apply in_app_iff. right. apply in_l2_at. lia.
      Qed.

      Lemma in_d_behind k d f : represents D q k o -> in_d s d -> length l1 <= f -> in_d s' (adds d k f).
      Proof.
        intros Re Id L A [dA|(p & Hp & M)]; [now apply (in_d_more d Id)|].
        rewrite (proj1 (right_size _ _ _ _ _ R q k o Re)) in Hp.
        exists (Event q n p o). split; [simpl; apply in_app_iff; right; apply in_l2_at; lia|].
        exact (right_must _ _ _ _ _ R q k o n p A in_range Re M).
      Qed.

      Lemma lasting_behind w q' : holds D (lasting w) (ops (after (now s)) q') (late_of s q') ->
        holds D (lasting w) (ops (after (now s')) q') (late_of s' q').
      Proof.
        intros H. apply (right_more _ _ _ _ _ R (lasting w) _ (late_of s q')); [|apply late_more].
        rewrite ops_behind. destruct (existsb _ _); [now apply (right_lasts _ _ _ _ _ R)|auto].
      Qed.
    End Behind.

    Hypothesis free : forall x y, In x l1 -> In y (late s) -> ~ clash y x.

    Lemma now_hits_nothing k p A B y : represents D q k o -> p < length l1 -> must_access k p A -> In y (late s) ->
      stands y B -> ~ may_clash A B.
    Proof.
      intros Re L M Iy Sy Cl. destruct command_new as (_ & _ & New). destruct (at_place p L) as (u & v & E).
      assert (Ix : In (Event q n p o) l1) by (rewrite E, in_app_iff; simpl; auto).
      destruct (right_must _ _ _ _ _ R q k o n p A in_range Re M) as [Sx Si].
      apply (free _ y Ix Iy), clash_sym, (must_clash _ y A B); auto. intros <-.
      apply (New (Event q n p o)); [rewrite in_app_iff; auto|reflexivity].
    Qed.

    Lemma bound_free d k : represents D q k o -> in_d s d -> ~ must_hit k 0 d.
    Proof.
      intros Re Id (A & B & MA & dB & Cl). destruct (Id B dB) as (y & Iy & Sy & _). revert Cl.
      apply (now_hits_nothing k 0 A B y Re); auto. destruct l1; [tauto|simpl; lia].
    Qed.

    Lemma delayed_long w d k f : represents D q k o -> holds D w (ops (after (now s)) q) (late_of s q) -> in_d s d ->
      delayed_from w d k f -> length l1 <= f.
    Proof.
      intros Re H Id [F1 [F2|[F2|(A & B & MA & dB & Cl)]]].
      - pose proof (l1_length k Re). lia.
      - now apply (delays_long w k).
      - destruct (le_lt_dec (length l1) f) as [|L]; [auto|]. exfalso. destruct (Id B dB) as (y & Iy & Sy & _).
        exact (now_hits_nothing k f A B y Re L MA Iy Sy Cl).
    Qed.
  End Command.

  (** ** The invariant *)

  Section Attacked.
    Variables (a : event) (c0 : Control Y) (k0 : Command Y) (F : @sets Y).
    Notation a0 := (Source (name D r) c0 k0 (place a)).
    Hypothesis a_rank : rank a = r.
    Hypothesis a_command : represents D r k0 (op a).
    Hypothesis a_step : 1 <= place a <= length (steps (op a)).
    Hypothesis F_closed : closed a0 F.
    Hypothesis F_no_e : no_e a0 F.

    Definition stand_at s q : Control Y := control D q (loc (after (now s)) q).

    Record invariant (n : nat) (s : search) : Prop := {
      inv_source : In a (sources s) /\ In r (tainted s);
      inv_t : forall y, In y (touched s) -> access_of y <> None ->
        In (rank y) (tainted s) /\ exists A, stands y A /\ done F (name D (rank y)) A;               (* I1 *)
      inv_d : forall y, In y (late s) -> access_of y <> None -> exists A, stands y A /\ made F (name D (rank y)) A;
      inv_way : forall q, In q (tainted s) -> q < N /\ exists w d, way_to F (name D q) (stand_at s q) n w d /\
        holds D w (ops (after (now s)) q) (late_of s q) /\ in_d s d;                                 (* I2 *)
      inv_lasting : holds D (lasting (behind nothing_delayed k0 (place a))) (ops (after (now s)) r) (late_of s r);
      inv_d0 : in_d s (d0 a0);                                                                       (* I3 *)
      inv_company : n = 0 -> forall q, q < N -> q <> r -> company (name D r) c0 (name D q) (stand_at s q);
      inv_all : n <> 0 -> forall q, q < N -> In q (tainted s) }.                                     (* I4 *)

    Lemma other_name q : q < N -> q <> r -> name D q <> name D r.
    Proof.
      intros L Ne E. apply Ne. destruct (right_source _ _ _ _ _ R) as [Lr Si]. symmetry.
      apply (right_single _ _ _ _ _ R); auto.
    Qed.

    Lemma goes_way s q n w d : q < N -> goes a0 F (name D q) (stand_at s q) n w d ->
      holds D w (ops (after (now s)) q) (late_of s q) -> in_d s d ->
      holds D (lasting (behind nothing_delayed k0 (place a))) (ops (after (now s)) r) (late_of s r) -> in_d s (d0 a0) ->
      exists w' d', way_to F (name D q) (stand_at s q) n w' d' /\
        holds D w' (ops (after (now s)) q) (late_of s q) /\ in_d s d'.
    Proof.
      intros L (w' & d' & W & [[-> Sub]|[[->|[E ->]] Sub]]) H Id Hl Id0;
        eexists; exists d'; (split; [exact W|]).
      - split; [exact H|]. intros A dA. apply Id. auto.
      - split; [apply (right_nothing _ _ _ _ _ R)|]. intros A dA. apply Id0. auto.
      - split; [|intros A dA; apply Id0; auto]. destruct (Nat.eq_dec q r) as [->|Ne]; [exact Hl|].
        destruct (other_name q L Ne). exact E.
    Qed.

    Lemma a_stands : access_of a <> None -> exists B, the_source a0 B /\ stands a B.
    Proof.
      intros Ac. destruct a as [ra na pa oa]. simpl in *. rewrite a_rank in *.
      exact (right_may _ _ _ _ _ R r k0 oa na pa (proj1 (right_source _ _ _ _ _ R)) a_command Ac).
    Qed.

    Lemma clash_access x y : clash x y -> access_of x <> None /\ access_of y <> None.
    Proof.
      intros C. apply clash_iff in C as (_ & (k & Kx & Ky) & _).
      apply accesses_iff in Kx as (ax & Ex & _), Ky as (ay & Ey & _).
      split; congruence.
    Qed.

    (** An access that hits what another rank has made may hit it. *)
    Lemma hits_by_others (Z : Name Y -> seen_access (Name Y) (Address Y) -> Prop) k x y A B :
      rank x < N -> rank y < N ->
      rank y <> rank x -> clash y x -> stands x A -> may_access k (place x) A -> stands y B -> Z (name D (rank y)) B ->
      may_hit k (place x) (by_others Z (name D (rank x))).
    Proof.
      intros Lx Ly Ne C Sx M Sy ZB. exists A, B. split; [auto|]. split.
      - exists (name D (rank y)). split; [auto|]. destruct (single (name D (rank x))) eqn:E; [left|auto].
        intros En. apply Ne. symmetry. apply (right_single _ _ _ _ _ R); auto.
      - apply (clash_may x y); auto using clash_sym.
    Qed.

    Lemma hits_source k x A :
      access_of a <> None -> rank x < N -> clash x a -> stands x A -> may_access k (place x) A ->
      may_hit k (place x) (the_source a0).
    Proof.
      intros Ac Lx C Sx M. destruct (a_stands Ac) as (B & TB & Sa). exists A, B. split; [auto|]. split; [auto|].
      apply (clash_may x a); auto. destruct (Nat.eq_dec (rank x) (rank a)) as [E|]; [right|auto].
      rewrite E, a_rank. apply (right_source _ _ _ _ _ R).
    Qed.

    (** *** A rank issues a command, no barrier *)
    Section Issue.
      Variables (m : nat) (s : search) (q n : nat) (o : Op) (l1 l2 : list event) (k : Command Y).
      Hypothesis s_inv : invariant m s.
      Hypothesis s_good : good s.
      Hypothesis split : chain q n o = l1 ++ l2.
      Hypothesis some : l1 <> [].
      Hypothesis l1_valid : valid (now s ++ l1).
      Hypothesis k_o : represents D q k o.
      Hypothesis no_barrier : is_barrier D o = false.

      Lemma q_range : q < N.
      Proof. exact (in_range s q n o l1 l2 split some l1_valid). Qed.

      Lemma party_one : party o = [q].
      Proof.
        destruct (issue_allowed s q n o l1 l2 split some l1_valid) as [V A].
        pose proof (proj2 (right_ranks _ _ _ _ _ R (now s) (Event q n 0 o) V A eq_refl)) as E. simpl in E.
        now rewrite no_barrier in E.
      Qed.

      Lemma late_tainted y : In y (late s) -> In (rank y) (tainted s).
      Proof. intros I. apply s_good in I. tauto. Qed.

      Lemma untainted_start : ~ In q (tainted s) -> m = 0 /\ q <> r.
      Proof.
        intros T. split.
        - destruct (Nat.eq_dec m 0) as [E|E]; [auto|]. destruct T. apply (inv_all m s s_inv E). exact q_range.
        - intros ->. apply T. apply s_inv.
      Qed.

      Lemma others_stay Ss T t q' : q' <> q -> stand_at (Search (now s ++ l1) (late s ++ l2) Ss T t) q' = stand_at s q'.
      Proof.
        intros Ne. unfold stand_at. f_equal.
        apply (loc_of_others s q n o l1 l2 s_good split some l1_valid Ss T t). rewrite party_one. simpl. intuition.
      Qed.

      Hypothesis goes_on : forall Ss T t, leaves (name D q) (stand_at s q) k
        (stand_at (Search (now s ++ l1) (late s ++ l2) Ss T t) q).

      (** What stays true whether it is reached or not. *)
      Lemma company_stays Ss T t : m = 0 -> forall q', q' < N -> q' <> r ->
        company (name D r) c0 (name D q') (stand_at (Search (now s ++ l1) (late s ++ l2) Ss T t) q').
      Proof.
        intros M q' L Ne. destruct (inv_company m s s_inv M q' L Ne) as (h & H1 & H2). exists h. split; [auto|].
        destruct (Nat.eq_dec q' q) as [->|Nq]; [|now rewrite others_stay].
        apply (phase_on phases h (name D q) (stand_at s q) k); auto.
        rewrite (proj2 (right_size _ _ _ _ _ R q k o k_o)). exact no_barrier.
      Qed.

      Lemma issue_reached Ss t w d f : In a Ss -> (forall y, In y t -> In y (l1 ++ touched s)) ->
        holds D w (ops (after (now s)) q) (late_of s q) -> in_d s d -> 1 <= f -> length l1 <= f ->
        (forall T t, issues a0 F (name D q) m w d k (stand_at (Search (now s ++ l1) (late s ++ l2) Ss T t) q) f) ->
        invariant m (Search (now s ++ l1) (late s ++ l2) Ss (party o ++ tainted s) t).
      Proof.
        intros Ia It H Id F1 L Is. rewrite party_one. set (s' := Search _ _ _ _ _).
        destruct (Is (tainted s') t) as (Do & Ma & Go). change (Search _ _ _ _ t) with s' in Go.
        assert (Hl : holds D (lasting (behind nothing_delayed k0 (place a))) (ops (after (now s')) r) (late_of s' r)).
        { apply (lasting_behind s q n o l1 l2 s_good split some l1_valid). apply s_inv. }
        assert (Id0 : in_d s' (d0 a0)) by (apply in_d_more; apply s_inv).
        assert (May : forall x, In x (l1 ++ l2) -> access_of x <> None -> exists A, may_access k (place x) A /\ stands
          x A).
        { intros x. exact (may s q n o l1 l2 split some l1_valid x k k_o). }
        assert (Own : forall x, In x (l1 ++ l2) -> rank x = q).
        { intros x I. rewrite <- split in I. apply in_chain in I as (E & _). injection E. auto. }
        split; auto.
        - split; [exact Ia|]. right. apply s_inv.
        - intros y Iy Ac. apply It, in_app_iff in Iy as [Iy|Iy].
          + destruct (May y) as (A & M & St); [rewrite in_app_iff; auto|auto|].
            rewrite (Own y) by (rewrite in_app_iff; auto). split; [left; reflexivity|]. exists A. split; [auto|].
            apply (Do (place y)); [|auto]. destruct (l1_place q n o l1 l2 split y Iy). lia.
          + destruct (inv_t m s s_inv y Iy Ac) as [Ty H']. split; [right; exact Ty|exact H'].
        - intros y Iy Ac. apply in_app_iff in Iy as [Iy|Iy]; [now apply (inv_d m s s_inv)|].
          destruct (May y) as (A & M & St); [rewrite in_app_iff; auto|auto|].
          rewrite (Own y) by (rewrite in_app_iff; auto). exists A. split; [auto|]. now apply (Ma (place y)).
        - intros q' Iq'. destruct (Nat.eq_dec q' q) as [->|Ne].
          + split; [exact q_range|]. apply (goes_way s' q m (behind w k f) (adds d k f)); auto.
            * exact q_range.
            * now apply (holds_behind s q n o l1 l2 s_good split some l1_valid).
            * now apply (in_d_behind s q n o l1 l2 split some l1_valid).
          + destruct Iq' as [<-|Iq']; [tauto|]. destruct (inv_way m s s_inv q' Iq') as (L' & w' & d' & W & H' & Id').
            split; [auto|]. exists w', d'. unfold s'. rewrite others_stay by auto. split; [auto|].
            split; [|now apply in_d_more].
            apply (right_more _ _ _ _ _ R w' _ (late_of s q')); [|apply late_more].
            rewrite (ops_behind s q n o l1 l2 s_good split some l1_valid), party_one. simpl.
            destruct (q' =? q) eqn:E; [apply Nat.eqb_eq in E; tauto|exact H'].
        - intros M. now apply company_stays.
        - intros M q' L'. right. now apply (inv_all m s s_inv).
      Qed.

      Lemma issue_not_reached : l2 = [] -> ~ In q (tainted s) ->
        invariant m (Search (now s ++ l1) (late s ++ l2) (sources s) (tainted s) (touched s)).
      Proof.
        intros E T. set (s' := Search _ _ _ _ _). split; auto.
        - apply s_inv.
        - apply s_inv.
        - intros y Iy. simpl in Iy. rewrite E, app_nil_r in Iy. now apply (inv_d m s s_inv).
        - intros q' Iq'. destruct (inv_way m s s_inv q' Iq') as (L' & w' & d' & W & H' & Id').
          assert (Ne : q' <> q) by (intros ->; exact (T Iq')).
          split; [auto|]. exists w', d'. unfold s'. rewrite others_stay by auto. split; [auto|].
          split; [|now apply in_d_more].
          apply (right_more _ _ _ _ _ R w' _ (late_of s q')); [|apply late_more].
          rewrite (ops_behind s q n o l1 l2 s_good split some l1_valid), party_one. simpl.
          destruct (q' =? q) eqn:Eq; [apply Nat.eqb_eq in Eq; tauto|exact H'].
        - apply (lasting_behind s q n o l1 l2 s_good split some l1_valid). apply s_inv.
        - apply in_d_more. apply s_inv.
        - intros M. now apply company_stays.
        - intros M q' L'. now apply (inv_all m s s_inv).
      Qed.

      (** F2 *)
      Lemma tainted_goes_on Ss t : In q (tainted s) -> In a Ss -> (forall y, In y t -> In y (l1 ++ touched s)) ->
        (forall x y, In x l1 -> In y (late s) -> ~ clash y x) ->
        invariant m (Search (now s ++ l1) (late s ++ l2) Ss (party o ++ tainted s) t).
      Proof.
        intros T Ia It Free. destruct (inv_way m s s_inv q T) as (Lq & w & d & W & H & Id).
        destruct (closed_on _ _ F_closed (name D q) (stand_at s q) m w d k
                    (stand_at (Search (now s ++ l1) (late s ++ l2) Ss [] []) q)) as (f & De & Is); auto.
        - rewrite (proj2 (right_size _ _ _ _ _ R q k o k_o)). exact no_barrier.
        - exact (wait_is_over s q n o l1 l2 s_good split some l1_valid w k k_o H).
        - exact (bound_free s q n o l1 l2 s_good split some l1_valid Free d k k_o Id).
        - apply (issue_reached Ss t w d f); auto; [apply De|].
          exact (delayed_long s q n o l1 l2 s_good split some l1_valid Free w d k f k_o H Id De).
      Qed.

      (** F6 *)
      Lemma untainted_further Ss t z l3 a' : ~ In q (tainted s) -> In a Ss ->
        (forall y, In y t -> In y (l1 ++ touched s)) -> l2 = z :: l3 -> In a' (sources s) -> alike a' z ->
        invariant m (Search (now s ++ l1) (late s ++ l2) Ss (party o ++ tainted s) t).
      Proof.
        intros T Ia It El Ia' Al. destruct (untainted_start T) as [M Ne].
        assert (Al' : alike a z).
        { pose proof s_good as (_ & _ & _ & _ & Als & _).
          destruct (Als a a' (proj1 (inv_source m s s_inv)) Ia') as [->|H]; [auto|now apply alike_trans with a']. }
        assert (Iz : In z l2) by (rewrite El; simpl; auto).
        destruct (l2_place q n o l1 l2 split z Iz) as [Ez Lz].
        assert (Pz : place z = length l1).
        { rewrite El in split. rewrite (chain_split q n o l1 z l3 split). reflexivity. }
        apply alike_iff in Al' as [Sk (key & Ka & Kz)]. apply accesses_iff in Ka as (xa & Ea & Ka), Kz as (xz & Exz &
          Kz).
        destruct a_stands as (B & TB & SB); [congruence|].
        destruct (may s q n o l1 l2 split some l1_valid z k k_o) as (A & MA & SA); [rewrite in_app_iff;
          auto|congruence|].
        assert (F1 : 1 <= length l1) by (destruct l1; [tauto|simpl; lia]).
        apply (issue_reached Ss t nothing_delayed (d0 a0) (length l1)); auto.
        - apply (right_nothing _ _ _ _ _ R).
        - apply s_inv.
        - intros T' t'. rewrite M. apply (closed_further _ _ F_closed (name D q) (stand_at s q) k _ (length l1) A B);
          auto.
          + now apply other_name; [apply q_range|].
          + now apply (inv_company m s s_inv); [|apply q_range|].
          + rewrite (proj2 (right_size _ _ _ _ _ R q k o k_o)). exact no_barrier.
          + rewrite (proj1 (right_size _ _ _ _ _ R q k o k_o)). lia.
          + now rewrite <- Pz.
          + destruct SA as (x & Ex & Wx & Ax & Nx & _), SB as (y & Ey & Wy & Ay & Ny & _).
            split; congruence.
          + destruct SA as (x & Ex & Wx & _), SB as (y & Ey & Wy & _). apply same_kind_iff in Sk as [K E].
            unfold kind in K, E. rewrite Ea in K, E. rewrite Exz in E.
            replace x with xz in * by congruence. replace y with xa in * by congruence.
            rewrite <- Wx, <- Wy. unfold kind_of in K, E. destruct (in_way xa) as [| | |u], (in_way xz) as [| | |v];
              try congruence; try tauto.
            exists u. injection E as <-. auto.
      Qed.

      (** F4 and F5 *)
      Lemma untainted_reached t : ~ In q (tainted s) -> (forall y, In y t -> In y (l1 ++ touched s)) ->
        may_split s q n o l1 l2 -> reached s o (l1 ++ l2) ->
        invariant m (Search (now s ++ l1) (late s ++ l2) (sources s) (party o ++ tainted s) t).
      Proof.
        intros T It (_ & _ & _ & Free & First) Re. destruct (untainted_start T) as [M Ne].
        pose proof q_range as Lq. pose proof (other_name q Lq Ne) as Nn.
        pose proof (inv_company m s s_inv M q Lq Ne) as Co.
        assert (Nb : barrier k = false) by (rewrite (proj2 (right_size _ _ _ _ _ R q k o k_o)); exact no_barrier).
        pose proof (bound_free s q n o l1 l2 s_good split some l1_valid Free (d0 a0) k k_o (inv_d0 m s s_inv)) as Bf.
        set (c' := stand_at (Search (now s ++ l1) (late s ++ l2) (sources s) [] []) q).
        assert (Lv : leaves (name D q) (stand_at s q) k c') by apply goes_on.
        assert (Sz : size k = length (steps o)) by exact (proj1 (right_size _ _ _ _ _ R q k o k_o)).
        (* what hits an access of t or d may hit what others have done, or made *)
        assert (Hit : forall (Z : Name Y -> seen_access (Name Y) (Address Y) -> Prop) x y, In x (l1 ++ l2) -> clash y
          x ->
          In (rank y) (tainted s) -> (exists B, stands y B /\ Z (name D (rank y)) B) ->
          may_hit k (place x) (by_others Z (name D q))).
        { intros Z x y I C Ty (B & SB & ZB). destruct (clash_access y x C) as [_ Ax].
          destruct (may s q n o l1 l2 split some l1_valid x k k_o I Ax) as (A & MA & SA).
          assert (Rx : rank x = q).
          { rewrite <- split in I. apply in_chain in I as (E & _). injection E. auto. }
          rewrite <- Rx. rewrite <- Rx in T, Lq. apply (hits_by_others Z k x y A B); auto.
          - exact (proj1 (inv_way m s s_inv (rank y) Ty)).
          - intros E. rewrite E in Ty. exact (T Ty). }
        assert (Place : forall x, In x (l1 ++ l2) -> place x <= size k).
        { intros x I. rewrite Sz. rewrite <- split in I. now apply in_chain in I as (_ & _ & I). }
        assert (Conclude : forall f, length l1 <= f -> 1 <= f -> issues a0 F (name D q) 0 nothing_delayed (d0 a0) k c'
          f ->
          invariant m (Search (now s ++ l1) (late s ++ l2) (sources s) (party o ++ tainted s) t)).
        { intros f L F1 Is. apply (issue_reached (sources s) t nothing_delayed (d0 a0) f); auto.
          - apply s_inv.
          - apply (right_nothing _ _ _ _ _ R).
          - apply s_inv.
          - intros. rewrite M. exact Is. }
        assert (F4 : (exists p, p <= size k /\ may_hit k p (by_others (done F) (name D q))) ->
          invariant m (Search (now s ++ l1) (late s ++ l2) (sources s) (party o ++ tainted s) t)).
        { intros Ex. destruct (closed_hits_done _ _ F_closed (name D q) (stand_at s q) k c' Nn Co Lv Nb Bf Ex) as (f &
          De & Is).
          apply (Conclude f); [|apply De|exact Is].
          apply (delayed_long s q n o l1 l2 s_good split some l1_valid Free nothing_delayed (d0 a0) k f k_o); auto.
          - apply (right_nothing _ _ _ _ _ R).
          - apply s_inv. }
        destruct Re as [(q' & T' & Pq')|(x & y & Ix & Iy & C)].
        { rewrite party_one in Pq'. destruct Pq' as [<-|[]]. tauto. }
        apply in_app_iff in Iy as [Iy|Iy].
        { apply F4. destruct (inv_t m s s_inv y Iy) as [Ty H]; [now apply (clash_access y x)|].
          exists (place x). split; [auto|]. now apply (Hit (done F) x y). }
        assert (Hd : forall x y, In x l2 -> In y (late s) -> clash y x ->
          1 <= place x <= size k /\ may_hit k (place x) (by_others (made F) (name D q))).
        { clear x y Ix Iy C. intros x y Ix Iy C. split.
          - destruct (l2_place q n o l1 l2 split x Ix) as [_ Lx]. rewrite Sz. destruct l1; [tauto|simpl in Lx; lia].
          - apply (Hit (made F) x y); auto; [rewrite in_app_iff; auto|now apply late_tainted|].
            apply (inv_d m s s_inv y Iy). now apply (clash_access y x). }
        apply in_app_iff in Ix as [Ix|Ix]; [destruct (Free x y Ix Iy C)|]. pose proof (Hd x y Ix Iy C) as Hx.
        destruct (closed_hits_made _ _ F_closed (name D q) (stand_at s q) k c' Nn Co Lv Nb Bf) as [Ex|(f & De & Is)].
        - eauto.
        - now apply F4.
        - destruct De as [De|[F1 De]].
          + apply (Conclude f); [|apply De|exact Is].
            apply (delayed_long s q n o l1 l2 s_good split some l1_valid Free nothing_delayed (d0 a0) k f k_o); auto.
            * apply (right_nothing _ _ _ _ _ R).
            * apply s_inv.
          + apply (Conclude f); auto. destruct l2 as [|x0 l3] eqn:El; [destruct Ix|]. rewrite <- El in *.
            assert (I0 : In x0 l2) by (rewrite El; simpl; auto).
            assert (P0 : place x0 = length l1).
            { pose proof split as Sp. rewrite El in Sp. rewrite (chain_split q n o l1 x0 l3 Sp). reflexivity. }
            rewrite <- P0. destruct First as (y0 & Iy0 & [Mu|C0]).
            * exfalso. apply T. apply must_iff in Mu as (Ry & _). destruct (l2_place q n o l1 l2 split x0 I0) as [E0 _].
              rewrite E0 in Ry. simpl in Ry. rewrite <- Ry. now apply late_tainted.
            * apply De; now apply (Hd x0 y0).
      Qed.
    End Issue.

    (** *** A barrier (F3) *)
    Lemma barrier_passed m s q n o l1 l2 Ss (T : list nat) (t : list event) :
      invariant m s -> good s -> chain q n o = l1 ++ l2 -> l1 <> [] ->
      valid (now s ++ l1) -> is_barrier D o -> In a Ss -> (forall q0, In q0 T <-> In q0 (party o ++ tainted s)) ->
      (forall y, In y t -> In y (l1 ++ touched s)) ->
      invariant (next_count F m) (Search (now s ++ l1) (late s ++ l2) Ss T t).
    Proof.
      intros I G Ch Ne V B Ia IT It. set (s' := Search _ _ _ _ _).
      destruct (right_barrier _ _ _ _ _ R o B) as [Qi Qs].
      destruct (issue_allowed s q n o l1 l2 Ch Ne V) as [V0 A].
      assert (Pa : party o = seq 0 N).
      { pose proof (proj2 (right_ranks _ _ _ _ _ R (now s) (Event q n 0 o) V0 A eq_refl)) as E. simpl in E.
        now rewrite B in E. }
      assert (In_p : forall q', q' < N -> In q' (party o)) by (intros q' L; rewrite Pa; apply in_seq; lia).
      assert (Quiet : forall x, In x (l1 ++ l2) -> access_of x = None).
      { intros x Ix. rewrite <- Ch in Ix. apply in_chain in Ix as (_ & Eo & _). unfold access_of. rewrite Eo, Qi, Qs.
        destruct (place x) as [|[|p]]; reflexivity. }
      assert (Hl : holds D (lasting (behind nothing_delayed k0 (place a))) (ops (after (now s')) r) (late_of s' r)).
      { apply (lasting_behind s q n o l1 l2 G Ch Ne V). apply I. }
      assert (Id0 : in_d s' (d0 a0)) by (apply in_d_more; apply I).
      assert (Go : forall q', q' < N -> exists k, represents D q' k o /\ barrier k /\
        leaves (name D q') (stand_at s q') k (stand_at s' q')).
      { intros q' L. destruct (right_commands _ _ _ _ _ R (now s) (Event q n 0 o) q' V0 A eq_refl (In_p q' L)) as (k &
        Re & Lv).
        exists k. split; [exact Re|]. split; [now rewrite (proj2 (right_size _ _ _ _ _ R q' k o Re))|].
        unfold stand_at. unfold s'. now rewrite (loc_behind s q n o l1 l2 G Ch Ne V). }
      destruct (right_source _ _ _ _ _ R) as [Lr Sr].
      (* each rank has arrived *)
      assert (Arr : forall q', q' < N -> exists w d, arrived F (next_count F m) (name D q') (stand_at s' q') w d /\
        holds D w (ops (after (now s)) q') (late_of s q') /\ in_d s d).
      { assert (One : forall q', In q' (tainted s) -> q' = r \/ 1 <= m -> exists w d,
          arrived F (next_count F m) (name D q') (stand_at s' q') w d /\
          holds D w (ops (after (now s)) q') (late_of s q') /\ in_d s d).
        { intros q' T0 C. destruct (inv_way m s I q' T0) as (L & w & d & W & H & Id). exists w, d. split; [|auto].
          destruct (Go q' L) as (k & _ & Bk & Lv). apply (closed_arrive _ _ F_closed _ _ _ _ _ k _ W Lv Bk).
          destruct C as [->|C]; auto. }
        intros q' L. destruct (Nat.eq_dec q' r) as [->|Nr]; [apply One; [apply I|auto]|].
        destruct (Nat.eq_dec m 0) as [M|M]; [|apply One; [now apply (inv_all m s I)|right; lia]].
        destruct (One r (proj2 (inv_source m s I)) (or_introl eq_refl)) as (w & d & W & _).
        destruct (Go q' L) as (k & _ & Bk & Lv). exists nothing_delayed, (d0 a0). split; [|split].
        - rewrite M in *. apply (closed_arrive_untainted _ _ F_closed _ w d _ (stand_at s q') k _ W); auto.
          + now apply other_name.
          + now apply (inv_company 0 s I).
        - apply (right_nothing _ _ _ _ _ R).
        - apply I. }
      split; auto.
      - split; [exact Ia|]. apply IT, in_app_iff. left. now apply In_p.
      - intros y Iy Ac. apply It, in_app_iff in Iy as [Iy|Iy].
        + destruct Ac. apply Quiet. rewrite in_app_iff. auto.
        + destruct (inv_t m s I y Iy Ac) as [Ty H]. split; [|exact H]. apply IT, in_app_iff. auto.
      - intros y Iy Ac. apply in_app_iff in Iy as [Iy|Iy]; [now apply (inv_d m s I)|].
        destruct Ac. apply Quiet. rewrite in_app_iff. auto.
      - intros q' Iq'. assert (L : q' < N).
        { apply IT, in_app_iff in Iq' as [Iq'|Iq']; [rewrite Pa in Iq'; apply in_seq in Iq'; lia|].
          exact (proj1 (inv_way m s I q' Iq')). }
        split; [exact L|]. destruct (Arr q' L) as (w & d & W & H & Id).
        apply (goes_way s' q' (next_count F m) w d); auto.
        + apply (closed_barrier _ _ F_closed (next_count F m)); [|exact W].
          intros nm Nm. destruct (proj2 (right_names _ _ _ _ _ R) nm Nm) as (q0 & L0 & <-).
          destruct (Arr q0 L0) as (w0 & d1 & W0 & _). eauto.
        + apply (right_more _ _ _ _ _ R w _ (late_of s q')); [|apply late_more].
          unfold s'. rewrite (ops_behind s q n o l1 l2 G Ch Ne V), (proj2 (in_party_iff q' o) (In_p q' L)).
          now apply (right_pass _ _ _ _ _ R).
        + now apply in_d_more.
      - intros E. discriminate E.
      - intros _ q' L. apply IT, in_app_iff. left. now apply In_p.
    Qed.

    (** *** Every move *)
    Lemma invariant_moves m s s' : invariant m s -> good s -> move s s' -> exists m', invariant m' s'.
    Proof.
      intros I G M. pose proof (inv_source m s I) as [Ia Ir].
      assert (Goes : forall q n o l1 l2, chain q n o = l1 ++ l2 -> l1 <> [] -> valid (now s ++ l1) ->
        exists k, represents D q k o /\ forall Ss T t, leaves (name D q) (stand_at s q) k
          (stand_at (Search (now s ++ l1) (late s ++ l2) Ss T t) q)).
      { intros q n o l1 l2 Ch Ne V. destruct (issue_allowed s q n o l1 l2 Ch Ne V) as [V0 A].
        destruct (command_new s q n o l1 l2 G Ch Ne V) as (Pq & _).
        destruct (right_commands _ _ _ _ _ R (now s) (Event q n 0 o) q V0 A eq_refl Pq) as (k & Re & Lv).
        exists k. split; [exact Re|]. intros Ss T t. unfold stand_at.
        now rewrite (loc_behind s q n o l1 l2 G Ch Ne V). }
      destruct M as [w q n o V|w q n o l1 x l2 Ch Ne V|s q n o l1 l2 Src Sp Re|s q n o l1 l2 Src Sp Re|
                     s q n o l1 z l2 a' Ia' Al Ch Ne V Free].
      - destruct Ia.
      - destruct Ia.
      - pose proof Sp as (Ch & Ne & V & Free & _). destruct (is_barrier D o) eqn:B.
        { exists (next_count F m). apply (barrier_passed m s q n o); auto; reflexivity. }
        destruct (Goes q n o l1 l2 Ch Ne V) as (k & Rk & Lv). exists m.
        destruct (in_dec Nat.eq_dec q (tainted s)) as [T|T].
        + apply (tainted_goes_on m s q n o l1 l2 k); auto.
        + apply (untainted_reached m s q n o l1 l2 k); auto.
      - pose proof Sp as (Ch & Ne & V & Free & _). destruct (issue_allowed s q n o l1 l2 Ch Ne V) as [V0 A].
        destruct (is_barrier D o) eqn:B.
        { destruct Re. left. exists r. split; [exact Ir|].
          pose proof (proj2 (right_ranks _ _ _ _ _ R (now s) (Event q n 0 o) V0 A eq_refl)) as E. simpl in E.
          rewrite E, B. apply in_seq. pose proof (proj1 (right_source _ _ _ _ _ R)). lia. }
        destruct (Goes q n o l1 l2 Ch Ne V) as (k & Rk & Lv). exists m.
        apply (issue_not_reached m s q n o l1 l2 k); auto.
        + destruct l2 as [|x l2]; [auto|]. destruct Re. now apply (forced_reached s q n).
        + intros T. apply Re. left. exists q. split; [auto|]. apply (command_new s q n o l1 l2 G Ch Ne V).
      - destruct (is_barrier D o) eqn:B.
        { exfalso. apply (f_equal (@length event)) in Ch. rewrite app_length in Ch. unfold chain in Ch.
          rewrite map_length, seq_length, (proj2 (right_barrier _ _ _ _ _ R o B)) in Ch. destruct l1; [tauto|].
          simpl in Ch. lia. }
        destruct (Goes q n o l1 (z :: l2) Ch Ne V) as (k & Rk & Lv). exists m.
        destruct (in_dec Nat.eq_dec q (tainted s)) as [T|T].
        + apply (tainted_goes_on m s q n o l1 (z :: l2) k); simpl; auto.
        + apply (untainted_further m s q n o l1 (z :: l2) k) with (z := z) (l3 := l2) (a' := a'); simpl; auto.
    Qed.

    (** *** And nothing is e *)
    Lemma invariant_not_found m s : invariant m s -> good s -> ~ found s.
    Proof.
      intros I G (b & q & n & o & l1 & l2 & x & Ib & Ch & Ne & V & Ix & Cb & Enter).
      destruct (issue_allowed s q n o l1 l2 Ch Ne V) as [V0 A].
      destruct (command_new s q n o l1 l2 G Ch Ne V) as (Pq & _ & New).
      pose proof (inv_source m s I) as [Ia Ir].
      assert (Ia' : In a (late s)) by (apply G; auto).
      assert (Ex : command_of x = (q, n)) by exact (of_l1 q n o l1 l2 Ch x Ix).
      assert (C : clash x a).
      { pose proof G as (_ & _ & _ & _ & Als & _). destruct (Als b a Ib Ia) as [->|Al]; [auto|].
        apply (clash_alike x b a Cb Al). intros ->. apply (New a); [rewrite in_app_iff; auto|auto]. }
      destruct (clash_access x a C) as [Ax Aa].
      assert (B : is_barrier D o = false).
      { destruct (is_barrier D o) eqn:B; [|auto]. destruct Ax. destruct (right_barrier _ _ _ _ _ R o B) as [Qi Qs].
        assert (I0 : In x (chain q n o)) by (rewrite Ch, in_app_iff; auto). apply in_chain in I0 as (_ & Eo & _).
        unfold access_of. rewrite Eo, Qi, Qs. destruct (place x) as [|[|p]]; reflexivity. }
      destruct (right_commands _ _ _ _ _ R (now s) (Event q n 0 o) q V0 A eq_refl Pq) as (k & Re & Lv).
      pose proof (in_range s q n o l1 l2 Ch Ne V) as Lq. fold (stand_at s q) in Lv.
      assert (Ra : forall z, In z (l1 ++ l2) -> rank z = q).
      { intros z Iz. rewrite <- Ch in Iz. apply in_chain in Iz as (E & _). injection E. auto. }
      destruct (may s q n o l1 l2 Ch Ne V x k Re) as (Ac & Mx & Sx); [rewrite in_app_iff; auto|auto|].
      assert (Rx : rank x = q) by (apply Ra; rewrite in_app_iff; auto).
      assert (Hs : may_hit k (place x) (the_source a0)).
      { apply (hits_source k x Ac); auto. now rewrite Rx. }
      destruct (l1_place q n o l1 l2 Ch x Ix) as [_ Lx]. pose proof (l1_length q n o l1 l2 Ch k Re) as Ll.
      destruct (in_dec Nat.eq_dec q (tainted s)) as [T|T].
      - destruct (inv_way m s I q T) as (_ & w & d & W & H & Id). destruct (Nat.eq_dec (place x) 0) as [Z|Z].
        + rewrite Z in Hs. exact (no_e_bound _ _ F_no_e _ _ _ _ _ _ _ W Lv Hs).
        + apply (no_e_step _ _ F_no_e _ _ _ _ _ _ _ (place x) W Lv); [lia| |exact Hs].
          intros p Hp. destruct (delays w k p) eqn:E; [|auto]. exfalso.
          pose proof (delays_long s q n o l1 l2 G Ch Ne V w k p Re H) as L. specialize (L ltac:(lia) E). lia.
      - assert (M : m = 0).
        { destruct (Nat.eq_dec m 0); [auto|]. destruct T. now apply (inv_all m s I). }
        assert (Nr : q <> r) by (intros ->; tauto).
        destruct (no_e_of_others _ _ F_no_e (name D q) (stand_at s q) k _ (place x) (other_name q Lq Nr)
          (inv_company m s I M q Lq Nr) Lv) as [E1 E2]; [lia|exact Hs|].
        assert (Hit : forall (Z : Name Y -> seen_access (Name Y) (Address Y) -> Prop) z y, In z (l1 ++ l2) -> clash y
          z ->
          In (rank y) (tainted s) -> (exists Bc, stands y Bc /\ Z (name D (rank y)) Bc) ->
          may_hit k (place z) (by_others Z (name D q))).
        { intros Z z y Iz Cz Ty (Bc & SB & ZB). destruct (clash_access y z Cz) as [_ Az].
          destruct (may s q n o l1 l2 Ch Ne V z k Re Iz Az) as (Bz & MA & SA).
          pose proof (Ra z Iz) as Rz. rewrite <- Rz. rewrite <- Rz in T, Lq.
          apply (hits_by_others Z k z y Bz Bc); auto.
          - exact (proj1 (inv_way m s I (rank y) Ty)).
          - intros E. rewrite E in Ty. exact (T Ty). }
        assert (Size : forall z, In z (l1 ++ l2) -> place z <= size k).
        { intros z Iz. rewrite (proj1 (right_size _ _ _ _ _ R q k o Re)). rewrite <- Ch in Iz.
          now apply in_chain in Iz. }
        assert (Made : forall z y, In z (l1 ++ l2) -> In y (touched s ++ late s) -> clash y z ->
          may_hit k (place z) (by_others (made F) (name D q))).
        { intros z y Iz Iy Cz. destruct (clash_access y z Cz) as [Ay _]. apply (Hit (made F) z y); auto.
          - apply in_app_iff in Iy as [Iy|Iy]; [now apply (inv_t m s I)|apply G; auto].
          - apply in_app_iff in Iy as [Iy|Iy]; [|now apply (inv_d m s I)].
            destruct (inv_t m s I y Iy Ay) as [_ (Bc & SB & DB)]. exists Bc. split; [auto|].
            now apply (closed_done _ _ F_closed). }
        destruct Enter as [(r' & T' & P')|[(z & y & Iz & Iy & Cz)|(z & y & Iz & Iy & Cz)]].
        + pose proof (proj2 (right_ranks _ _ _ _ _ R (now s) (Event q n 0 o) V0 A eq_refl)) as E. simpl in E.
          rewrite E, B in P'. destruct P' as [<-|[]]. tauto.
        + assert (Iz' : In z (l1 ++ l2)) by (rewrite in_app_iff; auto).
          destruct (le_lt_dec (place z) (place x)) as [L|L].
          * apply (E1 (place z) L). destruct (inv_t m s I y Iy) as [Ty H]; [now apply (clash_access y z)|].
            now apply (Hit (done F) z y).
          * apply (E2 (place z)); [split; [exact L|now apply Size]|]. apply (Made z y); auto. rewrite in_app_iff. auto.
        + assert (Iz' : In z (l1 ++ l2)) by (rewrite in_app_iff; auto).
          destruct (l2_place q n o l1 l2 Ch z Iz) as [_ Lz].
          apply (E2 (place z)); [split; [lia|now apply Size]|]. now apply (Made z y).
    Qed.
  End Attacked.

  (** ** The choice of the source *)

  (** Before it all ranks are in one phase. *)
  Lemma in_a_phase s : reachable s -> sources s = [] ->
    exists h, forall q, q < N -> in_phase h (name D q) (stand_at s q).
  Proof.
    induction 1 as [|s s' Re IH M]; intros E.
    - exists first_phase. intros q L. now apply (right_start _ _ _ _ _ R).
    - destruct M as [w q n o V|w q n o l1 x l2 Ch Ne V|s q n o l1 l2 Src Sp Rd|s q n o l1 l2 Src Sp Rd|
                     s q n o l1 z l2 a' Ia' Al Ch Ne V Free]; try (simpl in E; congruence).
      destruct (IH eq_refl) as (h & H). pose proof (good_reachable _ Re) as G.
      set (s := Search w [] [] [] []) in *. assert (Ch : chain q n o = chain q n o ++ []) by now rewrite app_nil_r.
      assert (Ne : chain q n o <> []) by (unfold chain; simpl; discriminate).
      destruct (issue_allowed s q n o _ _ Ch Ne V) as [V0 A].
      pose proof (proj2 (right_ranks _ _ _ _ _ R w (Event q n 0 o) V0 A eq_refl)) as Pa. simpl in Pa.
      assert (Loc_ : forall q', stand_at (Search (w ++ chain q n o) [] [] [] []) q' =
        control D q' (loc (after (w ++ [Event q n 0 o])) q')).
      { intros q'. unfold stand_at. f_equal. exact (loc_behind s q n o _ _ G Ch Ne V [] [] [] q'). }
      destruct (is_barrier D o) eqn:B.
      + exists (next_phase h). intros q' L. rewrite Loc_.
        assert (Go : forall q0, q0 < N -> exists k, barrier k /\ leaves (name D q0) (stand_at s q0) k
          (control D q0 (loc (after (w ++ [Event q n 0 o])) q0))).
        { intros q0 L0. destruct (right_commands _ _ _ _ _ R w (Event q n 0 o) q0 V0 A eq_refl) as (k & Rk & Lv).
          { simpl. rewrite Pa. apply in_seq. lia. }
          exists k. split; [|exact Lv]. now rewrite (proj2 (right_size _ _ _ _ _ R q0 k o Rk)). }
        destruct (Go q' L) as (k & Bk & Lv). apply (phase_barrier phases h) with (c := stand_at s q') (k := k); auto.
        intros nm Nm. destruct (proj2 (right_names _ _ _ _ _ R) nm Nm) as (q0 & L0 & <-).
        destruct (Go q0 L0) as (k' & Bk' & Lv'). eauto 8.
      + exists h. intros q' L. destruct (Nat.eq_dec q' q) as [->|Nq].
        * rewrite Loc_. destruct (right_commands _ _ _ _ _ R w (Event q n 0 o) q V0 A eq_refl) as (k & Rk & Lv).
          { simpl. rewrite Pa. simpl. auto. }
          apply (phase_on phases h _ (stand_at s q) k); auto. now rewrite (proj2 (right_size _ _ _ _ _ R q k o Rk)).
        * replace (stand_at (Search (w ++ chain q n o) [] [] [] []) q') with (stand_at s q'); [now apply H|].
          unfold stand_at. f_equal. symmetry. apply (loc_of_others s q n o _ _ G Ch Ne V [] [] []).
          rewrite Pa. simpl. intuition.
  Qed.

  (** No Found comes after the choice of a step that is not choosable. *)
  Theorem infeasible_source w n o l1 a l2 k c' : reachable (Search w [] [] [] []) ->
    chain r n o = l1 ++ a :: l2 -> l1 <> [] -> valid (w ++ l1) -> represents D r k o ->
    leaves (name D r) (control D r (loc (after w) r)) k c' ->
    c' = control D r (loc (after (w ++ [Event r n 0 o])) r) ->
    infeasible (Source (name D r) (control D r (loc (after w) r)) k (length l1)) ->
    forall s, clos_refl_trans _ move (Search (w ++ l1) (a :: l2) [a] (party o) l1) s -> ~ found s.
  Proof.
    intros Re Ch Ne V Rk Lv -> (F & Cl & No) s Ms.
    pose proof (good_reachable _ Re) as G. set (s0 := Search w [] [] [] []) in *.
    pose proof (chain_split r n o l1 a l2 Ch) as Ea.
    assert (Pa : place a = length l1) by now rewrite Ea. rewrite <- Pa in Cl, No.
    assert (Ra : rank a = r) by now rewrite Ea.
    assert (Oa : represents D r k (op a)) by now rewrite Ea.
    destruct (issue_allowed s0 r n o _ _ Ch Ne V) as [V0 A]. destruct (right_source _ _ _ _ _ R) as [Lr Sr].
    assert (Sa : 1 <= place a <= length (steps (op a))).
    { assert (I : In a (chain r n o)) by (rewrite Ch, in_app_iff; simpl; auto).
      apply in_chain in I as (_ & Eo & I). rewrite Eo. destruct l1; [tauto|simpl in Pa; lia]. }
    assert (B : is_barrier D o = false).
    { destruct (is_barrier D o) eqn:B; [|auto]. rewrite Ea in Sa. simpl in Sa.
      rewrite (proj2 (right_barrier _ _ _ _ _ R o B)) in Sa. simpl in Sa. lia. }
    assert (Party : party o = [r]).
    { pose proof (proj2 (right_ranks _ _ _ _ _ R w (Event r n 0 o) V0 A eq_refl)) as E. simpl in E.
      now rewrite B in E. }
    destruct (in_a_phase s0 Re eq_refl) as (h & H).
    set (s1 := Search (w ++ l1) (a :: l2) [a] (party o) l1).
    destruct (closed_source _ _ Cl _ Lv) as (Do & Ma & Go).
    assert (Hw : holds D (behind nothing_delayed k (place a)) (ops (after (now s1)) r) (late_of s1 r)).
    { apply (holds_behind s0 r n o l1 (a :: l2) G Ch Ne V [a] (party o) l1);
      [auto|apply (right_nothing _ _ _ _ _ R)|lia|apply Sa]. }
    assert (Hd : in_d s1 (d0 (Source (name D r) (control D r (loc (after w) r)) k (place a)))).
    { apply (in_d_behind s0 r n o l1 (a :: l2) Ch Ne V [a] (party o) l1); [auto| |rewrite Pa; auto]. intros A' []. }
    assert (Own : forall x, In x (l1 ++ a :: l2) -> rank x = r).
    { intros x I. rewrite <- Ch in I. apply in_chain in I as (E & _). injection E. auto. }
    assert (I1 : invariant a (control D r (loc (after w) r)) k F 0 s1).
    { split.
      - split; [simpl; auto|]. simpl. rewrite Party. simpl. auto.
      - intros y Iy Ac. simpl in Iy. rewrite (Own y) by (rewrite in_app_iff; auto).
        split; [simpl; rewrite Party; simpl; auto|].
        destruct (may s0 r n o l1 (a :: l2) Ch Ne V y k Rk) as (A' & MA & SA); [rewrite in_app_iff; auto|auto|].
        exists A'. split; [auto|]. apply (Do (place y)); [|auto].
        destruct (l1_place r n o l1 (a :: l2) Ch y Iy) as [_ L]. simpl. lia.
      - intros y Iy Ac. simpl in Iy. rewrite (Own y) by (rewrite in_app_iff; auto).
        destruct (may s0 r n o l1 (a :: l2) Ch Ne V y k Rk) as (A' & MA & SA); [rewrite in_app_iff; auto|auto|].
        exists A'. split; [auto|]. now apply (Ma (place y)).
      - intros q Iq. simpl in Iq. rewrite Party in Iq. destruct Iq as [<-|[]]. split; [exact Lr|].
        apply (goes_way a (control D r (loc (after w) r)) k F s1 r 0 (behind nothing_delayed k (place a))
          (adds (fun _ => False) k (place a))); auto.
        + unfold stand_at. rewrite (loc_behind s0 r n o l1 (a :: l2) G Ch Ne V [a] (party o) l1). exact Go.
        + now apply (right_lasting _ _ _ _ _ R).
      - now apply (right_lasting _ _ _ _ _ R).
      - exact Hd.
      - intros _ q L Nr. exists h. split; [exact (H r Lr)|].
        replace (stand_at s1 q) with (stand_at s0 q); [now apply H|]. unfold stand_at. f_equal. symmetry.
        apply (loc_of_others s0 r n o l1 (a :: l2) G Ch Ne V [a] (party o) l1). rewrite Party. simpl. intuition.
      - intros E. destruct (E eq_refl). }
    assert (Rs1 : reachable s1) by (eapply reachable_move; [exact Re|now apply (move_source w r n o l1 a l2)]).
    assert (All : forall s2, clos_refl_trans _ move s1 s2 -> reachable s2 /\
      exists m, invariant a (control D r (loc (after w) r)) k F m s2).
    { intros s2 M. apply clos_rt_rtn1 in M. induction M as [|s2 s3 M _ (R2 & m & I2)]; [eauto|].
      split; [eapply reachable_move; eauto|].
      apply (invariant_moves a (control D r (loc (after w) r)) k F Ra Oa Sa Cl No m s2 s3 I2 (good_reachable _ R2) M). }
    destruct (All s Ms) as (Rs & m & I).
    exact (invariant_not_found a (control D r (loc (after w) r)) k F Ra Oa Sa Cl No m s I (good_reachable _ Rs)).
  Qed.
End Sound.

(** ** All sources, all ranks, all numbers of nodes *)

(** A case: what is known of the ranks, and the name of the source's. *)
Record case := Case { known : system; source_name : Name known }.

(** No step is choosable for the source's rank. *)
Definition settled (C : case) : Prop :=
  phases_closed (known C) /\
  forall c k c' i, (exists h, in_phase h (source_name C) c) -> leaves (source_name C) c k c' -> barrier k = false ->
    1 <= i <= size k -> infeasible (Source (source_name C) c k i).

(** The case is that of rank r of a program on N nodes. *)
Definition is_case {Loc Op Cell Val} (P : Program Loc Op Cell Val) (N r : nat) (C : case) : Prop :=
  exists D, right P N r (known C) D /\ name D r = source_name C.

Section Robust.
  Context {Loc Op Cell Val : Type}.

  Lemma some_source (P : Program Loc Op Cell Val) (s : search) : reachable s -> sources s <> [] ->
    exists w r n o l1 a l2, reachable (Search w [] [] [] []) /\ chain r n o = l1 ++ a :: l2 /\ l1 <> [] /\
      valid (w ++ l1) /\ clos_refl_trans _ move (Search (w ++ l1) (a :: l2) [a] (party o) l1) s.
  Proof.
    induction 1 as [|s s' Re IH M]; intros E; [destruct E; reflexivity|].
    assert (On : sources s <> [] -> exists w r n o l1 a l2, reachable (Search w [] [] [] []) /\
      chain r n o = l1 ++ a :: l2 /\ l1 <> [] /\ valid (w ++ l1) /\
      clos_refl_trans _ move (Search (w ++ l1) (a :: l2) [a] (party o) l1) s').
    { intros Ne. destruct (IH Ne) as (w & r & n & o & l1 & a & l2 & H1 & H2 & H3 & H4 & H5).
      exists w, r, n, o, l1, a, l2. repeat (split; [assumption|]). eapply rt_trans; [exact H5|]. now apply rt_step. }
    destruct M as [w q n o V|w q n o l1 x l2 Ch Ne V|s q n o l1 l2 Src Sp Rd|s q n o l1 l2 Src Sp Rd|
                   s q n o l1 z l2 a' Ia' Al Ch Ne V Free]; [destruct E; reflexivity| |auto|auto|].
    - exists w, q, n, o, l1, x, l2. repeat (split; [assumption|]). apply rt_refl.
    - apply On. intros H. rewrite H in Ia'. destruct Ia'.
  Qed.

  (** The theorem of proofs/reductions.md, section 2, for all sources: nothing is violating. *)
  Theorem infeasible_robust (P : Program Loc Op Cell Val) (N : nat) : 0 < N ->
    (forall r, r < N -> exists C, settled C /\ is_case P N r C) ->
    forall w, computation w -> ~ violating w.
  Proof.
    intros Some_ Cases w0 C0 Vi. destruct (attack_complete w0 C0 Vi) as (s & Re & Fo).
    assert (Ne : sources s <> []).
    { destruct Fo as (a & r & n & o & l1 & l2 & x & Ia & _). intros E. rewrite E in Ia. destruct Ia. }
    destruct (some_source P s Re Ne) as (w & r & n & o & l1 & a & l2 & Rw & Ch & N1 & V & Mv).
    pose proof (good_reachable _ Rw) as G.
    destruct (issue_allowed (Search w [] [] [] []) r n o l1 (a :: l2) Ch N1 V) as [V0 A]. simpl in V0, A.
    assert (Lr : r < N).
    { destruct (Cases 0 Some_) as (C & _ & D & R & _). exact (proj1 (right_ranks _ _ _ _ _ R w (Event r n 0 o) V0 A
      eq_refl)). }
    destruct (Cases r Lr) as ([Y nm] & [Ph All] & D & R & En). simpl in *.
    assert (Pr : In r (party o)) by (destruct A as (_ & A & _); exact A).
    destruct (right_commands _ _ _ _ _ R w (Event r n 0 o) r V0 A eq_refl Pr) as (k & Rk & Lv).
    assert (Sz : size k = length (steps o)) by exact (proj1 (right_size _ _ _ _ _ R r k o Rk)).
    assert (Ia : In a (chain r n o)) by (rewrite Ch, in_app_iff; simpl; auto).
    pose proof (chain_split r n o l1 a l2 Ch) as Ea. apply in_chain in Ia as (_ & _ & La). rewrite Ea in La.
    simpl in La.
    destruct (in_a_phase N r Y D R Ph _ Rw eq_refl) as (h & H).
    subst nm. revert Fo. apply (infeasible_source N r Y D R Ph w n o l1 a l2 k
      (control D r (loc (after (w ++ [Event r n 0 o])) r))); auto.
    apply (All _ k (control D r (loc (after (w ++ [Event r n 0 o])) r))); auto.
    - exists h. now apply H.
    - destruct (barrier k) eqn:B; [|auto]. exfalso. rewrite (proj2 (right_size _ _ _ _ _ R r k o Rk)) in B.
      rewrite (proj2 (right_barrier _ _ _ _ _ R o B)) in La. destruct l1; [tauto|simpl in La; lia].
    - rewrite Sz. destruct l1; [tauto|]. simpl in *. lia.
  Qed.

  (** Theorem A: finitely many cases, in none of which a step is choosable, and from n0 on every rank is one of them. *)
  Theorem every_n (P : nat -> Program Loc Op Cell Val) (n0 : nat) (cases : list case) : 0 < n0 ->
    (forall C, In C cases -> settled C) ->
    (forall N r, n0 <= N -> r < N -> exists C, In C cases /\ is_case (P N) N r C) ->
    forall N, n0 <= N -> forall w, computation (P := P N) w -> ~ violating (K := calculus (P := P N)) w.
  Proof.
    intros Pos St Is N L w. apply (infeasible_robust (P N) N); [lia|].
    intros r Lr. destruct (Is N r L Lr) as (C & I & H). exists C. auto.
  Qed.

  (** Theorem B, without faults: with checks below n0, every number of nodes. *)
  Theorem every_number (P : nat -> Program Loc Op Cell Val) (n0 : nat) (cases : list case) : 0 < n0 ->
    (forall C, In C cases -> settled C) ->
    (forall N r, n0 <= N -> r < N -> exists C, In C cases /\ is_case (P N) N r C) ->
    (forall N, 2 <= N < n0 -> forall w, computation (P := P N) w -> ~ violating (K := calculus (P := P N)) w) ->
    forall N, 2 <= N -> forall w, computation (P := P N) w -> ~ violating (K := calculus (P := P N)) w.
  Proof.
    intros Pos St Is Below N L. destruct (le_lt_dec n0 N) as [H|H].
    - now apply (every_n P n0 cases).
    - apply Below. auto.
  Qed.
End Robust.

(** ** Commands in the own memory: an example on every number of nodes

    Each rank stores to its own memory, puts to a cell of rank 0, and stores to its own memory again.  One that comes
    after the source by its put stores behind it; if that could taint others before their put, this would be an e. *)
Module Own.
  Inductive operation := Store (r : nat) | Put (r : nat).

  Definition first_of (o : operation) : option (access (nat * bool)) :=
    match o with Store r => Some (Access (r, false) Writes) | Put _ => None end.
  Definition steps_of (o : operation) : list (access (nat * bool)) :=
    match o with Store _ => [] | Put _ => [Access (0, true) Writes] end.
  Definition rank_of (o : operation) : nat := match o with Store r | Put r => r end.
  Definition at_place (o : operation) (l : nat) : bool :=
    match o, l with Store _, 0 | Put _, 1 | Store _, 2 => true | _, _ => false end.

  Definition program (N : nat) : Program nat operation (nat * bool) nat.
  Proof.
    refine {| init_loc := fun _ => 0; init_mem := fun _ => 0; nothing := 0;
      party := fun o => [rank_of o]; at_issue := first_of; steps := steps_of;
      next := fun r l o v => if (r =? rank_of o) && (r <? N) && at_place o l then Some (S l) else None;
      store := fun o values old => S (rank_of o);
      held := fun _ _ _ _ _ => false; awaits := fun _ _ _ _ => false |}.
    - decide equality; apply Nat.eq_dec.
    - decide equality; [apply Bool.bool_dec|apply Nat.eq_dec].
    - intros [x|x] o' [|[|p]] p' a a' vs vs' v E _ K _ _ _; try discriminate E; try (destruct p; discriminate E);
        injection E as <-; destruct K; reflexivity.
    - intros o r r' _ [<-|[]] [<-|[]]. reflexivity.
    - intros r l o v v' _ H. exact H.
  Defined.

  (** The source's rank, rank 0, all others; in one case the source's rank is 0. *)
  Inductive names := Src | Zero | Rest.
  Definition shared (zero : bool) : names := if zero then Src else Zero.
  Definition is_rest (nm : names) : bool := match nm with Rest => true | _ => false end.
  Definition private (nm : names) : seen_access names bool := Seen nm false Writes (is_rest nm).
  Definition common (zero : bool) : seen_access names bool := Seen (shared zero) true Writes false.

  Definition what (zero : bool) : system := {|
    Name := names; Address := bool; Control := nat; Command := names * bool; Way := unit; Phase := unit;
    named := fun nm => zero = true -> nm <> Zero;
    single := fun nm => negb (is_rest nm);
    leaves := fun nm c k c' => c' = S c /\ ((k = (nm, false) /\ (c = 0 \/ c = 2)) \/ (k = (nm, true) /\ c = 1));
    barrier := fun _ => false;
    size := fun k => if snd k then 1 else 0;
    may_access := fun k p A => if snd k then p = 1 /\ A = common zero else p = 0 /\ A = private (fst k);
    must_access := fun k p A => snd k = true /\ p = 1 /\ A = common zero;
    nothing_delayed := tt; behind := fun _ _ _ => tt; lasting := fun _ => tt;
    delays := fun _ _ _ => false; stops := fun _ _ => false;
    first_phase := tt; next_phase := fun _ => tt; in_phase := fun _ _ _ => True |}.

  Definition fixed (zero : bool) : @sets (what zero) := @Build_sets (what zero)
    (fun nm A => A = private nm)                                              (* done *)
    (fun nm A => A = private nm \/ A = common zero)                           (* made *)
    (fun nm c n w d => (c = 2 \/ c = 3) /\ d = (fun A => A = common zero))     (* ways *)
    (fun _ _ _ _ _ => False) 0.

  Lemma private_common zero nm : ~ may_clash (Y := what zero) (private nm) (common zero).
  Proof. intros ((_ & E) & _). discriminate E. Qed.

  Lemma common_private zero nm : ~ may_clash (Y := what zero) (common zero) (private nm).
  Proof. intros ((_ & E) & _). discriminate E. Qed.

  (** What nobody else has done: own memory is met by nobody of the same name. *)
  Lemma nothing_done zero nm k p : fst k = nm ->
    ~ may_hit (Y := what zero) k p (by_others (Y := what zero) (done (fixed zero)) nm).
  Proof.
    intros Ek (A & B & M & (nm' & -> & Ne) & C). destruct k as [n put]. simpl in *. subst n.
    destruct put; destruct M as [_ ->].
    - now apply common_private in C.
    - destruct C as ((E & _) & _ & O). simpl in E. subst nm'. destruct Ne as [Ne|Ne]; [auto|]. apply O.
      destruct nm; [discriminate Ne..|]. split; reflexivity.
  Qed.

  Lemma goes_on zero nm c w : c = 2 \/ c = 3 -> forall a (d : seen_access names bool -> Prop),
    (forall A, A = common zero -> d A) ->
    goes (Y := what zero) a (fixed zero) nm c 0 w d.
  Proof. intros H a d Sub. exists w, (fun A => A = common zero). split; [split; auto|]. left. auto. Qed.

  Lemma all_settled zero : settled (Case (what zero) Src).
  Proof.
    split; [split; intros; exact I|]. intros c k c' i _ [-> L] _ Hi. simpl in *.
    destruct L as [[-> _]|[-> ->]]; simpl in Hi; [lia|]. replace i with 1 in * by lia.
    exists (fixed zero). set (a := Source _ _ _ _).
    assert (D0 : forall A, A = common zero -> d0 a A).
    { intros A ->. right. exists 1. simpl. auto. }
    assert (Put_ : forall nm (d : seen_access names bool -> Prop),
      (forall A, A = common zero -> adds (Y := what zero) d (nm, true) 1 A) ->
      issues (Y := what zero) a (fixed zero) nm 0 tt d (nm, true) 2 1).
    { intros nm d H. split; [|split; [|now apply goes_on; auto]]; simpl.
      - intros p A Lp [-> _]. lia.
      - intros p A [_ ->]. auto. }
    assert (On : forall nm (c : nat) (k : names * bool), c = 2 \/ c = 3 ->
      (k = (nm, false) /\ (c = 0 \/ c = 2)) \/ (k = (nm, true) /\ c = 1) -> c = 2 /\ k = (nm, false)).
    { intros nm c k C L. destruct L as [[-> L]|[_ L]]; split; auto; lia. }
    split; split.
    - intros nm A H. left. exact H.
    - intros c' [-> _]. apply (Put_ Src (fun _ => False)). intros A ->. right. exists 1. simpl. auto.
    - intros nm c n w d k c' [C ->] [-> L] _ _ _. destruct (On nm c k C L) as [-> ->].
      exists 1. split; [split; [auto|left; simpl; auto]|]. split; [|split].
      + intros p A _ [_ ->]. reflexivity.
      + intros p A [_ ->]. left. reflexivity.
      + exists tt, (fun A => A = common zero). split; [split; auto|]. left. split; [auto|]. intros A E. left. exact E.
    - intros. discriminate.
    - intros. discriminate.
    - intros n _ nm c w d [].
    - intros nm c k c' _ _ L _ _ (p & _ & H). destruct (nothing_done zero nm k p) with (2 := H).
      destruct L as [_ [[-> _]|[-> _]]]; reflexivity.
    - intros nm c k c' Ne _ [-> L] _ _ (p & Lp & _). right.
      destruct L as [[-> _]|[-> ->]]; simpl in Lp; [lia|]. exists 1. split; [right; simpl; split; [auto|]|].
      + intros; lia.
      + apply Put_. intros A ->. right. exists 1. simpl. auto.
    - intros nm c k c' f A B _ _ L _ Lf M TB _ (m & E & _).
      destruct L as [_ [[-> _]|[-> _]]]; simpl in Lf, M; [lia|]. destruct M as [_ ->]. discriminate E.
    - intros nm c n w d k c' [C ->] [_ L] (A & B & M & TB & Cl). destruct (On nm c k C L) as [_ ->].
      destruct M as [_ ->], TB as [_ ->]. now apply private_common in Cl.
    - intros nm c n w d k c' p [C ->] [_ L] Lp _ _. destruct (On nm c k C L) as [_ ->]. simpl in Lp. lia.
    - intros nm c k c' p Ne _ [-> L] Lp H. split; intros p' Lp' H'.
      + destruct (nothing_done zero nm k p') with (2 := H'). destruct L as [[-> _]|[-> _]]; reflexivity.
      + destruct H as (A & B & M & _), L as [[-> _]|[-> _]]; simpl in *; lia.
  Qed.

  Definition named_as (zero : bool) (r q : nat) : names := if q =? r then Src else if q =? 0 then Zero else Rest.

  Definition describes (zero : bool) (N r : nat) :
    description (Loc := nat) (Op := operation) (Cell := nat * bool) (what zero) :=
    @Build_description nat operation (nat * bool) (what zero) (named_as zero r) (fun _ l => l)
      (fun q k o => q = rank_of o /\ k = (named_as zero r q, match o with Store _ => false | Put _ => true end))
      (fun _ _ _ => True) fst snd (fun _ => false).

  Lemma all_right N r : 3 <= N -> r < N -> right (program N) N r (what (r =? 0)) (describes (r =? 0) N r).
  Proof.
    intros LN Lr. set (zero := r =? 0).
    assert (Names : forall q, named_as zero r q = Rest \/ (q = r /\ named_as zero r q = Src) \/
      (q = 0 /\ q <> r /\ named_as zero r q = Zero)).
    { intros q. unfold named_as. destruct (q =? r) eqn:E; [apply Nat.eqb_eq in E; auto|]. apply Nat.eqb_neq in E.
      destruct (q =? 0) eqn:E0; [apply Nat.eqb_eq in E0; auto|auto]. }
    assert (Mine : named_as zero r r = Src) by (unfold named_as; now rewrite Nat.eqb_refl).
    assert (First_ : r <> 0 -> named_as zero r 0 = Zero).
    { intros Ne. unfold named_as. destruct (0 =? r) eqn:E; [apply Nat.eqb_eq in E; lia|reflexivity]. }
    assert (Others : forall q, q <> r -> q <> 0 -> named_as zero r q = Rest).
    { intros q N1 N2. unfold named_as. apply Nat.eqb_neq in N1, N2. now rewrite N1, N2. }
    assert (Issue : forall w x, allowed (P := program N) (after (P := program N) w) x -> is_issue x ->
      rank x = rank_of (op x) /\ rank x < N /\ at_place (op x) (loc (after (P := program N) w) (rank x))).
    { intros w x [_ A] H. rewrite H in A. destruct A as (Pa & _ & Go & _). simpl in Pa. destruct Pa as [E|[]].
      specialize (Go (rank x) (or_introl E)). simpl in Go. split; [auto|].
      destruct (rank x =? rank_of (op x)), (rank x <? N) eqn:L; simpl in Go; try tauto.
      apply Nat.ltb_lt in L. split; [auto|]. destruct (at_place _ _); [reflexivity|tauto]. }
    split; simpl; auto.
    - intros [i1 i2] [j1 j2]. simpl. congruence.
    - split; [auto|]. now rewrite Mine.
    - intros q q' _ _ Si E. destruct (Names q) as [H|[[-> H]|(-> & Ne & H)]], (Names q') as [H'|[[-> H']|(-> & Ne' &
      H')]];
        try (rewrite H in Si; discriminate Si); try reflexivity; congruence.
    - split.
      + intros q _ Z E. apply Nat.eqb_eq in Z. destruct (Names q) as [H|[[_ H]|(-> & Ne & _)]]; congruence.
      + intros [| |] Nm; [exists r; auto| |].
        * exists 0. split; [lia|]. apply First_. intros ->. now apply Nm.
        * destruct (Nat.eq_dec r 1) as [->|Ne]; [exists 2|exists 1]; (split; [lia|apply Others; lia]).
    - intros w x _ A H. destruct (Issue w x A H) as (E & L & _). split; [exact L|now rewrite E].
    - discriminate.
    - intros w x q _ A H [<-|[]]. destruct (Issue w x A H) as (E & L & Pl). rewrite <- E. eexists.
      split; [split; [auto|reflexivity]|].
      assert (Lc : loc (after (P := program N) (w ++ [x])) (rank x) = S (loc (after (P := program N) w) (rank x))).
      { rewrite after_snoc. simpl. replace (takes_part (P := program N) x (rank x)) with true.
        - rewrite <- E, Nat.eqb_refl. apply Nat.ltb_lt in L. rewrite L. unfold is_true in Pl. rewrite Pl. reflexivity.
        - symmetry. apply takes_part_iff. split; [auto|]. left. auto. }
      split; [exact Lc|]. unfold at_place in Pl. destruct (op x), (loc (after w) (rank x)) as [|[|[|l]]];
        try discriminate Pl; auto.
    - intros q k o (-> & ->). destruct o; auto.
    - intros q k o n p Lq (-> & ->) Ac. destruct o as [x|x]; simpl.
      + destruct p as [|p]; [|destruct Ac; destruct p; reflexivity]. exists (private (named_as zero r x)).
        split; [auto|].
        exists (Access (x, false) Writes). do 5 (split; [auto|]). simpl. intros O. split; [|auto].
        destruct (named_as zero r x); try discriminate O. reflexivity.
      + destruct p as [|[|p]]; [destruct Ac; reflexivity| |destruct Ac; destruct p; reflexivity].
        exists (common zero). split; [auto|].
        exists (Access (0, true) Writes). repeat (split; [reflexivity|]). simpl. split; [|split; [lia|discriminate]].
        unfold shared. destruct zero eqn:Z; [apply Nat.eqb_eq in Z; now subst r|]. apply First_. now apply Nat.eqb_neq.
    - intros q k o n p A Lq (-> & ->) (E & -> & ->). destruct o as [x|x]; [discriminate E|]. split.
      + exists (Access (0, true) Writes). repeat (split; [reflexivity|]). simpl. split; [|split; [lia|discriminate]].
        unfold shared. destruct zero eqn:Z; [apply Nat.eqb_eq in Z; now subst r|]. apply First_. now apply Nat.eqb_neq.
      + unfold shared. destruct zero; reflexivity.
    - discriminate.
    - discriminate.
  Qed.

  Theorem own_robust N : 3 <= N ->
    forall w, computation (P := program N) w -> ~ violating (K := calculus (P := program N)) w.
  Proof.
    apply (every_n program 3 [Case (what true) Src; Case (what false) Src]); [lia|..].
    - intros C [<-|[<-|[]]]; apply all_settled.
    - intros M r LM Lr. exists (Case (what (r =? 0)) Src). split; [destruct (r =? 0); simpl; auto|].
      exists (describes (r =? 0) M r). split; [now apply all_right|]. simpl. unfold named_as. now rewrite Nat.eqb_refl.
  Qed.
End Own.
