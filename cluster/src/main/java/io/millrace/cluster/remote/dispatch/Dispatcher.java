package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.Assigner;
import io.millrace.cluster.leader.Assignments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.PartitionName;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sends the lambdas of a {@link Submitter} to members, and reports how they end. Used by one
 * thread.
 */
public final class Dispatcher implements Assigner {
  private final long listingAgeMillis;
  private final Submitter submitter;
  private final Submissions submissions;
  private final DeadMembers dead;
  private final OldPartitions old;
  private long generation = -1;
  private boolean ends;
  private @Nullable Current current;

  private record Current(Round round, Assignments assignments) {}

  /** Creates a dispatcher without submissions. */
  public Dispatcher(MemberContext context, Submitter submitter) {
    this.listingAgeMillis = context.documents().listingAgeMillis();
    this.submitter = submitter;
    this.submissions = new Submissions(context);
    this.dead = new DeadMembers(context);
    this.old = new OldPartitions(context);
  }

  /** Decides what to submit. Called by the leader's thread; must not block. */
  public interface Submitter {
    /**
     * Called when a generation begins.
     *
     * @param leader proof that this member leads; its fence is the generation
     */
    void begin(Guard leader);

    /**
     * Submits and cancels lambdas; called once in each round.
     *
     * @param dispatcher receives submissions, during this call only
     * @return whether a new generation must begin; called in each round until it does
     */
    boolean submit(Dispatcher dispatcher);

    /**
     * Called when the generation has ended, and with it all its submissions. It is the last call
     * for this generation.
     */
    void end();
  }

  /**
   * The cluster, as the leader sees it in a round.
   *
   * @param members the members that are not marked as dead
   * @param marked the tokens of those that are marked as dead
   * @param busy the number of lambdas of earlier leaders that each member still runs, by token
   * @param left the earlier generations that still have partitions
   * @param settled whether {@code left} is complete; listings may be slightly stale
   */
  public record View(
      MemberList members,
      Set<String> marked,
      Map<String, Integer> busy,
      Set<Long> left,
      boolean settled) {
    /** Copies the collections. */
    public View {
      marked = Set.copyOf(marked);
      busy = Map.copyOf(busy);
      left = Set.copyOf(left);
    }

    /** An empty view. */
    public static View nothing() {
      return new View(MemberList.EMPTY, Set.of(), Map.of(), Set.of(), false);
    }

    /** Whether no lambda of an earlier generation is left. */
    public boolean isOver(long generation) {
      return settled && !left.contains(generation);
    }
  }

  @Override
  public Result assign(Round round, Assignments assignments) {
    if (round.generation() != generation) {
      standBy();
      begin(round);
    }
    dead.poll(round);
    old.clear(round, assignments, submissions::contains);
    current = new Current(round, assignments);
    boolean again = submitter.submit(this);
    submissions.settle(round, assignments, view());
    if (again && !ends) {
      // The lock may not be taken again before the next round, and one request is enough.
      ends = true;
      return Result.NEW_GENERATION;
    }
    return submissions.isLively() ? Result.BUSY : Result.IDLE;
  }

  private void begin(Round round) {
    generation = round.generation();
    ends = false;
    submissions.begin();
    dead.begin();
    old.begin();
    submitter.begin(round.guard());
  }

  @Override
  public void standBy() {
    if (generation >= 0) {
      generation = -1;
      submitter.end();
    }
  }

  /** The members, and the lambdas of earlier leaders that they still run. */
  public View view() {
    Round round = current().round();
    MemberList trusted = round.members().without(dead.tokens());
    return new View(
        trusted, dead.tokens(), old.busy(), old.left(), round.showsAllOld(listingAgeMillis));
  }

  /** Submits a lambda to a member. */
  public void submit(Submission submission) {
    submissions.add(submission);
    current().assignments().plan(submission.name(), submission.envelope());
  }

  /** Cancels a submission unless it is done; does nothing if it has ended. */
  public void cancel(PartitionName name) {
    submissions.cancel(name);
  }

  /** Records that a member was just marked as dead. */
  public void marked(String token) {
    dead.add(token);
  }

  private Current current() {
    return Objects.requireNonNull(current, "there has been no round yet");
  }
}
