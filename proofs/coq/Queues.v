(** * Instances: completion rules and waits of queues, and a program

    What [Network.v] leaves open, as proofs/state-space.md has it for read, write, wait, wait_local and fence: FIFO
    queues, unordered queues with fences.  And a small program, with a computation that is violating: so the definitions
    are not empty. *)

Require Import Pgas.Order Pgas.Trace Pgas.TwoParts Pgas.Network.

(** Commands of a queue, as far as rules are concerned. *)
Inductive shape : Type :=
| Transfer (queue target : nat) (fifo is_put : bool)     (* step 1 is popa, step 2 popb *)
| Fence (queue : nat) (target : option nat)
| Wait (queue : nat)
| Wait_local (queue : nat)
| Other.

Section Rules.
  Context {Op : Type} (shape_of : Op -> shape).

  Definition fence_for (queue target : nat) (o : Op) : bool :=
    match shape_of o with
    | Fence q t => (q =? queue) && match t with Some t' => t' =? target | None => true end
    | _ => false
    end.

  (** R1.  FIFO: the same stage of one queue.  Unordered: popb of puts to one rank, a fence for it between them. *)
  Definition queue_held (past : list Op) (o : Op) (p i p' : nat) : bool :=
    match shape_of o, option_map shape_of (nth_error past i) with
    | Transfer q t fifo put, Some (Transfer q' t' _ put') =>
        (q =? q') && (if fifo then p =? p'
                      else put && put' && (t =? t') && (p =? 2) && (p' =? 2) &&
                           existsb (fence_for q t) (skipn (S i) past))
    | _, _ => false
    end.

  (** R2.  wait: all steps in the queue.  wait_local: popa of a put, popb of a get. *)
  Definition queue_awaits (past : list Op) (o : Op) (i p : nat) : bool :=
    match shape_of o, option_map shape_of (nth_error past i) with
    | Wait q, Some (Transfer q' _ _ _) => q =? q'
    | Wait_local q, Some (Transfer q' _ _ put) => (q =? q') && (p =? (if put then 1 else 2))
    | _, _ => false
    end.
End Rules.

(** One rank puts cell 0 into cell 1, and loads cell 1 without waiting; it could also increment it remotely. *)
Module Example.
  Inductive operation := Put | Load | Add.

  Definition shape_of (o : operation) : shape :=
    match o with Put => Transfer 0 0 true true | Load => Other | Add => Transfer 0 0 true false end.
  Definition steps_of (o : operation) : list (access nat) :=
    match o with Put => [Access 0 Reads; Access 1 Writes] | Load => [] | Add => [Access 1 (Updates 0)] end.
  Definition first_of (o : operation) : option (access nat) :=
    match o with Load => Some (Access 1 Reads) | _ => None end.

  Global Instance program : Program nat operation nat nat.
  Proof.
    refine {| init_loc := fun _ => 0; init_mem := fun k => if k =? 0 then 1 else 0; nothing := 0;
      party := fun _ => [0];
      at_issue := first_of;
      steps := steps_of;
      next := fun r l o v =>
        match r, l, o with 0, 0, Put => Some 1 | 0, 1, Load => Some 2 | 0, 2, Add => Some 2 | _, _, _ => None end;
      store := fun o values old => match o with Add => S old | _ => nth 1 values 0 end;
      held := queue_held shape_of; awaits := queue_awaits shape_of |}.
    - decide equality.
    - exact Nat.eq_dec.
    - assert (Only : forall o p a, access_at (first_of o) (steps_of o) p = Some a -> kind_of a <> None -> o = Add).
      { intros [| |] [|[|[|[|p]]]] a E K; try discriminate E; try reflexivity; injection E as <-; destruct K; reflexivity. }
      intros o o' p p' a a' vs vs' v E E' K K' _ _. rewrite (Only o p a E K), (Only o' p' a' E'); [reflexivity|congruence].
    - intros o r r' _ [<-|[]] [<-|[]]. reflexivity.
    - intros r l [| |] v v' H; [auto|destruct (H eq_refl)|auto].
  Defined.

  Definition word : list (event operation) :=
    [Event 0 0 0 Put; Event 0 1 0 Load; Event 0 0 1 Put; Event 0 0 2 Put].

  Theorem word_is_a_computation : computation word.
  Proof.
    assert (None_past : forall i p, ~ is_step (Op := operation) [] i p).
    { intros [|i] p (o & H & _); discriminate H. }
    exists (after word). split.
    - unfold word. eapply path_step; [|eapply path_step; [|eapply path_step; [|eapply path_step; [|apply path_end]]]].
      + split; [reflexivity|]. split; [simpl; auto|]. split; [reflexivity|]. split.
        * intros r [<-|[]]. vm_compute. discriminate.
        * intros i p H. destruct (None_past i p H).
      + split; [reflexivity|]. split; [simpl; auto|]. split; [reflexivity|]. split.
        * intros r [<-|[]]. vm_compute. discriminate.
        * intros i p _ H. vm_compute in H. discriminate H.
      + split; [reflexivity|]. split; [reflexivity|]. split; [simpl; lia|]. intros past i p H. destruct (None_past i p H).
      + split; [reflexivity|]. split; [reflexivity|]. split; [simpl; lia|]. intros past i p H. destruct (None_past i p H).
    - intros [|r] n o E _; [|destruct n; discriminate E]. destruct n as [|[|n]].
      + injection E as <-. reflexivity.
      + injection E as <-. reflexivity.
      + destruct n; discriminate E.
  Qed.

  Theorem word_is_violating : violating word.
  Proof.
    exists (0, 0). apply t_trans with (0, 1); apply t_step.
    - split; [discriminate|]. exists (Event 0 0 0 Put), (Event 0 1 0 Load). split; [reflexivity|]. split; [reflexivity|].
      left. split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. simpl. auto.
    - split; [discriminate|]. exists (Event 0 1 0 Load), (Event 0 0 2 Put). split; [reflexivity|]. split; [reflexivity|].
      right. split; [reflexivity|]. split; [simpl; tauto|]. intros z B1 B2 W _ C. simpl in B1, B2.
      destruct B1 as [[? _]|[[_ [<-|[<-|[]]]]|[[? _]|[[? _]|[]]]]]; try discriminate.
  Qed.
End Example.
