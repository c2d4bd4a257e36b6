package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.leader.Assigner;
import io.millrace.cluster.leader.Assignments;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The submissions of one leader that have not ended. Whether a submission is done or ends otherwise
 * is decided by its partition: either the member completes it or the leader removes it at the
 * version that it read; only one of both can succeed. Used by one thread.
 */
final class Submissions {
  private static final Logger LOG = LoggerFactory.getLogger(Submissions.class);

  /** The number of leases within which a lambda must start. */
  private static final int BEGIN_LEASES = 3;

  private final MemberContext context;
  private final Map<PartitionName, Entry> entries = new LinkedHashMap<>();
  private long changedMillis;

  Submissions(MemberContext context) {
    this.context = context;
  }

  private static final class Entry {
    final Submission submission;
    boolean begun;
    boolean cancelled;

    Entry(Submission submission) {
      this.submission = submission;
    }

    PartitionName name() {
      return submission.name();
    }

    String member() {
      return submission.address().member();
    }
  }

  void begin() {
    entries.clear();
    changed();
  }

  void add(Submission submission) {
    entries.put(submission.name(), new Entry(submission));
    changed();
  }

  void cancel(PartitionName name) {
    Entry entry = entries.get(name);
    if (entry != null) {
      entry.cancelled = true;
      changed();
    }
  }

  boolean contains(PartitionName name) {
    return entries.containsKey(name);
  }

  /** Whether a change is likely to follow soon. */
  boolean isLively() {
    return !entries.isEmpty() && context.now() - changedMillis < context.leaseMillis();
  }

  private void changed() {
    changedMillis = context.now();
  }

  /** Finds out which submissions have started or ended, and notifies their listeners. */
  void settle(Assigner.Round round, Assignments assignments, Dispatcher.View view) {
    Map<PartitionName, Partition> listed =
        round.partitions().stream().collect(Collectors.toMap(Partition::name, Function.identity()));
    Settlement settlement = new Settlement(round, assignments, view);
    for (Entry entry : new ArrayList<>(entries.values())) {
      settlement
          .ending(entry, listed.get(entry.name()))
          .ifPresent(ending -> {
            entries.remove(entry.name());
            entry.submission.ended().accept(ending);
            changed();
          });
    }
  }

  /** Settles submissions in one round. */
  private final class Settlement {
    private final Assigner.Round round;
    private final Assignments assignments;
    private final Dispatcher.View view;

    Settlement(Assigner.Round round, Assignments assignments, Dispatcher.View view) {
      this.round = round;
      this.assignments = assignments;
      this.view = view;
    }

    /**
     * How a submission ends; empty if it does not end now.
     *
     * @param listed its partition; null if it was not listed
     */
    Optional<Submission.Completion> ending(Entry entry, @Nullable Partition listed) {
      Optional<Submission.Completion> order = order(entry);
      if (assignments.isNotTried(entry.name())) {
        order.ifPresent(_ -> assignments.forget(entry.name()));
        return order;
      }
      OptionalLong created = assignments.createdMillis(entry.name());
      if (assignments.isKnown(entry.name()) && created.isEmpty()) {
        return Optional.empty();
      }
      if (listed != null) {
        return decide(entry, listed, order, assignments.isFree(listed));
      }
      boolean mustBeListed =
          created.isEmpty() || context.now() - created.getAsLong() >= context.leaseMillis() / 2;
      if (order.isEmpty() && !mustBeListed) {
        return Optional.empty();
      }
      Optional<Partition> found = find(entry.name());
      return found.isEmpty()
          ? order.or(() -> timedOut("its document is gone"))
          : decide(entry, found.get(), order, false);
    }

    /** Why a submission must end regardless of its member; empty if it need not. */
    private Optional<Submission.Completion> order(Entry entry) {
      if (entry.cancelled) {
        return Optional.of(new Submission.Completion.Cancelled());
      }
      if (view.marked().contains(entry.member())) {
        return timedOut("its member " + entry.member() + " is marked as dead");
      }
      if (view.members().find(entry.member()).isEmpty()) {
        return timedOut("its member " + entry.member() + " is gone");
      }
      return context.now() >= entry.submission.limitMillis()
          ? timedOut("its time limit has passed")
          : Optional.empty();
    }

    /**
     * Why a submission must end because its member does not work on it; empty if it need not.
     *
     * @param free whether its partition could be taken by another member
     */
    private Optional<Submission.Completion> silence(Entry entry, boolean free) {
      if (entry.begun) {
        return free
            ? timedOut("its member " + entry.member() + " released or lost it")
            : Optional.empty();
      }
      OptionalLong created = assignments.createdMillis(entry.name());
      return created.isPresent()
              && context.now() - created.getAsLong() >= BEGIN_LEASES * context.leaseMillis()
          ? timedOut("its member " + entry.member() + " did not start it within three leases")
          : Optional.empty();
    }

    private static Optional<Submission.Completion> timedOut(String why) {
      return Optional.of(new Submission.Completion.TimedOut(why));
    }

    private Optional<Submission.Completion> decide(
        Entry entry, Partition partition, Optional<Submission.Completion> order, boolean free) {
      if (!entry.begun && assignments.wasTaken(partition)) {
        entry.begun = true;
        changed();
        entry.submission.begun().run();
      }
      if (partition.isDone()) {
        return Optional.of(finish(entry, partition));
      }
      Optional<Submission.Completion> why = order.or(() -> silence(entry, free));
      if (why.isEmpty() || remove(entry, partition)) {
        return why;
      }
      // The partition was renewed or done since it was read, or removed by an earlier attempt.
      Optional<Partition> now = find(entry.name());
      if (now.isEmpty()) {
        return why;
      }
      if (now.get().isDone()) {
        return Optional.of(finish(entry, now.get()));
      }
      return order.isPresent() && remove(entry, now.get()) ? order : Optional.empty();
    }

    private Submission.Completion finish(Entry entry, Partition partition) {
      Outcome outcome =
          Outcome.read(context.documents(), entry.name(), partition.lock().fence())
              .orElseGet(Submissions::lost);
      try {
        remove(entry, partition);
      } catch (ClusterException e) {
        round.guard().check();
        LOG.debug("{} could not be removed; retrying later", entry.name().key(), e);
      }
      return new Submission.Completion.Finished(outcome);
    }

    private boolean remove(Entry entry, Partition partition) {
      if (!assignments.remove(round.guard(), partition)) {
        return false;
      }
      try {
        Outcome.remove(context.documents(), entry.name());
      } catch (ClusterException e) {
        LOG.debug("The outcome of {} could not be removed; retrying later", entry.name().key(), e);
      }
      return true;
    }

    private Optional<Partition> find(PartitionName name) {
      return context
          .documents()
          .get(name.key())
          .flatMap(document -> Partition.of(document, LockDocument.read(document)));
    }
  }

  private static Outcome lost() {
    return new Outcome.Failed(
        new RemoteFailure(ClusterException.class.getName(), "its outcome is lost", ""));
  }
}
