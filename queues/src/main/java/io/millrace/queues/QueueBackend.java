package io.millrace.queues;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.store.TaskStore.Read;
import io.millrace.work.DelayedTasks.Delays;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.TimeText;
import io.millrace.work.trace.TraceContext;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Where queues, their tasks and the nodes that run them are kept: what execution nodes, task
 * runners and the command interface need. The package {@code registry} keeps them in a task store.
 *
 * <p>Every implementation is safe for use by any number of threads. If a call fails because the
 * back end cannot be reached, its outcome is not known, and it may be repeated.
 */
public interface QueueBackend {
  /** The queues. */
  Definitions queues();

  /** The tasks. */
  Tasks tasks();

  /** Creates tasks. */
  Submission submission();

  /** The tasks that are claimed or running. */
  Runs runs();

  /** The execution nodes. */
  Nodes nodes();

  /** The configuration of nodes. */
  Config config();

  /** The params that plugins declare. */
  Declarations declarations();

  /** A new id for a file. */
  ObjectId newId();

  /** The queues. */
  interface Definitions {
    /** All queues, oldest first. */
    List<Queue> all();

    /** The queue with this id. */
    Optional<Queue> find(ObjectId id);

    /** The queue with this id or, if there is none, with this name. */
    Optional<Queue> find(String idOrName);

    /**
     * Creates a queue.
     *
     * @throws InvalidRequestException if the name is taken or not accepted, or a setting is not
     *     kept here
     */
    Queue create(String name, String plugin, Queue.Settings settings);

    /**
     * Changes a queue.
     *
     * @return the queue as it is now; empty if there is none with this id
     * @throws InvalidRequestException as {@link #create}
     */
    Optional<Queue> change(ObjectId id, UnaryOperator<Change> change);

    /**
     * Keeps a node that cannot start task runners from claiming tasks of a queue.
     *
     * @param servedElsewhere whether another live node serves the queue
     * @return the queue as it is now; empty if there is none with this id
     */
    Optional<Queue> suspend(
        ObjectId id, String node, String reason, Predicate<Queue> servedElsewhere);

    /** Lets a suspended node claim again. */
    void lift(ObjectId id, String node);

    /**
     * Resumes a queue.
     *
     * @return the queue as it was; empty if there is none with this id
     */
    Optional<Queue> resume(ObjectId id);

    /**
     * Deletes a queue; its tasks stay.
     *
     * @return whether it existed
     */
    boolean delete(ObjectId id);

    /** How many tasks each of these queues has, in their order. */
    List<Queue.Counts> counts(List<Queue> queues);

    /** When delayed tasks of these queues can be claimed, for those that have any. */
    Map<ObjectId, Delays> delays(List<Queue> queues);

    /** How long a node waits before it asks again although no bell rings; empty for any time. */
    Optional<Duration> pauseForLimits(Queue queue);
  }

  /** The tasks. */
  interface Tasks {
    /** The task with this id. */
    Optional<QueueTask> find(ObjectId id);

    /**
     * Holds back a task that is queued or held.
     *
     * @return the task as it is now; empty if there is none
     * @throws TaskStateException if it is claimed or running, or has finished
     */
    Optional<QueueTask> hold(ObjectId id, int status, String reason);

    /**
     * Queues a task again that is held or has finished.
     *
     * @return the task as it is now; empty if there is none
     * @throws TaskStateException if it is queued, claimed or running
     */
    Optional<QueueTask> requeue(ObjectId id);

    /**
     * Terminates a task.
     *
     * @return the task as it is now; empty if there is none
     * @throws TaskStateException if it has finished, or cannot be terminated
     */
    Optional<QueueTask> terminate(ObjectId id);
  }

  /** Creates tasks. */
  interface Submission {
    /**
     * Creates a task for each of {@code params}.
     *
     * @param created takes the next tasks, in the order given, as soon as they are stored
     * @throws InvalidRequestException if there is no such queue, a task is not accepted, or the
     *     terms are not kept here
     */
    void submit(
        Queue queue, List<ObjectNode> params, Terms terms, Consumer<List<Submitted>> created);
  }

  /** The tasks that are claimed or running. */
  interface Runs {
    /**
     * Claims up to {@code most} tasks of a queue for a node, within the queue's limit.
     *
     * @param lease how long the claims last unless they are renewed
     * @param recovery finds the output of a task whose claim expired
     * @return the runs; none if no task is waiting or the limit is reached
     */
    List<Run> claim(
        NodeRecord node, Queue queue, int most, Duration lease, OutputRecovery recovery);

    /**
     * Has a task of a queue claimed as soon as the limits that it shares have room, in turn with
     * all others that wait for them. To be called when {@link #claim} has found no room.
     *
     * @param whenDone called by any thread when the answer is there
     * @return empty if the queue shares no limits, so that its bell tells when to claim
     */
    default Optional<AwaitedRun> await(
        NodeRecord node, Queue queue, Duration lease, OutputRecovery recovery, Runnable whenDone) {
      return Optional.empty();
    }

    /** A claim that waits. */
    interface AwaitedRun {
      /** Whether the answer is there. */
      boolean isDone();

      /** The run, recorded as by {@link #claim}; none if the wait has ended without one. */
      List<Run> take();

      /** Withdraws the claim if it waits. */
      void cancel();
    }

    /** The runs of a node. */
    List<Run> ofNode(String node);

    /** The run of this task, if it is claimed or running. */
    Optional<Run> find(ObjectId task);

    /** Whether the end of this task was requested. */
    boolean isToStop(ObjectId task);

    /**
     * Moves a task from claimed to running, or finds that this runner has done so before.
     *
     * @param runner the identity of the process that runs it
     * @throws LostClaimException if the run no longer has this claim
     */
    Started begin(Run run, String runner, Duration lease);

    /**
     * Extends the claim of a run.
     *
     * @throws LostClaimException if the run no longer has this claim
     */
    void renew(Run run, Duration lease);

    /**
     * Stores the end of a run.
     *
     * @return the task as it is now
     * @throws LostClaimException if the run no longer has this claim
     */
    QueueTask finish(Started started, Report report);

    /**
     * Gives back a claimed task that no runner has started.
     *
     * @return whether it was given back; false if it was started or has another claim
     */
    boolean giveBack(Run run);

    /**
     * Ends a run whose work was disrupted.
     *
     * @return the task as it is now; empty if the run has ended otherwise meanwhile
     */
    Optional<QueueTask> orphan(Run run, Report report);
  }

  /** The execution nodes. */
  interface Nodes {
    /** All nodes by name. */
    List<NodeRecord> all();

    /** The same, with the time of the read by the clock of the nodes' timestamps. */
    Read<List<NodeRecord>> list();

    /** The node of this name. */
    Optional<NodeRecord> find(String name);

    /** The node with this id or, if there is none, with this name. */
    Optional<NodeRecord> findByIdOrName(String idOrName);

    /**
     * Takes a name for a process.
     *
     * @param seen the record that the caller has read; null if there was none
     * @return the node; empty if the record has changed meanwhile
     */
    Optional<NodeRecord> take(String name, @Nullable NodeRecord seen, NodeIdentity presence);

    /**
     * Refreshes the timestamp and the plugins of a node.
     *
     * @return the node as it is now; empty if another process has taken its name
     */
    Optional<NodeRecord> refresh(NodeRecord node, NodeIdentity presence);

    /** Gives a name back; does nothing if another process has taken it. */
    void leave(NodeRecord node, String instance);

    /**
     * Sets the limit of a node; null for no limit.
     *
     * @return the node as it is now; empty if there is none of this name
     */
    Optional<NodeRecord> limit(String name, @Nullable Integer maxthreads);

    /**
     * Removes a node that is dead or has left.
     *
     * @return whether it existed
     * @throws InvalidRequestException if it is alive
     */
    boolean remove(String name);
  }

  /** The configuration of nodes. */
  interface Config {
    /** The fields of a scope as they were set. */
    ObjectNode fields(String scope);

    /**
     * Sets fields; a field whose value is null is unset.
     *
     * @return all fields of the scope as they are now
     * @throws InvalidRequestException if a known field has a value of the wrong kind
     */
    ObjectNode set(String scope, ObjectNode changes);

    /** The fields of every scope that has any. */
    List<ObjectNode> allFields();

    /** The configuration of the node of this name. */
    NodeConfig forNode(String node);
  }

  /** The params that plugins declare. */
  interface Declarations {
    /** Reports what the plugins of a node declare. */
    void put(String node, Map<String, PluginDeclaration> declared);

    /** The versions of a plugin that nodes have. */
    List<PluginVersion> versions(String plugin);
  }

  /**
   * What can be changed of a queue.
   *
   * @param name its name
   * @param plugin its plugin
   * @param settings the rest
   */
  public record Change(String name, String plugin, Queue.Settings settings) {}

  /**
   * How tasks are created.
   *
   * @param status {@link Status#QUEUED}, or a status that holds them back
   * @param delay after which they may be claimed; zero for at once
   * @param at when they may be claimed, instead of after a delay; a past time means at once; null
   *     for none
   * @param policy settings that take precedence over those of their queue
   * @param trace the span to which they belong; null for none
   */
  public record Terms(
      int status,
      Duration delay,
      @Nullable Instant at,
      Policy policy,
      @Nullable TraceContext trace) {
    /** Queued at once, with the settings of their queue. */
    public static final Terms DEFAULTS = of(Status.QUEUED);

    /**
     * Checks what does not depend on the queue.
     *
     * @throws InvalidRequestException naming what is invalid
     */
    public Terms {
      if (status == Status.ORPHANED || (status != Status.QUEUED && !Status.isHeld(status))) {
        throw new InvalidRequestException(
            "status",
            "a task begins with -2 or another negative status but -1 and -6, not " + status);
      }
      if (at != null && !delay.isZero()) {
        throw new InvalidRequestException("at", "at cannot be combined with delay");
      }
      if (status != Status.QUEUED && (at != null || !delay.isZero())) {
        throw new InvalidRequestException(
            at == null ? "delay" : "at", "a task that is held back has no time to begin at");
      }
      if (at != null && at.toEpochMilli() < 0) {
        throw new InvalidRequestException("at", "at must not be before 1970");
      }
    }

    /** Without a trace. */
    public Terms(int status, Duration delay, @Nullable Instant at, Policy policy) {
      this(status, delay, at, policy, null);
    }

    /** The same in a trace; null for none. */
    public Terms in(@Nullable TraceContext other) {
      return other == null ? this : new Terms(status, delay, at, policy, other);
    }

    /** With this status at once, with the settings of their queue. */
    public static Terms of(int status) {
      return new Terms(status, Duration.ZERO, null, Policy.NONE);
    }

    /**
     * After which time they may be claimed.
     *
     * @param nowMillis milliseconds since the epoch
     * @throws InvalidRequestException if that is longer than {@link TimeText#LONGEST}
     */
    public Duration delay(long nowMillis) {
      if (at == null) {
        return delay;
      }
      Duration left = Duration.between(Instant.ofEpochMilli(nowMillis), at);
      if (left.compareTo(TimeText.LONGEST) > 0) {
        throw new InvalidRequestException(
            "at", "at must be at most " + TimeText.LONGEST.toDays() + " days from now");
      }
      return left.isNegative() ? Duration.ZERO : left;
    }
  }

  /**
   * A task that was submitted.
   *
   * @param id its id
   * @param duplicate whether it was there already, since it holds the unique key of the submission
   */
  public record Submitted(ObjectId id, boolean duplicate) {}

  /**
   * A version of a plugin.
   *
   * @param declaration empty if it declares nothing
   * @param nodes the names of the nodes that have it; none for one that is built in
   */
  public record PluginVersion(Optional<PluginDeclaration> declaration, List<String> nodes) {
    /** Copies the list. */
    public PluginVersion {
      nodes = List.copyOf(nodes);
    }
  }
}
